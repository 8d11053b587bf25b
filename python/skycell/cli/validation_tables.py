"""Recorded scenarios on the terminal: how many times the recorded value ours is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from skycell.cli.console import show_table, standard_output
from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.validation.measures import MEASURES
from skycell.validation.scenarios import linux

if TYPE_CHECKING:
    from skycell.validation import RecordedRow, Validation

_STYLE = {"inside": "green", "near": "yellow", "off": "red", "failed": "bold red"}
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
    console = standard_output()
    measures = [m.name for m in MEASURES if any(row.metric == m.name for row in result.rows)]
    for group in linux().group:
        rows = [row for row in result.rows if row.table == group.id]
        if rows:
            title = f"{group.id}: {group.title}; ours as a multiple of what was recorded"
            show_table(console, _ratios(title, rows, measures))
    show_table(console, _scores(result, measures))
    if result.overrides:
        settings = ", ".join(f"{k} = {write_value(v)}" for k, v in result.overrides.items())
        console.print(f"set differently: {settings}", soft_wrap=True)
    console.print(
        f"{counted(len(result.scenarios), 'scenario')}, "
        f"{counted(result.replications, 'run')} of each with the "
        f"{result.engine} engine ({result.version}), seeds from {result.seed} "
        f"({result.wall_s:.0f} s)",
        soft_wrap=True,
    )


def _ratios(title: str, rows: Sequence[RecordedRow], measures: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
    table.add_column("scenario", no_wrap=True)
    for name in measures:
        table.add_column(_HEADINGS[name], justify="right", no_wrap=True)
    lines: dict[tuple[object, object], dict[str, RecordedRow]] = {}
    for row in rows:
        key = (row.factors["scenario"], row.factors.get("flow", ""))
        lines.setdefault(key, {})[row.metric] = row
    for (scenario, flow), own in lines.items():
        name = f"{scenario} {flow}" if flow else str(scenario)
        cells = [_ratio(own[m]) if m in own else Text("") for m in measures]
        table.add_row(Text(name), *cells)
    return table


def _ratio(row: RecordedRow) -> Text:
    """Ours by the recorded mean; what ours is where that is 0."""
    style = _STYLE.get(row.verdict, "")
    if row.mean is None:
        return Text("–" if row.verdict == "failed" else "none", style)
    if not row.published:
        return Text(f"{row.mean:g} for 0" if row.mean else "0", style)
    return Text(f"{row.mean / row.published:.2f}", style)


def _scores(result: Validation, measures: Sequence[str]) -> Table:
    table = Table(title="verdicts", title_justify="left", title_style="bold", header_style="dim")
    table.add_column("measure")
    for heading in ("inside", "near", "off", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in measures:
        own = [row for row in result.rows if row.metric == name]
        counts = (
            sum(row.verdict == verdict for row in own)
            for verdict in ("inside", "near", "off", "failed")
        )
        table.add_row(name.replace("_", " "), *map(str, counts))
    return table
