"""Recorded bit errors: a file that names the wrong bits of a line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from skycell.input.faults import FaultCollector, Path, ScenarioFaults, Verbatim
from skycell.input.text import read_text

_MOST_DIGITS = 18
"""Of the number of a bit: a line of 100 Gbit/s sends fewer in a hundred days."""

if TYPE_CHECKING:
    from skycell.scenario.declared.channels import ErrorTrace


def with_errors(
    trace: ErrorTrace, folder: FilePath, path: Path, faults: FaultCollector
) -> ErrorTrace | None:
    """The trace with its errors, read from the file that it names if it names one.

    Args:
        trace: as the scenario has it.
        folder: of the scenario, from which the file's name leads.
        path: of the table in the scenario.
        faults: where a fault is noted.

    Returns:
        None, with a fault, where the file cannot be read or is no list of wrong bits.
    """
    if not isinstance(trace.errors, str):
        return trace

    def fault(got: str, allowed: str) -> None:
        faults.add((*path, "errors"), Verbatim(got), allowed)

    name = trace.errors
    try:
        lines = read_text(folder / name).splitlines()
    except (OSError, ScenarioFaults) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        fault(f'"{name}"', f"a file that can be read; {reason or error}")
        return None
    errors = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
            fault(f'"{name}", line {number}: {text[:40]}', "the number of a wrong bit in each line")
            return None
        errors.append(int(text))
    falls = next((b for a, b in pairwise(errors) if b <= a), None)
    if falls is not None:
        fault(f'"{name}", with {falls} behind a bit not before it', "numbers that ascend")
        return None
    return trace.model_copy(update={"errors": tuple(errors)})
