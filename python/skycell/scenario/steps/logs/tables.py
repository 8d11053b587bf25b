"""Tables of samples: CSV with time stamps and a round trip or a throughput."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from io import StringIO
from typing import Any

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.scenario.steps.logs.log import MEANING, MOST_FAULTS, Log, Sample, in_order, refused

_TIME_COLUMN = re.compile(
    r"(?:time_?stamp|date_?time|date|time)(?:_(?:(?P<unit>s|ms|us|ns)|unix|utc|iso))?"
)
_ROUND_TRIP_COLUMN = re.compile(r"(?:rtt|ping)(?:_(?P<unit>s|ms|us|ns))?")
_RATE_COLUMN = re.compile(
    r"(?:rate|throughput|goodput|bandwidth|capacity|down(?:load|link)?|speed)_"
    r"(?P<unit>[kmg]?bps|[kmg]?bit_?s|bits_per_second)"
)
_RATE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_TIME_UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3}
_LOST = {"", "-1", "nan", "none", "null", "timeout", "lost", "*", "-"}
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?")
_OF_STEPS = re.compile(r"(?:delay|availability)(?:_.*)?")


def moment_ps(written: str) -> int:
    """A time stamp: since 1970 in s, ms, us or ns, told apart by its size, or ISO 8601.

    >>> moment_ps("1705744800616897349") - moment_ps("1705744800.6") == 16_897_349_000
    True

    Raises:
        ValueError: it is neither.
    """
    if _NUMBER.fullmatch(written):
        number = Fraction(written)
        size = abs(number)
        unit = next(
            unit
            for least, unit in ((10**17, "ns"), (10**14, "us"), (10**11, "ms"), (0, "s"))
            if size >= least
        )
        return round(number * _TIME_UNITS[unit])
    stamp = datetime.fromisoformat(written)
    if stamp.tzinfo is None:
        stamp = stamp.replace(tzinfo=UTC)
    since = stamp - datetime(1970, 1, 1, tzinfo=UTC)
    return ((since.days * 86_400 + since.seconds) * 10**6 + since.microseconds) * 10**6


def _at_ps(written: str, unit: Fraction | None) -> int:
    if unit is None or not _NUMBER.fullmatch(written):
        return moment_ps(written)
    return round(Fraction(written) * unit)


@dataclass(frozen=True)
class _Column:
    place: int
    name: str
    unit: Fraction | None


def read_table(name: str, text: str) -> Log | None:
    """A table of samples, if its header says that it is one; none for a table of steps."""
    lines = csv.reader(StringIO(text, newline=""))
    header = [column.strip() for column in next(lines, [])]
    words = [re.sub(r"[\s(]+", "_", column.lower()).rstrip(")") for column in header]
    found: dict[str, list[_Column]] = {"time": [], "rtt": [], "rate": []}
    for place, word in enumerate(words):
        if match := _TIME_COLUMN.fullmatch(word):
            unit = Fraction(_TIME_UNITS[match["unit"]]) if match["unit"] else None
            found["time"].append(_Column(place, header[place], unit))
        elif match := _ROUND_TRIP_COLUMN.fullmatch(word):
            unit = Fraction(_TIME_UNITS[match["unit"] or "ms"])
            found["rtt"].append(_Column(place, header[place], unit))
        elif match := _RATE_COLUMN.fullmatch(word):
            scale = match["unit"][0] if match["unit"][0] in "kmg" else ""
            found["rate"].append(_Column(place, header[place], Fraction(_RATE_UNITS[scale])))
    if any(_OF_STEPS.fullmatch(word) for word in words):
        return None
    if not found["time"] or not (found["rtt"] or found["rate"]):
        return None
    for columns in found.values():
        if len(columns) > 1:
            got = " and ".join(column.name for column in columns)
            raise refused(name, "", got, "one such column: take the others out", 1)
    return _rows(name, lines, header, {key: cols[0] for key, cols in found.items() if cols})


def _rows(name: str, lines: Any, header: list[str], columns: dict[str, _Column]) -> Log:
    samples: list[Sample] = []
    faults: list[Fault] = []

    def refuse(column: str, got: str, allowed: str) -> None:
        faults.append(Fault(name, column, got, allowed, MEANING, line=lines.line_num))

    for values in lines:
        if not values or len(faults) >= MOST_FAULTS:
            continue
        if len(values) != len(header):
            refuse("", f"{len(values)} values", f"{len(header)}, as in the header")
            continue
        time = columns["time"]
        try:
            at_ps = _at_ps(values[time.place].strip(), time.unit)
        except ValueError:
            allowed = "seconds since any moment, a time since 1970 in s, ms, us or ns, or ISO 8601"
            refuse(time.name, show_value(values[time.place].strip()), allowed)
            continue
        read: dict[str, Fraction | None] = {}
        for key in ("rtt", "rate"):
            column = columns.get(key)
            if column is None:
                continue
            written = values[column.place].strip()
            if written.lower() in _LOST:
                read[key] = None
            elif _NUMBER.fullmatch(written):
                assert column.unit is not None
                value = Fraction(written) * column.unit
                # LENS writes 0 and -1 where a packet was lost, in whichever column it was.
                read[key] = value if value > 0 or key == "rate" else None
                if key == "rate" and value < 0:
                    refuse(column.name, show_value(written), "a rate from 0")
            else:
                refuse(column.name, show_value(written), "a number, or nothing for a lost packet")
        rtt = read.get("rtt")
        rate = read.get("rate")
        if "rate" in columns and rate is None:
            rate = Fraction(0)
        samples.append(
            Sample(
                at_ps,
                None if rtt is None else round(rtt),
                rate,
                is_lost="rtt" in columns and rtt is None,
            )
        )
    if not faults and not samples:
        faults.append(Fault(name, "", "no row after the header", "at least one", MEANING, line=1))
    if faults:
        raise ScenarioFaults(faults)
    words = "round trips" if "rtt" in columns else "rates"
    notes: tuple[str, ...] = ()
    if "rtt" in columns and columns["rtt"].name.lower() in ("rtt", "ping"):
        notes = (f"{columns['rtt'].name} has no unit: taken as milliseconds.",)
    return in_order(
        Log(f"table of {words}", tuple(samples), 0, has_round_trips="rtt" in columns, notes=notes)
    )
