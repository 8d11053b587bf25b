"""The columns of a CSV file that drives a link, and how their values are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from skycell.input.quantities import PS_PER_SECOND, show_time
from skycell.scenario.links.limits import LATEST_PS, MOST_BPS
from skycell.scenario.links.schedule import LONGEST_PS

_TIMES = {
    "ps": Fraction(1),
    "ns": Fraction(10**3),
    "us": Fraction(10**6),
    "ms": Fraction(10**9),
    "s": Fraction(PS_PER_SECOND),
    "min": Fraction(60 * PS_PER_SECOND),
    "h": Fraction(3600 * PS_PER_SECOND),
}
#: Cells a second are told apart from bits by their unit; see `Written`.
CELLS = "cells/s"
_RATES = {
    "bit/s": Fraction(1),
    "kbit/s": Fraction(10**3),
    "Mbit/s": Fraction(10**6),
    "Gbit/s": Fraction(10**9),
    CELLS: Fraction(1),
}
_PARTS = {"": Fraction(1), "%": Fraction(1, 100)}
_NUMBER = re.compile(
    r"([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)\s*([A-Za-z/%]*)"
)


@dataclass(frozen=True)
class Written:
    """A value of a series: an amount in the base unit of its column, and the unit it stood in."""

    amount: Fraction
    unit: str


@dataclass(frozen=True)
class Kind:
    """A kind of column.

    Attributes:
        units: what one of each unit is, in the base unit; "" for a number without one.
        high: largest amount.
        most: the same for people; empty where no sensible value comes near it.
        meaning: what the column says.
        example: a value with its own unit.
    """

    units: dict[str, Fraction]
    high: Fraction
    most: str
    meaning: str
    example: str = ""

    @property
    def header_units(self) -> dict[str, str]:
        """The units by what follows the name of the column in a header: `_mbit_s` for Mbit/s."""
        words = {unit: "percent" if unit == "%" else unit for unit in self.units if unit}
        return {word.lower().replace("/", "_"): unit for unit, word in words.items()}

    @property
    def units_text(self) -> str:
        """The units, for people."""
        return ", ".join(unit for unit in self.units if unit)

    def read(self, written: str, unit: str | None) -> Written | None:
        """A value, in `unit` if the header has one; None for what is none."""
        match = _NUMBER.fullmatch(written)
        if match is None:
            return None
        own = match.group(2) or (unit or "")
        if own not in self.units or unit not in (None, own):
            return None
        amount = Fraction(match.group(1)) * self.units[own]
        return Written(amount, own) if 0 <= amount <= self.high else None

    def allowed(self, unit: str | None) -> str:
        """What may stand in the column, for people."""
        if unit:
            of = f", in {unit}, as in the header"
        elif "" in self.units:
            of = ""
        else:
            of = f', with its unit ({self.units_text}), as "{self.example}"'
        return f"a number from 0{self.most}{of}"


KINDS = {
    "time": Kind(_TIMES, Fraction(LATEST_PS), "", "when the row takes effect", "12.5 ms"),
    "delay": Kind(
        _TIMES,
        Fraction(LONGEST_PS),
        f", up to {show_time(LONGEST_PS)}",
        "one way; empty where there is no path",
        "12.5 ms",
    ),
    "rate": Kind(
        _RATES,
        Fraction(MOST_BPS),
        "",
        "rate at which a cell begins to be sent; empty or 0 where there is no path",
        "2 Mbit/s",
    ),
    "loss": Kind(_PARTS, Fraction(1), " to 1", "probability that a frame is lost"),
    "availability": Kind(
        {"": Fraction(1)}, Fraction(1), " or 1", "0 while there is no path, 1 while there is one"
    ),
}
NEEDED = ("time", "delay")


def column_of(header: str) -> tuple[str, str | None] | None:
    """Name and unit of a column by its header; None for one that is passed over.

    >>> column_of("rate_Mbit_s"), column_of("loss"), column_of("satellites")
    (('rate', 'Mbit/s'), ('loss', None), None)
    """
    name, _, word = header.partition("_")
    kind = KINDS.get(name)
    if kind is None:
        return (header, None) if header == "path" else None
    if not word:
        return name, None
    unit = kind.header_units.get(word.lower())
    return None if unit is None else (name, unit)
