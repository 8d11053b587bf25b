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
    latex_option,
    out_folder_option,
    set_option,
    table_json_option,
)
from skycell.cli.results import refuse_earlier_files, refuse_unwritable, report_result, writing
from skycell.cli.sentences import say, say_json_text
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument, option
from skycell.spec.declared.traces import TRACES

if TYPE_CHECKING:
    from skycell.scenario import Scenario


#: Far more than there are cores, and few enough for the memory of a region each.
_MOST_THREADS = 1024


class Run(Call):
    """Simulate the scenario in FILE and show what its users got.

    If FILE is -, the scenario comes from standard input, and files that it names are looked for
    relative to the current folder.

    Exits with 0, with 1 if the run failed, with 2 if the input is faulty.
    """

    file: str = argument(type=NamedPath(), metavar="FILE")
    as_json: bool = table_json_option("Write the records as one JSON object.")
    as_latex: bool = latex_option()
    out: Path | None = out_folder_option(
        "Write records.json, spec.json and a Parquet file per trace into DIR."
    )
    force: bool = force_option("files of an earlier run in DIR")
    engine: str = engine_option()
    threads: int | None = option(
        "--threads",
        type=click.IntRange(1, _MOST_THREADS),
        help="Threads of a large run; all cores if not given. The records are the same.",
    )
    seed: int | None = option(
        "--seed", type=click.IntRange(0, 2**64 - 1), help="Replace the file's seed."
    )
    traces: tuple[str, ...] = option(
        "--trace",
        type=click.Choice(TRACES),
        multiple=True,
        help="Keep a trace in DIR, in addition to those of the file; may be repeated.",
    )
    settings: tuple[str, ...] = set_option("Replace a value of the file, such as tcp.recovery=reno")

    def check(self, collector: ErrorCollector) -> Scenario | None:
        values = read_settings(self.settings, collector.faults)
        with collector.step():
            if self.out is not None:
                _check_folder(self.out, self.force)
                refuse_unwritable(self.out)
        scenario = collector.read(lambda: self._scenario(values))
        with collector.step():
            if self.traces and self.out is None:
                raise click.UsageError(
                    "--trace keeps traces in the folder of --out, which is not given"
                )
        return scenario

    def _scenario(self, values: Mapping[str, Any]) -> Scenario:
        """The file's scenario with what the command line changes."""
        scenario = load_input(self.file, values)
        kept = scenario.file.records.traces
        extra = [name for name in self.traces if name not in kept]
        return scenario.with_values({"records.traces": [*kept, *extra]}) if extra else scenario

    def run(self, scenario: Scenario) -> None:
        from skycell.cli.progress import RunProgress
        from skycell.experiment.cores import default_jobs
        from skycell.experiment.run import run_spec, with_derived
        from skycell.records.files import write_result
        from skycell.scenario.trace_sizes import note_on_traces

        spec = scenario.resolve(self.seed)
        for note in note_on_traces(spec):
            say(f"Note: {note}", err=True)
        threads = default_jobs() if self.threads is None else self.threads
        with RunProgress(spec.duration_ps) as progress:
            try:
                result = run_spec(spec, self.engine, progress, threads)
            except ValueError as error:  # an engine that this build does not have
                raise click.UsageError(str(error)) from None
        if (self.threads or 1) > 1 and result.regions is None:
            say(f"Note: the network was not divided: {result.why_one_region}", err=True)
        result = with_derived(result, scenario)
        fault = None
        if self.out is not None:
            with writing(self.out) as reported:
                write_result(result, self.out, replace=self.force)
            fault = reported.fault

        def show() -> None:
            if self.as_json:
                say_json_text(result.to_json())
            else:
                from skycell.cli.run_output import show_result

                show_result(result)

        report_result(show, self.out, fault, as_json=self.as_json)


run = Verb(
    Run, "skycell run examples/ubr-wan.toml --set tcp.recovery=reno --trace cwnd --out out/run"
)


def _check_folder(out: Path, force: bool) -> None:
    """Refuses a folder that cannot take the result, before the run."""
    from skycell.records.files import existing_files

    refuse_earlier_files(out, "run", lambda: [path.name for path in existing_files(out)], force)
