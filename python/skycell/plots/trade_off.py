"""Two metrics against each other, a point for each level of a factor, a third as its colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.plots import theme
from skycell.plots.bands import colour_of
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.label_placement import place
from skycell.plots.labels import (
    explained,
    explained_of,
    factor,
    level,
    metric,
    name,
    replicated,
    sentences,
    title_of,
)
from skycell.plots.text_metrics import text_width

COLOURS = ("#c8452d", "#e8a33d", "#7fb069", "#1b7a8f", "#14418b")
"""From low to high; told apart with every common kind of colour blindness, and grey in grey print
from middle to dark."""

HEIGHT = 260
LABEL_SIZE = 10
"""Of the names of points, pixels."""
GAP = 18
SHARE_OF_WIDTH = 1.5
"""Width of the panels together, in the width of other figures: names need room."""

SHORT = {
    "VQ + Dynamic EPD": "VQ+DEPD",
    "VQ + MCR scheduling": "VQ+MCR",
    "PME + ERED": "PME+ERED",
    "Selective Drop": "SD",
}
"""Names that are too long to stand beside a point; the caption spells them out."""


@dataclass(frozen=True)
class Axes:
    """What goes where.

    Attributes:
        series: factor whose levels are the points.
        x: metric across.
        y: metric up.
        colour: metric of the colour, or empty.
        column: factor of the panels from left to right, or empty.
        row: factor of the panels from top to bottom, or empty.
        lines: factor whose levels have a colour and a line through their points, or empty.
        group: factor whose levels have a colour, of points that are too many for names, or empty.
    """

    series: str
    x: str
    y: str
    colour: str = ""
    column: str = ""
    row: str = ""
    lines: str = ""
    group: str = ""

    @property
    def coloured_by(self) -> str:
        """The factor whose levels have colours, or empty."""
        return self.lines or self.group


def trade_off(
    rows: Sequence[Mapping[str, Any]],
    origin: FigureOrigin,
    axes: Axes,
    *,
    title: str,
    figure_name: str,
    subtitle: str | None = None,
) -> Figure:
    """A point for each level of a factor, named; crosses span the replications.

    Args:
        rows: as in ``Reproduction.as_dict``, of the three metrics, each with a mean.
        origin: the runs.
        axes: what goes where.
        title: what the figure shows.
        figure_name: short name, used for files.
        subtitle: second line under the title.

    Raises:
        NothingToDrawError: no level has both metrics that place it.
    """
    import altair as alt

    data = _points(rows, axes)
    if not data:
        raise NothingToDrawError(f"nothing has both {metric(axes.x)} and {metric(axes.y)}")
    columns = list(dict.fromkeys(point["column"] for point in data))
    panels = list(dict.fromkeys(point["row"] for point in data))
    width = round((theme.WIDTH * SHARE_OF_WIDTH - GAP * (len(columns) - 1)) / len(columns))
    colour, titles = _colour(data, axes), _titles(rows, axes)
    rows_of_panels = []
    for panel in panels:
        side_by_side = []
        for column in columns:
            points = [p for p in data if (p["column"], p["row"]) == (column, panel)]
            heading = ", ".join(text for text in (column, panel) if text)
            is_left, is_lowest = column == columns[0], panel == panels[-1]
            if points:
                chart = _panel(
                    points, axes, titles, colour, width, is_left=is_left, is_lowest=is_lowest
                )
                side_by_side.append(chart.properties(title=_heading(heading)))
        rows_of_panels.append(alt.hconcat(*side_by_side, spacing=GAP))
    return Figure(
        name=figure_name,
        title=title,
        subtitle=subtitle,
        chart=alt.vconcat(*rows_of_panels, spacing=GAP),
        caption=_caption(rows, axes, titles, data),
        origin=origin,
        description=_description(data, axes, titles),
    )


def _heading(text: str) -> Any:
    import altair as alt

    return alt.TitleParams(text, fontSize=12, anchor="start", frame="group", offset=6)


def _titles(rows: Sequence[Mapping[str, Any]], axes: Axes) -> dict[str, str]:
    """What the axes say of each metric, of which no row may be."""
    known = {row["metric"]: title_of(row) for row in rows}
    return {key: known.get(key, metric(key)) for key in (axes.x, axes.y, axes.colour) if key}


def _colour(data: Sequence[Mapping[str, Any]], axes: Axes) -> Any:
    """One scale of colours for all panels."""
    import altair as alt

    if not axes.colour:
        return colour_of(list(dict.fromkeys(point["series"] for point in data)))
    values = [point["colour"] for point in data if point["colour"] is not None]
    low = min(0.5, *values) if values else 0.0
    return alt.Color(
        "colour:Q",
        title=metric(axes.colour),
        scale=alt.Scale(domain=[low, 1], range=list(COLOURS), interpolate="rgb"),
        legend=alt.Legend(gradientLength=200, format=".1f", tickCount=5),
    )


def _panel(
    points: list[dict[str, Any]],
    axes: Axes,
    names: Mapping[str, str],
    colour: Any,
    width: int,
    *,
    is_left: bool,
    is_lowest: bool,
) -> Any:
    """One panel with axes of its own, which reach as far as its points."""
    import altair as alt

    spans = {key: _span(points, key) for key in ("x", "y")}
    if not axes.group:
        _label(points, spans, width)
    titles = {
        "x": names[axes.x] if is_lowest else None,
        "y": names[axes.y] if is_left else None,
    }
    scale = {key: alt.Scale(domain=list(spans[key]), nice=False, zero=False) for key in ("x", "y")}

    def across(field: str) -> Any:
        axis = alt.Axis(tickCount=5, grid=True)
        return alt.X(f"{field}:Q", title=titles["x"], scale=scale["x"], axis=axis)

    def up(field: str) -> Any:
        axis = alt.Axis(tickCount=5)
        return alt.Y(f"{field}:Q", title=titles["y"], scale=scale["y"], axis=axis)

    base = alt.Chart(alt.InlineData(values=points))
    spread = {"opacity": alt.value(0.45), "strokeWidth": alt.value(1.0)}
    coloured = base.transform_filter("datum.colour != null")
    mark = {
        "x": across("x"),
        "y": up("y"),
        "tooltip": [
            *(
                [alt.Tooltip("series:N", title=factor(axes.coloured_by))]
                if axes.coloured_by
                else []
            ),
            alt.Tooltip("name:N", title=factor(axes.series)),
            alt.Tooltip("x:Q", title=names[axes.x], format=".4~g"),
            alt.Tooltip("y:Q", title=names[axes.y], format=".4~g"),
            *(
                [alt.Tooltip("colour:Q", title=names[axes.colour], format=".3f")]
                if axes.colour
                else []
            ),
        ],
    }
    lines = base.mark_line(strokeWidth=1.2, opacity=0.6).encode(
        x=across("x"), y=up("y"), color=colour, order="place:Q"
    )
    leads = (
        base.transform_filter("datum.far")
        .mark_rule(strokeWidth=0.7, color=theme.AXIS)
        .encode(x=across("x"), y=up("y"), x2="lead_x:Q", y2="lead_y:Q")
    )
    halo = {"stroke": theme.PAPER, "strokeWidth": 2.6, "strokeJoin": "round"}
    beside = [
        base.mark_text(fontSize=LABEL_SIZE, font=theme.FONT_STACK, **style).encode(
            x=across("label_x"), y=up("label_y"), text="name:N"
        )
        for style in (halo, {"color": theme.INK})
    ]
    return alt.layer(
        *([] if axes.group else [leads]),
        base.mark_rule(color=theme.MUTED).encode(
            x=across("x_low"), x2="x_high:Q", y=up("y"), **spread
        ),
        base.mark_rule(color=theme.MUTED).encode(
            y=up("y_low"), y2="y_high:Q", x=across("x"), **spread
        ),
        *([lines] if axes.lines else []),
        base.transform_filter("datum.colour == null")
        .mark_point(filled=True, size=72, opacity=1, color=theme.PAPER, stroke=theme.INK)
        .encode(**mark),
        coloured.mark_point(
            filled=True, size=84, opacity=1, stroke=theme.INK, strokeWidth=0.6
        ).encode(color=colour, **mark),
        *([] if axes.group else beside),
    ).properties(width=width, height=HEIGHT)


def _points(rows: Sequence[Mapping[str, Any]], axes: Axes) -> list[dict[str, Any]]:
    """One point for each level in each panel; the third metric may be missing."""
    found: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    roles = {axes.x: "x", axes.y: "y", axes.colour: "colour"}
    # What no metric colours is not without colour.
    colour = None if axes.colour else 0.0
    for row in rows:
        factors, role = row["factors"], roles[row["metric"]]
        key = (
            _level(factors, axes.column),
            _level(factors, axes.row),
            _level(factors, axes.coloured_by),
            _short(factors[axes.series]),
        )
        places = dict(zip(("column", "row", "series", "name"), key, strict=True))
        point = found.setdefault(key, {**places, "colour": colour, "place": len(found)})
        point |= {role: row["mean"], f"{role}_low": row["low"], f"{role}_high": row["high"]}
    return [point for point in found.values() if "x" in point and "y" in point]


def _short(value: object) -> str:
    text = name(value)
    return SHORT.get(text, text)


def _level(factors: Mapping[str, Any], key: str) -> str:
    return level(key, factors[key]) if key else ""


def _span(data: Sequence[Mapping[str, Any]], key: str) -> tuple[float, float]:
    """Ends of an axis: all spans, and a tenth more on either side for names."""
    low = min(point[f"{key}_low"] for point in data)
    high = max(point[f"{key}_high"] for point in data)
    room = 0.1 * (high - low) or 0.05
    return low - room, high + room


def _label(
    points: Sequence[dict[str, Any]], spans: Mapping[str, tuple[float, float]], width: float
) -> None:
    """Tells each point of a panel where its name stands, in the units of the axes."""
    (left, right), (bottom, top) = spans["x"], spans["y"]
    across, up = width / (right - left), HEIGHT / (top - bottom)
    at = [((p["x"] - left) * across, (top - p["y"]) * up) for p in points]
    widths = [text_width(p["name"], LABEL_SIZE) for p in points]
    labels = place(at, widths, width, HEIGHT)
    for point, found in zip(points, labels, strict=True):
        point["label_x"] = left + found.x / across
        point["label_y"] = top - found.y / up
        point["lead_x"] = left + found.lead[0] / across
        point["lead_y"] = top - found.lead[1] / up
        point["far"] = found.is_far


def _caption(
    rows: Sequence[Mapping[str, Any]],
    axes: Axes,
    titles: Mapping[str, str],
    data: Sequence[Mapping[str, Any]],
) -> tuple[str, ...]:
    counts = (row["n"] for row in rows if row["metric"] in (axes.x, axes.y))
    known = {row["metric"]: explained_of(row) for row in rows}
    missing = any(point["colour"] is None for point in data)
    names = {point["name"] for point in data}
    return sentences(
        *(known.get(key, explained(key)) for key in (axes.y, axes.x, axes.colour) if key in titles),
        f"Point: mean of {replicated(counts)}; cross: lowest to highest.",
        "Axes reach as far as each panel's points.",
        "White: not defined, because in some run no VC got more than its MCR." if missing else "",
        *(f"{short}: {full}." for full, short in SHORT.items() if short in names),
    )


def _description(data: Sequence[Mapping[str, Any]], axes: Axes, titles: Mapping[str, str]) -> str:
    reported = [
        f"{', '.join(p[key] for key in ('column', 'row', 'series', 'name') if p[key])}: "
        f"{p['x']:.3g}, {p['y']:.3g}"
        + (f", {p['colour']:.3g}" if axes.colour and p["colour"] is not None else "")
        for p in data
    ]
    names = ", ".join(titles[key] for key in (axes.x, axes.y, axes.colour) if key in titles)
    return f"{names}. " + "; ".join(reported) + "."
