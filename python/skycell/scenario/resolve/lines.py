"""How each link of a plan carries what it is given: cells at a rate, or packets in a framing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import CELL_BITS
from skycell.scenario.file.framing import carries_packets, checked_octets, overhead_of
from skycell.scenario.file.links import cell_time_ps, payload_rate
from skycell.scenario.plan.framings import words_of_rate
from skycell.scenario.plan.plan import Plan, PlannedLink
from skycell.scenario.resolve.peps import connections_of
from skycell.scenario.values.cells import aal5_cells_of, frame_cells_of, packet_octets_of
from skycell.spec.network import FlowSpec, PacketFraming, TcpSpec, WebSpec
from skycell.spec.values import fragments, octets_on_line, packet_time_ps


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
            if link.fragmentation and link.mtu is not None:
                mtu = int(link.mtu.amount)
                packets = packets.model_copy(update={"fragment_octets": mtu})
            checked = checked_octets(link.frame_check, packets.overhead_octets)
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


def lines_of(plan: Plan) -> dict[str, Line]:
    """The line of each link; one object for all links that the same words describe."""
    by_words: dict[tuple[object, ...], Line] = {}
    lines = {}
    for name, link in plan.links.items():
        words = (*words_of_rate(link), link.mtu if link.fragmentation else None, link.frame_check)
        if words not in by_words:
            by_words[words] = Line.of(link)
        lines[name] = by_words[words]
    return lines


def longest_packets(
    plan: Plan, flows: Iterable[FlowSpec], datagrams: Mapping[str, int]
) -> dict[str, int]:
    """Octets of the longest packet that crosses each link; of one that nobody crosses, of all.

    Options of opening and of selective acknowledgements are not counted.

    Args:
        plan: of the network.
        flows: of its spec.
        datagrams: octets of those of each source, by its name.
    """
    longest: dict[str, int] = {}

    def add(vcs: Iterable[str], octets: int) -> None:
        for link in (link for vc in vcs for link in plan.vcs[vc].all_links):
            octets = _longest_fragment(plan.links[link], octets)
            longest[link] = max(octets, longest.get(link, 0))

    for flow, own in ((one, own) for one in flows for own in connections_of(one, plan)):
        mss, timestamps = own.tcp.mss, own.tcp.timestamps
        asked = flow.traffic.request_octets if isinstance(flow.traffic, WebSpec) else 0
        add(own.forward, packet_octets_of(mss, timestamps))
        add(own.reverse, packet_octets_of(min(asked, mss), timestamps))
    for name, octets in datagrams.items():
        add(plan.datagrams.get(name, ()), octets)
    most = max(longest.values(), default=1)
    return {link: longest.get(link, most) for link in plan.links}


def _longest_fragment(link: PlannedLink, octets: int) -> int:
    """Octets of the longest fragment in which a packet goes over a link, or its own."""
    if not link.fragmentation or link.mtu is None:
        return octets
    return max(fragments(octets, int(link.mtu.amount)))
