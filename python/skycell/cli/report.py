"""`skycell report`: a run or a sweep as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from skycell.cli.options import NamedPath, force_option, sweep_level_option
from skycell.cli.plot import drawing_faults, is_sweep_source, read_run, read_sweep_source
from skycell.cli.results import refuse_unwritable
from skycell.cli.verb import Verb


@click.command(
    cls=Verb,
    epilog="\b\nExamples:\n"
    "  skycell run examples/ubr-wan.toml --trace cwnd --out out/run\n"
    "  skycell report out/run --out run.html",
    short_help="Write a run's or a sweep's report as one HTML file.",
)
@click.argument("source", metavar="DIR", type=NamedPath(exists=True, path_type=Path))
@click.option(
    "--out",
    type=NamedPath(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="HTML file to write.",
)
@force_option("FILE if it exists")
@sweep_level_option
def report(source: Path, out: Path, force: bool, level: float | None) -> None:
    """Write flows, ports, ledger and figures of a run, or the findings of a sweep, into one file.

    DIR is a folder that `skycell run --out` or `skycell sweep --out` wrote, or the records.json or
    sweep.json in it. The file holds everything and asks nothing of a network. Reports of studies
    are written by `skycell reproduce --out`.

    Ends with 0, with 1 when drawing failed, with 2 when the input is faulty.
    """
    from skycell.plots.files import refuse_overwriting

    if out.suffix.lower() not in {".html", ".htm"}:
        raise click.BadParameter(f"{out}: a report is written as .html", param_hint="'--out'")
    with drawing_faults():
        refuse_unwritable(out, is_file=True)
        refuse_overwriting([out], force=force)
        if source.is_dir() and not (source / "spec.json").exists() and _is_study(source):
            raise click.UsageError(
                f"{source} holds a study, whose report `skycell reproduce --out` writes"
            )
        from skycell.plots.painters import DrawingFailed
        from skycell.report import write_run_report, write_sweep_report

        try:
            if is_sweep_source(source):
                write_sweep_report(read_sweep_source(source), out, force, level=level or 0.9)
            elif level is not None:
                raise click.UsageError("--level is for sweeps, and this is a run")
            else:
                write_run_report(read_run(source), out, force)
        except DrawingFailed as error:
            message = f"Drawing failed: {error}\nAll else is written to {out}."
            raise click.ClickException(message) from None
    click.echo(f"Written to {out}.")


def _is_study(folder: Path) -> bool:
    return (folder / "result.json").is_file()
