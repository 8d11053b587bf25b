"""The map of a run over a constellation second by second, as one picture with a part for each."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skycell.plots import theme
from skycell.plots.figure import NothingToDrawError
from skycell.plots.labels import sentences
from skycell.plots.run import origin_of
from skycell.plots.sky_map import (
    CLASSES,
    FONT_SIZE,
    MANY,
    MEANING,
    WIDTH,
    Frame,
    Name,
    SkyMap,
    fullest_of,
    in_brief,
    names_on,
    refuse_without_tables,
    sky_map,
)
from skycell.plots.world import EDGE, GRATICULE, LAND, OCEAN, Point, land_rings
from skycell.records.sky import fullest_second, seconds_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from skycell.records.result import RunResult

SMALL_SIZE = 22
"""Size of names on a narrow screen, on which the map is about half as wide."""


@dataclass(frozen=True)
class FramesOverTime:
    """A picture whose parts are moments, one of which is shown.

    Attributes:
        svg: the picture, with a group for each moment, which has its text in `data-text`.
        count: moments.
        first: the moment that is shown at first.
        text: what is said of that moment.
        title: of the figure.
        caption: of the figure.
        legend_title: what the colours stand for.
        legend: name and colour of each.
    """

    svg: Markup
    count: int
    first: int
    text: str
    title: str
    caption: str
    legend_title: str = "Busy in the second"
    legend: tuple[tuple[str, str], ...] = tuple((name, colour) for name, colour, _ in CLASSES)


def map_over_time(result: RunResult) -> FramesOverTime | None:
    """The map of each second of a run, or of some; None without a constellation."""
    from markupsafe import Markup

    if result.spec.sky is None:
        return None
    try:
        refuse_without_tables(result)
    except NothingToDrawError:
        return None
    seconds = seconds_of(result.spec.duration_ps)
    fullest = fullest_second(result.traces)
    first = min(range(len(seconds)), key=lambda place: abs(seconds[place] - fullest))
    maps = [sky_map(result, second) for second in seconds]
    frame = Frame.of([at for drawn in maps for at in _points(drawn)])
    last = seconds[-1] + 1
    caption = sentences(
        MEANING,
        "Squares: stations; grey points: satellites.",
        f"Drawn: {len(seconds)} of {last} seconds." if len(seconds) < last else None,
        "Coastlines: Natural Earth.",
    )
    return FramesOverTime(
        svg=Markup(_svg(maps, frame, first)),
        count=len(seconds),
        first=first,
        text=_text(maps[first]),
        title=f"Links with traffic, 0 to {last} s",
        caption=" ".join((*caption, origin_of(result).sentence())),
    )


def _points(drawn: SkyMap) -> Iterable[Point]:
    return (*drawn.satellites.values(), *drawn.stations.values())


def _text(drawn: SkyMap) -> str:
    return f"{drawn.second} to {drawn.second + 1} s: {in_brief(drawn)}. {fullest_of(drawn)}"


def _svg(maps: Sequence[SkyMap], frame: Frame, first: int) -> str:
    shown = maps[first]
    groups = [
        f'<g data-text="{html.escape(_text(drawn), quote=True)}" '
        f'display="{"inline" if number == first else "none"}">{_moment(drawn, frame)}</g>'
        for number, drawn in enumerate(maps)
    ]
    names = "".join(
        f'<g class="{name}">{_names(names_on(shown, frame, size, links=0), size)}</g>'
        for name, size in (("large", FONT_SIZE), ("small", SMALL_SIZE))
    )
    marks = "".join(
        f'<rect x="{x - 2.5:.1f}" y="{y - 2.5:.1f}" width="5" height="5"/>'
        for x, y in (frame.pixels(at) for at in shown.stations.values())
    )
    label = html.escape(f"A map of the world with links by load. {in_brief(shown)}.", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {frame.height}" '
        f'width="{WIDTH}" height="{frame.height}" role="img" aria-label="{label}">'
        f"{_ground(frame)}"
        f'<g fill="none" stroke-linecap="round" stroke-linejoin="round">{"".join(groups)}</g>'
        f'<g fill="{theme.INK}" stroke="#fff" stroke-width=".8">{marks}</g>{names}</svg>'
    )


def _ground(frame: Frame) -> str:
    rings = []
    for ring in land_rings():
        longitudes = [longitude for longitude, _ in ring]
        turns = [0]
        turns += [360] if min(longitudes) < -180 else []
        turns += [-360] if max(longitudes) > 180 else []
        rings += [
            f"M{_line((longitude + turn, latitude) for longitude, latitude in ring)}Z"
            for turn in turns
        ]
    lines = [[(float(x), -90.0), (float(x), 90.0)] for x in range(-150, 180, 30)]
    lines += [[(-180.0, float(y)), (180.0, float(y))] for y in range(-60, 90, 30)]
    graticule = "".join(f"M{_line(line)}" for line in lines)
    scale = WIDTH / 360
    # Land and lines are in degrees; the group puts them where `Frame.pixels` puts points.
    place = f"matrix({scale:.6f} 0 0 {-scale:.6f} {180 * scale:.3f} {frame.north * scale:.3f})"
    coast, meridian = (f'stroke-width="{pixels / scale:.3f}"' for pixels in (0.6, 0.4))
    return (
        f'<rect width="{WIDTH}" height="{frame.height}" fill="{OCEAN}"/>'
        f'<g transform="{place}"><path fill="{LAND}" stroke="{EDGE}" {coast} '
        f'd="{"".join(rings)}"/><path fill="none" stroke="{GRATICULE}" {meridian} '
        f'opacity=".35" d="{graticule}"/></g>'
    )


def _line(points: Iterable[Point]) -> str:
    return " ".join(f"{x:.5g},{y:.5g}" for x, y in points)


def _moment(drawn: SkyMap, frame: Frame) -> str:
    """Satellites, and a path for the links of each class of load."""
    dots = "".join(
        f"M{x:.1f},{y:.1f}h0" for x, y in (frame.pixels(at) for at in drawn.satellites.values())
    )
    size = 2 if len(drawn.satellites) > MANY else 3
    paths = [
        (
            f'<path class="satellites" stroke="{theme.MUTED}" stroke-opacity=".4" '
            f'stroke-width="{size}" d="{dots}"/>'
        )
    ]
    for level, (_, colour, width) in enumerate(CLASSES):
        parts = [part for line in drawn.lines if line.level == level for part in line.parts]
        ways = "".join(
            "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in map(frame.pixels, part)) for part in parts
        )
        if ways:
            paths.append(f'<path stroke="{colour}" stroke-width="{width}" d="{ways}"/>')
    return "".join(paths)


def _names(names: Sequence[Name], size: int) -> str:
    leads = "".join(
        f'<path stroke="{theme.INK}" stroke-width=".6" d="M{name.at[0]:.1f},{name.at[1]:.1f} '
        f'{name.label.lead[0]:.1f},{name.label.lead[1]:.1f}"/>'
        for name in names
        if name.label.is_far
    )
    texts = "".join(
        f'<text x="{name.label.x:.1f}" y="{name.label.y + size / 3:.1f}">{html.escape(name.text)}'
        "</text>"
        for name in names
    )
    return (
        f'{leads}<g font-size="{size}" text-anchor="middle" fill="{theme.INK}" stroke="#fff" '
        f'stroke-width="{size / 4:.0f}" stroke-opacity=".85" paint-order="stroke" '
        f'stroke-linejoin="round">{texts}</g>'
    )
