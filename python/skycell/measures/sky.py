"""Measures of a constellation that carries packets, over all of its links together."""

from __future__ import annotations

from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.stats.ranges import PART, POSITIVE

SKY: Measures[RunView] = Measures()


def _part(run: RunView, *counts: str) -> float | None:
    """Counts of all packets as a part of those handed over; None without a constellation."""
    sky = run.summary.get("sky")
    if sky is None or not sky["offered"]:
        return None
    return float(sum(sky[count] for count in counts)) / float(sky["offered"])


@SKY.declare(
    "1",
    "packets that a constellation lost, in queues, on links and for want of a route, as a part of "
    "those handed over",
    part="sky",
    better="smaller",
    range=PART,
)
def lost_packets_part(run: RunView) -> float | None:
    """None without a constellation."""
    return _part(run, "discarded", "lost")


@SKY.declare(
    "1",
    "times that a packet went back over the link that it had come by, over a constellation, for "
    "each packet handed over",
    part="sky",
    better="smaller",
    range=POSITIVE,
)
def turned_back_part(run: RunView) -> float | None:
    """None without a constellation."""
    return _part(run, "turned_back")


@SKY.declare(
    "1",
    "part of the run in which the fullest link of a constellation was sending",
    part="sky",
    range=PART,
)
def fullest_link_load(run: RunView) -> float | None:
    """None without a constellation."""
    sky = run.summary.get("sky")
    if sky is None:
        return None
    return float(sky["largest_busy_ps"]) / float(run.summary["duration_ps"])
