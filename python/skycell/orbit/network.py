"""Paths over a constellation at one moment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skycell.input.quantities import PS_PER_MS
from skycell.orbit.absent_links import absent_links
from skycell.orbit.constellation import Constellation
from skycell.orbit.places import Place
from skycell.orbit.reach import refuse_out_of_reach
from skycell.orbit.validity import ALL_IS_WELL, Validity, validity


@dataclass(frozen=True)
class Hop:
    """One link of a path.

    Attributes:
        kind: `up`, `isl` or `down`.
        source: name of the place or satellite at its beginning.
        target: name of the place or satellite at its end.
        delay_ps: one way.
    """

    kind: str
    source: str
    target: str
    delay_ps: int


@dataclass(frozen=True)
class Route:
    """The path between two places at one moment.

    Attributes:
        source: name of the place where it begins.
        target: name of the place where it ends.
        satellites: names of the satellites in order; empty where there is no path.
        links_ps: delay of each link, up link first; one more than satellites.
        missing: why there is no path; empty where there is one.
    """

    source: str
    target: str
    satellites: tuple[str, ...]
    links_ps: tuple[int, ...]
    missing: str = ""

    @property
    def delay_ps(self) -> int | None:
        """One-way propagation delay."""
        return sum(self.links_ps) if self.satellites else None

    @property
    def delay_ms(self) -> float | None:
        """One-way propagation delay."""
        return None if self.delay_ps is None else self.delay_ps / PS_PER_MS

    @property
    def hops(self) -> list[Hop]:
        """The links in order."""
        ends = [self.source, *self.satellites, self.target]
        last = len(self.links_ps) - 1
        return [
            Hop("up" if n == 0 else "down" if n == last else "isl", ends[n], ends[n + 1], delay_ps)
            for n, delay_ps in enumerate(self.links_ps)
        ]

    def as_dict(self) -> dict[str, Any]:
        """The path for a program."""
        return {
            "from": self.source,
            "to": self.target,
            "delay_ps": self.delay_ps,
            "satellites": list(self.satellites),
            "links": [
                {"kind": hop.kind, "from": hop.source, "to": hop.target, "delay_ps": hop.delay_ps}
                for hop in self.hops
            ],
            **({"missing": self.missing} if self.missing else {}),
        }


@dataclass(frozen=True)
class Sight:
    """A satellite as a place sees it; azimuth clockwise from north."""

    satellite: str
    azimuth_deg: float
    elevation_deg: float
    slant_range_km: float


@dataclass(frozen=True)
class Moment:
    """A constellation at one moment.

    Attributes:
        routes: the paths asked for, in their order.
        links: pairs of satellites that are linked.
        sights: what each place sees, by its name.
        used: the satellite that each place uses by its rule; None where it sees none.
        validity: which satellites are left out, and which elements are used far from their epoch,
            and which links do not exist.
    """

    routes: tuple[Route, ...]
    links: tuple[tuple[str, str], ...]
    sights: dict[str, tuple[Sight, ...]]
    used: dict[str, str | None]
    validity: Validity = ALL_IS_WELL


def look(
    constellation: Constellation,
    places: Sequence[Place],
    pairs: Sequence[tuple[int, int]] = (),
    at_ps: int = 0,
) -> Moment:
    """Paths, links and what places see at a moment.

    Args:
        constellation: the satellites.
        places: on the ground.
        pairs: source and destination, as numbers of places.
        at_ps: since time 0.

    Raises:
        ScenarioFaults: a place can see no satellite at any time, the moment is too far from the
            elements' epochs, or every satellite has decayed.

    >>> from skycell.orbit import as_constellation, find_places
    >>> places = find_places(["los_angeles", "london"])
    >>> moment = look(as_constellation("jsac98-6x11"), places, [(0, 1)])
    >>> len(moment.routes[0].satellites), round(moment.routes[0].delay_ms)
    (7, 83)
    """
    from skycell import _core

    known = validity(constellation, at_ps, at_ps, places)
    refuse_out_of_reach(constellation, places)
    spec = json.dumps(constellation.spec(places, pairs))
    found = json.loads(_core.orbit_moment(spec, at_ps))
    names = constellation.satellites
    highest = [
        None if seen is None else Sight(names[seen[0]], *seen[1:]) for seen in found["highest"]
    ]
    return Moment(
        routes=tuple(
            _route(path, places, pair, names, highest)
            for pair, path in zip(pairs, found["paths"], strict=True)
        ),
        links=tuple((names[a], names[b]) for a, b in found["links"]),
        sights={
            place.name: tuple(Sight(names[n], *where) for n, *where in seen)
            for place, seen in zip(places, found["visible"], strict=True)
        },
        used={
            place.name: None if n is None else names[n]
            for place, n in zip(places, found["used"], strict=True)
        },
        validity=replace(known, links=absent_links(constellation, at_ps, at_ps)),
    )


def _route(
    path: dict[str, Any],
    places: Sequence[Place],
    pair: tuple[int, int],
    names: Sequence[str],
    highest: Sequence[Sight | None],
) -> Route:
    source, target = (places[end].name for end in pair)
    if "reason" in path:
        missing = reason_text(path, places)
        if "station" in path and (best := highest[path["station"]]):
            missing += f"; the highest, {best.satellite}, is at {best.elevation_deg:.1f} deg"
        return Route(source, target, (), (), missing=missing)
    satellites = tuple(names[n] for n in path["satellites"])
    return Route(source, target, satellites, tuple(path["links_ps"]))


def reason_text(path: dict[str, Any], places: Sequence[Place]) -> str:
    """Why there is no path, from what the compiled part says."""
    if path["reason"] == "nothing_visible":
        return f"{places[path['station']].name} sees no satellite"
    return "the satellites at both ends are not connected"
