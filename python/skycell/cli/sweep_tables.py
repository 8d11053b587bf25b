"""Sweeps and analyses on the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from skycell.cli.console import show_table, standard_output
from skycell.experiment.design import shown
from skycell.input.quantities import PS_PER_SECOND, counted, show_amount

if TYPE_CHECKING:
    from skycell.experiment.plan import Design
    from skycell.experiment.result import SweepResult
    from skycell.experiment.store import RunStore
    from skycell.stats import Analysis
    from skycell.stats.findings import Estimate, FactorEffects

_MOST_CELLS = 60
"""Cells shown; more are in the files that --out writes."""


def _table(title: str, words: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", header_style="dim", box=SIMPLE_HEAD
    )
    for heading in words:
        table.add_column(heading, no_wrap=True)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def show_plan(design: Design, store: RunStore, engine: str, as_json: bool) -> None:
    """What a sweep would run, and what the store has of it."""
    from skycell.experiment.batch import Batch

    plan = design.plan
    runs = design.runs.different
    missing = Batch(store, engine).missing(runs)
    seconds = sum(run.duration_ps for run in missing) / PS_PER_SECOND
    if as_json:
        data = {
            "title": plan.title,
            "factors": {f.name: [level.label for level in f.levels] for f in plan.factors},
            "responses": list(plan.responses),
            "cells": len(plan.cells),
            "replications": plan.replications,
            "common_random_numbers": plan.common_random_numbers,
            "runs": design.size,
            "missing": len(missing),
            "simulated_s_to_do": seconds,
            "notes": [{"note": found.note, "cells": found.cells} for found in design.notes],
        }
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    click.echo(plan.title)
    for factor in plan.factors:
        levels = ", ".join(shown(level.label) for level in factor.levels)
        click.echo(f"  {factor.name}{_unit(factor.unit)}: {levels}")
    click.echo(f"  responses: {', '.join(plan.responses)}")
    seeds = "the same seeds in every cell" if plan.common_random_numbers else "its own seeds"
    times = plan.replications
    replications = counted(times, "replication")
    click.echo(
        f"{counted(len(plan.cells), 'cell')}, {replications} of each with {seeds}: "
        f"{counted(design.size, 'run')}; {len(runs) - len(missing)} are in the "
        f"store, {show_amount(seconds)} s are to be simulated."
    )
    show_notes(design)


def show_notes(design: Design) -> None:
    """What there is to know of the cells' scenarios before their results are read."""
    every = len(design.plan.cells)
    for found in design.notes:
        where = "" if found.cells == every else f" in {found.cells} of {counted(every, 'cell')}"
        numbers = ", with the numbers of the first" if found.varies else ""
        click.echo(f"Note{where}{numbers}: {found.note}")


def show_sweep(result: SweepResult, level: float) -> None:
    """Means of every cell, then what the factors do to each response."""
    from skycell.stats import DesignError

    console = standard_output()
    show_table(console, _cells(result))
    hidden = result.cells - _MOST_CELLS
    if hidden > 0:
        console.print(f"and {counted(hidden, 'more cell')}; --out DIR writes them all")
    for response, unit in result.units.items():
        console.print(Text(f"\n{response}{_unit(unit)}", "bold"))
        try:
            sentences = result.analyse(response, level).summary()
        except DesignError as error:
            sentences = [f"No analysis: {error}."]
        for sentence in sentences:
            console.print(Text(sentence))
    seeds = "common random numbers" if result.common_random_numbers else "their own seeds"
    simulated = len(result.runs) - result.from_store
    console.print(
        f"\n{counted(len(result.runs), 'run')} with the {result.engine} engine "
        f"({result.version}), {seeds}: {simulated} simulated, {result.from_store} from the store",
        soft_wrap=True,
    )


def _cells(result: SweepResult) -> Table:
    headings = [f"{name}{_unit(unit)}" for name, unit in result.units.items()]
    numbers = ["n"] + [text for heading in headings for text in (heading, "sd")]
    factors = [f"{name}{_unit(result.factor_units.get(name, ''))}" for name in result.factors]
    table = _table(result.title, factors, numbers)
    for cell in result.by_cell()[:_MOST_CELLS]:
        cells = [*map(shown, cell.levels.values()), str(cell.finished)]
        for found in cell.responses.values():
            cells += [number(found.mean), number(found.sd)]
        table.add_row(*map(Text, cells))
    return table


def _unit(unit: str) -> str:
    return f" ({unit})" if unit not in {"", "1", "events"} else ""


def _heading(factor: FactorEffects) -> str:
    return f"{factor.name}{_unit(factor.unit)}"


def show_analysis(analysis: Analysis, unit: str) -> None:
    """An analysis in full: allocation of variation, effects, interactions, summary.

    Args:
        analysis: the analysis.
        unit: of its response; empty if it is not known.
    """
    from skycell.stats.sentences import at_level

    console = standard_output()
    console.print(Text(f"{analysis.response}{_unit(unit)}", "bold"))
    for sentence in analysis.summary():
        console.print(Text(sentence))
    console.print()
    show_table(console, _variation(analysis))
    console.print()
    show_table(console, _effects(analysis, at_level(analysis.level)))
    for interaction in analysis.interactions:
        console.print()
        title = f"{' × '.join(interaction.factors)}, beyond the two main effects"
        headings = [_heading(analysis.factor(name)) for name in interaction.factors]
        table = _table(title, headings, ["mean", "effect", *_interval(at_level(analysis.level))])
        for cell in interaction.cells:
            levels = [shown(level) for level in cell.levels]
            table.add_row(*levels, number(cell.mean.value), *_estimate(cell.effect))
        show_table(console, table)
    console.print()


def show_refusal(response: str, unit: str, why: str) -> None:
    """Why there is no analysis of a response, where others have one."""
    console = standard_output()
    console.print(Text(f"{response}{_unit(unit)}", "bold"))
    console.print(Text(f"No analysis: {why}."))
    console.print()


def _variation(analysis: Analysis) -> Table:
    headings = ["sum of squares", "degrees", "part", "F", "p"]
    table = _table(f"variation of {analysis.response}", ["component"], headings)
    values, total = analysis.values_sum, analysis.total
    table.add_row("individual values", number(values), str(analysis.runs), "", "", "")
    table.add_row("overall mean", number(values - total), "1", "", "", "")
    table.add_row(
        "total variation",
        number(total),
        str(analysis.runs - 1),
        "100.00 %",
        "",
        "",
        end_section=True,
    )
    for row in analysis.variation:
        table.add_row(
            row.name,
            number(row.sum_of_squares),
            str(row.degrees),
            f"{100 * row.share:.2f} %",
            "" if row.f is None else number(row.f),
            "" if row.p is None else f"{row.p:.2g}",
        )
    return table


def _effects(analysis: Analysis, level: str) -> Table:
    headings = ["runs", "mean", *_interval(level), "effect", *_interval(level)]
    table = _table("means and main effects", ["factor", "level"], headings)
    for factor in analysis.factors:
        for place, own in enumerate(factor.levels):
            table.add_row(
                _heading(factor) if place == 0 else "",
                shown(own.level),
                str(own.runs),
                *_estimate(own.mean),
                *_estimate(own.effect),
                end_section=place == len(factor.levels) - 1,
            )
    table.add_row("overall", "", str(analysis.runs), *_estimate(analysis.mean), "", "", "")
    return table


def _interval(level: str) -> tuple[str, str]:
    return f"{level} from", "to"


def _estimate(estimate: Estimate) -> tuple[str, str, str]:
    return number(estimate.value), number(estimate.low), number(estimate.high)


def number(value: float | None) -> str:
    """A number with four significant digits; below 1, with four digits after the point.

    >>> number(0.76433), number(-1234.56), number(5.0), number(0.0), number(0.00001), number(None)
    ('0.7643', '-1235', '5.000', '0.0000', '1.000e-05', '–')
    """
    if value is None:
        return "–"
    if value and abs(value) < 0.00005:
        return f"{value:.3e}"
    if abs(value) < 1:
        return f"{value:.4f}"
    return f"{value:#.4g}" if abs(value) < 999.95 else f"{value:.0f}"
