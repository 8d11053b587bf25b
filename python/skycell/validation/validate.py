"""Recorded scenarios run again, and ours put beside what real hosts gave."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.experiment.batch import PlannedRun
from skycell.experiment.pool import Outcome, run_tasks
from skycell.experiment.processes import ProcessPool
from skycell.experiment.tasks import Work, refuse_unknown_engine
from skycell.input.quantities import PS_PER_SECOND
from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.studies.compare import Row, TableSummary, summarise_tables
from skycell.studies.reproduction import FailedRun, json_of, rows_to_csv
from skycell.validation.compare import verdict_of
from skycell.validation.measures import MEASURES, Measure, measured, traced
from skycell.validation.scenarios import RecordedScenario, linux, recordings, select
from skycell.version import version

FIRST_SEED = 1
"""Seed of the first replication; the k-th has the k-th number from there on."""
REPLICATIONS = 5
"""Runs of each scenario: hosts' clocks and the jitter of flows that share a link are drawn."""

LINUX = "linux"
"""The study of its rows."""

OnProgress = Callable[[float], object]
"""Told the share of the simulated time that is done."""


@dataclass(frozen=True)
class Validation:
    """Recorded scenarios beside ours."""

    engine: str
    version: str
    seed: int
    replications: int
    scenarios: tuple[RecordedScenario, ...]
    rows: tuple[Row, ...]
    overrides: Mapping[str, Any]
    failed_runs: tuple[FailedRun, ...]
    wall_s: float

    @property
    def summaries(self) -> list[TableSummary]:
        """Scores group by group."""
        return summarise_tables(self.rows)

    def rows_of(self, scenario: str) -> list[Row]:
        """The rows of one scenario."""
        return [row for row in self.rows if row.factors["scenario"] == scenario]

    def as_dict(self) -> dict[str, Any]:
        """All of it, as plain data: the form of `skycell.studies.Reproduction.as_dict`."""
        return {
            "engine": self.engine,
            "version": self.version,
            "seed": self.seed,
            "replications": {LINUX: self.replications},
            "rows": [row.as_dict() for row in self.rows],
            "conclusions": [],
        }

    def to_json(self) -> str:
        """Engine, rows and conclusions as one JSON object: what `reproduce` promises too."""
        promised = ("engine", "rows", "conclusions")
        return json_of({key: value for key, value in self.as_dict().items() if key in promised})

    def to_result_json(self) -> str:
        """The content of validation.json."""
        return json_of(self.as_dict()) + "\n"

    def to_csv(self) -> str:
        """The rows as CSV."""
        return rows_to_csv(self.rows)


def validate_linux(
    ids: Iterable[str] = (),
    *,
    engine: str = "fast",
    jobs: int | None = None,
    replications: int = REPLICATIONS,
    seed: int = FIRST_SEED,
    overrides: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
    work: Work = measured,
) -> Validation:
    """Simulates scenarios that Linux was recorded over and puts our values beside the recorded.

    Args:
        ids: scenarios or groups of them; all if none is given.
        engine: which engine runs, `reference` or `fast`.
        jobs: processes at a time; all cores if not given.
        replications: runs of each scenario.
        seed: seed of the first replication; the others count on from it.
        overrides: scenario keys set otherwise, such as `tcp.preset`.
        on_progress: told the share of the simulated time that is done.
        work: makes one run; the engine's unless a test says otherwise.

    Raises:
        UnknownScenarioError: an ID names nothing.
        ValueError: fewer than one replication, or an engine that this build does not have.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    if replications < 1:
        raise ValueError(f"{replications} replications: must be 1 or more")
    refuse_unknown_engine(engine)
    began = time.perf_counter()
    overrides = dict(overrides or {})
    selected = select(ids)
    planned: dict[str, list[PlannedRun]] = {}
    refused: dict[str, str] = {}
    for scenario in selected:
        try:
            planned[scenario.id] = _planned(scenario, overrides, seed, replications)
        except ScenarioFaults as faults:
            refused[scenario.id] = _first(faults)
    ends = _made(
        [run for runs in planned.values() for run in runs], engine, jobs, on_progress, work
    )
    rows: list[Row] = []
    for scenario in selected:
        own = [ends[run.spec_hash] for run in planned.get(scenario.id, [])]
        failures = [refused[scenario.id]] if scenario.id in refused else _reasons(own)
        rows += _rows(scenario, own, failures)
    failed = [FailedRun(name, seed, reason) for name, reason in refused.items()]
    for runs in planned.values():
        for run in runs:
            if reason := ends[run.spec_hash].reason:
                failed.append(FailedRun(run.name, run.seed, reason))
    return Validation(
        engine=engine,
        version=version(),
        seed=seed,
        replications=replications,
        scenarios=tuple(selected),
        rows=tuple(rows),
        overrides=overrides,
        failed_runs=tuple(failed),
        wall_s=time.perf_counter() - began,
    )


def as_scenario(scenario: RecordedScenario, overrides: Mapping[str, Any]) -> Scenario:
    """A recorded scenario for our engines, some keys set otherwise.

    Raises:
        ScenarioFaults: our TCP has no such congestion control, or an override does not fit.
    """
    return parse(scenario.values(linux()), scenario.id).with_values(overrides)


def _planned(
    scenario: RecordedScenario, overrides: Mapping[str, Any], seed: int, replications: int
) -> list[PlannedRun]:
    spec = traced(as_scenario(scenario, overrides).resolve())
    return PlannedRun.replications(scenario.id, spec, range(seed, seed + replications))


def _made(
    runs: Sequence[PlannedRun],
    engine: str,
    jobs: int | None,
    on_progress: OnProgress | None,
    work: Work,
) -> dict[str, Outcome]:
    """How each run ended, by its spec's hash."""
    ends: dict[str, Outcome] = {}
    durations = {run.spec_hash: run.duration_ps for run in runs}
    to_do_s = sum(durations.values()) / PS_PER_SECOND

    def report(under_way: Mapping[str, int]) -> None:
        if on_progress is not None and to_do_s:
            done_ps = sum(durations[name] for name in ends) + sum(under_way.values())
            on_progress(done_ps / PS_PER_SECOND / to_do_s)

    def keep(outcomes: Sequence[Outcome]) -> None:
        ends.update({end.task.name: end for end in outcomes})

    with ProcessPool(jobs, work) as pool:
        run_tasks((run.task(engine) for run in runs), len(runs), pool, keep, on_under_way=report)
    return ends


def _rows(
    scenario: RecordedScenario, ends: Sequence[Outcome], failures: Sequence[str]
) -> list[Row]:
    recorded = recordings().get(scenario.id, ())
    runs = [json.loads(end.summary_json) for end in ends if end.summary_json is not None]
    several = scenario.group.connections > 1
    rows = []
    for measure in MEASURES:
        for flow in range(scenario.group.connections if measure.is_of_flow else 1):
            theirs = measure.recorded(recorded, flow)
            if not theirs:
                continue
            factors = scenario.factors
            if several:
                factors["flow"] = f"flow{flow + 1}" if measure.is_of_flow else "all"
            ours = tuple(run[flow][measure.name] for run in runs)
            rows.append(_row(scenario, measure, factors, theirs, ours, ends, failures))
    return rows


def _row(
    scenario: RecordedScenario,
    measure: Measure,
    factors: dict[str, str | int | float],
    theirs: Sequence[float],
    ours: tuple[float | None, ...],
    ends: Sequence[Outcome],
    failures: Sequence[str],
) -> Row:
    values = [value for value in ours if value is not None]
    return Row(
        study=LINUX,
        table=scenario.group.id,
        factors=factors,
        metric=measure.name,
        unit=measure.unit,
        published=sum(theirs) / len(theirs),
        published_range=(min(theirs), max(theirs)),
        by_replication=ours,
        verdict=verdict_of(theirs, values, failures),
        failures=tuple(failures),
        spec_hashes=tuple(end.task.name for end in ends),
    )


def _reasons(ends: Sequence[Outcome]) -> list[str]:
    return list(dict.fromkeys(end.reason for end in ends if end.reason))


def _first(faults: ScenarioFaults) -> str:
    """What a scenario is refused for, in one line."""
    fault = faults.faults[0]
    return f"{fault.path}: got {fault.got}, allowed {fault.allowed}"
