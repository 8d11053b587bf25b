"""One line of a budget."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A value of a budget.

    Attributes:
        symbol: letters of the field, such as `EIRP`.
        name: what it is.
        value: a number, or a word such as a MODCOD; None for none.
        unit: of the number; empty for a word.
        source: key of the file, rule or formula that gives the value.
    """

    symbol: str
    name: str
    value: float | str | None
    unit: str
    source: str
