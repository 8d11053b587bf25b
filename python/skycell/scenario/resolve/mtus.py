"""The longest packets that links carry, against what TCP and sources send over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skycell.input.faults import FaultCollector, Verbatim
from skycell.input.quantities import show_amount
from skycell.scenario.file.sources import Source, TraceSource, each_source
from skycell.scenario.packets.trace import PacketTrace
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.peps import connections_of
from skycell.scenario.values.cells import packet_octets_of
from skycell.spec.network import FlowSpec, WebSpec
from skycell.spec.values import fragments


def check_mtus(
    plan: Plan,
    flows: Iterable[FlowSpec],
    sources: Sequence[Source],
    packets: Mapping[int, PacketTrace],
    faults: FaultCollector,
) -> None:
    """Notes links whose MTU is below a segment or a datagram that comes to them.

    Nothing is fragmented unless a link asks for it (RFC 8900): else such packets would be lost.
    """
    _check_fragmentation(plan, faults)
    sent: list[tuple[str, int, Iterable[str]]] = []
    for flow, own in ((one, own) for one in flows for own in connections_of(one, plan)):
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
    for place, source in each_source(sources, faults):
        datagrams = plan.datagrams.get(source.name, ())
        if isinstance(source, TraceSource):
            line = packets[place].longest_line
            who = f"{source.name}, whose longest packet, in line {line} of {source.file}, is of"
            sent.append((who, max(packets[place].octets), datagrams))
        elif source.packet_size is not None:
            octets = int(source.packet_size.amount)
            sent.append((f"{source.name}, whose datagrams are of", octets, datagrams))
    noted = set()
    for who, octets, route in sent:
        for link in plan.links_of(route):
            if link.fragmentation and link.mtu is not None:
                octets = max(fragments(octets, int(link.mtu.amount)))
            if link.mtu is None or octets <= link.mtu.amount or link.path in noted:
                continue
            noted.add(link.path)
            got = Verbatim(f'"{link.mtu}", and {who} {show_amount(octets)} B')
            allowed = f"from {show_amount(octets)} B, headers included, or smaller packets"
            faults.add((*link.path, "mtu"), got, allowed)


def _check_fragmentation(plan: Plan, faults: FaultCollector) -> None:
    """Notes links that are to cut packets and have no MTU, or carry cells."""
    noted = set()
    for link in plan.links.values():
        if not link.fragmentation or link.path in noted:
            continue
        if link.mtu is None:
            allowed = "beside mtu, which says the longest packet that goes whole"
        elif not link.carries_packets:
            allowed = "on a link that carries packets: a frame of AAL5 has room for each"
        else:
            continue
        noted.add(link.path)
        faults.add((*link.path, "fragmentation"), True, allowed)
