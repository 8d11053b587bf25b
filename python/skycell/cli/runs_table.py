"""Rows of runs that `analyse` explains and `plot` draws: of a sweep, or of any table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import float_info
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.settings import split_settings
from skycell.input.settings import read_value

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.experiment.value import Value
    from skycell.stats import Analysis

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_TABLES = {*_SEPARATORS, ".parquet"}


@dataclass(frozen=True)
class Runs:
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
    subjects: Mapping[str, str] = field(default_factory=dict)
    unknown: Collection[str] = ()
    whole: Sequence[dict[str, Any]] = ()

    def asked(
        self, factors: Sequence[str], responses: Sequence[str], block: str | None
    ) -> tuple[list[str], list[str], str | None]:
        """Factors, responses and block of an analysis: those given, else those of the sweep."""
        return list(factors or self.factors), list(responses or self.responses), block or self.block

    def values(self, factors: Sequence[str], responses: Sequence[str]) -> list[Value]:
        """What the rows of each combination of levels gave, response by response."""
        from skycell.experiment.value import values_of
        from skycell.measures.responses import range_of

        units = {name: self.units.get(name, "1") for name in responses}
        ranges = {name: range_of(name) for name in responses}
        return values_of(self.rows, factors, units, subjects=self.subjects, ranges=ranges)

    def analysed(
        self, factors: Sequence[str], response: str, level: float, order: int, block: str | None
    ) -> Analysis:
        """The analysis of one response.

        Raises:
            DesignError: the rows do not decide it; the message counts rows as the whole table does.
        """
        from skycell.measures.responses import range_of
        from skycell.stats import DesignError, analyse
        from skycell.stats.table import FaultyValueError

        try:
            found = analyse(
                self.rows,
                factors,
                response,
                level,
                order=order,
                block=block,
                range_=range_of(response),
            )
        except FaultyValueError as error:
            raise DesignError(error.reported_of(self.whole.index(self.rows[error.row]))) from None
        return found.named(self.factor_units, self.subjects.get(response, ""))


def wanted_rows(collector: ErrorCollector, filters: Sequence[str]) -> list[tuple[str, Any]]:
    """Columns and the values that `--where` asks for."""
    allowed = "COLUMN=VALUE, such as tcp=reno"
    inputs = split_settings(filters, collector.faults, "--where", allowed)
    return [(column, read_value(text)) for column, text in inputs]


def asked_for(
    collector: ErrorCollector,
    runs: Runs,
    wanted: Sequence[tuple[str, Any]],
    factors: Sequence[str],
    responses: Sequence[str],
    block: str | None,
) -> Runs:
    """The rows with the values asked for; tries each of these, and the columns, for itself."""
    from skycell.stats import DesignError
    from skycell.stats.table import refuse_unknown_columns

    for column, value in wanted:
        with collector.step():
            _having(runs, column, value)
    names, asked, of_block = runs.asked(factors, responses, block)
    columns = runs.rows[0]
    with collector.step():
        if not names or not asked:
            raise click.UsageError(
                f"name --factor and --response; the columns are {', '.join(columns)}"
            )
    with collector.step():
        try:
            refuse_unknown_columns(columns, [*names, *asked, *([of_block] if of_block else [])])
        except DesignError as error:
            raise click.UsageError(str(error)) from None
    if collector:
        return runs
    runs = replace(runs, whole=runs.rows)
    with collector.step():
        for column, value in wanted:
            runs = replace(runs, rows=_having(runs, column, value))
    return runs


def runs_of_sweep(result: SweepResult) -> Runs:
    """The runs of a sweep; those of one replication are a block where they have the same draws."""
    shares_draws = result.common_random_numbers and result.replications > 1
    return Runs(
        result.rows(),
        list(result.factors),
        result.responses,
        "replication" if shares_draws else None,
        result.factor_units,
        result.units,
        result.subjects,
    )


def read_runs(source: Path) -> Runs:
    """The runs of a table or of a sweep.

    Raises:
        click.UsageError: there are none.
        OSError: the file of a sweep cannot be read.
    """
    from skycell.experiment.result import is_sweep

    if is_table_source(source):
        return Runs(_table(source))
    if not source.exists():
        raise click.UsageError(f"{source} does not exist")
    if source.is_dir() and not is_sweep(source):
        raise click.UsageError(f"{source} holds no result of `skycell sweep --out`")
    return runs_of_sweep(read_sweep_source(source))


def is_table_source(source: Path) -> bool:
    """Whether a source is a table by its name."""
    return source.suffix.lower() in _TABLES


def is_sweep_source(source: Path) -> bool:
    """Whether a source is the result of a sweep."""
    from skycell.experiment.result import RESULT_FILE, is_sweep

    return is_sweep(source) if source.is_dir() else source.name == RESULT_FILE


def read_sweep_source(source: Path) -> SweepResult:
    """The sweep in a folder, or of its file.

    Raises:
        click.UsageError: the file is no result of a sweep, has no runs, or a level that no
            computer's number reaches.
        OSError: it cannot be read.
    """
    from skycell.experiment.result import NotASweepError, read_sweep

    try:
        found = read_sweep(source)
    except NotASweepError as error:
        raise click.UsageError(str(error)) from None
    if not found.runs:
        raise click.UsageError(f"{source} is the result of a sweep without runs")
    levels = (level for run in found.runs for level in run.levels.values())
    if any(isinstance(level, int) and abs(level) > float_info.max for level in levels):
        raise click.UsageError(f"{source} has a level above {float_info.max:.0e}")
    return found


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


def _having(runs: Runs, column: str, value: Any) -> list[dict[str, Any]]:
    """The rows with a value in a column; at least one. All of them where it is not yet known."""
    rows = runs.rows
    if column in runs.unknown:
        return rows
    if column not in rows[0]:
        columns = ", ".join(rows[0])
        message = f"{column} is not a column; the columns are {columns}"
        raise click.BadParameter(message, param_hint="'--where'")
    kept = [row for row in rows if row[column] == value or str(row[column]) == str(value)]
    if not kept:
        there = ", ".join(dict.fromkeys(str(row[column]) for row in rows))
        message = f"no row has {column}={value}; {column} has {there}"
        raise click.BadParameter(message, param_hint="'--where'")
    return kept
