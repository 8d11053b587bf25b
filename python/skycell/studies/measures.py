"""How a table's number is measured on one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.experiment.design import Level
from skycell.experiment.measure import COMMON, Measure, RunView, total_mbps
from skycell.experiment.uplink_measures import UPLINK_MEASURES
from skycell.input.quantities import PS_PER_SECOND
from skycell.metrics import (
    ceiling_bps,
    efficiency,
    fairness_index,
    link_cell_bps,
    segment_frame_cells,
    throughputs_bps,
)
from skycell.metrics.classes import CellDelay, cell_delay
from skycell.metrics.network import Network
from skycell.scenario import NetworkSpec
from skycell.studies import guarantees, headers, privileged, web, windows
from skycell.studies.flow_measures import FLOW_MEASURES

_MBIT = 1e6


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
    guaranteed: tuple[guarantees.GuaranteedVc, ...] = ()
    """The VCs with an MCR across the congested link, in the order of their ids."""
    flows_by_edge: tuple[tuple[int, ...], ...] = ()
    """The flows behind each edge router."""
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
        if not spec.flows:
            return cls(bottleneck_cell_time_ps=slowest.cell_time_ps)
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
            guaranteed=guarantees.guaranteed_vcs(spec, slowest),
            flows_by_edge=guarantees.flows_by_edge(spec),
            packets_ceiling_bps=Network.of(spec).ceiling_bps if slowest.framing else None,
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
        """Throughput of every flow by the study's definition."""
        return throughputs_bps(self.summary, self.evaluation.throughput, self.since)

    def group(self) -> slice:
        """Flows of the row's `tcp_group`, such as `4-6`, counted from 1."""
        first, last = str(self.factors["tcp_group"]).split("-")
        return slice(int(first) - 1, int(last))

    def group_flows(self) -> Sequence[Mapping[str, Any]]:
        """The records of the flows of the row's `tcp_group`."""
        return self.flows[self.group()]

    def guaranteed_vc(self) -> guarantees.GuaranteedVc:
        """The VC of the row's `vc`, counted from 1 among those with an MCR."""
        return self.facts.guaranteed[int(str(self.factors["vc"])) - 1]


def _efficiency(run: Measured) -> float:
    return efficiency(run.rates_bps(), run.facts.ceiling_bps(run.evaluation))


def _fairness(run: Measured) -> float | None:
    rates = run.rates_bps()
    return fairness_index(rates) if any(rates) else None


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


def _round_trip(run: Measured) -> float:
    return _mean([windows.round_trip_s(flow, run.facts.rtt_s) for flow in run.group_flows()]) * 1e3


def _window_cycle(run: Measured) -> float | None:
    duration = run.summary["duration_ps"]
    return windows.mean_or_none([windows.cycle_s(flow, duration) for flow in run.group_flows()])


def _window_growth(run: Measured) -> float | None:
    found: list[float | None] = []
    for flow, rate in zip(run.group_flows(), run.rates_bps()[run.group()], strict=True):
        cycle = windows.cycle_s(flow, run.summary["duration_ps"])
        around = windows.round_trip_s(flow, run.facts.rtt_s)
        window = rate * around / 8 / run.facts.mss  # Little's law
        found.append(windows.growth_segments(window, around, cycle) if cycle else None)
    return windows.mean_or_none(found)


def _sent_packets(run: Measured) -> float:
    # The row's `sender` is datagrams, on VCs with a contract, or else TCP of some kind.
    sent = run.total("segments_sent")
    if run.factors.get("sender") == "datagrams":
        without = {vc.vc for vc in run.facts.guaranteed if not vc.flows}
        sent = sum(vc["frames_offered"] for vc in run.summary["gfr_vcs"] if vc["vc"] in without)
    return sent * PS_PER_SECOND / float(run.summary["duration_ps"])


def _whole_part(run: Measured) -> float | None:
    segments = zip(run.flows, run.facts.segment_cells, strict=True)
    whole = sum(flow["segments_received"] * cells for flow, cells in segments)
    carried = _departed(run, None)
    return whole / carried if carried else None


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


def _guarantee_shortfall(run: Measured) -> float | None:
    promised = run.facts.guaranteed
    return guarantees.shortfall(run.rates_bps(), promised) if promised else None


def _edge_fairness(run: Measured) -> float | None:
    return guarantees.fairness_of_groups(run.rates_bps(), run.facts.flows_by_edge)


def _excess_fairness(run: Measured) -> float | None:
    return guarantees.excess_fairness(run.rates_bps(), run.facts.guaranteed)


def _mcr_total(run: Measured) -> float:
    return sum(vc.mcr_mbps for vc in run.facts.guaranteed)


def _excess_total(run: Measured) -> float:
    return total_mbps(run) - _mcr_total(run)


def _largest_of_cells(run: Measured, of: Callable[[CellDelay], float]) -> float | None:
    """The largest of a figure of the VCs whose cells' delay is measured, milliseconds."""
    measured = run.summary.get("measured_vcs", ())
    found = [of(delay) for vc in measured if (delay := cell_delay(vc["delay"]))]
    return 1000 * max(found) if found else None


def _nonconforming_part(run: Measured) -> float | None:
    vcs = run.summary.get("measured_vcs", ())
    offered = sum(vc["cells_offered"] for vc in vcs)
    return 100 * sum(vc["cells_nonconforming"] for vc in vcs) / offered if offered else None


def _link_part(run: Measured, service: str | None) -> float:
    """Part of the run in which the congested link carried cells of a class."""
    cells = _departed(run, service)
    return float(cells * run.facts.bottleneck_cell_time_ps / run.summary["duration_ps"])


def _departed(run: Measured, service: str | None) -> int:
    """Cells of a class that the only port with a limited buffer sent."""
    (port,) = run.summary["ports"]
    return sum(int(queue["departed"]) for queue in port["queues"] if queue["class"] == service)


def _datagram_throughput(run: Measured) -> float:
    without = {vc.vc for vc in run.facts.guaranteed if not vc.flows}
    cells = sum(vc["cells_whole"] for vc in run.summary["gfr_vcs"] if vc["vc"] in without)
    duration_s = run.summary["duration_ps"] / PS_PER_SECOND
    return float(cells * guarantees.PAYLOAD_BITS / duration_s / _MBIT)


def _recovery_round_trips(run: Measured) -> float | None:
    # The same transfer without a loss ends when the other one hears of its first.
    lossy, whole = run.flows[:2]
    if not lossy["transfers"] or not whole["transfers"]:
        return None
    later_s = (lossy["connected_ps"] - whole["connected_ps"]) / PS_PER_SECOND
    return float(later_s / run.facts.rtt_s)


def _timeouts_without_loss(run: Measured) -> float:
    lost = run.summary.get("link_losses", {})  # absent where no link can lose anything
    return 0.0 if any(lost.values()) else run.total("timeouts")


def _retransmitted_part(run: Measured) -> float:
    return 100 * run.total("octets_retransmitted") / run.total("octets_sent")


def _needless_part(run: Measured) -> float:
    # Segments that came to a receiver that had them already.
    return 100 * run.total("segments_duplicate") / run.total("segments_sent")


def _ports_of_node(run: Measured) -> list[Mapping[str, Any]]:
    node = str(run.factors.get("node", ""))
    return [port for port in run.ports if port["name"].startswith(node)]


def _largest_queue(run: Measured) -> float | None:
    return max((float(port["queue"]["max"]) for port in _ports_of_node(run)), default=None)


def _discarded_part(run: Measured) -> float | None:
    own = _ports_of_node(run)
    came = sum(port["arrived"] for port in own)
    return 100 * sum(sum(port["discarded"].values()) for port in own) / came if came else None


def _overflow_part(run: Measured) -> float | None:
    own = _ports_of_node(run)
    came = sum(port["arrived"] for port in own)
    return 100 * sum(port["discarded"]["overflow"] for port in own) / came if came else None


def _threshold_total(run: Measured) -> float:
    return float(sum(run.facts.thresholds_cells))


def _threshold_share(run: Measured) -> float:
    return 100.0 * sum(run.facts.thresholds_cells) / run.facts.buffer_cells


def _source_flows(run: Measured) -> range:
    return privileged.flows_of(str(run.factors["source"]), len(run.summary["flows"]))


def _source_throughput(run: Measured) -> float:
    rates = run.rates_bps()
    return _mean([rates[flow] for flow in _source_flows(run)]) / _MBIT


def _tagged_share(run: Measured) -> float:
    return privileged.tagged_share(run.summary, run.facts.first_vcs[privileged.FLOW])


def _segment_rtt(run: Measured) -> float:
    return privileged.round_trip_ms(run.summary, run.facts.rtt_s)


def _packet_delay(run: Measured) -> float:
    return privileged.delay_ms(run.summary, _source_flows(run))


def _max_min_fairness(run: Measured) -> float | None:
    ceiling = run.facts.ceiling_bps(run.evaluation)
    return web.max_min_fairness(run.summary, run.rates_bps(), ceiling)


MEASURES: Mapping[str, Measure[Measured]] = {
    **COMMON,
    **UPLINK_MEASURES,
    **FLOW_MEASURES,
    "efficiency": Measure("1", "sum of the throughputs as a part of the ceiling", _efficiency),
    "fairness": Measure("1", "Jain's index of the throughputs", _fairness),
    "total_throughput": Measure("Mbit/s", "throughput of all flows together", total_mbps),
    "flow_throughput": Measure(
        "Mbit/s", "throughput of the flow to the row's destination", _flow_throughput
    ),
    "group_throughput": Measure(
        "Mbit/s", "mean throughput of the row's group of flows", _group_throughput
    ),
    "ratio_to_expected": Measure(
        "1", "mean throughput of a group to what its thresholds entitle it to", _ratio_to_expected
    ),
    "round_trip": Measure(
        "ms", "mean round trip of the segments of the row's group of flows", _round_trip
    ),
    "window_cycle": Measure(
        "s", "mean time between two cuts of a window of the row's group of flows", _window_cycle
    ),
    "window_growth": Measure(
        "1",
        "segments by which windows of the row's group of flows grew in a round trip, by their mean "
        "and by how often they were cut, if every cycle went like every other",
        _window_growth,
    ),
    "sent_packets": Measure(
        "1/s",
        "packets that the row's senders, of TCP or of datagrams, sent, for the first time or again",
        _sent_packets,
    ),
    "whole_part": Measure(
        "1",
        "cells of full segments that came whole, as a part of the cells of UBR that the congested "
        "link carried",
        _whole_part,
    ),
    "calculated_throughput": Measure(
        "Mbit/s",
        "what the average window carries in a round trip, the link permitting",
        _calculated_throughput,
    ),
    "datagram_throughput": Measure(
        "Mbit/s",
        "whole frames of VCs with a contract that carry no TCP, 48 octets a cell",
        _datagram_throughput,
    ),
    "timeouts_without_loss": Measure(
        "events",
        "retransmission timeouts in a run in which no link lost a cell",
        _timeouts_without_loss,
    ),
    "recovery_round_trips": Measure(
        "RTT",
        "round trips by which the first flow's transfer, which loses in its last window, ends "
        "after the second's, which is the same and loses nothing",
        _recovery_round_trips,
    ),
    "retransmitted_part": Measure(
        "%", "octets sent again as a part of those sent", _retransmitted_part
    ),
    "needless_part": Measure(
        "%", "segments that their receiver had already, as a part of those sent", _needless_part
    ),
    "threshold_total": Measure("cells", "sum of the thresholds of all flows", _threshold_total),
    "threshold_share": Measure(
        "%", "sum of the thresholds of all flows as a part of the buffer", _threshold_share
    ),
    "vc_throughput": Measure("Mbit/s", "throughput of all flows of the row's VC", _vc_throughput),
    "vc_excess": Measure("Mbit/s", "throughput of the row's VC beyond its MCR", _vc_excess),
    "vc_excess_ratio": Measure(
        "1", "throughput of the row's VC beyond its MCR, as a part of that", _vc_excess_ratio
    ),
    "vc_expected": Measure(
        "Mbit/s", "what the row's VC is expected to get of its MCR", _vc_expected
    ),
    "vc_mean_queue": Measure("cells", "mean queue of the row's VC", _vc_mean_queue),
    "guarantee_shortfall": Measure(
        "1", "part of all MCRs that their VCs did not get", _guarantee_shortfall
    ),
    "excess_fairness": Measure(
        "1", "Jain's index of what VCs got beyond their MCRs", _excess_fairness
    ),
    "edge_fairness": Measure(
        "1",
        "Jain's index of the throughputs of edge routers, each of all flows behind it",
        _edge_fairness,
    ),
    "mcr_total": Measure("Mbit/s", "sum of the MCRs", _mcr_total),
    "excess_total": Measure(
        "Mbit/s", "throughput of all flows beyond the sum of the MCRs", _excess_total
    ),
    "source_throughput": Measure(
        "Mbit/s", "mean throughput of the row's sources", _source_throughput
    ),
    "tagged_share": Measure(
        "1", "frames of the privileged source that went on tagged, as a part of all", _tagged_share
    ),
    "segment_rtt": Measure(
        "ms", "mean round trip of the privileged source's segments", _segment_rtt
    ),
    "packet_delay": Measure(
        "ms", "mean one-way delay of the segments of the row's sources", _packet_delay
    ),
    "p999_cell_delay": Measure(
        "ms",
        "transfer delay within which 99.9 % of the cells came; of several VCs the largest",
        lambda run: _largest_of_cells(run, lambda delay: delay.quantiles_s[999]),
    ),
    "cell_delay_variation": Measure(
        "ms",
        "peak-to-peak variation of the cells' delay at 99.9 %; of several VCs the largest",
        lambda run: _largest_of_cells(run, lambda delay: delay.peak_to_peak_cdv_s()),
    ),
    "nonconforming_part": Measure(
        "%",
        "cells of the VCs whose cells' delay is measured that did not conform to their policers",
        _nonconforming_part,
    ),
    "mean_queue": Measure(
        "cells",
        "mean queue of the fullest port with a limited buffer",
        lambda run: privileged.mean_queue(run.summary),
    ),
    "p95_sojourn": Measure(
        "ms",
        "time within which 95 % of the packets left the port with a limited buffer they waited in "
        "longest",
        lambda run: privileged.sojourn_ms(run.summary, "p95_ps"),
    ),
    "largest_queue": Measure(
        "cells",
        "largest queue of the ports with a limited buffer, or of those of the row's node, or nodes "
        "whose names begin so",
        _largest_queue,
    ),
    "discarded_part": Measure(
        "%",
        "cells, or packets, discarded as a part of those that came to the ports with a limited "
        "buffer, or to those of the row's node",
        _discarded_part,
    ),
    "overflow_part": Measure(
        "%",
        "cells, or packets, that came to a full buffer, as a part of those that came to the ports "
        "with a limited buffer, or to those of the row's node",
        _overflow_part,
    ),
    "lost_by_header": Measure(
        "cells",
        "cells lost or led astray by bit errors in their headers, of each million that the "
        "congested link carried",
        lambda run: headers.lost_per_million(run.ports),
    ),
    "corrected_part": Measure(
        "1",
        "headers that the HEC corrected, as a part of those with bit errors",
        lambda run: headers.corrected_part(run.ports),
    ),
    "frames_above_hbo": Measure(
        "events",
        "frames discarded above HBO or for want of room",
        lambda run: privileged.frames_above_hbo(run.summary),
    ),
    "max_min_fairness": Measure(
        "1",
        "fairness index against the max-min shares of what servers had to send",
        _max_min_fairness,
    ),
    "offered_load": Measure(
        "Mbit/s", "what all servers had to send", lambda run: web.offered_load(run.summary)
    ),
    "mean_file": Measure(
        "kB", "mean size of the files sent", lambda run: web.mean_file_kb(run.summary)
    ),
    "file_response_median": Measure(
        "s",
        "median time of a web file",
        lambda run: web.response_time(run.summary, "file_response", "p50_ps"),
    ),
    "file_response_p95": Measure(
        "s",
        "time within which 95 % of the web files came",
        lambda run: web.response_time(run.summary, "file_response", "p95_ps"),
    ),
    "page_response_median": Measure(
        "s",
        "median time of a web page",
        lambda run: web.response_time(run.summary, "page_response", "p50_ps"),
    ),
    "page_response_p95": Measure(
        "s",
        "time within which 95 % of the web pages came",
        lambda run: web.response_time(run.summary, "page_response", "p95_ps"),
    ),
    "vbr_share": Measure(
        "1",
        "part of the congested link that cells of VBR took",
        lambda run: _link_part(run, "nrt_vbr"),
    ),
    "ubr_share": Measure(
        "1", "part of the congested link that cells of UBR took", lambda run: _link_part(run, None)
    ),
}
"""What a table of a study can measure on a run."""
