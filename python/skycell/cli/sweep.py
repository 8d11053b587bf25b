"""`skycell sweep`: a factorial study of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.axes import axes_options, chosen_axes
from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input_plan
from skycell.cli.options import (
    NamedPath,
    force_option,
    level_option,
    many_runs_options,
    out_folder_option,
    refuse_engine,
    table_options,
    where_of,
)
from skycell.cli.results import refuse_earlier_result, refuse_unwritable, report_result, writing
from skycell.cli.sentences import say_json
from skycell.cli.shards import refuse_results, report_shard
from skycell.cli.store import look_into_store, open_store, refuse_unfit_store
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.experiment.plan import Design
    from skycell.experiment.result import SweepResult
    from skycell.experiment.shard import Shard
    from skycell.plots.values import Axes

RESULTS = ("sweep.json", "runs.csv", "columns.csv", "report.html")


def _validate(
    collector: ErrorCollector,
    file: str | None,
    plan_only: bool,
    out: Path | None,
    no_report: bool,
    force: bool,
    replications: int | None,
    engine: str | None,
    store_path: Path | None,
    shard: Shard | None,
    jobs: int | None,
    scheduler: str | None,
    scheduler_file: Path | None,
    x: str | None,
    series: str | None,
    facet: tuple[str, ...] | None,
    **_: object,
) -> tuple[Design, Axes | None] | None:
    from skycell.experiment.plan import design_runs

    with collector.step():
        if engine is not None:
            refuse_engine(engine)
    with collector.step():
        where_of(jobs, scheduler, scheduler_file)
    with collector.step():
        refuse_results(shard, plan=plan_only, out=out, x=x, series=series, facet=facet)
    with collector.step():
        if no_report and out is None:
            raise click.UsageError(
                "--no-report leaves out a part of what --out writes: give --out DIR"
            )
    with collector.step():
        if out is not None:
            refuse_earlier_result(out, "sweep", RESULTS, force)
            if not plan_only:
                refuse_unwritable(out)
    with collector.step():
        refuse_unfit_store(store_path, to_look=plan_only)
    found: list[Design] = []
    with collector.step():
        if file is not None:
            found.append(design_runs(load_input_plan(file, replications)))
    if not found:
        return None
    names = [factor.name for factor in found[0].plan.factors]
    return found[0], chosen_axes(collector, names, x, series, facet)


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell sweep examples/sweeps/policy-and-buffer.toml --plan\n"
    "  skycell sweep examples/sweeps/policy-and-buffer.toml --out out/policies\n"
    "  skycell sweep examples/sweeps/policy-and-buffer.toml --x buffer --series policy\n"
    "  skycell sweep examples/sweeps/policy-and-buffer.toml --shard 1/4 --store shard1.sqlite\n"
    "  skycell analyse out/policies --response max_min_fairness --level 95",
    short_help="Run every combination of some factors' levels.",
)
@click.argument("file", type=NamedPath(), metavar="FILE")
@click.option("--plan", "plan_only", is_flag=True, help="Show what would be run, and exit.")
@table_options()
@out_folder_option(
    "Write sweep.json, runs.csv, columns.csv (what its columns hold) and a report with its figures "
    "into DIR."
)
@click.option(
    "--no-report",
    is_flag=True,
    help="With --out: no report and no figures; skycell report draws them later.",
)
@force_option("files of an earlier result in DIR")
@click.option(
    "--replications",
    type=click.IntRange(1),
    help="Runs of each combination, instead of the file's.",
)
@axes_options
@level_option
@many_runs_options
def sweep(
    plan_only: bool,
    as_json: bool,
    out: Path | None,
    no_report: bool,
    force: bool,
    jobs: int | None,
    scheduler: str | None,
    scheduler_file: Path | None,
    level: float,
    engine: str,
    store_path: Path | None,
    shard: Shard | None,
    fresh: bool,
    **_: object,
) -> None:
    """Run every combination of the factors' levels in FILE and show which factors matter.

    FILE has a scenario, factors with their levels, and a number of replications. An interrupted
    call keeps the runs that are finished; the same call continues from there. If FILE is -, the
    sweep comes from standard input, and files that it names are looked for relative to the current
    folder.

    Exits with 0, with 1 if a run failed, with 2 if the input is faulty.
    """
    found = validated(_validate)
    assert found is not None
    design, axes = found
    if plan_only:
        from skycell.cli.sweep_output import show_plan

        with look_into_store(store_path) as store:
            show_plan(design, store, engine, as_json)
        return
    from skycell.cli.study_progress import StudyProgress
    from skycell.experiment.sweep import make_shard
    from skycell.experiment.sweep import sweep as make

    where = where_of(jobs, scheduler, scheduler_file)
    if shard is not None:
        with open_store(store_path) as store, StudyProgress(store.path) as progress:
            made = make_shard(
                design, shard, store, engine=engine, on_progress=progress, fresh=fresh, **where
            )
        report_shard(made, shard, store.path, as_json)
        return
    with open_store(store_path) as store:
        with StudyProgress(store.path) as progress:
            result = make(
                design, engine=engine, store=store, on_progress=progress, fresh=fresh, **where
            )
        fault = (
            None
            if out is None
            else (write_sweep(result, out, force, store.path, level=None if no_report else level))
        )
    failed = None
    if result.failed:
        first = result.failed[0]
        failed = (
            f"{len(result.failed)} of {len(result.runs)} runs failed, the first: "
            f"{' '.join(f'{k}={v}' for k, v in first.levels.items())}, seed {first.seed}: "
            f"{first.reason}"
        )

    def show() -> None:
        if as_json:
            from skycell.cli.sweep_output import spread_of

            spread = spread_of(result)
            data = result.as_dict() | ({"spread": spread} if spread else {})
            say_json(data)
        else:
            from skycell.cli.sweep_output import show_notes, show_sweep

            show_sweep(result, level, axes)
            show_notes(design)

    again = f"skycell analyse {out}"
    report_result(show, out, fault, as_json=as_json, failed=failed, store=store.path, again=again)


def write_sweep(
    result: SweepResult,
    out: Path,
    force: bool,
    store: str | Path,
    *,
    level: float | None,
    beside: Mapping[Path, bytes] | None = None,
) -> str | None:
    """Writes a sweep's files; its report at a confidence level, or none. Returns what was wrong.

    Args:
        result: the sweep.
        out: the folder.
        force: whether an earlier result is replaced.
        store: where its runs are kept.
        level: of the report's intervals; none for no report.
        beside: further files, with their contents.
    """
    from skycell.cli.progress import DrawingProgress
    from skycell.plots.files import write_all
    from skycell.report import write_sweep_report

    texts = {
        "sweep.json": result.to_json() + "\n",
        "runs.csv": result.to_csv(),
        "columns.csv": result.columns_to_csv(),
    }
    beside = {out / name: text.encode() for name, text in texts.items()} | dict(beside or {})
    report = out / "report.html"
    if level is None:
        with writing(out, store) as reported:
            write_all(beside, force=force)
        return reported.fault
    with writing(out, store) as reported, DrawingProgress() as progress:
        write_sweep_report(
            result,
            report,
            force,
            level=level,
            figures=out / "figures",
            beside=beside,
            on_drawn=progress,
        )
    return reported.fault
