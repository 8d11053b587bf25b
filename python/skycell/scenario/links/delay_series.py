"""What drives a link over time, as a CSV file gives it: measured, or computed elsewhere."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from io import StringIO

from skycell.input.account import Account, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import (
    CELL_BITS,
    PS_PER_SECOND,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.links.framing import only_bps
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.logs import delimiter_of, refuse_header
from skycell.scenario.links.schedule import MOST_STEPS
from skycell.scenario.links.series_columns import CELLS, KINDS, NEEDED, Written, column_of
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

#: A file that is wrong throughout is told by its first faults.
_MOST_FAULTS = 20


def read_delays(name: str, text: str, rate: LinkRate, own_delay_ps: int | None = None) -> Steps:
    """The steps of a table (CSV) with the columns time, delay and perhaps more.

    The unit stands in the header (`time_s`, `delay_ms`, `rate_mbit_s`, `loss_percent`) or with each
    value (`12.5 ms`). An empty delay, a rate that is empty or 0, and an availability of 0 are steps
    without a path. Columns with other names are passed over.

    Args:
        name: of the file, for faults.
        text: its content.
        rate: of the link that it drives.
        own_delay_ps: of that link; the table has none then.

    Raises:
        ScenarioFaults: with the faults of the file, by line.
        csv.Error: it cannot be read as CSV.
    """
    return _Reader(name, rate, own_delay_ps).read(text)


def has_delay_column(text: str) -> bool:
    """Whether a table of steps has delays, or has nothing that it could have without them."""
    lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter_of(text))
    found = {column[0] for column in map(column_of, map(str.strip, next(lines, []))) if column}
    return "delay" in found or not found & {"rate", "loss", "availability"}


def account_of_table(shown: str, text: str) -> Account:
    """What was made of a table of steps that is known to be sound; `shown` is its name."""
    lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter_of(text))
    header = [column.strip() for column in next(lines, [])]
    found = [column_of(column) for column in header]
    place, unit = next((at, one[1]) for at, one in enumerate(found) if one and one[0] == "time")
    others = [column for column, one in zip(header, found, strict=True) if one is None]
    times = [values[place] for values in lines if values]
    read = [KINDS["time"].read(written.strip(), unit) for written in (times[0], times[-1])]
    ends = [float(value.amount) for value in read if value is not None]
    left = (LeftAside("column", len(others), tuple(others)),) if others else ()
    span_s = (ends[-1] - ends[0]) / PS_PER_SECOND
    return Account(shown, "table of steps", {"steps": len(times)}, span_s, left)


@dataclass
class _Row:
    """One step; without a path, rate and loss are those of the row before."""

    time_ps: int
    delay_ps: int | None
    rate: int
    loss_ppb: int


@dataclass
class _Reader:
    name: str
    rate: LinkRate
    own_delay_ps: int | None
    faults: list[Fault] = field(default_factory=list)
    columns: dict[str, tuple[int, str | None]] = field(default_factory=dict)

    def read(self, text: str) -> Steps:
        lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter_of(text))
        header = [column.strip() for column in next(lines, [])]
        self._find_columns(header)
        rows: list[_Row] = []
        paths: list[int] = []
        before: str | None = None
        for values in lines:
            if not values:
                continue
            if len(self.faults) >= _MOST_FAULTS:
                break
            if len(rows) == MOST_STEPS:
                got = f"more than {show_amount(MOST_STEPS)} rows"
                self._add("", got, f"up to {show_amount(MOST_STEPS)}", "", lines.line_num)
                break
            if len(values) != len(header):
                got, allowed = f"{len(values)} values", f"{len(header)}, as in the header"
                self._add("", got, allowed, "a row", lines.line_num)
                continue
            row = self._row(values, rows[-1] if rows else None, lines.line_num)
            if rows and row.time_ps <= rows[-1].time_ps and not self._has_no_time(lines.line_num):
                got = f"{show_time(row.time_ps)} after {show_time(rows[-1].time_ps)}"
                self._add("time", got, "ascending times", KINDS["time"].meaning, lines.line_num)
                continue
            own = values[self.columns["path"][0]].strip() if "path" in self.columns else ""
            paths.append(paths[-1] + (own != before) if paths else 0)
            before = own
            rows.append(row)
        if not rows and not self.faults:
            self._add("", "no row after the header", "at least one", "a link over time", 1)
        if self.faults:
            raise ScenarioFaults(self.faults)
        link_rate = self.rate.measure(self.rate.payload)
        return Steps(
            times_ps=tuple(row.time_ps for row in rows),
            delays_ps=tuple(row.delay_ps for row in rows),
            paths=tuple(paths),
            rates=tuple(row.rate for row in rows)
            if any(row.rate != link_rate for row in rows)
            else (),
            losses_ppb=tuple(row.loss_ppb for row in rows)
            if any(row.loss_ppb for row in rows)
            else (),
        )

    def _has_no_time(self, line: int) -> bool:
        return any(fault.line == line and fault.path == "time" for fault in self.faults)

    def _find_columns(self, header: list[str]) -> None:
        """Place and unit of each column that is read; raises where one is missing or twice."""
        for place, column in enumerate(header):
            found = column_of(column)
            if found is None:
                self._refuse_unit(column)
                continue
            name, unit = found
            if name in self.columns:
                self._add(name, f"{column} for a second time", "one column", "", 1)
            self.columns[name] = (place, unit)
        own = self.own_delay_ps
        if own is not None and "delay" in self.columns:
            got = f"a column of delays, and {show_time(own)} as the delay of the link"
            self._add("delay", got, "one of the two", KINDS["delay"].meaning, 1)
        needed = NEEDED if own is None else ("time",)
        missing = [name for name in needed if name not in self.columns]
        if missing and not self.faults:
            refuse_header(self.name, header, f"{' and '.join(missing)} missing")
        if self.faults:
            raise ScenarioFaults(self.faults)

    def _refuse_unit(self, column: str) -> None:
        """A column of a known name with a unit that is none is a slip; others are the user's."""
        name = column.partition("_")[0]
        kind = KINDS.get(name)
        if kind is not None:
            known = ", ".join(f"{name}_{word}" for word in kind.header_units)
            self._add(name, column, f"{known}, or {name}" if known else name, kind.meaning, 1)

    def _row(self, values: list[str], before: _Row | None, line: int) -> _Row:
        time = self._value("time", values, line)
        delay = self._value("delay", values, line, may_lack=True)
        rate = self._value("rate", values, line, may_lack=True)
        available = self._value("availability", values, line)
        if available is not None and available.amount not in (0, 1):
            self._refuse("availability", values, line)
        delay_ps = rounded(delay.amount) if delay else self.own_delay_ps
        has_path = (
            delay_ps is not None
            and ("rate" not in self.columns or (rate is not None and rate.amount > 0))
            and (available is None or available.amount > 0)
        )
        loss = self._value("loss", values, line, may_lack=not has_path)
        measured = before.rate if before else self.rate.measure(self.rate.payload)
        if rate is not None and has_path:
            measured = self._rate(rate, values, line)
        loss_ppb = before.loss_ppb if before else 0
        if loss is not None and has_path:
            loss_ppb = rounded(loss.amount * WHOLE_PPB)
        return _Row(
            rounded(time.amount) if time else 0,
            delay_ps if has_path else None,
            measured,
            loss_ppb,
        )

    def _rate(self, rate: Written, values: list[str], line: int) -> int:
        """The rate of a row; notes one beyond the link's."""
        own = self.rate.measure(self.rate.payload)
        framing = self.rate.framing
        least = "424 bit/s" if self.rate.carries_packets else "1 cell/s"
        if rate.unit == CELLS:
            payload = rate.amount * CELL_BITS
            if self.rate.carries_packets:
                self._refuse("rate", values, line, "bit/s: the link carries packets, not cells")
                return own
        else:
            payload = self.rate.payload_of(rate.amount)
            if framing is not None and only_bps(framing) is not None:
                allowed = f'cells/s: framing "{framing.kind}" exists at one bit rate'
                self._refuse("rate", values, line, f"{allowed} only")
                return own
        measured = self.rate.measure(payload) if payload >= CELL_BITS else None
        is_too_much = measured is not None and (
            measured > own if self.rate.carries_packets else measured < own
        )
        if measured is None or is_too_much:
            allowed = f"0, or from {least} to the rate of the link, {self.rate.text}"
            self._refuse("rate", values, line, allowed)
            return own
        return measured

    def _value(
        self, name: str, values: list[str], line: int, *, may_lack: bool = False
    ) -> Written | None:
        """A value of a row; None without such a column, for an empty one, and for a fault."""
        if name not in self.columns:
            return None
        place, unit = self.columns[name]
        written = values[place].strip()
        if not written and may_lack:
            return None
        value = KINDS[name].read(written, unit)
        if value is None:
            self._refuse(name, values, line)
        return value

    def _refuse(self, name: str, values: list[str], line: int, allowed: str = "") -> None:
        place, unit = self.columns[name]
        kind = KINDS[name]
        got = show_value(values[place].strip())
        self._add(name, got, allowed or kind.allowed(unit), kind.meaning, line)

    def _add(self, column: str, got: str, allowed: str, meaning: str, line: int) -> None:
        self.faults.append(Fault(self.name, column, got, allowed, meaning, line=line))
