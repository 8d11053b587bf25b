"""Sequence numbers of TCP senders over time, in the manner of Van Jacobson's diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.input.quantities import counted
from skycell.plots import theme
from skycell.plots.decimation import decimate, decimate_marks, least, most, select
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import grouped, octets_unit, sentences
from skycell.plots.panels import (
    DATASET,
    TimeRange,
    choose,
    panel_height,
    stacked,
    time_axis,
    with_panel_names,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

EVENTS = {0: "sent", 1: "sent again", 2: "acknowledged up to"}
"""What a number in the column ``event`` of the trace means."""

ACKNOWLEDGED = 2
"""The event that is no segment sent."""
HEIGHT = 340
"""Height of a single panel, pixels."""


def sequence_over_time(
    trace: pl.DataFrame,
    flow_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    flows: Sequence[str] | None = None,
) -> Figure:
    """A mark for each segment sent or sent again, a step line for what was acknowledged.

    Args:
        trace: columns ``flow`` (id), ``time_ps``, ``event`` (0 sent, 1 sent again, 2 acknowledged),
            ``sequence`` (octets) and ``length`` (octets), in order of time.
        flow_names: names of the run's flows by id.
        span: the range of time to draw.
        origin: the run.
        flows: names of the flows to draw; None for the first six.

    Raises:
        NothingToDrawError: the trace is empty, in that range, or for a wanted flow.
    """
    import altair as alt
    import polars as pl

    if trace.is_empty():
        raise NothingToDrawError("the run kept no sequence trace")
    panels = choose(trace["flow"].unique().to_list(), flow_names, flows, noun="flow")
    shown = trace.filter(pl.col("flow").is_in(list(panels.names)))
    part = select(shown, from_ps=span.from_ps, to_ps=span.to_ps)
    if part.is_empty():
        raise NothingToDrawError("no segment was sent or acknowledged in that range of time")
    low, high = least(part["sequence"]), most(part["sequence"])
    divisor, unit = octets_unit(high)
    marks = _marks(part, span, panel_height(panels, HEIGHT))
    line = _line(shown, span, low)
    rows = (
        with_panel_names(pl.concat([marks, line]), "flow", panels)
        .with_columns(
            pl.col("sequence") / divisor,
            pl.col("event").replace_strict(EVENTS, return_dtype=pl.String),
        )
        .select("panel", "time_s", "event", "sequence")
    )
    y = alt.Y(
        "sequence:Q",
        title=f"{'Sequence number' if len(panels.names) == 1 else 'Sequence'} ({unit})",
        scale=alt.Scale(domain=[low / divisor, high / divisor], nice=True, zero=False),
    )
    caption = sentences(
        "Dot: first octet of a new segment, when its sender gave it to the port.",
        "Cross: of a retransmitted one.",
        "Line: octets acknowledged at the sender.",
        f"1 {unit} is {grouped(int(divisor))} octets of TCP payload." if divisor > 1 else None,
        panels.sentence(),
        _thinned(part.height, marks.height + line.height),
    )
    counts = part["event"].value_counts()
    repeated = counts.filter(pl.col("event") == 1)["count"].sum()
    return Figure(
        name="sequence",
        title="Sequence numbers sent and acknowledged",
        chart=stacked(_layers(span, y), panels, height=HEIGHT),
        datasets={DATASET: rows.to_dicts()},
        caption=caption,
        origin=origin,
        description=(
            f"Sequence numbers over {span.in_words} for {panels.in_words}, up to "
            f"{high / divisor:.4g} {unit}; {counted(int(repeated), 'segment')} sent again."
        ),
    )


def _marks(part: pl.DataFrame, span: TimeRange, height: int) -> pl.DataFrame:
    """Segments sent, one for each pixel of a panel `height` pixels high."""
    import polars as pl

    return decimate_marks(
        part.filter(pl.col("event") != ACKNOWLEDGED),
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        value="sequence",
        bottom=least(part["sequence"]),
        top=most(part["sequence"]) + 1,
        lines=height,
        keys=["flow", "event"],
    )


def _line(shown: pl.DataFrame, span: TimeRange, low: int) -> pl.DataFrame:
    """What was acknowledged, not below `low`: what was so before the range may lie far below."""
    import polars as pl

    line = decimate(
        select(
            shown.filter(pl.col("event") == ACKNOWLEDGED),
            from_ps=span.from_ps,
            to_ps=span.to_ps,
            keys=["flow"],
            holds=True,
        ),
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        values=["sequence"],
        keys=["flow"],
    ).frame
    return line.with_columns(pl.col("sequence").clip(lower_bound=low))


def _layers(span: TimeRange, y: alt.Y) -> list[alt.Chart]:
    """Lines of what was acknowledged below the marks of what was sent."""
    import altair as alt

    names = list(EVENTS.values())
    colour = alt.Color(
        "event:N",
        title=None,
        scale=alt.Scale(domain=names, range=[theme.PALETTE[0], theme.PALETTE[1], theme.PALETTE[2]]),
    )
    shape = alt.Shape(
        "event:N",
        title=None,
        scale=alt.Scale(domain=names, range=["circle", "cross", "stroke"]),
    )
    base = alt.Chart().encode(x=time_axis(span), y=y, color=colour)
    acknowledged = base.transform_filter(f"datum.event == '{EVENTS[2]}'")
    sent = base.transform_filter(f"datum.event == '{EVENTS[0]}'")
    again = base.transform_filter(f"datum.event == '{EVENTS[1]}'")
    return [
        acknowledged.mark_line(interpolate="step-after", strokeWidth=1.2),
        sent.mark_point(size=7, filled=True, opacity=1).encode(shape=shape),
        again.mark_point(size=30, filled=True, opacity=1).encode(shape=shape),
    ]


def _thinned(before: int, after: int) -> str | None:
    """What the caption says when several marks of one pixel were drawn as one."""
    if after >= before:
        return None
    return f"Drawn from {grouped(after)} of {grouped(before)} rows: one mark for each pixel."
