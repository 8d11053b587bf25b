"""Published values beside ours, with the spread of ours over replications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.plots import theme
from skycell.plots.figure import Figure, FigureOrigin, NothingToDrawError
from skycell.plots.labels import (
    described,
    explained_of,
    factor,
    level,
    name,
    replicated,
    sentences,
    title_of,
)

SHORT = {"Selective Drop": "SD"}
"""Names that are too long for the labels of an axis; the caption spells them out."""

MOST_ROWS = 3
"""Panels that go one above the other; more are set in two columns."""

LETTER_WIDTH = 6.0
"""Width of a letter of an axis label, pixels, on the average."""

_SHARES = {"efficiency", "jain_fairness", "max_min_fairness"}
"""Metrics whose axis goes from 0 to 1."""

OURS, PUBLISHED, DOUBTED = "ours", "published", "published, print in doubt"


@dataclass(frozen=True)
class Layout:
    """Which factor of a study goes where in a figure; None where no factor is left.

    Attributes:
        x: along the horizontal axis of each panel.
        series: by colour, side by side at each x.
        column: panels from left to right.
        rows: panels from top to bottom, all remaining factors together.
    """

    x: str
    series: str | None
    column: str | None
    rows: tuple[str, ...]


def layout_of(rows: Sequence[Mapping[str, Any]]) -> Layout:
    """A layout for the factors that vary between rows.

    Policies go along the axis where there are any, buffers by colour, TCPs into columns, everything
    else into rows of panels.
    """
    keys = list(dict.fromkeys(key for row in rows for key in row["factors"]))
    left = _telling(rows, keys) or [key for key in keys if key == "policy"] or keys[:1]

    def take(*preferred: str) -> str | None:
        for key in preferred:
            if key in left:
                left.remove(key)
                return key
        return None

    x = take("policy", "tcp_group", "destination")
    series = take("buffer_cells", "buffer_rtt")
    column = take("tcp", "experiment") or (take("n_sources") if len(left) > 1 else None)
    if x is None and left:
        x = left.pop()
    elif x is None:  # what remains is one factor, which then goes along the axis
        x, series, column = (column, series, None) if column else (series, None, None)
    assert x is not None, "rows have at least one factor"
    return Layout(x=x, series=series, column=column, rows=tuple(left))


def _telling(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[str]:
    """The factors that tell rows apart; of two that tell the same rows apart, the later one."""
    parts = {}
    for key in keys:
        levels = [str(row["factors"].get(key)) for row in rows]
        first = {level: place for place, level in reversed(list(enumerate(levels)))}
        if len(first) > 1:
            parts[tuple(first[level] for level in levels)] = key
    return list(parts.values())


def comparison(
    rows: Sequence[Mapping[str, Any]],
    origin: FigureOrigin,
    *,
    title: str,
    layout: Layout | None = None,
    subtitle: str | None = None,
) -> Figure:
    """One metric of one table, published beside ours.

    A dot stands for our mean, a bar goes from our lowest to our highest replication, and a diamond
    is the published value.

    Args:
        rows: as in ``Reproduction.rows``: ``factors``, ``metric``, ``unit``, ``published`` (or
            None), ``mean``, ``low``, ``high``, ``n`` and ``doubt``; one metric.
        origin: the runs.
        title: what the figure shows.
        layout: which factor goes where; chosen from the factors when None.
        subtitle: second line under the title; what is the same in the whole figure when None.

    Raises:
        NothingToDrawError: there are no rows.
        ValueError: the rows are of several metrics.
    """
    import altair as alt

    if not rows:
        raise NothingToDrawError("there are no values to compare")
    metrics = {(row["metric"], row["unit"]) for row in rows}
    if len(metrics) > 1:
        raise ValueError(f"one figure shows one metric, not {sorted(map(str, metrics))}")
    key = rows[0]["metric"]
    layout = layout or layout_of(rows)
    data = _tidy(rows, layout)
    columns = _levels(rows, layout.column)
    panels = list(dict.fromkeys(row["row"] for row in data))
    series = _levels(rows, layout.series)
    xs = list(
        dict.fromkeys(_on_axis(row["factors"], layout.x) for row in _ascending(rows, layout.x))
    )
    present = [kind for kind in (OURS, PUBLISHED, DOUBTED) if any(r["kind"] == kind for r in data)]
    # Many panels without columns of their own go side by side.
    wrapped = len(columns) == 1 and len(panels) > MOST_ROWS
    across = 2 if wrapped else len(columns)
    width = (theme.WIDTH - 20 * (across - 1)) / across
    chart = _layers(data, rows[0], layout, series, xs, present, width).properties(
        width=width, height=240 if len(panels) == 1 else 150
    )
    facets: dict[str, Any] = {"data": alt.InlineData(values=data), "spacing": 20}
    if len(columns) > 1:
        facets["column"] = alt.Column("column:N", title=None, sort=columns)
    header = alt.Header(labelOrient="top", labelAnchor="start")
    if wrapped:
        facets["facet"] = alt.Facet("row:N", title=None, sort=panels, header=header)
        facets["columns"] = across
    elif len(panels) > 1:
        facets["row"] = alt.Row("row:N", title=None, sort=panels, header=header)
    single = len(columns) == len(panels) == 1
    chart = chart.properties(data=facets["data"]) if single else chart.facet(**facets)
    return Figure(
        name=f"{key}-by-{layout.x}".replace("_", "-"),
        title=title,
        subtitle=subtitle or _constant(rows, layout),
        chart=chart,
        caption=_caption(rows, data),
        origin=origin,
        description=_description(rows),
    )


def _levels(rows: Sequence[Mapping[str, Any]], key: str | None) -> list[str]:
    """Labels of a factor's levels: numbers ascending, names in the order of the rows."""
    return list(dict.fromkeys(_label(row["factors"], key) for row in _ascending(rows, key)))


def _ascending(rows: Sequence[Mapping[str, Any]], key: str | None) -> list[Mapping[str, Any]]:
    """Rows by the numbers of a factor; as they are where it has names."""
    if all(isinstance(row["factors"].get(key), int | float) for row in rows):
        return sorted(rows, key=lambda row: float(row["factors"][key]))
    return list(rows)


def _tidy(rows: Sequence[Mapping[str, Any]], layout: Layout) -> list[dict[str, Any]]:
    """One row for each mark: ours and, where there is one, the published value."""
    data: list[dict[str, Any]] = []
    beside: dict[tuple[str, str, str], set[str]] = {}
    series = _levels(rows, layout.series)
    for row in rows:
        factors = row["factors"]
        place = {
            "row": ", ".join(_label(factors, key) for key in layout.rows if key in factors),
            "column": _label(factors, layout.column),
            "series": _label(factors, layout.series),
            "x": _on_axis(factors, layout.x),
        }
        beside.setdefault(_spot(place), set()).add(place["series"])
        ours = {"value": row["mean"], "low": row["low"], "high": row["high"], "n": row["n"]}
        data.append({**place, "kind": OURS, **ours})
        if row["published"] is not None:
            kind = DOUBTED if row.get("doubt") else PUBLISHED
            data.append({**place, "kind": kind, "value": row["published"]})
    for mark in data:
        order = sorted(beside[_spot(mark)], key=series.index)
        mark["aside"] = order.index(mark["series"]) - (len(order) - 1) / 2
    return data


def _spot(mark: Mapping[str, Any]) -> tuple[str, str, str]:
    """Panel and place on the axis, where the series stand side by side."""
    return mark["row"], mark["column"], mark["x"]


def _on_axis(factors: Mapping[str, Any], key: str) -> str:
    """The value of a factor as a label of the axis."""
    text = name(factors.get(key))
    return SHORT.get(text, text)


def _label(factors: Mapping[str, Any], key: str | None) -> str:
    """The value of a factor as a legend or a panel's title names it."""
    return "" if key is None or key not in factors else level(key, factors[key])


def _layers(
    data: Sequence[Mapping[str, Any]],
    row: Mapping[str, Any],
    layout: Layout,
    series: Sequence[str],
    xs: Sequence[str],
    present: Sequence[str],
    width: float,
) -> Any:
    """Bar, dot and diamond of one panel, of a metric as `row` has it."""
    import altair as alt

    title, share = title_of(row), row["metric"] in _SHARES
    top = max(row.get("high") or row["value"] for row in data)
    scale = alt.Scale(domain=[0, max(1.05, top)], nice=False) if share else alt.Scale(zero=True)
    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1.0]) if share else alt.Axis(tickCount=6)
    turned = LETTER_WIDTH * (max(map(len, xs)) + 1) > width / len(xs)
    most = max(row["aside"] for row in data) + 0.75
    base = alt.Chart().encode(
        x=alt.X(
            "x:N",
            sort=list(xs),
            title=None if layout.x in {"policy", "tcp"} else factor(layout.x),
            axis=alt.Axis(labelAngle=-40 if turned else 0, domain=True, ticks=False),
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
        ),
        xOffset=alt.XOffset("aside:Q", scale=alt.Scale(domain=[-most, most], zero=False)),
    )
    colour = alt.Color(
        "series:N",
        sort=list(series),
        title=None,
        scale=alt.Scale(domain=list(series), range=list(theme.PALETTE[: len(series)])),
        legend=(
            alt.Legend(symbolType="circle", symbolOpacity=1, columns=3 if len(series) > 4 else 0)
            if len(series) > 1
            else None
        ),
    )
    shapes = {OURS: "circle", PUBLISHED: "diamond", DOUBTED: "triangle-up"}
    shape = alt.Shape(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=list(present), range=[shapes[kind] for kind in present]),
        legend=(
            alt.Legend(symbolFillColor="transparent", symbolStrokeColor=theme.INK)
            if len(present) > 1
            else None
        ),
    )
    tooltip = [
        alt.Tooltip("kind:N", title="value"),
        alt.Tooltip("value:Q", title=title, format=".4~g"),
        alt.Tooltip("low:Q", title="lowest", format=".4~g"),
        alt.Tooltip("high:Q", title="highest", format=".4~g"),
        alt.Tooltip("n:Q", title="replications"),
    ]
    y = alt.Y("value:Q", title=title, scale=scale, axis=axis)
    ours = base.transform_filter(f"datum.kind == '{OURS}'")
    published = base.transform_filter(f"datum.kind != '{OURS}'")
    return alt.layer(
        ours.mark_rule(strokeWidth=7, opacity=0.35, strokeCap="butt").encode(
            y=alt.Y("low:Q", title=title, scale=scale, axis=axis),
            y2="high:Q",
            color=colour,
        ),
        ours.mark_point(filled=True, size=55, opacity=1).encode(
            y=y, color=colour, shape=shape, tooltip=tooltip
        ),
        published.mark_point(
            filled=False, size=95, strokeWidth=1.6, opacity=1, color=theme.PUBLISHED
        ).encode(y=y, shape=shape, tooltip=tooltip[:2]),
    )


def _constant(rows: Sequence[Mapping[str, Any]], layout: Layout) -> str | None:
    """The factors that are the same in the whole figure."""
    placed = {layout.x, layout.series, layout.column, *layout.rows}
    first = rows[0]["factors"]
    same = [key for key in first if len({str(row["factors"].get(key)) for row in rows}) == 1]
    return described({key: first[key] for key in same if key not in placed}) or None


def _caption(
    rows: Sequence[Mapping[str, Any]], data: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Units, replications and what the marks are."""
    runs = replicated(row["n"] for row in rows)
    doubted = any(row["kind"] == DOUBTED for row in data)
    in_print = any(row["published"] is not None for row in rows)
    return sentences(
        explained_of(rows[0]),
        f"Dot: mean of {runs}; bar: lowest to highest"
        + ("; diamond: published value." if in_print else "."),
        "Triangle: published value whose print is in doubt." if doubted else "",
        *(
            f"{short}: {long}."
            for long, short in SHORT.items()
            if any(r["x"] == short for r in data)
        ),
    )


def _description(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figure in words: each place with ours and the published value."""
    places = [
        f"{described(row['factors'])}: ours {row['mean']:.3g}"
        + (f", published {row['published']:.3g}" if row["published"] is not None else "")
        for row in rows
    ]
    title = title_of(rows[0], with_unit=False)
    return f"{title} for {len(rows)} combinations. " + "; ".join(places) + "."
