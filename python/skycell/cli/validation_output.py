"""Recorded scenarios on the terminal: how many times the recorded value ours is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.cli.console import Output
from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.report.validation import scores
from skycell.tables.validation import ratios_table
from skycell.validation.measures import MEASURES
from skycell.validation.scenarios import linux

if TYPE_CHECKING:
    from skycell.validation import Validation


def show_validation(result: Validation) -> None:
    """All of a validation: a table for each group, and how many values are inside."""
    output = Output()
    measures = [m.name for m in MEASURES if any(row.metric == m.name for row in result.rows)]
    for group in linux().group:
        rows = [row for row in result.rows if row.table == group.id]
        if rows:
            title = f"{group.id}: {group.title}; ours as a multiple of what was recorded"
            output.show(ratios_table(title, rows, measures))
    output.show(scores(result))
    if result.overrides:
        settings = ", ".join(f"{k} = {write_value(v)}" for k, v in result.overrides.items())
        output.say(f"set differently: {settings}")
    output.say(
        f"{counted(len(result.scenarios), 'scenario')}, "
        f"{counted(result.replications, 'run')} of each with the "
        f"{result.engine} engine ({result.version}), seeds from {result.seed} "
        f"({result.wall_s:.0f} s)"
    )
