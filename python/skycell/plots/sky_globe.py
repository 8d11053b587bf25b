"""The map of a second over the globe, with satellites at their heights."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.figure import Figure, Origin
from skycell.plots.globe import (
    SIZE,
    Sliders,
    View,
    axes,
    coordinates,
    earth,
    sliders_of,
    vector_of,
)
from skycell.plots.labels import place_name, sentences
from skycell.plots.sky_map import MANY, MEANING, by_load, fullest_of, in_brief, map_at, title_of
from skycell.records.sky import POSITIONS

if TYPE_CHECKING:
    from skycell.plots.sky_map import SkyMap
    from skycell.records.result import RunResult

_PARTS = 10
"""Pieces of a link; each is hidden by the earth or not as a whole."""
_APART = 0.25
"""Least distance of two stations with names, earth radii."""


def sky_globe_figure(result: RunResult, origin: Origin, second: int | None = None) -> Figure:
    """The earth with satellites, stations, and links by their load in one second.

    Args:
        result: the run.
        origin: the run.
        second: since the start of the run; that in which most octets left all ports if None.

    Raises:
        NothingToDrawError: the result has no positions, or the second is none of the run.
    """
    import altair as alt
    import numpy as np
    import polars as pl

    drawn = map_at(result, second)
    positions = result.traces[POSITIONS].filter(pl.col("second") == drawn.positions_of)
    at = {
        name: vector_of(*place)
        for name, *place in positions.select(
            "node", "latitude_deg", "longitude_deg", "height_km"
        ).iter_rows()
    }
    extent = 1.04 * max(1.0, *(float(np.linalg.norm(each)) for each in at.values()))
    view = _over(drawn, at)
    sliders = sliders_of(view)
    named = _named(drawn, at)
    segments = [
        {**coordinates("", start), **coordinates("e", end), **line.as_row}
        for line in drawn.lines
        for start, end in pairwise(_points(at[line.ends[0]], at[line.ends[1]]))
    ]
    stations = [
        {"name": place_name(name), "is_named": name in named, **coordinates("", at[name])}
        for name in drawn.stations
    ]
    chart = (
        alt.layer(
            *earth(sliders, extent),
            _lines(sliders, extent, behind=True),
            _satellites(sliders, extent, len(drawn.satellites)),
            _lines(sliders, extent, behind=False),
            *_stations(sliders, extent),
        )
        .add_params(*sliders.params)
        .properties(width=SIZE, height=SIZE)
    )
    return Figure(
        name="globe",
        title=title_of(drawn),
        subtitle=in_brief(drawn),
        chart=chart,
        caption=sentences(
            "Orthographic projection, heights to scale.",
            MEANING,
            fullest_of(drawn),
            f"Squares: stations, {len(named)} of {len(stations)} with their names; grey points: "
            "satellites.",
            "Coastlines: Natural Earth.",
        ),
        origin=origin,
        description=f"A globe with links by load. {in_brief(drawn)}. {fullest_of(drawn)}",
        datasets={
            "links": segments,
            "stations": stations,
            "satellites": [
                {"name": name, **coordinates("", at[name])} for name in drawn.satellites
            ],
        },
    )


def _points(start: Any, end: Any) -> list[Any]:
    return [start + (end - start) * step / _PARTS for step in range(_PARTS + 1)]


def _over(drawn: SkyMap, at: dict[str, Any]) -> View:
    """Over the middle of the links, each as heavy as its load."""
    import numpy as np

    middle = sum((line.load * (at[line.ends[0]] + at[line.ends[1]]) for line in drawn.lines), 0)
    if np.linalg.norm(middle) < 1e-6:
        return View()
    x, y, z = middle
    latitude = np.degrees(np.arctan2(z, np.hypot(x, y)))
    return View(round(float(latitude), 1), round(float(np.degrees(np.arctan2(y, x))), 1))


def _named(drawn: SkyMap, at: dict[str, Any]) -> set[str]:
    """Stations with names: those whose links are fullest, none too near another."""
    import numpy as np

    ends = [end for line in drawn.lines[::-1] for end in line.ends if end in drawn.stations]
    found: list[str] = []
    for name in dict.fromkeys([*ends, *drawn.stations]):
        if all(np.linalg.norm(at[name] - at[other]) >= _APART for other in found):
            found.append(name)
    return set(found)


def _placed(dataset: str, sliders: Sliders, extent: float, prefix: str = "") -> Any:
    """A chart of points, each where the view puts it."""
    import altair as alt

    chart = sliders.projected(alt.Chart(alt.NamedData(name=dataset)))
    if prefix:
        chart = sliders.projected(chart, prefix)
    across, up = axes(extent)
    return chart.encode(
        x=alt.X("u:Q", scale=across, axis=None), y=alt.Y("v:Q", scale=up, axis=None)
    )


def _lines(sliders: Sliders, extent: float, *, behind: bool) -> Any:
    middle = "(datum.d + datum.ed) / 2"
    off = "pow((datum.u + datum.eu) / 2, 2) + pow((datum.v + datum.ev) / 2, 2)"
    return (
        _placed("links", sliders, extent, "e")
        .transform_filter(f"{middle} < 0 && {off} > 1" if behind else f"{middle} >= 0")
        .mark_rule(opacity=0.35 if behind else 1)
        .encode(x2="eu:Q", y2="ev:Q", **by_load())
    )


def _satellites(sliders: Sliders, extent: float, count: int) -> Any:
    import altair as alt

    return (
        _placed("satellites", sliders, extent)
        .transform_filter("datum.d >= 0")
        .mark_circle(size=5 if count > MANY else 16, color=theme.MUTED, opacity=0.5)
        .encode(tooltip=alt.Tooltip("name:N", title="satellite"))
    )


def _stations(sliders: Sliders, extent: float) -> list[Any]:
    import altair as alt

    chart = _placed("stations", sliders, extent).transform_filter("datum.d >= 0")
    # Beside the edge of the disc names would leave the drawing, and stand on one another.
    named = chart.transform_filter("datum.is_named && datum.d >= 0.4").encode(text="name:N")
    text: dict[str, Any] = {"align": "left", "dx": 7, "dy": 1, "fontSize": 12}
    return [
        chart.mark_square(size=30, color=theme.INK, opacity=1, stroke="white").encode(
            tooltip=alt.Tooltip("name:N", title="station")
        ),
        named.mark_text(**text, stroke="white", strokeWidth=3, opacity=0.85),
        named.mark_text(**text, color=theme.INK),
    ]
