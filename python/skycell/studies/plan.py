"""The runs that some tables need, each once however many tables it serves."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from skycell.experiment.batch import PlannedRun
from skycell.experiment.design import Cell, Level
from skycell.experiment.parallel_map import parallel_map
from skycell.experiment.runs import PlannedRuns
from skycell.studies.design import Overrides, cell_of, specs_of
from skycell.studies.evaluation import evaluation_of
from skycell.studies.library import Selection
from skycell.studies.measured_run import Facts
from skycell.studies.model import Experiment, Part, Study
from skycell.studies.published import PublishedValue, published_values

_WORTH_A_PROCESS = 300
"""Cells for which another process, which takes half a second to start, resolves enough of them."""


@dataclass
class Plan(PlannedRuns[Facts]):
    """Every run that the selected tables need."""

    tables: dict[Cell, dict[str, None]] = field(default_factory=dict)
    """Tables that a cell serves."""

    def shared(self) -> dict[tuple[str, ...], int]:
        """Number of runs that serve the same several tables, by these tables."""
        of_run: dict[str, set[str]] = {}
        for cell, replications in self.of_cell.items():
            for run in chain.from_iterable(replications):
                of_run.setdefault(run.spec_hash, set()).update(self.tables[cell])
        return dict(Counter(tuple(sorted(names)) for names in of_run.values() if len(names) > 1))


_Replications = tuple[Cell, range]
"""Replications of a cell, by their seeds, that differ in nothing else."""


def plan_runs(
    selection: Sequence[Selection],
    seed: int,
    replications: int | None,
    overrides: Overrides,
    jobs: int | None = None,
) -> Plan:
    """Works out the runs of some tables.

    Args:
        selection: the tables.
        seed: of the first replication.
        replications: per cell; as many as each study says if not given.
        overrides: choices or scenario keys set otherwise.
        jobs: processes that resolve the cells where there are many; one a core if not given.

    Raises:
        ScenarioFaults: an override does not fit.
    """
    studies = {found.study.id: found.study for found in selection}
    plan = Plan()
    groups: list[_Replications] = []
    for found in selection:
        if found.study.is_computed(found.table):
            continue
        experiment = found.study.experiments[found.table.experiment]
        evaluation_of(found.study, found.table.experiment, overrides)  # before any run
        seeds = range(seed, seed + (replications or found.study.replications))
        for cell in cells_of_table(found):
            if cell not in plan.tables:
                groups += _groups(experiment, cell, seeds)
            plan.tables.setdefault(cell, {})[found.table.id] = None
    resolve = partial(_resolved, studies, overrides)
    resolved = parallel_map(resolve, groups, least=_WORTH_A_PROCESS, jobs=jobs)
    for (cell, _), (facts, runs) in zip(groups, resolved, strict=True):
        plan.add(cell, facts, runs)
    return plan


def cells_of_table(found: Selection) -> dict[Cell, None]:
    """The cells of a table, each once."""
    return {
        cell_of(found.study, found.table.experiment, levels): None
        for part in found.table.parts
        for printed in printed_rows(found.study, part)
        for levels in cells_of(part, printed.factors)
    }


def _groups(experiment: Experiment, cell: Cell, seeds: range) -> list[_Replications]:
    if experiment.each_replication is None and not experiment.is_drawn:
        return [(cell, seeds)]
    return [(cell, range(seed, seed + 1)) for seed in seeds]


def _resolved(
    studies: Mapping[str, Study], overrides: Overrides, replications: _Replications
) -> tuple[Facts, list[tuple[PlannedRun, ...]]]:
    """What a plan keeps of some replications of a cell."""
    cell, seeds = replications
    specs = specs_of(studies[cell.of[0]], cell, overrides, seeds[0])
    parts = [PlannedRun.replications(str(cell), spec, seeds) for spec in specs]
    return Facts.of(specs[0]), list(zip(*parts, strict=True))


def printed_rows(study: Study, part: Part) -> list[PublishedValue]:
    """The rows of a part: its published values, or its own cases without a number."""
    if part.file is not None:
        return published_values(study, part)
    return [PublishedValue(factors, None, 0.0, False, None) for factors in part.cases]


def cells_of(part: Part, factors: Mapping[str, Level]) -> list[Mapping[str, Level]]:
    """What a row is measured on: its own factors, or those of the cells that it averages over."""
    if not part.average_over:
        return [factors]
    return [
        {**cell, **factors}
        for cell in part.averaged_cells
        if all(factors.get(name, level) == level for name, level in cell.items())
    ]
