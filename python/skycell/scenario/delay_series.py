"""Delays over time as a CSV file gives them: measured, or computed elsewhere."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO
from os import PathLike, fspath
from pathlib import Path

from skycell.scenario.faults import Fault, ScenarioFaults
from skycell.scenario.motion import LONGEST_PS, MOST_STEPS
from skycell.scenario.quantities import PS_PER_SECOND, show_amount, show_time

_PS_PER_UNIT = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": PS_PER_SECOND,
    "min": 60 * PS_PER_SECOND,
    "h": 3600 * PS_PER_SECOND,
}
_UNITS = ", ".join(_PS_PER_UNIT)
_HEADER = re.compile(rf"(time|delay)(?:_({'|'.join(_PS_PER_UNIT)}))?")
_NUMBER = re.compile(r"([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)\s*([a-z]*)")
_LATEST_PS = 2**63
_MEANINGS = {
    "time": "when the delay begins to hold",
    "delay": "one way; nothing where there is no path",
}
_UNMOVED = re.compile(r"(rate|loss)(_.*)?")
#: A file that is wrong throughout is told by its first faults.
_MOST_FAULTS = 20


@dataclass(frozen=True)
class Steps:
    """A delay in steps: each holds from its time to the next one's.

    Attributes:
        times_ps: when each step begins, ascending.
        delays_ps: one way; None where there is no path.
        paths: steps that follow each other with equal numbers are one path.
    """

    times_ps: tuple[int, ...]
    delays_ps: tuple[int | None, ...]
    paths: tuple[int, ...]


def read_delays(path: str | PathLike[str]) -> Steps:
    """The steps of a CSV file with the columns time, delay and perhaps path.

    The unit stands in the header (`time_s`, `delay_ms`) or with each value (`12.5 ms`). An empty
    delay is a step without a path. Columns with other names are passed over.

    Raises:
        ScenarioFaults: with the faults of the file, by line.
        OSError: the file cannot be read.
    """
    name = fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"the octet {error.object[error.start]:#04x}"
        raise ScenarioFaults([Fault(name, "", got, "UTF-8 text")]) from None
    return _Reader(name).read(text)


@dataclass
class _Reader:
    name: str
    faults: list[Fault] = field(default_factory=list)

    def read(self, text: str) -> Steps:
        rows = csv.reader(StringIO(text, newline=""))
        header = [column.strip() for column in next(rows, [])]
        columns = self._columns(header)
        times: list[int] = []
        delays: list[int | None] = []
        paths: list[int] = []
        before: str | None = None
        for row in rows:
            if not row:
                continue
            if len(self.faults) >= _MOST_FAULTS:
                break
            if len(times) == MOST_STEPS:
                got = f"more than {show_amount(MOST_STEPS)} rows"
                self._add("", got, f"up to {show_amount(MOST_STEPS)}", "", rows.line_num)
                break
            if len(row) != len(header):
                got, allowed = f"{len(row)} values", f"{len(header)}, as the header has"
                self._add("", got, allowed, "a row", rows.line_num)
                continue
            time = self._value("time", row, columns, rows.line_num)
            delay = self._value("delay", row, columns, rows.line_num)
            if time is not None and times and time <= times[-1]:
                got = f"{show_time(time)} after {show_time(times[-1])}"
                self._add("time", got, "times that ascend", _MEANINGS["time"], rows.line_num)
                continue
            own = row[columns["path"][0]].strip() if "path" in columns else ""
            paths.append(paths[-1] + (own != before) if paths else 0)
            before = own
            times.append(time or 0)
            delays.append(delay)
        if not times and not self.faults:
            self._add("", "no row below the header", "at least one", "a delay over time", 1)
        if self.faults:
            raise ScenarioFaults(self.faults)
        return Steps(tuple(times), tuple(delays), tuple(paths))

    def _columns(self, header: list[str]) -> dict[str, tuple[int, str | None]]:
        """Place and unit of each column that is read; raises where there is none."""
        found: dict[str, tuple[int, str | None]] = {}
        for place, column in enumerate(header):
            match = _HEADER.fullmatch(column)
            kind, unit = (match.group(1), match.group(2)) if match else (column, None)
            if match or column == "path":
                if kind in found:
                    self._add(kind, f"{column} a second time", "one column", "", 1)
                found[kind] = (place, unit)
            elif _UNMOVED.fullmatch(column):
                allowed = "no such column: rate and losses of a link stay as the scenario has them"
                self._add(column, column, allowed, "", 1)
        missing = [kind for kind in _MEANINGS if kind not in found]
        if missing:
            got = ", ".join(header) or "nothing"
            allowed = (
                f"a header with time and delay, each with its unit ({_UNITS}), such as time_s and "
                f"delay_ms; {' and '.join(missing)} missing"
            )
            self._add("", got, allowed, "", 1)
        if self.faults:
            raise ScenarioFaults(self.faults)
        return found

    def _value(
        self, kind: str, row: list[str], columns: dict[str, tuple[int, str | None]], line: int
    ) -> int | None:
        """A time in whole picoseconds, rounded half up; None for no delay, and for a fault."""
        place, unit = columns[kind]
        written = row[place].strip()
        if kind == "delay" and not written:
            return None
        match = _NUMBER.fullmatch(written)
        own = (match.group(2) or unit) if match else None
        is_known = match is not None and own in _PS_PER_UNIT and unit in (None, own)
        high = LONGEST_PS if kind == "delay" else _LATEST_PS
        if match is not None and own is not None and is_known:
            amount = int(Fraction(match.group(1)) * _PS_PER_UNIT[own] + Fraction(1, 2))
            if Fraction(match.group(1)) >= 0 and amount <= high:
                return amount
        of = f"in {unit}, as the header has" if unit else f'with its unit ({_UNITS}), as "12.5 ms"'
        most = f", up to {show_time(high)}" if kind == "delay" else ""
        self._add(kind, f'"{written[:40]}"', f"a number from 0{most}, {of}", _MEANINGS[kind], line)
        return None

    def _add(self, column: str, got: str, allowed: str, meaning: str, line: int) -> None:
        self.faults.append(Fault(self.name, column, got, allowed, meaning, line=line))
