"""`skycell export`: a run's traces, or a sweep's runs, in the formats of other tools."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import read_run
from skycell.cli.options import NamedPath, force_option
from skycell.cli.results import (
    drawing_faults,
    refuse_unwritable,
    report_result,
    shown_place,
    writing,
)
from skycell.cli.runs_table import is_sweep_source, read_sweep_source
from skycell.cli.sentences import say
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    import polars as pl

    from skycell.experiment.result import SweepResult
    from skycell.records.result import RunResult

_TABLES = ("csv", "parquet")
_FORMS = (*_TABLES, "pcapng", "qlog", "ss")
_USUAL_STEP = "100 ms"


class Export(Call):
    """Write what a run traced, or the runs of a sweep, in a format that other tools read.

    DIR is a folder that `skycell run --out` or `skycell sweep --out` wrote. pcapng and qlog take
    the trace sequence of a run, ss the traces sequence and cwnd: `skycell run --trace` keeps them.

    Exits with 0, or with 2 if the input is faulty.
    """

    source: Path = argument(metavar="DIR", type=NamedPath(path_type=Path))
    form: str = option(
        "--as",
        type=click.Choice(_FORMS),
        required=True,
        help="Tables with names and seconds (csv, parquet), a capture for Wireshark (pcapng), a "
        "log for qvis (qlog), or samples of senders in the words of ss, as CSV (ss).",
    )
    out: Path = option(
        "--out",
        type=NamedPath(path_type=Path),
        required=True,
        metavar="PATH",
        help="File to write; for the tables of a run a folder, with one file per trace.",
    )
    flows: tuple[str, ...] = option(
        "--flow", multiple=True, metavar="NAME", help="Only this flow; may be repeated."
    )
    every: TimeOption | None = option(
        "--every", type=TIME, help=f"Time between samples of ss.  [default: {_USUAL_STEP}]"
    )
    force: bool = force_option("PATH if it exists")

    def check(self, collector: ErrorCollector) -> RunResult | SweepResult | None:
        """Also reads the result."""
        from skycell.records.result import RunResult

        is_sweep = bool(collector.read(lambda: is_sweep_source(self.source)))
        found: RunResult | SweepResult | None = None
        with collector.step(), drawing_faults():
            found = read_sweep_source(self.source) if is_sweep else read_run(self.source)
        with collector.step():
            if is_sweep and self.form not in _TABLES:
                raise click.UsageError(
                    f"--as {self.form} is of a run, and this is a sweep: it has csv, parquet"
                )
        with collector.step():
            if self.every is not None and self.every.ps == 0:
                raise click.BadParameter("0 s: must be above 0", param_hint="'--every'")
            if self.every is not None and self.form != "ss":
                raise click.UsageError(f"--every is the step of --as ss, and this is {self.form}")
        with collector.step():
            if self.flows and self.form in _TABLES:
                raise click.UsageError(
                    f"--flow is for pcapng, qlog and ss; --as {self.form} writes whole traces"
                )
        if found is None:
            return None
        with collector.step(), drawing_faults():
            if self.flows and isinstance(found, RunResult):
                from skycell.plots.run import refuse_unknown_flows

                refuse_unknown_flows(found.spec, self.flows)
        with collector.step(), drawing_faults():
            _refuse_targets(_files(found, self.form, self.out), self.out, self.force)
        return found

    def run(self, found: RunResult | SweepResult) -> None:
        from skycell.exports.named import NothingToExport
        from skycell.plots.files import write_all

        with drawing_faults():
            try:
                contents = _contents(found, self.form, self.out, self.flows, self.every)
            except NothingToExport as error:
                raise click.UsageError(str(error)) from None
            with writing(self.out) as reported:
                write_all(contents, force=self.force)
        names = ", ".join(shown_place(path) for path in contents)

        def show() -> None:
            if reported.fault is None:
                say(f"Written: {names}.")

        report_result(show, None, reported.fault, as_json=True)


export = Verb(
    Export,
    "skycell run examples/ubr-wan.toml --trace sequence --trace cwnd --out out/run",
    "skycell export out/run --as pcapng --flow flow1 --out flow1.pcapng",
    "skycell export out/run --as qlog --out run.qlog",
    "skycell export out/run --as ss --every '50 ms' --out sockets.csv",
    "skycell export out/run --as csv --out out/tables",
    "skycell export out/policies --as parquet --out runs.parquet",
)


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
