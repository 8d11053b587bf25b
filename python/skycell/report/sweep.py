"""The report of a sweep: what was run, and for each response findings, figures and tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import factor, grouped, listed, lowered, metric, name
from skycell.report.page import Picture, page
from skycell.tables.analysis import analysis_tables
from skycell.tables.table import Table, columns, count, words
from skycell.tables.values import cells_table

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.stats import Analysis


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
                "title": metric(response, unit),
                "summary": found.summary() if found else [refused[response]],
                "pictures": [next(drawn) for _ in figures[response]],
                "tables": analysis_tables(found) if found else [],
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
            "cells": cells_table(result.values(), title=result.title, units=result.factor_units),
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
            nothing.append(lowered(metric(response)))
            continue
        part = f"{100 * found.shares()[best]:.0f} %"
        what = lowered(metric(response))
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
