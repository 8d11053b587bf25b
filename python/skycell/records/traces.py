"""The traces that a run can keep: their columns, and what the numbers in them stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted

if TYPE_CHECKING:
    import polars as pl


class TraceTables(Mapping[str, "pl.DataFrame"]):
    """The traces of a run by name, each made a table when it is first asked for."""

    def __init__(self, columns: Mapping[str, Mapping[str, Any]]) -> None:
        self._columns = columns
        self._tables: dict[str, pl.DataFrame] = {}

    def with_tables(self, tables: Mapping[str, pl.DataFrame]) -> TraceTables:
        """The traces, and tables that follow from them beside them."""
        own = {name: table.to_dict() for name, table in tables.items()}
        return TraceTables({**self._columns, **own})

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in self._columns:
            kept = ", ".join(self._columns) or "none"
            raise KeyError(f"the run kept no trace {name!r}; it kept: {kept}")
        if name not in self._tables:
            from skycell.records.frame import Frame

            self._tables[name] = Frame(dict(self._columns[name]))
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        rows = {name: len(next(iter(c.values()), ())) for name, c in self._columns.items()}
        return "traces: " + (
            ", ".join(f"{n} ({counted(r, 'row')})" for n, r in rows.items()) or "none"
        )
