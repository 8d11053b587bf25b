"""What sweeps and studies measure of uplinks that terminals share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skycell.experiment.measure import Measure, RunView
from skycell.input.quantities import PS_PER_MS
from skycell.stats.ranges import PART, POSITIVE


def _mean(of: Callable[[Mapping[str, Any]], float | None]) -> Callable[[RunView], float | None]:
    """Mean over a run's uplinks, each counted alike; none where no uplink has the number."""

    def measure(run: RunView) -> float | None:
        found = [of(uplink) for uplink in run.summary.get("uplinks", [])]
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if known else None

    return measure


def _carried(uplink: Mapping[str, Any]) -> float:
    carried = uplink["successes"] + uplink["used"] - uplink["lost"]
    return float(carried) / max(float(uplink["slots"]), 1.0)


def _collided(uplink: Mapping[str, Any]) -> float | None:
    heard = ("idle", "successes", "collisions", "false_collisions")
    slots = sum(int(uplink[kind]) for kind in heard)
    return float(uplink["collisions"]) / slots if slots else None


def _delay(figure: str) -> Callable[[Mapping[str, Any]], float | None]:
    """A figure of the access delay, ms; none where no message has had its access."""

    def delay(uplink: Mapping[str, Any]) -> float | None:
        found = uplink["access_delay"]
        return float(found[figure]) / PS_PER_MS if found["cells"] else None

    return delay


UPLINK_MEASURES: Mapping[str, Measure[RunView]] = {
    "uplink_throughput": Measure(
        "1",
        "part of the slots of uplinks in which a burst got through",
        _mean(_carried),
        part="uplink",
        better="larger",
        range=PART,
    ),
    "collided_part": Measure(
        "1",
        "part of the slots of contention in which several terminals sent; none without such slots",
        _mean(_collided),
        part="uplink",
        better="smaller",
        range=PART,
    ),
    "access_delay": Measure(
        "ms",
        "mean time from the arrival of a frame at its terminal to the beginning of its "
        "transmission over an uplink",
        _mean(_delay("mean_ps")),
        part="uplink",
        better="smaller",
        range=POSITIVE,
    ),
    "p99_access_delay": Measure(
        "ms",
        "time within which 99 % of those frames began to be transmitted",
        _mean(_delay("p99_ps")),
        part="uplink",
        better="smaller",
        range=POSITIVE,
    ),
    "backlog": Measure(
        "cells",
        "mean of the cells that wait at all terminals of an uplink, in the second half of the run",
        _mean(lambda uplink: float(uplink["backlog_second_half"])),
        part="uplink",
        better="smaller",
        range=POSITIVE,
    ),
    "backlog_drift": Measure(
        "cells",
        "cells by which the backlog of uplinks grows in a slot",
        _mean(lambda uplink: float(uplink["backlog_drift"])),
        part="uplink",
        better="smaller",
    ),
    "terminal_state": Measure(
        "1",
        "numbers that a terminal keeps to follow the protocol of its uplink",
        _mean(lambda uplink: float(uplink["terminal_state"])),
        part="uplink",
        better="smaller",
        range=POSITIVE,
    ),
    "controller_state": Measure(
        "1",
        "numbers that the controller of an uplink keeps",
        _mean(lambda uplink: float(uplink["controller_state"])),
        part="uplink",
        better="smaller",
        range=POSITIVE,
    ),
}
"""Measures by name."""
