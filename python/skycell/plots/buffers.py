"""Efficiency against the size of the buffer, one line for each number of sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.words import explained, metric, name


def metric_by_buffer(
    rows: Sequence[Mapping[str, Any]],
    origin: Origin,
    *,
    title: str,
    goal: tuple[float, str] | None = None,
) -> Figure:
    """A metric against the buffer: a panel for each configuration, a line for each N.

    The buffer stands in RTT x bandwidth on a logarithmic axis; a line goes through our means, a
    band from our lowest to our highest replication.

    Args:
        rows: as in ``Reproduction.rows``, of one metric, with the factors ``config``,
            ``n_sources`` and ``buffer_rtt`` (above zero).
        origin: the runs.
        title: what the figure shows.
        goal: value to draw a line across at, and what it is, for the caption.

    Raises:
        NothingToDrawError: there are no rows.
    """
    import altair as alt

    if not rows:
        raise NothingToDrawError("there are no values of a buffer study")
    data = [
        {
            "config": name(row["factors"]["config"]),
            "n_sources": row["factors"]["n_sources"],
            "line": f"N = {row['factors']['n_sources']}",
            "buffer_rtt": row["factors"]["buffer_rtt"],
            "value": row["mean"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
        }
        for row in rows
    ]
    configs = list(dict.fromkeys(row["config"] for row in data))
    counts = sorted({row["n_sources"] for row in data})
    sizes = sorted({row["buffer_rtt"] for row in data})
    key, unit = rows[0]["metric"], rows[0]["unit"]
    lines = [f"N = {count}" for count in counts]
    legend = alt.Legend(symbolOpacity=1)
    colour = alt.Color(
        "line:N",
        title=None,
        scale=alt.Scale(domain=lines, range=list(theme.PALETTE[: len(lines)])),
        legend=legend,
    )
    shape = alt.Shape(
        "line:N",
        title=None,
        scale=alt.Scale(domain=lines, range=list(theme.SHAPES[: len(lines)])),
        legend=legend,
    )
    x = alt.X(
        "buffer_rtt:Q",
        title="Buffer (RTT × bandwidth)",
        scale=alt.Scale(type="log", base=2, domain=[sizes[0] / 1.15, sizes[-1] * 1.15], nice=False),
        axis=alt.Axis(values=sizes, format=".2~g", labelOverlap="parity", grid=True),
    )
    share = key in {"efficiency", "fairness"}
    scale = alt.Scale(domain=[0, max(1.05, *(row["high"] for row in data))], nice=False)
    y_scale = scale if share else alt.Scale(zero=True)
    y = alt.Y("value:Q", title=metric(key, unit), scale=y_scale)
    base = alt.Chart().encode(x=x)
    layers = [
        base.mark_area(opacity=0.18).encode(
            y=alt.Y("low:Q", title=metric(key, unit), scale=y_scale), y2="high:Q", color=colour
        ),
        base.mark_line(strokeWidth=1.8).encode(y=y, color=colour),
        base.mark_point(filled=True, size=42, opacity=1).encode(
            y=y,
            color=colour,
            shape=shape,
            tooltip=[
                alt.Tooltip("config:N", title="configuration"),
                alt.Tooltip("n_sources:Q", title="sources"),
                alt.Tooltip("buffer_rtt:Q", title="buffer (RTT)", format=".3~g"),
                alt.Tooltip("value:Q", title="mean", format=".4~g"),
                alt.Tooltip("low:Q", title="lowest", format=".4~g"),
                alt.Tooltip("high:Q", title="highest", format=".4~g"),
            ],
        ),
    ]
    if goal is not None:
        layers.append(alt.Chart().mark_rule(strokeDash=[5, 3]).encode(y=alt.datum(goal[0])))
    layered = alt.layer(*layers).properties(
        width=(theme.WIDTH - 24 * (len(configs) - 1)) / len(configs), height=260
    )
    values = alt.InlineData(values=data)
    chart = (
        layered.facet(
            data=values,
            column=alt.Column("config:N", title=None, sort=configs),
            spacing=24,
        ).resolve_scale(x="independent")
        if len(configs) > 1
        else layered.properties(data=values)
    )
    replications = sorted({row["n"] for row in data})
    number = "–".join(str(n) for n in dict.fromkeys((replications[0], replications[-1])))
    caption = [
        explained(key, unit),
        f"Line and mark: mean of {number} replications; band: lowest to highest.",
        f"Dashed: {goal[0]:g}, {goal[1]}." if goal is not None else "",
    ]
    ends = [
        f"{config}, N = {count}: "
        + " to ".join(
            f"{row['value']:.3g} at {row['buffer_rtt']:.3g} RTT" for row in (part[0], part[-1])
        )
        for config in configs
        for count in counts
        if (part := _line(data, config, count))
    ]
    return Figure(
        name=f"{key}-by-buffer",
        title=title,
        chart=chart,
        caption=tuple(sentence for sentence in caption if sentence),
        origin=origin,
        description=f"{metric(key)} against buffer size. " + "; ".join(ends) + ".",
    )


def _line(data: Sequence[Mapping[str, Any]], config: str, count: int) -> list[Mapping[str, Any]]:
    """The points of one line in order of the buffer."""
    line = [row for row in data if row["config"] == config and row["n_sources"] == count]
    return sorted(line, key=lambda row: row["buffer_rtt"])
