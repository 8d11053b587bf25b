"""What a command is given: a scenario or a sweep, from a file or standard input, or a run."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from skycell.experiment.design import SweepPlan
    from skycell.link import Carrier
    from skycell.records.result import RunResult
    from skycell.scenario import Scenario

STDIN = "-"


def load_input(file: str, values: Mapping[str, Any] | None = None) -> Scenario:
    """Reads and checks the scenario of an argument; that of standard input has no folder.

    Args:
        file: a file, or `-`.
        values: what replaces values of the scenario.

    Raises:
        ScenarioFaults: with every fault.
        OSError: it cannot be read.
    """
    from skycell.scenario import load, parse

    if file != STDIN:
        return load(file, values)
    return parse(_standard_input(), shown_name(file), values=values)


def load_scenario_or_carrier(file: str, values: Mapping[str, Any]) -> Scenario | Carrier:
    """Reads and checks the scenario of an argument, or the carrier if it has a table of that name.

    Args:
        file: a file, or `-`.
        values: what replaces values of it.

    Raises:
        ScenarioFaults: with every fault.
        OSError: it cannot be read.
    """
    from skycell.input.faults import ScenarioFaults
    from skycell.input.text import read_text
    from skycell.input.toml_text import read_toml
    from skycell.link import parse_carrier
    from skycell.scenario import parse

    text = _standard_input() if file == STDIN else read_text(file)
    name, folder = shown_name(file), Path() if file == STDIN else Path(file).parent
    try:
        keys = set(read_toml(text, name)[0])
    except ScenarioFaults:
        keys = set()  # `parse` reports them
    if "carrier" in keys:
        return parse_carrier(text, name, folder, values)
    return parse(text, name, folder, values)


def load_input_plan(file: str, replications: int | None = None) -> SweepPlan:
    """Reads and checks the sweep of an argument; that of standard input has no folder.

    Args:
        file: a file, or `-`.
        replications: of each combination, instead of what the sweep says.

    Raises:
        ScenarioFaults: with every fault of the sweep; the scenarios of its cells are not tried.
        OSError: it cannot be read.
    """
    from skycell.experiment.file import load_plan, parse_plan

    if file != STDIN:
        return load_plan(file, replications)
    return parse_plan(_standard_input(), shown_name(file), replications=replications)


def read_run(folder: Path) -> RunResult:
    """The result in a folder, or beside a file that is part of one."""
    from skycell.records.files import RECORDS_FILE, SPEC_FILE, existing_files
    from skycell.records.reading import read_result

    if not folder.is_dir() and folder not in existing_files(folder.parent):
        raise click.UsageError(f"{folder} is neither a folder of a run nor part of one")
    if folder.is_dir() and not any((folder / name).exists() for name in (SPEC_FILE, RECORDS_FILE)):
        raise click.UsageError(
            f"{folder} holds nothing that `skycell run`, `reproduce` or `sweep` wrote with --out"
        )
    return read_result(folder if folder.is_dir() else folder.parent)


def shown_name(file: str) -> str:
    """What an argument is called in what is told of it."""
    return "<stdin>" if file == STDIN else file


def _standard_input() -> str:
    from skycell.input.text import read_stream

    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), shown_name(STDIN))
    return read_stream(sys.stdin.buffer, shown_name(STDIN))
