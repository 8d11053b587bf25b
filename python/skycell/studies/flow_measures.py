"""Measures of flows that only tables of studies have."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.measures.flows import MBIT
from skycell.measures.measure import Measures
from skycell.studies.measured_run import Measured

STUDY_FLOWS: Measures[Measured] = Measures()


def mean_of(values: Sequence[float]) -> float:
    """Returns the mean of one value or more."""
    return sum(values) / len(values)


@STUDY_FLOWS.declare("Mbit/s", "throughput of the flow to the row's destination", better="larger")
def flow_throughput(run: Measured) -> float:
    """Destinations are printed as d1, d2, ..."""
    return run.rates_bps()[int(str(run.factors["destination"])[1:]) - 1] / MBIT


@STUDY_FLOWS.declare("Mbit/s", "mean throughput of the row's group of flows", better="larger")
def group_throughput(run: Measured) -> float:
    """Of the row's `tcp_group`."""
    return mean_of(run.rates_bps()[run.group()]) / MBIT


@STUDY_FLOWS.declare(
    "ms", "mean over the flows of the mean one-way delay of their data segments", better="smaller"
)
def mean_flow_delay(run: Measured) -> float:
    """Each flow counts alike, however many segments it sent."""
    return mean_of([float(flow["delay_mean_ps"]) for flow in run.flows]) / PS_PER_MS


@STUDY_FLOWS.declare("%", "retransmitted octets as a part of all octets sent", better="smaller")
def retransmitted_octets_percent(run: Measured) -> float:
    """Of all flows together."""
    return 100 * run.total("octets_retransmitted") / run.total("octets_sent")


@STUDY_FLOWS.declare(
    "%", "segments that their receiver already had, as a part of all sent", better="smaller"
)
def needless_percent(run: Measured) -> float:
    """Of all flows together."""
    return 100 * run.total("segments_duplicate") / run.total("segments_sent")


@STUDY_FLOWS.declare(
    "events", "retransmission timeouts in a run in which no link lost a cell", better="smaller"
)
def timeouts_without_loss(run: Measured) -> float:
    """0 in a run in which a link lost something."""
    lost = run.summary.get("link_losses", {})  # absent if no link can lose anything
    return 0.0 if any(lost.values()) else run.total("timeouts")


@STUDY_FLOWS.declare(
    "RTT",
    "round trips by which the first flow's transfer, which loses in its last window, ends after "
    "the second's, which is the same and loses nothing",
    better="smaller",
)
def recovery_round_trips(run: Measured) -> float | None:
    """The same transfer without a loss ends when the other one hears of its first loss."""
    lossy, whole = run.flows[:2]
    if not lossy["transfers"] or not whole["transfers"]:
        return None
    later_s = (lossy["connected_ps"] - whole["connected_ps"]) / PS_PER_SECOND
    return float(later_s / run.facts.rtt_s)


@STUDY_FLOWS.declare(
    "1/s",
    "packets that the row's senders, of TCP or of datagrams, sent, for the first time or again",
)
def sent_packets(run: Measured) -> float:
    """The row's `sender` is datagrams, on VCs with a contract, or else TCP of some kind."""
    sent = run.total("segments_sent")
    if run.factors.get("sender") == "datagrams":
        without = {vc.vc for vc in run.facts.guaranteed if not vc.flows}
        sent = sum(vc["frames_offered"] for vc in run.summary["gfr_vcs"] if vc["vc"] in without)
    return sent * PS_PER_SECOND / float(run.summary["duration_ps"])
