"""How each link of a plan carries what it is given: cells at a rate, or packets in a framing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import CELL_BITS, rounded
from skycell.scenario.links.framing import carries_packets, checked_octets, overhead_of
from skycell.scenario.links.keys import cell_time_ps, payload_rate
from skycell.scenario.plan.framings import words_of_rate
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.values.cells import aal5_cells_of, frame_cells_of, packet_octets_of
from skycell.spec.declared.network import PacketFraming, TcpSpec
from skycell.spec.values import octets_on_line, packet_time_ps


@dataclass(frozen=True)
class Line:
    """How a link carries what it is given.

    Attributes:
        rate: bit/s: of its cells with their headers, or of the line on which packets go.
        cell_time_ps: 0 where it carries packets.
        packets: what packets take of it; None where it carries cells.
    """

    rate: Fraction
    cell_time_ps: int
    packets: PacketFraming | None

    @classmethod
    def of(cls, link: PlannedLink) -> Line:
        """The line of a link without faults."""
        rate = payload_rate(link.rate, link.framing)
        if link.framing is not None and carries_packets(link.framing):
            packets = overhead_of(link.framing).on_line(rate)
            if link.keys.fragmentation and link.keys.mtu is not None:
                mtu = int(link.keys.mtu.amount)
                packets = packets.model_copy(update={"fragment_octets": mtu})
            checked = checked_octets(link.keys.frame_check, packets.overhead_octets)
            if checked is not None:
                packets = packets.model_copy(update={"checked_octets": checked})
            return cls(rate, 0, packets)
        return cls(rate, cell_time_ps(rate), None)

    def segment_ps(self, payload: int, tcp: TcpSpec) -> int:
        """What a segment of so many octets of payload takes, without SACK blocks."""
        if self.packets is not None:
            return packet_time_ps(self.packets, packet_octets_of(payload, tcp.timestamps))
        return frame_cells_of(payload, tcp.llc_snap, tcp.timestamps) * self.cell_time_ps

    def packets_per_s(self, packet: int) -> Fraction:
        """Packets of so many octets that it carries in a second; in cells with LLC/SNAP."""
        if self.packets is None:
            return self.rate / (CELL_BITS * aal5_cells_of(packet, llc_snap=True))
        return self.rate / (8 * octets_on_line(self.packets, packet))


@part
def lines(net: Resolution) -> dict[str, Line]:
    """Returns the line of each link; one object for all links that the same words describe."""
    by_words: dict[tuple[object, ...], Line] = {}
    found = {}
    for name, link in net.plan.links.items():
        words = (
            *words_of_rate(link),
            link.keys.mtu if link.keys.fragmentation else None,
            link.keys.frame_check,
        )
        if words not in by_words:
            by_words[words] = Line.of(link)
        found[name] = by_words[words]
    return found


@part
def delays_ps(net: Resolution) -> dict[str, int]:
    """Returns the propagation delay of each link, the greatest of one that moves."""
    return {name: rounded(link.delay.amount) for name, link in net.plan.links.items()}


@part
def changing(net: Resolution) -> frozenset[str]:
    """Returns the links whose delay, rate or end changes during the run."""
    schedules, paths = net.schedules.schedules, net.plan.satellite_paths
    return frozenset(
        name
        for name, link in net.plan.links.items()
        if name in paths or link.table_of("schedule") in schedules
    )
