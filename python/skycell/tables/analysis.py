"""Tables of an analysis: allocation of variation, effects, differences, interactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.plots.labels import factor, listed
from skycell.stats.sentences import at_level
from skycell.tables.table import (
    NOTHING,
    Cell,
    Table,
    columns,
    count,
    interval,
    level_cell,
    significant,
    words,
)

if TYPE_CHECKING:
    from skycell.stats import Analysis
    from skycell.stats.findings import Estimate


def analysis_tables(found: Analysis, *, differences: bool = True) -> list[Table]:
    """All tables of an analysis, in the order in which they are read.

    Args:
        found: the analysis.
        differences: whether that of all pairs of levels is among them.
    """
    pairs = [_pair(found, place) for place in range(len(found.interactions))]
    apart = [_differences(found)] if differences else []
    return [_variation(found), _effects(found), *apart, *pairs]


def _variation(found: Analysis) -> Table:
    total, values = found.total, found.values_sum
    sums = (
        ("individual values", values, found.runs),
        ("overall mean", values - total, 1),
        ("total variation", total, found.runs - 1),
    )
    nothing = Cell("", sort="")
    rows = [
        (words(what), significant(squares), count(degrees), nothing, nothing, nothing)
        for what, squares, degrees in sums
    ]
    rows += [
        (
            words(" × ".join(map(factor, row.factors)) or row.name),
            significant(row.sum_of_squares),
            count(row.degrees),
            Cell(f"{100 * row.share:.2f} %", row.share),
            significant(row.f),
            Cell(NOTHING if row.p is None else f"{row.p:.2g}".replace("-", "\u2212"), row.p),
        )
        for row in found.variation
    ]
    heads = ("component", "sum of squares", "degrees", "part", "F", "p")
    return Table(
        caption="Allocation of variation.",
        title=f"variation of {found.response}",
        columns=columns(*heads, numeric=heads[1:]),
        rows=tuple(rows),
        ruled=frozenset({len(sums) - 1}),
    )


def _effects(found: Analysis) -> Table:
    rows = [
        (
            words(factor(own.name, own.unit)),
            level_cell(level.level),
            count(level.runs),
            *_estimate(level.mean),
            *_estimate(level.effect),
        )
        for own in found.factors
        for level in own.levels
    ]
    ends, last = set(), -1
    for own in found.factors:
        last += len(own.levels)
        ends.add(last)
    nothing = Cell("", sort="")
    rows.append(
        (words("overall"), nothing, count(found.runs), *_estimate(found.mean), nothing, nothing)
    )
    of = f"{at_level(found.level)} interval"
    heads = ("factor", "level", "runs", "mean", of, "effect", f"its {of}")
    return Table(
        caption="Means and main effects.",
        title="means and main effects",
        columns=columns(*heads, numeric=heads[2:]),
        rows=tuple(rows),
        keys=2,
        ruled=frozenset(ends),
    )


def _differences(found: Analysis) -> Table:
    marks = {
        True: Cell("told apart", css="good"),
        False: Cell("not told apart", css="none"),
        None: Cell("no interval", css="none"),
    }
    rows = [
        (
            words(factor(own.name, own.unit)),
            level_cell(pair.first),
            level_cell(pair.second),
            *_estimate(pair.difference),
            marks[pair.difference.is_clear],
        )
        for own in found.factors
        for pair in own.differences
    ]
    heads = ("factor", "level", "minus level", "difference", "Tukey's interval", "verdict")
    return Table(
        caption=(
            "Which levels can be told apart. All intervals of a factor together hold with "
            "the stated confidence."
        ),
        title="which levels can be told apart",
        columns=columns(*heads, numeric=heads[3:5]),
        rows=tuple(rows),
        keys=3,
    )


def _pair(found: Analysis, place: int) -> Table:
    pair = found.interactions[place]
    rows = [
        (*map(level_cell, cell.levels), significant(cell.mean.value), *_estimate(cell.effect))
        for cell in pair.cells
    ]
    titles = [factor(name, found.factor(name).unit) for name in pair.factors]
    heads = (*titles, "mean", "effect", f"{at_level(found.level)} interval")
    names = listed(map(factor, pair.factors))
    return Table(
        caption=f"Interaction of {names}: means, and effects beyond the two main effects.",
        title=f"{' × '.join(map(factor, pair.factors))}, beyond the two main effects",
        columns=columns(*heads, numeric=heads[2:]),
        rows=tuple(rows),
        keys=2,
    )


def _estimate(estimate: Estimate) -> tuple[Cell, Cell]:
    return significant(estimate.value), interval(estimate.low, estimate.high)
