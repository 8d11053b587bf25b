"""How a table's number is computed on a constellation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from skycell.experiment.design import Level
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, parse_quantity, rounded
from skycell.measures.measure import Measures
from skycell.orbit import Constellation, Route, Series, find_places, look, positions_km, series
from skycell.orbit.checks import EQUATORIAL_RADIUS_KM
from skycell.orbit.over_time import NO_PATH_PS

PATH_MEASURES: Measures[Computed] = Measures()
"""What a table can compute on a constellation; None without a path."""

QUEUING_POINTS = "geo_queuing_points"
"""What a part fixes for measures of JSAC, Table 8: where a packet may wait on its way over GEO."""


_WAITING = "buffering_per_queuing_point"


@dataclass(frozen=True)
class Computed:
    """One constellation as a measure sees it."""

    constellation: Constellation
    factors: Mapping[str, Level]
    """The row's, and what its part fixes."""

    def route(self, **values: Any) -> Route:
        """The path from the row's city to the column's, some values of the file set otherwise."""
        constellation = self.constellation.with_values(values) if values else self.constellation
        source, target = str(self.factors["city_row"]), str(self.factors["city_column"])
        return _route(HashedConstellation(constellation), source, target)


class HashedConstellation:
    """A constellation as a key: equal when its file says the same."""

    def __init__(self, constellation: Constellation) -> None:
        self.constellation = constellation
        self.key = repr(constellation.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedConstellation) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1024)
def _route(key: HashedConstellation, source: str, target: str) -> Route:
    """The path from one city to another, at time 0."""
    places = find_places([source, target])
    return look(key.constellation, places, [(0, 1)]).routes[0]


@lru_cache(maxsize=64)
def _over_time(
    key: HashedConstellation, source: str, target: str, duration: str, step: str
) -> Series:
    """The path from one city to another from time 0 on."""
    places = find_places([source, target])
    duration_ps, step_ps = (rounded(parse_quantity(time).amount) for time in (duration, step))
    return series(key.constellation, places, [(0, 1)], duration_ps=duration_ps, step_ps=step_ps)


def _series(of: Computed) -> Series:
    names = ("city_row", "city_column", "duration", "step")
    return _over_time(
        HashedConstellation(of.constellation), *(str(of.factors[name]) for name in names)
    )


def _round_trips_ms(of: Computed) -> list[float]:
    """Twice the delay at every step with a path."""
    delays = _series(of).delays_ps(0)
    return [2 * int(delay) / PS_PER_MS for delay in delays if delay != NO_PATH_PS]


@PATH_MEASURES.declare("s", "time without a path")
def time_without_path(of: Computed) -> float:
    """Over all steps."""
    found = _series(of)
    lost = sum(part.steps for part in found.intervals if not part.satellites)
    return lost * found.step_ps / PS_PER_SECOND


@PATH_MEASURES.declare("satellites", "satellites of the constellation")
def satellites(of: Computed) -> float:
    """In all planes."""
    return float(len(of.constellation.satellites))


@PATH_MEASURES.declare("satellites", "satellites on the path")
def satellites_on_path(of: Computed) -> float | None:
    """None without a path."""
    return float(len(of.route().satellites)) or None


@PATH_MEASURES.declare("ms", "propagation delay of the path")
def path_delay(of: Computed) -> float | None:
    """None without a path."""
    return of.route().delay_ms


@PATH_MEASURES.declare("ms", "propagation delay of the shortest path")
def shortest_delay(of: Computed) -> float | None:
    """None without a path."""
    return of.route(route="shortest").delay_ms


@PATH_MEASURES.declare("ms", "how much longer the path is than the shortest")
def delay_lost(of: Computed) -> float | None:
    """None without a path."""
    taken, least = path_delay(of), shortest_delay(of)
    return None if taken is None or least is None else taken - least


@PATH_MEASURES.declare("ms", "propagation delay of one link of the path")
def link_delay(of: Computed) -> float | None:
    """None if the path has fewer links."""
    # Table 3 counts uplink and downlink among the links, from 1; the last row is their sum.
    links_ps = of.route().links_ps
    position = of.factors["position_in_path"]
    if position == "":
        return sum(links_ps) / PS_PER_MS
    place = int(position) - 1
    return links_ps[place] / PS_PER_MS if place < len(links_ps) else None


@PATH_MEASURES.declare("km", "distance of two neighbouring satellites")
def isl_distance(of: Computed) -> float:
    """At time 0."""
    import numpy as np

    first, second = positions_km(of.constellation, [0])[0][:2]
    return float(np.linalg.norm(first - second))


@PATH_MEASURES.declare("ms", "propagation delay between two neighbouring satellites")
def isl_delay(of: Computed) -> float:
    """At time 0."""
    return 1000 * isl_distance(of) / float(of.constellation.file.earth.light_speed.amount)


def _queuing_points(of: Computed) -> int:
    """Where a packet may wait: each satellite and the ground; Table 8 counts fewer for GEO."""
    if of.factors["system"] == "geo":
        return int(of.factors[QUEUING_POINTS])
    return len(of.route().satellites) + 1


@PATH_MEASURES.declare("ms", "least delay of the row's component")
def least_delay(of: Computed) -> float | None:
    """None without a path."""
    # Table 8: queues may be empty; other delays are negligible (section 7).
    return 0.0 if of.factors["component"] == _WAITING else of.route().delay_ms


@PATH_MEASURES.declare("ms", "greatest delay of the row's component")
def greatest_delay(of: Computed) -> float | None:
    """None without a path."""
    # Section 7: a buffer of half a round trip holds a packet for one one-way delay.
    delay_ms = of.route().delay_ms
    if delay_ms is None or of.factors["component"] in ("propagation", _WAITING):
        return delay_ms
    return delay_ms * (1 + _queuing_points(of))


@PATH_MEASURES.declare("min", "mean time for which the row's city keeps its satellite")
def handover_interval(of: Computed) -> float | None:
    """Mean time between changes of the first satellite, minutes, of times that lie within."""
    found = _series(of)
    changes = [
        after.first_step
        for before, after in pairwise(found.intervals)
        if before.satellites[:1] != after.satellites[:1]
    ]
    if len(changes) < 2:
        return None
    steps = (changes[-1] - changes[0]) / (len(changes) - 1)
    return steps * found.step_ps / PS_PER_SECOND / 60


@PATH_MEASURES.declare(
    "min", "mean time for which a path stays, of those that cross the seam, or of all others"
)
def path_interval(of: Computed) -> float | None:
    """By the row's `seam`, of paths that begin and end within the time; None if there is none."""
    found = _series(of)
    crossing = of.factors["seam"] == "crossed"
    whole = [part for part in found.intervals[1:-1] if part.satellites]
    steps = [part.steps for part in whole if _crosses_the_seam(of, part.satellites) == crossing]
    if not steps:
        return None
    return sum(steps) / len(steps) * found.step_ps / PS_PER_SECOND / 60


def _crosses_the_seam(of: Computed, satellites: Sequence[str]) -> bool:
    """True if a link of the path is between the first plane and the last."""
    planes = [_plane(name) for name in satellites]
    ends = {1, _plane(of.constellation.satellites[-1])}
    return any({before, after} == ends for before, after in pairwise(planes))


def _plane(satellite: str) -> int:
    """The plane of a satellite of a pattern, from 1."""
    return int(satellite.partition("-")[0])


@PATH_MEASURES.declare("ms", "from ground to ground over a satellite at an elevation at both ends")
def hop_delay(of: Computed) -> float:
    """Twice the way to a satellite, by the law of cosines with the centre of a spherical earth."""
    altitude, elevation = (float(of.factors[name]) for name in ("altitude_km", "elevation_deg"))
    radius = EQUATORIAL_RADIUS_KM
    rise = radius * math.sin(math.radians(elevation))
    across = radius * math.cos(math.radians(elevation))
    range_km = math.sqrt((radius + altitude) ** 2 - across**2) - rise
    return 2000 * range_km / float(of.constellation.file.earth.light_speed.amount)


@PATH_MEASURES.declare("ms", "least round trip of the path over the time, propagation alone")
def least_round_trip(of: Computed) -> float | None:
    """None if there is never a path."""
    return min(_round_trips_ms(of), default=None)


@PATH_MEASURES.declare("ms", "greatest round trip of the path over the time, propagation alone")
def greatest_round_trip(of: Computed) -> float | None:
    """None if there is never a path."""
    return max(_round_trips_ms(of), default=None)


@PATH_MEASURES.declare("events", "changes of path over the time")
def handovers(of: Computed) -> float:
    """Along the row's path."""
    return float(len(_series(of).handovers(0)))
