"""Mean elements of satellites: TLE, and CCSDS OMM as CSV, JSON, XML and KVN."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.text import read_text
from skycell.orbit.omm_text import Message, read_messages

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
    "EPHEMERIS_TYPE": (0, 3, "0 to 3: for SGP4; 4: for another theory (SGP8, or SGP4-XP)"),
    "ELEMENT_SET_NO": (0, 999_999_999, "number of the element set"),
    "REV_AT_EPOCH": (0, 999_999_999, "revolutions at the epoch"),
}
#: Keywords with one of some words as their value, the usual one first, and their meaning.
_WORDS: dict[str, tuple[tuple[str, ...], str]] = {
    "MEAN_ELEMENT_THEORY": (("SGP4", "SGP", "SGP/SGP4"), "the theory that the elements belong to"),
    "REF_FRAME": (("TEME",), "axes of the elements"),
    "TIME_SYSTEM": (("UTC",), "time scale of the epoch"),
    "CLASSIFICATION_TYPE": (("U", "C", "S"), "unclassified, classified, secret"),
}
_LONGEST_NAME = 200
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
#: CCSDS 502.0-B-3, section 7.5.10: a date, or year and day of the year; also a blank for the T.
_EPOCH = re.compile(
    r"([0-9]{4}-(?:[0-9]{2}-[0-9]{2}|[0-9]{3}))[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]*)?[Zz]?"
)
_EPOCH_YEARS = (1957, 2100)


@dataclass(frozen=True)
class ElementSet:
    """Mean elements of one satellite.

    Attributes:
        name: the object's name, or its catalogue number, made different from the others'.
        epoch_unix_s: UTC since 1970.
        omm: the keywords of an OMM.
        where: line or entry of the file.
    """

    name: str
    epoch_unix_s: float
    omm: Mapping[str, Any]
    where: str = field(default="", compare=False)


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
    faults: list[Fault] = []
    messages = read_messages(text, name, faults)
    if messages is None:
        messages = _from_tle(text, name)
    checked = [_checked(message, name, faults) for message in messages]
    if not messages and not faults:
        allowed = "TLE, or OMM as CSV, JSON, XML or KVN"
        faults.append(Fault(name, "", "no element set", allowed))
    if faults:
        raise ScenarioFaults(faults)
    return _named(zip(messages, checked, strict=True))


def _from_tle(text: str, name: str) -> list[Message]:
    from skycell import _core

    read, errors = _core.read_tle(text)
    if read is None:
        lines = text.split("\n")
        raise ScenarioFaults(
            Fault(name, "", show_value(lines[line - 1].rstrip("\r")), message, line=line)
            for line, message in errors
        )
    return [Message(f"line {line}", entry) for line, entry in json.loads(read)]


def _checked(message: Message, name: str, faults: list[Fault]) -> dict[str, Any]:
    """An OMM with numbers instead of texts, everything there that SGP4 needs."""
    given = message.keywords
    omm: dict[str, Any] = {}

    def refuse(key: str, allowed: str, meaning: str) -> None:
        written = given.get(key)
        got = "nothing" if written in (None, "") else show_value(written)
        faults.append(Fault(name, f"{message.where} {key}", got, allowed, meaning))

    for key in ("OBJECT_NAME", "OBJECT_ID"):
        written = given.get(key)
        omm[key] = "" if written is None else str(written) if _is_plain(written) else written
        if not _is_name(omm[key]):
            refuse(key, f"a text of up to {_LONGEST_NAME} signs that can be printed", "a name")
    for key, (words, meaning) in _WORDS.items():
        word = given.get(key) or words[0]
        omm[key] = word
        if word not in words:
            refuse(key, " or ".join(f'"{own}"' for own in words), meaning)
    for key, (low, high, meaning) in {**_NUMBERS, **_OPTIONAL}.items():
        is_missing = key in _OPTIONAL and given.get(key) in (None, "")
        number = 0.0 if is_missing else _number(given.get(key))
        excluded = (key == "MEAN_MOTION" and number == 0) or (key == "ECCENTRICITY" and number == 1)
        if number is None or excluded or not low <= number <= high:
            refuse(key, f"a number from {low:g} to {high:g}", meaning)
        omm[key] = number
    for key, (least, most, meaning) in _WHOLE.items():
        number = 0.0 if given.get(key) in (None, "") else _number(given.get(key))
        if number is None or not (least <= number <= most and number == int(number)):
            refuse(key, f"a whole number from {least} to {most}", meaning)
        else:
            omm[key] = int(number)
    epoch = _epoch(given.get("EPOCH"))
    if epoch is None:
        allowed = "a moment of UTC from {} to {}, such as 2026-11-21T12:00:00.000000"
        refuse("EPOCH", allowed.format(*_EPOCH_YEARS), "the moment that the elements are for")
    omm["EPOCH"] = epoch
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


def _epoch(written: object) -> str | None:
    """An epoch in the form that SGP4's reader takes; None for what is none."""
    found = _EPOCH.fullmatch(written.strip()) if isinstance(written, str) else None
    if found is None:
        return None
    day, time, fraction = found.groups(default="")
    form = "%Y-%m-%d" if len(day) == len("2026-11-21") else "%Y-%j"
    try:
        moment = datetime.strptime(f"{day} {time}", f"{form} %H:%M:%S")
    except ValueError:
        return None
    if not _EPOCH_YEARS[0] <= moment.year <= _EPOCH_YEARS[1]:
        return None
    digits = fraction[1:10]  # nanoseconds
    return moment.isoformat() + (f".{digits}" if digits else "")


def _unix_s(epoch: str) -> float:
    whole, _, digits = epoch.partition(".")
    moment = datetime.fromisoformat(f"{whole}.{digits[:6]:0<6}")
    return moment.replace(tzinfo=UTC).timestamp()


def _named(entries: Iterable[tuple[Message, dict[str, Any]]]) -> list[ElementSet]:
    """Element sets under names that differ."""
    counts: dict[str, int] = {}
    known: set[str] = set()
    sets = []
    for message, omm in entries:
        own = plain = omm["OBJECT_NAME"] or str(omm["NORAD_CAT_ID"])
        while own in known:
            counts[plain] = counts.get(plain, 1) + 1
            own = f"{plain} ({counts[plain]})"
        known.add(own)
        sets.append(ElementSet(own, _unix_s(omm["EPOCH"]), omm, message.where))
    return sets
