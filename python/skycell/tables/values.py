"""Tables of a result, of a sweep or of a study: value by value, cell by cell, factor by factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skycell.experiment.value import Value, best_of
from skycell.measures.measure import Better
from skycell.plots.labels import (
    described,
    factor,
    grouped,
    listed,
    lowered,
    metric,
    name,
    replicated,
)
from skycell.plots.values import Axes
from skycell.stats.groups import FEWEST
from skycell.stats.ranges import LEAST_FOR_INTERVAL
from skycell.stats.sentences import at_level
from skycell.tables.table import (
    NOTHING,
    Cell,
    Column,
    Notes,
    Table,
    columns,
    count,
    interval,
    level_cell,
    number,
    significant,
)

MARKS = {
    "inside": "good",
    "near": "fair",
    "off": "bad",
    "unpublished": "none",
    "own": "none",
    "failed": "bad",
}
"""Class of the coloured mark of a verdict; the verdict's word stands in it."""


def telling(values: Sequence[Value]) -> list[str]:
    """Factors that tell values apart; the first one where there is nothing to tell apart."""
    keys = list(values[0].factors)
    varying = [key for key in keys if len({str(own.factors.get(key)) for own in values}) > 1]
    return varying or keys[:1]


def digits_of(unit: str) -> int:
    """Places after the point that a value of a study is shown with."""
    return {"1": 3, "Mbit/s": 2, "cells": 0}.get(unit, 1)


def values_table(values: Sequence[Value], *, caption: str, title: str = "", why: str = "") -> Table:
    """Values of one measure, each with its spread and, where there is one, what is published.

    Args:
        values: of one measure and unit.
        caption: of the table; what all values have in common is added to it.
        title: where there is no room for the caption.
        why: the reason of those that are off, which then stands below.
    """
    keys = telling(values)
    digits = digits_of(values[0].unit)
    is_published = any(own.published is not None for own in values)
    has_several = len({own.n for own in values if own.n}) > 1
    notes = Notes()
    rows = []
    for own in values:
        ours = [number(own.mean, digits)]
        if is_published:
            printed = _published(own, digits, notes)
            reason = "; ".join(own.failures) or (why if own.verdict == "off" else "")
            verdict = Cell(own.verdict, css=MARKS[own.verdict], note=notes.number(reason))
            ours = [printed, *ours, verdict, _difference(own, digits)]
        spread = [number(own.sd, digits), _range(own, digits)]
        rows.append(
            (
                *(level_cell(own.factors.get(key)) for key in keys),
                *ours,
                *([count(own.n)] if has_several else []),
                *spread,
            )
        )
    beside = ("published", "ours", "verdict", "difference") if is_published else ("ours",)
    counts = ("n",) if has_several else ()
    heads = (*beside, *counts, "SD", "lowest to highest")
    return Table(
        caption=caption,
        title=title,
        columns=(
            *(Column(factor(key)) for key in keys),
            *columns(*heads, numeric=[head for head in heads if head != "verdict"]),
        ),
        rows=tuple(rows),
        notes=tuple(notes.texts),
        keys=len(keys),
    )


def _published(own: Value, digits: int, notes: Notes) -> Cell:
    """The published value, with a note where its print is in doubt."""
    if own.published is None:
        return Cell(NOTHING, sort="")
    digits = 2 if own.unit == "1" else digits
    cell = number(own.published, digits)
    text = cell.text
    if own.published_range is not None:
        text = " to ".join(number(end, digits).text for end in own.published_range)
    return Cell(text, cell.sort, note=notes.number(own.doubt))


def _range(own: Value, digits: int) -> Cell:
    if own.low is None or own.high is None:
        return Cell(NOTHING, sort="")
    return Cell(f"{number(own.low, digits).text} to {number(own.high, digits).text}", own.low)


def _difference(own: Value, digits: int) -> Cell:
    """Ours less the published value, with its sign; what rounds to nothing has none."""
    if own.mean is None or own.published is None:
        return Cell(NOTHING, sort="")
    value = own.mean - own.published
    cell = number(abs(value), digits)
    sign = "" if round(abs(value), digits) == 0 else "+" if value > 0 else "\u2212"
    return Cell(sign + cell.text, value)


def cells_table(
    values: Sequence[Value],
    *,
    title: str,
    units: Mapping[str, str] | None = None,
    most: int | None = None,
) -> Table:
    """Values of several measures side by side, a row for each combination of levels.

    Args:
        values: combination by combination.
        title: what they are of.
        units: what the levels of a factor are counted in.
        most: rows that are shown; all if not given.
    """
    rows: dict[tuple[str, ...], list[Value]] = {}
    for own in values:
        rows.setdefault(_place(own, list(own.factors)), []).append(own)
    shown = list(rows.values())[:most]
    first = shown[0]
    keys = [Column(factor(key, (units or {}).get(key, ""))) for key in first[0].factors]
    counts = replicated([own.n for own in values if own.n] or [0])
    heads = [
        column
        for own in first
        for column in (
            Column(metric(own.metric, own.unit, own.subject), numeric=True),
            Column("SD", numeric=True, joined=True),
        )
    ]
    hidden = "" if len(shown) == len(rows) else f", the first {len(shown)} of {grouped(len(rows))}"
    return Table(
        caption=f"Means of {counts} and their standard deviations (SD), cell by cell{hidden}.",
        title=f"{title}: means of {counts}{hidden}",
        columns=(*keys, *heads),
        rows=tuple(
            (
                *map(level_cell, cells[0].factors.values()),
                *(significant(number) for own in cells for number in (own.mean, own.sd)),
            )
            for cells in shown
        ),
        keys=len(keys),
    )


def _place(own: Value, factors: Sequence[str]) -> tuple[str, ...]:
    """Levels as a key; true and 1 are two levels."""
    return tuple(repr(own.factors[key]) for key in factors)


def pivots(
    values: Sequence[Value],
    axes: Axes,
    *,
    level: float = 0.9,
    better: Better = "",
    units: Mapping[str, str] | None = None,
) -> list[Table]:
    """Means of one measure by two factors, with their margins, and the best of each table.

    The levels of all other factors have a table each, so that no mean is over unlike runs.

    Args:
        values: of one measure.
        axes: which factor is down the rows, which across the columns.
        level: confidence of the margins.
        better: which values are the better ones.
        units: what the levels of a factor are counted in.
    """
    others = axes.others(telling(values))
    parts: dict[tuple[str, ...], list[Value]] = {}
    for own in values:
        parts.setdefault(_place(own, others), []).append(own)
    return [
        _pivot(own, axes.x, axes.series, others, level, better, units or {})
        for own in parts.values()
    ]


def _pivot(
    values: Sequence[Value],
    x: str,
    series: str,
    others: Sequence[str],
    level: float,
    better: Better,
    units: Mapping[str, str],
) -> Table:
    first = values[0]
    best = best_of(values, better)
    places = {_place(own, [x, *([series] if series else [])]): own for own in values}
    columns_by = [series] if series else []
    across = {_place(own, columns_by): own.factors.get(series, "") for own in values}
    down = {_place(own, [x]): own.factors[x] for own in values}
    rows = []
    for row, label in down.items():
        cells = [_with_interval(places.get((*row, *column)), level, best) for column in across]
        rows.append((level_cell(label), *cells))
    by = [factor(key, units.get(key, "")) for key in (x, series) if key]
    what = f"{metric(first.metric, first.unit, first.subject)} by {listed(by)}"
    where = described({key: first.factors[key] for key in others}, units)
    heading = "; ".join(text for text in (what, where) if text)
    heads = [name(own) for own in across.values()] if series else ["mean"]
    runs = replicated(own.n for own in values)
    said = f"mean of {runs} (and its {at_level(level)} interval)"
    if all(own.n < LEAST_FOR_INTERVAL for own in values):
        said = f"mean of {runs}, too few for an interval"
    return Table(
        caption=f"{heading}: {said}. {best_sentence(values, better, level, units)}".rstrip(),
        title=f"{heading}; {said}",
        columns=(
            Column(factor(x, units.get(x, ""))),
            *(Column(head, numeric=True) for head in heads),
        ),
        rows=tuple(rows),
    )


def _with_interval(own: Value | None, level: float, best: Value | None) -> Cell:
    if own is None or own.mean is None:
        return Cell(NOTHING, sort="")
    found = own.interval(level)
    text = significant(own.mean).text
    if found is not None:
        text += f" ({interval(*found).text})"
    return Cell(text, sort=own.mean, css="good" if own is best else "")


_WIDE = 4
"""The largest of some runs over the smallest, from which mean and SD say too little of them."""


def spread_sentences(values: Sequence[Value], units: Mapping[str, str]) -> list[str]:
    """Where the runs of one combination fall into two groups or lie far apart, with their values.

    Args:
        values: of one measure.
        units: what the levels of a factor are counted in.

    >>> runs = (0.7, 12.1, 0.9, 13.0, 0.8, 12.4, 0.75)
    >>> own = Value(factors={"tcp": "bbr"}, metric="throughput", unit="Mbit/s", by_replication=runs)
    >>> spread_sentences([own], {})[0][:55]
    'With BBR the 7 runs fall into two groups, at 0.7000, 0.'
    >>> spread_sentences([own], {})[0][55:]
    '7500, 0.8000, 0.9000 and at 12.10, 12.40, 13.00: the mean, 5.807, and the SD describe neither.'
    >>> from dataclasses import replace
    >>> spread_sentences([replace(own, by_replication=(2.0, 3.0, 5.0, 8.0, 12.0))], {})
    ['With BBR the 5 runs reach from 2.000 to 12.00: 2.000, 3.000, 5.000, 8.000, 12.00.']
    """
    found = []
    for own in values:
        where = f"With {described(own.factors, units)} the {own.n} runs"
        if own.groups is not None:
            low, high = (_values_in_words(of) for of in own.groups)
            mean = significant(own.mean).text
            found.append(
                f"{where} fall into two groups, at {low} and at {high}: the mean, {mean}, and the "
                f"SD describe neither."
            )
        elif own.n >= FEWEST and 0 < _WIDE * (own.low or 0) < (own.high or 0):
            low, high = (significant(end).text for end in (own.low, own.high))
            every = _values_in_words(sorted(own.values))
            found.append(f"{where} reach from {low} to {high}: {every}.")
    return found


_MOST_VALUES = 12


def _values_in_words(values: Sequence[float]) -> str:
    """Values one after the other; of many the first, and how many more."""
    shown = ", ".join(significant(value).text for value in values[:_MOST_VALUES])
    more = len(values) - _MOST_VALUES
    return f"{shown} and {more} more" if more > 0 else shown


def best_sentence(
    values: Sequence[Value], better: Better, level: float, units: Mapping[str, str]
) -> str:
    """Where a measure is best, with its interval; empty where there is no best.

    >>> two = [
    ...     Value(factors={"policy": own}, metric="efficiency", unit="1", by_replication=runs)
    ...     for own, runs in (("epd", (0.8, 0.9)), ("red", (0.9, 0.8)))
    ... ]
    >>> best_sentence(two[:1], "larger", 0.9, {})
    'Best efficiency: 0.8500 (2 replications, too few for an interval) with EPD.'
    >>> best_sentence(two, "larger", 0.9, {})[-31:]
    ' with EPD; 1 other is the same.'
    """
    best = best_of(values, better)
    if best is None or best.mean is None:
        return ""
    found = best.interval(level)
    said = [replicated([best.n])]
    if found is not None:
        said.insert(0, f"{at_level(level)} interval {interval(*found).text}")
    else:
        said.append("too few for an interval")
    same = sum(own.mean == best.mean for own in values) - 1
    what = lowered(metric(best.metric, best.unit, best.subject))
    where = described(best.factors, units)
    others = f"; {same} other{' is' if same == 1 else 's are'} the same" if same else ""
    return f"Best {what}: {significant(best.mean).text} ({', '.join(said)}) with {where}{others}."
