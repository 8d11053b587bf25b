"""Rates of ABR over time: what sources may send, and what switches have come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.decimation import decimate, most, select
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import grouped, sentences
from skycell.plots.panels import (
    DATASET,
    Panels,
    TimeRange,
    choose,
    stacked,
    time_axis,
    with_panel_names,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def acr_over_time(
    trace: pl.DataFrame,
    vc_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    fair: Mapping[str, float],
    vcs: Sequence[str] | None = None,
    port: str | None = None,
) -> Figure:
    """Step lines of ACR and of the ER last received, one panel for each VC, with its fair rate.

    Args:
        trace: columns ``vc`` (id), ``time_ps``, ``acr`` and ``er`` (cells/s) of one source a VC; a
            row for each change, in order of time.
        vc_names: names of the spec's VCs by id.
        span: the range of time to draw.
        origin: the run.
        fair: max-min fair rate of VCs by name, cells/s.
        vcs: names of the VCs to draw; None for the first six.
        port: where the sources are; None for where the VCs begin.

    Raises:
        NothingToDrawError: the trace is empty or holds none of a wanted VC.
    """
    panels = choose(trace["vc"].unique().to_list(), vc_names, vcs, noun="VC")
    rows, note, largest = _held(trace, "vc", {"er": "ER", "acr": "ACR"}, panels, span)
    heights = {vc: fair[vc] for vc in panels.names.values()}
    lines = _lines(["ACR", "ER"], "Rate (cells/s)", max(largest, *heights.values()), span)
    caption = sentences(
        "ACR as the source holds it, and ER of the last backward RM cell (PCR before the first), "
        "RM cells included.",
        "Dashed: the weighted max-min rate beyond the MCRs, as if each VC had something to send "
        "all the time.",
        panels.sentence(),
        note,
    )
    return Figure(
        name="acr",
        title="Allowed cell rate of ABR sources",
        subtitle=None if port is None else f"virtual sources at {port}",
        chart=stacked([lines, _across()], panels, height=280),
        datasets={DATASET: rows + _marks(heights)},
        caption=caption,
        origin=origin,
        description=(
            f"Step lines of ACR and ER over {span.in_words} for {panels.in_words}; "
            f"the largest is {grouped(round(largest))} cells/s."
        ),
    )


def fair_share_over_time(
    trace: pl.DataFrame,
    port_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    ports: Sequence[str] | None = None,
) -> Figure:
    """Step lines of the rate that a port aims at and of its fair share, one panel for each port.

    Args:
        trace: columns ``port`` (link id), ``time_ps``, ``target`` and ``fair_share`` (cells/s); a
            row for each averaging interval, in order of time.
        port_names: names of the spec's links by id.
        span: the range of time to draw.
        origin: the run.
        ports: names of the ports to draw; None for the first six.

    Raises:
        NothingToDrawError: the trace is empty or holds none of a wanted port.
    """
    panels = choose(trace["port"].unique().to_list(), port_names, ports, noun="port")
    names = {"target": "target", "fair_share": "fair share"}
    rows, note, largest = _held(trace, "port", names, panels, span)
    lines = _lines(list(names.values()), "Rate (cells/s)", largest, span)
    caption = sentences(
        "What the port aims at for all ABR VCs together, and the fair share of one of them, from "
        "the end of an averaging interval to that of the next.",
        panels.sentence(),
        note,
    )
    return Figure(
        name="fair-share",
        title="Target and fair share of a rate algorithm",
        chart=stacked([lines], panels, height=280),
        datasets={DATASET: rows},
        caption=caption,
        origin=origin,
        description=(
            f"Step lines of target and fair share over {span.in_words} at {panels.in_words}; "
            f"the largest is {grouped(round(largest))} cells/s."
        ),
    )


def overload_over_time(
    trace: pl.DataFrame,
    port_names: Sequence[str],
    span: TimeRange,
    origin: Origin,
    *,
    ports: Sequence[str] | None = None,
) -> Figure:
    """Step lines of the overload of ports, one panel for each.

    Arguments and errors are those of `fair_share_over_time`; the column is ``overload``.
    """
    import polars as pl

    panels = choose(trace["port"].unique().to_list(), port_names, ports, noun="port")
    finite = trace.filter(pl.col("overload").is_finite())
    rows, note, largest = _held(finite, "port", {"overload": "overload"}, panels, span)
    heights = dict.fromkeys(panels.names.values(), 1.0)
    lines = _lines(["overload"], "Overload z", max(largest, 1.0), span)
    caption = sentences(
        "z: what came of ABR VCs over what the port aims at, in each averaging interval; "
        "dashed: 1. Intervals in which it aims at nothing are not drawn.",
        panels.sentence(),
        note,
    )
    return Figure(
        name="overload",
        title="Overload of a rate algorithm",
        chart=stacked([lines, _across()], panels, height=280),
        datasets={DATASET: rows + _marks(heights)},
        caption=caption,
        origin=origin,
        description=(
            f"Step lines of the overload over {span.in_words} at {panels.in_words}; "
            f"the largest is {largest:.3g}."
        ),
    )


def _lines(names: list[str], title: str, largest: float, span: TimeRange) -> alt.Chart:
    """Step lines of several names, in one colour each."""
    import altair as alt

    legend: Any = alt.Legend(symbolSize=400) if len(names) > 1 else None
    lines: alt.Chart = (
        alt.Chart()
        .transform_filter("isValid(datum.value)")
        .mark_line(interpolate="step-after")
        .encode(
            x=time_axis(span),
            y=alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, largest * 1.06], nice=True)),
            color=alt.Color(
                "line:N",
                title=None,
                scale=alt.Scale(domain=names, range=list(theme.PALETTE[: len(names)])),
                legend=legend,
            ),
        )
    )
    return lines


def _marks(heights: Mapping[str, float]) -> list[dict[str, Any]]:
    """Rows of a level in each panel, by the panel's name."""
    return [{"panel": panel, "height": height} for panel, height in heights.items()]


def _across() -> alt.Chart:
    """A dashed line at the level of each panel."""
    import altair as alt

    line: alt.Chart = (
        alt.Chart()
        .transform_filter("isValid(datum.height)")
        .mark_rule(color=theme.MUTED, strokeDash=[5, 3])
        .encode(y="height:Q")
    )
    return line


def _held(
    trace: pl.DataFrame, key: str, columns: Mapping[str, str], panels: Panels, span: TimeRange
) -> tuple[list[dict[str, Any]], str | None, float]:
    """Rows of values that hold until the next one, what is said of thinning, and the largest."""
    import polars as pl

    shown = trace.filter(pl.col(key).is_in(list(panels.names)))
    part = select(shown, from_ps=span.from_ps, to_ps=span.to_ps, keys=[key], holds=True)
    if part.is_empty():
        raise NothingToDrawError("nothing was measured in that range of time")
    lines = part.unpivot(list(columns), index=[key, "time_ps"], variable_name="line")
    thinned = decimate(
        lines,
        from_ps=span.from_ps,
        to_ps=span.to_ps,
        columns=theme.WIDTH,
        values=["value"],
        keys=[key, "line"],
    )
    rows = (
        with_panel_names(thinned.frame, key, panels)
        .with_columns(pl.col("line").replace_strict(dict(columns), return_dtype=pl.String))
        .select("panel", "time_s", "line", "value")
    )
    return rows.to_dicts(), thinned.sentence(), float(most(lines["value"]))
