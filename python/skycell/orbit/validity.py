"""Which satellites have positions and which links exist, between two moments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from skycell.input.account import Account
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import PS_PER_SECOND, counted
from skycell.orbit.absent_links import NO_LINK, AbsentLinks
from skycell.orbit.accuracy import accuracy
from skycell.orbit.constellation import Constellation
from skycell.orbit.elements import FaultySatellite
from skycell.orbit.file import FARTHEST_BY_DEFAULT_S, ElementsPattern, EphemerisPattern
from skycell.orbit.hidden import Hidden, hidden
from skycell.orbit.places import Place

MOST_REPORTED = 20
"""Satellites told one by one; of the others their number."""

_MEANING = "satellites that SGP4 moves, as long as they are above the earth"


@dataclass(frozen=True)
class LeftOut:
    """A satellite that has no position for a time.

    Attributes:
        satellite: its name.
        catalogue_number: as its element set has it; 0 where it has none.
        entry: file and line or entry of the element set.
        at_ps: since time 0, perhaps below 0: when it first breaks a limit, counted from its epoch
            in either direction.
        moment: the same in UTC.
        minutes_from_epoch: the same from its epoch. It is left out from then on; until then where
            this is below 0; always where it is 0.
        limit: what it breaks: an error of SGP4, or the surface of the earth.
    """

    satellite: str
    catalogue_number: int
    entry: str
    at_ps: int
    moment: str
    minutes_from_epoch: float
    limit: str

    def __str__(self) -> str:
        minutes = self.minutes_from_epoch
        when = f"{'until' if minutes < 0 else 'from'} {self.moment}"
        if minutes > 0:
            when += f" on, {minutes:.1f} min after its epoch"
        elif minutes < 0:
            when += f", {-minutes:.1f} min before its epoch"
        else:
            when = "at all times, already at its epoch"
        named = f"{show_value(self.satellite)} (catalogue number {self.catalogue_number}"
        return f"{named}, {self.entry}) is left out {when}: {self.limit}"

    def is_always(self, first_ps: int, last_ps: int) -> bool:
        """Whether it is left out at every moment between two."""
        if self.minutes_from_epoch > 0:
            return self.at_ps <= first_ps
        return self.minutes_from_epoch == 0 or self.at_ps >= last_ps

    def as_dict(self) -> dict[str, Any]:
        """The satellite for a program."""
        return {
            "satellite": self.satellite,
            "catalogue_number": self.catalogue_number,
            "entry": self.entry,
            "at_ps": self.at_ps,
            "moment": self.moment,
            "minutes_from_epoch": self.minutes_from_epoch,
            "limit": self.limit,
        }


@dataclass(frozen=True)
class Validity:
    """What is known of a constellation's satellites between two moments.

    Attributes:
        left_out: satellites that have no position at some of the moments.
        far: a sentence on elements that are used far from their epoch; empty where none are.
        faulty: satellites that cannot be used, and are left out by the file's wish.
        inexact: sentences on interpolated positions that are off.
        links: links that do not exist at some of the moments, where links are asked for.
        accounts: what was read of each file of the constellation, left aside and assumed.
        hidden: what the earth hides from places whose mask is below the horizon.
    """

    left_out: tuple[LeftOut, ...] = ()
    far: str = ""
    faulty: tuple[FaultySatellite, ...] = ()
    inexact: tuple[str, ...] = ()
    links: AbsentLinks = NO_LINK
    accounts: tuple[Account, ...] = ()
    hidden: tuple[Hidden, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for people on the files that were read, and on what is not there."""
        of_files = (note for account in self.accounts for note in account.notes())
        return (*of_files, *self.shortcomings)

    @property
    def shortcomings(self) -> tuple[str, ...]:
        """Sentences for people on what is left out, far, off or absent; a screenful at most."""
        reported = [f"{entry}." for entry in self.faulty[:MOST_REPORTED]]
        more = len(self.faulty) - MOST_REPORTED
        if more > 0:
            reported.append(f"{counted(more, 'more satellite')} that cannot be used left out.")
        shown = max(MOST_REPORTED - len(self.faulty), 1)
        reported += [f"{entry}." for entry in self.left_out[:shown]]
        more = len(self.left_out) - shown
        if more > 0:
            reported.append(f"{counted(more, 'more satellite')} left out at some of the moments.")
        inexact = self.inexact[:MOST_REPORTED]
        hidden = map(str, self.hidden)
        return (*reported, *filter(None, [self.far]), *inexact, *self.links.notes, *hidden)

    def as_dict(self) -> dict[str, Any]:
        """What there is to say to a program."""
        entries = [entry.as_dict() for entry in self.left_out[:MOST_REPORTED]]
        return {
            "left_out": entries,
            "left_out_count": len(self.left_out),
            "faulty": [entry.as_dict() for entry in self.faulty[:MOST_REPORTED]],
            "faulty_count": len(self.faulty),
            **self.links.as_dict(),
            "hidden": [entry.as_dict() for entry in self.hidden],
            "files": [account.as_dict() for account in self.accounts],
            "notes": list(self.notes),
        }


ALL_IS_WELL = Validity()


def validity(
    constellation: Constellation, first_ps: int, last_ps: int, places: Sequence[Place] = ()
) -> Validity:
    """Looks at the satellites, and from places at them, between two moments since time 0.

    Raises:
        ScenarioFaults: a moment is farther from an element set's epoch than the file allows,
            positions between states of an ephemeris cannot be used, or no satellite has a position
            at any of the moments.
    """
    found = _of_satellites(constellation, first_ps, last_ps)
    behind = hidden(constellation, places, first_ps, last_ps)
    return replace(found, accounts=constellation.accounts, hidden=behind)


def _of_satellites(constellation: Constellation, first_ps: int, last_ps: int) -> Validity:
    pattern, epoch_ns = constellation.file.pattern, constellation.file.earth.epoch
    if isinstance(pattern, EphemerisPattern) and epoch_ns is not None:
        return _of_ephemerides(constellation, pattern, epoch_ns, first_ps, last_ps)
    if not isinstance(pattern, ElementsPattern) or epoch_ns is None:
        return ALL_IS_WELL
    far = _far(constellation, pattern, epoch_ns, first_ps, last_ps)
    left_out = _left_out(constellation, pattern, epoch_ns, first_ps, last_ps)
    always = [entry for entry in left_out if entry.is_always(first_ps, last_ps)]
    if len({entry.satellite for entry in always}) == len(constellation.satellites):
        _refuse_all(constellation, always)
    return Validity(left_out, far, constellation.fleet.faulty)


def _far(
    constellation: Constellation,
    pattern: ElementsPattern,
    epoch_ns: int,
    first_ps: int,
    last_ps: int,
) -> str:
    """Refuses elements farther from the moments than allowed; tells which are far."""
    farthest_s = float(pattern.farthest.amount) / PS_PER_SECOND
    faults = []
    far: list[tuple[float, str]] = []
    for entry in constellation.fleet.sets:
        since = epoch_ns / 1e9 - entry.epoch_unix_s
        away_s = max(abs(since + at_ps / PS_PER_SECOND) for at_ps in (first_ps, last_ps))
        if away_s > farthest_s and pattern.faulty == "leave_out":
            continue  # the compiled part leaves it out from then on, and it is reported
        if away_s > farthest_s:
            got = f"{away_s / 86_400:.1f} days from the epoch of {show_name(entry.name)}"
            allowed = f"up to {pattern.farthest} (pattern.farthest, {show_value(pattern.file)})"
            meaning = "the moment that is time 0"
            faults.append(Fault(constellation.name, "earth.epoch", got, allowed, meaning))
        elif away_s > FARTHEST_BY_DEFAULT_S:
            far.append((away_s, entry.name))
    if faults:
        raise ScenarioFaults(faults)
    if not far:
        return ""
    away_s, name = max(far)
    many = f"{len(far)} of {counted(len(constellation.fleet.sets), 'element set')}"
    return (
        f"{many} used more than two weeks from the epoch, that of {show_name(name)} "
        f"{away_s / 86_400:.1f} days: SGP4 is off by kilometres after two weeks, and by more later."
    )


def _of_ephemerides(
    constellation: Constellation,
    pattern: EphemerisPattern,
    epoch_ns: int,
    first_ps: int,
    last_ps: int,
) -> Validity:
    """Refuses, or tells, satellites whose states do not reach over the moments."""
    first_ns, last_ns = (epoch_ns + at_ps // 1000 for at_ps in (first_ps, last_ps))
    short = []
    for entry in constellation.fleet.ephemerides:
        gap_ns = entry.gap(first_ns, last_ns)
        if gap_ns is not None:
            spans = [segment.useable_ns for segment in entry.segments]
            begin, end = min(spans)[0], max(end for _, end in spans)
            got = f"no state of {show_name(entry.name)} from {_utc(gap_ns / 1e9)} on"
            allowed = (
                f"moments from {_utc(begin / 1e9)} to {_utc(end / 1e9)} within its segments "
                f"({show_value(pattern.file)})"
            )
            meaning = "the moment that is time 0"
            fault = Fault(constellation.name, "earth.epoch", got, allowed, meaning)
            short.append(FaultySatellite(entry.name, entry.object_id, pattern.file, (fault,)))
    is_none = len(short) == len(constellation.fleet.ephemerides)
    if short and (pattern.faulty == "refuse" or is_none):
        raise ScenarioFaults(fault for entry in short for fault in entry.faults)
    known = accuracy(constellation, first_ps, last_ps)
    if known.faulty and pattern.faulty == "refuse":
        raise ScenarioFaults(fault for entry in known.faulty for fault in entry.faults)
    faulty = (*constellation.fleet.faulty, *short, *known.faulty)
    return Validity(faulty=faulty, inexact=known.notes)


def show_name(name: str) -> str:
    """A satellite's name, bounded in length."""
    return show_value(name)[1:-1]


def _left_out(
    constellation: Constellation,
    pattern: ElementsPattern,
    epoch_ns: int,
    first_ps: int,
    last_ps: int,
) -> tuple[LeftOut, ...]:
    from skycell import _core

    rows = json.loads(_core.orbit_left_out(json.dumps(constellation.spec()), first_ps, last_ps))
    found = []
    for number, minutes, limit in rows:
        entry = constellation.fleet.sets[number]
        at_s = entry.epoch_unix_s + 60 * minutes
        found.append(
            LeftOut(
                entry.name,
                int(entry.omm["NORAD_CAT_ID"]),
                f"{pattern.file} {entry.where}",
                round((at_s - epoch_ns / 1e9) * 1000) * (PS_PER_SECOND // 1000),
                _utc(at_s),
                minutes,
                limit,
            )
        )
    return tuple(found)


def _utc(unix_s: float) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=unix_s)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _refuse_all(constellation: Constellation, always: Iterable[LeftOut]) -> None:
    """Refuses a constellation without a satellite."""
    first, *others = always
    position = constellation.positions.get("pattern.file") or (None, None)
    got = f"no satellite that has a position: {first}"
    if others:
        got += f"; and {counted(len(others), 'other satellite')}"
    allowed = "elements of a satellite that is in orbit at the moments asked for"
    fault = Fault(constellation.name, "pattern.file", got, allowed, _MEANING, *position)
    raise ScenarioFaults([fault])
