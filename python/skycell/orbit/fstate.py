"""Routes as Hypatia writes them: a folder of `fstate_<ns>.txt`.

A line has a node, a destination, the next hop and the numbers of the interfaces at both ends of the
link to it. Satellites are numbered from 0, and ground stations after them. The first file has every
line, the others have those that differ from the file before. A next hop of -1 is none.

Source: Hypatia (github.com/snkas/hypatia), satgenpy: `dynamic_state/fstate_calculation.py` and
`generate_dynamic_state.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from skycell.input.account import Account, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.text import read_text

_NAME = re.compile(r"fstate_([0-9]{1,18})\.txt")
_PS_PER_NS = 1000
_MOST_FAULTS = 20
"""Lines of one file that are reported one by one."""
_LINE = "five whole numbers: node, destination, next hop or -1, and two interfaces"


@dataclass(frozen=True)
class ListedRoutes:
    """Routes of a table, one row each.

    Attributes:
        start_ps: the first epoch.
        step_ps: from one epoch to the next; 1 s where there is one epoch.
        epochs: how many.
        rows: epoch, node, label (number of the station) and next node, below 0 for none.
        account: what was read, and what was left aside.
        by: where they come from: `table` or `router`.
    """

    start_ps: int
    step_ps: int
    epochs: int
    rows: tuple[list[int], list[int], list[int], list[int]]
    account: Account
    by: str = "table"


def read_fstate(folder: Path, satellites: int, stations: int) -> ListedRoutes:
    """The routes of a folder.

    Args:
        folder: with files `fstate_<ns>.txt`.
        satellites: how many the constellation has.
        stations: how many places it has.

    Raises:
        ScenarioFaults: no such file, times that are not evenly spaced, or lines that are no routes.
        OSError: the folder or a file cannot be read.
    """
    found = {
        int(match.group(1)): file
        for file in sorted(folder.iterdir())
        if (match := _NAME.fullmatch(file.name))
    }
    times = sorted(found)
    step_ns = _step_ns(folder, times)
    rows: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    faults: list[Fault] = []
    for epoch, time in enumerate(times):
        faults += _read(found[time], epoch, (satellites, stations), rows)
    if faults:
        raise ScenarioFaults(faults)
    interfaces = LeftAside("column", 2, ("interface here", "interface there"))
    account = Account(
        str(folder),
        "routes of Hypatia's",
        {"files": len(times), "routes": len(rows[0])},
        (times[-1] - times[0]) / 1e9,
        (interfaces,),
    )
    start_ps, step_ps = times[0] * _PS_PER_NS, step_ns * _PS_PER_NS
    return ListedRoutes(start_ps, step_ps, len(times), rows, account)


def _step_ns(folder: Path, times: list[int]) -> int:
    """The time between two files; 1 s where there is one file."""
    meaning = "routes of Hypatia's"
    if not times:
        allowed = "one file or more that is called fstate_<ns>.txt"
        raise ScenarioFaults([Fault(str(folder), "", "none", allowed, meaning)])
    steps = {later - time for time, later in pairwise(times)}
    if len(steps) > 1:
        got = f"files {min(steps)} to {max(steps)} ns apart"
        allowed = "the same time from each file to the next"
        raise ScenarioFaults([Fault(str(folder), "", got, allowed, meaning)])
    return steps.pop() if steps else 10**9


def _read(
    file: Path,
    epoch: int,
    counts: tuple[int, int],
    rows: tuple[list[int], list[int], list[int], list[int]],
) -> list[Fault]:
    """Adds the routes of a file; returns its faults."""
    satellites, stations = counts
    nodes = satellites + stations
    faults: list[Fault] = []
    known: set[tuple[int, int]] = set()
    for line, text in enumerate(read_text(file).splitlines(), 1):
        try:
            node, target, following, _, _ = map(int, text.split(","))
        except ValueError:
            faults.append(Fault(str(file), "", show_value(text), _LINE, "a route", line=line))
            continue
        for name, number, low, high in (
            ("node", node, 0, nodes - 1),
            ("destination", target, satellites, nodes - 1),
            ("next hop", following, -1, nodes - 1),
        ):
            if not low <= number <= high:
                allowed = f"{low} to {high}, as there are {satellites} satellites"
                allowed += f" and {stations} ground stations"
                faults.append(Fault(str(file), name, str(number), allowed, "a route", line=line))
        if (node, target) in known:
            got = f"a second route from {node} to {target}"
            faults.append(Fault(str(file), "", got, "one", "a route", line=line))
        known.add((node, target))
        for column, number in zip(rows, (epoch, node, target - satellites, following), strict=True):
            column.append(number)
    return faults[:_MOST_FAULTS]
