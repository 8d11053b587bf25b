"""What follows from parts of a spec."""

from __future__ import annotations

from skycell.spec.declared.network import (
    DistributionConstant,
    DistributionExponential,
    DistributionSpec,
    DistributionUniform,
    LinkSpec,
    NetworkSpec,
    PacketFraming,
    SourceSpec,
    StartAt,
    StartSpec,
    VcSpec,
)

IP_HEADER = 20
"""Octets of an IP header without options (RFC 791 3.1)."""

WHOLE_PPB = 10**9
"""The whole in parts per billion, as shares of a link and losses are told."""


def mean_ps(times: DistributionSpec) -> int:
    """Mean of a distribution of times, picoseconds."""
    if isinstance(times, DistributionConstant):
        return times.value_ps
    if isinstance(times, DistributionUniform):
        return (times.low_ps + times.high_ps) // 2
    assert isinstance(times, DistributionExponential)
    return times.mean_ps


def begin_ps(start: StartSpec) -> int:
    """When a flow or a source begins, picoseconds; the earliest moment where it is drawn."""
    return start.time_ps if isinstance(start, StartAt) else start.from_ps


def route_of(source: SourceSpec) -> tuple[int, ...]:
    """The VCs that carry what a source sends."""
    return source.datagram_route or (source.vc,)


def paths_of(vc: VcSpec) -> tuple[tuple[int, ...], ...]:
    """The paths that a VC may take: its own, and those that it is moved to."""
    return (vc.path, *(vc.rerouting.paths if vc.rerouting else ()))


def kinds_as_links(spec: NetworkSpec) -> list[LinkSpec]:
    """A link for each kind of ports of a sky, of delay 0; none for a network of links."""
    kinds = () if spec.sky is None else spec.sky.kinds
    return [
        LinkSpec(
            name=kind.name,
            from_=0,
            to=1,
            cell_time_ps=kind.cell_time_ps,
            framing=kind.framing,
            delay_ps=0,
            loss_ppb=kind.loss_ppb,
            channel=kind.channel,
            schedule=None,
            port=kind.port,
        )
        for kind in kinds
    ]


def octets_on_line(framing: PacketFraming, packet: int) -> int:
    """Octets that a packet takes of the line, as `PacketFraming` of `crates/spec` has it.

    >>> ethernet = PacketFraming(
    ...     rate_millibps=10**11, overhead_octets=38, least_octets=46, unit_octets=1, line_octets=1
    ... )
    >>> [octets_on_line(ethernet, packet) for packet in (40, 1500)]
    [84, 1538]
    >>> octets_on_line(ethernet.model_copy(update={"fragment_octets": 576}), 1500)
    1654
    """
    if framing.fragment_octets is not None and packet > framing.fragment_octets:
        whole = framing.model_copy(update={"fragment_octets": None})
        lengths = fragments(packet, framing.fragment_octets)
        return sum(octets_on_line(whole, length) for length in lengths)
    framed = max(packet, framing.least_octets) + framing.overhead_octets
    return -(-framed // framing.unit_octets) * framing.line_octets


def fragments(packet: int, mtu: int) -> list[int]:
    """Octets of the fragments of a packet, headers included (RFC 791); of one that fits, its own.

    >>> fragments(1500, 576)
    [572, 572, 396]
    """
    if packet <= mtu:
        return [packet]
    payload, most = packet - IP_HEADER, (mtu - IP_HEADER) // 8 * 8
    return [IP_HEADER + min(most, payload - at) for at in range(0, payload, most)]


def packet_time_ps(framing: PacketFraming, packet: int, rate_millibps: int | None = None) -> int:
    """Time of a packet on the line, rounded half up once, at its own rate or at another.

    >>> plain = PacketFraming(
    ...     rate_millibps=3 * 10**9, overhead_octets=0, least_octets=0, unit_octets=1, line_octets=1
    ... )
    >>> packet_time_ps(plain, 1)
    2666667
    """
    rate = rate_millibps or framing.rate_millibps
    bits = octets_on_line(framing, packet) * 8 * 10**15
    return (2 * bits + rate) // (2 * rate)


def as_received(link: LinkSpec, vc: int) -> LinkSpec:
    """The link as packets of a VC have it, by its id: at the greatest rate of their receiver."""
    for receiver in link.receivers:
        if vc in receiver.vcs and link.framing is not None:
            rate = max(rate for rate in receiver.rates_millibps if rate is not None)
            framing = link.framing.model_copy(update={"rate_millibps": rate})
            return link.model_copy(update={"framing": framing})
    return link
