"""Measures of uplinks that terminals share; of several uplinks the mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.measures.measure import FIGURES, Measures
from skycell.measures.run_view import RunView
from skycell.stats.ranges import PART, POSITIVE

UPLINKS: Measures[RunView] = Measures()

Uplink = Mapping[str, Any]
"""The record of an uplink."""


def _declare(
    unit: str, meaning: str, **about: Any
) -> Callable[[Callable[[Uplink], float | None]], None]:
    """Declares a number of an uplink as a measure: its mean over the uplinks that have it."""

    def declared(number_of: Callable[[Uplink], float | None]) -> None:
        def measure(run: RunView) -> float | None:
            numbers = [number_of(uplink) for uplink in run.summary.get("uplinks", [])]
            known = [number for number in numbers if number is not None]
            return sum(known) / len(known) if known else None

        measure.__name__ = number_of.__name__
        UPLINKS.declare(unit, meaning, **{"part": "uplink", "better": "smaller"} | about)(measure)

    return declared


@_declare(
    "1", "part of the slots of uplinks in which a burst got through", better="larger", range=PART
)
def uplink_throughput(uplink: Uplink) -> float:
    """Bursts in slots of contention and in reserved ones."""
    carried = uplink["successes"] + uplink["used"] - uplink["lost"]
    return float(carried) / max(float(uplink["slots"]), 1.0)


@_declare(
    "1",
    "part of the slots of contention in which several terminals sent; none without such slots",
    range=PART,
)
def collided_part(uplink: Uplink) -> float | None:
    """None without slots of contention."""
    heard = ("idle", "successes", "collisions", "false_collisions")
    slots = sum(int(uplink[kind]) for kind in heard)
    return float(uplink["collisions"]) / slots if slots else None


def _access_delay(figure: str) -> None:
    words, key = FIGURES[figure]
    what = (
        "access delay of a frame, from its arrival at its terminal to the beginning of its "
        "transmission over an uplink"
    )

    def delay(uplink: Uplink) -> float | None:
        delays = uplink["access_delay"]
        return float(delays[key]) / PS_PER_MS if delays["cells"] else None

    delay.__name__ = f"{figure}_access_delay"
    _declare("ms", words.format(what), range=POSITIVE)(delay)


for _name in ("mean", "p50", "p90", "p99"):
    _access_delay(_name)


@_declare(
    "cells",
    "mean of the cells that wait at all terminals of an uplink, in the second half of the run",
    range=POSITIVE,
)
def backlog(uplink: Uplink) -> float:
    """Over time."""
    return float(uplink["backlog_second_half"])


@_declare("cells", "cells by which the backlog of uplinks grows in a slot")
def backlog_drift(uplink: Uplink) -> float:
    """Below zero if the backlog shrinks."""
    return float(uplink["backlog_drift"])


@_declare("1", "numbers that a terminal keeps to follow the protocol of its uplink", range=POSITIVE)
def terminal_state(uplink: Uplink) -> float:
    """As the record has it."""
    return float(uplink["terminal_state"])


@_declare("1", "numbers that the controller of an uplink keeps", range=POSITIVE)
def controller_state(uplink: Uplink) -> float:
    """As the record has it."""
    return float(uplink["controller_state"])
