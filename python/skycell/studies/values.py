"""Numbers by table and factors, printed or ours, as conclusions ask for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    replications: tuple[float | None, ...] = ()
    """The runs that the value is the mean of, by seed, none for a run without a number; empty where
    the value is that of a single run."""

    @property
    def runs(self) -> tuple[float | None, ...]:
        """The value of each run."""
        return self.replications or (self.value,)


@dataclass(frozen=True)
class Lost:
    """A number that a failed run would have given, and what it belongs to."""

    table: str
    metric: str
    factors: Mapping[str, Level]


class Values:
    """Numbers by table and factors.

    Args:
        entries: the numbers.
        lost: those that are not there although they should be; whoever needs one gets none.
    """

    def __init__(self, entries: Iterable[Entry] = (), lost: Iterable[Lost] = ()) -> None:
        self.entries = list(entries)
        self._of: dict[tuple[str, str], list[Entry | Lost]] = {}
        known: list[Entry | Lost] = [*self.entries, *lost]
        for entry in known:
            self._of.setdefault((entry.table, entry.metric), []).append(entry)

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
                Entry(row.table, row.metric, row.factors, row.mean, row.by_replication)
                for row in rows
                if row.mean is not None
            ]
        )

    @classmethod
    def of_replication(cls, rows: Iterable[Row], place: int) -> "Values":
        """The values of one replication of some rows, as if it were the only one.

        What is computed without a draw is the same in each. A number that is not defined in this
        replication is left out, as it is from the means where no replication has it; one that a
        failed run would have given is lost, and so is one that has not been run.

        Args:
            rows: the rows.
            place: which replication, from 0 in the order of the seeds.
        """
        entries: list[Entry] = []
        lost: list[Lost] = []
        for row in rows:
            was_made = place < len(row.by_replication)
            value = row.by_replication[place] if was_made else None
            if row.is_computed:
                value = row.mean
            if value is not None:
                entries.append(Entry(row.table, row.metric, row.factors, value))
            elif not row.is_computed and (row.failures or not was_made):
                lost.append(Lost(row.table, row.metric, row.factors))
        return cls(entries, lost)

    def find(self, table: str, metric: str, **factors: Level) -> list[Entry]:
        """Every number of a table whose factors include these; at least one.

        Raises:
            MissingValueError: there is none, or one of them is lost.
        """
        found = self._matching(table, metric, factors)
        entries = [entry for entry in found if isinstance(entry, Entry)]
        if not entries or len(entries) < len(found):
            raise _missing(table, metric, factors)
        return entries

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
        for entry in self._matching(table, metric, factors):
            if len(entry.factors) == len(factors) and isinstance(entry, Entry):
                return entry
        raise _missing(table, metric, factors)

    def _matching(
        self, table: str, metric: str, factors: Mapping[str, Level]
    ) -> Sequence[Entry | Lost]:
        return [
            entry
            for entry in self._of.get((table, metric), ())
            if all(entry.factors.get(name) == level for name, level in factors.items())
        ]


def _missing(table: str, metric: str, factors: Mapping[str, Level]) -> MissingValueError:
    levels = " ".join(f"{name}={level}" for name, level in factors.items())
    return MissingValueError(f"no {metric} of {table} {levels}".strip())
