"""`skycell export`: a run's traces or path, or a sweep's runs, in the formats of other tools."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.amounts import Amount
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
    from skycell.exports.path_steps import PathSteps
    from skycell.exports.selection import Selection
    from skycell.input.quantities import Quantity
    from skycell.records.result import RunResult

    Source = RunResult | SweepResult | Path

_TABLES = ("csv", "parquet")
_PATHS = ("steps", "netem", "mahimahi")
_FORMS = (*_TABLES, "pcapng", "qlog", "ss", *_PATHS)
_USUAL_STEP = "100 ms"
_FILES_OF_RESULTS = ("records.json", "spec.json", "sweep.json", "result.json")


_RATE = Amount("RATE", "10 Mbit/s", 1, 1e15)


class Export(Call):
    """Write what a run traced, its path, or the runs of a sweep, for other tools.

    SOURCE is a folder that `skycell run --out` or `skycell sweep --out` wrote. pcapng and qlog take
    the trace sequence of a run, ss the traces sequence and cwnd: `skycell run --trace` keeps them.

    steps, netem and mahimahi write the path of one flow over time, both ways: its delay, rate and
    loss, without queues. For these SOURCE may also be a file that a link's `schedule.series` may
    name, such as what `skycell orbit series --csv` writes for a pair.

    Exits with 0, or with 2 if the input is faulty.
    """

    source: Path = argument(metavar="SOURCE", type=NamedPath(path_type=Path))
    form: str = option(
        "--as",
        type=click.Choice(_FORMS),
        required=True,
        help="Tables with names and seconds (csv, parquet), a capture for Wireshark (pcapng), a "
        "log for qvis (qlog), samples of senders in the words of ss, as CSV (ss); a path as a "
        "table that a link's schedule reads (steps), as a shell script for tc netem (netem), or as "
        "packet opportunities (mahimahi).",
    )
    out: Path = option(
        "--out",
        type=NamedPath(path_type=Path),
        required=True,
        metavar="PATH",
        help="File to write; for the tables of a run a folder with one file per trace, and for "
        "mahimahi a folder with a trace for each direction.",
    )
    flows: tuple[str, ...] = option(
        "--flow", multiple=True, metavar="NAME", help="Only this flow; may be repeated."
    )
    start: TimeOption | None = option("--from", type=TIME, help="Begin here, such as '2 s'.")
    end: TimeOption | None = option("--to", type=TIME, help="End here, such as '2500 ms'.")
    every: TimeOption | None = option(
        "--every", type=TIME, help=f"Time between samples of ss.  [default: {_USUAL_STEP}]"
    )
    rate: Quantity | None = option(
        "--rate", type=_RATE, help="Rate of a path whose file has none, such as '10 Mbit/s'."
    )
    direction: str = option(
        "--direction",
        type=click.Choice(["forward", "reverse"]),
        default="forward",
        show_default=True,
        help="Direction of the path that steps has.",
    )
    large: bool = option("--large", is_flag=True, help="Write more than 1 GB, too.")
    force: bool = force_option("PATH if it exists")

    def check(self, collector: ErrorCollector) -> Source | None:
        """Also reads the result."""
        from skycell.records.result import RunResult

        found: Source | None = None
        with collector.step(), drawing_faults():
            found = self._read()
        what: str
        forms: tuple[str, ...]
        if isinstance(found, Path):
            what, forms = "a file of a path", _PATHS
        elif isinstance(found, RunResult):
            what, forms = "a run", _FORMS
        else:
            what, forms = "a sweep", _TABLES
        with collector.step():
            if found is not None and self.form not in forms:
                of = "a run" if what == "a sweep" else "a run's folder"
                raise click.UsageError(
                    f"--as {self.form} is of {of}, and this is {what}: it has {', '.join(forms)}"
                )
        with collector.step():
            if self.every is not None and self.every.ps == 0:
                raise click.BadParameter("0 s: must be above 0", param_hint="'--every'")
            if self.every is not None and self.form != "ss":
                raise click.UsageError(f"--every is the step of --as ss, and this is {self.form}")
        with collector.step():
            if self.rate is not None and not isinstance(found, Path | None):
                raise click.UsageError(f"--rate is for a file of a path, and this is {what}")
        with collector.step():
            if self.direction != "forward" and self.form != "steps":
                raise click.UsageError(
                    f"--direction is of --as steps, and --as {self.form} has "
                    + ("both" if self.form in _PATHS else "none")
                )
        with collector.step():
            is_part = bool(self.flows or self.start or self.end)
            if what == "a sweep" and found is not None and is_part:
                raise click.UsageError("--flow, --from and --to are for runs, and this is a sweep")
            if isinstance(found, Path) and self.flows:
                raise click.UsageError("--flow is for runs, and this is a file of a path")
        if found is None:
            return None
        with collector.step(), drawing_faults():
            if self.flows and isinstance(found, RunResult):
                from skycell.plots.run import refuse_unknown_flows

                refuse_unknown_flows(found.spec, self.flows)
        with collector.step(), drawing_faults():
            _refuse_targets(_files(found, self.form, self.out), self.out, self.force)
        return found

    def _read(self) -> Source:
        """What the source is."""
        is_result = self.source.is_dir() or self.source.name in _FILES_OF_RESULTS
        if self.form in _PATHS and self.source.exists() and not is_result:
            return self.source
        return (
            read_sweep_source(self.source)
            if is_sweep_source(self.source)
            else read_run(self.source)
        )

    def run(self, found: Source) -> None:
        from skycell.exports.named import NothingToExport
        from skycell.exports.selection import Selection
        from skycell.plots.files import write_all

        selection = Selection(
            self.flows,
            0 if self.start is None else self.start.ps,
            None if self.end is None else self.end.ps,
        )
        with drawing_faults():
            try:
                written = self._written(found, selection)
            except NothingToExport as error:
                raise click.UsageError(str(error)) from None
            with writing(self.out) as reported:
                write_all(written.contents, force=self.force)
        names = ", ".join(shown_place(path) for path in written.contents)

        def show() -> None:
            if reported.fault is None:
                say(f"Written: {names}.")
                for note in written.notes:
                    say(f"Note: {note}")

        report_result(show, None, reported.fault, as_json=True)

    def _written(self, found: Source, selection: Selection) -> _Written:
        """What is to be written into which file, and what is to be said of it."""
        from skycell.exports.selection import foreseen_octets, refuse_large, refuse_without_traces
        from skycell.records.result import RunResult

        if self.form in _PATHS:
            return self._path(found, selection)
        if not isinstance(found, RunResult):
            assert not isinstance(found, Path)
            return _Written({self.out: _table(found.frame(), self.form)})
        if self.form in _TABLES:
            refuse_without_traces(found.traces)
        octets = foreseen_octets(found, self.form, selection, self._every_ps)
        refuse_large(octets, is_allowed=self.large)
        return _written_of_run(found, self.form, self.out, selection, self._every_ps)

    @property
    def _every_ps(self) -> int:
        from skycell.input.quantities import parse_quantity

        return self.every.ps if self.every else int(parse_quantity(_USUAL_STEP).amount)

    def _path(self, found: Source, selection: Selection) -> _Written:
        from skycell.exports.path_steps import path_of_file, path_of_run
        from skycell.records.result import RunResult

        if isinstance(found, Path):
            path = path_of_file(found, None if self.rate is None else self.rate.amount)
        else:
            assert isinstance(found, RunResult)
            path = path_of_run(found, selection.flows)
        if selection.from_ps or selection.to_ps is not None:
            path = path.between(selection.from_ps, selection.to_ps)
        return _written_of_path(path, self.form, self.out, self.direction, is_large=self.large)


export = Verb(
    Export,
    "skycell run examples/ubr-wan.toml --trace sequence --trace cwnd --out out/run",
    "skycell export out/run --as pcapng --flow flow1 --from '2 s' --to '3 s' --out flow1.pcapng",
    "skycell export out/run --as qlog --out run.qlog",
    "skycell export out/run --as ss --every '50 ms' --out sockets.csv",
    "skycell export out/run --as csv --out out/tables",
    "skycell export out/run --as netem --flow flow1 --out path.sh",
    "skycell export ping.txt --as mahimahi --rate '20 Mbit/s' --out out/mahimahi",
    "skycell export out/policies --as parquet --out runs.parquet",
)


@dataclass(frozen=True)
class _Written:
    """What is to be written into which file, and sentences to be said of it."""

    contents: dict[Path, bytes]
    notes: tuple[str, ...] = ()


def _written_of_run(
    found: RunResult, form: str, out: Path, selection: Selection, every_ps: int
) -> _Written:
    from skycell.exports.capture import write_capture
    from skycell.exports.named import named
    from skycell.exports.qlog import write_qlog
    from skycell.exports.samples import socket_samples

    if form in _TABLES:
        tables = selection.tables(found)
        left_out = ", ".join(name for name in found.traces if name not in tables)
        note = f"Not of flows, and not written because of --flow: {left_out}."
        contents = {
            out / f"{name}.{form}": _table(named(trace, found.spec), form)
            for name, trace in tables.items()
        }
        return _Written(contents, (note,) if left_out else ())
    if form == "ss":
        return _Written({out: _table(socket_samples(found, selection, every_ps), "csv")})
    if form == "qlog":
        log = io.StringIO()
        write_qlog(found, selection, log)
        return _Written({out: log.getvalue().encode()})
    capture = io.BytesIO()
    write_capture(found, selection, capture)
    return _Written({out: capture.getvalue()})


def _written_of_path(
    path: PathSteps, form: str, out: Path, direction: str, *, is_large: bool
) -> _Written:
    from skycell.exports.mahimahi import foreseen_octets, mahimahi_files
    from skycell.exports.netem import netem_script
    from skycell.exports.selection import refuse_large

    if form == "steps":
        return _Written({out: path.table(direction).encode()}, tuple(_notes_of_steps(path)))
    if form == "netem":
        return _Written({out: netem_script(path, out.name).encode()})
    refuse_large(foreseen_octets(path), is_allowed=is_large)
    files = mahimahi_files(path)
    return _Written({out / name: text.encode() for name, text in files.items()})


def _notes_of_steps(path: PathSteps) -> Iterator[str]:
    """What a table of steps, which has no comments, leaves to be said."""
    from skycell.exports.path_steps import QUEUES

    yield from path.notes
    yield QUEUES
    if path.there != path.back:
        yield "The directions differ: --direction forward and reverse write a table each."


def _table(frame: pl.DataFrame, form: str) -> bytes:
    buffer = io.BytesIO()
    if form == "csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()


def _files(found: Source, form: str, out: Path) -> list[Path]:
    """The files that will be written."""
    from skycell.exports.mahimahi import FILES
    from skycell.records.result import RunResult

    if form == "mahimahi":
        return [out / name for name in FILES]
    if isinstance(found, RunResult) and form in _TABLES:
        return [out / f"{name}.{form}" for name in found.traces]
    return [out]


def _refuse_targets(files: Sequence[Path], out: Path, force: bool) -> None:
    from skycell.plots.files import refuse_overwriting

    refuse_unwritable(out, is_file=files == [out])
    refuse_overwriting(files, force=force)
