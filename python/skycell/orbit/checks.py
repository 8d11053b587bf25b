"""What a constellation file may not say although each of its values is allowed."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.faults import FaultCollector, Verbatim, show_value
from skycell.orbit.file import (
    FILE_PATTERNS,
    MOST_SATELLITES,
    ConstellationFile,
    DeltaPattern,
    ElementsPattern,
    Jsac98Pattern,
    SlotsPattern,
    StarPattern,
)
from skycell.orbit.file_links import planes_and_each
from skycell.orbit.fleet import Fleet

EQUATORIAL_RADIUS_KM = 6378.137
"""WGS84, NIMA TR8350.2, table 3.1."""


def check_file(file: ConstellationFile, faults: FaultCollector) -> None:
    """Notes what a file contradicts itself in, whatever satellites it has."""
    _check_pattern(file, faults)
    _check_kinds(file, faults)
    _check_access(file, faults)


def check_ends_of_links(
    file: ConstellationFile, satellites: Sequence[str], faults: FaultCollector
) -> None:
    """Notes links that the file gives and whose ends are not two of its satellites.

    Args:
        file: without a fault of `check_file`.
        satellites: their names by number.
        faults: takes them.
    """
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
    elif isinstance(pattern, FILE_PATTERNS):
        if file.earth.epoch is None:
            faults.add(
                ("earth", "epoch"),
                Verbatim("nothing"),
                "a moment of UTC, because elements and ephemerides are given for one",
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
    """Refuses more satellites of a file than there may be satellites; raises `ScenarioFaults`."""
    if count > MOST_SATELLITES:
        got = Verbatim(f"{count:,} satellites".replace(",", " "))
        allowed = f"up to {MOST_SATELLITES:,}".replace(",", " ")
        faults.add(("pattern", "file"), got, allowed, "the satellites' elements")
        faults.raise_if_any()


def _check_kinds(file: ConstellationFile, faults: FaultCollector) -> None:
    links, pattern = file.links, file.pattern
    has_planes = isinstance(pattern, Jsac98Pattern | DeltaPattern | StarPattern | ElementsPattern)
    if links.kind == "grid" and not has_planes:
        faults.add(
            ("links", "kind"),
            links.kind,
            f"none, ring or nearest, because a pattern of {pattern.kind} has no planes",
            "links between satellites",
        )
    if isinstance(pattern, ElementsPattern):
        _check_planes(file, pattern, faults)
    elif links.kind == "grid" and links.seam == "closed" and not isinstance(pattern, DeltaPattern):
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


def _check_planes(
    file: ConstellationFile, pattern: ElementsPattern, faults: FaultCollector
) -> None:
    """Notes what a grid over element sets cannot be."""
    links = file.links
    if pattern.planes is not None and pattern.node_gap is not None:
        allowed = "one of planes and node_gap"
        faults.add(("pattern", "planes"), Verbatim("both"), allowed, "planes of a grid of links")
    if links.kind != "grid":
        return
    if links.seam not in ("none", "closed"):
        allowed = "none or closed, because a pattern of elements has no known seam"
        faults.add(("links", "seam"), links.seam, allowed, "links between the last plane and first")
    if links.cross_plane_below.amount != 90:
        allowed = "90 deg: links of a grid over elements are never off"
        meaning = "latitude above which links between planes are off"
        faults.add(("links", "cross_plane_below"), str(links.cross_plane_below), allowed, meaning)


def check_planes(file: ConstellationFile, fleet: Fleet, faults: FaultCollector) -> None:
    """Notes a grid over elements whose planes nothing gives, or that do not divide the sets.

    Args:
        file: without a fault of `check_file`.
        fleet: its satellites.
        faults: takes them.
    """
    pattern, links = file.pattern, file.links
    if links.kind != "grid" or not isinstance(pattern, ElementsPattern) or pattern.node_gap:
        return
    planes, each = planes_and_each(pattern, fleet)
    sets = 1 + max(entry.place for entry in fleet.sets)
    if planes * each < sets:
        got = f"{sets} sets in {planes} planes of {each}" if planes else "a grid"
        allowed = (
            "pattern.planes or pattern.node_gap, or a first line of the file with the numbers of "
            "planes and of satellites in each"
        )
        faults.add(("links", "kind"), Verbatim(got), allowed, "links between satellites")


def _check_access(file: ConstellationFile, faults: FaultCollector) -> None:
    """Notes rules of access that need slots, or do not go with them."""
    ground = file.ground
    meaning = "which visible satellite a station uses"
    if ground.reassign is None and ground.access in ("random", "least_used"):
        allowed = "nearest, highest, longest or any; or reassign, the time between two choices"
        faults.add(("ground", "access"), ground.access, allowed, meaning)
    elif ground.reassign is not None and ground.access == "any":
        allowed = "nearest, highest, longest, random or least_used, because with reassign stations "
        allowed += "are given their satellites, whatever the path"
        faults.add(("ground", "access"), ground.access, allowed, meaning)
    if ground.reassign is not None and ground.hold is not None:
        allowed = "one of hold and reassign: what is given is held until the next time"
        faults.add(("ground", "hold"), ground.hold, allowed, "whether a satellite is kept")
