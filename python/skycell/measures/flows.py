"""Measures of TCP flows: throughput, fairness, recovery, delay of segments."""

from __future__ import annotations

from skycell.input.quantities import PS_PER_MS
from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.metrics import efficiency as efficiency_of
from skycell.metrics import fairness_index, fairness_to_the_due
from skycell.stats.ranges import PART, POSITIVE

MBIT = 1e6

FLOWS: Measures[RunView] = Measures()


@FLOWS.declare(
    "1", "sum of the TCP throughputs as a part of the ceiling", better="larger", range=PART
)
def efficiency(run: RunView) -> float | None:
    """None if other sources leave nothing."""
    ceiling_bps = run.ceiling_bps()
    return efficiency_of(run.rates_bps(), ceiling_bps) if ceiling_bps else None


@FLOWS.declare(
    "1",
    "Jain's index of the throughputs, each as a part of its max-min fair share",
    better="larger",
    range=PART,
)
def max_min_fairness(run: RunView) -> float | None:
    """None if nothing was delivered or due."""
    return fairness_to_the_due(run.rates_bps(), run.fair_bps())


@FLOWS.declare("1", "Jain's index of the throughputs", better="larger", range=PART)
def jain_fairness(run: RunView) -> float | None:
    """None if nothing was delivered."""
    rates = run.rates_bps()
    return fairness_index(rates) if any(rates) else None


@FLOWS.declare(
    "Mbit/s", "TCP throughput of all flows together", part="flow", better="larger", range=POSITIVE
)
def throughput(run: RunView) -> float:
    """Of the one flow that is asked for, or of all."""
    return sum(run.rates_bps()) / MBIT


@FLOWS.declare("Mbit/s", "throughput of the slowest flow", better="larger", range=POSITIVE)
def smallest_throughput(run: RunView) -> float:
    """Of a run with flows."""
    return min(run.rates_bps()) / MBIT


@FLOWS.declare("Mbit/s", "throughput of the fastest flow", range=POSITIVE)
def largest_throughput(run: RunView) -> float:
    """Of a run with flows."""
    return max(run.rates_bps()) / MBIT


@FLOWS.declare(
    "Mbit/s",
    "ceiling of the sum of the TCP throughputs, at which the efficiency is 1",
    range=POSITIVE,
)
def ceiling(run: RunView) -> float:
    """Of the network, or as the experiment states it."""
    return run.ceiling_bps() / MBIT


@FLOWS.declare("events", "retransmission timeouts", part="flow", better="smaller", range=POSITIVE)
def timeouts(run: RunView) -> float:
    """Of all flows."""
    return run.total("timeouts")


@FLOWS.declare("events", "fast retransmits", part="flow", better="smaller", range=POSITIVE)
def fast_retransmits(run: RunView) -> float:
    """Of all flows."""
    return run.total("fast_retransmits")


@FLOWS.declare(
    "1",
    "retransmitted segments as a part of all segments sent",
    part="flow",
    better="smaller",
    range=PART,
)
def retransmitted_part(run: RunView) -> float | None:
    """None if nothing was sent."""
    sent = run.total("segments_sent")
    return run.total("segments_retransmitted") / sent if sent else None


@FLOWS.declare(
    "ms",
    "mean one-way delay of all data segments that arrived",
    part="flow",
    better="smaller",
    range=POSITIVE,
)
def mean_delay(run: RunView) -> float | None:
    """Each segment counts alike. None of split flows, and if no segment arrived."""
    received = run.total("segments_received")
    if not received or is_split(run):
        return None
    weighted = sum(f["delay_mean_ps"] * f["segments_received"] for f in run.flows)
    return float(weighted) / received / PS_PER_MS


@FLOWS.declare(
    "ms",
    "largest one-way delay of a data segment",
    part="flow",
    better="smaller",
    range=POSITIVE,
)
def largest_delay(run: RunView) -> float | None:
    """None of split flows, and if no segment arrived."""
    largest = [flow["delay_max_ps"] for flow in run.flows if flow["segments_received"]]
    return float(max(largest)) / PS_PER_MS if largest and not is_split(run) else None


def is_split(run: RunView) -> bool:
    """Whether a flow is split: its record has the delay of its last connection alone."""
    return any("connections" in flow for flow in run.flows)
