"""Tables on standard output: every word and number whole, however narrow the terminal."""

from __future__ import annotations

import sys

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table

WIDTH_OF_FILES = 120
"""Columns where the output is a file or a pipe, which have no width of their own."""
_ANY_WIDTH = 100_000


def standard_output(width: int = WIDTH_OF_FILES) -> Console:
    """Standard output, of this width where it is no terminal; brackets are brackets there."""
    of_its_own = None if sys.stdout.isatty() else width
    return Console(file=sys.stdout, width=of_its_own, highlight=False, markup=False)


def show_table(console: Console, table: Table) -> None:
    """Prints a table in the width of the console, or in what it needs, which a terminal folds.

    Where room is short, headings and columns of sentences are wrapped first, then columns move
    together; a number is never cut.
    """
    if _measured(console, table).maximum > console.width:
        for column in table.columns:
            if column.no_wrap or column.justify == "right":
                _hold(console, column)
        if _measured(console, table).minimum > console.width:
            table.pad_edge, table.collapse_padding = False, True
        needed = _measured(console, table).minimum
        if needed > console.width:
            console = standard_output()
            console.width = needed
    console.print(table)


def _measured(console: Console, shown: RenderableType) -> Measurement:
    return Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), shown)


def _hold(console: Console, column: Column) -> None:
    """Gives a column the width of its widest entry, or of the longest word above it."""
    entries = [_measured(console, entry).maximum for entry in column.cells]
    column.width = max([_measured(console, column.header).minimum, *entries])
    column.no_wrap = False
