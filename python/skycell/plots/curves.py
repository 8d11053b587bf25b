"""A metric over a factor with numbers: a line for each series, with the spread of replications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from skycell.plots import theme
from skycell.plots.bands import colour_of, in_panels, lines_with_bands
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.labels import explained_of, factor, level, name, replicated, sentences, title_of

REFERENCE = "reference"


@dataclass(frozen=True)
class ReferenceLine:
    """A dashed line in one panel.

    Attributes:
        panel: name of the panel; empty where there is one only.
        series: whose colour it has; empty for none.
        points: along it, in the units of the axes.
    """

    panel: str
    series: str
    points: tuple[tuple[float, float], ...]


def curves(
    rows: Sequence[Mapping[str, Any]],
    origin: FigureOrigin,
    *,
    title: str,
    x: str,
    series: str,
    column: str = "",
    reference: Sequence[ReferenceLine] = (),
    meaning: str = "",
    x_step: float = 1.0,
    x_name: str = "",
    unit: str = "",
    own: Literal["x", "y"] | None = None,
    is_log: bool = False,
    figure_name: str = "curves",
    subtitle: str | None = None,
) -> Figure:
    """One metric over one factor.

    A line goes through our means, a band from our lowest to our highest replication.

    Args:
        rows: as in ``Reproduction.as_dict``, of one metric, each with a mean; their factor `x` is a
            number.
        origin: the runs.
        title: what the figure shows.
        x: factor along the horizontal axis.
        series: factor that tells lines apart.
        column: factor of the panels from left to right; one panel if not given.
        reference: dashed lines.
        meaning: what the dashed lines are, for the caption.
        x_step: the axis shows the factor times this.
        x_name: what it then is; the factor itself if not given.
        unit: what its levels are counted in.
        own: the axis that each panel has for itself; none if they share both.
        is_log: whether the horizontal axis is logarithmic; all levels are above zero then.
        figure_name: short name, used for files.
        subtitle: second line under the title.

    Raises:
        NothingToDrawError: there are no rows.
    """
    import altair as alt

    if not rows:
        raise NothingToDrawError("there are no values to draw a curve through")
    axis_title, x_title = title_of(rows[0]), factor(x_name or x, unit)
    data = [
        {
            "panel": label(row, column),
            "series": label(row, series),
            "x": row["factors"][x] * x_step,
            "value": row["mean"],
            "low": row["low"],
            "high": row["high"],
            "published": row["published"],
        }
        for row in sorted(rows, key=lambda row: float(row["factors"][x]))
    ]
    lines = list(dict.fromkeys(label(row, series) for row in rows))
    panels = list(dict.fromkeys(label(row, column) for row in rows))
    dashed = [
        {"series": line.series, "x": at, "value": y, "panel": line.panel, "kind": REFERENCE}
        for line in reference
        for at, y in line.points
    ]
    across = alt.X(
        "x:Q",
        title=x_title,
        scale=(
            alt.Scale(type="log", base=2, nice=False, padding=10)
            if is_log
            else alt.Scale(zero=False, nice=False, padding=10)
        ),
        axis=alt.Axis(
            values=sorted({row["x"] for row in data}),
            format=".2~g" if is_log else ",.4~f" if any(row["x"] % 1 for row in data) else ",d",
            grid=True,
            labelOverlap="parity" if is_log else True,
        ),
    )
    y = alt.Y("value:Q", title=axis_title, scale=alt.Scale(zero=True))
    ours = alt.Chart().transform_filter(f"datum.kind != '{REFERENCE}'").encode(x=across)
    where = [
        *([alt.Tooltip("series:N", title=factor(series))] if series else []),
        alt.Tooltip("x:Q", title=x_title),
    ]
    layers = lines_with_bands(ours, lines, y, where)
    if any(row["published"] is not None for row in data):
        layers.append(
            ours.transform_filter("datum.published != null")
            .mark_point(shape="diamond", filled=False, size=95, strokeWidth=1.6, opacity=1)
            .encode(y=alt.Y("published:Q", title=axis_title), color=alt.value(theme.PUBLISHED))
        )
    if dashed:
        lead = alt.Chart().mark_line(strokeDash=[5, 3], strokeWidth=1.4)
        of_none = f"datum.kind == '{REFERENCE}' && datum.series == ''"
        of_series = f"datum.kind == '{REFERENCE}' && datum.series != ''"
        layers += [
            lead.transform_filter(of_none).encode(x=across, y=y, color=alt.value(theme.MUTED)),
            lead.transform_filter(of_series).encode(x=across, y=y, color=colour_of(lines)),
        ]
    return Figure(
        name=figure_name,
        title=title,
        subtitle=subtitle,
        chart=in_panels(layers, [*data, *dashed], panels, own),
        caption=_caption(rows, meaning),
        origin=origin,
        description=_description(data, lines, panels, axis_title),
    )


def label(row: Mapping[str, Any], key: str) -> str:
    """A row's level of a factor, as panels and series are called; empty without the factor."""
    factors = row["factors"]
    return level(key, factors[key]) if key in factors else ""


def _caption(rows: Sequence[Mapping[str, Any]], meaning: str) -> tuple[str, ...]:
    runs = replicated(row["n"] for row in rows)
    published = any(row["published"] is not None for row in rows)
    return sentences(
        explained_of(rows[0]),
        f"Line and mark: mean of {runs}; band: lowest to highest.",
        "Diamond: published value." if published else "",
        f"Dashed: {meaning}." if meaning else "",
    )


def _description(
    data: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    panels: Sequence[str],
    title: str,
) -> str:
    reported = []
    for panel in panels:
        for line in lines:
            points = [row for row in data if (row["panel"], row["series"]) == (panel, line)]
            values = ", ".join(f"{row['value']:.3g} at {name(row['x'])}" for row in points)
            if points:
                reported.append(f"{', '.join(text for text in (panel, line) if text)}: {values}")
    return f"{title}. " + "; ".join(reported) + "."
