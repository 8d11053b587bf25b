"""What a network's links, buffers and paths come to in every unit, before anything is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import PS_PER_SECOND, show_amount
from skycell.metrics.ceiling import CELL_OCTETS, link_bps
from skycell.scenario.links.framing import counts_symbols, overhead_of
from skycell.scenario.plan.plan import Plan, PlannedLink
from skycell.scenario.values.cells import aal5_cells_of, packet_octets_of
from skycell.spec.declared.network import FlowSpec, LinkSpec, NetworkSpec
from skycell.spec.values import (
    as_received,
    fragments,
    kinds_as_links,
    octets_on_line,
    packet_time_ps,
    route_of,
)

#: An acknowledgement, a packet of a call, and the longest that Ethernet carries, octets.
USUAL_PACKETS = (40, 200, 1500)


@dataclass(frozen=True)
class PacketCost:
    """What an IP packet takes of a link: octets of it, and time."""

    octets: int
    on_line: int
    time_ps: int


@dataclass(frozen=True)
class ResolvedLink:
    """Links that are alike.

    Attributes:
        names: of them, in their order.
        stated: their rate as the file has it.
        framing: name of their framing; `cells` for ATM cells at the stated rate.
        rate_bps: of their cells, or of the line of packets.
        delay_ps: one way; the least of one that varies.
        varies: whether it changes in the run.
        mtu: octets of the longest packet that may come; None for any.
        costs: of usual packets, and of the full segments of flows.
        full: of those the cost of a full segment of the first flow; None where no data cross it.
        layers: parts of the stated rate that each layer takes of a full segment's, the last of them
            TCP's payload; together 1. Empty where no data cross it.
        payload_bps: what TCP could get alone on it.
    """

    names: tuple[str, ...]
    stated: str
    framing: str
    rate_bps: float
    delay_ps: int
    varies: bool
    mtu: int | None
    costs: tuple[PacketCost, ...]
    full: PacketCost | None
    layers: Mapping[str, float]
    payload_bps: float | None


@dataclass(frozen=True)
class Hop:
    """A link on a way: its name, its delay, and what the packet takes to be sent on it."""

    link: str
    delay_ps: int
    sending_ps: int


@dataclass(frozen=True)
class ResolvedPath:
    """The way of flows that have it alike.

    Attributes:
        flows: their names.
        there: hops of a full segment.
        back: hops of its acknowledgement.
        rtt_ps: both together, through empty ports.
        bottleneck: the slowest link of the way there; of equal ones that with a limited buffer.
        payload_bps: TCP payload that it carries at most.
        bdp_octets: of IP packets that fill that link for the RTT.
        window_octets: of payload that the receiver lets be on its way.
        window_bps: TCP payload that such a window carries in that RTT.
    """

    flows: tuple[str, ...]
    there: tuple[Hop, ...]
    back: tuple[Hop, ...]
    rtt_ps: int
    bottleneck: str
    payload_bps: float
    bdp_octets: float
    window_octets: int
    window_bps: float


def resolved_links(spec: NetworkSpec, plan: Plan) -> tuple[ResolvedLink, ...]:
    """The links of a network, those that are alike together."""
    crossing = _flow_across(spec)
    groups: dict[tuple[object, ...], list[int]] = {}
    for place in range(len(spec.links)):
        groups.setdefault(_kind(plan, spec.links[place]), []).append(place)
    return tuple(
        _resolved(
            spec.links[places[0]],
            plan.links.get(spec.links[places[0]].name),
            tuple(spec.links[place].name for place in places),
            _packets_across(spec, places[0]),
            next((crossing[place] for place in places if place in crossing), None),
        )
        for places in groups.values()
    ) + tuple(_resolved_kind(spec, plan, kind) for kind in kinds_as_links(spec))


def _resolved_kind(spec: NetworkSpec, plan: Plan, kind: LinkSpec) -> ResolvedLink:
    """A kind of links of a constellation, which all flows and sources by label may cross."""
    packets = {_full_packet(flow) for flow in spec.connections}
    packets |= {source.datagram_octets for source in spec.sources}
    flow = next(iter(spec.connections), None)
    return _resolved(kind, plan.links.get(kind.name), (kind.name,), packets, flow)


def resolved_paths(spec: NetworkSpec, plan: Plan) -> tuple[ResolvedPath, ...]:
    """The ways of a network's flows, those that are alike together."""
    groups: dict[tuple[object, ...], list[FlowSpec]] = {}
    for flow in spec.connections:
        if not _links_of(spec, flow.forward):
            continue  # by label, over links that change
        ways = [
            tuple(_kind(plan, link) for link in _received(spec, route))
            for route in (flow.forward, flow.reverse)
        ]
        tcp = flow.tcp
        groups.setdefault((*ways, tcp.mss, tcp.llc_snap, tcp.timestamps, tcp.rwnd), []).append(flow)
    return tuple(_path(spec, tuple(flows)) for flows in groups.values())


def packet_cost(link: LinkSpec, octets: int, *, llc_snap: bool = True) -> PacketCost:
    """What an IP packet takes of a link."""
    if link.framing is not None:
        on_line = octets_on_line(link.framing, octets)
        return PacketCost(octets, on_line, packet_time_ps(link.framing, octets))
    cells = aal5_cells_of(octets, llc_snap)
    return PacketCost(octets, CELL_OCTETS * cells, cells * link.cell_time_ps)


def longest_packet(spec: NetworkSpec, link: int) -> int:
    """Octets of the longest packet that crosses a link in the main; 1500 where none does."""
    longest = max(_packets_across(spec, link), default=USUAL_PACKETS[-1])
    framing = spec.links[link].framing
    if framing is None or framing.fragment_octets is None:
        return longest
    return max(fragments(longest, framing.fragment_octets))


def _links_of(spec: NetworkSpec, route: tuple[int, ...]) -> list[int]:
    return [link for vc in route for link in spec.vcs[vc].path]


def _received(spec: NetworkSpec, route: tuple[int, ...]) -> list[LinkSpec]:
    """The links of a route as its packets have them."""
    return [as_received(spec.links[link], vc) for vc in route for link in spec.vcs[vc].path]


def _full_packet(flow: FlowSpec) -> int:
    return packet_octets_of(flow.tcp.mss, flow.tcp.timestamps)


def _flow_across(spec: NetworkSpec) -> dict[int, FlowSpec]:
    """The first flow whose data cross each link."""
    found: dict[int, FlowSpec] = {}
    for flow in spec.connections:
        for link in _links_of(spec, flow.forward):
            found.setdefault(link, flow)
    return found


def _packets_across(spec: NetworkSpec, link: int) -> set[int]:
    """Octets of the packets of flows' data and of sources that cross a link."""
    flows = (flow for flow in spec.connections if link in _links_of(spec, flow.forward))
    sources = (one for one in spec.sources if link in _links_of(spec, route_of(one)))
    own = {_full_packet(flow) for flow in flows}
    return own | {source.datagram_octets for source in sources if source.datagram_octets}


def _kind(plan: Plan, link: LinkSpec) -> tuple[object, ...]:
    """What makes a link like others."""
    planned = plan.links.get(link.name)
    table = None if planned is None else (planned.path, planned.buffer_key)
    varies = link.schedule is not None
    return table, link.framing, link.cell_time_ps, link.delay_ps, varies, link.port.is_limited


def _resolved(
    link: LinkSpec,
    planned: PlannedLink | None,
    names: tuple[str, ...],
    packets: set[int],
    flow: FlowSpec | None,
) -> ResolvedLink:
    llc_snap = flow is None or flow.tcp.llc_snap
    sizes = sorted({*USUAL_PACKETS, *packets})
    framing = planned.framing if planned is not None else None
    mtu = planned.keys.mtu if planned is not None else None
    layers: dict[str, float] = {}
    payload_bps = None
    full = None
    if flow is not None:
        full = packet_cost(link, _full_packet(flow), llc_snap=llc_snap)
        layers = _layers(planned, link, full, flow)
        payload_bps = link_bps(link) * flow.tcp.mss / full.on_line
    return ResolvedLink(
        names=names,
        stated=str(planned.rate) if planned is not None else "",
        framing=framing.kind if framing is not None and framing.kind != "none" else "cells",
        rate_bps=link_bps(link),
        delay_ps=link.delay_ps,
        varies=link.schedule is not None,
        mtu=None if mtu is None else int(mtu.amount),
        costs=tuple(packet_cost(link, size, llc_snap=llc_snap) for size in sizes),
        full=full,
        layers=layers,
        payload_bps=payload_bps,
    )


def _layers(
    planned: PlannedLink | None, link: LinkSpec, full: PacketCost, flow: FlowSpec
) -> dict[str, float]:
    """Parts of the stated rate by layer, of a link that full segments of a flow fill."""
    below: dict[str, float] = {}
    left = 1.0
    if planned is not None and planned.framing is not None:
        overhead = overhead_of(planned.framing)
        if overhead.layers:
            *taken, (_, rest) = overhead.layers.items()
            below = {name: float(part) for name, part in taken}
            left = float(rest)
        elif not counts_symbols(planned.framing):
            left = float(overhead.carried)
            below = {planned.framing.kind: 1 - left} if left < 1 else {}
    per_octet = left / full.on_line
    headers = full.octets - flow.tcp.mss
    cells = full.on_line // CELL_OCTETS if link.framing is None else 0
    frame = {
        "cell headers": 5 * cells,
        "AAL5, LLC/SNAP": 48 * cells - full.octets if cells else 0,
        "framing of packets": 0 if cells else full.on_line - full.octets,
        "TCP/IP headers": headers,
        "TCP payload": flow.tcp.mss,
    }
    return below | {name: octets * per_octet for name, octets in frame.items() if octets}


def _path(spec: NetworkSpec, flows: tuple[FlowSpec, ...]) -> ResolvedPath:
    flow = flows[0]
    full, ack = _full_packet(flow), packet_octets_of(0, flow.tcp.timestamps)
    data = _received(spec, flow.forward)
    there = _hops(spec, data, full, flow)
    back = _hops(spec, _received(spec, flow.reverse), ack, flow)
    rtt_ps = sum(hop.delay_ps + hop.sending_ps for hop in (*there, *back))
    slowest = max(data, key=lambda link: (_time_ps(link, full, flow), link.port.is_limited))
    slowest_ps = _time_ps(slowest, full, flow)
    return ResolvedPath(
        flows=tuple(one.name for one in flows),
        there=there,
        back=back,
        rtt_ps=rtt_ps,
        bottleneck=slowest.name,
        payload_bps=8 * flow.tcp.mss * PS_PER_SECOND / slowest_ps,
        bdp_octets=full * rtt_ps / slowest_ps,
        window_octets=flow.tcp.rwnd,
        window_bps=8 * flow.tcp.rwnd * PS_PER_SECOND / rtt_ps,
    )


def _time_ps(link: LinkSpec, octets: int, flow: FlowSpec) -> int:
    return packet_cost(link, octets, llc_snap=flow.tcp.llc_snap).time_ps


def _hops(spec: NetworkSpec, links: list[LinkSpec], octets: int, flow: FlowSpec) -> tuple[Hop, ...]:
    """The hops of a packet, each with the time from its last bit's coming to that bit's leaving.

    Hosts and routers send whole packets. A switch sends the cells of a frame on as they come: on a
    link that is no slower than those before, that takes a cell time; on a slower one the frame
    begins once its first cell is there.
    """
    found = []
    slowest_ps = 0
    for link in links:
        own_ps = _time_ps(link, octets, flow)
        added_ps = own_ps
        if spec.nodes[link.from_].kind == "switch":
            cells = own_ps // link.cell_time_ps
            first_ps = slowest_ps // cells
            is_slower = own_ps > slowest_ps
            added_ps = own_ps - slowest_ps + first_ps if is_slower else link.cell_time_ps
            slowest_ps = max(slowest_ps, own_ps)
        else:
            slowest_ps = own_ps
        found.append(Hop(link.name, link.delay_ps, added_ps))
    return tuple(found)


@dataclass(frozen=True)
class ResolvedSize:
    """A buffer or a threshold in every unit.

    Attributes:
        port: name of its link.
        key: what it is: `buffer`, or the parameter of a policy.
        held: as the engines count it, with the unit.
        octets: of cells, or of IP packets.
        packets: full ones.
        cells: None on a link of packets.
        time_ps: in which the line carries it.
        rtts: that time in RTTs, which is also the size in bandwidth-delay products of this line.
    """

    port: str
    key: str
    held: str
    octets: float
    packets: float
    cells: int | None
    time_ps: float
    rtts: float | None


def resolved_size(
    spec: NetworkSpec, place: int, key: str, amount: int, counts_octets: bool, rtt_ps: int
) -> ResolvedSize:
    """A size that a port holds, in every unit; `amount` is in what its buffer counts."""
    link = spec.links[place]
    full = longest_packet(spec, place)
    if link.framing is None:
        octets, cells = Fraction(CELL_OCTETS * amount), amount
        packets = Fraction(amount, aal5_cells_of(full, llc_snap=True))
        time_ps, unit = Fraction(amount * link.cell_time_ps), "cells"
    else:
        packets = Fraction(amount, full) if counts_octets else Fraction(amount)
        octets, cells, unit = packets * full, None, "B" if counts_octets else "packets"
        time_ps = packets * packet_time_ps(link.framing, full)
    return ResolvedSize(
        port=link.name,
        key=key,
        held=f"{show_amount(amount)} {unit}",
        octets=float(octets),
        packets=float(packets),
        cells=cells,
        time_ps=float(time_ps),
        rtts=float(time_ps) / rtt_ps if rtt_ps else None,
    )
