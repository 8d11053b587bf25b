"""How good interpolated positions of ephemerides are, and which cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from skycell.input.faults import Fault, show_value
from skycell.input.quantities import counted
from skycell.orbit.constellation import Constellation
from skycell.orbit.elements import FaultySatellite
from skycell.orbit.ephemeris import Ephemeris
from skycell.orbit.file import EphemerisPattern

UNREPORTED_KM = 1.0
"""An error of which no sentence is made: SGP4's at the epoch of its elements (AIAA 2006-6753)."""

_MEANING = "interpolated positions, against the orbit that the states on either side lie on"


@dataclass(frozen=True)
class _Interval:
    """What is known of the positions between two states, as the compiled part has it."""

    satellite: int
    is_good: bool
    from_s: float
    to_s: float
    error_km: float
    apart_km: float
    inside_km: float | None

    @property
    def badness(self) -> tuple[bool, float]:
        return self.inside_km is not None, self.error_km


@dataclass(frozen=True)
class Accuracy:
    """How good the positions of a constellation's ephemerides are between two moments.

    Attributes:
        notes: sentences on positions that are used though they are off.
        faulty: satellites some of whose positions cannot be used.
    """

    notes: tuple[str, ...] = ()
    faulty: tuple[FaultySatellite, ...] = ()


def accuracy(constellation: Constellation, first_ps: int, last_ps: int) -> Accuracy:
    """Looks at positions between states of ephemerides, from one moment since time 0 to another."""
    from skycell import _core

    pattern, epoch_ns = constellation.file.pattern, constellation.file.earth.epoch
    assert isinstance(pattern, EphemerisPattern)
    assert epoch_ns is not None
    rows = json.loads(_core.orbit_judged(json.dumps(constellation.spec()), first_ps, last_ps))
    notes: list[str] = []
    faulty = []
    intervals = [_Interval(*row) for row in rows]
    for number, found in groupby(intervals, key=attrgetter("satellite")):
        entry = constellation.fleet.ephemerides[number]
        about = _About(constellation.name, pattern, entry, epoch_ns)
        all_of_it = list(found)
        bad = [interval for interval in all_of_it if not interval.is_good]
        if bad:
            fault = about.fault(max(bad, key=lambda interval: interval.badness), len(bad) - 1)
            faulty.append(FaultySatellite(entry.name, entry.object_id, pattern.file, (fault,)))
        notes += about.notes(interval for interval in all_of_it if interval.is_good)
    return Accuracy(tuple(notes), tuple(faulty))


@dataclass(frozen=True)
class _About:
    """Sentences on one satellite."""

    constellation: str
    pattern: EphemerisPattern
    entry: Ephemeris
    epoch_ns: int

    def fault(self, worst: _Interval, more: int) -> Fault:
        """What is wrong with positions that cannot be used."""
        got = f"positions of {self._name} {self._where(worst)}: {worst.error_km:.0f} km"
        got += " from where these states lead"
        if worst.inside_km is not None:
            got += f", and inside the earth, {worst.inside_km:.0f} km from its centre"
        if more:
            got += f"; and {counted(more, 'more interval')} between states"
        allowed = f"up to {self.pattern.max_error} (max_error), outside the earth; states closer "
        allowed += "together or another INTERPOLATION make it less"
        return Fault(self.constellation, "pattern.max_error", got, allowed, _MEANING)

    def notes(self, intervals: Iterable[_Interval]) -> list[str]:
        """Sentences on positions that are used though they are off."""
        found = []
        known = list(intervals)
        worst = max(known, key=attrgetter("error_km"), default=None)
        if worst is not None and worst.error_km > UNREPORTED_KM:
            found.append(
                f"Positions of {self._name} {self._where(worst)} are up to {worst.error_km:.1f} km "
                "from where these states lead."
            )
        apart = max(known, key=attrgetter("apart_km"), default=None)
        if apart is not None and apart.apart_km > float(self.pattern.max_error.amount):
            found.append(
                f"The states of {self._name} at {self._span(apart)} do not lead to each other: "
                f"their predictions are {apart.apart_km:.0f} km apart. The satellite "
                "manoeuvres, or the velocities are not those of the positions."
            )
        return found

    @property
    def _name(self) -> str:
        return show_value(self.entry.name)[1:-1]

    def _where(self, interval: _Interval) -> str:
        return (
            f"between the states of {self._span(interval)}, "
            f"{interval.to_s - interval.from_s:g} s apart, by {self._method(interval)}"
        )

    def _span(self, interval: _Interval) -> str:
        return f"{self._utc(interval.from_s)} and {self._utc(interval.to_s)}"

    def _utc(self, at_s: float) -> str:
        since = timedelta(microseconds=round(self.epoch_ns / 1000 + at_s * 1e6))
        moment = datetime(1970, 1, 1, tzinfo=UTC) + since
        return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

    def _method(self, interval: _Interval) -> str:
        at_ns = self.epoch_ns + round(interval.from_s * 1e9)
        for segment in self.entry.segments:
            if segment.times_ns[0] - 1000 <= at_ns < segment.times_ns[-1]:
                return f"{segment.method}{' (our default)' if segment.is_assumed else ''}"
        return "interpolation"
