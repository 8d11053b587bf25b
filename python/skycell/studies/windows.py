"""Measures of the windows of long-lived TCPs, from the counts of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.input.quantities import PS_PER_SECOND
from skycell.measures.measure import Measures
from skycell.studies.flow_measures import mean_of
from skycell.studies.measured_run import Measured

WINDOWS: Measures[Measured] = Measures()


@WINDOWS.declare("ms", "mean round trip of the segments of the row's group of flows")
def round_trip(run: Measured) -> float:
    """Each flow counts alike."""
    return mean_of([round_trip_s(flow, run.facts.rtt_s) for flow in run.group_flows()]) * 1e3


@WINDOWS.declare("s", "mean time between two cuts of a window of the row's group of flows")
def window_cycle(run: Measured) -> float | None:
    """None if the window of a flow was never cut."""
    duration = run.summary["duration_ps"]
    return mean_or_none([cycle_s(flow, duration) for flow in run.group_flows()])


@WINDOWS.declare(
    "1",
    "segments by which windows of the row's group of flows grew in a round trip, by their mean and "
    "by how often they were cut, if every cycle went like every other",
)
def window_growth(run: Measured) -> float | None:
    """None if the window of a flow was never cut."""
    growths: list[float | None] = []
    for flow, rate in zip(run.group_flows(), run.rates_bps()[run.group()], strict=True):
        cycle = cycle_s(flow, run.summary["duration_ps"])
        rtt = round_trip_s(flow, run.facts.rtt_s)
        window = rate * rtt / 8 / run.facts.mss  # Little's law
        growths.append(growth_segments(window, rtt, cycle) if cycle else None)
    return mean_or_none(growths)


def round_trip_s(flow: Mapping[str, Any], rtt_s: float) -> float:
    """Returns the mean round trip of a flow's segments, s: by propagation alone on the way back.

    Args:
        flow: its record.
        rtt_s: the round trip by propagation.
    """
    return float(flow["delay_mean_ps"]) / PS_PER_SECOND + rtt_s / 2


def cycle_s(flow: Mapping[str, Any], duration_ps: int) -> float | None:
    """Returns the mean time between two cuts of a flow's window, s; None if it was never cut.

    >>> cycle_s({"fast_retransmits": 3, "timeouts": 1}, 10 * 10**12)
    2.5
    """
    cuts = flow["fast_retransmits"] + flow["timeouts"]
    return duration_ps / PS_PER_SECOND / cuts if cuts else None


def growth_segments(window_segments: float, round_trip_s: float, cycle_s: float) -> float:
    """Returns the segments by which a window grew in a round trip, if all cycles were alike.

    A window that is halved at one size and grows evenly is between 2/3 and 4/3 of its mean, so it
    grows by 2/3 of its mean in a cycle. Windows that are cut now here and now there give more than
    their senders let them grow.

    Args:
        window_segments: the mean window.
        round_trip_s: the mean round trip.
        cycle_s: mean time between two cuts.

    Source: CC, equation 2 with figure 5.

    >>> growth_segments(60.0, 0.1, 4.0)  # from 40 to 80 in 40 round trips
    1.0
    """
    return 2 / 3 * window_segments * round_trip_s / cycle_s


def mean_or_none(values: Sequence[float | None]) -> float | None:
    """The mean; none where one of the values is none.

    >>> mean_or_none([1.0, 2.0]), mean_or_none([1.0, None])
    (1.5, None)
    """
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
