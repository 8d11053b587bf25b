"""`skycell export`: a run's traces, or a sweep's runs, in the formats of other tools."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option
from skycell.cli.plot import drawing_faults, read_run
from skycell.cli.results import refuse_unwritable, report_result, shown_place, writing
from skycell.cli.runs_table import is_sweep_source, read_sweep_source
from skycell.cli.sentences import say
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    import polars as pl

    from skycell.experiment.result import SweepResult
    from skycell.records.result import RunResult

_TABLES = ("csv", "parquet")
_FORMS = (*_TABLES, "pcapng", "qlog", "ss")
_USUAL_STEP = "100 ms"


def _validate(
    collector: ErrorCollector,
    source: Path | None,
    form: str | None,
    out: Path | None,
    force: bool,
    flows: tuple[str, ...] | None,
    every: TimeOption | None,
    **_: object,
) -> RunResult | SweepResult | None:
    """Also reads the result."""
    from skycell.records.result import RunResult

    found: list[RunResult | SweepResult] = []
    is_sweep = source is not None and is_sweep_source(source)
    with collector.step(), drawing_faults():
        if source is not None:
            found.append(read_sweep_source(source) if is_sweep else read_run(source))
    with collector.step():
        if is_sweep and form not in (None, *_TABLES):
            raise click.UsageError(
                f"--as {form} is of a run, and this is a sweep: it has csv, parquet"
            )
    with collector.step():
        if every is not None and form not in (None, "ss"):
            raise click.UsageError(f"--every is the step of --as ss, and this is {form}")
        if every is not None and every.ps == 0:
            raise click.BadParameter("0 s: must be above 0", param_hint="'--every'")
    with collector.step():
        if flows and form in _TABLES:
            raise click.UsageError(
                f"--flow is for pcapng, qlog and ss; --as {form} writes whole traces"
            )
    with collector.step(), drawing_faults():
        if flows and found and isinstance(found[0], RunResult):
            from skycell.plots.run import refuse_unknown_flows

            refuse_unknown_flows(found[0].spec, flows)
    with collector.step(), drawing_faults():
        if out is not None and form is not None and found:
            _refuse_targets(_files(found[0], form, out), out, force)
    return found[0] if found else None


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell run examples/ubr-wan.toml --trace sequence --trace cwnd --out out/run\n"
    "  skycell export out/run --as pcapng --flow flow1 --out flow1.pcapng\n"
    "  skycell export out/run --as qlog --out run.qlog\n"
    "  skycell export out/run --as ss --every '50 ms' --out sockets.csv\n"
    "  skycell export out/run --as csv --out out/tables\n"
    "  skycell export out/policies --as parquet --out runs.parquet",
    short_help="Write a run's traces or a sweep's runs for other tools.",
)
@click.argument("source", metavar="DIR", type=NamedPath(path_type=Path))
@click.option(
    "--as",
    "form",
    type=click.Choice(_FORMS),
    required=True,
    help="Tables with names and seconds (csv, parquet), a capture for Wireshark (pcapng), a log "
    "for qvis (qlog), or samples of senders in the words of ss, as CSV (ss).",
)
@click.option(
    "--out",
    type=NamedPath(path_type=Path),
    required=True,
    metavar="PATH",
    help="File to write; for the tables of a run a folder, with one file per trace.",
)
@click.option(
    "--flow", "flows", multiple=True, metavar="NAME", help="Only this flow; may be repeated."
)
@click.option("--every", type=TIME, help=f"Time between samples of ss.  [default: {_USUAL_STEP}]")
@force_option("PATH if it exists")
def export(
    form: str, out: Path, force: bool, flows: tuple[str, ...], every: TimeOption | None, **_: object
) -> None:
    """Write what a run traced, or the runs of a sweep, in a format that other tools read.

    DIR is a folder that `skycell run --out` or `skycell sweep --out` wrote. pcapng and qlog take
    the trace sequence of a run, ss the traces sequence and cwnd: `skycell run --trace` keeps them.

    Exits with 0, or with 2 if the input is faulty.
    """
    from skycell.exports.named import NothingToExport
    from skycell.plots.files import write_all

    found = validated(_validate)
    assert found is not None
    with drawing_faults():
        try:
            contents = _contents(found, form, out, flows, every)
        except NothingToExport as error:
            raise click.UsageError(str(error)) from None
        with writing(out) as reported:
            write_all(contents, force=force)
    names = ", ".join(shown_place(path) for path in contents)

    def show() -> None:
        if reported.fault is None:
            say(f"Written: {names}.")

    report_result(show, None, reported.fault, as_json=True)


def _contents(
    found: RunResult | SweepResult,
    form: str,
    out: Path,
    flows: Sequence[str],
    every: TimeOption | None,
) -> dict[Path, bytes]:
    """What is to be written into which file."""
    from skycell.exports.capture import write_capture
    from skycell.exports.named import named
    from skycell.exports.qlog import write_qlog
    from skycell.exports.samples import socket_samples
    from skycell.records.result import RunResult

    if not isinstance(found, RunResult):
        return {out: _table(found.frame(), form)}
    if form in _TABLES:
        _refuse_without_traces(found)
        return {
            out / f"{name}.{form}": _table(named(trace, found.spec), form)
            for name, trace in found.traces.items()
        }
    if form == "ss":
        from skycell.input.quantities import parse_quantity

        step = every.ps if every else int(parse_quantity(_USUAL_STEP).amount)
        return {out: _table(socket_samples(found, flows, step), "csv")}
    if form == "qlog":
        log = io.StringIO()
        write_qlog(found, flows, log)
        return {out: log.getvalue().encode()}
    capture = io.BytesIO()
    write_capture(found, flows, capture)
    return {out: capture.getvalue()}


def _table(frame: pl.DataFrame, form: str) -> bytes:
    buffer = io.BytesIO()
    if form == "csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()


def _files(found: RunResult | SweepResult, form: str, out: Path) -> list[Path]:
    """The files that will be written."""
    from skycell.records.result import RunResult

    if isinstance(found, RunResult) and form in _TABLES:
        return [out / f"{name}.{form}" for name in found.traces]
    return [out]


def _refuse_targets(files: Sequence[Path], out: Path, force: bool) -> None:
    from skycell.plots.files import refuse_overwriting

    refuse_unwritable(out, is_file=files == [out])
    refuse_overwriting(files, force=force)


def _refuse_without_traces(result: RunResult) -> None:
    from skycell.exports.named import NothingToExport

    if not result.traces:
        raise NothingToExport(
            "the run kept no traces; run it again with --trace, such as --trace cwnd"
        )
