"""The runs that some tables need, each once however many tables it serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from skycell.experiment.parallel_map import parallel_map
from skycell.scenario.spec_text import SpecText
from skycell.studies.design import Case, Overrides, case_of, specs_of
from skycell.studies.library import Selection
from skycell.studies.measures import Evaluation, Facts
from skycell.studies.model import Experiment, Level, Part, Study
from skycell.studies.published import PublishedValue, published_values

_WORTH_A_PROCESS = 300
"""Cases for which another process, which takes half a second to start, resolves enough of them."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of one replication of a case."""

    case: Case
    seed: int
    spec_hash: str
    duration_ps: int
    part: int
    """Which of the specs of the replication: 0 the whole, 1 the beginning that is left out."""


@dataclass
class Plan:
    """Every run that the selected tables need."""

    texts: dict[tuple[Case, int | None], Sequence[SpecText]] = field(default_factory=dict)
    """By case and, where replications differ in more than their seed, that seed; in each the text
    of every part."""
    facts: dict[Case, Facts] = field(default_factory=dict)
    runs: dict[str, PlannedRun] = field(default_factory=dict)
    """By spec hash."""
    of_case: dict[Case, list[list[str]]] = field(default_factory=dict)
    """Spec hashes of a case: per replication, per part."""
    tables: dict[str, set[str]] = field(default_factory=dict)
    """Tables that a run serves, by its spec hash."""

    def spec_json(self, run: PlannedRun) -> str:
        """The canonical text of a run's spec."""
        texts = self.texts.get((run.case, None)) or self.texts[run.case, run.seed]
        return texts[run.part].with_seed(run.seed)

    def shared(self) -> dict[tuple[str, ...], int]:
        """Number of runs that serve the same several tables, by these tables."""
        counts: dict[tuple[str, ...], int] = {}
        for tables in self.tables.values():
            if len(tables) > 1:
                key = tuple(sorted(tables))
                counts[key] = counts.get(key, 0) + 1
        return counts


@dataclass(frozen=True)
class _Same:
    """Replications of a case that differ in their seeds only."""

    case: Case
    seeds: range
    text_seed: int | None
    """The key of their texts in the plan, beside the case."""


@dataclass(frozen=True)
class _Resolved:
    """What a plan keeps of the specs of a case: text and duration of each part, and hashes."""

    texts: tuple[SpecText, ...]
    durations_ps: tuple[int, ...]
    hashes: tuple[list[str], ...]
    """Of each part, seed by seed."""
    facts: Facts


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
    groups: list[_Same] = []
    for found in selection:
        if found.study.is_computed(found.table):
            continue
        experiment = found.study.experiments[found.table.experiment]
        Evaluation.of(found.study, found.table.experiment, overrides)  # before any run
        seeds = range(seed, seed + (replications or found.study.replications))
        for case in cases_of(found):
            if case not in tables:
                groups += _groups(experiment, case, seeds)
            tables.setdefault(case, {})[found.table.id] = None
    resolve = partial(_resolved, studies, overrides)
    resolved = parallel_map(resolve, groups, least=_WORTH_A_PROCESS, jobs=jobs)
    plan = Plan()
    for same, specs in zip(groups, resolved, strict=True):
        _add(plan, same, specs)
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


def _groups(experiment: Experiment, case: Case, seeds: range) -> list[_Same]:
    if experiment.each_replication is None:
        return [_Same(case, seeds, None)]
    return [_Same(case, range(seed, seed + 1), seed) for seed in seeds]


def _resolved(studies: Mapping[str, Study], overrides: Overrides, same: _Same) -> _Resolved:
    specs = specs_of(studies[same.case.study_id], same.case, overrides, same.seeds[0])
    texts = tuple(SpecText(spec) for spec in specs)
    return _Resolved(
        texts,
        tuple(spec.duration_ps for spec in specs),
        tuple(text.hashes(same.seeds) for text in texts),
        Facts.of(specs[0]),
    )


def _add(plan: Plan, same: _Same, specs: _Resolved) -> None:
    plan.texts[same.case, same.text_seed] = specs.texts
    plan.facts.setdefault(same.case, specs.facts)
    replications = plan.of_case.setdefault(same.case, [])
    for seed, hashes in zip(same.seeds, zip(*specs.hashes, strict=True), strict=True):
        for part, (spec_hash, duration_ps) in enumerate(
            zip(hashes, specs.durations_ps, strict=True)
        ):
            run = PlannedRun(same.case, seed, spec_hash, duration_ps, part)
            plan.runs.setdefault(spec_hash, run)
        replications.append(list(hashes))


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
