"""How a table's number is measured on one run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skycell.metrics import (
    THROUGHPUT_DEFINITIONS,
    ceiling_bps,
    efficiency,
    fairness_index,
    link_cell_bps,
    throughputs_bps,
)
from skycell.scenario import NetworkSpec
from skycell.scenario.faults import FaultCollector
from skycell.scenario.quantities import PS_PER_SECOND, Dimension, Refused, parse_quantity
from skycell.studies import guarantees, privileged, web
from skycell.studies.design import (
    Overrides,
    choices_in_force,
    refuse_choice,
    resolve_choices,
)
from skycell.studies.model import Level, Study

_MBIT = 1e6


@dataclass(frozen=True)
class Evaluation:
    """How an experiment's runs are measured, choices resolved."""

    ceiling_base: str
    """`link` for the cell rate of the congested link, or a stated rate."""
    throughput: str
    """A definition of `skycell.metrics.throughput`."""
    ceiling_mss: int | None = None
    """Segment whose share of the base is an efficiency of 1, octets; none for the run's own."""

    @classmethod
    def of(cls, study: Study, experiment: str, overrides: Overrides) -> "Evaluation":
        """The evaluation of an experiment, some choices set otherwise.

        Raises:
            ScenarioFaults: the base is no bit rate, the segment no size, or the definition unknown.
        """
        template = study.experiments[experiment]
        choices = choices_in_force(study, overrides)
        faults = FaultCollector(study.id)
        base = str(resolve_choices(template.ceiling_base, choices))
        if base != "link" and _bit_rate(base) is None:
            allowed = '"link", or a bit rate above 0 such as "149.76 Mbit/s"'
            refuse_choice(study, template.ceiling_base, choices, allowed, faults)
        throughput = str(resolve_choices(template.throughput, choices))
        if throughput not in THROUGHPUT_DEFINITIONS:
            allowed = ", ".join(THROUGHPUT_DEFINITIONS)
            refuse_choice(study, template.throughput, choices, allowed, faults)
        segment = str(resolve_choices(template.ceiling_segment, choices))
        mss = None if segment == "own" else _octets(segment)
        if mss == 0:
            allowed = '"own", or a size above 0 such as "9180 B"'
            refuse_choice(study, template.ceiling_segment, choices, allowed, faults)
        faults.raise_if_any()
        return cls(base, throughput, mss)


def _bit_rate(text: str) -> float | None:
    """A bit rate above 0 in bit/s; none if the text is none."""
    try:
        stated = parse_quantity(text)
    except Refused:
        return None
    is_rate = stated.dimension is Dimension.BIT_RATE and stated.amount > 0
    return float(stated.amount) if is_rate else None


def _octets(text: str) -> int:
    """A size in octets; 0 if the text is none."""
    try:
        stated = parse_quantity(text)
    except Refused:
        return 0
    return int(stated.amount) if stated.dimension is Dimension.SIZE else 0


@dataclass(frozen=True)
class Facts:
    """What a measure needs to know of the network."""

    mss: int
    llc_snap: bool
    timestamps: bool
    bottleneck_cell_time_ps: int
    buffer_cells: int
    thresholds_cells: tuple[int, ...]
    """r_i of each flow where the policy is `single_drop`, else empty."""
    rtt_s: float
    """Round trip of the first flow by propagation alone."""
    loss_at_cwnd_octets: int | None
    """Window at which the first flow loses a segment by script."""
    first_vcs: tuple[int, ...] = ()
    """The VC on which each flow's data enters the network."""
    guaranteed: tuple[guarantees.GuaranteedVc, ...] = ()
    """The VCs with an MCR across the congested link, in the order of their ids."""

    @classmethod
    def of(cls, spec: NetworkSpec) -> "Facts":
        """Facts of a network whose flows are alike and cross one congested port."""
        congested = [link for link in spec.links if link.port.capacity_cells is not None]
        slowest = max(congested, key=lambda link: link.cell_time_ps)
        policy = slowest.port.policy
        thresholds: tuple[int, ...] = ()
        if policy.kind == "single_drop":
            by_vc = policy.thresholds_cells
            thresholds = tuple(by_vc[flow.forward[0]] or 0 for flow in spec.flows)
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
            guaranteed=guarantees.guaranteed_vcs(spec, slowest),
        )

    def ceiling_bps(self, evaluation: Evaluation) -> float:
        """What counts as the largest TCP throughput.

        The share of a stated segment, or of the run's own, in a stated rate or (`link`) the link's
        own cell rate.
        """
        stated = _bit_rate(evaluation.ceiling_base)
        cell_bps = stated or link_cell_bps(self.bottleneck_cell_time_ps)
        mss = evaluation.ceiling_mss or self.mss
        return ceiling_bps(mss, cell_bps, llc_snap=self.llc_snap, timestamps=self.timestamps)


@dataclass(frozen=True)
class Measured:
    """One run as a measure sees it."""

    summary: Mapping[str, Any]
    since: Mapping[str, Any] | None
    facts: Facts
    evaluation: Evaluation
    factors: Mapping[str, Level]

    def rates_bps(self) -> list[float]:
        """Throughput of every flow by the study's definition."""
        return throughputs_bps(self.summary, self.evaluation.throughput, self.since)

    def group(self) -> slice:
        """Flows of the row's `tcp_group`, such as `4-6`, counted from 1."""
        first, last = str(self.factors["tcp_group"]).split("-")
        return slice(int(first) - 1, int(last))

    def guaranteed_vc(self) -> guarantees.GuaranteedVc:
        """The VC of the row's `vc`, counted from 1 among those with an MCR."""
        return self.facts.guaranteed[int(str(self.factors["vc"])) - 1]


def _efficiency(run: Measured) -> float:
    return efficiency(run.rates_bps(), run.facts.ceiling_bps(run.evaluation))


def _fairness(run: Measured) -> float | None:
    rates = run.rates_bps()
    return fairness_index(rates) if any(rates) else None


def _total_throughput(run: Measured) -> float:
    return sum(run.rates_bps()) / _MBIT


def _flow_throughput(run: Measured) -> float:
    # Destinations are printed as d1, d2, ...
    return run.rates_bps()[int(str(run.factors["destination"])[1:]) - 1] / _MBIT


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _group_throughput(run: Measured) -> float:
    return _mean(run.rates_bps()[run.group()]) / _MBIT


def _ratio_to_expected(run: Measured) -> float:
    # CC 3: mu_i / mu_i^e with mu_i^e = mu r_i / sum of r, mu being the achieved total.
    thresholds, rates = run.facts.thresholds_cells, run.rates_bps()
    expected = _mean([float(r) for r in thresholds[run.group()]]) / sum(thresholds)
    return _mean(rates[run.group()]) / (sum(rates) * expected)


def average_window_octets(largest: int, mss: int) -> float:
    """Mean window that grows from half of `largest` to `largest` by one MSS a round trip.

    Source: CC, equation 2.

    >>> round(average_window_octets(120_960, 1_024))
    91232
    """
    round_trips = largest / 2 / mss
    return largest / 2 + mss * (round_trips + 1) / 2


def _calculated_throughput(run: Measured) -> float:
    # CC, equation 1: what the average window carries in a round trip; the link caps it.
    facts = run.facts
    capped = facts.ceiling_bps(run.evaluation)
    if facts.loss_at_cwnd_octets is not None:
        window = average_window_octets(facts.loss_at_cwnd_octets, facts.mss)
        capped = min(capped, 8 * window / facts.rtt_s)
    return capped / _MBIT


def _vc_throughput(run: Measured) -> float:
    return guarantees.throughput_mbps(run.rates_bps(), run.guaranteed_vc())


def _vc_excess(run: Measured) -> float:
    return _vc_throughput(run) - run.guaranteed_vc().mcr_mbps


def _vc_excess_ratio(run: Measured) -> float:
    return _vc_excess(run) / run.guaranteed_vc().mcr_mbps


def _vc_expected(run: Measured) -> float:
    return guarantees.IJSC_PART * run.guaranteed_vc().mcr_mbps


def _vc_mean_queue(run: Measured) -> float:
    return guarantees.mean_queue(run.summary, run.guaranteed_vc())


def _guarantee_shortfall(run: Measured) -> float:
    return guarantees.shortfall(run.rates_bps(), run.facts.guaranteed)


def _excess_fairness(run: Measured) -> float | None:
    return guarantees.excess_fairness(run.rates_bps(), run.facts.guaranteed)


def _mcr_total(run: Measured) -> float:
    return sum(vc.mcr_mbps for vc in run.facts.guaranteed)


def _excess_total(run: Measured) -> float:
    return _total_throughput(run) - _mcr_total(run)


def _link_part(run: Measured, service: str | None) -> float:
    """Part of the run in which the congested link carried cells of a class."""
    (port,) = run.summary["ports"]
    departed = sum(queue["departed"] for queue in port["queues"] if queue["class"] == service)
    return float(departed * run.facts.bottleneck_cell_time_ps / run.summary["duration_ps"])


def _vbr_share(run: Measured) -> float:
    return _link_part(run, "nrt_vbr")


def _ubr_share(run: Measured) -> float:
    return _link_part(run, None)


def _cells_discarded(run: Measured) -> float:
    return float(sum(sum(port["discarded"].values()) for port in run.summary["ports"]))


def _timeouts(run: Measured) -> float:
    return float(sum(flow["timeouts"] for flow in run.summary["flows"]))


def _fast_retransmits(run: Measured) -> float:
    return float(sum(flow["fast_retransmits"] for flow in run.summary["flows"]))


def _timeouts_without_loss(run: Measured) -> float:
    lost = run.summary.get("moving", {})  # without a link that moves nothing is lost on one
    return 0.0 if any(lost.values()) else _timeouts(run)


def _sum(run: Measured, count: str) -> float:
    return float(sum(flow[count] for flow in run.summary["flows"]))


def _retransmitted_part(run: Measured) -> float:
    return 100 * _sum(run, "octets_retransmitted") / _sum(run, "octets_sent")


def _needless_part(run: Measured) -> float:
    # Segments that came to a receiver that had them already.
    return 100 * _sum(run, "segments_duplicate") / _sum(run, "segments_sent")


def _threshold_total(run: Measured) -> float:
    return float(sum(run.facts.thresholds_cells))


def _threshold_share(run: Measured) -> float:
    return 100.0 * sum(run.facts.thresholds_cells) / run.facts.buffer_cells


def _source_flows(run: Measured) -> range:
    return privileged.flows_of(str(run.factors["source"]), len(run.summary["flows"]))


def _source_throughput(run: Measured) -> float:
    rates = run.rates_bps()
    return _mean([rates[flow] for flow in _source_flows(run)]) / _MBIT


def _per_10mb(count: str) -> Callable[[Measured], float | None]:
    return lambda run: privileged.per_10mb(run.summary, count)


def _tagged_share(run: Measured) -> float:
    return privileged.tagged_share(run.summary, run.facts.first_vcs[privileged.FLOW])


def _segment_rtt(run: Measured) -> float:
    return privileged.round_trip_ms(run.summary, run.facts.rtt_s)


def _packet_delay(run: Measured) -> float:
    return privileged.delay_ms(run.summary, _source_flows(run))


def _max_min_fairness(run: Measured) -> float | None:
    ceiling = run.facts.ceiling_bps(run.evaluation)
    return web.max_min_fairness(run.summary, run.rates_bps(), ceiling)


def _on_summary(
    measure: Callable[[Mapping[str, Any]], float | None],
) -> Callable[[Measured], float | None]:
    return lambda run: measure(run.summary)


MEASURE: dict[str, Callable[[Measured], float | None]] = {
    "efficiency": _efficiency,
    "fairness": _fairness,
    "total_throughput": _total_throughput,
    "flow_throughput": _flow_throughput,
    "group_throughput": _group_throughput,
    "ratio_to_expected": _ratio_to_expected,
    "calculated_throughput": _calculated_throughput,
    "cells_discarded": _cells_discarded,
    "timeouts": _timeouts,
    "timeouts_without_loss": _timeouts_without_loss,
    "fast_retransmits": _fast_retransmits,
    "retransmitted_part": _retransmitted_part,
    "needless_part": _needless_part,
    "threshold_total": _threshold_total,
    "threshold_share": _threshold_share,
    "vc_throughput": _vc_throughput,
    "vc_excess": _vc_excess,
    "vc_excess_ratio": _vc_excess_ratio,
    "vc_expected": _vc_expected,
    "vc_mean_queue": _vc_mean_queue,
    "guarantee_shortfall": _guarantee_shortfall,
    "excess_fairness": _excess_fairness,
    "mcr_total": _mcr_total,
    "excess_total": _excess_total,
    "source_throughput": _source_throughput,
    "timeouts_per_10mb": _per_10mb("timeouts"),
    "retransmitted_per_10mb": _per_10mb("octets_retransmitted"),
    "tagged_share": _tagged_share,
    "segment_rtt": _segment_rtt,
    "packet_delay": _packet_delay,
    "mean_queue": _on_summary(privileged.mean_queue),
    "frames_above_hbo": _on_summary(privileged.frames_above_hbo),
    "max_min_fairness": _max_min_fairness,
    "offered_load": lambda run: web.offered_load(run.summary),
    "mean_file": lambda run: web.mean_file_kb(run.summary),
    "file_response_median": _on_summary(web.response_time("file_response", "p50_ps")),
    "file_response_p95": _on_summary(web.response_time("file_response", "p95_ps")),
    "page_response_median": _on_summary(web.response_time("page_response", "p50_ps")),
    "page_response_p95": _on_summary(web.response_time("page_response", "p95_ps")),
    "vbr_share": _vbr_share,
    "ubr_share": _ubr_share,
}
"""What each measure of `skycell.studies.model.MEASURES` computes, in the unit that its table says;
none where it is not defined, as the fairness of a run that delivered nothing."""
