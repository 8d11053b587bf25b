"""The world as a flat map: coastlines, and ways over the ground, cut at 180 degrees.

Latitude and longitude are drawn as they are (equirectangular), so that a place is where its numbers
say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

OCEAN, LAND, EDGE = "#eef3f8", "#d5dccf", "#b9c3ae"
"""Colours of water, land and coast; they are the same on dark paper."""
GRATICULE = "#8a96a3"

_SPACING_DEG = 4.0
"""Greatest distance of two points of a way; a chord between them is off by less than 0.1 degrees
below latitude 80."""

Point = tuple[float, float]
"""Longitude and latitude, degrees."""


def land_data() -> alt.InlineData:
    """Coastlines as data of a chart. Source: Natural Earth, 1:110 million."""
    import altair as alt

    shape = alt.TopoDataFormat(type="topojson", feature="land")
    return alt.InlineData(values=_topology(), format=shape)


def land_rings() -> list[list[Point]]:
    """Coastlines as closed lines without a jump: longitudes may go beyond 180 degrees.

    What lies beyond is drawn by a second copy, 360 degrees away. The coast around the south pole is
    closed along latitude -90.
    """
    topology = _topology()
    scale, translate = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs: list[list[Point]] = []
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * scale[0] + translate[0], y * scale[1] + translate[1]))
        arcs.append(points)
    rings = []
    for shape in topology["objects"]["land"]["geometries"]:
        polygons = [shape["arcs"]] if shape["type"] == "Polygon" else shape["arcs"]
        for ring in (ring for polygon in polygons for ring in polygon):
            points = []
            for number in ring:  # below 0: backwards, the first one being -1
                own = arcs[number] if number >= 0 else arcs[~number][::-1]
                points += own[1 if points else 0 :]
            rings.append(_unwrapped(points))
    return rings


def _unwrapped(ring: Sequence[Point]) -> list[Point]:
    points = [ring[0]]
    for x, y in ring[1:]:
        before = points[-1][0]
        points.append((x - 360 * round((x - before) / 360), y))
    if abs(points[-1][0] - points[0][0]) > 180:
        points += [(points[-1][0], -90.0), (points[0][0], -90.0)]
    return points


@cache
def _topology() -> Any:
    text = resources.files("skycell.plots").joinpath("land/land-110m.json").read_text("utf-8")
    return json.loads(text)


def way(start: Point, end: Point) -> list[list[Point]]:
    """The shortest way over a sphere between two points, as one line or as several.

    A way that crosses the meridian of 180 degrees is cut there: one line ends at 180 or -180
    degrees, and the next one begins at the other.

    >>> [[(round(x), round(y)) for x, y in part] for part in way((179.0, 0.0), (-179.0, 0.0))]
    [[(179, 0), (180, 0)], [(-180, 0), (-179, 0)]]
    """
    return _cut(_great_circle(start, end))


def _great_circle(start: Point, end: Point) -> list[Point]:
    import numpy as np

    first, last = _vector(start), _vector(end)
    angle = float(np.arctan2(np.linalg.norm(np.cross(first, last)), np.dot(first, last)))
    pieces = max(1, int(np.ceil(np.degrees(angle) / _SPACING_DEG)))
    if pieces == 1:
        return [start, end]
    shares = np.linspace(0, 1, pieces + 1)[1:-1, None]
    between = (np.sin((1 - shares) * angle) * first + np.sin(shares * angle) * last) / np.sin(angle)
    longitudes = np.degrees(np.arctan2(between[:, 1], between[:, 0])).tolist()
    latitudes = np.degrees(np.arcsin(np.clip(between[:, 2], -1, 1))).tolist()
    return [start, *zip(longitudes, latitudes, strict=True), end]


def _vector(point: Point) -> Any:
    import numpy as np

    longitude, latitude = np.radians(point)
    level = np.cos(latitude)
    return np.array([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)])


def _cut(points: Sequence[Point]) -> list[list[Point]]:
    """The line in parts, none of which crosses the meridian of 180 degrees."""
    parts = [[points[0]]]
    for (x, y), (next_x, next_y) in pairwise(points):
        if abs(next_x - x) > 180:
            edge = 180.0 if x > 0 else -180.0
            straight = next_x + 2 * edge  # of the next point, on the side of this one
            share = (edge - x) / (straight - x) if straight != x else 0.0
            crossing = y + share * (next_y - y)
            parts[-1].append((edge, crossing))
            parts.append([(-edge, crossing)])
        parts[-1].append((next_x, next_y))
    return parts
