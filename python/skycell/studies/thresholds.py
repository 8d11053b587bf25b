"""Measures of a port that drops single frames at a threshold for each flow, and of windows cut so.

Source: CC, sections 2 and 3.
"""

from __future__ import annotations

from skycell.measures.flows import MBIT
from skycell.measures.measure import Measures
from skycell.studies.flow_measures import mean_of
from skycell.studies.measured_run import Measured

THRESHOLDS: Measures[Measured] = Measures()


@THRESHOLDS.declare(
    "1", "mean throughput of the row's group of flows to what its thresholds entitle it to"
)
def ratio_to_expected(run: Measured) -> float:
    """CC 3: mu_i / mu_i^e with mu_i^e = mu r_i / sum of r, mu being the achieved total."""
    thresholds, rates = run.facts.thresholds_cells, run.rates_bps()
    expected = mean_of([float(r) for r in thresholds[run.group()]]) / sum(thresholds)
    return mean_of(rates[run.group()]) / (sum(rates) * expected)


@THRESHOLDS.declare("cells", "sum of the thresholds of all flows")
def threshold_total(run: Measured) -> float:
    """An input of the run."""
    return float(sum(run.facts.thresholds_cells))


@THRESHOLDS.declare("%", "sum of the thresholds of all flows as a part of the buffer")
def threshold_share(run: Measured) -> float:
    """An input of the run."""
    return 100.0 * sum(run.facts.thresholds_cells) / run.facts.buffer_cells


@THRESHOLDS.declare(
    "Mbit/s", "what the average window carries in a round trip, the link permitting"
)
def calculated_throughput(run: Measured) -> float:
    """CC, equation 1: what the average window carries in a round trip; the link caps it."""
    facts = run.facts
    capped = run.ceiling_bps()
    if facts.loss_at_cwnd_octets is not None:
        window = average_window_octets(facts.loss_at_cwnd_octets, facts.mss)
        capped = min(capped, 8 * window / facts.rtt_s)
    return capped / MBIT


def average_window_octets(largest: int, mss: int) -> float:
    """Returns the mean window that grows from half of `largest` to it by one MSS a round trip.

    Source: CC, equation 2.

    >>> round(average_window_octets(120_960, 1_024))
    91232
    """
    round_trips = largest / 2 / mss
    return largest / 2 + mss * (round_trips + 1) / 2
