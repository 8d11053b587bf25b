"""How a table's number is computed on a constellation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from skycell.experiment.design import Level
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, parse_quantity, rounded
from skycell.measures.measure import Measure
from skycell.orbit import Constellation, Route, Series, find_places, look, positions_km, series
from skycell.orbit.checks import EQUATORIAL_RADIUS_KM
from skycell.orbit.over_time import NO_PATH_PS

QUEUING_POINTS = "geo_queuing_points"
"""What a part fixes for measures of JSAC, Table 8: where a packet may wait on its way over GEO."""


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
        return _route(_Hashed(constellation), source, target)


class _Hashed:
    """A constellation as a key: equal when its file says the same."""

    def __init__(self, constellation: Constellation) -> None:
        self.constellation = constellation
        self.key = repr(constellation.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1024)
def _route(key: _Hashed, source: str, target: str) -> Route:
    """The path from one city to another, at time 0."""
    places = find_places([source, target])
    return look(key.constellation, places, [(0, 1)]).routes[0]


@lru_cache(maxsize=64)
def _over_time(key: _Hashed, source: str, target: str, duration: str, step: str) -> Series:
    """The path from one city to another from time 0 on."""
    places = find_places([source, target])
    duration_ps, step_ps = (rounded(parse_quantity(time).amount) for time in (duration, step))
    return series(key.constellation, places, [(0, 1)], duration_ps=duration_ps, step_ps=step_ps)


def _series(of: Computed) -> Series:
    names = ("city_row", "city_column", "duration", "step")
    return _over_time(_Hashed(of.constellation), *(str(of.factors[name]) for name in names))


def _round_trips_ms(of: Computed) -> list[float]:
    """Twice the delay at every step with a path."""
    delays = _series(of).delays_ps(0)
    return [2 * int(delay) / PS_PER_MS for delay in delays if delay != NO_PATH_PS]


def _without_path(of: Computed) -> float:
    found = _series(of)
    lost = sum(part.steps for part in found.stretches if not part.satellites)
    return lost * found.step_ps / PS_PER_SECOND


def _satellites(of: Computed) -> float:
    return float(len(of.constellation.satellites))


def _satellites_on_path(of: Computed) -> float | None:
    return float(len(of.route().satellites)) or None


def _path_delay(of: Computed) -> float | None:
    return of.route().delay_ms


def _shortest_delay(of: Computed) -> float | None:
    return of.route(route="shortest").delay_ms


def _delay_lost(of: Computed) -> float | None:
    taken, least = _path_delay(of), _shortest_delay(of)
    return None if taken is None or least is None else taken - least


def _link_delay(of: Computed) -> float | None:
    # Table 3 counts uplink and downlink among the links, from 1; the last row is their sum.
    links_ps = of.route().links_ps
    position = of.factors["position_in_path"]
    if position == "":
        return sum(links_ps) / PS_PER_MS
    place = int(position) - 1
    return links_ps[place] / PS_PER_MS if place < len(links_ps) else None


def _isl_distance(of: Computed) -> float:
    import numpy as np

    first, second = positions_km(of.constellation, [0])[0][:2]
    return float(np.linalg.norm(first - second))


def _isl_delay(of: Computed) -> float:
    return 1000 * _isl_distance(of) / float(of.constellation.file.earth.light_speed.amount)


def _queuing_points(of: Computed) -> int:
    """Where a packet may wait: each satellite and the ground; Table 8 counts fewer for GEO."""
    if of.factors["system"] == "geo":
        return int(of.factors[QUEUING_POINTS])
    return len(of.route().satellites) + 1


def _least_delay(of: Computed) -> float | None:
    # Table 8: queues may be empty; other delays are negligible (section 7).
    return 0.0 if of.factors["component"] == _WAITING else of.route().delay_ms


def _greatest_delay(of: Computed) -> float | None:
    # Section 7: a buffer of half a round trip holds a packet for one one-way delay.
    delay_ms = of.route().delay_ms
    if delay_ms is None or of.factors["component"] in ("propagation", _WAITING):
        return delay_ms
    return delay_ms * (1 + _queuing_points(of))


def _handover_interval(of: Computed) -> float | None:
    """Mean time between changes of the first satellite, minutes, of times that lie within."""
    found = _series(of)
    changes = [
        after.first_step
        for before, after in pairwise(found.stretches)
        if before.satellites[:1] != after.satellites[:1]
    ]
    if len(changes) < 2:
        return None
    steps = (changes[-1] - changes[0]) / (len(changes) - 1)
    return steps * found.step_ps / PS_PER_SECOND / 60


def _hop_delay(of: Computed) -> float:
    """Twice the way to a satellite, by the law of cosines with the centre of a spherical earth."""
    altitude, elevation = (float(of.factors[name]) for name in ("altitude_km", "elevation_deg"))
    radius = EQUATORIAL_RADIUS_KM
    rise = radius * math.sin(math.radians(elevation))
    across = radius * math.cos(math.radians(elevation))
    range_km = math.sqrt((radius + altitude) ** 2 - across**2) - rise
    return 2000 * range_km / float(of.constellation.file.earth.light_speed.amount)


_WAITING = "buffering_per_queuing_point"

PATH_MEASURES: Mapping[str, Measure[Computed]] = {
    "satellites": Measure("satellites", "satellites of the constellation", _satellites),
    "satellites_on_path": Measure("satellites", "satellites on the path", _satellites_on_path),
    "path_delay": Measure("ms", "propagation delay of the path", _path_delay),
    "shortest_delay": Measure("ms", "propagation delay of the shortest path", _shortest_delay),
    "delay_lost": Measure("ms", "how much longer the path is than the shortest", _delay_lost),
    "link_delay": Measure("ms", "propagation delay of one link of the path", _link_delay),
    "isl_distance": Measure("km", "distance of two neighbouring satellites", _isl_distance),
    "isl_delay": Measure("ms", "propagation delay between two neighbouring satellites", _isl_delay),
    "least_delay": Measure("ms", "least delay of the row's component", _least_delay),
    "greatest_delay": Measure("ms", "greatest delay of the row's component", _greatest_delay),
    "least_round_trip": Measure(
        "ms",
        "least round trip of the path over the time, propagation alone",
        lambda of: min(_round_trips_ms(of), default=None),
    ),
    "greatest_round_trip": Measure(
        "ms",
        "greatest round trip of the path over the time, propagation alone",
        lambda of: max(_round_trips_ms(of), default=None),
    ),
    "handovers": Measure(
        "events", "changes of path over the time", lambda of: float(len(_series(of).handovers(0)))
    ),
    "handover_interval": Measure(
        "min",
        "mean time for which the row's city keeps its satellite",
        _handover_interval,
    ),
    "hop_delay": Measure(
        "ms", "from ground to ground over a satellite at an elevation at both ends", _hop_delay
    ),
    "time_without_path": Measure("s", "time without a path", _without_path),
}
"""What a table can compute on a constellation; none where there is no path."""
