"""The longest frames and packets of a run, and links that are too small for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skycell.input.faults import Verbatim
from skycell.input.quantities import show_amount
from skycell.scenario.file.sources import TraceSource, each_source
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.flows import flows
from skycell.scenario.resolve.peps import Connection, connections_of, peps
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.sources import sources
from skycell.scenario.resolve.tcp import tcps
from skycell.scenario.resolve.users import users
from skycell.scenario.values.cells import frame_cells_of, packet_octets_of
from skycell.spec.declared.network import (
    AsksSpec,
    CallSpec,
    FlowSpec,
    SizeConstant,
    SizeSpec,
    WebSpec,
)
from skycell.spec.values import fragments


@part
def frame_cells(net: Resolution) -> int:
    """Returns the cells of a full segment's frame; without a flow, of the sources' longest."""
    specs = [*tcps(net).values(), *(pep.tcp for row in peps(net).values() for pep in row)]
    senders = (*net.file.source, *net.file.calls)
    of_sources = (sender.frame for sender in senders if not isinstance(sender, TraceSource))
    return max(
        (frame_cells_of(spec.mss, spec.llc_snap, spec.timestamps) for spec in specs),
        default=max(of_sources, default=1),
    )


@part
def longest_packets(net: Resolution) -> dict[str, int]:
    """Returns the octets of the longest packet over each link; of an unused one, of all links.

    Options of opening and of selective acknowledgements are not counted.
    """
    plan = net.plan
    longest: dict[str, int] = {}

    def add(vcs: Iterable[str], octets: int) -> None:
        for link in (link for vc in vcs for link in plan.vcs[vc].all_links):
            octets = _longest_fragment(plan.links[link], octets)
            longest[link] = max(octets, longest.get(link, 0))

    for flow, own in _connections(net):
        mss, timestamps = own.tcp.mss, own.tcp.timestamps
        asked = flow.traffic.request_octets if isinstance(flow.traffic, WebSpec) else 0
        add(own.forward, packet_octets_of(mss, timestamps))
        add(own.reverse, packet_octets_of(min(asked, mss), timestamps))
    for _, octets, route in _of_users(net):
        add(route, octets)
    for source in sources(net):
        add(plan.datagrams.get(source.name, ()), source.datagram_octets)
    most = max(longest.values(), default=1)
    return {link: longest.get(link, most) for link in plan.links}


def _of_users(net: Resolution) -> Iterator[tuple[str, int, Iterable[str]]]:
    """What users send and are sent: in words, its octets, and the VCs.

    Of datagrams whose sizes are drawn it is the most frequent size.
    """
    groups = users(net)
    for group in groups.groups if groups is not None else ():
        app = group.app
        for name, route in net.plan.flows.items():
            if isinstance(app, CallSpec):
                both = "whose packets are of", app.packet_octets
                sizes = (both, both)
            elif isinstance(app, AsksSpec):
                sizes = (
                    ("whose answers are of", _size_of(app.answer)),
                    ("whose requests are of", _size_of(app.ask)),
                )
            else:
                tcps_of_route = [group.tcp, *(pep.tcp for pep in peps(net).get(name, ()))]
                segment, request = (
                    max(
                        packet_octets_of(min(most, tcp.mss), tcp.timestamps)
                        for tcp in tcps_of_route
                    )
                    for most in (2**32, app.request_octets)
                )
                sizes = ("whose segments are of", segment), ("whose requests are of", request)
            for (what, octets), vcs in zip(sizes, (route.forward, route.reverse), strict=True):
                yield f"{group.name}, {what}", octets, vcs


def _size_of(size: SizeSpec) -> int:
    return size.octets if isinstance(size, SizeConstant) else max(1, round(size.mode))


def _connections(net: Resolution) -> Iterator[tuple[FlowSpec, Connection]]:
    for flow in flows(net):
        for connection in connections_of(flow, net.plan):
            yield flow, connection


def _longest_fragment(link: PlannedLink, octets: int) -> int:
    """Octets of the longest fragment in which a packet goes over a link, or its own."""
    if not link.keys.fragmentation or link.keys.mtu is None:
        return octets
    return max(fragments(octets, int(link.keys.mtu.amount)))


def check_mtus(net: Resolution) -> None:
    """Notes links whose MTU is below a segment or a datagram that comes to them.

    Nothing is fragmented unless a link asks for it (RFC 8900): else such packets would be lost.
    """
    _check_fragmentation(net)
    sent: list[tuple[str, int, Iterable[str]]] = []
    for flow, own in _connections(net):
        mss, timestamps = own.tcp.mss, own.tcp.timestamps
        octets = packet_octets_of(mss, timestamps)
        sent.append((f"{own.name}, whose segments are of", octets, own.forward))
        recovery = own.tcp.recovery
        blocks = recovery.max_blocks if recovery.kind in ("sack", "rack_tlp") else 0
        # RFC 2018, section 3: kind and length, 8 octets a block, padded to whole words.
        octets = packet_octets_of(0, timestamps) + (4 + 8 * blocks if blocks else 0)
        who = f"{own.name}, whose acknowledgements with {blocks} SACK blocks are of"
        plain = f"{own.name}, whose acknowledgements are of"
        sent.append((who if blocks else plain, octets, own.reverse))
        if isinstance(flow.traffic, WebSpec):
            octets = packet_octets_of(min(flow.traffic.request_octets, mss), timestamps)
            sent.append((f"{flow.name}, whose requests are of", octets, own.reverse))
    sent += _of_users(net)
    lists = {
        source.name: (source, net.packets[int(here[1])])
        for here, source in each_source(net.file.source, net.faults)
        if isinstance(source, TraceSource)
    }
    for spec in (spec for spec in sources(net) if spec.datagram_octets):
        who = f"{spec.name}, whose datagrams are of"
        if spec.name in lists:
            source, packets = lists[spec.name]
            line = packets.longest_line
            who = f"{spec.name}, whose longest packet, in line {line} of {source.file}, is of"
        sent.append((who, spec.datagram_octets, net.plan.datagrams.get(spec.name, ())))
    noted = set()
    for who, octets, route in sent:
        for link in net.plan.links_of(route):
            if link.keys.fragmentation and link.keys.mtu is not None:
                octets = max(fragments(octets, int(link.keys.mtu.amount)))
            table = link.table_of("mtu")
            if link.keys.mtu is None or octets <= link.keys.mtu.amount or table in noted:
                continue
            noted.add(table)
            got = Verbatim(f'"{link.keys.mtu}", and {who} {show_amount(octets)} B')
            allowed = f"from {show_amount(octets)} B, headers included, or smaller packets"
            net.faults.add((*table, "mtu"), got, allowed)


def _check_fragmentation(net: Resolution) -> None:
    """Notes links that are to cut packets and have no MTU, or carry cells."""
    noted = set()
    for link in net.plan.links.values():
        table = link.table_of("fragmentation")
        if not link.keys.fragmentation or table in noted:
            continue
        if link.keys.mtu is None:
            allowed = "only together with mtu, the longest packet that is not cut"
        elif not link.carries_packets:
            allowed = "only on a link that carries packets: every packet fits a frame of AAL5"
        else:
            continue
        noted.add(table)
        net.faults.add((*table, "fragmentation"), True, allowed)
