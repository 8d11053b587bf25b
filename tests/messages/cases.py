"""Faulty files beside the exact text of what is said about them, several in a text of one table.

A case is its name behind `===`, the faulty file, and behind `--- told` its faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from skycell.scenario import ScenarioFaults

_CASE = re.compile(
    r"^=== (?P<name>[a-z0-9-]+)\n(?P<faulty>.*?)^--- told\n(?P<told>.*?)(?=^=== |\Z)", re.M | re.S
)


@dataclass(frozen=True)
class Case:
    """A faulty file and what is said about it."""

    table: Path
    name: str
    faulty: str
    reported: str

    @property
    def text(self) -> str:
        """The case as it stands in the text of its table."""
        return f"=== {self.name}\n{self.faulty}--- told\n{self.reported}"


def cases_of(table: Path) -> list[Case]:
    """The cases of one table, in their order."""
    text = table.read_text(encoding="utf-8")
    cases = [Case(table, *found.groups()) for found in _CASE.finditer(text)]
    assert "".join(case.text for case in cases) == text, f"{table} is not all cases"
    return cases


def by_name(tables: list[Path]) -> list[object]:
    """The cases of several tables as parameters of a test."""
    return [
        pytest.param(case, id=f"{table.stem}-{case.name}")
        for table in tables
        for case in cases_of(table)
    ]


def reported(check: Callable[[str, str], object], case: Case) -> str:
    """What `check` says about a faulty file, which it is given with its name."""
    with pytest.raises(ScenarioFaults) as faults:
        check(case.faulty, f"{case.name}.toml")
    return f"{faults.value}\n"


def rewritten(table: Path, check: Callable[[str, str], object]) -> str:
    """The text of a table with what is said about each case now."""
    cases = [Case(table, case.name, case.faulty, reported(check, case)) for case in cases_of(table)]
    return "".join(case.text for case in cases)
