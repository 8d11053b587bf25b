"""`skycell report`: a run or a sweep as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import read_run
from skycell.cli.options import NamedPath, force_option, level_option_of
from skycell.cli.results import drawing_faults, refuse_unwritable
from skycell.cli.runs_table import is_sweep_source, read_sweep_source
from skycell.cli.sentences import say
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.records.result import RunResult


class Report(Call):
    """Write flows, ports, ledger and figures of a run, or the findings of a sweep, into one file.

    DIR is a folder that `skycell run --out` or `skycell sweep --out` wrote, or the records.json or
    sweep.json in it. The file contains everything it needs and loads nothing from a network.
    Reports of studies are written by `skycell reproduce --out`.

    Exits with 0, with 1 if drawing failed, with 2 if the input is faulty.
    """

    source: Path = argument(metavar="DIR", type=NamedPath(path_type=Path))
    out: Path = option(
        "--out",
        type=NamedPath(path_type=Path),
        default=Path("report.html"),
        show_default=True,
        metavar="FILE",
        help="HTML file to write.",
    )
    force: bool = force_option("FILE if it exists")
    level: float | None = level_option_of("a sweep")

    def check(self, collector: ErrorCollector) -> RunResult | SweepResult | None:
        """Also reads the result."""
        with collector.step(), drawing_faults():
            _refuse_target(self.out, self.force)
        with collector.step(), drawing_faults():
            with collector.step():
                is_sweep = is_sweep_source(self.source)
                if self.level is not None and self.source.exists() and not is_sweep:
                    raise click.UsageError("--level is for sweeps, and this is not one")
            return _read(self.source)
        return None

    def run(self, found: RunResult | SweepResult) -> None:
        from skycell.cli.progress import DrawingProgress
        from skycell.plots.render_workers import DrawingFailed
        from skycell.records.result import RunResult
        from skycell.report import write_run_report, write_sweep_report

        with drawing_faults():
            try:
                with DrawingProgress() as progress:
                    if isinstance(found, RunResult):
                        write_run_report(found, self.out, self.force, on_drawn=progress)
                    else:
                        write_sweep_report(
                            found, self.out, self.force, level=self.level or 0.9, on_drawn=progress
                        )
            except DrawingFailed as error:
                message = f"Drawing failed: {error}\nThe rest was written to {self.out}."
                raise click.ClickException(message) from None
        say(f"Written to {self.out}.")


report = Verb(
    Report,
    "skycell run examples/ubr-wan.toml --trace cwnd --out out/run",
    "skycell report out/run --out run.html",
)


def _refuse_target(out: Path, force: bool) -> None:
    from skycell.plots.files import refuse_overwriting

    if out.suffix.lower() not in {".html", ".htm"}:
        raise click.BadParameter(f"{out}: a report is written as .html", param_hint="'--out'")
    refuse_unwritable(out, is_file=True)
    refuse_overwriting([out], force=force)


def _read(source: Path) -> RunResult | SweepResult:
    if not source.exists():
        raise click.UsageError(f"{source} does not exist")
    if is_sweep_source(source):
        return read_sweep_source(source)
    if source.is_dir() and not (source / "spec.json").exists() and _is_study(source):
        raise click.UsageError(
            f"{source} holds a study, whose report `skycell reproduce --out` writes"
        )
    return read_run(source)


def _is_study(folder: Path) -> bool:
    return (folder / "result.json").is_file()
