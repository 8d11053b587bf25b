"""Reproducing published tables: making the runs they need and putting ours beside theirs."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from skycell.experiment.pool import Outcome, run_tasks
from skycell.experiment.store import RunKey, RunStore, engine_version
from skycell.experiment.tasks import Task, Work, simulate
from skycell.studies.design import Overrides
from skycell.studies.findings import evaluate_all
from skycell.studies.library import select
from skycell.studies.plan import Plan, PlannedRun, plan_runs
from skycell.studies.reproduction import ChoiceInForce, FailedRun, Reproduction, RunCounts
from skycell.studies.rows import RunEnd, measure_rows

FIRST_SEED = 1
"""Seed of the first replication; the k-th has the k-th number from there on."""


@dataclass(frozen=True)
class Progress:
    """How far the runs of a reproduction are."""

    runs_done: int
    runs_to_do: int
    simulated_s: float
    """Simulated seconds, runs under way included."""
    simulated_s_to_do: float


OnProgress = Callable[[Progress], None]


def reproduce(
    ids: Iterable[str],
    *,
    engine: str = "fast",
    jobs: int | None = None,
    store: RunStore | None = None,
    on_progress: OnProgress | None = None,
    replications: int | None = None,
    seed: int = FIRST_SEED,
    overrides: Overrides | None = None,
    fresh: bool = False,
    version: str | None = None,
    work: Work = simulate,
) -> Reproduction:
    """Simulates what some published tables need and puts our values beside theirs.

    Args:
        ids: tables, studies or `all`; see `skycell.studies.known_ids`.
        engine: which engine runs, `reference` or `fast`.
        jobs: processes at a time; all cores if not given.
        store: where finished runs are kept and looked up; in memory only if not given.
        on_progress: called as runs go on and end.
        replications: runs per case; as many as each study says if not given.
        seed: seed of the first replication; the others count on from it.
        overrides: choices or scenario keys set otherwise than the studies say.
        fresh: simulate also what the store has.
        version: the engine's version, part of a stored run's name; asked from it if not given.
        work: makes one run; the engine's unless a test says otherwise.

    Raises:
        UnknownStudyError: an ID names nothing.
        ScenarioFaults: an override does not fit the scenario.
        ChoiceError: an override of the evaluation is not allowed.
        ValueError: fewer than one replication.
        KeyboardInterrupt: Ctrl-C was pressed; finished runs are in the store.
    """
    if replications is not None and replications < 1:
        raise ValueError(f"{replications} replications: allowed is 1 or more")
    began = time.perf_counter()
    selection = select(ids)
    overrides = dict(overrides or {})
    plan = plan_runs(selection, seed, replications, overrides)
    version = engine_version() if version is None else version
    with ExitStack() as stack:
        if store is None:
            store = stack.enter_context(RunStore(":memory:"))
        keys = {name: RunKey(name, engine, version) for name in plan.runs}
        missing = [
            run for name, run in plan.runs.items() if fresh or not store.is_finished(keys[name])
        ]
        failed = _simulate(plan, missing, store, keys, jobs, on_progress, work)
        ends = {name: _end_of(store, key) for name, key in keys.items()}
    rows = measure_rows(selection, plan, ends, overrides)
    studies = list({found.study.id: found.study for found in selection}.values())
    tables = tuple(found.table.id for found in selection)
    return Reproduction(
        engine=engine,
        version=version,
        seed=seed,
        replications={study.id: replications or study.replications for study in studies},
        tables=tables,
        rows=tuple(rows),
        conclusions=tuple(evaluate_all(studies, tables, rows)),
        choices=tuple(
            ChoiceInForce.of(study, choice, overrides.get(choice.name, choice.value))
            for study in studies
            for choice in study.choices
        ),
        overrides=overrides,
        runs=RunCounts(
            needed=len(plan.runs),
            from_store=len(plan.runs) - len(missing),
            simulated=len(missing) - len(failed),
            failed=len(failed),
            shared=plan.shared(),
            wall_s=time.perf_counter() - began,
        ),
        failed_runs=tuple(failed),
    )


def _end_of(store: RunStore, key: RunKey) -> RunEnd:
    stored = store.get(key)
    return RunEnd(None, "not run") if stored is None else RunEnd(stored.summary, stored.reason)


def _simulate(
    plan: Plan,
    missing: Sequence[PlannedRun],
    store: RunStore,
    keys: Mapping[str, RunKey],
    jobs: int | None,
    on_progress: OnProgress | None,
    work: Work,
) -> list[FailedRun]:
    failed: list[FailedRun] = []
    to_do_s = sum(run.duration_ps for run in missing) / 1e12
    done, done_ps = 0, 0

    def tell(under_way: Mapping[str, int]) -> None:
        if on_progress is not None:
            simulated_s = (done_ps + sum(under_way.values())) / 1e12
            on_progress(Progress(done, len(missing), simulated_s, to_do_s))

    def note(outcome: Outcome) -> None:
        nonlocal done, done_ps
        run = plan.runs[outcome.task.name]
        if outcome.summary is not None:
            store.put_finished(keys[run.spec_hash], outcome.summary, outcome.wall_s)
        else:
            reason = outcome.reason or "no reason given"
            store.put_failed(keys[run.spec_hash], reason, outcome.wall_s)
            failed.append(FailedRun(str(run.case), run.seed, reason))
        done += 1
        done_ps += run.duration_ps
        tell({})

    # Specs of a large network take megabytes as text: each is written when its turn comes.
    tasks = (
        Task(
            name=run.spec_hash,
            spec_json=plan.spec(run).canonical_json(),
            engine=keys[run.spec_hash].engine,
            duration_ps=run.duration_ps,
        )
        for run in missing
    )
    tell({})
    run_tasks(tasks, note, jobs=jobs, on_under_way=tell, work=work)
    return failed
