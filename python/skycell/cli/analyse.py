"""`skycell analyse`: which factors of a sweep, or of any table, matter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.gathered import Gathered
from skycell.cli.options import NamedPath, engine_option, json_option, level_option, store_option
from skycell.cli.settings import read_value, split_settings
from skycell.cli.store import look_into_store, refuse_unfit_store
from skycell.cli.verb import Verb

if TYPE_CHECKING:
    from skycell.stats import Analysis
    from skycell.sweeps.design import Design
    from skycell.sweeps.result import SweepResult

_SWEEP = ".toml"
_TABLES = {".csv", ".tsv", ".parquet"}


def _look_over(
    gathered: Gathered,
    source: Path,
    filters: tuple[str, ...],
    store_path: Path | None,
    **_: object,
) -> tuple[_Runs | Design | None, list[tuple[str, Any]]]:
    """Also gives the rows, or the sweep whose runs the store has, and what rows are asked for."""
    allowed = "COLUMN=VALUE, such as tcp=reno"
    wanted = [
        (column, read_value(text))
        for column, text in split_settings(filters, gathered.faults, "--where", allowed)
    ]
    found: list[_Runs | Design] = []
    if source.suffix == _SWEEP:
        with gathered.step():
            refuse_unfit_store(store_path, to_look=True)
    with gathered.step():
        found.append(_design(source) if source.suffix == _SWEEP else _runs(source))
    return found[0] if found else None, wanted


@click.command(
    cls=Verb,
    look_over=_look_over,
    epilog="\b\nExamples:\n"
    "  skycell analyse out/policies\n"
    "  skycell analyse examples/sweeps/policy-and-buffer.toml --response fairness --level 95\n"
    "  skycell analyse out/policies/runs.csv --factor policy --response efficiency",
    short_help="Tell which factors matter, and by how much.",
)
@click.argument("source", metavar="SOURCE", type=NamedPath(path_type=Path))
@click.option(
    "--response",
    "responses",
    multiple=True,
    metavar="NAME",
    help="Column to explain; may be repeated. All that a sweep measured if not given.",
)
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME",
    help="Column whose values are levels; may be repeated. A sweep's own if not given.",
)
@click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows with this value; may be repeated.",
)
@click.option("--block", metavar="COLUMN", help="Column whose values share their draws.")
@level_option
@click.option(
    "--order",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Most factors of an interaction in the model.",
)
@json_option()
@engine_option("Whose runs to take from the store.")
@store_option
def analyse(
    source: Path,
    responses: tuple[str, ...],
    factors: tuple[str, ...],
    filters: tuple[str, ...],
    block: str | None,
    level: float,
    order: int,
    as_json: bool,
    engine: str,
    store_path: Path | None,
) -> None:
    """Give means, effects, allocation of variation and intervals for the runs in SOURCE.

    SOURCE is a folder that `skycell sweep --out` wrote, the file of a sweep whose runs are in the
    store, or any table with a column per factor and response: .csv, .tsv or .parquet.

    Ends with 0, with 2 when the input is faulty or does not decide the effects.
    """
    from skycell.stats import DesignError
    from skycell.stats import analyse as run_analysis

    gathered = Gathered()
    found, wanted = _look_over(gathered, source, filters, store_path)
    gathered.refuse_if_any()
    assert found is not None
    runs = found if isinstance(found, _Runs) else _of_sweep(_stored(found, engine, store_path))
    rows = _filtered(runs.rows, wanted)
    names = list(factors or runs.factors)
    asked = list(responses or runs.responses)
    if not names or not asked:
        columns = ", ".join(rows[0])
        raise click.UsageError(f"name --factor and --response; the columns are {columns}")
    found_of: dict[str, Analysis | str] = {}
    for name in asked:
        try:
            found_of[name] = run_analysis(
                rows, names, name, level, order=order, block=block or runs.block
            ).with_units(runs.factor_units)
        except DesignError as error:
            # Of responses that nobody named, one that no run has keeps no other back.
            if responses:
                raise click.UsageError(str(error)) from None
            found_of[name] = str(error)
    refused = [why for why in found_of.values() if isinstance(why, str)]
    if len(refused) == len(found_of):
        raise click.UsageError(refused[0])
    _show(found_of, runs.units, as_json)


@dataclass(frozen=True)
class _Runs:
    """The rows of a table, and what a sweep brings with them: its factors, responses and units."""

    rows: list[dict[str, Any]]
    factors: Sequence[str] = ()
    responses: Sequence[str] = ()
    block: str | None = None
    factor_units: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


def _show(found: Mapping[str, Analysis | str], units: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        data = {
            "analyses": [own.as_dict() for own in found.values() if not isinstance(own, str)],
            "refused": {name: why for name, why in found.items() if isinstance(why, str)},
        }
        click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
        return
    from skycell.cli.sweep_tables import show_analysis, show_refusal

    for name, own in found.items():
        unit = units.get(name, "")
        if isinstance(own, str):
            show_refusal(name, unit, own)
        else:
            show_analysis(own, unit)


def _of_sweep(result: SweepResult) -> _Runs:
    shares_draws = result.common_random_numbers and result.replications > 1
    return _Runs(
        result.rows(),
        list(result.factors),
        result.responses,
        "replication" if shares_draws else None,
        result.factor_units,
        result.units,
    )


def _design(source: Path) -> Design:
    from skycell.sweeps.design import design_runs
    from skycell.sweeps.file import load_plan

    try:
        return design_runs(load_plan(source))
    except OSError as error:
        raise click.UsageError(f"{source}: {error.strerror or error}") from None


def _stored(design: Design, engine: str, store_path: Path | None) -> SweepResult:
    from skycell.sweeps.running import MissingRunsError, sweep

    with look_into_store(store_path) as store:
        try:
            return sweep(design, engine=engine, store=store, only_stored=True)
        except MissingRunsError as error:
            place = "" if store_path is None else f" --store {store_path}"
            hint = f"`skycell sweep {design.plan.name}{place}` makes them"
            raise click.UsageError(f"{error}; {hint}") from None


def _runs(source: Path) -> _Runs:
    from skycell.sweeps.result import NotASweepError, is_sweep, read_sweep

    if source.suffix.lower() in _TABLES:
        return _Runs(_table(source))
    if not source.exists():
        raise click.UsageError(f"{source} does not exist")
    if source.is_dir() and not is_sweep(source):
        raise click.UsageError(f"{source} holds no result of `skycell sweep --out`")
    try:
        return _of_sweep(read_sweep(source))
    except NotASweepError as error:
        raise click.UsageError(str(error)) from None


def _table(source: Path) -> list[dict[str, Any]]:
    import polars as pl

    readers = {
        ".csv": lambda: pl.read_csv(source, infer_schema_length=None),
        ".tsv": lambda: pl.read_csv(source, separator="\t", infer_schema_length=None),
        ".parquet": lambda: pl.read_parquet(source),
    }
    if not source.is_file():
        raise click.UsageError(
            f"{source} {'is a folder, not a table' if source.is_dir() else 'does not exist'}"
        )
    try:
        rows = readers[source.suffix.lower()]().to_dicts()
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise click.UsageError(f"{source} cannot be read as a table: {error}") from None
    if not rows:
        raise click.UsageError(f"{source} has no rows below its header")
    return rows


def _filtered(
    rows: list[dict[str, Any]], wanted: Sequence[tuple[str, Any]]
) -> list[dict[str, Any]]:
    for column, value in wanted:
        if column not in rows[0]:
            columns = ", ".join(rows[0])
            message = f"{column} is no column; the columns are {columns}"
            raise click.BadParameter(message, param_hint="'--where'")
        kept = [row for row in rows if row[column] == value or str(row[column]) == str(value)]
        if not kept:
            there = ", ".join(dict.fromkeys(str(row[column]) for row in rows))
            message = f"no row has {column}={value}; {column} has {there}"
            raise click.BadParameter(message, param_hint="'--where'")
        rows = kept
    return rows
