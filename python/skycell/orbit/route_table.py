"""Routes as a table of the user's: CSV or Parquet, one row a route that holds until replaced."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from io import StringIO
from math import gcd
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from skycell.input.account import Account, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import show_amount, show_time
from skycell.input.spelling import hint
from skycell.input.text import csv_faults, read_text
from skycell.orbit.fstate import ListedRoutes
from skycell.orbit.places import Place

_TIMES = {"time": 10**12, "time_ps": 1}
"""Columns of the time, and the picoseconds of their unit."""
_ENDS = ("node", "destination", "next")
_NUMBER = re.compile("-?[0-9]{1,9}")
_LAST_PS = 2**63 - 1
_MOST_FAULTS = 20
"""Rows that are reported one by one."""
_MOST_EPOCHS = 1_000_000
"""Epochs that follow from times alone; more of them have to be asked for."""
_PARQUET = b"PAR1"


@dataclass(frozen=True)
class _Row:
    """A row as it is written, and where."""

    line: int
    values: Mapping[str, Any]


def routes_from_file(
    path: str | PathLike[str],
    satellites: Sequence[str],
    places: Sequence[Place],
    *,
    start_ps: int | None = None,
    duration_ps: int | None = None,
    step_ps: int | None = None,
) -> ListedRoutes:
    """The routes of a table.

    Its columns are `time` (seconds) or `time_ps`, `node`, `destination` and `next`. A node is a
    name, or a number: satellites from 0, and the places after them. A `next` that is empty or -1 is
    none. A row is in force from the first epoch on that is not before its time.

    Args:
        path: CSV, or Parquet with the same columns.
        satellites: names of the constellation's satellites.
        places: each is a destination.
        start_ps: the first epoch; the first time of the table if not given.
        duration_ps: from the first epoch to the last; to the last time of the table if not given.
        step_ps: from one epoch to the next; the greatest with which each time is an epoch if not
            given, or 1 s where there is one time.

    Raises:
        ScenarioFaults: with every row that is no route, or without a row.
        OSError: the file cannot be read.
    """
    name = fspath(path)
    header, rows = _read(Path(path), name)
    time_column = _time_column(header, name)
    nodes = _Nodes(satellites, places, name)
    faults: list[Fault] = []
    routes: list[tuple[int, int, int, int]] = []
    known: dict[tuple[int, int, int], int] = {}
    for row in rows:
        route = _route(row, time_column, nodes, faults)
        if route is None:
            if len(faults) >= _MOST_FAULTS:
                break
            continue
        if (before := known.setdefault(route[:3], row.line)) != row.line:
            got = "a second route of the same time, node and destination"
            faults.append(Fault(name, "", got, f"one, as in line {before}", line=row.line))
        routes.append(route)
    if not routes and not faults:
        faults.append(Fault(name, "", "no row", "one row or more", "a table of routes"))
    if faults:
        raise ScenarioFaults(faults[:_MOST_FAULTS])
    routes.sort(key=lambda route: route[0])
    unknown = tuple(column for column in header if column not in (time_column, *_ENDS))
    aside = [LeftAside("column", len(unknown), unknown)] if unknown else []
    times = sorted({route[0] for route in routes})
    start, step, epochs = _epochs(times, (start_ps, duration_ps, step_ps), name)
    listed, late = _in_epochs(routes, start, step, epochs)
    if late:
        aside.append(LeftAside("row", late, why="they are after the last moment"))
    account = Account(
        name,
        "table of routes",
        {"routes": len(routes) - late},
        (times[-1] - times[0]) / 1e12,
        tuple(aside),
    )
    return ListedRoutes(start, step, epochs, listed, account)


def _read(path: Path, name: str) -> tuple[list[str], Iterator[_Row]]:
    """Columns and rows; a line is that of the file, of Parquet that of its CSV."""
    with path.open("rb") as file:
        is_parquet = file.read(len(_PARQUET)) == _PARQUET
    if is_parquet:
        import polars as pl

        try:
            table = pl.read_parquet(path)
        except pl.exceptions.PolarsError as error:
            text = str(error).split("\n", maxsplit=1)[0]
            raise ScenarioFaults([Fault(name, "", text, "a whole file of Parquet")]) from None
        named = enumerate(table.iter_rows(named=True), 2)
        return table.columns, (_Row(line, values) for line, values in named)
    with csv_faults(name):
        text = read_text(path)
        reader = csv.DictReader(StringIO(text, newline=""))
        header = [column.strip() for column in reader.fieldnames or []]
        reader.fieldnames = header
        return header, iter([_Row(reader.line_num, values) for values in reader])


def _time_column(header: Sequence[str], name: str) -> str:
    times = [column for column in _TIMES if column in header]
    missing = [column for column in _ENDS if column not in header]
    if len(times) != 1 or missing:
        got = ", ".join(map(show_value, header)) or "nothing"
        allowed = f"the columns time (seconds) or time_ps, {', '.join(_ENDS)}"
        raise ScenarioFaults([Fault(name, "", got, allowed, "a table of routes", line=1)])
    return times[0]


class _Nodes:
    """Nodes by name or number."""

    def __init__(self, satellites: Sequence[str], places: Sequence[Place], file: str) -> None:
        self.file = file
        self.satellites = len(satellites)
        names = (*satellites, *(place.name for place in places))
        self.count = len(names)
        self._numbers = {name: number for number, name in enumerate(names)}

    def number(self, row: _Row, column: str, low: int, faults: list[Fault]) -> int | None:
        """The number of a node of a row, from `low` on; -1 for none where that is below 0."""
        value = row.values.get(column)
        written = "" if value is None else str(value).strip()
        if not written and low < 0:
            return -1
        known = self._numbers.get(written)
        if known is None and _NUMBER.fullmatch(written):
            known = int(written)
        if known is not None and low <= known < self.count:
            return known
        allowed = f"the name of a {'place' if low > 0 else 'node'}, or {low} to {self.count - 1}"
        allowed += f", as there are {self.satellites} satellites and "
        allowed += f"{self.count - self.satellites} places{hint(written, self._numbers)}"
        got = show_value(value) if written else "nothing"
        faults.append(Fault(self.file, column, got, allowed, "a route", line=row.line))
        return None


def _route(
    row: _Row, time_column: str, nodes: _Nodes, faults: list[Fault]
) -> tuple[int, int, int, int] | None:
    """Time, node, label and next node of a row; none where it is no route."""
    time_ps = _time_ps(row.values.get(time_column), time_column)
    if time_ps is None:
        value = row.values.get(time_column)
        got = "nothing" if value is None or value == "" else show_value(value)
        unit = "seconds, in whole picoseconds" if time_column == "time" else "whole picoseconds"
        allowed = f"{unit}, from 0 to {show_time(_LAST_PS)}"
        faults.append(Fault(nodes.file, time_column, got, allowed, "a route", line=row.line))
    node = nodes.number(row, "node", 0, faults)
    target = nodes.number(row, "destination", nodes.satellites, faults)
    following = nodes.number(row, "next", -1, faults)
    if time_ps is None or node is None or target is None or following is None:
        return None
    return time_ps, node, target - nodes.satellites, following


def _time_ps(value: Any, column: str) -> int | None:
    """A time in picoseconds; none where it is no time."""
    try:
        time = Decimal(str(value).strip()) * _TIMES[column]
    except InvalidOperation:
        return None
    if not time.is_finite() or not 0 <= time <= _LAST_PS or time != int(time):
        return None
    return int(time)


def _epochs(
    times: Sequence[int], asked: tuple[int | None, int | None, int | None], name: str
) -> tuple[int, int, int]:
    """The first epoch, the step and the number of epochs."""
    start_ps, duration_ps, step_ps = asked
    start = times[0] if start_ps is None else start_ps
    last = max(times[-1], start) if duration_ps is None else start + duration_ps
    step = step_ps
    if step is None:
        step = gcd(*(time - start for time in times if start < time <= last)) or 10**12
        if (last - start) // step >= _MOST_EPOCHS:
            got = f"times that are all moments only in steps of {show_time(step)}"
            allowed = (
                f"times with {show_amount(_MOST_EPOCHS)} steps or fewer, or a step of your own"
            )
            raise ScenarioFaults([Fault(name, "", got, allowed, "a table of routes")])
    return start, step, (last - start) // step + 1


def _in_epochs(
    routes: Sequence[tuple[int, int, int, int]], start: int, step: int, epochs: int
) -> tuple[tuple[list[int], list[int], list[int], list[int]], int]:
    """Routes in the order of time by epoch, and how many are after the last.

    Of those of one node and destination that begin with one epoch the latest counts.
    """
    found: dict[tuple[int, int, int], int] = {}
    late = 0
    for time_ps, node, label, following in routes:
        epoch = max(-(-(time_ps - start) // step), 0)
        if epoch < epochs:
            found[epoch, node, label] = following
        else:
            late += 1
    columns: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    for (epoch, node, label), following in found.items():
        for column, number in zip(columns, (epoch, node, label, following), strict=True):
            column.append(number)
    return columns, late
