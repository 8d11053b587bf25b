"""Figures of `skycell plot` that explain a response by factors: of a sweep, or of any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.runs_table import Runs, asked_for, read_runs, runs_of_sweep

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.plots.figure import Figure, FigureOrigin


@dataclass(frozen=True)
class Factorial:
    """Rows with factors and responses, and what a figure says of them.

    Attributes:
        what: what they were read as.
        title: what they are about.
        runs: the rows.
        origin: where they come from.
    """

    what: Literal["sweep", "table"]
    title: str
    runs: Runs
    origin: FigureOrigin


def factorial_of_sweep(sweep: SweepResult) -> Factorial:
    """The runs of a sweep."""
    from skycell.report.sweep import origin_of_sweep

    return Factorial("sweep", sweep.title, runs_of_sweep(sweep), origin_of_sweep(sweep))


def factorial_of_table(source: Path) -> Factorial:
    """The rows of a table.

    Raises:
        click.UsageError: the file is no table.
    """
    from skycell.plots.figure import TableOrigin

    runs = read_runs(source)
    origin = TableOrigin.of(source, len(runs.rows))
    return Factorial("table", source.name, runs, origin)


def validate_factorial(
    collector: ErrorCollector,
    found: Factorial,
    kind: str | None,
    response: str | None,
    factors: Sequence[str],
    wanted: Sequence[tuple[str, Any]],
    block: str | None,
) -> Factorial:
    """The rows with the values asked for; tries what is chosen, each choice for itself."""
    from skycell.plots.factorial import FACTORIAL_KINDS

    with collector.step():
        if kind is not None and kind not in FACTORIAL_KINDS:
            kinds = ", ".join(FACTORIAL_KINDS)
            raise click.BadParameter(f"{kind}: a {found.what} has {kinds}", param_hint="'--kind'")
    responses = [response] if response else []
    runs = asked_for(collector, found.runs, wanted, factors, responses, block)
    only = ", ".join(f"{column} = {value}" for column, value in wanted)
    title = f"{found.title}, only {only}" if only else found.title
    origin = found.origin.of_rows(runs.rows) if only else found.origin
    return replace(found, runs=runs, title=title, origin=origin)


def factorial_figure(
    found: Factorial,
    kind: str | None,
    response: str | None,
    factors: Sequence[str],
    block: str | None,
    level: float,
) -> Figure:
    """One figure of rows that have been looked over.

    Raises:
        click.UsageError: the rows do not decide the effects.
        NothingToDrawError: the analysis has nothing for this kind.
    """
    from skycell.plots.factorial import FACTORIAL_KINDS
    from skycell.stats import DesignError

    runs = found.runs
    names, asked, of_block = runs.asked(factors, [response] if response else [], block)
    try:
        analysis = runs.analysed(names, asked[0], level, 2, of_block)
    except DesignError as error:
        raise click.UsageError(str(error)) from None
    build = FACTORIAL_KINDS[kind or next(iter(FACTORIAL_KINDS))]
    unit = runs.units.get(asked[0], "1")
    return build(analysis, found.origin, study=found.title, unit=unit)
