"""Es/N0 of a link over time from a CSV file: a beacon's measurement, or a synthesised series."""

from __future__ import annotations

import csv
from bisect import bisect_right
from io import StringIO
from pathlib import Path

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import rounded, show_amount, show_time
from skycell.input.text import csv_faults, read_text
from skycell.scenario.links.adaptive import AdaptiveCoding
from skycell.scenario.links.schedule import MOST_STEPS
from skycell.scenario.links.series_columns import KINDS, column_of

_MEANINGS = {
    "es_n0_db": "energy of a symbol over the noise's density",
    "attenuation_db": "attenuation: Es/N0 of clear sky less Es/N0",
}
_MOST_DB = 100.0
_DIGITS = 4
_MOST_FAULTS = 20


def read_es_n0(model: Path, coding: AdaptiveCoding, step_ps: int, count: int) -> list[float]:
    """Es/N0 at so many samples, dB: that of the last row at or before each.

    Args:
        model: file of the model, from whose folder the name of the series leads.
        coding: with a series.
        step_ps: from one sample to the next; the first is at 0.
        count: of samples, the last beyond the run.

    Raises:
        ScenarioFaults: of a series that cannot be read, of its lines, of one that begins too late
            or ends too early, and of an `es_n0` that it needs or cannot have.
    """
    assert coding.series is not None
    path = model.parent / coding.series
    try:
        text = read_text(path)
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        fault = Fault(str(model), "adaptive_coding.series", f'"{coding.series}"', allowed)
        raise ScenarioFaults([fault]) from None
    with csv_faults(str(path)):
        column, times, values = _Reader(str(path)).read(text)
    if (column == "attenuation_db") != (coding.es_n0 is not None):
        got, allowed = "nothing", f'a ratio, such as "14 dB", of clear sky, beside {column}'
        if coding.es_n0 is not None:
            got = f"{coding.es_n0:g} dB, beside {column} of {coding.series}"
            allowed = "nothing: the series has Es/N0 itself"
        raise ScenarioFaults([Fault(str(model), "adaptive_coding.es_n0", got, allowed)])
    _check_span(str(path), times, (count - 2) * step_ps)
    clear_db = coding.es_n0
    ratios = [value if clear_db is None else clear_db - value for value in values]
    at = (bisect_right(times, step * step_ps) - 1 for step in range(count))
    return [round(ratios[row], _DIGITS) for row in at]


def _check_span(name: str, times: list[int], last_ps: int) -> None:
    """Refuses a series that begins after the run's first sample, or ends before its last."""
    meaning = KINDS["time"].meaning
    faults = []
    if times[0] > 0:
        got = f"a first row at {show_time(times[0])}"
        faults.append(Fault(name, "time", got, "a first row at 0 s", meaning))
    if times[-1] < last_ps:
        got = f"a last row at {show_time(times[-1])}"
        allowed = f"a row at {show_time(last_ps)} or later, the last sample of the run"
        faults.append(Fault(name, "time", got, allowed, meaning))
    if faults:
        raise ScenarioFaults(faults)


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.faults: list[Fault] = []

    def read(self, text: str) -> tuple[str, list[int], list[float]]:
        """The column that holds ratios, times in ps, and its values in dB."""
        lines = csv.reader(StringIO(text, newline=""))
        header = [column.strip() for column in next(lines, [])]
        at_time, unit, column = self._columns(header)
        at_value = header.index(column)
        times: list[int] = []
        values: list[float] = []
        for row in lines:
            if not row:
                continue
            if len(self.faults) >= _MOST_FAULTS:
                break
            if len(times) == MOST_STEPS:
                most = show_amount(MOST_STEPS)
                self._add("", f"more than {most} rows", f"up to {most}", "", lines.line_num)
                break
            if len(row) != len(header):
                got, allowed = f"{len(row)} values", f"{len(header)}, as in the header"
                self._add("", got, allowed, "a row", lines.line_num)
                continue
            time = self._time(row[at_time], unit, lines.line_num)
            value = self._value(column, row[at_value], lines.line_num)
            if times and time is not None and time <= times[-1]:
                got = f"{show_time(time)} after {show_time(times[-1])}"
                self._add("time", got, "ascending times", KINDS["time"].meaning, lines.line_num)
            elif time is not None and value is not None:
                times.append(time)
                values.append(value)
        if not times and not self.faults:
            self._add("", "no row after the header", "at least one", "Es/N0 over time", 1)
        if self.faults:
            raise ScenarioFaults(self.faults)
        return column, times, values

    def _columns(self, header: list[str]) -> tuple[int, str | None, str]:
        """Index and unit of the column of times, and the name of that of ratios."""
        found = [column_of(column) for column in header]
        times = [i for i, one in enumerate(found) if one is not None and one[0] == "time"]
        ratios = [column for column in header if column in _MEANINGS]
        if len(times) != 1 or len(ratios) != 1:
            got = ", ".join(header) or "nothing"
            units = KINDS["time"].units_text
            allowed = (
                f"a header with time and its unit ({units}), such as time_s, and one of es_n0_db "
                "and attenuation_db"
            )
            raise ScenarioFaults([Fault(self.name, "", got, allowed, "", line=1)])
        unit = found[times[0]]
        return times[0], unit[1] if unit else None, ratios[0]

    def _time(self, written: str, unit: str | None, line: int) -> int | None:
        kind = KINDS["time"]
        value = kind.read(written.strip(), unit)
        if value is None:
            self._add("time", show_value(written.strip()), kind.allowed(unit), kind.meaning, line)
        return None if value is None else rounded(value.amount)

    def _value(self, column: str, written: str, line: int) -> float | None:
        try:
            value = float(written)
        except ValueError:
            value = float("nan")
        if abs(value) <= _MOST_DB:
            return value
        allowed = f"a number from -{_MOST_DB:g} to {_MOST_DB:g}, in dB"
        self._add(column, show_value(written.strip()), allowed, _MEANINGS[column], line)
        return None

    def _add(self, column: str, got: str, allowed: str, meaning: str, line: int) -> None:
        self.faults.append(Fault(self.name, column, got, allowed, meaning, line=line))
