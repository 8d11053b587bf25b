"""Measures of pings: round-trip times, and pings without an answer; of several probes the mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.measures.measure import FIGURES, Measures
from skycell.measures.run_view import RunView
from skycell.stats.ranges import PART, POSITIVE

PROBES: Measures[RunView] = Measures()

_OF_SEVERAL = "; of several probes the mean"
_OF_PROBE: Mapping[str, Any] = {"part": "probe", "better": "smaller"}


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _round_trip_time(figure: str) -> None:
    words, key = FIGURES[figure]

    def measure(run: RunView) -> float | None:
        times = [probe["rtt"] for probe in run.summary.get("probes", ()) if "rtt" in probe]
        return _mean([float(of[key]) / PS_PER_MS for of in times])

    measure.__name__ = f"{figure}_ping_rtt"
    meaning = words.format("round-trip time of the pings of a probe") + _OF_SEVERAL
    PROBES.declare("ms", meaning, range=POSITIVE, **_OF_PROBE)(measure)


for _figure in ("mean", "p50", "p90", "p95", "p99", "largest"):
    _round_trip_time(_figure)


@PROBES.declare(
    "1",
    "pings of a probe that no answer has come back for, as a part of those sent" + _OF_SEVERAL,
    range=PART,
    **_OF_PROBE,
)
def unanswered_pings(run: RunView) -> float | None:
    """Pings that are under way as the run ends are among them."""
    probes = [probe for probe in run.summary.get("probes", ()) if probe["sent"]]
    return _mean([max(0.0, 1 - probe["answered"] / probe["sent"]) for probe in probes])
