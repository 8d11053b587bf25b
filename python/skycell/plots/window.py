"""cwnd and ssthresh of TCP senders over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.plots import theme
from skycell.plots.decimation import decimate, most, select
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import octets_unit, sentences
from skycell.plots.panels import DATASET, TimeRange, choose, stacked, time_axis, with_panel_names

if TYPE_CHECKING:
    import polars as pl

HEADROOM = 1.08
"""The axis ends this far above the largest cwnd."""


def cwnd_over_time(
    trace: pl.DataFrame,
    flow_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    flows: Sequence[str] | None = None,
) -> Figure:
    """Step lines of cwnd (solid) and ssthresh (dashed), one panel for each flow.

    Args:
        trace: columns ``flow`` (id), ``time_ps``, ``cwnd`` and ``ssthresh`` (octets); a row for
            each change, in order of time.
        flow_names: names of the run's flows by id.
        span: the range of time to draw.
        origin: the run.
        flows: names of the flows to draw; None for the first six.

    Raises:
        NothingToDrawError: the trace is empty or holds none of a wanted flow.
    """
    import altair as alt
    import polars as pl

    if trace.is_empty():
        raise NothingToDrawError("the run kept no cwnd trace")
    panels = choose(trace["flow"].unique().to_list(), flow_names, flows, noun="flow")
    shown = trace.filter(pl.col("flow").is_in(list(panels.names)))
    part = select(shown, from_ps=span.from_ps, to_ps=span.to_ps, keys=["flow"], holds=True)
    if part.is_empty():
        raise NothingToDrawError("no flow had begun in that range of time")
    largest = most(part["cwnd"])
    divisor, unit = octets_unit(largest)
    lines = part.unpivot(["ssthresh", "cwnd"], index=["flow", "time_ps"], variable_name="line")
    thinned = decimate(
        lines,
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        values=["value"],
        keys=["flow", "line"],
    )
    rows = (
        with_panel_names(thinned.frame, "flow", panels)
        .with_columns((pl.col("value") / divisor).alias("window"))
        .select("panel", "time_s", "line", "window")
    )
    cut = most(part["ssthresh"]) > largest * HEADROOM
    names = ["cwnd", "ssthresh"]
    layer = (
        alt.Chart()
        .mark_line(interpolate="step-after", clip=cut)
        .encode(
            x=time_axis(span),
            y=alt.Y(
                "window:Q",
                title=f"Window ({unit})",
                scale=alt.Scale(domain=[0, largest * HEADROOM / divisor], nice=True),
            ),
            color=alt.Color(
                "line:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(theme.PALETTE[:2])),
                legend=alt.Legend(symbolSize=400),
            ),
            strokeDash=alt.StrokeDash(
                "line:N",
                title=None,
                scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]]),
                legend=alt.Legend(symbolSize=400),
            ),
        )
    )
    caption = sentences(
        "Solid: cwnd; dashed: ssthresh, both as the sender held them, in octets of TCP payload.",
        "ssthresh above the axis is not drawn." if cut else None,
        panels.sentence(),
        thinned.sentence(),
    )
    return Figure(
        name="cwnd",
        title="Congestion window and slow-start threshold",
        chart=stacked([layer], panels, height=280),
        datasets={DATASET: rows.to_dicts()},
        caption=caption,
        origin=origin,
        description=(
            f"Step lines of cwnd and ssthresh over {span.in_words} for {panels.in_words}; "
            f"the largest cwnd is {largest / divisor:.3g} {unit}."
        ),
    )
