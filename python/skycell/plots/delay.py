"""Delay of paths over time, with every handover marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, counted, show_time
from skycell.plots import theme
from skycell.plots.decimation import decimate
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import place_name, sentences

if TYPE_CHECKING:
    import polars as pl

    from skycell.orbit import Series

MOST_PAIRS = 6
"""Panels of one figure."""

KINDS = {
    "up": "first satellite",
    "down": "last satellite",
    "up and down": "both",
    "route": "only in between",
}
"""What changes at a handover, for the legend; a lost path shows as a gap in the line."""


def delay_figure(series: Series) -> Figure:
    """One-way delay over time, one panel for each pair of places.

    Args:
        series: paths and delays over time; of more than six pairs the first six are drawn.

    Raises:
        NothingToDrawError: no pair has a path at any time.
    """
    import altair as alt
    import polars as pl

    from skycell.version import version

    pairs = range(min(len(series.pairs), MOST_PAIRS))
    lines, thinned = _lines(series, len(pairs))
    if lines.is_empty():
        raise NothingToDrawError("no pair has a path at any time of the series")
    marks = _handovers(series, pairs)
    marked = [kind for kind in KINDS.values() if kind in marks["what"].unique().to_list()]
    rows = pl.concat([lines, marks], how="diagonal").to_dicts()
    names = [_panel(series, pair) for pair in pairs]
    chart: Any = alt.layer(*_layers(series, marked), data=alt.InlineData(values=rows)).properties(
        width=theme.WIDTH, height=280 if len(names) == 1 else 150
    )
    if len(names) > 1:
        chart = chart.facet(
            row=alt.Row("panel:N", title=None, sort=names, header=alt.Header(labelOrient="top"))
        ).resolve_scale(y="independent")
    left_out = len(series.pairs) - len(names)
    caption = sentences(
        "Propagation delay from ground to ground.",
        f"A mark stands at {_moment(series)}; the dotted line to it is the jump from the old path."
        if marked
        else "",
        "Gaps are times without a path." if _has_gaps(series, len(names)) else "",
        f"{counted(left_out, 'more pair')} not drawn." if left_out else "",
        thinned,
    )
    return Figure(
        name="delay",
        title=f"{_panel(series, 0)}: delay over time" if len(names) == 1 else "Delay over time",
        subtitle=series.constellation.title,
        chart=chart,
        caption=caption,
        origin=Origin("orbit", version()),
        description=_description(series, names),
    )


def _layers(series: Series, kinds: list[str]) -> list[Any]:
    """Lines of the delay, and the handovers of these kinds on them."""
    import altair as alt

    start_ps = series.start_ps
    whole = [
        start_ps / PS_PER_SECOND,
        (start_ps + series.step_ps * (series.steps - 1)) / PS_PER_SECOND,
    ]
    scale = alt.Scale(nice=False, domain=whole) if series.steps > 1 else alt.Scale(nice=False)
    x = alt.X("time_s:Q", title="Time (s)", scale=scale)
    y = alt.Y("delay_ms:Q", title="One-way delay (ms)", scale=alt.Scale(zero=False))
    line = (
        alt.Chart()
        .mark_line()
        .transform_filter("isValid(datum.interval)")
        .encode(x=x, y=y, detail="interval:N")
    )
    if not kinds:
        return [line]
    jump = (
        alt.Chart()
        .mark_rule(color=theme.MUTED, strokeWidth=0.8, strokeDash=[2, 2])
        .transform_filter("isValid(datum.what)")
        .encode(x=x, y=y, y2="before_ms:Q")
    )
    mark = (
        alt.Chart()
        .mark_point(filled=True, size=36, opacity=1)
        .transform_filter("isValid(datum.what)")
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "what:N",
                title="handover of",
                scale=alt.Scale(domain=kinds, range=list(theme.PALETTE[1 : len(kinds) + 1])),
            ),
            shape=alt.Shape(
                "what:N",
                title="handover of",
                scale=alt.Scale(domain=kinds, range=list(theme.SHAPES[: len(kinds)])),
            ),
            tooltip=[
                alt.Tooltip("time_s:Q", title="time (s)"),
                alt.Tooltip("delay_ms:Q", title="delay (ms)", format=".3f"),
                alt.Tooltip("what:N", title="handover of"),
            ],
        )
    )
    return [line, jump, mark]


def _handovers(series: Series, pairs: range) -> pl.DataFrame:
    """Handovers from one path to another: a row each, with the delay before and after."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "panel": _panel(series, change.pair),
                "time_s": change.at_ps / PS_PER_SECOND,
                "delay_ms": change.delay_after_ps / PS_PER_MS,
                "before_ms": change.delay_before_ps / PS_PER_MS,
                "what": KINDS[change.what],
            }
            for pair in pairs
            for change in series.handovers(pair)
            if change.what in KINDS
            and change.delay_before_ps is not None
            and change.delay_after_ps is not None
        ],
        schema={
            "panel": pl.String,
            "time_s": pl.Float64,
            "delay_ms": pl.Float64,
            "before_ms": pl.Float64,
            "what": pl.String,
        },
        orient="row",
    )


def _moment(series: Series) -> str:
    if series.precision_ps is None:
        return f"the first of the steps of {show_time(series.step_ps)} on a new path"
    return "the moment of a handover"


def _has_gaps(series: Series, pairs: int) -> bool:
    return any(not interval.satellites for interval in series.intervals if interval.pair < pairs)


def _panel(series: Series, pair: int) -> str:
    source, target = map(place_name, series.ends(pair))
    return f"{source} to {target}"


def _lines(series: Series, pairs: int) -> tuple[pl.DataFrame, str]:
    import polars as pl

    parts = []
    for number, interval in enumerate(series.intervals):
        if interval.pair >= pairs or not interval.satellites:
            continue
        steps = slice(interval.first_step, interval.first_step + interval.steps)
        parts.append(
            pl.DataFrame(
                {
                    "time_ps": series.times_ps[steps],
                    "delay_ms": series.delays_ps(interval.pair)[steps] / PS_PER_MS,
                }
            ).with_columns(
                pl.lit(_panel(series, interval.pair)).alias("panel"),
                pl.lit(number).alias("interval"),
            )
        )
    if not parts:
        return pl.DataFrame(), ""
    thinned = decimate(
        pl.concat(parts),
        from_ps=series.start_ps,
        to_ps=series.start_ps + series.step_ps * series.steps,
        columns=theme.WIDTH,
        values=["delay_ms"],
        keys=["panel", "interval"],
    )
    frame = thinned.frame.with_columns((pl.col("time_ps") / PS_PER_SECOND).alias("time_s"))
    return frame.select("panel", "interval", "time_s", "delay_ms"), thinned.sentence() or ""


def _description(series: Series, names: list[str]) -> str:
    from skycell.orbit.over_time import NO_PATH_PS

    reported = []
    for pair, name in enumerate(names):
        delays = series.delays_ps(pair)
        there = delays[delays != NO_PATH_PS] / PS_PER_MS
        span = f"{there.min():.1f} to {there.max():.1f} ms" if there.size else "no path"
        reported.append(f"{name}: {span}, {counted(len(series.handovers(pair)), 'handover')}")
    return "Delay over time. " + "; ".join(reported) + "."
