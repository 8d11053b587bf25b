"""`skycell report`: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from skycell.cli.plot import drawing_faults, read_run


@click.command(
    epilog="Example:  skycell run examples/ubr-wan.toml --trace cwnd --out out/run && "
    "skycell report out/run --out run.html",
    short_help="Write a run's report as one HTML file.",
)
@click.argument("source", metavar="RUN_DIR", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="HTML file to write.",
)
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def report(source: Path, out: Path, force: bool) -> None:
    """Write flows, ports, ledger and figures of a run into one HTML file.

    RUN_DIR is a folder that `skycell run --out` wrote, or the records.json in it. The file holds
    everything and asks nothing of a network. Reports of studies are written by `skycell reproduce
    --out`.

    Ends with 0, with 1 when drawing failed, with 2 when the input is faulty.
    """
    if out.suffix.lower() not in {".html", ".htm"}:
        raise click.BadParameter(f"{out}: a report is written as .html", param_hint="'--out'")
    with drawing_faults():
        if source.is_dir() and not (source / "spec.json").exists() and _is_study(source):
            raise click.UsageError(
                f"{source} holds a study, whose report `skycell reproduce --out` writes"
            )
        from skycell.report import write_run_report

        write_run_report(read_run(source), out, force)
    click.echo(f"Written to {out}.")


def _is_study(folder: Path) -> bool:
    return (folder / "result.json").is_file()
