"""A table of runs as an analysis sees it: one response, the factors with their levels, cells."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from skycell.input.spelling import hint

Level = str | int | float | bool
"""A level of a factor, as it stands in the table."""

Frame = Any
"""A table: a polars or pandas frame, a mapping of columns, or rows that are mappings."""

_SHOWN_CELLS = 5
_LARGEST = 1e150
"""Of a response: sums of the squares of larger ones overflow."""


class DesignError(ValueError):
    """A table cannot be analysed; the message says what is missing and what would do."""


class FaultyValueError(DesignError):
    """A response is no number that can be explained.

    Attributes:
        row: place of the run in the table, from 0.
    """

    def __init__(self, value: str, row: int, why: str = "") -> None:
        super().__init__(value, row, why)
        self._value, self.row, self._why = value, row, why

    def __str__(self) -> str:
        return self.reported_of(self.row)

    def reported_of(self, row: int) -> str:
        """The message, with the run's place in another table."""
        return f"{self._value} in row {row + 1}{self._why}"


def level_name(level: Level) -> str:
    """A level in words.

    >>> level_name(2.0), level_name("reno"), level_name(True)
    ('2', 'reno', 'true')
    """
    if isinstance(level, bool):
        return str(level).lower()
    return f"{level:.10g}" if isinstance(level, float) else str(level)


@dataclass(frozen=True)
class Factor:
    """A factor with its levels: numbers ascending, words in the order of the table."""

    name: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class DesignTable:
    """The runs of a factorial study with one response.

    Attributes:
        response: name of the response.
        factors: those that vary, at least one.
        codes: for each run the index of its level of each factor.
        values: the response of each run.
        blocks: for each run the index of its block; none without blocks.
        block: name of the column that the blocks come from.
        notes: sentences on what was left out.
    """

    response: str
    factors: tuple[Factor, ...]
    codes: tuple[tuple[int, ...], ...]
    values: tuple[float, ...]
    blocks: tuple[int, ...] | None
    block: str | None
    notes: tuple[str, ...]

    @cached_property
    def cells(self) -> Mapping[tuple[int, ...], list[float]]:
        """The values of each cell that has a run."""
        found: dict[tuple[int, ...], list[float]] = {}
        for code, value in zip(self.codes, self.values, strict=True):
            found.setdefault(code, []).append(value)
        return found

    @cached_property
    def possible_cells(self) -> int:
        """Number of combinations of levels."""
        return math.prod(len(factor.levels) for factor in self.factors)

    @property
    def is_complete(self) -> bool:
        """Whether every combination of levels has a run."""
        return len(self.cells) == self.possible_cells

    @property
    def is_balanced(self) -> bool:
        """Whether every combination has as many runs as every other, in the same blocks."""
        if not self.is_complete or len({len(values) for values in self.cells.values()}) > 1:
            return False
        if self.blocks is None:
            return True
        pairs = list(zip(self.codes, self.blocks, strict=True))
        return len(set(pairs)) == len(pairs) == self.possible_cells * len(set(self.blocks))

    @property
    def is_replicated(self) -> bool:
        """Whether any cell has more than one run."""
        return any(len(values) > 1 for values in self.cells.values())

    @cached_property
    def exponent(self) -> int:
        """Of the power of two next above the size of the largest value."""
        return math.frexp(max(map(abs, self.values)))[1]

    def in_powers_of_two(self) -> DesignTable:
        """The same runs with values over two to the `exponent`: below 1, and no digit is lost.

        The squares of values of any size are numbers then, whereas those of 1e-200 are all zero.
        """
        values = tuple(math.ldexp(value, -self.exponent) for value in self.values)
        return replace(self, values=values)

    def missing_cells(self) -> list[tuple[int, ...]]:
        """Combinations without a run, in the order of the levels."""
        every = product(*(range(len(factor.levels)) for factor in self.factors))
        return [cell for cell in every if cell not in self.cells]

    def cell_name(self, cell: Sequence[int]) -> str:
        """A cell in words, such as `tcp=reno buffer=0.5`."""
        return " ".join(
            f"{factor.name}={level_name(factor.levels[index])}"
            for factor, index in zip(self.factors, cell, strict=True)
        )

    def missing_in_words(self) -> str:
        """The empty cells, the first few by name."""
        missing = self.missing_cells()
        names = ", ".join(self.cell_name(cell) for cell in missing[:_SHOWN_CELLS])
        more = f" and {len(missing) - _SHOWN_CELLS} more" if len(missing) > _SHOWN_CELLS else ""
        return f"{len(missing)} of {self.possible_cells} cells have no run ({names}{more})"


def design_table(
    frame: Frame, factors: Iterable[str], response: str, block: str | None = None
) -> DesignTable:
    """Reads what an analysis needs from a table.

    Args:
        frame: a polars or pandas frame, a mapping of columns, or rows that are mappings.
        factors: columns whose distinct values are the levels.
        response: the column that is explained; numbers. Rows without one are left out.
        block: a column of blocks, such as the replication when common random numbers were used.

    Raises:
        DesignError: there are no rows, a column is missing, a response is no number, no row has
            one, or no factor varies.
    """
    wanted = list(dict.fromkeys(factors))
    columns = _columns(frame)
    if not any(columns.values()):
        raise DesignError("the table has no rows")
    _refuse_unknown(columns, wanted, response, block)
    rows, left_out = _rows_with_value(columns[response], response)
    notes = []
    if left_out:
        some = "1 row without" if left_out == 1 else f"{left_out} rows without"
        notes.append(f"{some} a value of {response} {'is' if left_out == 1 else 'are'} left out.")
    varying = []
    for name in wanted:
        levels = _levels([columns[name][row] for row in rows], name)
        if len(levels) > 1:
            varying.append(Factor(name, levels))
        else:
            notes.append(f"{name} is {level_name(levels[0])} in all rows and is left out.")
    if not varying:
        raise DesignError(
            f"no factor varies: {_listed(wanted) or 'none'} given; at least one column with two or "
            "more different values is needed"
        )
    index = {f.name: {level: place for place, level in enumerate(f.levels)} for f in varying}
    blocks: tuple[int, ...] | None = None
    if block is not None:
        names = _levels([columns[block][row] for row in rows], block)
        if len(names) > 1:
            places = {level: place for place, level in enumerate(names)}
            blocks = tuple(places[columns[block][row]] for row in rows)
    return DesignTable(
        response=response,
        factors=tuple(varying),
        codes=tuple(tuple(index[f.name][columns[f.name][row]] for f in varying) for row in rows),
        values=tuple(rows.values()),
        blocks=blocks,
        block=block if blocks is not None else None,
        notes=tuple(notes),
    )


def refuse_unknown_columns(columns: Collection[str], asked: Iterable[str]) -> None:
    """Raises `DesignError` with every name asked for that no column has."""
    unknown = [name for name in dict.fromkeys(asked) if name not in columns]
    if unknown:
        raise DesignError(
            f"the table has no column{'s' if len(unknown) > 1 else ''} {_listed(unknown)}; its "
            f"columns are {_listed(columns)}{hint(unknown[0], columns)}"
        )


def _columns(frame: Frame) -> dict[str, list[Any]]:
    if hasattr(frame, "to_dict") and not isinstance(frame, Mapping):
        read: Any = frame.to_dict
        # polars gives series or lists by a flag, pandas lists by a word
        as_lists = read(as_series=False) if hasattr(frame, "to_dicts") else read("list")
        return {str(name): list(values) for name, values in as_lists.items()}
    if isinstance(frame, Mapping):
        columns = {str(name): list(values) for name, values in frame.items()}
        if len({len(values) for values in columns.values()}) > 1:
            raise DesignError("the columns of the table have different lengths")
        return columns
    rows = list(frame)
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _refuse_unknown(
    columns: Mapping[str, Sequence[Any]], factors: Sequence[str], response: str, block: str | None
) -> None:
    refuse_unknown_columns(columns, [*factors, response, *([block] if block is not None else [])])
    if response in factors:
        raise DesignError(f"{response} cannot be both a factor and the response")
    if block is not None and (block in factors or block == response):
        raise DesignError(f"{block} cannot be both the block and a factor or the response")


def _rows_with_value(values: Sequence[Any], response: str) -> tuple[dict[int, float], int]:
    """Rows with their values, and how many have none."""
    found = {}
    for row, value in enumerate(values):
        if value is None or value == "":
            continue
        number = _number(value)
        if number is None:
            raise FaultyValueError(f"{response} is {value!r}", row, ", which is not a number")
        if math.isinf(number):
            raise FaultyValueError(f"{response} is infinite", row)
        if abs(number) > _LARGEST:
            allowed = f"; the limit is {_LARGEST:g}, whose square is still a number"
            raise FaultyValueError(f"{response} is {number:g}", row, allowed)
        if not math.isnan(number):
            found[row] = number
    if not found:
        raise DesignError(f"no row has a value of {response}")
    return found, len(values) - len(found)


def _number(value: Any) -> float | None:
    """A number, or a text that is a finite one: a word among numbers makes texts of all."""
    if isinstance(value, bool) or not (isinstance(value, str) or hasattr(value, "__float__")):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return None if isinstance(value, str) and not math.isfinite(number) else number


def _levels(values: Sequence[Any], name: str) -> tuple[Level, ...]:
    if any(value is None or value != value for value in values):  # a NaN is no level
        raise DesignError(f"{name} is empty in a row; every run needs a level of every factor")
    distinct = list(dict.fromkeys(values))
    is_numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in distinct)
    return tuple(sorted(distinct) if is_numeric else distinct)


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))
