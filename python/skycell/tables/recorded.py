"""A run as its tables see it, and how these are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from skycell.tables.table import Cell, Table, columns, number

if TYPE_CHECKING:
    from skycell.spec.declared.network import NetworkSpec

UNITS = ("cells", "packets")
"""What ports hold."""


class Recorded(Protocol):
    """A spec, the records of its run, and the traces that the run kept."""

    @property
    def spec(self) -> NetworkSpec:
        """What was run."""

    @property
    def records(self) -> Mapping[str, Any]:
        """Its counts."""

    @property
    def traces(self) -> Mapping[str, Any]:
        """Its traces by name."""


@dataclass(frozen=True)
class Records:
    """Records that are no result of a run: those of real hosts."""

    spec: NetworkSpec
    records: Mapping[str, Any]
    traces: Mapping[str, Any] = field(default_factory=dict)


def made(
    title: str,
    caption: str,
    first: str,
    heads: Sequence[str],
    rows: Iterable[tuple[Cell, ...]],
    last: Sequence[str] = (),
) -> Table | None:
    """Returns a table with names in the first column, numbers under `heads`, words last.

    None without rows.
    """
    found = tuple(rows)
    if not found:
        return None
    return Table(
        caption=caption,
        title=title,
        columns=columns(first, *heads, *last, numeric=heads),
        rows=found,
    )


def times(values: Iterable[float | None]) -> list[Cell]:
    """Returns cells of times with three places after the point."""
    return [number(value, 3) for value in values]
