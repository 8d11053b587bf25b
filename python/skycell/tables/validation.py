"""The table of recorded scenarios: how many times the recorded value ours is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.tables.table import NOTHING, Cell, Column, Table, words
from skycell.tables.values import MARKS

if TYPE_CHECKING:
    from skycell.studies.compare import Row

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


def ratios_table(title: str, rows: Sequence[Row], measures: Sequence[str]) -> Table:
    """Returns ours as multiples of the recorded values, a line for each scenario and flow."""
    lines: dict[tuple[object, object], dict[str, Row]] = {}
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


def _ratio(row: Row) -> Cell:
    """Ours by the recorded mean; what ours is where that is 0."""
    text = f"{row.mean / row.published:.2f}" if row.mean is not None and row.published else ""
    if row.mean is None:
        text = NOTHING if row.verdict == "failed" else "none"
    elif not row.published:
        text = f"{row.mean:g} for 0" if row.mean else "0"
    return Cell(text, css=MARKS[row.verdict])
