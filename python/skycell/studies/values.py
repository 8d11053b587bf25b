"""Numbers by table and factors, printed or ours, as conclusions ask for them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skycell.experiment.design import Level
from skycell.studies.cells import Cells, MissingValueError
from skycell.studies.compare import Row
from skycell.studies.library import table_of
from skycell.studies.published import published_values


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
        """The published values of some tables; of a range, both ends."""
        return cls(
            [
                Entry(table, part.measure, printed.factors, value)
                for table in tables
                for part in table_of(table).table.parts
                for printed in published_values(table_of(table).study, part)
                for value in printed.ends
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

    def cells(
        self,
        tables: Sequence[str],
        metric: str,
        levels: Mapping[str, Level | Sequence[Level]],
        usual: Mapping[str, Level] | None = None,
        factors: Sequence[str] = (),
    ) -> Cells:
        """The numbers of some tables by the factors that are left open.

        Args:
            tables: whose rows have the same factors.
            metric: what they measure.
            levels: of some factors, one each or a list of them.
            usual: levels of factors that `levels` leaves open, as far as the tables have these.
            factors: those of the rows that are meant, where a table has other rows as well.

        Raises:
            MissingValueError: there is no number, none of a level, or one of them is lost.
            ValueError: rows have different factors, or a level is of none of them.
        """
        found = [
            entry
            for table in tables
            for entry in self._of.get((table, metric), ())
            if not factors or entry.factors.keys() == set(factors)
        ]
        if not found or {entry.table for entry in found} < set(tables):
            raise MissingValueError(f"no {metric} of one of {', '.join(tables)}")
        names = tuple(found[0].factors)
        if any(entry.factors.keys() != set(names) for entry in found):
            raise ValueError(f"rows of {', '.join(tables)} differ in more than levels")
        chosen = {name: level for name, level in (usual or {}).items() if name in names}
        place = {tuple(entry.factors[n] for n in names): i for i, entry in enumerate(found)}
        kept = Cells(names, place).at({**chosen, **levels})
        entries = {key: found[int(place)] for key, place in kept.values.items()}
        known = {key: entry for key, entry in entries.items() if isinstance(entry, Entry)}
        if len(known) < len(entries):
            raise MissingValueError(f"a {metric} of {', '.join(tables)} is lost")
        values = {key: entry.value for key, entry in known.items()}
        return Cells(kept.factors, values, {key: entry.runs for key, entry in known.items()})
