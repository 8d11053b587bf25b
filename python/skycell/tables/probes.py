"""Tables of pings: their round-trip times, and how many have an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.tables.recorded import Recorded, made
from skycell.tables.table import Cell, Table, count, loss, number, words

_FIGURES = {
    "least": "min_ps",
    "mean": "mean_ps",
    "median": "p50_ps",
    "90 %": "p90_ps",
    "95 %": "p95_ps",
    "99 %": "p99_ps",
    "largest": "max_ps",
}
"""Columns of round-trip times, and their keys in the records."""


def probes(run: Recorded) -> Table | None:
    """Returns the round-trip times of the pings of each probe."""
    return made(
        "Pings, round-trip times in ms",
        "Pings of each probe that were sent while the run counts, and the part of them without an "
        "answer. Pings under way as the run ends have no answer yet. Round-trip times in "
        "milliseconds, from the sending of a ping to the arrival of its answer, of all answers.",
        "probe",
        ("sent", "unanswered", *_FIGURES),
        (tuple(_row(probe)) for probe in run.records.get("probes", ())),
    )


def _row(probe: Mapping[str, Any]) -> Iterator[Cell]:
    sent, answered = probe["sent"], probe["answered"]
    yield words(probe["name"])
    yield count(sent)
    yield loss(max(0.0, 1 - answered / sent)) if sent else number(None, 3)
    rtt = probe.get("rtt")
    for key in _FIGURES.values():
        yield number(None if rtt is None else rtt[key] / PS_PER_MS, 3)
