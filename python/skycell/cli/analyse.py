"""`skycell analyse`: which factors of a sweep, or of any table, matter."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.gathered import Gathered
from skycell.cli.options import (
    NAME,
    NamedPath,
    engine_option,
    json_option,
    level_option,
    store_option,
)
from skycell.cli.settings import read_value, split_settings
from skycell.cli.store import look_into_store, refuse_unfit_store
from skycell.cli.verb import Verb, looked_over

if TYPE_CHECKING:
    from skycell.stats import Analysis
    from skycell.sweeps.design import Design
    from skycell.sweeps.result import SweepResult

_SWEEP = ".toml"
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_TABLES = {*_SEPARATORS, ".parquet"}


@dataclass(frozen=True)
class _Runs:
    """The rows of a table, and what a sweep brings with them: its factors, responses and units.

    Of a sweep whose runs are still to be made, `unknown` are the columns that they will fill. Of a
    part of the rows, `whole` are all of them.
    """

    rows: list[dict[str, Any]]
    factors: Sequence[str] = ()
    responses: Sequence[str] = ()
    block: str | None = None
    factor_units: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    unknown: Collection[str] = ()
    whole: Sequence[dict[str, Any]] = ()

    def asked(
        self, factors: Sequence[str], responses: Sequence[str], block: str | None
    ) -> tuple[list[str], list[str], str | None]:
        """Factors, responses and block of an analysis: those given, else those of the sweep."""
        return list(factors or self.factors), list(responses or self.responses), block or self.block


def _look_over(
    gathered: Gathered,
    source: Path | None,
    responses: tuple[str, ...] | None,
    factors: tuple[str, ...] | None,
    filters: tuple[str, ...],
    block: str | None,
    engine: str | None,
    store_path: Path | None,
    **_: object,
) -> _Runs | None:
    """Also gives the rows asked for."""
    allowed = "COLUMN=VALUE, such as tcp=reno"
    given = split_settings(filters, gathered.faults, "--where", allowed)
    wanted = [(column, read_value(text)) for column, text in given]
    if source is None:
        return None
    found: list[_Runs] = []
    if source.suffix == _SWEEP:
        found += _runs_of_file(gathered, source, engine, store_path)
    else:
        with gathered.step():
            found.append(_runs(source))
    if not found:
        return None
    return _asked_for(gathered, found[-1], wanted, factors or (), responses or (), block)


def _runs_of_file(
    gathered: Gathered, source: Path, engine: str | None, store_path: Path | None
) -> list[_Runs]:
    """The runs of a sweep's file as they are planned, and behind that as the store has them."""
    found: list[_Runs] = []
    fit: list[Path | None] = []
    with gathered.step():
        refuse_unfit_store(store_path, to_look=True)
        fit.append(store_path)
    with gathered.step():
        design = _design(source)
        found.append(_planned(design))
        if fit and engine is not None:
            found.append(_of_sweep(_stored(design, engine, store_path)))
    return found


def _asked_for(
    gathered: Gathered,
    runs: _Runs,
    wanted: Sequence[tuple[str, Any]],
    factors: Sequence[str],
    responses: Sequence[str],
    block: str | None,
) -> _Runs:
    """The rows with the values asked for; tries each of these, and the columns, for itself."""
    from skycell.stats import DesignError
    from skycell.stats.table import refuse_unknown_columns

    for column, value in wanted:
        with gathered.step():
            _having(runs, column, value)
    names, asked, of_block = runs.asked(factors, responses, block)
    columns = runs.rows[0]
    with gathered.step():
        if not names or not asked:
            raise click.UsageError(
                f"name --factor and --response; the columns are {', '.join(columns)}"
            )
    with gathered.step():
        try:
            refuse_unknown_columns(columns, [*names, *asked, *([of_block] if of_block else [])])
        except DesignError as error:
            raise click.UsageError(str(error)) from None
    if gathered:
        return runs
    runs = replace(runs, whole=runs.rows)
    with gathered.step():
        for column, value in wanted:
            runs = replace(runs, rows=_having(runs, column, value))
    return runs


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
    type=NAME,
    multiple=True,
    help="Column to explain; may be repeated. All that a sweep measured if not given.",
)
@click.option(
    "--factor",
    "factors",
    type=NAME,
    multiple=True,
    help="Column whose values are levels; may be repeated. A sweep's own if not given.",
)
@click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows with this value; may be repeated.",
)
@click.option("--block", type=NAME, metavar="COLUMN", help="Column whose values share their draws.")
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
    responses: tuple[str, ...],
    factors: tuple[str, ...],
    block: str | None,
    level: float,
    order: int,
    as_json: bool,
    **_: object,
) -> None:
    """Give means, effects, allocation of variation and intervals for the runs in SOURCE.

    SOURCE is a folder that `skycell sweep --out` wrote, the file of a sweep whose runs are in the
    store, or any table with a column per factor and response: .csv, .tsv or .parquet.

    Ends with 0, with 2 when the input is faulty or does not decide the effects.
    """
    from skycell.stats import DesignError
    from skycell.stats import analyse as run_analysis
    from skycell.stats.table import FaultyValueError

    runs = looked_over(_look_over)
    assert runs is not None
    names, asked, of_block = runs.asked(factors, responses, block)
    gathered = Gathered()
    found_of: dict[str, Analysis | str] = {}
    for name in asked:
        try:
            found_of[name] = run_analysis(
                runs.rows, names, name, level, order=order, block=of_block
            ).with_units(runs.factor_units)
        except FaultyValueError as error:
            found_of[name] = error.told_of(runs.whole.index(runs.rows[error.row]))
        except DesignError as error:
            found_of[name] = str(error)
    refused = [why for why in found_of.values() if isinstance(why, str)]
    # Of responses that nobody named, one that no run has keeps no other back.
    if responses or len(refused) == len(found_of):
        for why in dict.fromkeys(refused):
            with gathered.step():
                raise click.UsageError(why)
        gathered.refuse_if_any()
    _show(found_of, runs.units, as_json)


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


def _planned(design: Design) -> _Runs:
    """The rows of a sweep before it is made, with the columns of `SweepResult.rows`."""
    plan = design.plan
    rows = [
        {
            **run.cell.labels,
            "replication": run.replication,
            "seed": run.seed,
            **dict.fromkeys((*plan.responses, "state")),
            "spec_hash": run.spec_hash,
        }
        for run in design.runs
    ]
    factors = [factor.name for factor in plan.factors]
    return _Runs(rows, factors, plan.responses, unknown={*plan.responses, "state"})


def _design(source: Path) -> Design:
    from skycell.sweeps.design import design_runs
    from skycell.sweeps.file import load_plan

    return design_runs(load_plan(source))


def _stored(design: Design, engine: str, store_path: Path | None) -> SweepResult:
    from skycell.sweeps.running import MissingRunsError, sweep

    with look_into_store(store_path) as store:
        try:
            return sweep(design, engine=engine, store=store, only_stored=True)
        except MissingRunsError as error:
            place = "" if store_path is None else f" --store {store_path}"
            made_by = "" if engine == "fast" else f" --engine {engine}"
            hint = f"`skycell sweep {design.plan.name}{made_by}{place}` makes them"
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

    if not source.is_file():
        raise click.UsageError(
            f"{source} {'is a folder, not a table' if source.is_dir() else 'does not exist'}"
        )
    separator = _SEPARATORS.get(source.suffix.lower())
    fault = None
    try:
        if separator is None:
            rows = pl.read_parquet(source).to_dicts()
        else:
            rows = pl.read_csv(source, separator=separator, infer_schema_length=None).to_dicts()
            fault = _fault_of_header(source, separator)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        fault = _fault_of_rows(source, separator) if separator else None
        fault = fault or str(error)
    if fault:
        raise click.UsageError(f"{source} cannot be read as a table: {fault}")
    if not rows:
        raise click.UsageError(f"{source} has no rows below its header")
    return rows


def _fault_of_header(source: Path, separator: str) -> str | None:
    """What is wrong with the names of a text's columns; none where nothing is."""
    import polars as pl

    # With its header as names, a frame has other names in the place of the later ones.
    line = pl.read_csv(source, separator=separator, has_header=False, n_rows=1, infer_schema=False)
    names = line.row(0)
    if len(names) == 1 and (others := [sign for sign in ";\t," if sign in str(names[0])]):
        signs = f"columns are separated by {separator!r}, not {others[0]!r}"
        return f"its header has one column, {names[0]!r}; {signs}"
    repeated = [str(name) for name in dict.fromkeys(names) if names.count(name) > 1]
    return f"its header has {', '.join(repeated)} more than once" if repeated else None


def _fault_of_rows(source: Path, separator: str) -> str | None:
    """Which row of a text is none; none where all are rows."""
    import csv

    line = 0
    try:
        with source.open(newline="", encoding="utf-8-sig") as text:
            rows = csv.reader(text, delimiter=separator, strict=True)
            header = next(rows, [])
            line = rows.line_num
            for row in rows:
                line = rows.line_num
                if len(row) > len(header):
                    return f"line {line} has {len(row)} fields, the header {len(header)}"
    except csv.Error:
        return f"a field of line {line + 1} begins with a quotation mark and does not end with one"
    except (OSError, ValueError):
        return None
    return None


def _having(runs: _Runs, column: str, value: Any) -> list[dict[str, Any]]:
    """The rows with a value in a column; at least one. All of them where it is not yet known."""
    rows = runs.rows
    if column in runs.unknown:
        return rows
    if column not in rows[0]:
        columns = ", ".join(rows[0])
        message = f"{column} is no column; the columns are {columns}"
        raise click.BadParameter(message, param_hint="'--where'")
    kept = [row for row in rows if row[column] == value or str(row[column]) == str(value)]
    if not kept:
        there = ", ".join(dict.fromkeys(str(row[column]) for row in rows))
        message = f"no row has {column}={value}; {column} has {there}"
        raise click.BadParameter(message, param_hint="'--where'")
    return kept
