"""Tables of a report: headings, cells with a text and a value to sort by, notes below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from skycell.plots.words import grouped

NOTHING = "–"
"""Stands where there is no number."""


@dataclass(frozen=True)
class Column:
    """A heading of a table, and whether its column holds numbers."""

    title: str
    numeric: bool = False


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
    """A table of a report, ready for the page."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    sortable: bool = True


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


def columns(*titles: str, numeric: Sequence[str] = ()) -> tuple[Column, ...]:
    """Columns with these headings; those of ``numeric`` hold numbers."""
    return tuple(Column(title, title in numeric) for title in titles)


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


def count(value: int | None) -> Cell:
    """A cell with a whole number."""
    return Cell(NOTHING, sort="") if value is None else Cell(grouped(value), sort=value)


def loss(ratio: float) -> Cell:
    """A cell with a loss ratio; what is lost shows also where it is next to nothing.

    >>> loss(0.0).text, loss(0.025).text, loss(3 / 283_019).text
    ('0.0 %', '2.5 %', '1.1e−05')
    """
    if 0 < ratio < 1e-3:
        return Cell(f"{ratio:.1e}".replace("-", "\u2212"), sort=ratio)
    return share(ratio)


def share(value: float | None) -> Cell:
    """A cell with a part of a whole, in percent with one place.

    >>> share(0.25).text
    '25.0 %'
    """
    return Cell(NOTHING, sort="") if value is None else Cell(f"{value:.1%}"[:-1] + " %", sort=value)
