"""The form of every table: headings, cells with a text and a value to sort by, notes below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skycell.metrics.run_rows import loss_in_words
from skycell.plots.labels import grouped, name

NOTHING = "–"
"""Stands where there is no number."""

ENDS = 20
"""Rows that a shortened table has at either end."""

_QUANTILES = {"10 %": 0.1, "median": 0.5, "90 %": 0.9}


@dataclass(frozen=True)
class Column:
    """A heading of a table, and what its column holds: numbers, sentences, or names."""

    title: str
    numeric: bool = False
    prose: bool = False
    """Sentences, which may be broken into lines; names and numbers stay whole."""
    joined: bool = False
    """Whether it stays with the column before it where a table has to be in parts."""


@dataclass(frozen=True)
class Cell:
    """What stands in a table.

    Attributes:
        text: what people read.
        sort: what the column sorts by; the text when None.
        css: class of the coloured mark around the text; no mark when empty.
        note: number of the note below the table; none when None.
        small: second line, in smaller letters.
    """

    text: str
    sort: float | str | None = None
    css: str = ""
    note: int | None = None
    small: str = ""


@dataclass(frozen=True)
class Table:
    """A table, ready for a page, a terminal or LaTeX.

    Attributes:
        caption: what a page says above it, in sentences.
        columns: its headings.
        rows: a cell for each column.
        notes: below it, numbered from 1.
        sortable: whether a page lets people sort its rows.
        spread: of a part of the rows: how the numbers of all are spread, which stands below.
        title: what stands above it where there is no room for sentences; the caption if empty.
        keys: the first columns, which say what a row is; a table in parts has them in each.
        ruled: rows, counted from 0, with a line below them.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    sortable: bool = True
    spread: Table | None = None
    title: str = ""
    keys: int = 1
    ruled: frozenset[int] = frozenset()

    @property
    def heading(self) -> str:
        """The title, or the caption in its place."""
        return self.title or self.caption


def shortened(table: Table, by: str, where: str) -> Table:
    """The rows at both ends of a column, and how all are spread; few rows stay as they are.

    Args:
        table: with any number of rows.
        by: heading of the column whose least and greatest values are shown.
        where: what a reader is told of where all rows are.
    """
    if len(table.rows) <= 2 * ENDS:
        return table
    place = [column.title for column in table.columns].index(by)
    # What has no number is neither end of anything.
    ordered = sorted(
        (row for row in table.rows if not isinstance(row[place].sort, str)),
        key=lambda row: float(row[place].sort or 0),
    )
    rows = (*ordered[:ENDS], *ordered[ENDS:][-ENDS:])
    text = (
        f"{table.caption} Shown: of {grouped(len(table.rows))} rows, the {ENDS} with the smallest "
        f"and the {ENDS} with the largest \u201c{by}\u201d. {where}"
    )
    return replace(table, caption=text, rows=rows, spread=_spread(table))


def largest_first(table: Table, by: str) -> Table:
    """The rows in descending order of a column, those without a number last."""
    place = [column.title for column in table.columns].index(by)

    def number_of(row: tuple[Cell, ...]) -> float:
        value = row[place].sort
        return -1.0 if value is None or isinstance(value, str) else float(value)

    rows = sorted(table.rows, key=number_of, reverse=True)
    title = f"{table.heading}; largest \u201c{by}\u201d first"
    return replace(table, title=title, rows=tuple(rows))


def first_rows(table: Table, most: int) -> Table:
    """The first rows of a table, and how many more there are."""
    more = len(table.rows) - most
    if more <= 0:
        return table
    last = (words(f"and {more} more"), *[words("")] * (len(table.columns) - 1))
    return replace(table, rows=(*table.rows[:most], last))


def _spread(table: Table) -> Table:
    """A row for each column of numbers: its least, some quantiles by nearest rank, its most."""
    rows = []
    for place, column in enumerate(table.columns):
        if not column.numeric:
            continue
        cells = [row[place] for row in table.rows if not isinstance(row[place].sort, str)]
        if not cells:
            continue
        cells.sort(key=lambda cell: float(cell.sort or 0))
        middle = [cells[math.ceil(part * len(cells)) - 1] for part in _QUANTILES.values()]
        rows.append((words(column.title), *(cells[0], *middle, cells[-1])))
    heads = ("least", *_QUANTILES, "most")
    return Table(
        caption=f"Distribution over {grouped(len(table.rows))} rows; quantiles by nearest rank.",
        columns=columns("column", *heads, numeric=heads),
        rows=tuple(rows),
        sortable=False,
    )


@dataclass
class Notes:
    """Gathers notes below a table; the same text gets the same number."""

    texts: list[str] = field(default_factory=list)

    def number(self, text: str | None) -> int | None:
        """The number of a note, from 1; None where there is nothing to note."""
        if not text:
            return None
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


def columns(
    *titles: str, numeric: Sequence[str] = (), prose: Sequence[str] = ()
) -> tuple[Column, ...]:
    """Columns with these headings; those of `numeric` hold numbers, those of `prose` sentences."""
    return tuple(Column(title, title in numeric, title in prose) for title in titles)


def words(text: object) -> Cell:
    """A cell with a text."""
    return Cell(str(text))


def number(value: float | None, digits: int) -> Cell:
    """A cell with a number to so many places after the point, thousands grouped.

    >>> number(1234.5678, 2).text.replace(chr(0x202F), " ")
    '1 234.57'
    >>> number(None, 2).text
    '–'
    """
    if value is None:
        return Cell(NOTHING, sort="")
    text = f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "\u2212")
    return Cell(text, sort=value)


def significant(value: float | None) -> Cell:
    """A cell with a number to four significant digits; below 1, to four places after the point.

    >>> [significant(value).text for value in (0.76433, 5.0, 0.0, 0.00001, None)]
    ['0.7643', '5.000', '0.0000', '1.000e−05', '–']
    """
    if value is None:
        return Cell(NOTHING, sort="")
    if value and abs(value) < 0.00005:
        return Cell(f"{value:.3e}".replace("-", "\u2212"), sort=value)
    # 9.9996 has four digits when it is rounded to three places after the point.
    limits = ((1, 4), (9.9995, 3), (99.995, 2), (999.95, 1))
    return number(value, next((places for limit, places in limits if abs(value) < limit), 0))


def interval(low: float | None, high: float | None) -> Cell:
    """A cell with both ends of an interval.

    >>> interval(0.5, 12.0).text, interval(None, None).text
    ('0.5000 to 12.00', '–')
    """
    if low is None or high is None:
        return Cell(NOTHING, sort="")
    return Cell(f"{significant(low).text} to {significant(high).text}", sort=low)


def level_cell(label: object) -> Cell:
    """A cell with the level of a factor, by which numbers sort as numbers."""
    is_number = isinstance(label, int | float) and not isinstance(label, bool)
    return Cell(name(label), sort=float(label) if is_number else str(label))  # type: ignore[arg-type]


def count(value: int | None) -> Cell:
    """A cell with a whole number."""
    return Cell(NOTHING, sort="") if value is None else Cell(grouped(value), sort=value)


def loss(ratio: float) -> Cell:
    """A cell with a loss ratio.

    >>> loss(0.0).text, loss(0.0251).text, loss(3 / 283_019).text
    ('0.00 %', '2.51 %', '1.1e−05')
    """
    text = loss_in_words(ratio).replace("%", " %").replace("-", "\u2212")
    return Cell(text, sort=ratio)


def share(value: float | None) -> Cell:
    """A cell with a part of a whole, in percent with one place.

    >>> share(0.25).text
    '25.0 %'
    """
    return Cell(NOTHING, sort="") if value is None else Cell(f"{value:.1%}"[:-1] + " %", sort=value)
