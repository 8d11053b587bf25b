"""Queue lengths of ports, and the delay they can cause."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.metrics.ceiling import CELL_OCTETS, segment_packet_octets
from skycell.metrics.recorded_ports import recorded_ports
from skycell.spec.declared.network import NetworkSpec, VcSpec
from skycell.spec.values import packet_time_ps, route_of

_KEYS = ("mean", "max", "p50", "p90", "p99")


class QueueLength(NamedTuple):
    """Queue of one port over a run, cells; percentiles only where the port was sampled."""

    port: str
    mean: float
    largest: int
    p50: int | None
    p90: int | None
    p99: int | None


def queue_lengths(records: Mapping[str, Any]) -> list[QueueLength]:
    """Queue of every port in the records, in their order.

    >>> queue = {"mean": 2.5, "max": 9, "p50": 2, "p90": 7, "p99": 9}
    >>> queue_lengths({"ports": [{"name": "sw1>sw2", "queue": queue}]})[0].largest
    9
    """
    return [
        QueueLength(port["name"], *(port["queue"][key] for key in _KEYS))
        for port in records["ports"]
    ]


def octet_ms(spec: NetworkSpec, link: int) -> float:
    """Time in which a link carries an octet of what waits for it, milliseconds.

    On a link of packets it is an octet of full packets, the longest that a flow or source sends
    over it, without what the link adds: what sizes of buffers such as "150 ms" are told in.

    Args:
        spec: the network.
        link: by its id, of a port that has a record; of one that varies the greatest rate counts.
    """
    found = recorded_ports(spec)[link]
    if found.framing is None:
        return found.cell_time_ps / CELL_OCTETS / PS_PER_MS
    packets = [
        segment_packet_octets(flow.tcp.mss, timestamps=flow.tcp.timestamps)
        for flow in spec.flows
        if any(_may_cross(spec.vcs[vc], link) for vc in flow.forward)
    ]
    packets += [
        source.datagram_octets
        for source in spec.sources
        if any(_may_cross(spec.vcs[vc], link) for vc in route_of(source))
    ]
    packet = max(packets, default=segment_packet_octets(1)) or 1
    return packet_time_ps(found.framing, packet) / packet / PS_PER_MS


def _may_cross(vc: VcSpec, link: int) -> bool:
    """Whether packets of a VC may come to a port, as those by label may to any."""
    return link in vc.path or vc.by_label is not None


def queue_bound_delay_s(buffer_cells: int, cell_time_ps: int) -> float:
    """Longest wait in a first-in first-out port: buffer size over drain rate, seconds.

    Args:
        buffer_cells: the port's capacity, cells, above 0.
        cell_time_ps: time of one cell on the link, picoseconds, above 0.

    Source: NASA/CR-1999-209158 part III.A, section 6.

    >>> round(queue_bound_delay_s(200_000, 2_726_337), 4)
    0.5453
    """
    if buffer_cells <= 0 or cell_time_ps <= 0:
        raise ValueError("buffer and cell time must be above 0")
    return buffer_cells * cell_time_ps / PS_PER_SECOND
