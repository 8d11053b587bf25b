"""`skycell plot`: a figure of a run, of a reproduced study or of a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.gathered import Gathered
from skycell.cli.given import STDIN, load_given, shown_name
from skycell.cli.options import NamedPath, force_option, sweep_level_option
from skycell.cli.results import refuse_unwritable
from skycell.cli.times import TIME, GivenTime
from skycell.cli.verb import Verb

if TYPE_CHECKING:
    from skycell.plots.figure import Figure
    from skycell.records.result import RunResult
    from skycell.scenario import Scenario
    from skycell.sweeps.result import SweepResult

DEFAULT_KIND = "cwnd"


def _look_over(
    gathered: Gathered,
    source: Path,
    out: Path | None,
    force: bool,
    **_: object,
) -> Scenario | None:
    """Also reads a scenario."""
    with gathered.step(), drawing_faults():
        if out is not None:
            _refuse_target(out, force)
    scenario = None
    with gathered.step():
        if source.suffix == ".toml" or str(source) == STDIN:
            scenario = _scenario(str(source))
        elif not source.exists():
            raise click.UsageError(f"{source} does not exist")
    return scenario


@click.command(
    cls=Verb,
    look_over=_look_over,
    epilog="\b\nExamples:\n"
    "  skycell plot examples/ubr-wan.toml --kind queue --out queue.pdf\n"
    "  skycell plot out/run --kind cwnd --flow flow1 --from '2 s' --to '5 s'\n"
    "  skycell plot out/geo --kind efficiency --out efficiency.html\n"
    "  skycell plot out/policies --kind interactions --response fairness",
    short_help="Draw a run, a study or a sweep.",
)
@click.argument("source", metavar="SOURCE", type=NamedPath(path_type=Path))
@click.option(
    "--kind",
    help="What to draw. Of a run: cwnd, sequence, rate, queue, vc-queue or discards; of a study: "
    "one of its metrics, such as efficiency or fairness; of a sweep: response, allocation, "
    "main-effects, interactions or residuals.  "
    "[default: cwnd, the study's first metric, or response]",
)
@click.option(
    "--out",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="File to write: .svg, .pdf, .png or .html.  [default: KIND.svg]",
)
@force_option("FILE if it exists")
@click.option(
    "--flow", "flows", multiple=True, metavar="NAME", help="Draw this flow only; may be repeated."
)
@click.option("--port", metavar="NAME", help="Port whose queue to draw, such as switch1>switch2.")
@click.option("--from", "start", type=TIME, help="Begin here, such as '2 s'.")
@click.option("--to", "end", type=TIME, help="End here, such as '500 ms'.")
@click.option("--table", metavar="ID", help="Table of a study to draw, such as icccn97-t3.")
@click.option("--response", metavar="NAME", help="Response of a sweep; its first if not given.")
@sweep_level_option
def plot(
    source: Path,
    kind: str | None,
    out: Path | None,
    force: bool,
    flows: tuple[str, ...],
    port: str | None,
    start: GivenTime | None,
    end: GivenTime | None,
    table: str | None,
    response: str | None,
    level: float | None,
) -> None:
    """Draw one figure of SOURCE.

    SOURCE is a folder that `skycell run --out`, `skycell reproduce --out` or `skycell sweep --out`
    wrote, the result.json or sweep.json in it, or a scenario file, which is then run with the trace
    that the figure needs. If SOURCE is - the scenario comes from standard input, and files that it
    names are looked for from the current folder.

    Ends with 0, with 1 when a run failed or drawing failed, with 2 when the input is faulty.
    """
    gathered = Gathered()
    scenario = _look_over(gathered, source, out, force)
    gathered.refuse_if_any()
    with drawing_faults():
        is_of_runs = bool(flows or port or start or end)
        study = _study_file(source)
        if is_sweep_source(source):
            if is_of_runs or table:
                raise click.UsageError(
                    "--flow, --port, --from, --to and --table are not for sweeps, and this is one"
                )
            figure = _figure_of_sweep(source, kind, response, level or 0.9)
        elif response or level:
            raise click.UsageError("--response and --level are for sweeps, and this is none")
        elif study is not None:
            if is_of_runs:
                raise click.UsageError(
                    "--flow, --port, --from and --to are for runs, and this is a study"
                )
            figure = _figure_of_study(study, kind, table)
        else:
            if table:
                raise click.UsageError("--table is for studies, and this is a run")
            figure = _figure_of_run(
                scenario or source,
                kind or DEFAULT_KIND,
                flows,
                port,
                None if start is None else start.ps,
                None if end is None else end.ps,
            )
        target = out or Path(f"{kind or figure.name}.svg")
        _refuse_target(target, force)
        from skycell.plots.export import save

        save({target: figure}, force=force)
    click.echo(f"Written to {target}.")


@contextmanager
def drawing_faults(option: str = "--out") -> Iterator[None]:
    """Turns what can go wrong with figures and results into a message and an exit code.

    Args:
        option: what names the file of the figure.
    """
    from skycell.plots.export import UnknownFormatError
    from skycell.plots.figure import NothingToDrawError
    from skycell.plots.files import WouldOverwriteError
    from skycell.plots.painters import RenderError
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

    if folder.is_file() and folder not in existing_files(folder.parent):
        raise click.UsageError(f"{folder} is no folder of a run and no part of one")
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


def _study_file(source: Path) -> Path | None:
    """The file with the rows of a study that a source names; none for a run or a scenario."""
    if source.is_dir():
        file = source / "result.json"
        return file if file.is_file() else None
    return source if source.suffix == ".json" and source.name != "records.json" else None


def _figure_of_study(file: Path, kind: str | None, table: str | None) -> Figure:
    from skycell.report.stored import stored_figure

    return stored_figure(file, metric=kind, table=table)


def is_sweep_source(source: Path) -> bool:
    """Whether a source is the result of a sweep."""
    from skycell.sweeps.result import RESULT_FILE, is_sweep

    return is_sweep(source) if source.is_dir() else source.name == RESULT_FILE


def read_sweep_source(source: Path) -> SweepResult:
    """The sweep in a folder, or of its file.

    Raises:
        click.UsageError: the file is no result of a sweep.
    """
    from skycell.sweeps.result import NotASweepError, read_sweep

    try:
        return read_sweep(source)
    except NotASweepError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"{source}: {error.strerror or error}") from None


def _figure_of_sweep(source: Path, kind: str | None, response: str | None, level: float) -> Figure:
    from skycell.plots.factorial import FACTORIAL_KINDS
    from skycell.report.sweep import sweep_figure
    from skycell.stats import DesignError

    result = read_sweep_source(source)
    if kind is not None and kind not in FACTORIAL_KINDS:
        kinds = ", ".join(FACTORIAL_KINDS)
        raise click.BadParameter(f"{kind}: a sweep has {kinds}", param_hint="'--kind'")
    if response is not None and response not in result.responses:
        known = ", ".join(result.responses)
        raise click.BadParameter(f"{response}: the sweep has {known}", param_hint="'--response'")
    try:
        return sweep_figure(result, kind, response, level)
    except DesignError as error:
        raise click.UsageError(str(error)) from None


def _figure_of_run(
    source: Scenario | Path,
    kind: str,
    flows: tuple[str, ...],
    port: str | None,
    start_ps: int | None,
    end_ps: int | None,
) -> Figure:
    from skycell.plots.run import CHOICES_OF, TRACE_OF, run_figure

    if kind not in TRACE_OF:
        kinds = ", ".join(TRACE_OF)
        raise click.BadParameter(f"{kind}: a run has {kinds}", param_hint="'--kind'")
    given = {"flow": flows, "port": port, "from": start_ps, "to": end_ps}
    idle = [
        f"--{name}"
        for name, value in given.items()
        if value not in (None, ()) and name not in CHOICES_OF[kind]
    ]
    if idle:
        allowed = ", ".join(f"--{name}" for name in CHOICES_OF[kind])
        raise click.UsageError(f"{', '.join(idle)}: the kind {kind} has {allowed}")
    result = read_run(source) if isinstance(source, Path) else _run(source, TRACE_OF[kind])
    try:
        return run_figure(
            result, kind, flows=flows or None, port=port, from_ps=start_ps or 0, to_ps=end_ps
        )
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise click.UsageError(str(error)) from None


def _scenario(file: str) -> Scenario:
    try:
        return load_given(file)
    except OSError as error:
        raise click.UsageError(f"{shown_name(file)}: {error.strerror or error}") from None


def _run(scenario: Scenario, trace: str | None) -> RunResult:
    """Runs a scenario, with one more trace than it asks for if need be."""
    from skycell.cli.progress import RunProgress
    from skycell.experiment.run import run_spec

    kept = list(scenario.file.records.traces)
    if trace is not None and trace not in kept:
        scenario = scenario.with_values({"records.traces": [*kept, trace]})
    spec = scenario.resolve()
    with RunProgress(spec.duration_ps) as progress:
        return run_spec(spec, on_progress=progress)
