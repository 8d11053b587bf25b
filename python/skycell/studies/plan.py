"""The runs that some tables need, each once however many tables it serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from skycell.experiment.batch import PlannedRun
from skycell.experiment.design import Level
from skycell.experiment.parallel_map import parallel_map
from skycell.studies.design import Case, Overrides, case_of, specs_of
from skycell.studies.evaluation import evaluation_of
from skycell.studies.library import Selection
from skycell.studies.measures import Facts
from skycell.studies.model import Experiment, Part, Study
from skycell.studies.published import PublishedValue, published_values

_WORTH_A_PROCESS = 300
"""Cases for which another process, which takes half a second to start, resolves enough of them."""


@dataclass
class Plan:
    """Every run that the selected tables need."""

    facts: dict[Case, Facts] = field(default_factory=dict)
    runs: dict[str, PlannedRun] = field(default_factory=dict)
    """By spec hash."""
    of_case: dict[Case, list[list[str]]] = field(default_factory=dict)
    """Spec hashes of a case: per replication, per part."""
    tables: dict[str, set[str]] = field(default_factory=dict)
    """Tables that a run serves, by its spec hash."""

    def shared(self) -> dict[tuple[str, ...], int]:
        """Number of runs that serve the same several tables, by these tables."""
        counts: dict[tuple[str, ...], int] = {}
        for tables in self.tables.values():
            if len(tables) > 1:
                key = tuple(sorted(tables))
                counts[key] = counts.get(key, 0) + 1
        return counts


@dataclass(frozen=True)
class _Resolved:
    """What a plan keeps of some replications of a case."""

    runs: Sequence[tuple[PlannedRun, ...]]
    """Seed by seed: the whole run, and the beginning where that is left out."""
    facts: Facts


_Replications = tuple[Case, range]
"""Replications of a case, by their seeds, that differ in nothing else."""


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
        replications: per case; as many as each study says if not given.
        overrides: choices or scenario keys set otherwise.
        jobs: processes that resolve the cases where there are many; one a core if not given.

    Raises:
        ScenarioFaults: an override does not fit.
    """
    studies = {found.study.id: found.study for found in selection}
    tables: dict[Case, dict[str, None]] = {}
    groups: list[_Replications] = []
    for found in selection:
        if found.study.is_computed(found.table):
            continue
        experiment = found.study.experiments[found.table.experiment]
        evaluation_of(found.study, found.table.experiment, overrides)  # before any run
        seeds = range(seed, seed + (replications or found.study.replications))
        for case in cases_of(found):
            if case not in tables:
                groups += _groups(experiment, case, seeds)
            tables.setdefault(case, {})[found.table.id] = None
    resolve = partial(_resolved, studies, overrides)
    resolved = parallel_map(resolve, groups, least=_WORTH_A_PROCESS, jobs=jobs)
    plan = Plan()
    for (case, _), found_of_case in zip(groups, resolved, strict=True):
        plan.facts.setdefault(case, found_of_case.facts)
        for runs in found_of_case.runs:
            plan.of_case.setdefault(case, []).append([run.spec_hash for run in runs])
            for run in runs:
                plan.runs.setdefault(run.spec_hash, run)
    for case, names in tables.items():
        for replication in plan.of_case[case]:
            for spec_hash in replication:
                plan.tables.setdefault(spec_hash, set()).update(names)
    return plan


def cases_of(found: Selection) -> dict[Case, None]:
    """The cases of a table, each once."""
    return {
        case_of(found.study, found.table.experiment, cell): None
        for part in found.table.parts
        for printed in printed_rows(found.study, part)
        for cell in cells_of(part, printed.factors)
    }


def _groups(experiment: Experiment, case: Case, seeds: range) -> list[_Replications]:
    if experiment.each_replication is None:
        return [(case, seeds)]
    return [(case, range(seed, seed + 1)) for seed in seeds]


def _resolved(
    studies: Mapping[str, Study], overrides: Overrides, replications: _Replications
) -> _Resolved:
    case, seeds = replications
    specs = specs_of(studies[case.study_id], case, overrides, seeds[0])
    parts = [PlannedRun.replications(str(case), spec, seeds) for spec in specs]
    return _Resolved(list(zip(*parts, strict=True)), Facts.of(specs[0]))


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
