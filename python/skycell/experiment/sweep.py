"""`sweep`: every run of a factorial study, made once and kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, Unpack

from skycell.experiment.batch import Batch, Made, MakeOptions, OnProgress
from skycell.experiment.cluster import Scheduler
from skycell.experiment.design import SweepPlan
from skycell.experiment.file import load_plan, parse_plan
from skycell.experiment.plan import Design, design_runs
from skycell.experiment.result import SweepResult, SweepRun
from skycell.experiment.shard import Shard
from skycell.experiment.store import RunStore
from skycell.experiment.subjects import subjects_of
from skycell.experiment.tasks import Work, simulate
from skycell.measures.responses import meaning_of, measure, response_of
from skycell.measures.run_view import SweepView

PlanLike = SweepPlan | str | PathLike[str] | Mapping[str, Any]
"""A sweep, or what one can be made of: a file, or the data that a file stands for."""


def sweep(
    source: PlanLike | Design,
    *,
    engine: str = "fast",
    jobs: int | None = None,
    scheduler: Scheduler | None = None,
    store: RunStore | None = None,
    on_progress: OnProgress | None = None,
    fresh: bool = False,
    only_stored: bool = False,
    version: str | None = None,
    work: Work = simulate,
) -> SweepResult:
    """Makes every run of a sweep that the store does not have, and measures them all.

    Args:
        source: the file of the sweep, the data that such a file stands for, a plan, or all of its
            runs as `design_runs` gives them.
        engine: name of the engine.
        jobs: processes of this machine at a time; all cores if not given.
        scheduler: of a Dask cluster that makes the runs instead: its address, such as
            `tcp://host:8786`, or as a `Path` the file that it has written.
        store: where finished runs are kept and looked up; in memory only if not given.
        on_progress: called as runs go on and end.
        fresh: simulate also what the store has.
        only_stored: simulate nothing; a store that was opened to look only will do.
        version: part of a stored run's key; this build's if not given.
        work: makes one run; the engine's unless a test says otherwise.

    Raises:
        ScenarioFaults: the file has faults, or some of its cells' scenarios, or the cluster cannot
            be used.
        MissingRunsError: with `only_stored`, the store lacks runs.
        OSError: the file cannot be read.
        ValueError: this build does not have the engine, or `fresh` is given with `only_stored`, or
            `jobs` with `scheduler`.
        PoolLostError: the scheduler is gone; finished runs are in the store.
        StoreError: there are runs to make, and the store was opened to look only.
        KeyboardInterrupt: Ctrl-C was pressed; finished runs are in the store.
    """
    if fresh and only_stored:
        raise ValueError("fresh simulates every run, only_stored none: only one of them is allowed")
    design = source if isinstance(source, Design) else design_runs(as_plan(source))
    with Batch(store, engine, version) as batch:
        runs = design.runs.different
        if only_stored:
            batch.refuse_missing(runs)
        made = batch.make(
            runs,
            jobs=jobs,
            scheduler=scheduler,
            on_progress=on_progress,
            fresh=fresh,
            work=work,
        )
        return SweepResult(
            title=design.plan.title,
            file=design.plan.name,
            factors={
                factor.name: tuple(level.label for level in factor.levels)
                for factor in design.plan.factors
            },
            factor_units={
                factor.name: factor.unit for factor in design.plan.factors if factor.unit
            },
            replications=design.plan.replications,
            first_seed=design.plan.first_seed,
            common_random_numbers=design.plan.common_random_numbers,
            units={name: _unit_of(name, design) for name in design.plan.responses},
            subjects=subjects_of(
                design.plan.responses, [*design.runs.known.values(), *design.runs.of_run.values()]
            ),
            meanings={name: meaning_of(name) for name in design.plan.responses},
            engine=engine,
            version=batch.version,
            runs=tuple(_measured(design, batch)),
            from_store=made.from_store,
        )


def make_shard(
    source: PlanLike | Design,
    shard: Shard,
    store: RunStore,
    *,
    engine: str = "fast",
    version: str | None = None,
    **options: Unpack[MakeOptions],
) -> Made:
    """Makes a share of a sweep's runs, and measures nothing; the parameters are those of `sweep`.

    Once the stores of all shards are merged, `sweep` has every run.
    """
    design = source if isinstance(source, Design) else design_runs(as_plan(source))
    with Batch(store, engine, version) as batch:
        return batch.make(shard.share_of(design.runs.different), **options)


def as_plan(source: PlanLike) -> SweepPlan:
    """A checked plan; raises `ScenarioFaults`."""
    if isinstance(source, SweepPlan):
        return source
    if isinstance(source, Mapping):
        return parse_plan(source)
    return load_plan(source)


def _unit_of(response: str, design: Design) -> str:
    """The unit of a response; of a count of cells what the ports hold."""
    unit = response_of(response).unit
    if unit != "cells":
        return unit
    held = dict.fromkeys(network.unit for network in design.runs.known.values())
    return held.popitem()[0] if len(held) == 1 else "cells or packets"


def _measured(design: Design, batch: Batch) -> Iterator[SweepRun]:
    plan = design.plan
    for cell, replications in design.runs.of_cell.items():
        for number, (run,) in enumerate(replications, 1):
            end = batch.end(run.spec_hash)
            values: dict[str, float | None] = dict.fromkeys(plan.responses)
            if end.summary is not None:
                view = SweepView(end.summary, design.runs.known_of(cell, run), plan.throughput)
                values = {name: measure(name, view) for name in plan.responses}
            yield SweepRun(cell.labels, number, run.seed, run.spec_hash, values, end.reason)
