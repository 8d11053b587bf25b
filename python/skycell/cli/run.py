"""`skycell run`: one run of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import (
    NamedPath,
    engine_option,
    force_option,
    out_folder_option,
    set_option,
    table_options,
)
from skycell.cli.results import refuse_earlier_files, refuse_unwritable, report_result, writing
from skycell.cli.sentences import say, say_json_text
from skycell.cli.settings import read_settings
from skycell.cli.verb import Verb
from skycell.spec.traces import TRACES

if TYPE_CHECKING:
    from skycell.scenario import Scenario


def _validate(
    collector: ErrorCollector,
    file: str | None,
    out: Path | None,
    force: bool,
    traces: tuple[str, ...] | None,
    settings: tuple[str, ...],
    **_: object,
) -> Scenario | None:
    values = read_settings(settings, collector.faults)
    with collector.step():
        if out is not None:
            _check_folder(out, force)
            refuse_unwritable(out)
    found: list[Scenario] = []
    with collector.step():
        if file is not None:
            found.append(_scenario(file, values, traces or ()))
    return found[0] if found else None


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExample:  skycell run examples/ubr-wan.toml --set tcp.recovery=reno --trace cwnd "
    "--out out/run",
    short_help="Simulate a scenario.",
)
@click.argument("file", type=NamedPath(), metavar="FILE")
@table_options("Write the records as one JSON object.")
@out_folder_option("Write records.json, spec.json and a Parquet file per trace into DIR.")
@force_option("files of an earlier run in DIR")
@engine_option()
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Replace the file's seed.")
@click.option(
    "--trace",
    "traces",
    type=click.Choice(TRACES),
    multiple=True,
    help="Keep a trace in DIR, in addition to those of the file; may be repeated.",
)
@set_option("Replace a value of the file, such as tcp.recovery=reno")
def run(
    file: str,
    as_json: bool,
    out: Path | None,
    force: bool,
    engine: str,
    seed: int | None,
    traces: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Simulate the scenario in FILE and show what its users got.

    If FILE is -, the scenario comes from standard input, and files that it names are looked for
    relative to the current folder.

    Exits with 0, with 1 if the run failed, with 2 if the input is faulty.
    """
    from skycell.cli.progress import RunProgress
    from skycell.experiment.run import run_spec, with_derived
    from skycell.records.files import write_result
    from skycell.scenario.trace_sizes import note_on_traces

    collector = ErrorCollector()
    scenario = _validate(collector, file, out, force, traces, settings)
    with collector.step():
        if traces and out is None:
            raise click.UsageError(
                "--trace keeps traces in the folder of --out, which is not given"
            )
    collector.refuse_if_any()
    assert scenario is not None
    spec = scenario.resolve(seed)
    for note in note_on_traces(spec):
        say(f"Note: {note}", err=True)
    with RunProgress(spec.duration_ps) as progress:
        try:
            result = run_spec(spec, engine, progress)
        except ValueError as error:  # an engine that this build does not have
            raise click.UsageError(str(error)) from None
    result = with_derived(result, scenario)
    fault = None
    if out is not None:
        with writing(out) as reported:
            write_result(result, out, replace=force)
        fault = reported.fault

    def show() -> None:
        if as_json:
            say_json_text(result.to_json())
        else:
            from skycell.cli.run_output import show_result

            show_result(result)

    report_result(show, out, fault, as_json=as_json)


def _scenario(file: str, values: Mapping[str, Any], traces: tuple[str, ...]) -> Scenario:
    """The file's scenario with what the command line changes."""
    scenario = load_input(file, values)
    kept = scenario.file.records.traces
    extra = [name for name in traces if name not in kept]
    return scenario.with_values({"records.traces": [*kept, *extra]}) if extra else scenario


def _check_folder(out: Path, force: bool) -> None:
    """Refuses a folder that cannot take the result, before the run."""
    from skycell.records.files import existing_files

    refuse_earlier_files(out, "run", lambda: [path.name for path in existing_files(out)], force)
