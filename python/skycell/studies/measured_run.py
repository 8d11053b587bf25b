"""A run as the tables of a study measure it: records, facts of the network, the row's factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.experiment.design import Level
from skycell.input.quantities import PS_PER_SECOND
from skycell.measures.run_view import RunView
from skycell.metrics import (
    ceiling_bps,
    link_cell_bps,
    max_min_shares,
    scheduled_bps,
    segment_frame_cells,
    throughputs_bps,
)
from skycell.metrics.network import Network
from skycell.scenario import NetworkSpec
from skycell.studies.guaranteed_vcs import GuaranteedVc, flows_by_edge, guaranteed_vcs

_NO_NETWORK = Network(ceiling_bps=0.0, routes=(), left_bps=(), shares=(), congested=())


@dataclass(frozen=True)
class Evaluation:
    """How an experiment's runs are measured, choices resolved."""

    stated_bps: float | None
    """Cell rate of whose TCP share an efficiency is a part; none for the congested link's."""
    throughput: str
    """A definition of `skycell.metrics.throughput`."""
    ceiling_mss: int | None = None
    """Segment whose share of the rate is an efficiency of 1, octets; none for the run's own."""


@dataclass(frozen=True)
class Facts:
    """What a measure needs to know of the network; what is of flows is nothing without any."""

    mss: int = 0
    llc_snap: bool = False
    timestamps: bool = False
    bottleneck_cell_time_ps: int = 0
    buffer_cells: int = 0
    thresholds_cells: tuple[int, ...] = ()
    """r_i of each flow where the policy is `single_drop`, else empty."""
    rtt_s: float = 0.0
    """Round trip of the first flow by propagation alone."""
    loss_at_cwnd_octets: int | None = None
    """Window at which the first flow loses a segment by script."""
    first_vcs: tuple[int, ...] = ()
    """The VC on which each flow's data enters the network."""
    segment_cells: tuple[int, ...] = ()
    """Cells of a full segment of each flow."""
    guaranteed: tuple[GuaranteedVc, ...] = ()
    """The VCs with an MCR across the congested link, in the order of their ids."""
    flows_by_edge: tuple[tuple[int, ...], ...] = ()
    """The flows behind each edge router."""
    network: Network = _NO_NETWORK
    """What measures of any run compare it with."""
    packets_ceiling_bps: float | None = None
    """Of a congested link of packets: the TCP throughput that it could carry over the run."""

    @classmethod
    def of(cls, spec: NetworkSpec) -> Facts:
        """Facts of a network whose flows, if any, are alike and cross one congested port."""
        congested = [link for link in spec.links if link.port.is_limited]
        slowest = max(congested, key=lambda link: link.cell_time_ps)
        policy = slowest.port.policy
        thresholds: tuple[int, ...] = ()
        if policy.kind == "single_drop":
            by_vc = policy.thresholds_cells
            thresholds = tuple(by_vc[flow.forward[0]] or 0 for flow in spec.flows)
        network = Network.of(spec)
        if not spec.flows:
            return cls(bottleneck_cell_time_ps=slowest.cell_time_ps, network=network)
        first = spec.flows[0]
        tcp = first.tcp
        vcs = [spec.vcs[vc] for vc in (*first.forward, *first.reverse)]
        delays_ps = [spec.links[link].delay_ps for vc in vcs for link in vc.path]
        return cls(
            mss=tcp.mss,
            llc_snap=tcp.llc_snap,
            timestamps=tcp.timestamps,
            bottleneck_cell_time_ps=slowest.cell_time_ps,
            buffer_cells=slowest.port.capacity_cells or 0,
            thresholds_cells=thresholds,
            rtt_s=sum(delays_ps) / PS_PER_SECOND,
            loss_at_cwnd_octets=first.loss_script.at_cwnd_octets,
            first_vcs=tuple(flow.forward[0] for flow in spec.flows),
            segment_cells=tuple(
                segment_frame_cells(
                    flow.tcp.mss, llc_snap=flow.tcp.llc_snap, timestamps=flow.tcp.timestamps
                )
                for flow in spec.flows
            ),
            guaranteed=guaranteed_vcs(spec, slowest),
            flows_by_edge=flows_by_edge(spec),
            network=network,
            packets_ceiling_bps=network.ceiling_bps if slowest.framing else None,
        )

    def ceiling_bps(self, evaluation: Evaluation) -> float:
        """What counts as the largest TCP throughput.

        The share of a stated segment, or of the run's own, in a stated rate or the link's own cell
        rate. Of a link of packets it is what the link could carry over the run.
        """
        if self.packets_ceiling_bps is not None and evaluation.stated_bps is None:
            return self.packets_ceiling_bps
        cell_bps = evaluation.stated_bps or link_cell_bps(self.bottleneck_cell_time_ps)
        mss = evaluation.ceiling_mss or self.mss
        return ceiling_bps(mss, cell_bps, llc_snap=self.llc_snap, timestamps=self.timestamps)


@dataclass(frozen=True)
class Measured(RunView):
    """One run as a measure of a study sees it."""

    since: Mapping[str, Any] | None
    facts: Facts
    evaluation: Evaluation
    factors: Mapping[str, Level]

    def rates_bps(self) -> list[float]:
        """Returns the throughput of every flow by the study's definition."""
        return throughputs_bps(self.summary, self.evaluation.throughput, self.since)

    def ceiling_bps(self) -> float:
        """Returns the ceiling that the study takes."""
        return self.facts.ceiling_bps(self.evaluation)

    def fair_bps(self) -> list[float]:
        """Returns the max-min fair shares of that ceiling (98-0876R1 section 7)."""
        return max_min_shares(scheduled_bps(self.summary), self.ceiling_bps())

    def congested(self) -> Sequence[str]:
        """Returns the limited ports that data cross, the one of the slowest link first."""
        return self.facts.network.congested

    def group(self) -> slice:
        """Flows of the row's `tcp_group`, such as `4-6`, counted from 1."""
        first, last = str(self.factors["tcp_group"]).split("-")
        return slice(int(first) - 1, int(last))

    def group_flows(self) -> Sequence[Mapping[str, Any]]:
        """The records of the flows of the row's `tcp_group`."""
        return self.flows[self.group()]

    def guaranteed_vc(self) -> GuaranteedVc:
        """The VC of the row's `vc`, counted from 1 among those with an MCR."""
        return self.facts.guaranteed[int(str(self.factors["vc"])) - 1]
