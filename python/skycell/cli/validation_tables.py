"""Recorded scenarios on the terminal: how many times the recorded value ours is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.cli.console import Output
from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.report.validation import scores
from skycell.tables.table import NOTHING, Cell, Column, Table, words
from skycell.tables.values import MARKS
from skycell.validation.measures import MEASURES
from skycell.validation.scenarios import linux

if TYPE_CHECKING:
    from skycell.validation import RecordedRow, Validation

_HEADINGS = {
    "goodput_mbit_s": "good-\nput",
    "completion_s": "done",
    "mean_queue_packets": "mean\nqueue",
    "p95_sojourn_ms": "wait\n95 %",
    "drops": "drops",
    "retransmissions": "sent\nagain",
    "timeouts": "RTOs",
    "exit_s": "exit\ns",
    "exit_segments": "exit\ncwnd",
    "first_loss_s": "loss\ns",
    "first_loss_segments": "loss\ncwnd",
    "mean_cwnd": "mean\ncwnd",
}
"""Of the measures, short enough for all of them in a line."""


def show_validation(result: Validation) -> None:
    """All of a validation: a table for each group, and how many values are inside."""
    output = Output()
    measures = [m.name for m in MEASURES if any(row.metric == m.name for row in result.rows)]
    for group in linux().group:
        rows = [row for row in result.rows if row.table == group.id]
        if rows:
            title = f"{group.id}: {group.title}; ours as a multiple of what was recorded"
            output.show(_ratios(title, rows, measures))
    output.show(scores(result))
    if result.overrides:
        settings = ", ".join(f"{k} = {write_value(v)}" for k, v in result.overrides.items())
        output.say(f"set differently: {settings}")
    output.say(
        f"{counted(len(result.scenarios), 'scenario')}, "
        f"{counted(result.replications, 'run')} of each with the "
        f"{result.engine} engine ({result.version}), seeds from {result.seed} "
        f"({result.wall_s:.0f} s)"
    )


def _ratios(title: str, rows: Sequence[RecordedRow], measures: Sequence[str]) -> Table:
    lines: dict[tuple[object, object], dict[str, RecordedRow]] = {}
    for row in rows:
        key = (row.factors["scenario"], row.factors.get("flow", ""))
        lines.setdefault(key, {})[row.metric] = row
    heads = (Column(_HEADINGS[name], numeric=True) for name in measures)
    return Table(
        title,
        (Column("scenario"), *heads),
        tuple(
            (
                words(f"{scenario} {flow}".strip()),
                *(_ratio(own[name]) if name in own else words("") for name in measures),
            )
            for (scenario, flow), own in lines.items()
        ),
    )


def _ratio(row: RecordedRow) -> Cell:
    """Ours by the recorded mean; what ours is where that is 0."""
    text = f"{row.mean / row.published:.2f}" if row.mean is not None and row.published else ""
    if row.mean is None:
        text = NOTHING if row.verdict == "failed" else "none"
    elif not row.published:
        text = f"{row.mean:g} for 0" if row.mean else "0"
    return Cell(text, css=MARKS[row.verdict])
