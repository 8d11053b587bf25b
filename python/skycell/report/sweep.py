"""The report of a sweep: what was run, and for each response findings, figures and tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.measures.responses import better_of
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import factor, grouped, listed, lowered, metric, name
from skycell.plots.values import usual_axes
from skycell.report.page import Picture, page
from skycell.tables.analysis import analysis_tables
from skycell.tables.runs import failed_runs
from skycell.tables.table import Table, columns, count, words
from skycell.tables.values import best_sentence, cells_table, pivots, spread_sentences

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult, SweepRun
    from skycell.stats import Analysis


_LEVEL = 0.9
"""Confidence of intervals where no analysis says of which it is."""

_GOODPUT = ("throughput", "efficiency")
"""What users want of a link, which they have to wait for."""

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
    origin = origin_of_sweep(result)
    for response, unit in result.units.items():
        figures[response] = _figures_of_values(result, response, origin)
        try:
            found = result.analyse(response, level)
        except DesignError as error:
            refused[response] = f"No analysis: {error}."
            continue
        analyses[response] = found
        figures[response] += factorial_figures(found, origin, study=result.title, unit=unit)
    return analyses, refused, figures


def _figures_of_values(result: SweepResult, response: str, origin: Origin) -> list[Figure]:
    """The response by its factors, and what users get over what they wait for."""
    from skycell.plots.values import Axes, usual_axes, values_figure

    axes = usual_axes(result.factors)
    arranged = [axes]
    delays = [name for name, unit in result.units.items() if unit == "ms"]
    if response in _GOODPUT and delays:
        arranged.append(Axes(delays[0], axes.series, axes.others(list(result.factors))))
    rows = [value.as_dict() for value in result.values()]
    units, figures = result.factor_units, []
    for own in arranged:
        with suppress(NothingToDrawError):
            figures.append(
                values_figure(rows, origin, own, response, study=result.title, units=units)
            )
    return figures


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
    values, units = result.values(), result.factor_units
    axes = usual_axes(result.factors)
    parts = []
    for place, (response, unit) in enumerate(result.units.items(), start=1):
        found = analyses.get(response)
        own = [value for value in values if value.metric == response]
        level = found.level if found else _LEVEL
        best = best_sentence(own, better_of(response), level, units)
        summary = [
            _meaning(result.meanings.get(response, "")),
            best,
            *spread_sentences(own, units),
            *(found.summary() if found else [refused[response]]),
        ]
        parts.append(
            {
                "id": f"response-{place}",
                "title": metric(response, unit, result.subjects.get(response, "")),
                "summary": [sentence for sentence in summary if sentence],
                "pictures": [next(drawn) for _ in figures[response]],
                "tables": [
                    *pivots(own, axes, level=level, better=better_of(response), units=units),
                    *(analysis_tables(found) if found else []),
                ],
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
            "cells": cells_table(values, title=result.title, units=units),
            "failed": failed_runs((_cell(run), run.seed, run.reason) for run in result.failed),
            "again": _again(result),
        },
    )


def _meaning(meaning: str) -> str:
    """Returns the meaning of a response as a sentence."""
    return f"{meaning[0].upper()}{meaning[1:]}." if meaning else ""


def _verdict(analyses: dict[str, Analysis]) -> str:
    """For each response the factor that explains most of it, as far as it is more than chance."""
    parts, nothing = [], []
    for response, found in analyses.items():
        best = found.dominant
        if best is None or not _is_shown(found, best):
            nothing.append(lowered(metric(response, subject=found.subject)))
            continue
        part = f"{100 * found.shares()[best]:.0f} %"
        what = lowered(metric(response, subject=found.subject))
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


def _cell(run: SweepRun) -> str:
    return ", ".join(f"{factor(key)} = {name(level)}" for key, level in run.levels.items())


def _again(result: SweepResult) -> dict[str, Any]:
    shell = ["skycell sweep", shlex.quote(result.file), f"--replications {result.replications}"]
    rows = [
        (
            words(_cell(run)),
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
