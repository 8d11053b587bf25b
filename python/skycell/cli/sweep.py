"""`skycell sweep`: a factorial study of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.axes import AxesOptions
from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input_plan
from skycell.cli.options import (
    ManyRuns,
    NamedPath,
    force_option,
    latex_option,
    level_option,
    out_folder_option,
    table_json_option,
)
from skycell.cli.results import refuse_earlier_result, refuse_unwritable, report_result, writing
from skycell.cli.sentences import say_json
from skycell.cli.shards import refuse_results, report_shard
from skycell.cli.store import look_into_store, open_store, refuse_unfit_store
from skycell.cli.verb import Call, Verb, argument, option, shared

if TYPE_CHECKING:
    from skycell.experiment.plan import Design
    from skycell.experiment.result import SweepResult
    from skycell.plots.values import Axes

RESULTS = ("sweep.json", "runs.csv", "columns.csv", "report.html")


class Sweep(Call):
    """Run every combination of the factors' levels in FILE and show which factors matter.

    FILE has a scenario, factors with their levels, and a number of replications. An interrupted
    call keeps the runs that are finished; the same call continues from there. If FILE is -, the
    sweep comes from standard input, and files that it names are looked for relative to the current
    folder.

    Exits with 0, with 1 if a run failed, with 2 if the input is faulty.
    """

    file: str = argument(type=NamedPath(), metavar="FILE")
    plan_only: bool = option("--plan", is_flag=True, help="Show what would be run, and exit.")
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()
    out: Path | None = out_folder_option(
        "Write sweep.json, runs.csv, columns.csv (what its columns hold) and a report with its "
        "figures into DIR."
    )
    no_report: bool = option(
        "--no-report",
        is_flag=True,
        help="With --out: no report and no figures; skycell report draws them later.",
    )
    force: bool = force_option("files of an earlier result in DIR")
    replications: int | None = option(
        "--replications",
        type=click.IntRange(1),
        help="Runs of each combination, instead of the file's.",
    )
    axes = shared(AxesOptions)
    level: float = level_option()
    runs = shared(ManyRuns)

    def check(self, collector: ErrorCollector) -> tuple[Design, Axes | None] | None:
        from skycell.experiment.plan import design_runs

        self.runs.check(collector)
        with collector.step():
            refuse_results(
                self.runs.shard,
                plan=self.plan_only,
                out=self.out,
                x=self.axes.x,
                series=self.axes.series,
                facet=self.axes.facet,
            )
        with collector.step():
            if self.no_report and self.out is None:
                raise click.UsageError(
                    "--no-report leaves out a part of what --out writes: give --out DIR"
                )
        with collector.step():
            if self.out is not None:
                refuse_earlier_result(self.out, "sweep", RESULTS, self.force)
                if not self.plan_only:
                    refuse_unwritable(self.out)
        with collector.step():
            refuse_unfit_store(self.runs.store_path, to_look=self.plan_only)
        design = collector.read(lambda: design_runs(load_input_plan(self.file, self.replications)))
        if design is None:
            return None
        return design, self.axes.chosen(collector, [f.name for f in design.plan.factors])

    def run(self, found: tuple[Design, Axes | None]) -> None:
        design, axes = found
        if self.plan_only:
            from skycell.cli.sweep_output import show_plan

            with look_into_store(self.runs.store_path) as store:
                show_plan(design, store, self.runs.engine, self.as_json)
            return
        from skycell.cli.study_progress import StudyProgress
        from skycell.experiment.sweep import make_shard
        from skycell.experiment.sweep import sweep as make

        if self.runs.shard is not None:
            with open_store(self.runs.store_path) as store, StudyProgress(store.path) as progress:
                made = make_shard(
                    design,
                    self.runs.shard,
                    store,
                    engine=self.runs.engine,
                    on_progress=progress,
                    fresh=self.runs.fresh,
                    **self.runs.where,
                )
            report_shard(made, self.runs.shard, store.path, self.as_json)
            return
        with open_store(self.runs.store_path) as store:
            with StudyProgress(store.path) as progress:
                result = make(
                    design,
                    engine=self.runs.engine,
                    store=store,
                    on_progress=progress,
                    fresh=self.runs.fresh,
                    **self.runs.where,
                )
            fault = None
            if self.out is not None:
                level = None if self.no_report else self.level
                fault = write_sweep(result, self.out, self.force, store.path, level=level)
        failed = None
        if result.failed:
            first = result.failed[0]
            failed = (
                f"{len(result.failed)} of {len(result.runs)} runs failed, the first: "
                f"{' '.join(f'{k}={v}' for k, v in first.levels.items())}, seed {first.seed}: "
                f"{first.reason}"
            )

        def show() -> None:
            if self.as_json:
                from skycell.cli.sweep_output import spread_of

                spread = spread_of(result)
                data = result.as_dict() | ({"spread": spread} if spread else {})
                say_json(data)
            else:
                from skycell.cli.sweep_output import show_notes, show_sweep

                show_sweep(result, self.level, axes)
                show_notes(design)

        again = f"skycell analyse {self.out}"
        report_result(
            show,
            self.out,
            fault,
            as_json=self.as_json,
            failed=failed,
            store=store.path,
            again=again,
        )


sweep = Verb(
    Sweep,
    "skycell sweep examples/sweeps/policy-and-buffer.toml --plan",
    "skycell sweep examples/sweeps/policy-and-buffer.toml --out out/policies",
    "skycell sweep examples/sweeps/policy-and-buffer.toml --x buffer --series policy",
    "skycell sweep examples/sweeps/policy-and-buffer.toml --shard 1/4 --store shard1.sqlite",
    "skycell analyse out/policies --response max_min_fairness --level 95",
)


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
