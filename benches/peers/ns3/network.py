"""A moment of a constellation as `sky.cc` reads it: links, host routes and traffic.

Only what the routes of pairs with traffic use is written; nothing else would carry a packet. A port
that sends over several links is a node of its own: rate and queue lead to the node, and links
without a rate from there, each with its delay.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skycell.orbit.columns import Columns
from skycell.spec.columns import columns_of
from skycell.spec.declared.network import FifoSpec, SourcePatternConstant, StartAt, TailDropSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from skycell.spec.declared.network import NetworkSpec, PortKindSpec, SourceSpec, StartSpec

PPP_OCTETS = 2
"""What ns-3's point-to-point links add to an IP packet."""
TIME_TO_LIVE = 64
"""Of ns-3's IP packets. A node behind a shared port takes one more, which no path comes near."""
WIRE_PACKETS = 1_000
"""Room of a link without a rate, in which nothing waits."""

Link = tuple[int, int]
"""From one node to another."""


@dataclass(frozen=True)
class Network:
    """A network without changes.

    Attributes:
        nodes: how many, those behind shared ports included.
        links: bit/s, packets that may wait and delay in ps of each; 0 bit/s for a link without a
            rate.
        routes: next node by node and destination.
        traffic: what is sent, as `sky.cc` reads it.
        hops: links with a rate on the way from one node to another, by pair with traffic.
    """

    nodes: int
    links: Mapping[Link, tuple[int, int, int]]
    routes: Mapping[tuple[int, int], int]
    traffic: Sequence[str]
    hops: Mapping[tuple[int, int], int]

    def text(self) -> str:
        """The file."""
        lines = [
            *(f"link {a} {b} {bps} {room} {ps}" for (a, b), (bps, room, ps) in self.links.items()),
            *(f"route {node} {to} {next_}" for (node, to), next_ in self.routes.items()),
            *self.traffic,
        ]
        return "\n".join(lines) + "\n"


def network_of(spec: NetworkSpec) -> Network:
    """The network of a spec whose sky is frozen.

    Raises:
        ValueError: the spec has something that `sky.cc` has not.
    """
    file = columns_of(spec)
    if file is None or spec.sky is None:
        raise ValueError("no constellation")
    if spec.sky.hop_limit != TIME_TO_LIVE:
        raise ValueError(f"{spec.sky.hop_limit} links a packet: ns-3 begins with {TIME_TO_LIVE}")
    columns = Columns(file.read_bytes())
    if columns.epochs != 1:
        raise ValueError(f"{columns.epochs} epochs: write topology.frozen = true")
    kinds = [_line(kind) for kind in spec.sky.kinds]
    links = columns.links(0)
    of_link = {
        (int(a), int(b)): (int(port), int(delay_ps))
        for a, b, port, delay_ps in zip(
            links.source, links.to, links.port, links.delay_ps, strict=True
        )
    }
    pairs = [_pair(spec, columns, vc) for vc in range(len(spec.vcs))]
    next_hops = columns.next_hops(0)
    label_of = {node: label for label, node in enumerate(columns.label_node.tolist())}
    paths = {(a, b): _path(next_hops[:, label_of[b]], a, b) for a, b in pairs}
    steps = sorted({step for path in paths.values() for step in _steps(path)})
    ends: dict[int, list[int]] = {}
    for step in steps:
        ends.setdefault(of_link[step][0], []).append(step[1])
    shared = [port for port, many in ends.items() if len(many) > 1]
    # Numbers of their own, as most satellites carry nothing.
    used = sorted({node for step in steps for node in step})
    number = {node: i for i, node in enumerate(used)}
    behind = {port: len(used) + i for i, port in enumerate(shared)}

    def parts(step: Link) -> list[tuple[Link, tuple[int, int, int]]]:
        """The link of a step, or those to and from the node behind its port."""
        port, delay_ps = of_link[step]
        bps, room = kinds[columns.port_kind[port]]
        a, b = (number[node] for node in step)
        if port not in behind:
            return [((a, b), (bps, room, delay_ps))]
        middle = behind[port]
        return [((a, middle), (bps, room, 0)), ((middle, b), (0, WIRE_PACKETS, delay_ps))]

    routes = {
        (first, number[path[-1]]): last
        for path in paths.values()
        for step in _steps(path)
        for (first, last), _ in parts(step)
    }
    ways = {vc: (number[a], number[b]) for vc, (a, b) in enumerate(pairs)}
    return Network(
        nodes=len(used) + len(shared),
        links={ends: link for step in steps for ends, link in parts(step)},
        routes=routes,
        traffic=_traffic(spec, ways),
        hops={(number[a], number[b]): len(path) - 1 for (a, b), path in paths.items()},
    )


def _line(kind: PortKindSpec) -> tuple[int, int]:
    """Rate in bit/s of a kind of ports, and the packets that may wait while one is sent."""
    framing, port = kind.framing, kind.port
    (queue, *others) = port.queues
    is_plain = (
        not others
        and not queue.counts_octets
        and not queue.by_flow
        and isinstance(queue.policy, TailDropSpec)
        and isinstance(port.scheduler, FifoSpec)
        and (port.shaper, port.policer, port.frame_gap_ps) == (None, None, 0)
        and (kind.loss_ppb, kind.channel) == (0, None)
    )
    if not is_plain or queue.capacity_cells is None or queue.capacity_cells < 2:
        raise ValueError(f"{kind.name}: only tail drop of 2 or more packets without losses")
    if framing is None:
        raise ValueError(f"{kind.name}: only links of packets")
    octets = (framing.overhead_octets, framing.least_octets, framing.unit_octets)
    if octets != (PPP_OCTETS, 0, 1) or framing.line_octets != 1 or framing.rate_millibps % 1000:
        raise ValueError(f"{kind.name}: only whole bit/s and {PPP_OCTETS} octets beside a packet")
    return framing.rate_millibps // 1000, queue.capacity_cells - 1


def _pair(spec: NetworkSpec, columns: Columns, vc: int) -> Link:
    """The nodes at which a VC begins and ends."""
    way = spec.vcs[vc].by_label
    if way is None:
        raise ValueError(f"{spec.vcs[vc].name}: only VCs by label")
    return way.from_, int(columns.label_node[way.label])


def _path(next_hops: NDArray[np.int32], first: int, last: int) -> list[int]:
    """The nodes from one end to the other, by the next hops to the other."""
    path = [first]
    while path[-1] != last:
        path.append(int(next_hops[path[-1]]))
        if path[-1] < 0 or len(path) > len(next_hops):
            raise ValueError(f"no way from node {first} to {last}")
    return path


def _steps(path: Sequence[int]) -> list[Link]:
    return list(itertools.pairwise(path))


def _traffic(spec: NetworkSpec, ways: Mapping[int, Link]) -> list[str]:
    """The sources of datagrams and the connections, in the order of the spec."""
    lines = []
    for source in spec.sources:
        a, b = ways[source.vc]
        start_ps = _start_ps(source.name, source.start)
        interval_ps, octets = _datagrams(source)
        lines.append(f"datagrams {a} {b} {start_ps} {interval_ps} {octets}")
    for flow in spec.flows:
        (vc,) = flow.forward
        a, b = ways[vc]
        lines.append(f"connection {a} {b} {_start_ps(flow.name, flow.start)}")
    return lines


def _datagrams(source: SourceSpec) -> tuple[int, int]:
    """Interval in ps and octets of the IP packets."""
    if not isinstance(source.pattern, SourcePatternConstant) or source.datagram_octets is None:
        raise ValueError(f"{source.name}: only datagrams at a constant rate")
    return source.cell_interval_ps, source.datagram_octets


def _start_ps(name: str, start: StartSpec) -> int:
    if not isinstance(start, StartAt):
        raise ValueError(f"{name}: starts at a time that is drawn")
    return start.time_ps
