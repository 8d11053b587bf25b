"""`skycell run`: one run of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.settings import read_setting
from skycell.records.traces import TRACE_COLUMNS

if TYPE_CHECKING:
    from skycell.scenario import Scenario

ENGINES = ("fast", "reference")


@click.command(
    epilog="Example:  skycell run examples/ubr-wan.toml --set tcp.variant=reno --trace cwnd",
    short_help="Simulate a scenario.",
)
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Write the records as one JSON object.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write records.json, spec.json and a Parquet file per trace into DIR.",
)
@click.option("--force", is_flag=True, help="Replace files of an earlier run in DIR.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="fast",
    show_default=True,
    help="What simulates; all engines give the same records.",
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Replace the file's seed.")
@click.option(
    "--trace",
    "traces",
    type=click.Choice(list(TRACE_COLUMNS)),
    multiple=True,
    help="Keep a trace, beside those of the file; may be repeated.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Replace a value of the file, such as tcp.variant=reno; may be repeated.",
)
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

    Ends with 0, with 1 when the run failed, with 2 when the input is faulty.
    """
    from skycell.cli.progress import RunProgress
    from skycell.experiment.run import run_spec
    from skycell.records.files import write_result

    spec = _scenario(file, settings, traces).resolve(seed)
    if out is not None:
        _check_folder(out, force)
    with RunProgress(spec.duration_ps) as progress:
        try:
            result = run_spec(spec, engine, progress)
        except ValueError as error:  # an engine that this build does not have
            raise click.UsageError(str(error)) from None
    if out is not None:
        write_result(result, out, replace=force)
    if as_json:
        click.echo(result.to_json())
        return
    from skycell.cli.result_table import show_result

    show_result(result)
    if out is not None:
        click.echo(f"Written to {out}.")


def _scenario(file: str, settings: tuple[str, ...], traces: tuple[str, ...]) -> Scenario:
    """The file's scenario with what the command line changes."""
    from skycell.scenario import load

    try:
        scenario = load(file)
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror or error}") from None
    values = dict(read_setting(text) for text in settings)
    if traces:
        kept = values.get("records.traces", list(scenario.file.records.traces))
        extra = [name for name in traces if name not in kept] if isinstance(kept, list) else []
        values["records.traces"] = kept + extra if isinstance(kept, list) else kept
    return scenario.with_values(values) if values else scenario


def _check_folder(out: Path, force: bool) -> None:
    """Refuses a folder that cannot take the result, before the run."""
    from skycell.records.files import existing_files

    in_the_way = next((p for p in (out, *out.parents) if p.exists() and not p.is_dir()), None)
    if in_the_way is not None:
        raise click.BadParameter(f"{in_the_way} is a file", param_hint="'--out'")
    earlier = existing_files(out)
    if earlier and not force:
        names = ", ".join(path.name for path in earlier)
        raise click.BadParameter(
            f"{out} holds an earlier run ({names}); --force replaces it", param_hint="'--out'"
        )
