"""A constellation file as it is written: pattern, links, earth and ground."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from skycell.input.parameters import (
    Flag,
    Parameters,
    ValueType,
    param,
    quantity,
    when,
    whole_number,
    word,
)
from skycell.input.quantities import Dimension, Quantity, Refused, parse_quantity
from skycell.orbit.selection import Chosen

MOST_SATELLITES = 100_000
FARTHEST_BY_DEFAULT_S = 336 * 3600.0
"""From an epoch to which elements are used without a word."""
_TEN_YEARS_PS = 3653 * 86_400 * 10**12

Altitude = Annotated[
    Quantity, quantity(Dimension.DISTANCE, low=100, high=1_000_000, example="780 km")
]
Radius = Annotated[
    Quantity, quantity(Dimension.DISTANCE, low=6_478, high=1_000_000, example="42164 km")
]
Length = Annotated[
    Quantity, quantity(Dimension.DISTANCE, above=0, high=1_000_000, example="5000 km")
]
Height = Annotated[Quantity, quantity(Dimension.DISTANCE, low=0, high=10_000, example="80 km")]
Inclination = Annotated[Quantity, quantity(Dimension.ANGLE, low=0, high=180, example="86 deg")]
Node = Annotated[Quantity, quantity(Dimension.ANGLE, above=0, high=360, example="5 deg")]
Exclusion = Annotated[Quantity, quantity(Dimension.ANGLE, low=0, high=90, example="18 deg")]
Extra = Annotated[Quantity, quantity(Dimension.TIME, high=10**12, example="2 ms")]
Period = Annotated[
    Quantity, quantity(Dimension.TIME, low=10**9, high=86_400 * 10**12, example="15 s")
]
Phase = Annotated[Quantity, quantity(Dimension.TIME, high=86_400 * 10**12, example="12 s")]
Turn = Annotated[Quantity, quantity(Dimension.ANGLE, low=-360, high=360, example="31.6 deg")]
Latitude = Annotated[Quantity, quantity(Dimension.ANGLE, low=0, high=90, example="60 deg")]
Elevation = Annotated[Quantity, quantity(Dimension.ANGLE, low=-90, high=90, example="10 deg")]
Speed = Annotated[
    Quantity, quantity(Dimension.SPEED, above=0, high=1_000_000, example="299792.458 km/s")
]
Offset = Annotated[Quantity, quantity(Dimension.TIME, low=-(10**12), high=10**12, example="50 ms")]


def _read_epoch(value: Any) -> int:
    """Nanoseconds of UTC since 1970."""
    from datetime import UTC, datetime, timedelta

    if not isinstance(value, str):
        raise Refused("")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise Refused("") from None
    if moment.tzinfo is None or moment.utcoffset() != timedelta(0):
        raise Refused("the zone is missing; write Z for UTC")
    if not 1958 <= moment.year <= 2100:
        raise Refused("")
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 1000:
        raise Refused("")
    return value


def _read_pair(value: Any) -> tuple[str, str]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Refused("")
    if not all(isinstance(name, str) for name in value):
        raise Refused("")
    return value[0], value[1]


def _read_sector(value: Any) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise Refused("")
    degrees = []
    for text, (low, high) in zip(value, ((0, 360), (-90, 90)), strict=True):
        read = parse_quantity(text) if isinstance(text, str) else None
        if read is None or read.dimension is not Dimension.ANGLE or not low <= read.amount <= high:
            raise Refused("")
        degrees.append(float(read.amount))
    return degrees[0], degrees[1]


Sector = Annotated[
    tuple[float, float],
    ValueType(
        'an azimuth from 0 to 360 deg and an elevation, such as ["90 deg", "40 deg"], so that the '
        'list is [["90 deg", "40 deg"], ["180 deg", "10 deg"]]',
        _read_sector,
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    ),
]
Pair = Annotated[
    tuple[str, str],
    ValueType(
        'a pair of names, such as ["1-1", "2-1"], so that the list is [["1-1", "2-1"]]',
        _read_pair,
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    ),
]
Epoch = Annotated[
    int,
    ValueType(
        'a moment of UTC from 1958 to 2100, such as "2026-11-21T12:00:00Z"',
        _read_epoch,
        {"type": "string", "format": "date-time"},
    ),
]
Text = Annotated[str, ValueType("a text of up to 1000 letters", _read_text, {"type": "string"})]
Count = Annotated[int, whole_number(1, 1000)]


class _Planes(Parameters):
    planes: Count = param(..., "number of orbit planes", symbol="P")
    satellites_per_plane: Count = param(..., "satellites in each plane, equally spaced", symbol="S")
    altitude: Altitude = param(..., "altitude of the circular orbits above the equatorial radius")
    inclination: Inclination = param(..., "inclination of the orbits")


class Jsac98Pattern(_Planes):
    """The pattern of the JSAC paper: right ascension correction and inter-plane phasing."""

    kind: Literal["jsac98"] = param(..., "the pattern")


class DeltaPattern(_Planes):
    """Walker's delta: ascending nodes around the whole equator."""

    kind: Literal["delta"] = param(..., "the pattern")
    phasing: Annotated[int, whole_number(0, 999)] = param(
        ...,
        "a satellite leads its neighbour in the plane to the west by F x 360 deg / (P S)",
        symbol="F",
    )
    alternating: Flag = param(
        False,
        "whether this lead is that of every second plane over the planes on both of its sides, "
        "there and back; otherwise each plane leads the one to its west",
        source="Walker's delta; Hypatia's Kuiper and Starlink (generate_tles_from_scratch.py, "
        "phase_diff) alternate by half of the spacing in a plane, which is F = P / 2",
    )


class StarPattern(_Planes):
    """Walker's star: ascending nodes around half of the equator, with a seam."""

    kind: Literal["star"] = param(..., "the pattern")
    raan_step: Turn | None = param(
        None, "angle between ascending nodes of neighbouring planes", source="180 deg / P"
    )
    phase_step: Turn | None = param(
        None,
        "angle by which a satellite leads its neighbour in the plane to the west",
        source="half of the spacing in a plane, 180 deg / S",
    )


class SlotsPattern(Parameters):
    """Satellites fixed over places on the equator: `count` in a ring, or at given longitudes."""

    kind: Literal["slots"] = param(..., "the pattern")
    radius: Radius = param(
        "42164 km",
        "distance from the centre of the earth",
        source="the orbit with a period of a sidereal day",
    )
    count: Count | None = param(
        None, "number of satellites, evenly spaced, the first over longitude 0"
    )
    longitudes: tuple[Turn, ...] | None = param(
        None, "longitudes of the satellites, east positive; instead of count"
    )


class _SatellitesOfFile(Parameters):
    select: tuple[Chosen, ...] = param(
        [], "the satellites of the file that are used, by name or catalogue number", source="all"
    )
    exclude: tuple[Chosen, ...] = param([], "those of them that are not used", source="none")
    faulty: Annotated[str, word("refuse", "leave_out")] = param(
        "refuse",
        "what satellites that cannot be used do to the others: nothing is computed (refuse), or "
        "they are left out with a report (leave_out)",
        source="choice: a file is what it says",
    )


class ElementsPattern(_SatellitesOfFile):
    """Satellites given by mean elements, which SGP4 moves."""

    kind: Literal["elements"] = param(..., "the pattern")
    file: Text = param(
        ..., "a file of TLE, or OMM as CSV, JSON, XML or KVN; relative to this file's folder"
    )
    planes: Count | None = param(
        None,
        "planes of a grid of links, each as many sets as the others, in the order of the file",
        source="as the file counts them in its first line, as Hypatia's tles.txt does",
    )
    node_gap: Node | None = param(
        None,
        "planes of a grid of links: sets belong to one plane as long as the next ascending node at "
        "time 0 is no farther away; instead of planes",
    )
    farthest: Annotated[
        Quantity, quantity(Dimension.TIME, above=0, high=_TEN_YEARS_PS, example="336 h")
    ] = param(
        "336 h",
        "longest time between an element set's epoch and a moment that is asked for",
        source="choice: SGP4 is off by kilometres after two weeks (Vallado et al., AIAA 2006-6753)",
    )


class EphemerisPattern(_SatellitesOfFile):
    """Satellites given by their states at moments, between which is interpolated."""

    kind: Literal["ephemeris"] = param(..., "the pattern")
    file: Text = param(
        ...,
        "a file of OEM as KVN or XML, or one of SpaceX's (MEME_*.txt); relative to this file's "
        "folder",
    )
    max_error: Length = param(
        "10 km",
        "largest distance of an interpolated position from where the states on either side lead",
        source="choice: kilometres, by which SGP4 is off after two weeks (AIAA 2006-6753); 10 km "
        "are 33 us, and 1 degree of elevation for a satellite 550 km above",
    )


#: Patterns whose satellites stand in a file, for moments of UTC.
FILE_PATTERNS = (ElementsPattern, EphemerisPattern)

Pattern = Annotated[
    Jsac98Pattern | DeltaPattern | StarPattern | SlotsPattern | ElementsPattern | EphemerisPattern,
    Field(discriminator="kind"),
]


class Links(Parameters):
    """Links between satellites."""

    kind: Annotated[str, word("none", "ring", "grid", "nearest")] = param(
        "none",
        "which satellites are linked: none; each with the next in its list (ring); each with "
        "those ahead and behind and one in each neighbouring plane (grid); or by the "
        "shortest links (nearest)",
        source="a satellite without links only relays what the earth sends",
    )
    seam: Annotated[str, word("none", "closed", "jsac98", "matched")] = param(
        "none",
        "links of a grid between the last plane and the first: none, as between other planes "
        "(closed), the pairs of the JSAC tables (jsac98), or the pairs with the shortest "
        "total length (matched)",
        source="planes across a seam move against each other",
    )
    cross_plane_below: Latitude = param(
        "90 deg", "latitude above which links between planes are off", source="never off"
    )
    count: Annotated[int, whole_number(1, 100)] = param(
        4,
        "largest number of links of a satellite if kind is nearest",
        source="as many as in a grid",
    )
    max_length: Length | None = param(None, "longest link", source="no limit")
    clearance: Height = param(
        "0 km",
        "smallest height of a link above the equatorial radius; a link that comes lower does not "
        "exist at that moment",
        source="a straight line does not pass through the earth; 80 km keeps it above the denser "
        "atmosphere, as in Hypatia",
    )
    given: tuple[Pair, ...] = param([], "further links, each a pair of satellites' names")
    file: Text | None = param(
        None,
        "a file of further links, a pair of satellites on each line: their places in the file of "
        "satellites, from 0, as in Hypatia's isls.txt; relative to this file's folder",
        source="none",
    )
    satellite_delay: Extra = param(
        "0 s", "time in each satellite of a path, beside the way of light", source="none"
    )


class Earth(Parameters):
    """The earth and the speed of light."""

    shape: Annotated[str, word("sphere", "wgs84")] = param(
        "wgs84",
        "the surface on which places are; the sphere has WGS84's equatorial radius",
        source="NIMA TR8350.2",
    )
    light_speed: Speed = param(
        "299792.458 km/s",
        "propagation speed of radio signals and on links between satellites",
        source="SI",
    )
    epoch: Epoch | None = param(
        None,
        "moment of time 0; ties the earth's rotation to sidereal time",
        source="without it the prime meridian is at the first axis of the orbits at time 0",
    )
    ut1_minus_utc: Offset = param(
        "0 s",
        "UT1 - UTC at the epoch, from the earth rotation service",
        source="below 0.9 s by definition",
    )


class Ground(Parameters):
    """What stations on the ground see and use."""

    mask: Elevation = param(
        "0 deg", "elevation from which a satellite is visible", source="the horizon"
    )
    max_range: Length | None = param(
        None, "longest slant range at which a satellite is visible", source="no limit"
    )
    horizon: tuple[Sector, ...] = param(
        [],
        "higher masks by direction: pairs of an azimuth, clockwise from north, and the mask from "
        "there on, up to the next one",
        source="the same mask all around",
    )
    gso_exclusion: Exclusion = param(
        "0 deg",
        "smallest angle from the geostationary orbit at which a satellite is visible",
        source="none",
    )
    places: Text | None = param(
        None,
        "a file of places, which may have masks of their own, relative to this file's folder; or a "
        "built-in list: cities-100 or cities-1000",
        source="the built-in cities",
    )
    frame_delay: Extra = param(
        "0 s",
        "time that each link to or from the ground takes beside the way of light, such as a wait "
        "for the scheduler's frame",
        source="none",
    )
    access: Annotated[str, word("nearest", "highest", "longest", "any", "random", "least_used")] = (
        param(
            "nearest",
            "which visible satellite a station uses; any: whichever makes the path shortest; with "
            "reassign also random, and least_used: that which the fewest of the places before have "
            "been given",
            source="NASA/CR-1999-209158, part III.A, section 5.2.2",
        )
    )
    reassign: Period | None = param(
        None,
        "stations are given their satellites once in this time, and keep them until the next",
        source="a station changes its satellite at any moment",
    )
    phase: Phase = param(
        "0 s",
        "when that happens: so long after whole multiples of reassign, counted from 1970 UTC with "
        "earth.epoch, from time 0 without",
        source="at the multiples",
        when=when("reassign"),
    )
    seed: Annotated[int, whole_number(0, 2**32 - 1)] = param(
        1, "of the random choice", source="choice", when=when("access", "random")
    )
    hold: Flag | None = param(
        None,
        "whether a station keeps its satellite as long as it is visible",
        source="only if access is longest",
    )


class ConstellationFile(Parameters):
    """A constellation and how paths are found over it."""

    title: Text | None = param(None, "name for pictures and tables")
    pattern: Pattern = param(..., "where the satellites are")
    links: Links = param({}, "which of them are linked", source="every parameter's own default")
    earth: Earth = param({}, "the earth", source="every parameter's own default")
    ground: Ground = param({}, "the stations", source="every parameter's own default")
    route: Annotated[str, word("shortest", "greedy")] = param(
        "shortest",
        "the path with the smallest delay (shortest), or always on to the linked satellite "
        "nearest to the last one (greedy)",
        source="choice: the greedy route is that of the JSAC paper",
    )


def longitudes_deg(pattern: SlotsPattern) -> list[float]:
    """Where the satellites of slots stand, east positive."""
    if pattern.longitudes is not None:
        return [float(longitude.amount) for longitude in pattern.longitudes]
    count = pattern.count or 0
    return [360.0 * place / count for place in range(count)]
