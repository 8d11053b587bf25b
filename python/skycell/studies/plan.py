"""The runs that some tables need, each once however many tables it serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skycell.scenario.spec_text import SpecText
from skycell.studies.design import Case, Overrides, case_of, choices_in_force, specs_of
from skycell.studies.library import Selection
from skycell.studies.measures import Evaluation, Facts
from skycell.studies.model import Level, Part, Study
from skycell.studies.published import PublishedValue, published_values


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


def plan_runs(
    selection: Sequence[Selection], seed: int, replications: int | None, overrides: Overrides
) -> Plan:
    """Works out the runs of some tables.

    Args:
        selection: the tables.
        seed: of the first replication.
        replications: per case; as many as each study says if not given.
        overrides: choices or scenario keys set otherwise.

    Raises:
        ScenarioFaults: an override does not fit the scenario.
        ChoiceError: an override of the evaluation is not allowed.
    """
    plan = Plan()
    for found in selection:
        if found.study.is_computed(found.table):
            continue
        experiment = found.study.experiments[found.table.experiment]
        Evaluation.of(experiment, choices_in_force(found.study, overrides))  # before any run
        count = replications or found.study.replications
        for part in found.table.parts:
            for printed in printed_rows(found.study, part):
                for cell in cells_of(part, printed.factors):
                    case = case_of(found.study, found.table.experiment, cell)
                    _add(plan, found, case, range(seed, seed + count), overrides)
    return plan


def _add(plan: Plan, found: Selection, case: Case, seeds: range, overrides: Overrides) -> None:
    if case not in plan.of_case:
        differ = found.study.experiments[case.experiment].each_replication is not None
        groups = [range(seed, seed + 1) for seed in seeds] if differ else [seeds]
        plan.of_case[case] = []
        for same in groups:
            specs = specs_of(found.study, case, overrides, same[0])
            texts = [SpecText(spec) for spec in specs]
            plan.texts[case, same[0] if differ else None] = texts
            plan.facts.setdefault(case, Facts.of(specs[0]))
            durations_ps = [spec.duration_ps for spec in specs]
            plan.of_case[case] += [
                _replication(plan, case, seed, [text.hash(seed) for text in texts], durations_ps)
                for seed in same
            ]
    for hashes in plan.of_case[case]:
        for spec_hash in hashes:
            plan.tables.setdefault(spec_hash, set()).add(found.table.id)


def _replication(
    plan: Plan, case: Case, seed: int, hashes: list[str], durations_ps: Sequence[int]
) -> list[str]:
    for part, (spec_hash, duration_ps) in enumerate(zip(hashes, durations_ps, strict=True)):
        run = PlannedRun(case, seed, spec_hash, duration_ps, part)
        plan.runs.setdefault(spec_hash, run)
    return hashes


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
