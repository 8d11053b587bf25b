"""Pairs of stations over a constellation: how they are spread, and their paths over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND, counted
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import sentences
from skycell.plots.panels import DATASET, Panels, TimeRange, stacked, time_axis
from skycell.plots.throughput import MOST_STEPS, steps_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from skycell.records.sky_pairs import Course

_SPREAD = (("mbps", "Goodput (Mbit/s)"), ("delay_ms", "Delay of the path (ms)"))
"""What is drawn of the pairs, a panel each, with the title of its axis."""
CHANGE = "change_s"
"""Field of the rows that mark a change of a path."""


def spread_of_pairs(pairs: pl.DataFrame, origin: Origin) -> Figure:
    """The part of the pairs that got a goodput or less, and have a delay or less.

    Args:
        pairs: `pair`, `mbps` and `delay_ms`, which is null for a pair without a path.
        origin: the run.

    Raises:
        NothingToDrawError: there are no pairs.
    """
    import altair as alt

    if pairs.is_empty():
        raise NothingToDrawError("pairs shows pairs of stations with traffic, and there are none")
    panels: list[alt.Chart] = []
    reported: list[str] = []
    datasets: dict[str, Any] = {}
    for column, title in _SPREAD:
        ordered = sorted(pairs[column].drop_nulls().to_list())
        if not ordered:
            continue
        steps = steps_of(ordered)
        datasets[column] = [{"value": value, "percent": percent} for value, percent in steps]
        share = "Pairs with this or less (%)"
        panels.append(
            alt.Chart(alt.NamedData(name=column))
            .mark_line(interpolate="step-after", strokeWidth=2, color=theme.PALETTE[0])
            .encode(
                x=alt.X("value:Q", title=title, axis=alt.Axis(tickCount=5)),
                y=alt.Y(
                    "percent:Q",
                    title=None if panels else share,
                    scale=alt.Scale(domain=[0, 100], nice=False),
                    axis=alt.Axis(tickCount=5),
                ),
                order="percent:Q",
                tooltip=[
                    alt.Tooltip("value:Q", title=title, format=".4~g"),
                    alt.Tooltip("percent:Q", title="pairs with this or less, %", format=".3~g"),
                ],
            )
            .properties(width=(theme.WIDTH - 60) // 2, height=260)
        )
        middle = ordered[(len(ordered) - 1) // 2]
        reported.append(
            f"{title}: smallest {ordered[0]:.4g}, median {middle:.4g}, largest {ordered[-1]:.4g}."
        )
    missing = pairs["delay_ms"].null_count()
    caption = sentences(
        "Goodput: what all connections and sources of a pair got, divided by the simulated time; "
        "of TCP the octets delivered in order.",
        "Delay: from one station to the other over the links of the path, without queues and the "
        "sending of packets; mean over the run.",
        f"{counted(len(pairs), 'pair')}. {' '.join(reported)}",
        f"Without a path at any time: {counted(missing, 'pair')}." if missing else None,
        f"Drawn: {MOST_STEPS} steps." if len(pairs) > MOST_STEPS else None,
    )
    return Figure(
        name="pairs",
        title="Goodput and delay of the pairs",
        chart=alt.hconcat(*panels, spacing=40),
        caption=caption,
        origin=origin,
        description=f"Curves that rise from 0 to 100 % of {counted(len(pairs), 'pair')}. "
        f"{' '.join(reported)}",
        datasets=datasets,
    )


def rtt_of_paths(
    panels: Panels,
    courses: Mapping[str, Sequence[Course]],
    changes_ps: Mapping[str, Sequence[int]],
    span: TimeRange,
    origin: Origin,
) -> Figure:
    """The delay of the paths of pairs, there and back, one panel for each pair.

    Args:
        panels: the pairs.
        courses: by pair, times in seconds and delays in ms; a course for each time with paths.
        changes_ps: by pair, when a path changes.
        span: the range of time to draw.
        origin: the run.

    Raises:
        NothingToDrawError: no pair has a path in that range.
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    ends: list[str] = []
    for pair in panels.names.values():
        shown: list[dict[str, Any]] = [
            {"panel": pair, "course": number, "step": step, "time_s": time_s, "rtt_ms": rtt_ms}
            for number, course in enumerate(courses[pair])
            for step, (time_s, rtt_ms) in enumerate(_within(course, span))
        ]
        rows += shown
        if shown:
            delays = [row["rtt_ms"] for row in shown]
            ends.append(f"{pair} {min(delays):.4g} to {max(delays):.4g} ms")
    if not rows:
        raise NothingToDrawError("no pair has a path there and back in that range of time")
    layer = (
        alt.Chart()
        .mark_line(color=theme.PALETTE[0])
        .encode(
            x=time_axis(span),
            y=alt.Y("rtt_ms:Q", title="RTT (ms)", scale=alt.Scale(zero=False, nice=True)),
            detail="course:N",
            order="step:Q",
        )
    )
    figure = Figure(
        name="path",
        title="Round-trip time of the paths",
        chart=_with_own_scales(stacked([layer], panels, height=260)),
        caption=sentences(
            "Delay over the links of the paths there and back, without queues and the sending of "
            "packets.",
            f"{'; '.join(ends)}.",
            panels.sentence(),
        ),
        origin=origin,
        description=f"Lines of the round-trip time over {span.in_words}: {'; '.join(ends)}.",
        datasets={DATASET: rows},
    )
    return with_path_changes(figure, changes_ps, span)


def _within(course: Course, span: TimeRange) -> list[tuple[float, float]]:
    """The part of a course in a range of time, with its ends."""
    import numpy as np

    from_s, to_s = span.seconds()
    times, values = course
    if times[-1] <= from_s or times[0] >= to_s:
        return []
    ends = [time for time in (from_s, to_s) if times[0] < time < times[-1]]
    inner = [at for at in zip(times, values, strict=True) if from_s <= at[0] <= to_s]
    added = [(time, float(np.interp(time, times, values))) for time in ends if time not in times]
    return sorted([*inner, *added], key=lambda at: at[0])


def _with_own_scales(chart: Any) -> Any:
    """Panels whose vertical axes differ; a single panel stays as it is."""
    import altair as alt

    return chart.resolve_scale(y="independent") if isinstance(chart, alt.FacetChart) else chart


def with_path_changes(
    figure: Figure, changes_ps: Mapping[str, Sequence[int]], span: TimeRange
) -> Figure:
    """A figure over time with a dashed line where a path changes, in the panel of each name.

    Args:
        figure: made by `skycell.plots.panels.stacked`.
        changes_ps: by the name of a panel, when a path changes.
        span: the range of time that is drawn.
    """
    rows = [
        {"panel": name, CHANGE: at_ps / PS_PER_SECOND}
        for name, times in changes_ps.items()
        for at_ps in times
        if span.from_ps < at_ps < span.to_ps
    ]
    said = f"Dotted lines: {counted(len(rows), 'change')} of paths."
    if not rows:
        return replace(figure, caption=(*figure.caption, "No path changes in that time."))
    return replace(
        figure,
        chart=_with_layer(figure.chart, _marks(span)),
        caption=(*figure.caption, said),
        datasets={**figure.datasets, DATASET: [*figure.datasets[DATASET], *rows]},
    )


def _marks(span: TimeRange) -> alt.Chart:
    import altair as alt

    axis = time_axis(span)
    axis.shorthand = f"{CHANGE}:Q"
    marks: alt.Chart = (
        alt.Chart()
        .transform_filter(f"isValid(datum.{CHANGE})")
        .mark_rule(color=theme.INK, strokeWidth=1, strokeDash=[1.5, 2.5], opacity=0.75)
        .encode(x=axis)
    )
    return marks


def _with_layer(chart: Any, layer: alt.Chart) -> Any:
    """A layered chart, or one in panels, with a layer on top."""
    import altair as alt

    if isinstance(chart, alt.FacetChart):
        faceted = chart.copy(deep=False)
        faceted.spec = _with_layer(chart.spec, layer)
        return faceted
    layered = chart.copy(deep=False)
    layered.layer = [*chart.layer, layer]
    return layered
