"""Measures of calls that come and go."""

from __future__ import annotations

from skycell.measures.measure import Measures
from skycell.measures.run_view import RunView
from skycell.stats.ranges import PART, POSITIVE

CALLS: Measures[RunView] = Measures()


@CALLS.declare(
    "1",
    "calls that were blocked because a link had no room for them, as a part of those offered",
    part="call",
    better="smaller",
    range=PART,
)
def blocking(run: RunView) -> float | None:
    """Of the calls of all classes together, each counted alike; None if there were none."""
    calls = run.summary.get("calls", [])
    offered = sum(int(of["offered"]) for of in calls)
    return sum(int(of["blocked"]) for of in calls) / offered if offered else None


@CALLS.declare(
    "erlang", "mean number of calls under way", part="call", better="larger", range=POSITIVE
)
def carried_calls(run: RunView) -> float | None:
    """Of all classes together; None without calls."""
    calls = run.summary.get("calls", [])
    return sum(float(of["carried"]) for of in calls) if calls else None
