"""`skycell plot`: a figure of a run, of a reproduced study, of a sweep or of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from skycell.cli.axes import axes_options, chosen_axes
from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import STDIN, load_input
from skycell.cli.options import (
    NAME,
    NamedPath,
    force_option,
    level_option_of,
    rows_options,
    set_option,
)
from skycell.cli.plot_factorial import (
    Factorial,
    factorial_figure,
    factorial_of_sweep,
    factorial_of_table,
    validate_factorial,
)
from skycell.cli.results import refuse_unwritable
from skycell.cli.runs_table import is_sweep_source, is_table_source, read_sweep_source, wanted_rows
from skycell.cli.sentences import say
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME, TimeOption
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.plots.figure import Figure
    from skycell.records.result import RunResult
    from skycell.report.stored import StoredStudy
    from skycell.scenario import NetworkSpec, Scenario

Source: TypeAlias = "Scenario | RunResult | Factorial | StoredStudy"
"""What a figure is drawn from."""


def _validate(
    collector: ErrorCollector,
    source: Path | None,
    kind: str | None,
    out: Path | None,
    force: bool,
    flows: tuple[str, ...] | None,
    port: str | None,
    unit: str | None,
    start: TimeOption | None,
    end: TimeOption | None,
    table: str | None,
    response: str | None,
    factors: tuple[str, ...] | None,
    filters: tuple[str, ...],
    block: str | None,
    level: float | None,
    settings: tuple[str, ...],
    x: str | None,
    series: str | None,
    facet: tuple[str, ...] | None,
    **_: object,
) -> Source | None:
    """Also reads what is to be drawn, of a sweep or a table the rows asked for."""
    from skycell.plots.factorial import FACTORIAL_KINDS
    from skycell.plots.run import TRACE_OF, usual_kind
    from skycell.report.stored import StoredStudy

    values = read_settings(settings, collector.faults)
    with collector.step(), drawing_faults():
        if out is not None:
            _refuse_target(out, force)
    wanted = wanted_rows(collector, filters)
    read: list[Source] = []
    with collector.step(), drawing_faults():
        if source is not None:
            read.append(_read(source, values))
    if not read:
        return None
    (found,) = read
    is_of_runs = bool(flows or port or unit or start or end)
    with collector.step():
        if values and not _is_scenario(source):
            raise click.UsageError("--set is for scenario files, and this is not one")
    with collector.step():
        if isinstance(found, Factorial) and (is_of_runs or table):
            raise click.UsageError(
                "--flow, --port, --unit, --from, --to and --table are not for sweeps and tables, "
                f"and this is a {found.what}"
            )
    with collector.step():
        is_of_factors = bool(response or factors or filters or block or level)
        if is_of_factors and not isinstance(found, Factorial):
            raise click.UsageError(
                "--response, --factor, --where, --block and --level are for sweeps and tables, and "
                "this is neither"
            )
    with collector.step():
        if isinstance(found, StoredStudy) and is_of_runs:
            raise click.UsageError(
                "--flow, --port, --unit, --from and --to are for runs, and this is a study"
            )
    drawn: str | None = None  # a kind that there is
    if isinstance(found, Factorial):
        found = validate_factorial(
            collector, found, kind, response, factors or (), wanted, block, (x, series, facet or ())
        )
        drawn = kind if kind in FACTORIAL_KINDS else None
    elif isinstance(found, StoredStudy):
        with collector.step(), drawing_faults():
            if table:
                found.refuse_unknown_table(table)
        with collector.step(), drawing_faults():
            found.refuse_unknown_figure(kind, table)
            drawn = kind
            if x or series or facet:
                factors_of, metrics = found.names_of(kind, table)
                axes = chosen_axes(collector, factors_of, x, series, facet, metrics)
                found = replace(found, axes=axes)
    else:
        with collector.step():
            if x or series or facet:
                raise click.UsageError(
                    "--x, --series and --facet are for sweeps, tables and studies, not for runs"
                )
        with collector.step():
            if table:
                raise click.UsageError("--table is for studies, and this is a run")
        shown = kind or usual_kind(_spec_of(found))
        _validate_run(collector, found, shown, flows or (), port, unit, start, end)
        drawn = shown if shown in TRACE_OF else None
    with collector.step(), drawing_faults():
        if out is None and drawn is not None:
            _refuse_target(_usual_target(drawn), force)
    return found


def _validate_run(
    collector: ErrorCollector,
    run: Scenario | RunResult,
    kind: str,
    flows: tuple[str, ...],
    port: str | None,
    unit: str | None,
    start: TimeOption | None,
    end: TimeOption | None,
) -> None:
    """Tries what is chosen of a run, which need not have been made, each choice for itself."""
    from skycell.plots import run as figures

    with collector.step():
        if kind not in figures.TRACE_OF:
            kinds = ", ".join(figures.TRACE_OF)
            raise click.BadParameter(f"{kind}: a run has {kinds}", param_hint="'--kind'")
    inputs = {"flow": flows, "port": port, "unit": unit, "from": start, "to": end}
    choices = figures.CHOICES_OF.get(kind, tuple(inputs))
    with collector.step():
        idle = [name for name, value in inputs.items() if value and name not in choices]
        if idle:
            reported, allowed = (
                ", ".join(f"--{name}" for name in names) for names in (idle, choices)
            )
            raise click.UsageError(f"{reported}: the kind {kind} has {allowed or 'no such choice'}")
    with collector.step(), drawing_faults():
        spec = _spec_of(run)
        with collector.step(), drawing_faults():
            figures.refuse_without_flows(spec, kind)
        with collector.step(), drawing_faults():
            figures.refuse_without_classes(spec, kind)
        with collector.step(), drawing_faults():
            figures.refuse_unknown_flows(spec, flows)
        with collector.step(), drawing_faults():
            if port is not None and "port" in choices:
                figures.refuse_unknown_port(spec, port)
        if "from" in choices:
            from_ps, to_ps = _range_ps(start, end)
            figures.range_of(spec, from_ps, to_ps)


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell plot examples/ubr-wan.toml --kind queue --out queue.pdf\n"
    "  skycell plot examples/ubr-wan.toml --set tcp.recovery=reno --out reno.svg\n"
    "  skycell plot out/run --kind cwnd --flow flow1 --from '2 s' --to '5 s'\n"
    "  skycell plot out/geo --kind efficiency --out efficiency.html\n"
    "  skycell plot out/policies --kind interactions --response max_min_fairness\n"
    "  skycell plot out/policies --x buffer --series policy --response efficiency\n"
    "  skycell plot out/policies --x mean_delay --series policy --response throughput\n"
    "  skycell plot runs.csv --factor tcp --response efficiency --where site=a",
    short_help="Draw a run, a study, a sweep or a table.",
)
@click.argument("source", metavar="SOURCE", type=NamedPath(path_type=Path))
@click.option(
    "--kind",
    type=NAME,
    help="What to draw. For a run: cwnd, sequence, rate, queue, vc-queue, share, acr, "
    "fair-share, overload, sojourn, discards or throughput; for a study: one of its metrics, such "
    "as efficiency or jain_fairness; for a sweep or a table: response, allocation, main-effects, "
    "interactions or residuals.  "
    "[default: cwnd, or queue for a run without flows; the study's first metric; response]",
)
@click.option(
    "--out",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="File to write: .svg, .pdf, .png or .html.  [default: NAME.svg with the name of the "
    "figure, such as cwnd or response-efficiency]",
)
@force_option("FILE if it exists")
@set_option("Replace a value of a scenario file, such as tcp.recovery=reno")
@click.option(
    "--flow", "flows", type=NAME, multiple=True, help="Draw this flow only; may be repeated."
)
@click.option("--port", type=NAME, help="Port whose queue to draw, such as switch1>switch2.")
@click.option(
    "--unit",
    type=click.Choice(["octets", "ms"]),
    help="Unit of the queue, instead of the port's own.",
)
@click.option("--from", "start", type=TIME, help="Begin here, such as '2 s'.")
@click.option("--to", "end", type=TIME, help="End here, such as '500 ms'.")
@click.option(
    "--table", type=NAME, metavar="ID", help="Table of a study to draw, such as icccn97-t3."
)
@click.option(
    "--response",
    type=NAME,
    help="Column of a sweep or a table to explain. If not given, the first that a sweep measured.",
)
@rows_options
@axes_options
@level_option_of("a sweep or a table")
def plot(
    kind: str | None,
    out: Path | None,
    force: bool,
    flows: tuple[str, ...],
    port: str | None,
    unit: str | None,
    start: TimeOption | None,
    end: TimeOption | None,
    table: str | None,
    response: str | None,
    factors: tuple[str, ...],
    block: str | None,
    level: float | None,
    **_: object,
) -> None:
    """Draw one figure of SOURCE.

    SOURCE is a folder that `skycell run --out`, `skycell reproduce --out` or `skycell sweep --out`
    wrote, the result.json or sweep.json in it, any table with a column per factor and response
    (.csv, .tsv or .parquet), or a scenario file, which is then run with the trace that the figure
    needs. If SOURCE is -, the scenario comes from standard input, and files that it names are
    looked for relative to the current folder.

    Exits with 0, with 1 if a run failed or drawing failed, with 2 if the input is faulty.
    """
    from skycell.plots.export import save
    from skycell.plots.run import usual_kind
    from skycell.report.stored import StoredStudy

    found = validated(_validate)
    assert found is not None
    with drawing_faults():
        if isinstance(found, Factorial):
            figure = factorial_figure(found, kind, response, factors, block, level or 0.9)
        elif isinstance(found, StoredStudy):
            figure = found.figure(metric=kind, table=table)
        else:
            span = _range_ps(start, end)
            shown = kind or usual_kind(_spec_of(found))
            figure = _figure_of_run(found, shown, flows, port, unit, *span)
        target = out or _usual_target(kind or figure.name)
        _refuse_target(target, force)
        save({target: figure}, force=force)
    say(f"Written to {target}.")


@contextmanager
def drawing_faults(option: str = "--out") -> Iterator[None]:
    """Turns what can go wrong with figures and results into a message and an exit code.

    Args:
        option: what names the file of the figure.
    """
    from skycell.plots.export import UnknownFormatError
    from skycell.plots.figure import NothingToDrawError
    from skycell.plots.files import WouldOverwriteError
    from skycell.plots.render_workers import RenderError
    from skycell.records.reading import NotAResult

    hint = f"'{option}'"
    try:
        yield
    except (NothingToDrawError, NotAResult) as error:
        raise click.UsageError(str(error)) from None
    except UnknownFormatError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None
    except WouldOverwriteError as error:
        raise click.BadParameter(f"{error}; --force replaces it", param_hint=hint) from None
    except RenderError as error:
        raise click.ClickException(f"Drawing failed: {error}") from None


def read_run(folder: Path) -> RunResult:
    """The result in a folder, or beside a file that is part of one."""
    from skycell.records.files import RECORDS_FILE, SPEC_FILE, existing_files
    from skycell.records.reading import read_result

    if not folder.is_dir() and folder not in existing_files(folder.parent):
        raise click.UsageError(f"{folder} is neither a folder of a run nor part of one")
    if folder.is_dir() and not any((folder / name).exists() for name in (SPEC_FILE, RECORDS_FILE)):
        raise click.UsageError(
            f"{folder} holds nothing that `skycell run`, `reproduce` or `sweep` wrote with --out"
        )
    return read_result(folder if folder.is_dir() else folder.parent)


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


def _figure_of_run(
    source: Scenario | RunResult,
    kind: str,
    flows: tuple[str, ...],
    port: str | None,
    unit: str | None,
    from_ps: int,
    to_ps: int | None,
) -> Figure:
    from skycell.plots.run import run_figure
    from skycell.records.result import RunResult

    result = source if isinstance(source, RunResult) else _run(source, kind)
    return run_figure(
        result, kind, flows=flows or None, port=port, unit=unit, from_ps=from_ps, to_ps=to_ps
    )


def _range_ps(start: TimeOption | None, end: TimeOption | None) -> tuple[int, int | None]:
    return 0 if start is None else start.ps, None if end is None else end.ps


def _run(scenario: Scenario, kind: str) -> RunResult:
    """Runs a scenario that keeps what a kind of figure shows, whether it asks for that or not."""
    from skycell.cli.progress import RunProgress
    from skycell.experiment.run import run_spec
    from skycell.plots.run import TRACE_OF

    trace = TRACE_OF[kind]
    if kind == "sojourn" and not scenario.file.records.flow_ports:
        links = scenario.resolve().links
        limited = [one.name for one in links if one.framing is not None and one.port.is_limited]
        scenario = scenario.with_values({"records.flow_ports": limited})
    kept = list(scenario.file.records.traces)
    if trace is not None and trace not in kept:
        scenario = scenario.with_values({"records.traces": [*kept, trace]})
    spec = scenario.resolve()
    with RunProgress(spec.duration_ps) as progress:
        return run_spec(spec, on_progress=progress)
