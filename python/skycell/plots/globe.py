"""The earth from any side, with satellites at their height, links, places and paths.

Coastlines are drawn by Vega's orthographic projection. What flies is put beside them by the same
projection, written as expressions over earth-fixed coordinates: so it stands at its true height,
the earth hides what is behind it, and a page can turn the whole by two sliders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND, counted
from skycell.plots import theme
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import place_name
from skycell.plots.world import EDGE, GRATICULE, LAND, OCEAN, land_data

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    from numpy.typing import NDArray

    from skycell.orbit import Constellation, Place

SIZE = 620
"""Width and height of the drawing, pixels."""
EARTH_KM = 6378.137
"""What is drawn as 1: the equatorial radius (WGS84)."""
MOST_LINKS = 600
"""More links than this are left out, unless they are asked for: they would hide the earth."""
MOST_PLANES = 24
"""More orbits than this are left out."""
MOST_FRAMES = 240
"""Moments of one page."""

_PARTS, _PARTS_MOVING = 10, 5
"""Pieces of a link, in a picture and on a page; each is hidden or not as a whole."""
_ORBIT_PARTS = 120
_LINES = {"orbit": ("#c3ced9", 0.9), "link": (theme.AXIS, 1.0), "path": (theme.PALETTE[1], 2.8)}
"""Colour and width of each kind of line, from below to above."""


@dataclass(frozen=True)
class View:
    """From where the earth is looked at.

    Attributes:
        latitude_deg: of the middle of the disc.
        longitude_deg: of the middle of the disc.
    """

    latitude_deg: float = 30.0
    longitude_deg: float = 0.0


def globe_figure(
    constellation: Constellation,
    places: Sequence[Place] = (),
    pairs: Sequence[tuple[int, int]] = (),
    *,
    times_ps: Sequence[int] = (0,),
    view: View | None = None,
    links: str = "some",
) -> Figure:
    """A constellation over the earth.

    Args:
        constellation: the satellites.
        places: on the ground.
        pairs: paths to draw, as numbers of places.
        times_ps: moments; a page has a slider for several, a picture shows the first.
        view: from where; over the middle of the places if not given.
        links: `all` links between satellites, `none`, or `some`: all unless there are very many.

    Raises:
        ScenarioFaults: a place can see no satellite at any time.
        ValueError: more moments than a page holds, or none.
    """
    import altair as alt

    from skycell.version import version

    if not 1 <= len(times_ps) <= MOST_FRAMES:
        raise ValueError(f"{len(times_ps)} moments: allowed are 1 to {MOST_FRAMES}")
    drawn = _Drawing(constellation, places, pairs, times_ps, links)
    looked = view or _over(places, pairs)
    sliders = sliders_of(looked, times_ps)
    extent = drawn.extent * 1.04
    layers = [
        *earth(sliders, extent),
        *(
            _segments(kind, sliders, extent, behind=behind)
            for behind in (True, False)
            for kind in _LINES
            if any(segment["k"] == kind for segment in drawn.segments)
        ),
        _points(drawn, sliders, extent),
        *_stations(drawn, sliders, extent),
    ]
    chart = (
        alt.layer(*layers)
        .add_params(*sliders.params)
        .properties(width=SIZE, height=SIZE)
        .resolve_scale(color="independent")
    )
    return Figure(
        name="globe",
        title=constellation.title,
        subtitle=drawn.subtitle(),
        chart=chart,
        caption=drawn.caption(looked),
        origin=Origin("orbit", version()),
        description=drawn.description(),
        datasets=drawn.datasets(),
    )


def _over(places: Sequence[Place], pairs: Sequence[tuple[int, int]]) -> View:
    """Over the middle of the places of the paths, or of all; the view from the side if none."""
    import math

    ends = [places[end] for pair in pairs for end in pair] or list(places)
    points = [(math.radians(p.latitude_deg), math.radians(p.longitude_deg)) for p in ends]
    x = sum(math.cos(a) * math.cos(b) for a, b in points)
    y = sum(math.cos(a) * math.sin(b) for a, b in points)
    z = sum(math.sin(a) for a, _ in points)
    if math.hypot(x, y, z) < 1e-6:
        return View()
    latitude_deg = math.degrees(math.atan2(z, math.hypot(x, y)))
    return View(round(latitude_deg, 1), round(math.degrees(math.atan2(y, x)), 1))


class _Drawing:
    """What is drawn, as rows of plain numbers in earth radii."""

    def __init__(
        self,
        constellation: Constellation,
        places: Sequence[Place],
        pairs: Sequence[tuple[int, int]],
        times_ps: Sequence[int],
        links: str,
    ) -> None:
        import numpy as np

        from skycell.orbit import look, positions_km

        self.constellation = constellation
        self.places = list(places)
        self.times_ps = list(times_ps)
        self.parts = _PARTS if len(times_ps) == 1 else _PARTS_MOVING
        self.routes: list[Any] = []
        self.segments: list[dict[str, Any]] = []
        self.satellites: list[dict[str, Any]] = []
        self.left_out: list[str] = []
        number = {name: place for place, name in enumerate(constellation.satellites)}
        ground = {
            place.name: vector_of(place.latitude_deg, place.longitude_deg, place.height_km)
            for place in places
        }
        self.stations = [
            {"name": place_name(name), **coordinates("", at)} for name, at in ground.items()
        ]
        moving = positions_km(constellation, times_ps) / EARTH_KM
        self.extent = max(1.0, float(np.nanmax(np.linalg.norm(moving, axis=2), initial=1.0)))
        for frame, (at_ps, at) in enumerate(zip(times_ps, moving, strict=True)):
            moment = look(constellation, places, pairs, at_ps)
            is_there = ~np.isnan(at[:, 0])
            self.routes += moment.routes
            on_path = {name for route in moment.routes for name in route.satellites}
            self.satellites += [
                {"f": frame, "name": name, "used": name in on_path, **coordinates("", at[n])}
                for name, n in number.items()
                if is_there[n]
            ]
            if links == "all" or (links == "some" and len(moment.links) <= MOST_LINKS):
                for a, b in moment.links:
                    self._line("link", frame, at[number[a]], at[number[b]])
            elif links == "some" and frame == 0:
                self.left_out.append(f"{len(moment.links)} links between satellites")
            for route in moment.routes:
                ends = [
                    ground[route.source],
                    *(at[number[name]] for name in route.satellites),
                    ground[route.target],
                ]
                if route.satellites:
                    for start, end in pairwise(ends):
                        self._line("path", frame, start, end)
            if len(times_ps) == 1:
                self._orbits(frame, at)

    def _line(
        self, kind: str, frame: int, start: NDArray[np.float64], end: NDArray[np.float64]
    ) -> None:
        import numpy as np

        points = [start + (end - start) * share for share in np.linspace(0, 1, self.parts + 1)]
        self._pieces(kind, frame, points)

    def _pieces(self, kind: str, frame: int, points: Sequence[NDArray[np.float64]]) -> None:
        for start, end in pairwise(points):
            ends = {**coordinates("", start), **coordinates("e", end)}
            self.segments.append({"f": frame, "k": kind, **ends})

    def _orbits(self, frame: int, at: NDArray[np.float64]) -> None:
        """The circle of each plane, through its satellites as they stand on a still earth."""
        import numpy as np

        from skycell.orbit.file import ElementsPattern, EphemerisPattern, SlotsPattern

        pattern = self.constellation.file.pattern
        if isinstance(pattern, ElementsPattern | EphemerisPattern | SlotsPattern):
            return
        if pattern.planes > MOST_PLANES:
            if frame == 0:
                self.left_out.append(f"{pattern.planes} orbits")
            return
        count = pattern.satellites_per_plane
        if count < 3:
            return
        for plane in range(pattern.planes):
            own = at[plane * count : (plane + 1) * count]
            first = own[0]
            normal = np.cross(first, own[1])
            quarter = np.cross(normal / np.linalg.norm(normal), first)
            turns = np.linspace(0, 2 * np.pi, _ORBIT_PARTS + 1)
            self._pieces(
                "orbit", frame, [first * np.cos(turn) + quarter * np.sin(turn) for turn in turns]
            )

    def datasets(self) -> dict[str, Any]:
        """Every row by the name that the layers call it."""
        lines = {
            kind: [segment for segment in self.segments if segment["k"] == kind] for kind in _LINES
        }
        return {**lines, "satellites": self.satellites, "stations": self.stations}

    def subtitle(self) -> str:
        """When, and the delay of each path."""
        from skycell.input.quantities import show_time

        when = f"at {show_time(self.times_ps[0])}"
        reported = []
        for route in self.routes[: len(self.routes) // len(self.times_ps)]:
            ends = f"{place_name(route.source)} to {place_name(route.target)}"
            if route.delay_ms is None:
                reported.append(f"{ends}: {route.missing}")
            else:
                reported.append(
                    f"{ends}: {route.delay_ms:.1f} ms over "
                    f"{counted(len(route.satellites), 'satellite')}"
                )
        return "; ".join([f"{len(self.constellation.satellites)} satellites {when}", *reported])

    def caption(self, view: View) -> tuple[str, ...]:
        """What is drawn how, and what is not."""
        north = "N" if view.latitude_deg >= 0 else "S"
        east = "E" if view.longitude_deg >= 0 else "W"
        latitude, longitude = abs(view.latitude_deg), abs(view.longitude_deg)
        return (
            "Orthographic projection, heights to scale.",
            "Grey points and lines are satellites and their links, coloured ones the path.",
            f"Seen from above {latitude:g}°\u202f{north}, {longitude:g}°\u202f{east}.",
            *([f"Not drawn: {' and '.join(self.left_out)}."] if self.left_out else []),
            "Coastlines: Natural Earth.",
        )

    def description(self) -> str:
        """For who cannot see it."""
        return f"A globe with a constellation over it. {self.subtitle()}."


def vector_of(latitude_deg: float, longitude_deg: float, height_km: float) -> Any:
    """A point as it is drawn, in earth radii: the earth is a sphere."""
    import numpy as np

    latitude, longitude = np.radians([latitude_deg, longitude_deg])
    height = 1 + height_km / EARTH_KM
    return height * np.array(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ]
    )


def coordinates(prefix: str, at: NDArray[np.float64]) -> dict[str, float]:
    """Fields x, y and z of a row, behind a prefix."""
    x, y, z = (round(float(number), 4) for number in at)
    return {f"{prefix}x": x, f"{prefix}y": y, f"{prefix}z": z}


@dataclass(frozen=True)
class Sliders:
    """The parameters that turn the globe."""

    params: tuple[alt.Parameter, ...]
    frames: int

    def projected(self, chart: alt.Chart, prefix: str = "") -> alt.Chart:
        """The chart with fields u, v and d: right, up, and toward the viewer, in earth radii."""
        x, y, z = (f"datum.{prefix}{axis}" for axis in "xyz")
        lon, lat = "globe_longitude * PI / 180", "globe_latitude * PI / 180"
        ahead = f"(cos({lon}) * {x} + sin({lon}) * {y})"
        return chart.transform_calculate(
            **{
                f"{prefix}u": f"cos({lon}) * {y} - sin({lon}) * {x}",
                f"{prefix}v": f"cos({lat}) * {z} - sin({lat}) * {ahead}",
                f"{prefix}d": f"cos({lat}) * {ahead} + sin({lat}) * {z}",
            }
        )

    def now(self, chart: alt.Chart) -> alt.Chart:
        """The chart with the rows of the moment that the slider shows."""
        return chart.transform_filter("datum.f == globe_frame") if self.frames > 1 else chart


def sliders_of(view: View, times_ps: Sequence[int] = (0,)) -> Sliders:
    """Sliders that begin with a view, and one for moments if there are several."""
    import altair as alt

    def slider(name: str, value: float, low: float, high: float, label: str) -> alt.Parameter:
        bound = alt.binding_range(min=low, max=high, step=1, name=label)
        return alt.param(name=name, value=value, bind=bound)

    params = [
        slider("globe_longitude", view.longitude_deg, -180, 180, "longitude "),
        slider("globe_latitude", view.latitude_deg, -90, 90, "latitude "),
    ]
    if len(times_ps) > 1:
        step_s = (times_ps[1] - times_ps[0]) / PS_PER_SECOND
        label = f"step of {step_s:g} s "
        params.append(slider("globe_frame", 0, 0, len(times_ps) - 1, label))
    return Sliders(tuple(params), len(times_ps))


def earth(sliders: Sliders, extent: float) -> list[alt.Chart]:
    """Water, land and meridians; `extent` is half of the drawing in earth radii."""
    import altair as alt

    projection: dict[str, Any] = {
        "type": "orthographic",
        "scale": SIZE / 2 / extent,
        "translate": [SIZE / 2, SIZE / 2],
        "rotate": alt.ExprRef("[-globe_longitude, -globe_latitude, 0]"),
        "clipAngle": 90,
    }
    layers = [
        alt.Chart(alt.sphere()).mark_geoshape(fill=OCEAN, stroke=theme.AXIS, strokeWidth=0.8),
        alt.Chart(land_data()).mark_geoshape(fill=LAND, stroke=EDGE, strokeWidth=0.6),
        alt.Chart(alt.graticule(step=[30, 30])).mark_geoshape(
            filled=False, stroke=GRATICULE, strokeWidth=0.4, opacity=0.35
        ),
    ]
    return [layer.project(**projection) for layer in layers]


def axes(extent: float) -> tuple[alt.Scale, alt.Scale]:
    """Scales across and up."""
    import altair as alt

    scale = alt.Scale(domain=[-extent, extent], nice=False, zero=False)
    return scale, scale


def _segments(kind: str, sliders: Sliders, extent: float, *, behind: bool) -> alt.Chart:
    """Lines in pieces: those behind the disc's plane paler than those before it."""
    import altair as alt

    chart = sliders.now(alt.Chart(alt.NamedData(name=kind)))
    chart = sliders.projected(sliders.projected(chart), "e")
    middle = "(datum.d + datum.ed) / 2"
    off = "pow((datum.u + datum.eu) / 2, 2) + pow((datum.v + datum.ev) / 2, 2)"
    chart = chart.transform_filter(f"{middle} < 0 && {off} > 1" if behind else f"{middle} >= 0")
    across, up = axes(extent)
    color, width = _LINES[kind]
    drawn: alt.Chart = chart.mark_rule(
        color=color, strokeWidth=width, opacity=0.4 if behind else 0.95
    ).encode(
        x=alt.X("u:Q", scale=across, axis=None),
        y=alt.Y("v:Q", scale=up, axis=None),
        x2="eu:Q",
        y2="ev:Q",
    )
    return drawn


def _points(drawn: _Drawing, sliders: Sliders, extent: float) -> alt.Chart:
    import altair as alt

    chart = sliders.projected(sliders.now(alt.Chart(alt.NamedData(name="satellites"))))
    chart = chart.transform_filter("datum.d >= 0 || pow(datum.u, 2) + pow(datum.v, 2) > 1")
    across, up = axes(extent)
    size = 26 if len(drawn.constellation.satellites) <= 400 else 9
    colors = alt.Scale(domain=[False, True], range=[theme.MUTED, theme.PALETTE[1]])
    placed: alt.Chart = chart.mark_circle().encode(
        x=alt.X("u:Q", scale=across, axis=None),
        y=alt.Y("v:Q", scale=up, axis=None),
        color=alt.Color("used:N", scale=colors, legend=None),
        size=alt.condition("datum.used", alt.value(60), alt.value(size)),
        opacity=alt.condition("datum.d >= 0", alt.value(1.0), alt.value(0.4)),
        tooltip=alt.Tooltip("name:N", title="satellite"),
    )
    return placed


def _stations(drawn: _Drawing, sliders: Sliders, extent: float) -> list[alt.Chart]:
    import altair as alt

    if not drawn.stations:
        return []
    chart = sliders.projected(alt.Chart(alt.NamedData(name="stations")))
    chart = chart.transform_filter("datum.d >= 0")
    across, up = axes(extent)
    placed = chart.encode(
        x=alt.X("u:Q", scale=across, axis=None), y=alt.Y("v:Q", scale=up, axis=None)
    )
    return [
        placed.mark_point(
            shape="square", filled=True, size=60, color=theme.INK, opacity=1, stroke="white"
        ),
        placed.mark_text(
            align="left", dx=8, dy=1, fontSize=12, fontWeight=600, color=theme.INK
        ).encode(text="name:N"),
    ]
