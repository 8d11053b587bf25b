"""What ports discarded, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.input.quantities import counted
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import NAMES, grouped, sentences

REASONS = (
    "overflow",
    "rest_of_frame",
    "above_threshold",
    "over_fair_share",
    "vc_threshold",
    "drawn",
    "tagged",
    "delayed",
    "pushed_out",
    "policed",
    "filtered",
)
"""Reasons of discard in the order of the engine's numbers; each keeps its colour in all figures."""

MOST_BARS = 40
"""VCs or ports that a figure shows unless they are asked for by name; a renderer breaks down over
some thousands, and a reader long before."""

#: Those of single packets share colours with reasons that only cells have.
_COLOURS = (*theme.PALETTE, theme.MUTED, theme.PALETTE[1], theme.PALETTE[2], theme.PALETTE[4])


def discards_by_reason(
    records: Sequence[Mapping[str, Any]],
    origin: Origin,
    *,
    noun: str = "VC",
    most: int | None = MOST_BARS,
    unit: str = "cells",
) -> Figure:
    """A bar for each VC or port, split by the reason of the discard.

    Args:
        records: rows with ``name``, ``offered`` (cells) and ``discarded`` (cells by reason); rows
            that lost nothing are left out.
        origin: the run.
        noun: what a row is.
        most: rows that are shown, those that lost most; all when None.
        unit: what was discarded.

    Raises:
        NothingToDrawError: nothing was discarded.
    """
    import altair as alt

    heading = f"{unit.capitalize()} discarded"
    lost = {record["name"]: sum(record["discarded"].values()) for record in records}
    losers = [name for name, cells in lost.items() if cells]
    if not losers:
        raise NothingToDrawError(f"no {unit.replace('s', '')} was discarded in this run")
    shown = set(sorted(losers, key=lost.__getitem__, reverse=True)[:most])
    names = [name for name in losers if name in shown]
    rows = [
        {
            "name": record["name"],
            "reason": NAMES[reason],
            "order": number,
            "cells": record["discarded"][reason],
            "part": record["discarded"][reason] / record["offered"],
        }
        for record in records
        if record["name"] in shown
        for number, reason in enumerate(REASONS)
        if record["discarded"].get(reason)
    ]
    present = [reason for reason in REASONS if any(r["reason"] == NAMES[reason] for r in rows)]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(height={"band": 0.72})
        .encode(
            x=alt.X("sum(cells):Q", title=heading, axis=alt.Axis(grid=True, tickCount=8)),
            y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=260)),
            color=alt.Color(
                "reason:N",
                title=None,
                scale=alt.Scale(
                    domain=[NAMES[reason] for reason in present],
                    range=[_COLOURS[REASONS.index(reason)] for reason in present],
                ),
                legend=alt.Legend(columns=3),
            ),
            order="order:Q",
            tooltip=[
                alt.Tooltip("name:N", title=noun),
                alt.Tooltip("reason:N", title="reason"),
                alt.Tooltip("cells:Q", title=unit, format=","),
                alt.Tooltip("part:Q", title=f"fraction of the {unit} offered", format=".3%"),
            ],
        )
        .properties(width=theme.WIDTH - 60, height=alt.Step(26 if len(names) <= 20 else 16))
    )
    total, drawn = sum(lost.values()), sum(row["cells"] for row in rows)
    quiet = len(lost) - len(losers)
    caption = sentences(
        f"{heading} at all ports on the way, {grouped(total)} in all, by recorded reason.",
        f"Shown: of {grouped(len(losers))} {noun}s with losses, the {len(names)} that lost most."
        if len(names) < len(losers)
        else None,
        f"{grouped(quiet)} {noun}s that lost nothing are left out." if quiet > 1 else None,
        f"One {noun} that lost nothing is left out." if quiet == 1 else None,
    )
    return Figure(
        name="discards",
        title=f"{heading}, by reason",
        chart=chart,
        caption=caption,
        origin=origin,
        description=(
            f"Stacked bars of {grouped(drawn)} discarded {unit} over {counted(len(names), noun)}: "
            + "; ".join(f"{NAMES[reason]} {grouped(_sum_of(rows, reason))}" for reason in present)
            + "."
        ),
    )


def _sum_of(rows: Sequence[Mapping[str, Any]], reason: str) -> int:
    """Cells discarded for one reason, all rows together."""
    return sum(row["cells"] for row in rows if row["reason"] == NAMES[reason])
