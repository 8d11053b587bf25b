"""Numbers by table and factors, printed or ours, as conclusions ask for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from skycell.studies.compare import Row
from skycell.studies.library import table_of
from skycell.studies.model import Level
from skycell.studies.published import published_values


class MissingValueError(LookupError):
    """A number that a conclusion needs is not there."""


@dataclass(frozen=True)
class Entry:
    """One number and what it belongs to."""

    table: str
    metric: str
    factors: Mapping[str, Level]
    value: float
    replications: tuple[float, ...] = ()
    """The runs that the value is the mean of, by seed; none where a single one was printed."""

    @property
    def runs(self) -> tuple[float, ...]:
        """The value of each run."""
        return self.replications or (self.value,)


@dataclass
class Values:
    """Numbers by table and factors."""

    entries: list[Entry] = field(default_factory=list)

    @classmethod
    def printed(cls, tables: Iterable[str]) -> "Values":
        """The published values of some tables."""
        return cls(
            [
                Entry(table, part.measure, printed.factors, printed.value)
                for table in tables
                for part in table_of(table).table.parts
                for printed in published_values(table_of(table).study, part)
                if printed.value is not None
            ]
        )

    @classmethod
    def ours(cls, rows: Iterable[Row]) -> "Values":
        """The means of our replications of some rows."""
        return cls(
            [
                Entry(row.table, row.metric, row.factors, row.mean, row.values)
                for row in rows
                if row.mean is not None
            ]
        )

    def find(self, table: str, metric: str, **factors: Level) -> list[Entry]:
        """Every number of a table whose factors include these; at least one.

        Raises:
            MissingValueError: there is none.
        """
        found = [
            entry
            for entry in self.entries
            if entry.table == table
            and entry.metric == metric
            and all(entry.factors.get(name) == level for name, level in factors.items())
        ]
        if not found:
            levels = " ".join(f"{name}={level}" for name, level in factors.items())
            raise MissingValueError(f"no {metric} of {table} {levels}".strip())
        return found

    def get(self, table: str, metric: str, **factors: Level) -> float:
        """The number of a table with exactly these factors.

        Raises:
            MissingValueError: there is none.
        """
        return self.entry(table, metric, **factors).value

    def entry(self, table: str, metric: str, **factors: Level) -> Entry:
        """The same with what it belongs to and the runs behind it.

        Raises:
            MissingValueError: there is none.
        """
        for entry in self.find(table, metric, **factors):
            if len(entry.factors) == len(factors):
                return entry
        levels = " ".join(f"{name}={level}" for name, level in factors.items())
        raise MissingValueError(f"no {metric} of {table} {levels}")
