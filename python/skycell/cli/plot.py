"""`skycell plot`: a figure of a run, of a reproduced study, of a sweep or of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from skycell.cli.axes import AxesOptions
from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import STDIN, load_input, read_run
from skycell.cli.options import (
    NAME,
    NamedPath,
    RowsOptions,
    force_option,
    level_option_of,
    set_option,
)
from skycell.cli.plot_factorial import (
    Factorial,
    factorial_figure,
    factorial_of_sweep,
    factorial_of_table,
    validate_factorial,
)
from skycell.cli.results import drawing_faults, refuse_unwritable
from skycell.cli.runs_table import is_sweep_source, is_table_source, read_sweep_source, wanted_rows
from skycell.cli.sentences import say
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Call, Verb, argument, option, shared
from skycell.report.stored import StoredStudy

if TYPE_CHECKING:
    from skycell.plots.figure import Figure
    from skycell.records.result import RunResult
    from skycell.scenario import NetworkSpec, Scenario

Source: TypeAlias = "Scenario | RunResult | Factorial | StoredStudy"
"""What a figure is drawn from."""


class Plot(Call):
    """Draw one figure of SOURCE.

    SOURCE is a folder that `skycell run --out`, `skycell reproduce --out` or `skycell sweep --out`
    wrote, the result.json or sweep.json in it, any table with a column per factor and response
    (.csv, .tsv or .parquet), or a scenario file, which is then run with the trace that the figure
    needs. If SOURCE is -, the scenario comes from standard input, and files that it names are
    looked for relative to the current folder.

    Exits with 0, with 1 if a run failed or drawing failed, with 2 if the input is faulty.
    """

    source: Path = argument(metavar="SOURCE", type=NamedPath(path_type=Path))
    kind: str | None = option(
        "--kind",
        type=NAME,
        help="What to draw. For a run: cwnd, sequence, rate, rtt, queue, vc-queue, share, acr, "
        "fair-share, overload, sojourn, discards, throughput, map, globe, path or pairs; for a "
        "study: one of its metrics, such as efficiency or jain_fairness; for a sweep or a table: "
        "response, allocation, main-effects, interactions or residuals.  [default: cwnd, or queue "
        "for a run without flows; the study's first metric; response]",
    )
    out: Path | None = option(
        "--out",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="File to write: .svg, .pdf, .png or .html.  [default: NAME.svg with the name of the "
        "figure, such as cwnd or response-efficiency]",
    )
    force: bool = force_option("FILE if it exists")
    settings: tuple[str, ...] = set_option(
        "Replace a value of a scenario file, such as tcp.recovery=reno"
    )
    flows: tuple[str, ...] = option(
        "--flow", type=NAME, multiple=True, help="Draw this flow only; may be repeated."
    )
    port: str | None = option(
        "--port", type=NAME, help="Port whose queue to draw, such as switch1>switch2."
    )
    unit: str | None = option(
        "--unit",
        type=click.Choice(["octets", "ms"]),
        help="Unit of the queue, instead of the port's own.",
    )
    start: TimeOption | None = option("--from", type=TIME, help="Begin here, such as '2 s'.")
    end: TimeOption | None = option("--to", type=TIME, help="End here, such as '500 ms'.")
    time: TimeOption | None = option(
        "--time",
        type=TIME,
        help="Draw the second of the map or globe in which this time is, such as '12 s'.  "
        "[default: the second in which most was sent]",
    )
    table: str | None = option(
        "--table", type=NAME, metavar="ID", help="Table of a study to draw, such as icccn97-t3."
    )
    response: str | None = option(
        "--response",
        type=NAME,
        help="Column of a sweep or a table to explain. If not given, the first that a sweep "
        "measured.",
    )
    rows = shared(RowsOptions)
    axes = shared(AxesOptions)
    level: float | None = level_option_of("a sweep or a table")

    def check(self, collector: ErrorCollector) -> Source | None:
        """Also reads what is to be drawn, of a sweep or a table the rows asked for."""
        values = read_settings(self.settings, collector.faults)
        with collector.step(), drawing_faults():
            if self.out is not None:
                _refuse_target(self.out, self.force)
        wanted = wanted_rows(collector, self.rows.filters)
        found: Source | None = None
        with collector.step(), drawing_faults():
            found = _read(self.source, values)
        if found is None:
            return None
        with collector.step():
            if values and not _is_scenario(self.source):
                raise click.UsageError("--set is for scenario files, and this is not one")
        with collector.step():
            is_of_rows = bool(self.response or self.rows.are_chosen or self.level)
            if is_of_rows and not isinstance(found, Factorial):
                raise click.UsageError(
                    "--response, --factor, --where, --block and --level are for sweeps and tables, "
                    "and this is neither"
                )
        if isinstance(found, Factorial):
            return self._check_factorial(collector, found, wanted)
        if isinstance(found, StoredStudy):
            return self._check_study(collector, found)
        self._check_run(collector, found)
        return found

    @property
    def _is_of_runs(self) -> bool:
        return bool(self.flows or self.port or self.unit or self.start or self.end or self.time)

    def _check_target(self, collector: ErrorCollector, kind: str | None) -> None:
        """Tries the file of a figure of a kind, where the call names none."""
        with collector.step(), drawing_faults():
            if self.out is None and kind is not None:
                _refuse_target(_usual_target(kind), self.force)

    def _check_factorial(
        self, collector: ErrorCollector, found: Factorial, wanted: Sequence[tuple[str, Any]]
    ) -> Factorial:
        """The rows with the values asked for."""
        from skycell.plots.factorial import FACTORIAL_KINDS

        with collector.step():
            if self._is_of_runs or self.table:
                raise click.UsageError(
                    "--flow, --port, --unit, --from, --to, --time and --table are not for sweeps "
                    f"and tables, and this is a {found.what}"
                )
        found = validate_factorial(
            collector, found, self.kind, self.response, wanted, self.rows, self.axes
        )
        self._check_target(collector, self.kind if self.kind in FACTORIAL_KINDS else None)
        return found

    def _check_study(self, collector: ErrorCollector, found: StoredStudy) -> StoredStudy:
        """The study with the axes asked for."""
        with collector.step():
            if self._is_of_runs:
                raise click.UsageError(
                    "--flow, --port, --unit, --from, --to and --time are for runs, and this is a "
                    "study"
                )
        with collector.step(), drawing_faults():
            if self.table:
                found.refuse_unknown_table(self.table)
        with collector.step(), drawing_faults():
            found.refuse_unknown_figure(self.kind, self.table)
            if self.axes.are_chosen:
                factors, metrics = found.names_of(self.kind, self.table)
                found = replace(found, axes=self.axes.chosen(collector, factors, metrics))
            self._check_target(collector, self.kind)
        return found

    def _check_run(self, collector: ErrorCollector, run: Scenario | RunResult) -> None:
        """Tries what is chosen of a run, which need not have been made, each choice for itself."""
        from skycell.plots import run as figures

        with collector.step():
            if self.axes.are_chosen:
                raise click.UsageError(
                    "--x, --series and --facet are for sweeps, tables and studies, not for runs"
                )
        with collector.step():
            if self.table:
                raise click.UsageError("--table is for studies, and this is a run")
        kind = self.kind or figures.usual_kind(_spec_of(run))
        with collector.step():
            if kind not in figures.TRACE_OF:
                kinds = ", ".join(figures.TRACE_OF)
                raise click.BadParameter(f"{kind}: a run has {kinds}", param_hint="'--kind'")
        fields = {
            "flow": "flows",
            "port": "port",
            "unit": "unit",
            "from": "start",
            "to": "end",
            "time": "time",
        }
        inputs = {
            name: collector.read(partial(getattr, self, field)) for name, field in fields.items()
        }
        choices = figures.CHOICES_OF.get(kind, tuple(inputs))
        with collector.step():
            idle = [name for name, value in inputs.items() if value and name not in choices]
            if idle:
                reported, allowed = (
                    ", ".join(f"--{name}" for name in names) for names in (idle, choices)
                )
                raise click.UsageError(
                    f"{reported}: the kind {kind} has {allowed or 'no such choice'}"
                )
        with collector.step(), drawing_faults():
            spec = _spec_of(run)
            with collector.step(), drawing_faults():
                figures.refuse_without_flows(spec, kind)
            with collector.step(), drawing_faults():
                figures.refuse_without_classes(spec, kind)
            with collector.step(), drawing_faults():
                figures.refuse_without_sky(spec, kind)
            with collector.step(), drawing_faults():
                figures.refuse_unknown_flows(spec, self.flows)
            with collector.step(), drawing_faults():
                if self.port is not None and "port" in choices:
                    figures.refuse_unknown_port(spec, self.port)
            if "from" in choices:
                figures.range_of(spec, *self._range_ps)
        self._check_target(collector, kind if kind in figures.TRACE_OF else None)

    @property
    def _range_ps(self) -> tuple[int, int | None]:
        start_ps = 0 if self.start is None else self.start.ps
        return start_ps, None if self.end is None else self.end.ps

    def run(self, found: Source) -> None:
        from skycell.plots.export import save

        with drawing_faults():
            if isinstance(found, Factorial):
                figure = factorial_figure(
                    found, self.kind, self.response, self.rows, self.level or 0.9
                )
            elif isinstance(found, StoredStudy):
                figure = found.figure(metric=self.kind, table=self.table)
            else:
                figure = self._figure_of_run(found)
            target = self.out or _usual_target(self.kind or figure.name)
            _refuse_target(target, self.force)
            save({target: figure}, force=self.force)
        say(f"Written to {target}.")

    def _figure_of_run(self, source: Scenario | RunResult) -> Figure:
        from skycell.plots.run import run_figure, usual_kind
        from skycell.records.result import RunResult

        kind = self.kind or usual_kind(_spec_of(source))
        result = source if isinstance(source, RunResult) else _run(source, kind)
        from_ps, to_ps = self._range_ps
        return run_figure(
            result,
            kind,
            flows=self.flows or None,
            port=self.port,
            unit=self.unit,
            from_ps=from_ps,
            to_ps=to_ps,
            time_ps=None if self.time is None else self.time.ps,
        )


plot = Verb(
    Plot,
    "skycell plot examples/ubr-wan.toml --kind queue --out queue.pdf",
    "skycell plot examples/ubr-wan.toml --set tcp.recovery=reno --out reno.svg",
    "skycell plot out/run --kind cwnd --flow flow1 --from '2 s' --to '5 s'",
    "skycell plot examples/geo-sack.toml --kind rtt --from '2 s' --out rtt.pdf",
    "skycell plot out/sky --kind map --time '12 s' --out map.html",
    "skycell plot out/geo --kind efficiency --out efficiency.html",
    "skycell plot out/policies --kind interactions --response max_min_fairness",
    "skycell plot out/policies --x buffer --series policy --response efficiency",
    "skycell plot out/policies --x mean_delay --series policy --response throughput",
    "skycell plot runs.csv --factor tcp --response efficiency --where site=a",
)


def _refuse_target(out: Path, force: bool) -> None:
    """Refuses a file of an unknown format, one that cannot be written, and one that exists."""
    from skycell.plots.export import format_of
    from skycell.plots.files import refuse_overwriting

    format_of(out)
    refuse_unwritable(out, is_file=True)
    refuse_overwriting([out], force=force)


def _is_scenario(source: Path | None) -> bool:
    """Whether a source is still to be run."""
    return source is not None and (source.suffix == ".toml" or str(source) == STDIN)


def _read(source: Path, values: Mapping[str, Any]) -> Source:
    """What a source is; `values` replace those of a scenario.

    Raises:
        ScenarioFaults, click.UsageError, NotAResult, OSError: it is nothing that can be drawn.
    """
    from skycell.records.files import existing_files
    from skycell.report.stored import read_study

    if _is_scenario(source):
        return load_input(str(source), values)
    if not source.exists():
        raise click.UsageError(f"{source} does not exist")
    if is_sweep_source(source):
        return factorial_of_sweep(read_sweep_source(source))
    if is_table_source(source) and source not in existing_files(source.parent):
        return factorial_of_table(source)
    file = _study_file(source)
    return read_run(source) if file is None else read_study(file)


def _usual_target(kind: str) -> Path:
    return Path(f"{kind}.svg")


def _study_file(source: Path) -> Path | None:
    """The file with the rows of a study that a source names; none for a run or a scenario."""
    if source.is_dir():
        file = source / "result.json"
        return file if file.is_file() else None
    return source if source.suffix == ".json" and source.name != "records.json" else None


def _spec_of(run: Scenario | RunResult) -> NetworkSpec:
    from skycell.records.result import RunResult

    return run.spec if isinstance(run, RunResult) else run.resolve()


def _run(scenario: Scenario, kind: str) -> RunResult:
    """Runs a scenario that keeps what a kind of figure shows, whether it asks for that or not."""
    from skycell.cli.progress import RunProgress
    from skycell.experiment.run import run_spec, with_derived
    from skycell.plots.run import TRACE_OF, TRACES_BESIDE

    trace = TRACE_OF[kind]
    if kind == "sojourn" and not scenario.file.records.flow_ports:
        links = scenario.resolve().links
        limited = [link.name for link in links if link.framing is not None and link.port.is_limited]
        scenario = scenario.with_values({"records.flow_ports": limited})
    kept = list(scenario.file.records.traces)
    shown = () if trace is None else (trace, *TRACES_BESIDE.get(kind, ()))
    added = [name for name in shown if name not in kept]
    if added:
        scenario = scenario.with_values({"records.traces": [*kept, *added]})
    spec = scenario.resolve()
    with RunProgress(spec.duration_ps) as progress:
        result = run_spec(spec, on_progress=progress)
    return with_derived(result, scenario)
