"""Mean elements of satellites: TLE, and CCSDS OMM as CSV, JSON, XML and KVN."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from os import PathLike, fspath
from typing import Any

from skycell.scenario.faults import Fault, ScenarioFaults, show_value
from skycell.scenario.text import csv_faults, read_text

#: Keywords of an OMM (CCSDS 502.0-B-3, tables 4-1 to 4-3) that SGP4 needs: range and unit.
_NUMBERS: dict[str, tuple[float, float, str]] = {
    "MEAN_MOTION": (0.0, 20.0, "revolutions per day"),
    "ECCENTRICITY": (0.0, 1.0, "eccentricity of the orbit, below 1"),
    "INCLINATION": (0.0, 180.0, "degrees"),
    "RA_OF_ASC_NODE": (-360.0, 360.0, "degrees"),
    "ARG_OF_PERICENTER": (-360.0, 360.0, "degrees"),
    "MEAN_ANOMALY": (-360.0, 360.0, "degrees"),
    "BSTAR": (-10.0, 10.0, "drag term, per earth radius"),
}
#: Keywords that may be missing, with the value they then have.
_OPTIONAL: dict[str, float | int] = {
    "MEAN_MOTION_DOT": 0.0,
    "MEAN_MOTION_DDOT": 0.0,
    "NORAD_CAT_ID": 0,
    "EPHEMERIS_TYPE": 0,
    "ELEMENT_SET_NO": 0,
    "REV_AT_EPOCH": 0,
}
_WHOLE = ("NORAD_CAT_ID", "EPHEMERIS_TYPE", "ELEMENT_SET_NO", "REV_AT_EPOCH")


@dataclass(frozen=True)
class ElementSet:
    """Mean elements of one satellite.

    Attributes:
        name: the object's name, or its catalogue number, made different from the others'.
        epoch_unix_s: UTC since 1970.
        omm: the keywords of an OMM.
    """

    name: str
    epoch_unix_s: float
    omm: Mapping[str, Any]


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
    start = text.lstrip()
    if start.startswith(("[", "{")):
        messages = _from_json(text, name)
    elif start.startswith("<"):
        messages = _from_xml(text, name)
    elif start.startswith("CCSDS_OMM_VERS"):
        messages = list(_from_kvn(text))
    elif "MEAN_MOTION" in start.partition("\n")[0]:
        rows = csv.DictReader(StringIO(text, newline=""))
        with csv_faults(name):
            messages = [(f"line {place}", row) for place, row in enumerate(rows, start=2)]
    else:
        return _named([(entry["OBJECT_NAME"], entry) for entry in _from_tle(text, name)])
    faults: list[Fault] = []
    checked = [_checked(message, where, name, faults) for where, message in messages]
    if not messages:
        faults.append(Fault(name, "", "no element set", "at least one"))
    if faults:
        raise ScenarioFaults(faults)
    return _named([(entry["OBJECT_NAME"], entry) for entry in checked])


def _from_tle(text: str, name: str) -> list[dict[str, Any]]:
    from skycell import _core

    read, errors = _core.read_tle(text)
    lines = text.splitlines()
    if read is None:
        raise ScenarioFaults(
            Fault(name, "", show_value(lines[line - 1]) if lines else "nothing", message, line=line)
            for line, message in errors
        )
    entries: list[dict[str, Any]] = json.loads(read)
    if not entries:
        allowed = "TLE, or OMM as CSV, JSON, XML or KVN"
        raise ScenarioFaults([Fault(name, "", "no element set", allowed)])
    return entries


def _from_json(text: str, name: str) -> list[tuple[str, dict[str, Any]]]:
    try:
        read = json.loads(text)
    except json.JSONDecodeError as error:
        fault = Fault(name, "", error.msg, "JSON", line=error.lineno, column=error.colno)
        raise ScenarioFaults([fault]) from None
    listed = read if isinstance(read, list) else [read]
    return [
        (f"[{place}]", entry if isinstance(entry, dict) else {})
        for place, entry in enumerate(listed)
    ]


def _from_xml(text: str, name: str) -> list[tuple[str, dict[str, Any]]]:
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        fault = Fault(name, "", str(error), "XML", line=line, column=column + 1)
        raise ScenarioFaults([fault]) from None
    messages = [root] if _local(root.tag) == "omm" else [e for e in root if _local(e.tag) == "omm"]
    return [
        (
            f"omm[{place}]",
            {_local(e.tag): (e.text or "").strip() for e in message.iter() if len(e) == 0},
        )
        for place, message in enumerate(messages)
    ]


def _local(tag: str) -> str:
    """An XML tag without its namespace."""
    return tag.rpartition("}")[2]


def _from_kvn(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Messages of lines `KEYWORD = value [unit]`, each begun by its version."""
    message: dict[str, Any] = {}
    began = 1
    for line, written in enumerate(text.splitlines(), start=1):
        key, equals, value = written.partition("=")
        if not equals or key.strip() == "COMMENT":
            continue
        if key.strip() == "CCSDS_OMM_VERS":
            if message:
                yield f"message of line {began}", message
            message, began = {}, line
        message[key.strip()] = value.partition("[")[0].strip()
    if message:
        yield f"message of line {began}", message


def _checked(
    message: Mapping[str, Any], where: str, name: str, faults: list[Fault]
) -> dict[str, Any]:
    """An OMM with numbers instead of texts, everything there that SGP4 needs."""
    omm: dict[str, Any] = {
        "OBJECT_NAME": str(message.get("OBJECT_NAME") or ""),
        "OBJECT_ID": str(message.get("OBJECT_ID") or ""),
        "CLASSIFICATION_TYPE": str(message.get("CLASSIFICATION_TYPE") or "U"),
    }
    theory = message.get("MEAN_ELEMENT_THEORY") or "SGP4"
    if theory not in ("SGP4", "SGP", "SGP/SGP4"):
        faults.append(_fault(name, where, "MEAN_ELEMENT_THEORY", theory, '"SGP4"'))
    frame = message.get("REF_FRAME") or "TEME"
    if frame != "TEME":
        faults.append(_fault(name, where, "REF_FRAME", frame, '"TEME"'))
    for key, (low, high, meaning) in _NUMBERS.items():
        number = _number(message.get(key))
        outside = number is None or not low <= number <= high
        if (
            outside
            or (key == "MEAN_MOTION" and number == 0)
            or (key == "ECCENTRICITY" and number == 1)
        ):
            allowed = f"a number from {low:g} to {high:g}"
            faults.append(_fault(name, where, key, message.get(key), allowed, meaning))
        omm[key] = number
    for key, usual in _OPTIONAL.items():
        number = usual if message.get(key) in (None, "") else _number(message.get(key))
        if number is None or (key in _WHOLE and number != int(number)):
            kind = "a whole number" if key in _WHOLE else "a number"
            faults.append(_fault(name, where, key, message.get(key), kind))
        else:
            omm[key] = int(number) if key in _WHOLE else number
    omm["EPOCH"] = str(message.get("EPOCH") or "").removesuffix("Z")
    if _epoch(omm["EPOCH"]) is None:
        allowed = "a moment of UTC, such as 2026-11-21T12:00:00.000000"
        faults.append(_fault(name, where, "EPOCH", message.get("EPOCH"), allowed))
    return omm


def _fault(name: str, where: str, key: str, got: object, allowed: str, meaning: str = "") -> Fault:
    shown = "nothing" if got in (None, "") else show_value(str(got))
    return Fault(name, f"{where} {key}", shown, allowed, meaning)


def _number(written: object) -> float | None:
    try:
        return None if isinstance(written, bool) else float(written)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _epoch(text: str) -> float | None:
    from datetime import UTC

    try:
        return datetime.fromisoformat(text[:26]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _named(entries: list[tuple[str | None, dict[str, Any]]]) -> list[ElementSet]:
    """Element sets under names that differ."""
    seen: dict[str, int] = {}
    sets = []
    for name, omm in entries:
        own = name or str(omm["NORAD_CAT_ID"])
        seen[own] = seen.get(own, 0) + 1
        own = own if seen[own] == 1 else f"{own} ({seen[own]})"
        sets.append(ElementSet(own, _epoch(str(omm["EPOCH"])) or 0.0, omm))
    return sets
