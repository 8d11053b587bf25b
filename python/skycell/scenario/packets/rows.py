"""The rows of a file of packets, in whichever of its forms: a time and a size as they are written.

The forms are a table with a header (separated by tabs, semicolons, commas or blanks; also what
`tshark -T fields -E header=y` writes), the same without a header, an object of JSON on each line,
and the text of tcpdump. Which one a file has is seen from what it holds, not from its name.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skycell.input.faults import Fault, ScenarioFaults, show_value

MEANING = "packets that a source sends"

_TIME = re.compile(
    r"(?:t|time|timestamp|frame\.time_(?:relative|epoch))(?:_(?P<unit>ps|ns|us|ms|s|min|h))?"
)
_SIZE = re.compile(r"(?:size|packet_size|octets|bytes|length|len|ip\.len)(?:_(?:b|octets|bytes))?")
#: Columns of captures that say something else than they seem to.
_NOT_MEANT = {
    "frame.len": "ip.len: octets of the IP packet, without what the link of the capture adds",
    "frame.cap_len": "ip.len: octets of the IP packet, also of what was not captured",
    "udp.length": "ip.len: octets of the IP packet, with its own header",
    "frame.time_delta": "frame.time_relative or frame.time_epoch",
}
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
#: tcpdump(1), with -t options that leave a time of day, a date or seconds since 1970.
_TCPDUMP = re.compile(
    r"\s*(?P<time>(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+|\d+\.\d+) (?P<ip>IP6?) (?P<rest>.*)"
)
_UDP = re.compile(r".*\bUDP\b.*?\blength:? (?P<octets>\d{1,9})(?!\d)")
#: Octets before the payload of UDP: RFC 768, and RFC 791 or RFC 8200 without options.
_HEADERS = {"IP": 28, "IP6": 48}
_ALLOWED = (
    "a header with a time, such as time_s, time_ms or timestamp, and a size, such as octets or "
    "ip.len; or numbers alone, each line a time in seconds and octets"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is written, and where: its column's name, and its first letter from 1."""

    text: str
    name: str
    column: int | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A packet as it is written."""

    line: int
    time: Cell
    size: Cell


def rows_of(name: str, text: str) -> Iterator[Row | Fault]:
    """The packets of a file, or what is wrong with a line, one after the other.

    Args:
        name: of the file, for faults.
        text: its content.

    Raises:
        ScenarioFaults: it has none of the forms.
    """
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise ScenarioFaults([Fault(name, "", "no line", "a line for each packet", MEANING)])
    first = lines[0][1]
    if first.lstrip().startswith(("{", "[")):
        return _objects(name, lines)
    if any(_TCPDUMP.match(line) for _, line in lines[:20]):
        return _tcpdump(name, lines)
    return _table(name, lines)


def _table(name: str, lines: Sequence[tuple[int, str]]) -> Iterator[Row | Fault]:
    number, first = lines[0]
    sign = next((sign for sign in "\t;," if sign in first), None)
    header = [word for word, _ in _words(first, sign)]
    if len(header) == 2 and all(map(_NUMBER.fullmatch, header)):
        places, unit, names, rest = (0, 1), None, ("time", "octets"), lines
    else:
        places, unit = _columns(name, number, header)
        names, rest = (header[places[0]], header[places[1]]), lines[1:]
    for line, text in rest:
        words = _words(text, sign)
        if len(words) != len(header):
            got, allowed = f"{len(words)} values", f"{len(header)}, as in line {number}"
            yield Fault(name, "", got, allowed, MEANING, line=line)
            continue
        (time, time_at), (size, size_at) = words[places[0]], words[places[1]]
        yield Row(line, Cell(time, names[0], time_at, unit), Cell(size, names[1], size_at))


def _words(line: str, sign: str | None) -> list[tuple[str, int | None]]:
    """The values of a line and where each begins; nowhere in a line with quotes."""
    if sign is None:
        return [(word.group(), word.start() + 1) for word in re.finditer(r"\S+", line)]
    if '"' in line:
        return [(word.strip(), None) for word in next(csv.reader([line], delimiter=sign), [])]
    words: list[tuple[str, int | None]] = []
    at = 0
    for word in line.split(sign):
        words.append((word.strip(), at + len(word) - len(word.lstrip()) + 1))
        at += len(word) + 1
    return words


def _columns(name: str, line: int, header: Sequence[str]) -> tuple[tuple[int, int], str | None]:
    """Places of the time and the size, and the unit of the time if the header has one."""
    words = [re.sub(r"[\s(\[]+", "_", word.lower()).rstrip(")]") for word in header]
    times = [place for place, word in enumerate(words) if _TIME.fullmatch(word)]
    sizes = [place for place, word in enumerate(words) if _SIZE.fullmatch(word)]
    for place, word in enumerate(words):
        if word in _NOT_MEANT and not (times if "time" in word else sizes):
            allowed = _NOT_MEANT[word]
            raise ScenarioFaults([Fault(name, "", header[place], allowed, MEANING, line=line)])
    for found in (times, sizes):
        if len(found) > 1:
            got = " and ".join(header[place] for place in found)
            allowed = "one such column: remove the others"
            raise ScenarioFaults([Fault(name, "", got, allowed, MEANING, line=line)])
    if not times or not sizes:
        got = show_value(", ".join(header))
        raise ScenarioFaults([Fault(name, "", got, _ALLOWED, MEANING, line=line)])
    match = _TIME.fullmatch(words[times[0]])
    assert match is not None
    return (times[0], sizes[0]), match["unit"]


def _objects(name: str, lines: Sequence[tuple[int, str]]) -> Iterator[Row | Fault]:
    """An object of JSON on each line (JSONL), its keys named as columns are."""
    for line, text in lines:
        try:
            found = json.loads(text, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as error:
            column = getattr(error, "colno", None)
            allowed = 'an object of JSON on each line, such as {"time_s": 0.02, "octets": 200}'
            yield Fault(name, "", str(error), allowed, MEANING, line, column)
            continue
        if not isinstance(found, dict):
            allowed = 'an object of JSON on each line, such as {"time_s": 0.02, "octets": 200}'
            yield Fault(name, "", show_value(found), allowed, MEANING, line=line)
            continue
        try:
            (time, size), unit = _columns(name, line, list(found))
        except ScenarioFaults as faults:
            yield faults.faults[0]
            continue
        keys = list(found)

        def cell(at: int, unit: str | None, text: str = text) -> Cell:
            place = text.find(json.dumps(keys[at]))  # noqa: B023
            return Cell(str(found[keys[at]]), keys[at], place + 1 or None, unit)  # noqa: B023

        yield Row(line, cell(time, unit), cell(size, None))


def _tcpdump(name: str, lines: Sequence[tuple[int, str]]) -> Iterator[Row | Fault]:
    """Packets of UDP as tcpdump prints them, each on a line, with the octets behind its header."""
    for line, text in lines:
        match = _TCPDUMP.match(text)
        udp = None if match is None else _UDP.match(match["rest"])
        if match is None or udp is None:
            allowed = "a packet of UDP with its time and length: filter the capture with udp"
            got = show_value(text.strip())
            yield Fault(name, "", got, allowed, MEANING, line, 1)
            continue
        octets = int(udp["octets"]) + _HEADERS[match["ip"]]
        size_at = match.start("rest") + udp.start("octets") + 1
        time = Cell(match["time"], "time", match.start("time") + 1)
        yield Row(line, time, Cell(str(octets), "length", size_at))
