"""Orbit mean-elements messages as text: JSON, XML, KVN and CSV, each read into keywords."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.text import csv_faults

#: Whole numbers of JSON with more digits are kept as text: no keyword has such a value.
_MOST_DIGITS = 300


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        where: line or entry of the file, for people.
        keywords: as written, in texts or in what JSON has.
        faults: what is wrong with its form.
        line: where it begins, where that is known; 0 otherwise.
    """

    where: str
    keywords: Mapping[str, Any]
    faults: list[Fault] = field(default_factory=list, compare=False)
    line: int = 0


def read_messages(text: str, name: str) -> list[Message] | None:
    """The messages of a text; None where it is no OMM in any form.

    Args:
        text: of a file.
        name: what faults call it.

    Raises:
        ScenarioFaults: the text as a whole cannot be read.
    """
    start = text.lstrip()
    if start.startswith(("[", "{")):
        return _from_json(text, name)
    if start.startswith("<"):
        return _from_xml(text, name)
    if first_keyword(text) == "CCSDS_OMM_VERS":
        return _from_kvn(text, name)
    if "MEAN_MOTION" in start.partition("\n")[0]:
        return _from_csv(text, name)
    return None


def first_keyword(text: str) -> str:
    """The first keyword of a message in KVN, which comments may stand before."""
    for line in text.splitlines():
        words = line.replace("=", " ").split()
        if words and words[0] != "COMMENT":
            return words[0]
    return ""


def _whole(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _from_json(text: str, name: str) -> list[Message]:
    try:
        read = json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as error:
        fault = Fault(name, "", error.msg, "JSON", line=error.lineno, column=error.colno)
        raise ScenarioFaults([fault]) from None
    except RecursionError:
        allowed = "a list of messages, each an object of keywords with their values"
        raise ScenarioFaults([Fault(name, "", "JSON of too many levels", allowed)]) from None
    found = []
    for place, entry in enumerate(read if isinstance(read, list) else [read]):
        if isinstance(entry, dict):
            found.append(Message(f"[{place}]", entry))
        else:
            allowed = "an object of keywords with their values"
            fault = Fault(name, f"[{place}]", show_value(entry), allowed, "a message")
            found.append(Message(f"[{place}]", {}, [fault]))
    return found


def _from_xml(text: str, name: str) -> list[Message]:
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        fault = Fault(name, "", str(error), "XML", line=line, column=column + 1)
        raise ScenarioFaults([fault]) from None
    except (ValueError, LookupError) as error:  # an encoding that is none, or not one of text
        raise ScenarioFaults([Fault(name, "", str(error), "XML in UTF-8")]) from None
    messages = [root] if _local(root.tag) == "omm" else [e for e in root if _local(e.tag) == "omm"]
    return [
        Message(
            f"omm[{place}]",
            {_local(e.tag): (e.text or "").strip() for e in message.iter() if len(e) == 0},
        )
        for place, message in enumerate(messages)
    ]


def _local(tag: str) -> str:
    """An XML tag without its namespace."""
    return tag.rpartition("}")[2]


def _from_kvn(text: str, name: str) -> list[Message]:
    """Messages of lines `KEYWORD = value [unit]`, each begun by its version."""
    found: list[Message] = []
    keywords: dict[str, Any] = {}
    for line, written in enumerate(text.splitlines(), start=1):
        key, equals, value = (part.strip() for part in written.partition("="))
        if not equals or key == "COMMENT":
            continue
        if key == "CCSDS_OMM_VERS" or not found:
            keywords = {}
            found.append(Message(f"message of line {line}", keywords))
        if key in keywords:
            allowed = "each keyword once in a message; a message begins with CCSDS_OMM_VERS"
            got = f"{show_value(key)} for a second time"
            found[-1].faults.append(Fault(name, found[-1].where, got, allowed, line=line))
        keywords[key] = value.partition("[")[0].strip()
    return found


def _from_csv(text: str, name: str) -> list[Message]:
    rows = csv.DictReader(StringIO(text, newline=""))
    with csv_faults(name):
        header = [column.strip() for column in rows.fieldnames or []]
        rows.fieldnames = header
        twice = [column for place, column in enumerate(header) if column in header[:place]]
        if twice:
            got = f"{show_value(twice[0])} for a second time"
            raise ScenarioFaults([Fault(name, "", got, "different columns", line=1)])
        found = []
        for row in rows:
            where = f"line {rows.line_num}"
            extra = row.pop(None, None)
            message = Message(where, row)
            if extra:
                got = f"{len(header) + len(extra)} values"
                allowed = f"up to {len(header)}, as in the header"
                message.faults.append(Fault(name, where, got, allowed, "a message"))
            found.append(message)
        return found
