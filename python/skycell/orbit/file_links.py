"""Links between the satellites of a file, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skycell.input.account import Account, LeftAside
from skycell.input.faults import FaultCollector, ScenarioFaults
from skycell.input.text import read_text
from skycell.orbit.file import ConstellationFile, ElementsPattern
from skycell.orbit.fleet import Fleet
from skycell.orbit.grid import (
    arguments_of_latitude,
    counted_planes,
    grid_pairs,
    planes_by_node,
    read_pairs,
)


def grid_links(file: ConstellationFile, fleet: Fleet) -> list[tuple[int, int]]:
    """Links of a grid over the planes of element sets, as pairs of satellites' numbers."""
    pattern, links = file.pattern, file.links
    epoch_ns = file.earth.epoch
    if links.kind != "grid" or not isinstance(pattern, ElementsPattern) or epoch_ns is None:
        return []
    sets = fleet.sets
    closed = links.seam == "closed"
    if pattern.node_gap is not None:
        gap_deg = float(pattern.node_gap.amount)
        planes = planes_by_node(sets, gap_deg, epoch_ns / 1e9)
        return grid_pairs(planes, closed, arguments_of_latitude(sets, epoch_ns / 1e9))
    count, each = planes_and_each(pattern, fleet)
    return grid_pairs(counted_planes(sets, count, each), closed)


def planes_and_each(pattern: ElementsPattern, fleet: Fleet) -> tuple[int, int]:
    """Planes of a file of elements and sets in each; 0 where nothing says how many."""
    if pattern.planes is None:
        return fleet.planes or (0, 0)
    count = 1 + max(entry.place for entry in fleet.sets)
    return pattern.planes, -(-count // pattern.planes)


@dataclass(frozen=True)
class ListedLinks:
    """The links of `links.file`.

    Attributes:
        pairs: of satellites' numbers.
        account: what was read of the file and left aside; None without a file.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    account: Account | None = None


def listed_links(
    file: ConstellationFile,
    fleet: Fleet,
    satellites: int,
    folder: Path,
    faults: FaultCollector,
) -> ListedLinks:
    """Links that `links.file` lists; those of satellites that are left out are left out too.

    Args:
        file: the constellation's.
        fleet: its satellites of a file.
        satellites: how many there are.
        folder: that the file of links is relative to.
        faults: of the constellation's file.

    Raises:
        ScenarioFaults: the file of links has faults, or cannot be read.
    """
    name = file.links.file
    if name is None:
        return ListedLinks()
    path = folder / name
    try:
        text = read_text(path)
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(("links", "file"), name, allowed, "links between satellites")
        raise ScenarioFaults(faults) from None
    sets = fleet.sets
    places = {entry.place: number for number, entry in enumerate(sets)}
    count = 1 + max(places) if places else satellites
    numbers = places or {number: number for number in range(count)}
    pairs = read_pairs(text, str(path), count)
    used = [(numbers[a], numbers[b]) for a, b in pairs if a in numbers and b in numbers]
    aside = [LeftAside("link", len(pairs) - len(used), why="a satellite of each is not used")]
    account = Account(str(path), "list of links", {"links": len(used)})
    return ListedLinks(tuple(used), account.and_also(aside if len(used) < len(pairs) else ()))
