"""Ephemerides of satellites: CCSDS OEM and SpaceX's, checked, with what is interpolated how."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.account import Account, Assumed, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import counted
from skycell.orbit.elements import FaultySatellite, not_chosen
from skycell.orbit.epochs import EPOCH_YEARS, TIME_SYSTEMS, read_epoch
from skycell.orbit.forms import not_this_form
from skycell.orbit.meme_text import is_meme, read_meme
from skycell.orbit.oem_text import Line, MessageText, SegmentText, read_segments
from skycell.orbit.selection import Choice, is_chosen

#: Axes of states (CCSDS 502.0-B-3, annex B, and the SANA registry), and what the compiled part
#: calls them.
_FRAMES = (
    (re.compile(r"ITRF[- ]?[0-9]*|GRC|GTOD|TDR|EFG|WGS-?84"), "earth_fixed"),
    (re.compile(r"TEME|TEMEOFDATE"), "teme"),
    (re.compile(r"TOD|TOD_EARTH"), "true_of_date"),
    (re.compile(r"EME2000|J2000|ICRF[- ]?[0-9]*|GCRF[- ]?[0-9]*"), "j2000"),
)
_FRAMES_TEXT = "ITRF (any year), GTOD, TEME, TOD, EME2000, ICRF or GCRF"
_METHODS = ("LINEAR", "LAGRANGE", "HERMITE")
_HIGHEST_DEGREE = 27
"""Of polynomials; higher ones swing between states that are written with few digits."""
_USUAL = ("HERMITE", 7)
"""Where a message does not say: four states with their velocities give the seventh degree. Of fewer
states each gives two degrees, the first one gives one."""
_FARTHEST_KM = 1_500_000.0
_FASTEST_KM_S = 12.0
#: Keywords that are read, and those that repeat what states say.
_KNOWN = frozenset(
    {
        *("OBJECT_NAME", "OBJECT_ID", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM", "COMMENT"),
        *("START_TIME", "STOP_TIME", "USEABLE_START_TIME", "USEABLE_STOP_TIME"),
        *("INTERPOLATION", "INTERPOLATION_DEGREE"),
    }
)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Segment:
    """States that belong together.

    Attributes:
        frame: axes, as the compiled part calls them.
        interpolation: `linear`, `lagrange` or `hermite`.
        degree: of its polynomials.
        useable_ns: the moments between which it may be used, UTC since 1970.
        times_ns: of the states.
        states: position (km) and velocity (km/s) of each.
        is_assumed: whether the message does not say how to interpolate.
    """

    frame: str
    interpolation: str
    degree: int
    useable_ns: tuple[int, int]
    times_ns: tuple[int, ...]
    states: tuple[tuple[float, ...], ...]
    is_assumed: bool = False

    @property
    def method(self) -> str:
        """How positions between states are found, for people."""
        if self.interpolation == "linear":
            return "straight lines"
        return f"{self.interpolation.capitalize()} of degree {self.degree}"

    def spec(self, epoch_ns: int) -> dict[str, Any]:
        """The form that the compiled part reads, with time 0 at `epoch_ns`."""
        return {
            "frame": self.frame,
            "interpolation": self.interpolation,
            "degree": self.degree,
            "useable_s": [(at - epoch_ns) / 1e9 for at in self.useable_ns],
            "times_s": [(at - epoch_ns) / 1e9 for at in self.times_ns],
            "states": self.states,
        }


@dataclass(frozen=True)
class Ephemeris:
    """The states of one satellite.

    Attributes:
        name: of it, made different from the others'.
        object_id: as the message has it.
        segments: in the order of the file.
    """

    name: str
    object_id: str
    segments: tuple[Segment, ...]

    def gap(self, first_ns: int, last_ns: int) -> int | None:
        """From when on, between two moments, there is no segment to use; None where none is."""
        at = first_ns
        for begin, end in sorted(segment.useable_ns for segment in self.segments):
            if begin <= at <= end:
                at = end
                if at >= last_ns:
                    return None
        return at


@dataclass(frozen=True)
class ReadEphemerides:
    """What a file of ephemerides holds.

    Attributes:
        satellites: those that can be used, in the order of the file.
        faulty: the others.
        account: what was read, left aside and assumed.
    """

    satellites: tuple[Ephemeris, ...]
    faulty: tuple[FaultySatellite, ...] = ()
    account: Account | None = None


def ephemerides_of(
    text: str,
    name: str = "ephemerides",
    select: Sequence[Choice] = (),
    exclude: Sequence[Choice] = (),
) -> ReadEphemerides:
    """The ephemerides of a text; a satellite with a faulty segment is faulty.

    Args:
        text: OEM as KVN or XML, or an ephemeris of SpaceX's.
        name: of the file, which has the satellite's name in SpaceX's form.
        select: the satellites that are read, by name or object's id; all if there is none.
        exclude: those of them that are not.

    Raises:
        ScenarioFaults: the text as a whole cannot be read, or has no segment.
    """
    message = read_meme(text, name) if is_meme(text) else read_segments(text, name)
    segments = message.segments
    if not segments:
        raise ScenarioFaults([not_this_form(text, name, "ephemeris")])
    by_object: dict[tuple[str, str], list[SegmentText]] = {}
    for segment in segments:
        named = segment.keywords.get("OBJECT_NAME", ""), segment.keywords.get("OBJECT_ID", "")
        by_object.setdefault(named, []).append(segment)
    good: dict[str, Ephemeris] = {}
    faulty = []
    for (own, object_id), texts in by_object.items():
        # The id is a designator (1998-067A); some writers put the catalogue number there.
        if not (is_chosen(own, object_id, select, exclude)):
            continue
        faults: list[Fault] = []
        read = [_segment(segment, name, faults) for segment in texts]
        if faults:
            faulty.append(FaultySatellite(own, object_id, texts[0].where, tuple(faults)))
            continue
        plain = different = own or object_id or "1"
        while different in good:
            number = sum(known.partition(" (")[0] == plain for known in good) + 1
            different = f"{plain} ({number})"
        good[different] = Ephemeris(different, object_id, tuple(s for s in read if s is not None))
    account = _account(message, name, tuple(good.values()))
    left = len(by_object) - len(good) - len(faulty)
    account = account.and_also(not_chosen(left))
    return ReadEphemerides(tuple(good.values()), tuple(faulty), account)


def _account(message: MessageText, name: str, satellites: Sequence[Ephemeris]) -> Account:
    """What was read, left aside and assumed."""
    segments = [segment for entry in satellites for segment in entry.segments]
    read = {
        "satellites": len(satellites),
        "segments": len(segments),
        "states": sum(len(segment.times_ns) for segment in segments),
    }
    times = [time for segment in segments for time in segment.times_ns]
    span_s = (max(times) - min(times)) / 1e9 if times else None
    aside = [
        LeftAside(what, count)
        for what, count in (
            ("covariance", message.covariances),
            ("acceleration", message.accelerations),
        )
        if count
    ]
    unknown = {key for text in message.segments for key in text.keywords if key not in _KNOWN}
    if unknown:
        aside.append(LeftAside("keyword", len(unknown), tuple(sorted(unknown))))
    if message.unused:
        lines = tuple(f"line {number}" for number in message.unused)
        aside.append(LeftAside("line", len(lines), lines, "they belong to no segment"))
    assumed = []
    by_method: dict[str, int] = {}
    for segment in segments:
        if segment.is_assumed:
            by_method[segment.method] = by_method.get(segment.method, 0) + 1
    for method, count in by_method.items():
        verb = "does" if count == 1 else "do"
        sentence = f"{counted(count, 'segment')} {verb} not say how to interpolate: {method}."
        assumed.append(Assumed("interpolation", sentence, numbers={"segments": count}))
    return Account(name, message.form, read, span_s, tuple(aside), tuple(assumed))


def _segment(text: SegmentText, name: str, faults: list[Fault]) -> Segment | None:
    """A checked segment; None, and faults, where it cannot be used."""
    before = len(faults)
    faults += text.faults
    keywords = text.keywords

    def refuse(key: str, allowed: str, meaning: str) -> None:
        written = keywords.get(key)
        got = "nothing" if written in (None, "") else show_value(written)
        faults.append(Fault(name, f"{text.where} {key}", got, allowed, meaning))

    if (keywords.get("CENTER_NAME") or "EARTH").upper() != "EARTH":
        refuse("CENTER_NAME", '"EARTH"', "what the satellite goes around")
    frame = next(
        (own for form, own in _FRAMES if form.fullmatch(keywords.get("REF_FRAME", "").upper())), ""
    )
    if not frame:
        refuse("REF_FRAME", _FRAMES_TEXT, "axes of the states")
    system = keywords.get("TIME_SYSTEM", "")
    if system not in TIME_SYSTEMS:
        refuse("TIME_SYSTEM", " or ".join(TIME_SYSTEMS), "time scale of the epochs")
        system = "UTC"
    is_assumed = not keywords.get("INTERPOLATION")
    method, degree = _USUAL if is_assumed else _interpolation(keywords, refuse)
    times, states = _states(text.lines, system, name, faults)
    if len(faults) > before:
        return None
    if is_assumed:
        degree = min(degree, max(2 * len(times) - 1, 3))
    needed = {"LINEAR": 2, "LAGRANGE": degree + 1, "HERMITE": degree // 2 + 1}[method]
    if len(times) < needed:
        allowed = f"at least {needed}, for {method} of degree {degree}"
        if is_assumed:
            allowed = f"at least {needed}, to interpolate between"
        faults.append(Fault(name, f"{text.where} states", str(len(times)), allowed, "states"))
        return None
    useable = [times[0], times[-1]]
    for end, key in enumerate(("USEABLE_START_TIME", "USEABLE_STOP_TIME")):
        if keywords.get(key):
            at = read_epoch(keywords[key], system)
            if at is None or not times[0] <= at <= times[-1]:
                refuse(key, "a moment between the first state and the last", "what may be used")
            else:
                useable[end] = at
    if len(faults) > before:
        return None
    useable_ns = (useable[0], useable[1])
    return Segment(frame, method.lower(), degree, useable_ns, times, states, is_assumed)


def _interpolation(keywords: Mapping[str, str], refuse: Any) -> tuple[str, int]:
    """Method and degree (CCSDS 502.0-B-3, table 5-3)."""
    method = keywords["INTERPOLATION"].upper()
    if method not in _METHODS:
        refuse("INTERPOLATION", " or ".join(_METHODS), "how positions between states are found")
        return _USUAL
    written = keywords.get("INTERPOLATION_DEGREE") or ("1" if method == "LINEAR" else "")
    if not (written.isdecimal() and len(written) < 4 and 1 <= int(written) <= _HIGHEST_DEGREE):
        allowed = f"a whole number from 1 to {_HIGHEST_DEGREE}"
        refuse("INTERPOLATION_DEGREE", allowed, "degree of the polynomials")
        return _USUAL
    return method, int(written)


def _states(
    lines: Sequence[Line], system: str, name: str, faults: list[Fault]
) -> tuple[tuple[int, ...], tuple[tuple[float, ...], ...]]:
    """Moments and states, ascending."""
    times: list[int] = []
    states = []
    for line in lines:
        at = read_epoch(line.epoch, system)
        if at is None or (times and at <= times[-1]):
            allowed = "a moment of {} from {} to {}, after that of the state before"
            allowed = allowed.format(system, *EPOCH_YEARS)
            got = show_value(line.epoch)
            faults.append(Fault(name, f"{line.where} EPOCH", got, allowed, "moment of a state"))
            continue
        numbers = [float(text) if _NUMBER.fullmatch(text) else math.nan for text in line.numbers]
        # A NaN is in no range.
        is_good = all(abs(number) <= _FARTHEST_KM for number in numbers[:3])
        is_good = is_good and all(abs(number) <= _FASTEST_KM_S for number in numbers[3:])
        if not is_good:
            got = show_value(" ".join(line.numbers))
            allowed = f"three numbers to {_FARTHEST_KM:g} km and three to {_FASTEST_KM_S:g} km/s"
            faults.append(Fault(name, f"{line.where} state", got, allowed, "position and velocity"))
            continue
        times.append(at)
        states.append(tuple(numbers))
    return tuple(times), tuple(states)
