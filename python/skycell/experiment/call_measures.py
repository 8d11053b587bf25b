"""What sweeps measure of calls that come and go."""

from __future__ import annotations

from collections.abc import Mapping

from skycell.experiment.measure import Measure, RunView
from skycell.stats.ranges import PART, POSITIVE


def _blocking(run: RunView) -> float | None:
    """Of the calls of all classes together, each counted alike; none where nobody called."""
    calls = run.summary.get("calls", [])
    offered = sum(int(of["offered"]) for of in calls)
    return sum(int(of["blocked"]) for of in calls) / offered if offered else None


def _carried(run: RunView) -> float | None:
    calls = run.summary.get("calls", [])
    return sum(float(of["carried"]) for of in calls) if calls else None


CALL_MEASURES: Mapping[str, Measure[RunView]] = {
    "blocking": Measure(
        "1",
        "calls that were blocked because a link had no room for them, of those asked for",
        _blocking,
        part="call",
        better="smaller",
        range=PART,
    ),
    "carried_calls": Measure(
        "erlang",
        "calls under way in the mean over time",
        _carried,
        part="call",
        better="larger",
        range=POSITIVE,
    ),
}
"""Measures by name."""
