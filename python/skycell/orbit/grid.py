"""Links of a file's satellites: those of a grid over planes, and those that a file lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.orbit.elements import ElementSet

_MU_KM3_S2 = 398_600.8
_RADIUS_KM = 6378.135
_J2 = 1.082616e-3
"""WGS72, as in SGP4 (AIAA 2006-6753, appendix B)."""
_DAY_S = 86_400.0


def counted_planes(sets: Sequence[ElementSet], planes: int, each: int) -> list[list[int]]:
    """The satellites of each plane by their place in the file; missing sets leave gaps."""
    found: list[list[int]] = [[] for _ in range(planes)]
    for number, entry in enumerate(sets):
        if entry.place < planes * each:
            found[entry.place // each].append(number)
    return found


def planes_by_node(
    sets: Sequence[ElementSet], gap_deg: float, epoch_unix_s: float
) -> list[list[int]]:
    """Satellites in planes by their ascending nodes at a moment, in each by argument of latitude.

    Nodes move as the earth's oblateness turns them; a plane ends where the next node is farther
    away than the gap.
    """
    places = [_place_at(entry, epoch_unix_s) for entry in sets]
    order = sorted(range(len(sets)), key=lambda number: (places[number][0], number))
    planes: list[list[int]] = []
    for before, number in zip([None, *order], order, strict=False):
        is_near = before is not None and places[number][0] - places[before][0] <= gap_deg
        if is_near:
            planes[-1].append(number)
        else:
            planes.append([number])
    first, last = planes[0], planes[-1]
    if len(planes) > 1 and places[first[0]][0] + 360 - places[last[-1]][0] <= gap_deg:
        planes = [last + first, *planes[1:-1]]
    return [sorted(plane, key=lambda number: (places[number][1], number)) for plane in planes]


def _place_at(entry: ElementSet, epoch_unix_s: float) -> tuple[float, float]:
    """Ascending node and argument of latitude at a moment, degrees from 0 to 360.

    Source: the secular terms of J2 (Vallado, Fundamentals of Astrodynamics, section 9.6).
    """
    omm = entry.omm
    rate = float(omm["MEAN_MOTION"]) * 2 * math.pi / _DAY_S
    axis_km = (_MU_KM3_S2 / rate**2) ** (1 / 3)
    cosine = math.cos(math.radians(float(omm["INCLINATION"])))
    parameter = axis_km * (1 - float(omm["ECCENTRICITY"]) ** 2)
    factor = 0.75 * _J2 * (_RADIUS_KM / parameter) ** 2 * rate
    since_s = epoch_unix_s - entry.epoch_unix_s
    node = float(omm["RA_OF_ASC_NODE"]) + math.degrees(-2 * factor * cosine * since_s)
    pericenter = math.degrees(factor * (5 * cosine**2 - 1) * since_s)
    anomaly = math.degrees(rate * since_s)
    along = float(omm["ARG_OF_PERICENTER"]) + float(omm["MEAN_ANOMALY"]) + pericenter + anomaly
    return node % 360.0, along % 360.0


def grid_pairs(
    planes: Sequence[Sequence[int]], closed: bool, nearest: Sequence[float] | None = None
) -> list[tuple[int, int]]:
    """Pairs of linked satellites: around each plane, and from each plane to the next one.

    Args:
        planes: satellites in their order.
        closed: whether the last plane is linked with the first.
        nearest: argument of latitude of each satellite: those of two planes are then linked with
            the nearest in it, the nearest pairs first and none twice; if not given, by their place.
    """
    pairs = []
    for plane in planes:
        around = zip(plane, [*plane[1:], plane[0]], strict=True)
        pairs += [(a, b) for a, b in around if a != b][: None if len(plane) > 2 else 1]
    beside = list(pairwise(planes))
    if closed and len(planes) > 2:
        beside.append((planes[-1], planes[0]))
    for plane, other in beside:
        if nearest is None:
            pairs += list(zip(plane, other, strict=False))
        else:
            pairs += _nearest_pairs(plane, other, nearest)
    return pairs


def _nearest_pairs(
    plane: Iterable[int], other: Sequence[int], along_deg: Sequence[float]
) -> list[tuple[int, int]]:
    def apart(a: int, b: int) -> float:
        return abs((along_deg[a] - along_deg[b] + 180.0) % 360.0 - 180.0)

    candidates = sorted((apart(a, b), a, b) for a in plane for b in other)
    taken: set[int] = set()
    pairs = []
    for _, a, b in candidates:
        if a not in taken and b not in taken:
            taken |= {a, b}
            pairs.append((a, b))
    return pairs


def arguments_of_latitude(sets: Iterable[ElementSet], epoch_unix_s: float) -> list[float]:
    """Of each satellite at a moment, degrees."""
    return [_place_at(entry, epoch_unix_s)[1] for entry in sets]


def read_pairs(text: str, name: str, count: int) -> list[tuple[int, int]]:
    r"""The pairs of a file of links: two places of satellites, from 0, on each line.

    Args:
        text: of the file.
        name: what faults call it.
        count: the satellites that there are.

    Raises:
        ScenarioFaults: with every fault of the file.

    >>> read_pairs("0 1\n1 2\n", "isls.txt", 3)
    [(0, 1), (1, 2)]
    """
    pairs = []
    faults = []
    for line, written in enumerate(text.splitlines(), start=1):
        words = written.replace(",", " ").split()
        if not words:
            continue
        is_pair = len(words) == 2 and all(word.isdecimal() and len(word) < 10 for word in words)
        a, b = map(int, words) if is_pair else (0, 0)
        if a == b or max(a, b) >= count:
            allowed = f"two different numbers from 0 to {count - 1}, such as 0 1"
            got = show_value(written.strip())
            faults.append(Fault(name, "", got, allowed, "a link between two satellites", line=line))
        else:
            pairs.append((a, b))
    if faults:
        raise ScenarioFaults(faults)
    return pairs
