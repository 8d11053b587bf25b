"""Mean elements of satellites: TLE, and CCSDS OMM as CSV, JSON, XML and KVN."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

from skycell.input.account import Account, Assumed, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import counted
from skycell.input.text import read_text
from skycell.orbit.epochs import EPOCH_YEARS, TIME_SYSTEMS, read_epoch, show_epoch
from skycell.orbit.forms import not_this_form
from skycell.orbit.omm_text import Message, read_messages
from skycell.orbit.selection import Choice, is_chosen

#: Keywords of an OMM (CCSDS 502.0-B-3, tables 4-1 to 4-3) that SGP4 needs: range and unit.
_NUMBERS: dict[str, tuple[float, float, str]] = {
    "MEAN_MOTION": (0.0, 20.0, "revolutions per day, above 0"),
    "ECCENTRICITY": (0.0, 1.0, "eccentricity of the orbit, below 1"),
    "INCLINATION": (0.0, 180.0, "degrees"),
    "RA_OF_ASC_NODE": (-360.0, 360.0, "degrees"),
    "ARG_OF_PERICENTER": (-360.0, 360.0, "degrees"),
    "MEAN_ANOMALY": (-360.0, 360.0, "degrees"),
    "BSTAR": (-10.0, 10.0, "drag term, per earth radius"),
}
#: Keywords that may be missing and are 0 then: range and meaning.
_OPTIONAL: dict[str, tuple[float, float, str]] = {
    "MEAN_MOTION_DOT": (-1e6, 1e6, "revolutions per day squared; SGP4 does not use it"),
    "MEAN_MOTION_DDOT": (-1e6, 1e6, "revolutions per day cubed; SGP4 does not use it"),
}
#: The same of whole numbers. Ephemeris types: Hoots and Roehrich, Spacetrack Report 3.
_WHOLE: dict[str, tuple[int, int, str]] = {
    "NORAD_CAT_ID": (0, 999_999_999, "catalogue number"),
    "EPHEMERIS_TYPE": (
        0,
        3,
        "0 to 3: for SGP4; elements of type 4 are for SGP4-XP, which needs another propagator",
    ),
    "ELEMENT_SET_NO": (0, 999_999_999, "number of the element set"),
    "REV_AT_EPOCH": (0, 999_999_999, "revolutions at the epoch"),
}
#: Keywords with one of some words as their value, the usual one first, and their meaning.
_WORDS: dict[str, tuple[tuple[str, ...], str]] = {
    "MEAN_ELEMENT_THEORY": (
        ("SGP4", "SGP", "SGP/SGP4"),
        "the theory that the elements belong to; others, such as SGP4-XP, need another propagator",
    ),
    "REF_FRAME": (("TEME",), "axes of the elements"),
    "TIME_SYSTEM": (TIME_SYSTEMS, "time scale of the epoch"),
    "CENTER_NAME": (("EARTH", "Earth", "earth"), "what the satellite goes around"),
    "CLASSIFICATION_TYPE": (("U", "C", "S"), "unclassified, classified, secret"),
}
#: Keywords that are read, and those of a header, which say nothing of the orbit.
_KNOWN = frozenset(
    {
        *_NUMBERS,
        *_OPTIONAL,
        *_WHOLE,
        *_WORDS,
        *("OBJECT_NAME", "OBJECT_ID", "EPOCH"),
        *(
            "CCSDS_OMM_VERS",
            "CREATION_DATE",
            "ORIGINATOR",
            "MESSAGE_ID",
            "CLASSIFICATION",
            "COMMENT",
        ),
    }
)
_LONGEST_NAME = 200
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")


@dataclass(frozen=True)
class ElementSet:
    """Mean elements of one satellite.

    Attributes:
        name: the object's name, or its catalogue number, made different from the others'.
        epoch_unix_s: UTC since 1970.
        omm: the keywords of an OMM.
        where: line or entry of the file.
        place: among all sets of the file, from 0.
    """

    name: str
    epoch_unix_s: float
    omm: Mapping[str, Any]
    where: str = field(default="", compare=False)
    place: int = field(default=0, compare=False)


@dataclass(frozen=True)
class FaultySatellite:
    """A satellite of a file that cannot be used as it stands there.

    Attributes:
        name: as the file has it; empty where it has none.
        catalogue_number: as it is written.
        where: line or entry of the file.
        faults: what is wrong.
    """

    name: str
    catalogue_number: str
    where: str
    faults: tuple[Fault, ...]

    @property
    def reason(self) -> str:
        """What is wrong first, on one line, and how much more."""
        first = self.faults[0]
        key = first.path.split()[-1:]
        reason = " ".join([*key, f"{first.got}, allowed is {first.allowed}"])
        reason += f" ({first.meaning})" if first.meaning else ""
        more = len(self.faults) - 1
        return f"{reason}; and {counted(more, 'more fault')}" if more else reason

    def __str__(self) -> str:
        named = show_value(self.name) if self.name else "a satellite without a name"
        number = f"catalogue number {self.catalogue_number}, " if self.catalogue_number else ""
        return f"{named} ({number}{self.where}) is left out: {self.reason}"

    def as_dict(self) -> dict[str, Any]:
        """The satellite for a program."""
        return {
            "satellite": self.name,
            "catalogue_number": self.catalogue_number,
            "entry": self.where,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class ReadElements:
    """What a file of elements holds.

    Attributes:
        sets: the satellites that can be used, in the order of the file.
        faulty: the others.
        planes: planes and satellites in each, where the file counts them; None otherwise.
        account: what was read, left aside and assumed.
    """

    sets: tuple[ElementSet, ...]
    faulty: tuple[FaultySatellite, ...] = ()
    planes: tuple[int, int] | None = None
    account: Account | None = None


def read_elements(path: str | PathLike[str]) -> list[ElementSet]:
    """The element sets of a file; its content tells the format.

    Raises:
        ScenarioFaults: with every fault of the file.
        OSError: the file cannot be read.
    """
    return parse_elements(read_text(path), fspath(path))


def parse_elements(text: str, name: str = "elements") -> list[ElementSet]:
    """The element sets of a text.

    Args:
        text: TLE with or without names, or OMM as CSV, JSON, XML or KVN.
        name: what faults call it.

    Raises:
        ScenarioFaults: with every fault.
    """
    read = sets_of(text, name)
    if read.faulty:
        raise ScenarioFaults(fault for satellite in read.faulty for fault in satellite.faults)
    return list(read.sets)


def sets_of(
    text: str,
    name: str = "elements",
    select: Sequence[Choice] = (),
    exclude: Sequence[Choice] = (),
) -> ReadElements:
    """The element sets of a text, and those that cannot be used.

    Args:
        text: TLE with or without names, or OMM as CSV, JSON, XML or KVN.
        name: what faults call it.
        select: the satellites that are read; all if there is none.
        exclude: those of them that are not.

    Raises:
        ScenarioFaults: the text as a whole cannot be read, or has no satellite.
    """
    messages = read_messages(text, name)
    faulty: list[FaultySatellite] = []
    planes = None
    if messages is None:
        tle = _from_tle(text, name)
        messages, faulty, planes = tle.messages, tle.faulty, tle.planes
        account = Account(
            name, "set of two-line elements", {}, None, tuple(tle.left_aside), tuple(tle.assumed)
        )
    else:
        account = _account_of_omm(messages, name)
    if not messages and not faulty:
        raise ScenarioFaults([not_this_form(text, name, "elements")])
    lines = sorted(f.faults[0].line or 0 for f in faulty)
    every = len(messages) + len(faulty)
    faulty = [f for f in faulty if is_chosen(f.name, f.catalogue_number, select, exclude)]
    good: list[tuple[int, Message, dict[str, Any]]] = []
    for place, message in enumerate(messages):
        own, number = (_plain(message.keywords.get(key)) for key in ("OBJECT_NAME", "NORAD_CAT_ID"))
        if not is_chosen(own, number, select, exclude):
            continue
        faults = list(message.faults)
        omm = _checked(message, name, faults)
        if faults:
            faulty.append(FaultySatellite(own, number, message.where, tuple(faults)))
        else:
            before = bisect_right(lines, message.line)  # faulty sets, which have places too
            good.append((place + before, message, omm))
    sets = tuple(_named(good))
    account = replace(account, read={"satellites": len(sets)})
    account = account.and_also(
        not_chosen(every - len(sets) - len(faulty)), _several_sets([omm for _, _, omm in good])
    )
    return ReadElements(sets, tuple(faulty), planes, account)


def not_chosen(count: int) -> list[LeftAside]:
    """Satellites that `pattern.select` and `pattern.exclude` leave aside."""
    why = "pattern.select and pattern.exclude do not choose them"
    return [LeftAside("satellite", count, why=why)] if count else []


def _several_sets(sets: Sequence[Mapping[str, Any]]) -> list[Assumed]:
    """What is made of satellites with more than one set."""
    counts = Counter(omm["NORAD_CAT_ID"] for omm in sets if omm["NORAD_CAT_ID"])
    twice = [number for number, count in counts.items() if count > 1]
    if not twice:
        return []
    verb = "has" if len(twice) == 1 else "have"
    sentence = (
        f"{counted(len(twice), 'catalogue number')} {verb} more than one set, the first "
        f"{twice[0]}: each set is a satellite of its own."
    )
    return [Assumed("sets", sentence, numbers={"catalogue_numbers": len(twice)})]


def _account_of_omm(messages: Sequence[Message], name: str) -> Account:
    """What messages have beside what is read, and what they lack."""
    unknown = Counter(
        str(key)
        for message in messages
        for key, value in message.keywords.items()
        if key not in _KNOWN and value not in (None, "")
    )
    aside = [LeftAside("keyword", len(unknown), tuple(sorted(unknown)))] if unknown else []
    assumed = []
    for key in ("TIME_SYSTEM", "REF_FRAME", "MEAN_ELEMENT_THEORY", "CENTER_NAME"):
        count = sum(message.keywords.get(key) in (None, "") for message in messages)
        if count:
            sentence = f"{counted(count, 'message')} without {key}: it is {_WORDS[key][0][0]}."
            assumed.append(Assumed(key.lower(), sentence, numbers={"messages": count}))
    return Account(
        name, "list of orbit mean-elements messages", {}, None, tuple(aside), tuple(assumed)
    )


def _plain(written: object) -> str:
    """A value as it is written; empty for what is no text and no number."""
    return str(written)[:_LONGEST_NAME] if _is_plain(written) or isinstance(written, str) else ""


@dataclass(frozen=True)
class _TleText:
    """What a text of two-line elements holds; lines are counted from 1."""

    messages: list[Message]
    faulty: list[FaultySatellite]
    planes: tuple[int, int] | None
    longer: list[int]
    unsummed: list[int]
    unused: list[int]

    @property
    def left_aside(self) -> list[LeftAside]:
        found = []
        if self.longer:
            why = "what stands after column 69 belongs to no element set"
            found.append(LeftAside("trailing text", len(self.longer), _lines(self.longer), why))
        if self.unused:
            why = "they belong to no element set"
            found.append(LeftAside("line", len(self.unused), _lines(self.unused), why))
        return found

    @property
    def assumed(self) -> list[Assumed]:
        found = []
        if self.unsummed:
            many = counted(len(self.unsummed), "line")
            sentence = f"{many} without a checksum {_are(self.unsummed)} read unchecked."
            found.append(Assumed("checksums", sentence, numbers={"lines": len(self.unsummed)}))
        return found


def _lines(numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"line {number}" for number in numbers)


def _are(things: Sequence[object]) -> str:
    return "is" if len(things) == 1 else "are"


def _from_tle(text: str, name: str) -> _TleText:
    from skycell import _core

    read = json.loads(_core.read_tle(text))
    lines = text.split("\n")

    def fault(line: int, columns: list[int] | None, allowed: str, meaning: str) -> Fault:
        written = lines[line - 1].strip()
        if columns is None:
            return Fault(name, "", show_value(written), allowed, meaning, line=line)
        first, end = columns
        where = f"column {end}" if end == first + 1 else f"columns {first + 1} to {end}"
        got = f"{show_value(written[first:end])} in {where} of {show_value(written)}"
        return Fault(name, "", got, allowed, meaning, line=line)

    faulty = [
        FaultySatellite(own, number, f"line {line}", (fault(line, *what),))
        for line, *what, own, number in read["faulty"]
    ]
    return _TleText(
        [Message(f"line {line}", entry, line=line) for line, entry in read["sets"]],
        faulty,
        tuple(read["planes"]) if read["planes"] else None,
        read["longer"],
        read["unsummed"],
        read["unused"],
    )


def _checked(message: Message, name: str, faults: list[Fault]) -> dict[str, Any]:
    """An OMM with numbers instead of texts, everything there that SGP4 needs."""
    keywords = message.keywords
    omm: dict[str, Any] = {}
    if faults and not keywords:
        return omm  # no message at all

    def refuse(key: str, allowed: str, meaning: str) -> None:
        written = keywords.get(key)
        got = "nothing" if written in (None, "") else show_value(written)
        faults.append(Fault(name, f"{message.where} {key}", got, allowed, meaning))

    for key in ("OBJECT_NAME", "OBJECT_ID"):
        written = keywords.get(key)
        omm[key] = "" if written is None else str(written) if _is_plain(written) else written
        if not _is_name(omm[key]):
            refuse(key, f"a text of up to {_LONGEST_NAME} signs that can be printed", "a name")
    for key, (words, meaning) in _WORDS.items():
        word = keywords.get(key) or words[0]
        omm[key] = word
        if word not in words:
            refuse(key, " or ".join(f'"{own}"' for own in words), meaning)
    for key, (low, high, meaning) in {**_NUMBERS, **_OPTIONAL}.items():
        is_missing = key in _OPTIONAL and keywords.get(key) in (None, "")
        number = 0.0 if is_missing else _number(keywords.get(key))
        excluded = (key == "MEAN_MOTION" and number == 0) or (key == "ECCENTRICITY" and number == 1)
        if number is None or excluded or not low <= number <= high:
            refuse(key, f"a number from {low:g} to {high:g}", meaning)
        omm[key] = number
    for key, (least, most, meaning) in _WHOLE.items():
        number = 0.0 if keywords.get(key) in (None, "") else _number(keywords.get(key))
        if number is None or not (least <= number <= most and number == int(number)):
            refuse(key, f"a whole number from {least} to {most}", meaning)
        else:
            omm[key] = int(number)
    system = omm["TIME_SYSTEM"]
    epoch_ns = read_epoch(keywords.get("EPOCH"), system if system in TIME_SYSTEMS else "UTC")
    if epoch_ns is None:
        allowed = "a moment of {} from {} to {}, such as 2026-11-21T12:00:00.000000"
        allowed = allowed.format("UTC" if system == "UTC" else show_value(system), *EPOCH_YEARS)
        refuse("EPOCH", allowed, "the moment that the elements are for")
    else:
        omm["EPOCH"], omm["TIME_SYSTEM"] = show_epoch(epoch_ns), "UTC"
    return omm


def _is_plain(value: object) -> bool:
    """Whether a value of JSON may stand for the text that it is written as."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_NAME and value.isprintable()


def _number(written: object) -> float | None:
    """A number as JSON or a text has it; None for anything else."""
    if isinstance(written, str):
        return float(written) if _NUMBER.fullmatch(written) else None
    if not isinstance(written, int | float) or isinstance(written, bool):
        return None
    return float(written) if abs(written) < 1e300 else None


def _unix_s(epoch: str) -> float:
    whole, _, digits = epoch.partition(".")
    moment = datetime.fromisoformat(f"{whole}.{digits[:6]:0<6}")
    return moment.replace(tzinfo=UTC).timestamp()


def _named(entries: Iterable[tuple[int, Message, dict[str, Any]]]) -> list[ElementSet]:
    """Element sets under names that differ."""
    counts: dict[str, int] = {}
    known: set[str] = set()
    sets = []
    for place, message, omm in entries:
        own = plain = omm["OBJECT_NAME"] or str(omm["NORAD_CAT_ID"])
        while own in known:
            counts[plain] = counts.get(plain, 1) + 1
            own = f"{plain} ({counts[plain]})"
        known.add(own)
        sets.append(ElementSet(own, _unix_s(omm["EPOCH"]), omm, message.where, place))
    return sets
