"""What a network is able to give its TCP flows, and how fairly a run shared it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.quantities import parse_quantity
from skycell.metrics.ceiling import carried_cell_bps, link_cell_bps, tcp_share
from skycell.metrics.fairness import fairness_to_the_due
from skycell.metrics.max_min import max_min_rates
from skycell.metrics.throughput import scheduled_bps, throughputs_bps
from skycell.spec.network import NetworkSpec, SourcePatternConstant, SourceSpec
from skycell.spec.values import mean_ps, route_of


@dataclass(frozen=True)
class Network:
    """What measures need to know of a network.

    Attributes:
        ceiling_bps: largest sum of TCP throughputs; 0 without flows.
        routes: links that each flow's data cross.
        left_bps: what cell sources leave of each link's cells in the mean over the run; of a link
            that they fill, or that has no path, all of it.
        shares: TCP's part of the cells that a flow fills.
        congested: names of the ports with a limited buffer, the one of the slowest link first.
    """

    ceiling_bps: float
    routes: tuple[tuple[int, ...], ...]
    left_bps: tuple[float, ...]
    shares: tuple[float, ...]
    congested: tuple[str, ...]

    @classmethod
    def of(cls, spec: NetworkSpec, ceiling: str = "link") -> Network:
        """The facts of a network.

        Args:
            spec: the network.
            ceiling: `link` for the cells that the congested link could carry over the run (of
                several that data cross the slowest; of none the slowest that they cross), `left`
                for what cell sources leave of them, or a bit rate such as `63 Mbit/s`.
        """
        rates = [carried_cell_bps(link, spec.duration_ps) for link in spec.links]
        routes = [
            [link for vc in flow.forward for link in spec.vcs[vc].path] for flow in spec.flows
        ]
        shares = [
            tcp_share(flow.tcp.mss, llc_snap=flow.tcp.llc_snap, timestamps=flow.tcp.timestamps)
            for flow in spec.flows
        ]
        limited = [place for place, link in enumerate(spec.links) if link.port.is_limited]
        limited.sort(key=lambda place: rates[place])
        slowest = sorted({p for route in routes for p in route}, key=rates.__getitem__)
        loaded = [place for place in limited if place in slowest]
        taken = _taken_bps(spec)
        return cls(
            ceiling_bps=_base_bps(spec, (loaded or slowest)[0], ceiling) * max(shares)
            if shares
            else 0.0,
            routes=tuple(map(tuple, routes)),
            left_bps=tuple(
                carried_cell_bps(link, spec.duration_ps, taken.get(place, 0.0))
                or rates[place]
                or link_cell_bps(link.cell_time_ps)
                for place, link in enumerate(spec.links)
            ),
            shares=tuple(shares),
            congested=tuple(spec.links[place].name for place in limited),
        )

    def fair_bps(self, demand_bps: Sequence[float] | None = None) -> list[float]:
        """Max-min fair TCP throughput of each flow, bit/s.

        Args:
            demand_bps: TCP throughput that each flow could use; endless if not given.
        """
        demand = None
        if demand_bps is not None:
            demand = [rate / share for rate, share in zip(demand_bps, self.shares, strict=True)]
        fair = max_min_rates(self.routes, dict(enumerate(self.left_bps)), demand)
        return [rate * share for rate, share in zip(fair, self.shares, strict=True)]


def _base_bps(spec: NetworkSpec, link: int, ceiling: str) -> float:
    """Rate of cells whose TCP share is an efficiency of 1; 0 where sources leave nothing.

    Args:
        spec: the network.
        link: the congested one, by its place in the spec.
        ceiling: as for `Network.of`.
    """
    if ceiling in ("link", "left"):
        taken = _taken_bps(spec).get(link, 0.0) if ceiling == "left" else 0.0
        return carried_cell_bps(spec.links[link], spec.duration_ps, taken)
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


def _all_cross(spec: NetworkSpec, link: int) -> bool:
    """Whether the data of every flow go over one link, by its place in the spec."""
    return all(any(link in spec.vcs[vc].path for vc in flow.forward) for flow in spec.flows)


def _taken_bps(spec: NetworkSpec) -> dict[int, float]:
    """What cell sources offer in the mean to each link that they cross, bit/s."""
    taken: dict[int, float] = {}
    for source in spec.sources:
        mean = _mean_cell_bps(source)
        for link in {link for vc in route_of(source) for link in spec.vcs[vc].path}:
            taken[link] = taken.get(link, 0.0) + mean
    return taken


def _mean_cell_bps(source: SourceSpec) -> float:
    """What a cell source offers in the mean over its cycles, bit/s."""
    peak = link_cell_bps(source.cell_interval_ps)
    if isinstance(source.pattern, SourcePatternConstant):
        return peak
    on, off = mean_ps(source.pattern.on), mean_ps(source.pattern.off)
    return peak * on / (on + off)


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
        From 1/n to 1; none where nothing was delivered or due.
    """
    rates = throughputs_bps(records, definition)
    return fairness_to_the_due(rates, network.fair_bps(scheduled_bps(records)))
