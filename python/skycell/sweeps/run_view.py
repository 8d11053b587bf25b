"""One run as the responses of a sweep see it: its summary, and what its network is able to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skycell.metrics import (
    OTHER_CLASSES,
    link_cell_bps,
    max_min_rates,
    tcp_share,
    throughputs_bps,
)
from skycell.scenario import NetworkSpec
from skycell.scenario.network_spec import ConstantPattern, SourceSpec, route_of
from skycell.scenario.quantities import parse_quantity
from skycell.scenario.resolve_sources import mean_ps


@dataclass(frozen=True)
class Network:
    """What responses need to know of the network; the same in all replications of a cell.

    Attributes:
        ceiling_bps: largest sum of TCP throughputs; 0 without flows.
        routes: links that each flow's data cross.
        left_bps: what cell sources leave of each link's cells in the mean; of a link that they
            fill, all of it.
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
            ceiling: `link` for the cell rate of the congested link (of several the slowest; of none
                the slowest that a flow crosses), `left` for what cell sources leave of it, or a bit
                rate such as `63 Mbit/s`.
        """
        rates = [link_cell_bps(link.cell_time_ps) for link in spec.links]
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
        taken = _taken_bps(spec)
        return cls(
            ceiling_bps=base_bps(spec, (limited or slowest)[0], ceiling) * max(shares)
            if shares
            else 0.0,
            routes=tuple(map(tuple, routes)),
            left_bps=tuple(
                max(0.0, rate - taken.get(place, 0.0)) or rate for place, rate in enumerate(rates)
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


def base_bps(spec: NetworkSpec, link: int, ceiling: str) -> float:
    """Rate of cells whose TCP share is an efficiency of 1; 0 where sources leave nothing.

    Args:
        spec: the network.
        link: the congested one, by its place in the spec.
        ceiling: as for `Network.of`.
    """
    rate_bps = link_cell_bps(spec.links[link].cell_time_ps)
    if ceiling == "link":
        return rate_bps
    if ceiling == "left":
        return max(0.0, rate_bps - _taken_bps(spec).get(link, 0.0))
    return float(parse_quantity(ceiling).amount)


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
    if isinstance(source.pattern, ConstantPattern):
        return peak
    on, off = mean_ps(source.pattern.on), mean_ps(source.pattern.off)
    return peak * on / (on + off)


@dataclass(frozen=True)
class RunView:
    """One run as a response sees it, or the part of it that is asked for."""

    summary: Mapping[str, Any]
    network: Network
    definition: str

    @property
    def flows(self) -> Sequence[Mapping[str, Any]]:
        """The flows."""
        flows: Sequence[Mapping[str, Any]] = self.summary["flows"]
        return flows

    @property
    def ports(self) -> Sequence[Mapping[str, Any]]:
        """The ports with a limited buffer."""
        ports: Sequence[Mapping[str, Any]] = self.summary["ports"]
        return ports

    def rates_bps(self) -> list[float]:
        """Throughput of every flow."""
        return throughputs_bps(self.summary, self.definition)

    @property
    def vcs(self) -> Sequence[Mapping[str, Any]]:
        """The VCs whose cells' delay is measured, with that."""
        vcs: Sequence[Mapping[str, Any]] = self.summary.get("measured_vcs", ())
        return vcs

    def narrowed(self, part: str, name: str) -> RunView | None:
        """The view of a single flow, port, VC or class; none where there is no such one."""
        own: list[Mapping[str, Any]]
        if part == "class":
            key = "ports"
            own = [{**p, "queues": queues} for p in self.ports if (queues := _queues_of(p, name))]
        else:
            key = "measured_vcs" if part == "vc" else f"{part}s"
            own = [entry for entry in self.summary.get(key, ()) if entry["name"] == name]
        return replace(self, summary={**self.summary, key: own}) if own else None

    def total(self, key: str) -> float:
        """Sum of a count over the flows."""
        return float(sum(flow[key] for flow in self.flows))

    def port(self) -> Mapping[str, Any] | None:
        """The port of the slowest link among those with a limited buffer."""
        by_name = {port["name"]: port for port in self.ports}
        return next((by_name[name] for name in self.network.congested if name in by_name), None)


def _queues_of(port: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [queue for queue in port["queues"] if (queue["class"] or OTHER_CLASSES) == name]
