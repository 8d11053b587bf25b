"""Links between the satellites of a file, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.orbit.file import ElementsPattern
from skycell.orbit.grid import (
    arguments_of_latitude,
    counted_planes,
    grid_pairs,
    planes_by_node,
    read_pairs,
)
from skycell.scenario.faults import FaultCollector, ScenarioFaults
from skycell.scenario.text import read_text

if TYPE_CHECKING:
    from skycell.orbit.constellation import Constellation


def links_of_file(constellation: Constellation) -> tuple[tuple[int, int], ...]:
    """Pairs of satellites' numbers; links of satellites that are left out are left out too."""
    return (*_of_grid(constellation), *_of_list(constellation))


def _of_grid(constellation: Constellation) -> list[tuple[int, int]]:
    pattern, links = constellation.file.pattern, constellation.file.links
    epoch_ns = constellation.file.earth.epoch
    if links.kind != "grid" or not isinstance(pattern, ElementsPattern) or epoch_ns is None:
        return []
    sets = constellation.fleet.sets
    closed = links.seam == "closed"
    if pattern.node_gap is not None:
        gap_deg = float(pattern.node_gap.amount)
        planes = planes_by_node(sets, gap_deg, epoch_ns / 1e9)
        return grid_pairs(planes, closed, arguments_of_latitude(sets, epoch_ns / 1e9))
    count, each = planes_and_each(constellation)
    return grid_pairs(counted_planes(sets, count, each), closed)


def planes_and_each(constellation: Constellation) -> tuple[int, int]:
    """Planes of a file of elements and sets in each; 0 where nothing says how many."""
    pattern, fleet = constellation.file.pattern, constellation.fleet
    assert isinstance(pattern, ElementsPattern)
    if pattern.planes is None:
        return fleet.planes or (0, 0)
    count = 1 + max(entry.place for entry in fleet.sets)
    return pattern.planes, -(-count // pattern.planes)


def _of_list(constellation: Constellation) -> list[tuple[int, int]]:
    name = constellation.file.links.file
    if name is None:
        return []
    path = constellation.folder / name
    try:
        text = read_text(path)
    except OSError as error:
        faults = FaultCollector(constellation.name, constellation.positions)
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(("links", "file"), name, allowed, "links between satellites")
        raise ScenarioFaults(faults) from None
    sets = constellation.fleet.sets
    places = {entry.place: number for number, entry in enumerate(sets)}
    count = 1 + max(places) if places else len(constellation.satellites)
    numbers = places or {number: number for number in range(count)}
    pairs = read_pairs(text, str(path), count)
    return [(numbers[a], numbers[b]) for a, b in pairs if a in numbers and b in numbers]
