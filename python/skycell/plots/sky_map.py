"""A map of the world with the links of a constellation that carried packets, by their load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND, counted
from skycell.plots import theme
from skycell.plots.figure import Figure, NothingToDrawError, Origin
from skycell.plots.label_placement import HEIGHT as LABEL_HEIGHT
from skycell.plots.label_placement import Label, place
from skycell.plots.labels import place_name, sentences
from skycell.plots.text_metrics import text_width
from skycell.plots.world import EDGE, GRATICULE, LAND, OCEAN, Point, land_data, way
from skycell.records.sky import (
    DELAYS,
    PATHS,
    POSITIONS,
    SECONDS,
    fullest_second,
    links_at,
    satellites_of,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from skycell.records.result import RunResult

WIDTH = 700
"""Width of the map, pixels."""
SOUTH, NORTH = -58.0, 76.0
"""Latitudes that a map reaches at least, degrees: all coasts but those of the poles."""
CLASSES = (
    ("below 20 %", "#8ebbdc", 1.3),
    ("20 to 40 %", "#4a8fc2", 1.7),
    ("40 to 60 %", "#7a5ea8", 2.1),
    ("60 to 80 %", "#b8366f", 2.6),
    ("80 % and more", "#740d28", 3.2),
)
"""Classes of load with colour and width of a line; they darken, so that grey print tells them."""
MEANING = (
    "Colour and width: part of the second in which the link was busy, of the busier of its two "
    "directions. Links without traffic are not drawn."
)
"""What a caption says of the lines."""
MANY = 400
"""More satellites than this are smaller points."""
FONT_SIZE = 12
"""Of names on the map, pixels."""
MOST_NAMED = 24
"""Stations with a name on the map, those whose links are fullest."""
_MARK = 3.0
"""Half the width of a station's mark, pixels."""
_FULLEST = 3
"""Links with a name on the map."""
_LISTED = 5
"""Links with a name in the caption."""


@dataclass(frozen=True)
class Line:
    """A link between two nodes, in both directions.

    Attributes:
        name: of the port with the greater load.
        load: of that port in the second, from 0 to about 1.
        mbps: of IP packets over that port.
        back: load of the opposite direction; 0 if nothing went there.
        parts: way over the ground, cut at 180 degrees.
        ends: names of the two nodes.
    """

    name: str
    load: float
    mbps: float
    back: float
    parts: tuple[tuple[Point, ...], ...]
    ends: tuple[str, str]

    @property
    def as_row(self) -> dict[str, Any]:
        """Its class of load and its values, as a chart has them."""
        return {
            "busy": CLASSES[self.level][0],
            "link": self.name,
            "load": round(self.load, 4),
            "back": round(self.back, 4),
            "mbps": round(self.mbps, 4),
        }

    @property
    def level(self) -> int:
        """Number of its class of load."""
        return min(int(self.load * len(CLASSES)), len(CLASSES) - 1)

    @property
    def middle(self) -> Point:
        """A point on its way, half of its points along."""
        points = max(self.parts, key=len)
        if len(points) % 2:
            return points[len(points) // 2]
        (ax, ay), (bx, by) = points[len(points) // 2 - 1 : len(points) // 2 + 1]
        return (ax + bx) / 2, (ay + by) / 2

    @property
    def in_words(self) -> str:
        """Its name and load, such as ``24-9>24-8 99 %``."""
        return f"{self.name} {100 * self.load:.0f}\u00a0%"


@dataclass(frozen=True)
class SkyMap:
    """What a map shows of one second.

    Attributes:
        second: since the start of the run.
        positions_of: the second whose positions are drawn.
        lines: links that carried packets, the fullest last.
        satellites: name and point of each.
        stations: name and point of each.
    """

    second: int
    positions_of: int
    lines: tuple[Line, ...]
    satellites: Mapping[str, Point]
    stations: Mapping[str, Point]

    @property
    def fullest(self) -> tuple[Line, ...]:
        """Links by load, the fullest first; of several links of one port, one."""
        return tuple({line.name: line for line in reversed(self.lines)}.values())


def refuse_without_tables(result: RunResult) -> None:
    """Raises `NothingToDrawError` for a run whose positions or paths were not kept."""
    missing = [name for name in (SECONDS, POSITIONS, PATHS, DELAYS) if name not in result.traces]
    if missing:
        raise NothingToDrawError(f"the result has no table {missing[0]}; run the scenario again")


def sky_map(result: RunResult, second: int) -> SkyMap:
    """The map of a second of a run."""
    import polars as pl

    positions: pl.DataFrame = result.traces[POSITIONS]
    known = positions["second"].unique().to_list()
    shown = min(known, key=lambda other: (abs(other - second), other))
    at = positions.filter(pl.col("second") == shown)
    satellites = set(satellites_of(result.spec))
    points = {
        name: (longitude, latitude)
        for name, longitude, latitude in at.select(
            "node", "longitude_deg", "latitude_deg"
        ).iter_rows()
    }
    lines = _lines(links_at(result.spec, result.traces, second), points)
    return SkyMap(
        second,
        shown,
        tuple(sorted(lines, key=lambda line: (line.load, line.name))),
        {name: point for name, point in points.items() if name in satellites},
        {name: point for name, point in points.items() if name not in satellites},
    )


def _lines(links: pl.DataFrame, points: Mapping[str, Point]) -> Iterable[Line]:
    both: dict[frozenset[str], list[dict[str, Any]]] = {}
    for row in links.iter_rows(named=True):
        if row["from"] in points and row["to"] in points:
            both.setdefault(frozenset((row["from"], row["to"])), []).append(row)
    for rows in both.values():
        fullest = max(rows, key=lambda row: row["load"])
        back = [row["load"] for row in rows if row["from"] == fullest["to"]]
        start, end = points[fullest["from"]], points[fullest["to"]]
        parts = tuple(tuple(part) for part in way(start, end))
        ends = (fullest["from"], fullest["to"])
        found = fullest["link"], fullest["load"], fullest["mbps"], max(back, default=0.0)
        yield Line(*found, parts, ends)


@dataclass(frozen=True)
class Frame:
    """The part of the world that a map shows, and where its points are.

    Attributes:
        south: lowest latitude, degrees.
        north: highest latitude, degrees.
    """

    south: float
    north: float

    @classmethod
    def of(cls, points: Iterable[Point]) -> Frame:
        """The frame that has all points and all coasts but those of the poles."""
        latitudes = [latitude for _, latitude in points]
        south = min(SOUTH, min(latitudes, default=SOUTH) - 3)
        north = max(NORTH, max(latitudes, default=NORTH) + 3)
        return cls(max(south, -90.0), min(north, 90.0))

    @property
    def height(self) -> int:
        """Pixels: a degree is as high as it is wide."""
        return round(WIDTH * (self.north - self.south) / 360)

    def pixels(self, point: Point) -> tuple[float, float]:
        """Where a point is, from the left and from the top."""
        longitude, latitude = point
        scale = WIDTH / 360
        return (longitude + 180) * scale, (self.north - latitude) * scale


@dataclass(frozen=True)
class Name:
    """A name on a map.

    Attributes:
        text: the name.
        at: its point, pixels.
        label: where it stands.
        is_link: whether it is the name of a link.
    """

    text: str
    at: tuple[float, float]
    label: Label
    is_link: bool


def names_on(
    drawn: SkyMap, frame: Frame, size: float = FONT_SIZE, links: int = _FULLEST
) -> list[Name]:
    """Names of the fullest links and of stations, none of which covers another.

    Args:
        drawn: the map.
        frame: where its points are.
        size: of the letters, pixels.
        links: that have a name.
    """
    loads: dict[str, float] = {}
    for line in drawn.lines:
        for end in line.ends:
            loads[end] = max(loads.get(end, 0.0), line.load)
    stations = sorted(drawn.stations, key=lambda name: (-loads.get(name, 0.0), name))
    entries = [(line.in_words, frame.pixels(line.middle), True) for line in drawn.fullest[:links]]
    entries += [
        (place_name(name), frame.pixels(drawn.stations[name]), False)
        for name in stations[:MOST_NAMED]
    ]
    scale = size / LABEL_HEIGHT  # labels are placed as if they were of the usual height
    labels = place(
        [(x / scale, y / scale) for _, (x, y), _ in entries],
        [text_width(text, size) / scale + 2 for text, _, _ in entries],
        WIDTH / scale,
        frame.height / scale,
    )
    found: list[Name] = []
    marks = [frame.pixels(point) for point in drawn.stations.values()]
    taken = [((x, y), (x - _MARK, y - _MARK, x + _MARK, y + _MARK)) for x, y in marks]
    for (text, at, is_link), label in zip(entries, labels, strict=True):
        x, y = label.x * scale, label.y * scale
        half, high = text_width(text, size) / 2 + 1, size / 2
        box = (x - half, y - high, x + half, y + high)
        if box[0] < 0 or box[2] > WIDTH or box[1] < 0 or box[3] > frame.height:
            continue
        if any(_overlap(box, other) for own, other in taken if own != at):
            continue
        taken.append(((x, y), box))
        lead = (label.lead[0] * scale, label.lead[1] * scale)
        found.append(Name(text, at, Label(x, y, label.is_far, lead), is_link))
    return found


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def map_figure(result: RunResult, origin: Origin, second: int | None = None) -> Figure:
    """The world with satellites, stations, and links by their load in one second.

    Args:
        result: the run.
        origin: the run.
        second: since the start of the run; that in which most octets left all ports if None.

    Raises:
        NothingToDrawError: the result has no positions, or the second is none of the run.
    """
    import altair as alt

    drawn = map_at(result, second)
    frame = Frame.of([*drawn.satellites.values(), *drawn.stations.values()])
    names = names_on(drawn, frame)
    chart = (
        alt.layer(*_ground(frame), *_sky(frame, many=len(drawn.satellites) > MANY))
        .properties(width=WIDTH, height=frame.height)
        .resolve_scale(color="independent", size="independent")
    )
    return Figure(
        name="map",
        title=title_of(drawn),
        subtitle=in_brief(drawn),
        chart=chart,
        caption=caption_of(drawn, names),
        origin=origin,
        description=(
            f"A map of the world with links by load. {in_brief(drawn)}. {fullest_of(drawn)}"
        ),
        datasets=_datasets(drawn, frame, names),
    )


def title_of(drawn: SkyMap) -> str:
    """The title of a figure of a second."""
    return f"Links with traffic, {drawn.second} to {drawn.second + 1} s"


def map_at(result: RunResult, second: int | None) -> SkyMap:
    """The map of a second, or of that in which most octets left all ports.

    Raises:
        NothingToDrawError: the result has no positions, or the second is none of the run.
    """
    refuse_without_tables(result)
    last = -(-result.spec.duration_ps // PS_PER_SECOND) - 1
    if second is None:
        second = fullest_second(result.traces)
    elif second > last:
        raise NothingToDrawError(f"the run has the seconds 0 to {last}, and none from {second} s")
    return sky_map(result, second)


def in_brief(drawn: SkyMap) -> str:
    """How much is on a map."""
    full = sum(line.level == len(CLASSES) - 1 for line in drawn.lines)
    return (
        f"{counted(len(drawn.satellites), 'satellite')}, {counted(len(drawn.stations), 'station')}"
        f", {counted(len(drawn.lines), 'link')} with traffic, {full} of them busy for 80 % or more"
    )


def fullest_of(drawn: SkyMap) -> str:
    """A sentence that names the fullest links."""
    if not drawn.lines:
        return "No link carried a packet."
    fullest = ", ".join(
        f"{line.in_words} ({line.mbps:.3g}\u00a0Mbit/s)" for line in drawn.fullest[:_LISTED]
    )
    return f"Fullest: {fullest}."


def caption_of(drawn: SkyMap, names: Sequence[Name]) -> tuple[str, ...]:
    """What is drawn how, which links are fullest, and what has no name."""
    named = sum(not name.is_link for name in names)
    left_out = f"Named: {named} of {len(drawn.stations)} stations."
    moved = f"Positions: those at {drawn.positions_of} s."
    return sentences(
        MEANING,
        fullest_of(drawn),
        "Squares: stations; grey points: satellites.",
        left_out if named < len(drawn.stations) else None,
        moved if drawn.positions_of != drawn.second else None,
        "Coastlines: Natural Earth.",
    )


def _datasets(drawn: SkyMap, frame: Frame, names: Sequence[Name]) -> dict[str, Any]:
    rows = []
    for number, line in enumerate(drawn.lines):
        for place_, part in enumerate(line.parts):
            for step, point in enumerate(part):
                x, y = frame.pixels(point)
                rows.append(
                    {
                        "part": f"{number}.{place_}",
                        "step": step,
                        "x": round(x, 1),
                        "y": round(y, 1),
                        **line.as_row,
                    }
                )
    return {
        "links": rows,
        "satellites": [_row(name, frame.pixels(at)) for name, at in drawn.satellites.items()],
        "stations": [
            _row(place_name(name), frame.pixels(at)) for name, at in drawn.stations.items()
        ],
        "names": [
            {
                **_row(name.text, (name.label.x, name.label.y)),
                "is_link": name.is_link,
                "is_far": name.label.is_far,
                "from_x": round(name.at[0], 1),
                "from_y": round(name.at[1], 1),
                "lead_x": round(name.label.lead[0], 1),
                "lead_y": round(name.label.lead[1], 1),
            }
            for name in names
        ],
    }


def _row(name: str, at: tuple[float, float]) -> dict[str, Any]:
    return {"name": name, "x": round(at[0], 1), "y": round(at[1], 1)}


def _ground(frame: Frame) -> list[alt.Chart]:
    import altair as alt

    scale = WIDTH / 360
    projection: dict[str, Any] = {
        "type": "equirectangular",
        "scale": WIDTH / 6.283185307179586,
        "translate": [WIDTH / 2, frame.north * scale],
    }
    layers = [
        alt.Chart(alt.sphere()).mark_geoshape(fill=OCEAN, clip=True),
        alt.Chart(land_data()).mark_geoshape(fill=LAND, stroke=EDGE, strokeWidth=0.6, clip=True),
        alt.Chart(alt.graticule(step=[30, 30])).mark_geoshape(
            filled=False, stroke=GRATICULE, strokeWidth=0.4, opacity=0.35, clip=True
        ),
    ]
    return [layer.project(**projection) for layer in layers]


def by_load() -> dict[str, Any]:
    """How a line of a chart shows its load: colour, width, and values under the pointer."""
    import altair as alt

    classes = [name for name, _, _ in CLASSES]
    return {
        "color": alt.Color(
            "busy:N",
            title="Busy in the second",
            scale=alt.Scale(domain=classes, range=[colour for _, colour, _ in CLASSES]),
            legend=alt.Legend(
                symbolType="stroke", symbolStrokeWidth=4, symbolSize=200, symbolOpacity=1
            ),
        ),
        "strokeWidth": alt.StrokeWidth(
            "busy:N",
            scale=alt.Scale(domain=classes, range=[width for _, _, width in CLASSES]),
            legend=None,
        ),
        "tooltip": [
            alt.Tooltip("link:N", title="link"),
            alt.Tooltip("load:Q", title="busy", format=".1%"),
            alt.Tooltip("back:Q", title="opposite direction", format=".1%"),
            alt.Tooltip("mbps:Q", title="Mbit/s", format=".4~g"),
        ],
    }


def _sky(frame: Frame, many: bool) -> list[alt.Chart]:
    import altair as alt

    def at(dataset: str, x: str = "x", y: str = "y") -> alt.Chart:
        across = alt.Scale(domain=[0, WIDTH], range=[0, WIDTH], nice=False, zero=False)
        down = alt.Scale(domain=[0, frame.height], range=[0, frame.height], nice=False, zero=False)
        return alt.Chart(alt.NamedData(name=dataset)).encode(
            x=alt.X(f"{x}:Q", scale=across, axis=None),
            y=alt.Y(f"{y}:Q", scale=down, axis=None),
        )

    layers = [
        at("satellites")
        .mark_circle(size=5 if many else 14, color=theme.MUTED, opacity=0.4)
        .encode(tooltip=alt.Tooltip("name:N", title="satellite")),
        at("links")
        .mark_line(strokeCap="round", clip=True)
        .encode(detail="part:N", order="step:Q", **by_load()),
        at("names", "from_x", "from_y")
        .transform_filter("datum.is_far")
        .mark_rule(color=theme.INK, strokeWidth=0.6)
        .encode(x2="lead_x:Q", y2="lead_y:Q"),
        at("stations")
        .mark_square(size=26, color=theme.INK, opacity=1, stroke="white", strokeWidth=0.8)
        .encode(tooltip=alt.Tooltip("name:N", title="station")),
    ]
    text = at("names").encode(text="name:N")
    base: dict[str, Any] = {"fontSize": FONT_SIZE, "align": "center", "baseline": "middle"}
    for is_link, weight, ink in ((False, 400, theme.INK), (True, 600, CLASSES[-1][1])):
        base["fontWeight"] = weight
        own = text.transform_filter(f"datum.is_link === {str(is_link).lower()}")
        layers.append(own.mark_text(**base, stroke="white", strokeWidth=3, opacity=0.85))
        layers.append(own.mark_text(**base, color=ink))
    return layers
