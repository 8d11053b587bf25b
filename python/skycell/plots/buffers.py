"""Efficiency against the size of the buffer, one line for each number of sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.plots.bands import in_panels, lines_with_bands
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.labels import explained, metric, name, replicated, sentences


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
            "panel": name(row["factors"]["config"]),
            "n_sources": row["factors"]["n_sources"],
            "series": f"N = {row['factors']['n_sources']}",
            "x": row["factors"]["buffer_rtt"],
            "value": row["mean"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
        }
        for row in rows
    ]
    configs = list(dict.fromkeys(row["panel"] for row in data))
    counts = sorted({row["n_sources"] for row in data})
    sizes = sorted({row["x"] for row in data})
    key, unit = rows[0]["metric"], rows[0]["unit"]
    lines = [f"N = {count}" for count in counts]
    x = alt.X(
        "x:Q",
        title="Buffer (RTT × bandwidth)",
        scale=alt.Scale(type="log", base=2, domain=[sizes[0] / 1.15, sizes[-1] * 1.15], nice=False),
        axis=alt.Axis(values=sizes, format=".2~g", labelOverlap="parity", grid=True),
    )
    share = key in {"efficiency", "fairness"}
    scale = alt.Scale(domain=[0, max(1.05, *(row["high"] for row in data))], nice=False)
    y_scale = scale if share else alt.Scale(zero=True)
    y = alt.Y("value:Q", title=metric(key, unit), scale=y_scale)
    where = [
        alt.Tooltip("panel:N", title="configuration"),
        alt.Tooltip("n_sources:Q", title="sources"),
        alt.Tooltip("x:Q", title="buffer (RTT)", format=".3~g"),
    ]
    layers = lines_with_bands(alt.Chart().encode(x=x), lines, y, where)
    if goal is not None:
        layers.append(alt.Chart().mark_rule(strokeDash=[5, 3]).encode(y=alt.datum(goal[0])))
    caption = sentences(
        explained(key, unit),
        f"Line and mark: mean of {replicated(row['n'] for row in data)}; band: lowest to highest.",
        f"Dashed: {goal[0]:g}, {goal[1]}." if goal is not None else "",
    )
    ends = [
        f"{config}, N = {count}: "
        + " to ".join(f"{row['value']:.3g} at {row['x']:.3g} RTT" for row in (part[0], part[-1]))
        for config in configs
        for count in counts
        if (part := _line(data, config, count))
    ]
    return Figure(
        name=f"{key}-by-buffer",
        title=title,
        chart=in_panels(layers, data, configs, own="x"),
        caption=caption,
        origin=origin,
        description=f"{metric(key)} against buffer size. " + "; ".join(ends) + ".",
    )


def _line(data: Sequence[Mapping[str, Any]], config: str, count: int) -> list[Mapping[str, Any]]:
    """The points of one line in order of the buffer."""
    line = [row for row in data if row["panel"] == config and row["n_sources"] == count]
    return sorted(line, key=lambda row: row["x"])
