"""The runs that the cells of a design need, each once however many cells it serves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from skycell.experiment.batch import PlannedRun
from skycell.experiment.design import Cell

Known = TypeVar("Known")


@dataclass
class PlannedRuns(Generic[Known]):
    """The runs of each cell, replication by replication, and what measures need to know of it."""

    known: dict[Cell, Known] = field(default_factory=dict)
    """Of the network of each cell, or of that of its first replication."""
    of_cell: dict[Cell, list[tuple[PlannedRun, ...]]] = field(default_factory=dict)
    """A replication is one run, or that and its beginning where this is left out of what counts."""
    of_run: dict[str, Known] = field(default_factory=dict)
    """The same of the network of a run, by its spec's hash, where it is another one."""
    by_hash: dict[str, PlannedRun] = field(default_factory=dict)
    """The different runs, by their spec's hash; cells that come to the same spec share theirs."""

    def add(self, cell: Cell, known: Known, replications: Iterable[tuple[PlannedRun, ...]]) -> None:
        """Adds replications of a cell to those that it has; what is known holds for these."""
        is_own = known != self.known.setdefault(cell, known)
        for runs in replications:
            if is_own:
                self.of_run[runs[0].spec_hash] = known
            self.of_cell.setdefault(cell, []).append(
                tuple(self.by_hash.setdefault(run.spec_hash, run) for run in runs)
            )

    def known_of(self, cell: Cell, run: PlannedRun) -> Known:
        """What measures need to know of the network of a run."""
        return self.of_run.get(run.spec_hash, self.known[cell])

    @property
    def different(self) -> list[PlannedRun]:
        """The different runs."""
        return list(self.by_hash.values())
