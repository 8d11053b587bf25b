"""How the windows of long-lived TCPs move, from what a run counts: round trips, cycles, growth."""

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.input.quantities import PS_PER_SECOND


def round_trip_s(flow: Mapping[str, Any], rtt_s: float) -> float:
    """Mean round trip of a flow's segments, s: with the queue there, by propagation alone back.

    Args:
        flow: its record.
        rtt_s: the round trip by propagation.
    """
    return float(flow["delay_mean_ps"]) / PS_PER_SECOND + rtt_s / 2


def cycle_s(flow: Mapping[str, Any], duration_ps: int) -> float | None:
    """Mean time between two cuts of a flow's window, s; none of a window that was never cut.

    >>> cycle_s({"fast_retransmits": 3, "timeouts": 1}, 10 * 10**12)
    2.5
    """
    cuts = flow["fast_retransmits"] + flow["timeouts"]
    return duration_ps / PS_PER_SECOND / cuts if cuts else None


def growth_segments(window_segments: float, round_trip_s: float, cycle_s: float) -> float:
    """Segments by which a window grew in a round trip, if every cycle went like every other.

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
