"""What a constellation file may not say although each of its values is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skycell.input.faults import FaultCollector, Path, Verbatim, show_value
from skycell.orbit.file import (
    MOST_SATELLITES,
    ConstellationFile,
    DeltaPattern,
    ElementsPattern,
    Jsac98Pattern,
    Links,
    SlotsPattern,
    StarPattern,
    longitudes_deg,
)

EQUATORIAL_RADIUS_KM = 6378.137
"""WGS84, NIMA TR8350.2, table 3.1."""


def check_file(file: ConstellationFile, faults: FaultCollector) -> None:
    """Notes what a file contradicts itself in, whatever satellites it has."""
    _check_pattern(file, faults)
    _check_kinds(file, faults)


def check_links(file: ConstellationFile, satellites: Sequence[str], faults: FaultCollector) -> None:
    """Notes links that cannot stand.

    Args:
        file: without a fault of `check_file`.
        satellites: their names by number.
        faults: takes them.
    """
    _check_given_links(file, satellites, faults)
    if not faults.faults:
        _check_heights(file, satellites, faults)


def _check_pattern(file: ConstellationFile, faults: FaultCollector) -> None:
    pattern = file.pattern
    if isinstance(pattern, SlotsPattern):
        if (pattern.count is None) == (pattern.longitudes is None):
            got = "neither" if pattern.count is None else "both"
            faults.add(
                ("pattern", "count"),
                Verbatim(got),
                "one of count and longitudes",
                "where the slots are",
            )
        elif pattern.longitudes == ():
            faults.add(
                ("pattern", "longitudes"), [], "at least one longitude", "where the slots are"
            )
    elif isinstance(pattern, ElementsPattern):
        if file.earth.epoch is None:
            faults.add(
                ("earth", "epoch"),
                Verbatim("nothing"),
                "a moment of UTC, because elements are given for one",
                "the moment that is time 0",
            )
    else:
        count = pattern.planes * pattern.satellites_per_plane
        if count > MOST_SATELLITES:
            faults.add(
                ("pattern", "planes"),
                Verbatim(f"{count:,} satellites".replace(",", " ")),
                f"up to {MOST_SATELLITES:,}".replace(",", " "),
                "P: number of orbit planes",
            )
        if isinstance(pattern, DeltaPattern) and pattern.phasing >= pattern.planes:
            faults.add(
                ("pattern", "phasing"),
                pattern.phasing,
                f"a whole number from 0 to {pattern.planes - 1} (P - 1)",
                "F: a satellite leads its neighbour in the plane to the west by F x 360 deg "
                "/ (P S)",
            )


def check_count(count: int, faults: FaultCollector) -> None:
    """Refuses more element sets than there may be satellites; raises `ScenarioFaults`."""
    if count > MOST_SATELLITES:
        got = Verbatim(f"{count:,} element sets".replace(",", " "))
        allowed = f"up to {MOST_SATELLITES:,}".replace(",", " ")
        faults.add(("pattern", "file"), got, allowed, "the satellites' elements")
        faults.raise_if_any()


def _check_kinds(file: ConstellationFile, faults: FaultCollector) -> None:
    links, pattern = file.links, file.pattern
    has_planes = isinstance(pattern, Jsac98Pattern | DeltaPattern | StarPattern)
    if links.kind == "grid" and not has_planes:
        faults.add(
            ("links", "kind"),
            links.kind,
            f"none, ring or nearest, because a pattern of {pattern.kind} has no planes",
            "links between satellites",
        )
    if links.kind == "grid" and links.seam == "closed" and not isinstance(pattern, DeltaPattern):
        faults.add(
            ("links", "seam"),
            links.seam,
            f"none, jsac98 or matched, because a pattern of {pattern.kind} has a seam",
            "links between the last plane and the first",
        )
    if file.route == "greedy" and file.ground.access == "any":
        faults.add(
            ("ground", "access"),
            file.ground.access,
            "nearest, highest or longest, because a greedy route goes toward one last satellite",
            "which visible satellite a station uses",
        )


def _check_given_links(
    file: ConstellationFile, satellites: Sequence[str], faults: FaultCollector
) -> None:
    links = file.links
    if not links.given:
        return
    known = set(satellites)
    first, last = satellites[0], satellites[-1]
    for place, pair in enumerate(links.given):
        for end, name in enumerate(pair):
            if name not in known:
                faults.add(
                    ("links", "given", place, end),
                    name,
                    f"the name of a satellite, {first} to {last}, in a pair such as "
                    f"{show_value([first, last])}",
                    "an end of a link",
                )
        if pair[0] == pair[1]:
            faults.add(
                ("links", "given", place), list(pair), "two satellites", "the ends of a link"
            )


def _check_heights(
    file: ConstellationFile, satellites: Sequence[str], faults: FaultCollector
) -> None:
    """Links whose ends keep their distance are told when they can never stand."""
    pattern, links = file.pattern, file.links
    if isinstance(pattern, SlotsPattern):
        _check_slots(links, pattern, satellites, faults)
    elif links.kind == "grid" and not isinstance(pattern, ElementsPattern):
        radius_km = EQUATORIAL_RADIUS_KM + float(pattern.altitude.amount)
        _check_chord(links, radius_km, 360.0 / pattern.satellites_per_plane, ("links",), faults)


def _check_slots(
    links: Links, pattern: SlotsPattern, satellites: Sequence[str], faults: FaultCollector
) -> None:

    places = longitudes_deg(pattern)
    numbers = {name: number for number, name in enumerate(satellites)}
    radius_km = float(pattern.radius.amount)
    if links.kind == "ring":
        for number, longitude in enumerate(places):
            apart = places[(number + 1) % len(places)] - longitude
            if len(places) > 1 and not _check_chord(
                links, radius_km, apart, ("links", "kind"), faults
            ):
                break
    for place, (a, b) in enumerate(links.given):
        apart = places[numbers[b]] - places[numbers[a]]
        _check_chord(links, radius_km, apart, ("links", "given", place), faults)


def _check_chord(
    links: Links,
    radius_km: float,
    apart_deg: float,
    path: Path,
    faults: FaultCollector,
) -> bool:
    """Whether a link between two satellites of one circle can stand; a fault if not."""
    half = math.radians(abs((apart_deg + 180.0) % 360.0 - 180.0)) / 2
    length_km = 2 * radius_km * math.sin(half)
    height_km = radius_km * math.cos(half) - EQUATORIAL_RADIUS_KM
    floor_km = 0.0 if links.clearance is None else float(links.clearance.amount)
    if height_km < floor_km:
        got = f"a link of {length_km:.0f} km that comes to {height_km:.0f} km above the earth"
        allowed = f"links that stay {floor_km:g} km above it, with more satellites or others"
        faults.add(path, Verbatim(got), allowed, "a straight line between two satellites")
        return False
    if links.max_length is not None and length_km > float(links.max_length.amount):
        got = f"a link of {length_km:.0f} km"
        faults.add(path, Verbatim(got), f"up to {links.max_length} (max_length)", "a link")
        return False
    return True
