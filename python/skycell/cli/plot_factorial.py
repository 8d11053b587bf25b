"""Figures of `skycell plot` that explain a response by factors: of a sweep, or of any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from skycell.cli.axes import AxesOptions
from skycell.cli.collector import ErrorCollector
from skycell.cli.options import RowsOptions
from skycell.cli.runs_table import Runs, asked_for, read_runs, runs_of_sweep

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.plots.figure import Figure, FigureOrigin
    from skycell.plots.values import Axes


@dataclass(frozen=True)
class Factorial:
    """Rows with factors and responses, and what a figure says of them.

    Attributes:
        what: what they were read as.
        title: what they are about.
        runs: the rows.
        origin: where they come from.
        axes: how the response itself is drawn; none where it is explained.
    """

    what: Literal["sweep", "table"]
    title: str
    runs: Runs
    origin: FigureOrigin
    axes: Axes | None = None


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
    wanted: Sequence[tuple[str, Any]],
    rows: RowsOptions,
    axes: AxesOptions,
) -> Factorial:
    """The rows with the values asked for; tries what is chosen, each choice for itself."""
    from skycell.plots.factorial import FACTORIAL_KINDS

    with collector.step():
        if kind is not None and kind not in FACTORIAL_KINDS:
            kinds = ", ".join(FACTORIAL_KINDS)
            raise click.BadParameter(f"{kind}: a {found.what} has {kinds}", param_hint="'--kind'")
    with collector.step():
        if kind is not None and axes.are_chosen:
            raise click.UsageError(
                f"--kind {kind} explains the response; --x, --series and --facet draw it by itself"
            )
    asked = (rows.factors, [response] if response else [], rows.block)
    runs = asked_for(collector, found.runs, wanted, *asked)
    only = ", ".join(f"{column} = {value}" for column, value in wanted)
    title = f"{found.title}, only {only}" if only else found.title
    origin = found.origin.of_rows(runs.rows) if only else found.origin
    names, _, _ = runs.asked(*asked)
    chosen = axes.chosen(collector, names, _measured(runs, names))
    return replace(found, runs=runs, title=title, origin=origin, axes=chosen)


def _measured(runs: Runs, factors: Sequence[str]) -> list[str]:
    """What may stand along an axis: responses of a sweep, columns with numbers of a table."""
    return list(runs.responses) or [
        name
        for name, value in runs.rows[0].items()
        if name not in factors and isinstance(value, int | float)
    ]


def factorial_figure(
    found: Factorial,
    kind: str | None,
    response: str | None,
    rows: RowsOptions,
    level: float,
) -> Figure:
    """One figure of rows that have been looked over.

    Raises:
        click.UsageError: the rows do not decide the effects.
        NothingToDrawError: the analysis has nothing for this kind.
    """
    from skycell.plots.factorial import FACTORIAL_KINDS
    from skycell.plots.factorial_parts import Explained
    from skycell.stats import DesignError

    runs, axes = found.runs, found.axes
    names, asked, of_block = runs.asked(rows.factors, [response] if response else [], rows.block)
    if axes is not None:
        from skycell.plots.values import values_figure

        measures = dict.fromkeys((asked[0], *([axes.x] if axes.x not in names else [])))
        values = [value.as_dict() for value in runs.values(names, list(measures))]
        shown = [row for row in runs.rows if row[asked[0]] is not None]
        return values_figure(
            values,
            found.origin.of_rows(shown),
            axes,
            asked[0],
            study=found.title,
            units=runs.factor_units,
        )
    try:
        analysis = runs.analysed(names, asked[0], level, 2, of_block)
    except DesignError as error:
        raise click.UsageError(str(error)) from None
    build = FACTORIAL_KINDS[kind or next(iter(FACTORIAL_KINDS))]
    unit = runs.units.get(asked[0], "1")
    return build(Explained(analysis, found.origin, found.title, unit))
