"""Reproducing published tables: making the runs they need and putting ours beside theirs."""

import time
from collections.abc import Iterable
from typing import Unpack

from skycell.experiment.batch import Batch, Made, MakeOptions, OnProgress, Progress
from skycell.experiment.cluster import Scheduler
from skycell.experiment.shard import Shard
from skycell.experiment.store import RunStore
from skycell.experiment.tasks import Work, simulate
from skycell.studies.design import Overrides
from skycell.studies.findings import evaluate_all
from skycell.studies.library import Selection, select
from skycell.studies.model import Study
from skycell.studies.overrides import refuse_faulty
from skycell.studies.plan import Plan, plan_runs
from skycell.studies.reproduction import ChoiceInForce, FailedRun, Reproduction, RunCounts
from skycell.studies.rows import measure_rows

__all__ = ["FIRST_SEED", "OnProgress", "Progress", "reproduce"]

FIRST_SEED = 1
"""Seed of the first replication; the k-th has the k-th number from there on."""


class Options(MakeOptions, total=False):
    """How `reproduce` makes runs, under the names of its parameters, for who hands it on."""

    engine: str
    store: RunStore | None
    version: str | None


def reproduce(
    ids: str | Iterable[str],
    *,
    engine: str = "fast",
    jobs: int | None = None,
    scheduler: Scheduler | None = None,
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
        ids: a table, a study, `all` or `own`, or several of them; see `skycell.studies.known_ids`.
        engine: which engine runs, `reference` or `fast`.
        jobs: processes of this machine at a time; all cores if not given.
        scheduler: of a Dask cluster that makes the runs instead: its address, such as
            `tcp://host:8786`, or as a `Path` the file that it has written.
        store: where finished runs are kept and looked up; in memory only if not given.
        on_progress: called as runs go on and end.
        replications: runs per case; as many as each study says if not given.
        seed: seed of the first replication; the others count on from it.
        overrides: choices or scenario keys set otherwise than the studies say.
        fresh: simulate also what the store has.
        version: part of a stored run's name; this build's if not given.
        work: makes one run; the engine's unless a test says otherwise.

    Raises:
        UnknownStudyError: an ID names nothing.
        ScenarioFaults: an override does not fit, or the cluster cannot be used; told before
            anything is run.
        ValueError: no ID, fewer than one replication, `jobs` with `scheduler`, or an engine that
            this build does not have.
        PoolLostError: the scheduler is gone; finished runs are in the store.
        KeyboardInterrupt: Ctrl-C was pressed; finished runs are in the store.
    """
    began = time.perf_counter()
    overrides = dict(overrides or {})
    selection, plan = _planned(ids, seed, replications, overrides, jobs)
    with Batch(store, engine, version) as batch:
        runs = plan.different
        made = batch.make(
            runs,
            jobs=jobs,
            scheduler=scheduler,
            on_progress=on_progress,
            fresh=fresh,
            work=work,
        )
        ends = {run.spec_hash: batch.end(run.spec_hash) for run in runs}
    rows = measure_rows(selection, plan, ends, overrides)
    studies = list({found.study.id: found.study for found in selection}.values())
    tables = tuple(found.table.id for found in selection)
    return Reproduction(
        engine=engine,
        version=batch.version,
        seed=seed,
        replications={study.id: _replications(study, replications) for study in studies},
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
            needed=len(runs),
            from_store=made.from_store,
            simulated=made.simulated,
            failed=len(made.failed),
            shared=plan.shared(),
            wall_s=time.perf_counter() - began,
        ),
        failed_runs=tuple(FailedRun(run.name, run.seed, run.reason) for run in made.failed),
    )


def make_shard(
    ids: str | Iterable[str],
    shard: Shard,
    store: RunStore,
    *,
    engine: str = "fast",
    replications: int | None = None,
    seed: int = FIRST_SEED,
    overrides: Overrides | None = None,
    version: str | None = None,
    **options: Unpack[MakeOptions],
) -> Made:
    """Makes a share of the runs that some tables need, and evaluates nothing.

    Once the stores of all shards are merged, `reproduce` has every run; the parameters are its.
    """
    _, plan = _planned(ids, seed, replications, dict(overrides or {}), options.get("jobs"))
    with Batch(store, engine, version) as batch:
        return batch.make(shard.share_of(plan.different), **options)


def _planned(
    ids: str | Iterable[str],
    seed: int,
    replications: int | None,
    overrides: Overrides,
    jobs: int | None,
) -> tuple[list[Selection], Plan]:
    """The tables that are asked for, and their runs; raises as `reproduce` does."""
    if replications is not None and replications < 1:
        raise ValueError(f"{replications} replications: must be 1 or more")
    ids = [ids] if isinstance(ids, str) else list(ids)
    if not ids:
        raise ValueError("0 ids: must be 1 or more")
    selection = select(ids)
    refuse_faulty(selection, [overrides], seed)
    return selection, plan_runs(selection, seed, replications, overrides, jobs)


def _replications(study: Study, asked: int | None) -> int:
    """Replications of a study: 1 where nothing is drawn."""
    has_runs = any(entry.kind == "runs" for entry in study.experiments.values())
    return (asked or study.replications) if has_runs else 1
