"""How a table's number is computed on a constellation, and the rows of such tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from skycell.orbit import (
    Constellation,
    Route,
    as_constellation,
    find_places,
    look,
    positions_km,
)
from skycell.scenario.faults import FaultCollector, ScenarioFaults
from skycell.scenario.quantities import PS_PER_MS
from skycell.studies.compare import Row, row_of
from skycell.studies.design import (
    Overrides,
    case_of,
    choices_in_force,
    refuse_choice,
    resolve_choices,
    scenario_values,
)
from skycell.studies.library import Selection
from skycell.studies.model import Level, Part
from skycell.studies.plan import printed_rows


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
        return int(of.factors[_POINTS])
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


_POINTS = "geo_queuing_points"
_WAITING = "buffering_per_queuing_point"

COMPUTE: dict[str, Callable[[Computed], float | None]] = {
    "satellites": _satellites,
    "satellites_on_path": _satellites_on_path,
    "path_delay": _path_delay,
    "shortest_delay": _shortest_delay,
    "delay_lost": _delay_lost,
    "link_delay": _link_delay,
    "isl_distance": _isl_distance,
    "isl_delay": _isl_delay,
    "least_delay": _least_delay,
    "greatest_delay": _greatest_delay,
}
"""What each measure of `skycell.studies.model.PATH_MEASURES` computes, in the unit that its table
says; none where there is no path."""


def check_paths(found: Selection, overrides: Overrides) -> None:
    """Tries overrides on the first row of every part of a table that is computed.

    Raises:
        ScenarioFaults: an override does not fit; with every fault.
    """
    faults = FaultCollector(found.study.id)
    choices = choices_in_force(found.study, overrides)
    for part in found.table.parts:
        fixed = resolve_choices(part.fixed, choices)
        points = fixed.get(_POINTS, 1)
        if type(points) is not int or points < 1:
            allowed = "a whole number above 0"
            refuse_choice(found.study, str(part.fixed[_POINTS]), choices, allowed, faults)
        factors = {**fixed, **printed_rows(found.study, part)[0].factors}
        case = case_of(found.study, found.table.experiment, factors)
        try:
            as_constellation(scenario_values(found.study, case, overrides))
        except ScenarioFaults as refused:
            faults.faults += [replace(fault, file=str(case)) for fault in refused.faults]
    faults.raise_if_any()


def path_rows(found: Selection, part: Part, overrides: Overrides) -> list[Row]:
    """The rows of one part of a table that is computed.

    Raises:
        ScenarioFaults: an override does not fit the constellation.
    """
    fixed = resolve_choices(part.fixed, choices_in_force(found.study, overrides))
    rows = []
    for printed in printed_rows(found.study, part):
        factors = {**fixed, **printed.factors}
        case = case_of(found.study, found.table.experiment, factors)
        values = scenario_values(found.study, case, overrides)
        computed = COMPUTE[part.measure](Computed(as_constellation(values), factors))
        listed = () if computed is None else (computed,)
        failures = () if listed else ("there is no path",)
        rows.append(row_of(found, part, printed, listed, failures, overrides, is_computed=True))
    return rows
