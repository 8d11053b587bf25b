"""Standard output of a command: sentences and tables, for people or as LaTeX."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import click
from rich.box import SIMPLE
from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.table import Column as RichColumn
from rich.table import Table as RichTable
from rich.text import Text

from skycell.cli.at_work import make_room
from skycell.cli.options import FORMS, LATEX
from skycell.cli.sentences import say
from skycell.input.printable import printable
from skycell.tables.table import Cell, Table

WIDTH_OF_FILES = 120
"""Columns where the output is a file or a pipe, which have no width of their own."""
_ANY_WIDTH = 100_000

_STYLES = {"good": "green", "fair": "yellow", "bad": "red", "none": "dim"}
"""Of the mark of a cell, by its class in a page."""

_PLAIN = str.maketrans({"\u202f": " ", "\u00a0": " ", "\u2212": "-"})
"""Signs that not every terminal has, and that no other program reads as part of a number."""


class Output:
    """Standard output, of this width where it is no terminal.

    With `--latex`, tables are LaTeX and sentences its comments.
    """

    def __init__(self, width: int = WIDTH_OF_FILES) -> None:
        context = click.get_current_context(silent=True)
        self._is_latex = context is not None and LATEX in context.meta.get(FORMS, ())
        self._console = _console(width)
        #: Labels of tables that the command has written, by label how many.
        self._labels: dict[str, int] = {}
        if context is not None:
            self._labels = context.meta.setdefault(f"{__name__}.labels", self._labels)

    def say(self, text: str = "", style: str = "", *, wrap: bool = False) -> None:
        """Writes a text; brackets are brackets there.

        Args:
            text: a line, or several.
            style: of a terminal.
            wrap: whether a line is broken between words; else a terminal folds it, and it is one
                line for other programs.
        """
        if self._is_latex:
            for line in text.splitlines():
                say(f"% {line}")
        else:
            make_room()
            self._console.print(Text(_plain(text), style), soft_wrap=not wrap)

    def show(self, table: Table) -> None:
        """Writes a table, in parts where it is wider than the terminal.

        Where room is short, headings and sentences are wrapped first, then columns move together,
        then columns stand in a table below; a name or a number is never cut.
        """
        if self._is_latex:
            from skycell.tables.latex import label_of, latex

            say(latex(table, self._unused(label_of(table))))
            return
        self.say(table.heading, "bold")
        for part in self._parts(table):
            _print(self._console, part)
        for place, note in enumerate(table.notes, start=1):
            self.say(f"[{place}] {note}", "dim")
        if table.notes:
            self.say()

    def _unused(self, label: str) -> str:
        """The label, with a number if the command has written a table of that label."""
        self._labels[label] = count = self._labels.get(label, 0) + 1
        return label if count == 1 else f"{label}-{count}"

    def _parts(self, table: Table) -> list[Table]:
        """Tables with as many columns each as there is room for, and with the keys in all."""
        if _needed(self._console, table) <= self._console.width:
            return [table]
        keys = range(table.keys)
        units: list[list[int]] = []
        for place in range(table.keys, len(table.columns)):
            if units and table.columns[place].joined:
                units[-1].append(place)
            else:
                units.append([place])
        chosen: list[list[int]] = [[]]
        for unit in units:
            wider = _of_columns(table, [*keys, *chosen[-1], *unit])
            if chosen[-1] and _needed(self._console, wider) > self._console.width:
                chosen.append([])
            chosen[-1] += unit
        return [_of_columns(table, [*keys, *own]) for own in chosen]


def _console(width: int) -> Console:
    of_its_own = None if sys.stdout.isatty() else width
    return Console(file=sys.stdout, width=of_its_own, highlight=False, markup=False)


def _of_columns(table: Table, places: Sequence[int]) -> Table:
    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
    )


def _needed(console: Console, table: Table) -> int:
    """The least width in which a table can be printed."""
    drawn = _fitted(console, _drawn(table), 0)
    return _least(console, drawn)


def _print(console: Console, table: Table) -> None:
    """Prints a table in the width of the console, or in what it needs, which a terminal folds."""
    drawn = _fitted(console, _drawn(table), console.width)
    needed = _least(console, drawn)
    if needed > console.width:
        console = _console(needed)
        console.width = needed
    make_room()
    console.print(drawn)


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(box=SIMPLE)
    for column in table.columns:
        justify = "right" if column.numeric else "left"
        drawn.add_column(_plain(column.title), justify=justify, no_wrap=not column.prose)  # type: ignore[arg-type]
    for place, row in enumerate(table.rows):
        drawn.add_row(*map(_text, row), end_section=place in table.ruled)
    return drawn


def _plain(text: str) -> str:
    """A text with no sign that steers a terminal, whoever has chosen the names in it."""
    return printable(text.translate(_PLAIN), keep="\n")


def _text(cell: Cell) -> Text:
    text = Text(_plain(cell.text), _STYLES.get(cell.css, ""))
    if cell.small:
        text.append(f"\n{_plain(cell.small)}", "dim")
    return text if cell.note is None else text.append(f" [{cell.note}]", "dim")


def _fitted(console: Console, drawn: RichTable, width: int) -> RichTable:
    """The table with headings wrapped, and then with its columns closer together, if need be."""
    options = console.options.update(max_width=_ANY_WIDTH)
    if Measurement.get(console, options, drawn).maximum > width:
        for column in drawn.columns:
            if column.no_wrap:
                _hold(console, options, column)
        if Measurement.get(console, options, drawn).minimum > width:
            drawn.pad_edge, drawn.collapse_padding = False, True
    return drawn


def _least(console: Console, drawn: RichTable) -> int:
    return Measurement.get(console, console.options.update(max_width=_ANY_WIDTH), drawn).minimum


def _hold(console: Console, options: ConsoleOptions, column: RichColumn) -> None:
    """Gives a column the width of its widest entry, or of the longest word above it."""
    entries = [Measurement.get(console, options, entry).maximum for entry in column.cells]
    column.width = max([Measurement.get(console, options, column.header).minimum, *entries])
    column.no_wrap = False
