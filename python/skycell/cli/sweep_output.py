"""Sweeps and analyses on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from skycell.cli.console import Output
from skycell.cli.sentences import say, say_json
from skycell.experiment.design import shown
from skycell.experiment.value import Value
from skycell.input.quantities import PS_PER_SECOND, counted, show_amount
from skycell.measures.responses import better_of, meaning_of
from skycell.tables.analysis import analysis_tables
from skycell.tables.values import best_sentence, cells_table, pivots, spread_sentences

if TYPE_CHECKING:
    from skycell.experiment.plan import Design
    from skycell.experiment.result import SweepResult
    from skycell.experiment.store import RunStore
    from skycell.plots.values import Axes
    from skycell.stats import Analysis

_MOST_CELLS = 60
"""Cells shown; more are in the files that --out writes."""


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
            "meanings": {name: meaning_of(name) for name in plan.responses},
            "cells": len(plan.cells),
            "replications": plan.replications,
            "common_random_numbers": plan.common_random_numbers,
            "runs": design.size,
            "missing": len(missing),
            "simulated_s_to_do": seconds,
            "notes": [{"note": found.note, "cells": found.cells} for found in design.notes],
        }
        say_json(data)
        return
    say(plan.title)
    for factor in plan.factors:
        levels = ", ".join(shown(level.label) for level in factor.levels)
        say(f"  {factor.name}{_unit(factor.unit)}: {levels}")
    say("  responses:")
    for name in plan.responses:
        say(f"    {name}: {meaning_of(name)}")
    seeds = "the same seeds in every cell" if plan.common_random_numbers else "its own seeds"
    times = plan.replications
    replications = counted(times, "replication")
    say(
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
        Output().say(f"Note{where}{numbers}: {found.note}")


def show_sweep(result: SweepResult, level: float, axes: Axes | None) -> None:
    """Means of every cell, or by two factors, then what the factors do to each response."""
    from skycell.stats import DesignError

    output = Output()
    values, units = result.values(), result.factor_units
    if axes is None:
        output.show(cells_table(values, title=result.title, units=units, most=_MOST_CELLS))
    else:
        show_pivots(output, values, axes, level, units)
    for response, unit in result.units.items():
        try:
            sentences = result.analyse(response, level).summary()
        except DesignError as error:
            sentences = [f"No analysis: {error}."]
        own = [value for value in values if value.metric == response]
        best = best_sentence(own, better_of(response), level, units)
        sentences = [*([best] if best else []), *spread_sentences(own, units), *sentences]
        _say(output, response, unit, sentences, result.subjects.get(response, ""))
    seeds = "common random numbers" if result.common_random_numbers else "their own seeds"
    simulated = len(result.runs) - result.from_store
    output.say(
        f"{counted(len(result.runs), 'run')} with the {result.engine} engine "
        f"({result.version}), {seeds}: {simulated} simulated, {result.from_store} from the store"
    )


def spread_of(result: SweepResult) -> dict[str, list[str]]:
    """What mean and standard deviation do not tell of the runs of a combination, by response."""
    values = result.values()
    found = {
        name: spread_sentences(
            [value for value in values if value.metric == name], result.factor_units
        )
        for name in result.responses
    }
    return {name: sentences for name, sentences in found.items() if sentences}


def show_pivots(
    output: Output,
    values: Sequence[Value],
    axes: Axes,
    level: float,
    units: Mapping[str, str],
) -> None:
    """Means of each measure by two factors, and of all others, a table for each of their levels."""
    for name in dict.fromkeys(value.metric for value in values):
        own = [value for value in values if value.metric == name]
        for table in pivots(own, axes, level=level, better=better_of(name), units=units):
            output.show(table)


def _say(
    output: Output, response: str, unit: str, sentences: Iterable[str], subject: str = ""
) -> None:
    output.say(f"{response}{f' of {subject}' if subject else ''}{_unit(unit)}", "bold")
    for sentence in sentences:
        output.say(sentence, wrap=True)
    output.say()


def _unit(unit: str) -> str:
    return f" ({unit})" if unit not in {"", "1", "events"} else ""


def show_analysis(analysis: Analysis, unit: str) -> None:
    """An analysis in full: allocation of variation, effects, interactions, summary.

    Args:
        analysis: the analysis.
        unit: of its response; empty if it is not known.
    """
    output = Output()
    _say(output, analysis.response, unit, analysis.summary(), analysis.subject)
    for table in analysis_tables(analysis, differences=False):
        output.show(table)


def show_refusal(response: str, unit: str, why: str) -> None:
    """Why there is no analysis of a response, where others have one."""
    _say(Output(), response, unit, [f"No analysis: {why}."])
