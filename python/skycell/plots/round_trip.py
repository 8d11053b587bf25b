"""Round-trip times of TCP senders over time, with what was dropped and sent again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from skycell.input.quantities import PS_PER_MS, counted
from skycell.metrics.round_trips import round_trips
from skycell.plots import theme
from skycell.plots.decimation import decimate_marks, least, most, select
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import grouped, sentences
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

SAMPLE = "round-trip time"
AGAIN = "sent again"
DROPPED = "dropped"
"""What marks are called."""

HEIGHT = 320
"""Height of a single panel, pixels."""
_SENT_AGAIN = 1
_ROWS = {AGAIN: 0.07, DROPPED: 0.15}
"""How far above the largest round-trip time marks of events stand, in parts of the range."""
_HEADROOM = 0.2
_LEAST_RANGE = 0.02
"""The axis covers at least this part of the largest round-trip time."""


def rtt_over_time(
    trace: pl.DataFrame,
    discards: pl.DataFrame | None,
    flow_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    flows: Sequence[str] | None = None,
    with_ecn: Collection[str] = (),
) -> Figure:
    """A dot for each sample of the round-trip time, and marks for drops and retransmissions.

    Args:
        trace: the trace ``sequence``.
        discards: frames of data that lost a cell or packet at a port, with columns ``flow`` (id)
            and ``time_ps``; None if the run kept no such trace.
        flow_names: names of the run's flows by id.
        span: the range of time to draw.
        origin: the run.
        flows: names of the flows to draw; None for the first six.
        with_ecn: names of flows that use ECN.

    Raises:
        NothingToDrawError: the trace is empty, or no ACK in that range measures a round trip.
    """
    import altair as alt
    import polars as pl

    if trace.is_empty():
        raise NothingToDrawError("the run kept no sequence trace")
    panels = choose(trace["flow"].unique().to_list(), flow_names, flows, noun="flow")
    shown = trace.filter(pl.col("flow").is_in(list(panels.names)))
    measured = select(round_trips(shown), from_ps=span.from_ps, to_ps=span.to_ps)
    if measured.is_empty():
        raise NothingToDrawError(
            "no ACK in that range of time measures a round trip: none came, or the segments that "
            "they acknowledge were sent again"
        )
    high, low = most(measured["rtt_ps"]), least(measured["rtt_ps"])
    extent = max(high - low, high * _LEAST_RANGE)
    top = high + extent * _HEADROOM
    events = {AGAIN: shown.filter(pl.col("event") == _SENT_AGAIN)}
    if discards is not None:
        events[DROPPED] = discards.filter(pl.col("flow").is_in(list(panels.names)))
    dots = decimate_marks(
        measured,
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        value="rtt_ps",
        bottom=low,
        top=top + 1,
        lines=panel_height(panels, HEIGHT),
        keys=["flow"],
    )
    parts, counts = [_named(dots, SAMPLE, pl.col("rtt_ps"))], {}
    for name, rows in events.items():
        inside = select(rows, from_ps=span.from_ps, to_ps=span.to_ps)
        counts[name] = inside.height
        parts.append(_named(_one_a_pixel(inside, span), name, high + extent * _ROWS[name]))
    rows = with_panel_names(pl.concat(parts), "flow", panels).select(
        "panel", "time_s", "event", rtt_ms=pl.col("rtt_ps") / PS_PER_MS
    )
    names = [name for name in (SAMPLE, *events) if counts.get(name, 1)]
    y = alt.Y(
        "rtt_ms:Q",
        title="Round-trip time (ms)" if len(panels.names) == 1 else "RTT (ms)",
        scale=alt.Scale(
            domain=[(high - extent) / PS_PER_MS, top / PS_PER_MS], nice=False, zero=False
        ),
    )
    marked = [panels.names[flow] for flow in panels.names if panels.names[flow] in with_ecn]
    times = measured["rtt_ps"] / PS_PER_MS
    middle = float(times.median())  # type: ignore[arg-type] # polars: any kind of value
    caption = sentences(
        "Dot: the time from a segment to the ACK that first acknowledges it, at the sender. "
        f"Dots: {grouped(measured.height)}; smallest {low / PS_PER_MS:.4g}, median {middle:.4g}, "
        f"largest {high / PS_PER_MS:.4g} ms.",
        "An ACK of a segment that was sent again has no dot (Karn's rule).",
        "Marks above: segments sent again"
        + ("" if discards is None else ", and data dropped at a port")
        + ", at their times.",
        None if discards is not None else "Drops are not marked: the run kept no trace discards.",
        f"ECN marks are in no trace of a run and are not drawn ({', '.join(marked)})."
        if marked
        else None,
        panels.sentence(),
        f"Drawn from {grouped(dots.height)} of {grouped(measured.height)} dots: one for each pixel."
        if dots.height < measured.height
        else None,
    )
    return Figure(
        name="rtt",
        title="Round-trip times of senders",
        chart=stacked(_layers(span, y, names), panels, height=HEIGHT),
        datasets={DATASET: rows.to_dicts()},
        caption=caption,
        origin=origin,
        description=(
            f"Round-trip times over {span.in_words} for {panels.in_words}, "
            f"{low / PS_PER_MS:.4g} to {high / PS_PER_MS:.4g} ms; "
            f"{counted(counts[AGAIN], 'segment')} sent again."
        ),
    )


def _named(rows: pl.DataFrame, event: str, value: pl.Expr | float) -> pl.DataFrame:
    """Rows of a kind of mark, each at its value."""
    import polars as pl

    at = value if isinstance(value, pl.Expr) else pl.lit(value)
    return rows.select(
        "flow", "time_ps", event=pl.lit(event, dtype=pl.String), rtt_ps=at.cast(pl.Float64)
    )


def _one_a_pixel(rows: pl.DataFrame, span: TimeRange) -> pl.DataFrame:
    """Rows of events of which each pixel column has one of a flow."""
    import polars as pl

    return decimate_marks(
        rows.with_columns(height=pl.lit(0)),
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        value="height",
        bottom=0,
        top=1,
        lines=1,
        keys=["flow"],
    )


def _layers(span: TimeRange, y: alt.Y, names: Sequence[str]) -> list[alt.Chart]:
    """Dots of samples, and above them a row of marks for each kind of event."""
    import altair as alt

    colours = {SAMPLE: theme.PALETTE[0], AGAIN: theme.PALETTE[1], DROPPED: theme.PALETTE[3]}
    shapes = {SAMPLE: "circle", AGAIN: "cross", DROPPED: "triangle-down"}
    base = alt.Chart().encode(
        x=time_axis(span),
        y=y,
        color=alt.Color(
            "event:N",
            title=None,
            scale=alt.Scale(domain=list(names), range=[colours[name] for name in names]),
        ),
        shape=alt.Shape(
            "event:N",
            title=None,
            scale=alt.Scale(domain=list(names), range=[shapes[name] for name in names]),
        ),
    )
    sample = base.transform_filter(f"datum.event == '{SAMPLE}'")
    event = base.transform_filter(f"datum.event != '{SAMPLE}'")
    return [
        sample.mark_point(size=7, filled=True, opacity=1),
        event.mark_point(size=26, filled=True, opacity=1),
    ]
