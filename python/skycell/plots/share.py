"""Which part of a link each class gets, over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.input.quantities import show_time
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.panels import DATASET, TimeRange, choose, stacked, time_axis, with_panel_names

if TYPE_CHECKING:
    import polars as pl


def share_over_time(
    trace: pl.DataFrame,
    port_name: str,
    queue_names: Sequence[str],
    cell_time_ps: int,
    span: TimeRange,
    origin: Origin,
) -> Figure:
    """Step lines of the share of a link's cells that each queue of its port sends, panel by panel.

    Args:
        trace: the service trace of one port: ``queue`` (its place), ``time_ps`` and ``departed``
            (cells since the run began), from samples at equal intervals.
        port_name: name of the port.
        queue_names: what the port's queues are called, by place.
        cell_time_ps: time that a cell takes on the link, picoseconds; 1 is a link that is always
            busy with the queue's cells.
        span: the range of time to draw.
        origin: the run.

    Raises:
        NothingToDrawError: no two samples fall in that range of time.
    """
    import altair as alt
    import polars as pl

    panels = choose(
        trace["queue"].unique().to_list(), queue_names, None, noun="class", limit=len(queue_names)
    )
    # The count begins with the run, one interval before the first sample.
    started = trace.select("queue").unique().with_columns(time_ps=0, departed=0)
    wide = pl.col("time_ps", "departed").cast(pl.Int64)
    counts = pl.concat([part.select("queue", wide) for part in (started, trace)]).filter(
        pl.col("time_ps").is_between(span.from_ps, span.to_ps)
    )
    times = counts["time_ps"].unique().sort()
    if len(times) < 2:
        raise NothingToDrawError("a share takes two samples, and that range of time has fewer")
    # No more intervals than the figure has columns: each is a mean over several samples then.
    every = -(-(len(times) - 1) // theme.WIDTH)
    kept = counts.filter(pl.col("time_ps").is_in(times.gather_every(every).implode()))
    shares = kept.sort("queue", "time_ps").with_columns(
        (pl.col("departed").diff().shift(-1) * cell_time_ps / pl.col("time_ps").diff().shift(-1))
        .over("queue")
        .alias("share")
    )
    # A step goes on to the next point: the last interval's ends where it ends.
    points = shares.with_columns(pl.col("share").forward_fill().over("queue"))
    rows = with_panel_names(points, "queue", panels).select("panel", "time_s", "share")
    line = (
        alt.Chart()
        .mark_line(interpolate="step-after", color=theme.PALETTE[0])
        .encode(
            x=time_axis(span),
            y=alt.Y(
                "share:Q",
                title="Share of the link",
                scale=alt.Scale(domain=[0, 1.04], nice=False),
                axis=alt.Axis(values=[0, 0.5, 1]),
            ),
        )
    )
    first, last = kept["time_ps"].min(), kept["time_ps"].max()
    assert isinstance(first, int)
    assert isinstance(last, int)
    mean = {
        panels.names[queue]: sent * cell_time_ps / (last - first)
        for queue, sent in kept.group_by("queue")
        .agg(pl.col("departed").max() - pl.col("departed").min())
        .iter_rows()
    }
    reported = ", ".join(f"{name} {mean[name]:.3f}" for name in panels.names.values())
    interval = show_time(times[every] - times[0])
    return Figure(
        name="share",
        title="What each class gets of the link",
        subtitle=port_name,
        chart=stacked([line], panels, height=280),
        datasets={DATASET: rows.to_dicts()},
        caption=(
            f"Cells sent, as a fraction of those that the link carries, over {interval} each.",
            f"Means: {reported}.",
        ),
        origin=origin,
        description=(
            f"Step lines of the share of {port_name} that each class gets, over {interval} each, "
            f"from {span.in_words}; means: {reported}."
        ),
    )
