"""The rate at which senders send, averaged over intervals of one length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.input.quantities import PS_PER_SECOND
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import sentences
from skycell.plots.panels import DATASET, TimeRange, choose, stacked, time_axis, with_panel_names
from skycell.plots.sequence import ACKNOWLEDGED

if TYPE_CHECKING:
    import polars as pl

INTERVAL_PS = PS_PER_SECOND // 10
"""Rates are means over this long: 100 ms, as in Bonaventure's study of GFR, section 9."""


def rate_over_time(
    trace: pl.DataFrame,
    flow_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    flows: Sequence[str] | None = None,
    reserved_mbps: float | None = None,
) -> Figure:
    """Step lines of the octets of TCP payload that senders send, one panel for each flow.

    Args:
        trace: the sequence trace: ``flow`` (id), ``time_ps``, ``event`` and ``length`` (octets).
        flow_names: names of the run's flows by id.
        span: the range of time to draw; intervals begin with it, and what is left of the last
            interval is not drawn.
        origin: the run.
        flows: names of the flows to draw; None for the first six.
        reserved_mbps: a rate to draw as a dashed line, Mbit/s.

    Raises:
        NothingToDrawError: the trace is empty or holds none of a wanted flow, or the range is
            shorter than an interval.
    """
    import altair as alt
    import polars as pl

    intervals = (span.to_ps - span.from_ps) // INTERVAL_PS
    if not intervals:
        raise NothingToDrawError("rates are means over 100 ms, and the range of time is shorter")
    sent = trace.filter(pl.col("event") != ACKNOWLEDGED)
    if sent.is_empty():
        raise NothingToDrawError("the run kept no sequence trace of segments sent")
    panels = choose(sent["flow"].unique().to_list(), flow_names, flows, noun="flow")
    counted = (
        sent.with_columns(
            ((pl.col("time_ps").cast(pl.Int64) - span.from_ps) // INTERVAL_PS).alias("interval")
        )
        .filter(pl.col("interval").is_between(0, intervals - 1))
        .group_by("flow", "interval")
        .agg(pl.col("length").cast(pl.Int64).sum().alias("octets"))
    )
    grid = pl.DataFrame({"flow": list(panels.names)}, schema={"flow": sent.schema["flow"]}).join(
        pl.DataFrame({"interval": range(intervals)}, schema={"interval": pl.Int64}), how="cross"
    )
    seconds = INTERVAL_PS / PS_PER_SECOND
    rates = (
        grid.join(counted, on=["flow", "interval"], how="left")
        .with_columns(
            (pl.col("octets").fill_null(0) * 8 / seconds / 1e6).alias("mbps"),
            (pl.col("interval") * INTERVAL_PS + span.from_ps).alias("time_ps"),
        )
        .sort("flow", "interval")
    )
    # A step goes on to the next point: the last interval's ends where it ends.
    ends = rates.group_by("flow", maintain_order=True).last()
    ends = ends.with_columns(pl.col("time_ps") + INTERVAL_PS).select(rates.columns)
    points = pl.concat([rates, ends]).sort("flow", "time_ps")
    rows = with_panel_names(points, "flow", panels).select("panel", "time_s", "mbps")
    layers = [
        alt.Chart()
        .mark_line(interpolate="step-after", color=theme.PALETTE[0])
        .encode(x=time_axis(span), y=alt.Y("mbps:Q", title="Sent (Mbit/s)"))
    ]
    if reserved_mbps is not None:
        layers.append(
            alt.Chart()
            .mark_rule(strokeDash=[5, 3], color=theme.PALETTE[1])
            .encode(y=alt.datum(reserved_mbps))
        )
    mean = {
        panels.names[flow]: float(value)
        for flow, value in rates.group_by("flow").agg(pl.col("mbps").mean()).iter_rows()
    }
    dashed = None if reserved_mbps is None else f"Dashed: {reserved_mbps:.3g} Mbit/s reserved."
    caption = sentences(
        "Octets of TCP payload in segments sent, including retransmissions, over 100 ms each.",
        "A segment is sent when its sender hands it to the port, at times faster than the "
        "link carries it.",
        dashed,
        panels.sentence(),
    )
    reported = ", ".join(f"{name} {mean[name]:.3g} Mbit/s" for name in panels.names.values())
    return Figure(
        name="rate",
        title="Rate of segments sent",
        chart=stacked(layers, panels, height=280),
        datasets={DATASET: rows.to_dicts()},
        caption=caption,
        origin=origin,
        description=(
            f"Step lines of the rate sent, over 100 ms each, from {span.in_words}; "
            f"means: {reported}."
        ),
    )
