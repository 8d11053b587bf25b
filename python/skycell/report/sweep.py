"""The report of a sweep: what was run, and for each response findings, figures and tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.plots.factorial_parts import lowered, response_title
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import factor, grouped, listed, name
from skycell.report.page import Picture, page
from skycell.report.tables import Cell, Table, columns, count, number, share, words

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.stats import Analysis
    from skycell.stats.findings import Estimate


_MOST_RUNS = 500
"""Runs whose seeds and specs a page lists; those of more are only in the table beside it."""


def origin_of_sweep(result: SweepResult) -> Origin:
    """What the captions of a sweep's figures say about its runs."""
    return Origin(
        engine=result.engine,
        version=result.version,
        spec_hashes=tuple(dict.fromkeys(run.spec_hash for run in result.runs)),
        seed=result.first_seed,
        replications=result.replications,
    )


def sweep_figures(
    result: SweepResult, level: float = 0.9
) -> tuple[dict[str, Analysis], dict[str, str], dict[str, list[Figure]]]:
    """Analysis and figures of every response, and why where there is none."""
    from skycell.plots.factorial import factorial_figures
    from skycell.stats import DesignError

    analyses: dict[str, Analysis] = {}
    refused: dict[str, str] = {}
    figures: dict[str, list[Figure]] = {}
    for response, unit in result.units.items():
        try:
            found = result.analyse(response, level)
        except DesignError as error:
            refused[response] = f"No analysis: {error}."
            figures[response] = []
            continue
        analyses[response] = found
        figures[response] = factorial_figures(
            found, origin_of_sweep(result), study=result.title, unit=unit
        )
    return analyses, refused, figures


def sweep_page(
    result: SweepResult,
    analyses: dict[str, Analysis],
    refused: dict[str, str],
    figures: dict[str, list[Figure]],
    pictures: Sequence[Picture],
) -> str:
    """The report of a sweep as one HTML page.

    Args:
        result: the sweep.
        analyses: of its responses, as :func:`sweep_figures` gives them.
        refused: why a response has no analysis.
        figures: of each response.
        pictures: of all figures, in their order.
    """
    drawn = iter(pictures)
    parts = []
    for place, (response, unit) in enumerate(result.units.items(), start=1):
        found = analyses.get(response)
        parts.append(
            {
                "id": f"response-{place}",
                "title": response_title(response, unit),
                "summary": found.summary() if found else [refused[response]],
                "pictures": [next(drawn) for _ in figures[response]],
                "tables": _tables(found) if found else [],
            }
        )
    return page(
        "sweep.html.j2",
        {
            "title": result.title,
            "version": result.version,
            "verdict": _verdict(analyses),
            "identity": _identity(result),
            "responses": parts,
            "cells": _cells(result),
            "failed": _failed(result),
            "again": _again(result),
        },
    )


def _verdict(analyses: dict[str, Analysis]) -> str:
    """For each response the factor that explains most of it, as far as it is more than chance."""
    parts, nothing = [], []
    for response, found in analyses.items():
        best = found.dominant
        if best is None or not _is_shown(found, best):
            nothing.append(lowered(response_title(response)))
            continue
        part = f"{100 * found.shares()[best]:.0f} %"
        what = lowered(response_title(response))
        parts.append(f"{factor(best)} explains {part} of the variation of {what}")
    text = ", ".join(parts)
    if nothing:
        rest = f"no factor can be shown to move {listed(nothing)}"
        text = f"{text}; {rest}" if text else rest
    return f"{text[0].upper()}{text[1:]}." if text else "The runs do not determine what matters."


def _is_shown(found: Analysis, name: str) -> bool:
    """Whether a factor's effect is more than chance, as far as that can be said."""
    p = found.term(name).p
    return p is None or p < 1 - found.level


def _identity(result: SweepResult) -> list[tuple[str, str]]:
    factors = [
        (f"Factor {factor(key)}", ", ".join(map(name, levels)))
        for key, levels in result.factors.items()
    ]
    seeds = (
        f"the same seeds in every cell, from {result.first_seed}"
        if result.common_random_numbers
        else f"their own seeds, drawn from {result.first_seed}"
    )
    each = counted(result.replications, "replication")
    runs = f"{grouped(len(result.runs))}: {grouped(result.cells)} cells, {each} of each"
    return [
        *factors,
        ("Runs", f"{runs}, {seeds}"),
        ("Engine", f"{result.engine}, skycell {result.version}"),
        ("File", result.file),
    ]


def _tables(found: Analysis) -> list[Table]:
    return [_variation(found), _effects(found), _differences(found), *_pairs(found)]


def _variation(found: Analysis) -> Table:
    rows = [
        (
            words(" × ".join(map(factor, row.factors)) or row.name),
            number(row.sum_of_squares, _digits(found.total)),
            count(row.degrees),
            share(row.share),
            number(row.f, 1),
            Cell("–" if row.p is None else f"{row.p:.2g}", row.p),
        )
        for row in found.variation
    ]
    heads = ("component", "sum of squares", "degrees of freedom", "part", "F", "p")
    return Table(
        caption="Allocation of variation.",
        columns=columns(*heads, numeric=heads[1:]),
        rows=tuple(rows),
    )


def _effects(found: Analysis) -> Table:
    from skycell.stats.sentences import at_level

    digits = _digits(found.mean.value)
    rows = [
        (
            words(factor(own.name)),
            Cell(name(level.level), _sortable(level.level)),
            count(level.runs),
            number(level.mean.value, digits),
            _interval(level.mean, digits),
            number(level.effect.value, digits),
            _interval(level.effect, digits),
        )
        for own in found.factors
        for level in own.levels
    ]
    interval = f"{at_level(found.level)} interval"
    heads = ("factor", "level", "runs", "mean", interval, "effect", f"its {interval}")
    return Table(
        caption=f"Means and main effects. Overall mean {found.mean.value:.{digits}f}.",
        columns=columns(*heads, numeric=("runs", "mean", "effect")),
        rows=tuple(rows),
    )


def _differences(found: Analysis) -> Table:
    digits = _digits(found.mean.value)
    marks = {
        True: Cell("told apart", css="good"),
        False: Cell("not told apart", css="none"),
        None: Cell("no interval", css="none"),
    }
    rows = [
        (
            words(factor(own.name)),
            words(name(pair.first)),
            words(name(pair.second)),
            number(pair.difference.value, digits),
            _interval(pair.difference, digits),
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
        columns=columns(*heads, numeric=("difference",)),
        rows=tuple(rows),
    )


def _pairs(found: Analysis) -> list[Table]:
    digits = _digits(found.mean.value)
    tables = []
    for pair in found.interactions:
        heads = (*map(factor, pair.factors), "mean", "beyond the main effects", "interval")
        rows = [
            (
                *(Cell(name(level), _sortable(level)) for level in cell.levels),
                number(cell.mean.value, digits),
                number(cell.effect.value, digits),
                _interval(cell.effect, digits),
            )
            for cell in pair.cells
        ]
        tables.append(
            Table(
                caption=f"Interaction of {listed(map(factor, pair.factors))}.",
                columns=columns(*heads, numeric=heads[2:4]),
                rows=tuple(rows),
            )
        )
    return tables


def _cells(result: SweepResult) -> Table:
    rows = []
    for cell in result.by_cell():
        cells = [Cell(name(level), _sortable(level)) for level in cell.levels.values()]
        for found in cell.responses.values():
            digits = _digits(found.mean or 0.0)
            cells += [number(found.mean, digits), number(found.sd, digits)]
        rows.append(tuple(cells))
    heads = [factor(key) for key in result.factors]
    numbers: list[str] = []
    for response, unit in result.units.items():
        title = response_title(response, unit)
        numbers += [title, f"SD of {lowered(title)}"]
    return Table(
        caption=f"Means over {counted(result.replications, 'replication')}, cell by cell.",
        columns=columns(*heads, *numbers, numeric=numbers),
        rows=tuple(rows),
    )


def _failed(result: SweepResult) -> Table | None:
    if not result.failed:
        return None
    rows = [
        (
            words(", ".join(f"{factor(k)} = {name(v)}" for k, v in run.levels.items())),
            words(run.seed),
            words(run.reason),
        )
        for run in result.failed
    ]
    return Table(
        caption="Runs that failed; they are left out of everything else.",
        columns=columns("cell", "seed", "reason", numeric=["seed"]),
        rows=tuple(rows),
        sortable=False,
    )


def _again(result: SweepResult) -> dict[str, Any]:
    shell = ["skycell sweep", shlex.quote(result.file), f"--replications {result.replications}"]
    rows = [
        (
            words(", ".join(f"{factor(k)} = {name(v)}" for k, v in run.levels.items())),
            count(run.replication),
            words(run.seed),
            words(run.spec_hash[:16]),
        )
        for run in result.runs
    ]
    listed_here = len(result.runs) <= _MOST_RUNS
    return {
        "text": (
            f"With skycell {result.version} the same file gives the same numbers, digit for digit: "
            "a run is a function of its spec, which includes the seed."
            + ("" if listed_here else " The seed and the spec of each run are in runs.csv.")
        ),
        "shell": " ".join([*shell, f"--engine {result.engine}"]),
        "count": grouped(len(result.runs)),
        "specs": Table(
            caption="First 16 digits of the SHA-256 of each run's spec.",
            columns=columns("cell", "replication", "seed", "spec", numeric=["replication", "seed"]),
            rows=tuple(rows),
            sortable=False,
        )
        if listed_here
        else None,
    }


def _interval(estimate: Estimate, digits: int) -> Cell:
    if estimate.low is None or estimate.high is None:
        return Cell("–", sort="")
    low, high = number(estimate.low, digits).text, number(estimate.high, digits).text
    return Cell(f"{low} to {high}", estimate.low)


def _digits(scale: float) -> int:
    """Places after the point for numbers of a scale: four significant digits, four at most.

    >>> _digits(0.77), _digits(25.0), _digits(12345.0)
    (4, 2, 0)
    """
    size = abs(scale)
    return next(
        (places for limit, places in ((1, 4), (10, 3), (100, 2), (1000, 1)) if size < limit), 0
    )


def _sortable(level: object) -> float | str:
    is_number = isinstance(level, int | float) and not isinstance(level, bool)
    return float(level) if is_number else str(level)  # type: ignore[arg-type]
