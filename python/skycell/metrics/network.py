"""What a network is able to give its TCP flows, and how fairly a run shared it."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.quantities import PS_PER_SECOND, parse_quantity
from skycell.metrics.ceiling import (
    CELL_OCTETS,
    carried_bps,
    link_bps,
    link_cell_bps,
    received_part,
    segment_packet_octets,
    shaped_bps,
    tcp_share,
)
from skycell.metrics.fairness import fairness_to_the_due
from skycell.metrics.max_min import max_min_rates
from skycell.metrics.throughput import scheduled_bps, throughputs_bps
from skycell.scenario.values.cells import aal5_cells_of
from skycell.spec.declared.network import (
    FlowSpec,
    LinkSpec,
    NetworkSpec,
    PortKindSpec,
    SourcePatternBursts,
    SourcePatternConstant,
    SourcePatternEcho,
    SourcePatternOnOff,
    SourcePatternTrace,
    SourceSpec,
)
from skycell.spec.values import (
    begin_ps,
    fragments,
    mean_ps,
    octets_on_line,
    paths_of,
    route_of,
)

_LEAST_PART = 1e-9
"""Part of a link's rate that stands for none, so that what a receiver takes has a number."""


@dataclass(frozen=True)
class Network:
    """What measures need to know of a network.

    Attributes:
        ceiling_bps: largest sum of TCP throughputs; 0 without flows.
        routes: links that each flow's data cross.
        left_bps: what other sources leave of each link in the mean over the run; of a link that
            they fill, or that has no path, all of it.
        shares: TCP's part of what a flow fills: of cells, or of IP packets where a link of the
            network carries those.
        congested: names of the ports with a limited buffer that the data of a flow or a source
            cross, the one of the slowest link first. A port that only acknowledgements cross is
            none of them.
        equally_slow: those of them whose links are as slow as the first.
        costs: what a flow's rate in that takes of each link that it crosses, as a multiple; none
            where all links carry cells.
        unit: what ports with a limited buffer hold: `cells`, `packets`, or both.
    """

    ceiling_bps: float
    routes: tuple[tuple[int, ...], ...]
    left_bps: tuple[float, ...]
    shares: tuple[float, ...]
    congested: tuple[str, ...]
    costs: tuple[Mapping[int, float], ...] = ()
    unit: str = "cells"
    equally_slow: tuple[str, ...] = ()

    @classmethod
    def of(cls, spec: NetworkSpec, ceiling: str = "link") -> Network:
        """The facts of a network.

        Args:
            spec: the network.
            ceiling: `link` for what the congested link could carry over the run (of several that
                data cross the slowest; of none the slowest that they cross), `left` for what
                other sources leave of it, or a bit rate such as `63 Mbit/s`.
        """
        longest = _longest_packet(spec)
        rates = [_carried_bps(spec, link, longest) for link in spec.links]
        routes = [
            [link for vc in flow.forward for link in spec.vcs[vc].path] for flow in spec.flows
        ]
        in_packets = any(link.framing is not None for link in spec.carriers)
        shares = [
            flow.tcp.mss / _packet_of(flow) if in_packets else _cell_share(flow)
            for flow in spec.flows
        ]
        costs = [
            {link: share / _share_on(spec, link, flow) for link in route}
            for flow, share, route in zip(spec.flows, shares, routes, strict=True)
            if in_packets
        ]
        limited = [place for place, link in enumerate(spec.links) if link.port.is_limited]
        limited.sort(key=lambda place: rates[place])
        slowest = sorted({p for route in routes for p in route}, key=rates.__getitem__)
        crossed = set(slowest)
        loaded = [place for place in limited if place in crossed]
        with_data = _links_with_data(spec)
        congested = [place for place in limited if place in with_data]
        taken = taken_bps(spec, spec.sources)
        ceiling_bps = 0.0
        if spec.flows and slowest:
            place = (loaded or slowest)[0]
            share = max(_share_on(spec, place, flow) for flow in spec.flows)
            ceiling_bps = _base_bps(spec, place, ceiling) * share
        return cls(
            ceiling_bps=ceiling_bps,
            routes=tuple(map(tuple, routes)),
            left_bps=tuple(
                _carried_bps(spec, link, longest, taken.get(place, 0.0))
                or rates[place]
                or link_bps(link)
                for place, link in enumerate(spec.links)
            ),
            shares=tuple(shares),
            costs=tuple(costs),
            congested=tuple(spec.links[place].name for place in congested),
            equally_slow=tuple(
                spec.links[place].name for place in congested if rates[place] == rates[congested[0]]
            ),
            unit=units_in_words(spec.links[place] for place in limited),
        )

    def fair_bps(self, demand_bps: Sequence[float] | None = None) -> list[float]:
        """Max-min fair TCP throughput of each flow, bit/s.

        Args:
            demand_bps: TCP throughput that each flow could use; endless if not given.
        """
        demand = None
        if demand_bps is not None:
            demand = [rate / share for rate, share in zip(demand_bps, self.shares, strict=True)]
        capacity = dict(enumerate(self.left_bps))
        fair = max_min_rates(self.routes, capacity, demand, cost=self.costs or None)
        return [rate * share for rate, share in zip(fair, self.shares, strict=True)]


def units_in_words(links: Iterable[LinkSpec | PortKindSpec]) -> str:
    """What links carry, or their ports hold: cells, packets, or both; cells where there is none."""
    found = {link.framing is None for link in links}
    return "packets" if found == {False} else "cells or packets" if len(found) > 1 else "cells"


def _cell_share(flow: FlowSpec) -> float:
    """TCP's part of the cells that a flow fills."""
    tcp = flow.tcp
    return tcp_share(tcp.mss, llc_snap=tcp.llc_snap, timestamps=tcp.timestamps)


def _packet_of(flow: FlowSpec) -> int:
    """Octets of the IP packet of a full segment."""
    return segment_packet_octets(flow.tcp.mss, timestamps=flow.tcp.timestamps)


def _share_on(spec: NetworkSpec, place: int, flow: FlowSpec) -> float:
    """TCP's part of a link that a flow fills, whose segments may have been cut before it.

    Where the receiver has a lower rate than the link, the flow fills it with fewer segments.
    """
    packets = [_packet_of(flow)]
    received = 1.0
    for vc, link in ((own, link) for own in flow.forward for link in spec.vcs[own].path):
        framing = spec.links[link].framing
        if framing is not None and framing.fragment_octets is not None:
            mtu = framing.fragment_octets
            packets = [part for octets in packets for part in fragments(octets, mtu)]
        if link == place:
            received = _received_part(spec, link, vc)
            break
    found = spec.links[place].framing
    if found is not None:
        on_line = sum(octets_on_line(found, octets) for octets in packets)
        return received * flow.tcp.mss / on_line
    if len(packets) == 1:
        return _cell_share(flow)
    cells = sum(aal5_cells_of(octets, flow.tcp.llc_snap) for octets in packets)
    return flow.tcp.mss / (CELL_OCTETS * cells)


def _received_part(spec: NetworkSpec, link: int, vc: int) -> float:
    """Part of a link's rate that the receiver of a VC has, above 0 even where it hears nothing."""
    own, from_ps = spec.links[link], spec.measure_from_ps
    return max(received_part(own, vc, spec.duration_ps, from_ps=from_ps), _LEAST_PART)


def _longest_packet(spec: NetworkSpec) -> int | None:
    """Octets of the longest IP packet of any flow, if there are flows."""
    return max(map(_packet_of, spec.flows), default=None)


def _carried_bps(
    spec: NetworkSpec, link: LinkSpec, longest: int | None, taken_bps: float = 0.0
) -> float:
    """Rate that a link could carry over the run beside what others take, bit/s of the link.

    Token buckets are taken to see the longest packets of TCP, which fill most of what they let
    through.
    """
    most = math.inf if longest is None else shaped_bps(link, longest)
    from_ps = spec.measure_from_ps
    return carried_bps(link, spec.duration_ps, taken_bps, most, from_ps=from_ps)


def _base_bps(spec: NetworkSpec, link: int, ceiling: str) -> float:
    """Rate of a link whose TCP share is an efficiency of 1; 0 where sources leave nothing.

    Args:
        spec: the network.
        link: the congested one, by its place in the spec.
        ceiling: as for `Network.of`.
    """
    if ceiling in ("link", "left"):
        taken = taken_bps(spec, spec.sources).get(link, 0.0) if ceiling == "left" else 0.0
        return _carried_bps(spec, spec.links[link], _longest_packet(spec), taken)
    return float(parse_quantity(ceiling).amount)


def ceiling_of_all_bps(spec: NetworkSpec) -> float | None:
    """The most that all flows of a run could get together, bit/s of TCP payload.

    It is the sum of their max-min fair shares, so that a slow link beside the congested one counts.
    None where no single number says so: where the data of some flow do not cross the one port with
    a limited buffer that data cross, or segments differ; and where cell sources and outages leave
    nothing.
    """
    congested = congested_links(spec)
    kinds = {(f.tcp.mss, f.tcp.llc_snap, f.tcp.timestamps) for f in spec.flows}
    if len(congested) != 1 or len(kinds) != 1 or not _all_cross(spec, congested[0]):
        return None
    if not _base_bps(spec, congested[0], "left"):
        return None
    return sum(Network.of(spec).fair_bps())


def congested_links(spec: NetworkSpec) -> list[int]:
    """The links with a limited buffer that the data of some flow cross, by their place."""
    return [place for place in crossed_links(spec) if spec.links[place].port.is_limited]


def crossed_links(spec: NetworkSpec) -> list[int]:
    """The links that the data of some flow cross, by their place."""
    return sorted(
        {link for flow in spec.flows for vc in flow.forward for link in spec.vcs[vc].path}
    )


def _links_with_data(spec: NetworkSpec) -> set[int]:
    """The links of all paths that the data of a flow or the packets of a source may take."""
    vcs = {vc for flow in spec.flows for vc in flow.forward}
    vcs |= {vc for source in spec.sources for vc in route_of(source)}
    return {link for vc in vcs for path in paths_of(spec.vcs[vc]) for link in path}


def _all_cross(spec: NetworkSpec, link: int) -> bool:
    """Whether the data of every flow go over one link, by its place in the spec."""
    return all(any(link in spec.vcs[vc].path for vc in flow.forward) for flow in spec.flows)


def taken_bps(spec: NetworkSpec, sources: Iterable[SourceSpec]) -> dict[int, float]:
    """What sources offer in the mean to each link that they cross, bit/s of the link."""
    taken: dict[int, float] = {}
    for source in sources:
        crossed = {link: own for own in route_of(source) for link in spec.vcs[own].path}
        for link, vc in crossed.items():
            offered = _mean_bps(source, spec.links[link], spec) / _received_part(spec, link, vc)
            taken[link] = taken.get(link, 0.0) + offered
    return taken


def _mean_bps(source: SourceSpec, link: LinkSpec, spec: NetworkSpec) -> float:
    """What a source offers to a link in the mean over its cycles, bit/s of the link.

    A list of packets that is sent once counts over the run, as far as it is sent while that counts.
    """
    if isinstance(source.pattern, SourcePatternEcho):
        source = spec.sources[source.pattern.of]  # whose datagrams it answers, each with as many
    pattern = source.pattern
    measured_ps = spec.duration_ps - spec.measure_from_ps
    if isinstance(pattern, SourcePatternTrace):
        packets: Iterable[int] = pattern.octets
        if pattern.period_ps is None:
            began = begin_ps(source.start)
            first, end = (
                bisect_left(pattern.times_ps, time_ps - began)
                for time_ps in (spec.measure_from_ps, spec.duration_ps)
            )
            packets = pattern.octets[first:end]
        octets = sum(count * _on_line(link, size) for size, count in Counter(packets).items())
        return 8 * octets * PS_PER_SECOND / (pattern.period_ps or measured_ps)
    if source.datagram_octets:
        octets = _on_line(link, source.datagram_octets)
        peak = 8 * octets * PS_PER_SECOND / source.cell_interval_ps
    else:
        peak = link_cell_bps(source.cell_interval_ps)
    if isinstance(pattern, SourcePatternConstant):
        return peak
    if isinstance(pattern, SourcePatternBursts):
        sending = zip(pattern.begins_ps, pattern.lengths_ps, strict=True)
        times = (
            min(begin + length, spec.duration_ps) - max(begin, spec.measure_from_ps)
            for begin, length in sending
        )
        return peak * sum(time for time in times if time > 0) / measured_ps
    assert isinstance(pattern, SourcePatternOnOff)
    on, off = mean_ps(pattern.on), mean_ps(pattern.off)
    return peak * on / (on + off)


def _on_line(link: LinkSpec, packet: int) -> int:
    """Octets that an IP packet takes of a link, in cells with LLC/SNAP."""
    if link.framing is not None:
        return octets_on_line(link.framing, packet)
    return CELL_OCTETS * aal5_cells_of(packet, llc_snap=True)


def max_min_fairness(
    network: Network, records: Mapping[str, Any], definition: str = "delivered_over_duration"
) -> float | None:
    """Fairness index of a run's flows against max-min shares of what cell sources leave.

    Web users are due no more than was asked of their servers (98-0876R1 section 7).

    Args:
        network: that of the run.
        records: of the run, or a summary that has its flows.
        definition: what counts as throughput, one of `THROUGHPUT_DEFINITIONS`.

    Returns:
        From 1/n to 1; none where nothing was delivered or due, or where paths change so that no
        share is known.
    """
    if not all(network.routes):
        return None
    rates = throughputs_bps(records, definition)
    return fairness_to_the_due(rates, network.fair_bps(scheduled_bps(records)))
