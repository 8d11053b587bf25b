"""Lines through means with bands around them: what figures of a metric over a number share.

Their rows have `panel`, `series`, `x`, and `value`, `low` and `high`, which are mean, lowest and
highest over the replications.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from skycell.plots import theme

if TYPE_CHECKING:
    import altair as alt

_BETWEEN_PANELS = 24
_HEIGHT = 260

MOST_ACROSS = 4
"""Panels side by side; more go below."""


def colour_of(series: Sequence[str]) -> alt.Color:
    """A colour for each series, in their order, with a legend where there are several."""
    import altair as alt

    palette = list(theme.PALETTE[: len(series)])
    return alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=list(series), range=palette),
        legend=_legend(series),
    )


def lines_with_bands(
    base: alt.Chart,
    series: Sequence[str],
    y: alt.Y,
    tooltip: Sequence[alt.Tooltip],
) -> list[Any]:
    """The layers of a panel: band, line and marks.

    Args:
        base: the chart that they share, with its horizontal axis.
        series: names of the lines in their order.
        y: the vertical axis, of `value`.
        tooltip: what a mark tells of where it is; it adds mean, lowest and highest.
    """
    import altair as alt

    colour = colour_of(series)
    shape = alt.Shape(
        "series:N",
        title=None,
        scale=alt.Scale(domain=list(series), range=list(theme.SHAPES[: len(series)])),
        legend=_legend(series),
    )
    spread = [
        alt.Tooltip(f"{key}:Q", title=word, format=".4~g")
        for key, word in (("value", "mean"), ("low", "lowest"), ("high", "highest"))
    ]
    low = y.copy()
    low.shorthand = "low:Q"
    return [
        base.mark_area(opacity=0.18).encode(y=low, y2="high:Q", color=colour),
        base.mark_line(strokeWidth=1.8).encode(y=y, color=colour),
        base.mark_point(filled=True, size=46, opacity=1).encode(
            y=y, color=colour, shape=shape, tooltip=[*tooltip, *spread]
        ),
    ]


def in_panels(
    layers: Sequence[Any],
    rows: Sequence[Mapping[str, Any]],
    panels: Sequence[str],
    own: Literal["x", "y"] | None = None,
) -> Any:
    """The layers over the rows, from left to right a panel for each of `panels` where several.

    Args:
        layers: of every panel.
        rows: all of them.
        panels: names in their order.
        own: the axis that each panel has for itself; none if they share both.
    """
    import altair as alt

    across = min(len(panels), MOST_ACROSS)
    width = (theme.WIDTH - _BETWEEN_PANELS * (across - 1)) / across
    height = _HEIGHT if len(panels) == across else _HEIGHT * 2 / 3
    layered = alt.layer(*layers).properties(width=width, height=height)
    values = alt.InlineData(values=list(rows))
    if len(panels) == 1:
        return layered.properties(data=values)
    if len(panels) == across:
        column = alt.Column("panel:N", title=None, sort=list(panels))
        faceted = layered.facet(data=values, column=column, spacing=_BETWEEN_PANELS)
    else:
        facet = alt.Facet("panel:N", title=None, sort=list(panels))
        faceted = layered.facet(facet, data=values, columns=across, spacing=_BETWEEN_PANELS)
    match own:
        case "x":
            return faceted.resolve_scale(x="independent")
        case "y":
            return faceted.resolve_scale(y="independent")
    return faceted


def _legend(series: Sequence[str]) -> alt.Legend | None:
    import altair as alt

    return alt.Legend(symbolOpacity=1) if len(series) > 1 else None
