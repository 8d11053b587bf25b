"""The report of a validation: recorded numbers of real hosts beside ours, group by group."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.plots.labels import replicated
from skycell.report.page import page
from skycell.tables.runs import failed_runs
from skycell.tables.table import NOTHING, Cell, Notes, Table, columns, count, number, words
from skycell.tables.values import MARKS
from skycell.validation.compare import INSIDE_RELATIVE, NEAR_RELATIVE
from skycell.validation.measures import MEASURES, Measure
from skycell.validation.scenarios import linux

if TYPE_CHECKING:
    from skycell.studies.compare import Row
    from skycell.validation import Validation


def validation_page(result: Validation) -> str:
    """The page of a validation."""
    return page(
        "validation.html.j2",
        {
            "title": linux().title,
            "version": result.version,
            "verdict": _verdict(result),
            "identity": _identity(result),
            "scores": scores(result),
            "inside": f"{INSIDE_RELATIVE:.0%}"[:-1] + " %",
            "near": f"{NEAR_RELATIVE:.0%}"[:-1] + " %",
            "failed": failed_runs((r.case, r.seed, r.reason) for r in result.failed_runs),
            "groups": _groups(result),
            "recordings": _recordings(),
            "again": _again(result),
        },
    )


def _measures(rows: Sequence[Row]) -> list[Measure]:
    """Those that some rows are of."""
    return [measure for measure in MEASURES if any(row.metric == measure.name for row in rows)]


def _name(measure: Measure) -> str:
    return measure.name.removesuffix(f"_{measure.unit.replace('/', '_').lower()}").replace("_", " ")


def _verdict(result: Validation) -> str:
    inside = sum(row.verdict == "inside" for row in result.rows)
    near = sum(row.verdict == "near" for row in result.rows)
    return (
        f"Of {counted(len(result.rows), 'recorded value')} {inside} are met, {near} nearly, "
        f"in {counted(len(result.scenarios), 'scenario')}."
    )


def _identity(result: Validation) -> list[tuple[str, str]]:
    identity = [
        ("Scenarios", str(len(result.scenarios))),
        ("Runs", f"{counted(result.replications, 'run')} of each, seeds from {result.seed}"),
        ("Engine", f"{result.engine}, skycell {result.version}"),
    ]
    if result.overrides:
        changed = (f"{key} = {write_value(value)}" for key, value in result.overrides.items())
        identity.append(("Changed", ", ".join(changed)))
    return identity


def scores(result: Validation) -> Table:
    """How many recorded values are met, measure by measure."""
    rows = []
    for measure in _measures(result.rows):
        own = [row for row in result.rows if row.metric == measure.name]
        verdicts = ("inside", "near", "off", "failed")
        counts = (sum(row.verdict == verdict for row in own) for verdict in verdicts)
        rows.append((Cell(_name(measure), small=measure.meaning), *map(count, counts)))
    heads = ("inside", "near", "off", "failed")
    return Table(
        caption="Recorded values by verdict, measure by measure.",
        title="verdicts",
        columns=columns("measure", *heads, numeric=heads),
        rows=tuple(rows),
        sortable=False,
    )


def _groups(result: Validation) -> list[dict[str, Any]]:
    groups = []
    for group in linux().group:
        rows = [row for row in result.rows if row.table == group.id]
        if rows:
            tables = [_table(measure, rows) for measure in _measures(rows)]
            title = group.title[0].upper() + group.title[1:]
            groups.append({"id": group.id, "title": title, "tables": tables})
    return groups


def _table(measure: Measure, rows: Sequence[Row]) -> Table:
    own = [row for row in rows if row.metric == measure.name]
    several = any("flow" in row.factors for row in own)
    notes = Notes()
    lines = []
    for row in own:
        failures = notes.number("; ".join(row.failures))
        low, high = row.published_range or (0.0, 0.0)
        ours = Cell(NOTHING, sort="")
        if row.low is not None and row.high is not None:
            ours = Cell(_span(row.low, row.high, measure.digits), row.low)
        lines.append(
            (
                words(row.factors["scenario"]),
                *([words(row.factors["flow"])] if several else []),
                number(row.published, measure.digits),
                Cell(_span(low, high, measure.digits), low),
                number(row.mean, measure.digits),
                ours,
                Cell(row.verdict, css=MARKS[row.verdict], note=failures),
            )
        )
    numeric = ("recorded", "recorded range", "ours", "our range")
    unit = "" if measure.unit == "events" else f" in {measure.unit}"
    runs = replicated(row.n for row in own)
    return Table(
        caption=f"{_name(measure)}{unit}: {measure.meaning}. Ours: mean of {runs}.",
        columns=columns(
            "scenario", *(["flow"] if several else []), *numeric, "verdict", numeric=numeric
        ),
        rows=tuple(lines),
        notes=tuple(notes.texts),
    )


def _span(low: float, high: float, digits: int) -> str:
    return f"{number(low, digits).text} to {number(high, digits).text}"


def _recordings() -> Table:
    rows = [
        tuple(map(words, (entry.file, entry.kernel, entry.made, entry.how, entry.precision)))
        for entry in linux().recordings
    ]
    return Table(
        caption="Files of recordings.",
        columns=columns("file", "kernel", "made", "how", "precision"),
        rows=tuple(rows),
        sortable=False,
    )


def _again(result: Validation) -> dict[str, str]:
    whole_groups = {scenario.group.id for scenario in result.scenarios}
    shell = [
        f"skycell validate linux {' '.join(sorted(whole_groups))}",
        f"--engine {result.engine}",
        f"--seed {result.seed}",
        f"--replications {result.replications}",
        *(
            f"--set {shlex.quote(f'{key}={write_value(value)}')}"
            for key, value in result.overrides.items()
        ),
    ]
    return {
        "text": (
            f"With skycell {result.version} this command gives the same numbers, digit for digit."
        ),
        "shell": " \\\n    ".join(shell),
    }
