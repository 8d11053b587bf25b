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
    whole_number,
    word,
)
from skycell.input.quantities import Dimension, Quantity, Refused

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


class ElementsPattern(Parameters):
    """Satellites given by mean elements, which SGP4 moves."""

    kind: Literal["elements"] = param(..., "the pattern")
    file: Text = param(
        ..., "a file of TLE, or OMM as CSV, JSON, XML or KVN; relative to this file's folder"
    )
    farthest: Annotated[
        Quantity, quantity(Dimension.TIME, above=0, high=_TEN_YEARS_PS, example="336 h")
    ] = param(
        "336 h",
        "longest time between an element set's epoch and a moment that is asked for",
        source="choice: SGP4 is off by kilometres after two weeks (Vallado et al., AIAA 2006-6753)",
    )


Pattern = Annotated[
    Jsac98Pattern | DeltaPattern | StarPattern | SlotsPattern | ElementsPattern,
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
    clearance: Height | None = param(
        None,
        "smallest height of a link above the equatorial radius",
        source="none: links are not checked against the earth",
    )
    given: tuple[Pair, ...] = param([], "further links, each a pair of satellites' names")


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
    access: Annotated[str, word("nearest", "highest", "longest", "any")] = param(
        "nearest",
        "which visible satellite a station uses; any: whichever makes the path shortest",
        source="NASA/CR-1999-209158, part III.A, section 5.2.2",
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
