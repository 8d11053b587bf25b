"""How a table's number is computed over all pairs of some stations: quantiles over the pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise

from skycell.input.quantities import PS_PER_MS, parse_quantity, rounded
from skycell.measures.measure import Measures
from skycell.orbit import named_places
from skycell.orbit.pairs import surface_km
from skycell.orbit.routes import PathSpan, routes
from skycell.studies.path_measures import Computed, HashedConstellation

PAIR_MEASURES: Measures[Computed] = Measures()
"""What a table can compute over all pairs of stations.

A part fixes `stations` (a built-in list), `nearest` (pairs that are nearer along the surface are
left out), `duration` and `step`. The row has `quantile`, in per cent: the number is the smallest
that as many of the pairs have at most. A pair that never has a path is left out.
"""

_HYPATIA_EARTH_KM = 6378.135
"""Radius by which Hypatia measures distances along the surface (satgenpy, distance_tools.py)."""


@dataclass(frozen=True)
class _PairOverTime:
    """One pair over a time.

    Attributes:
        apart_km: distance along the surface.
        least_ms: least round trip, propagation alone.
        greatest_ms: greatest round trip.
        spans: its paths one after another; a time without a path is one of them.
    """

    apart_km: float
    least_ms: float
    greatest_ms: float
    spans: tuple[PathSpan, ...]

    @property
    def changes(self) -> int:
        """Changes of the path, to or from none included."""
        return len(self.spans) - 1

    @property
    def links(self) -> list[int]:
        """Links of each path, those to and from the ground included."""
        return [len(span.nodes) - 1 for span in self.spans if not span.missing]

    def changes_seen(self, every: int) -> int:
        """Changes that are seen by looking at one in so many epochs."""
        seen = [span for span in self.spans if -(-span.first_epoch // every) * every < _end(span)]
        return sum(_path(before) != _path(after) for before, after in pairwise(seen))


def _end(span: PathSpan) -> int:
    return span.first_epoch + span.epochs


def _path(span: PathSpan) -> tuple[str, ...]:
    """The nodes of a path; nothing where there is none, wherever packets are lost."""
    return () if span.missing else span.nodes


@lru_cache(maxsize=8)
def _over_time(
    key: HashedConstellation, stations: str, duration: str, step: str
) -> tuple[_PairOverTime, ...]:
    """All pairs of a list that have a path at some time."""
    places = named_places(stations)
    pairs = list(combinations(range(len(places)), 2))
    duration_ps, step_ps = _ps(duration), _ps(step)
    # The last look is one step before the end, as Hypatia's.
    found = routes(
        key.constellation, places, pairs, duration_ps=duration_ps - step_ps, step_ps=step_ps
    )
    spans: list[list[PathSpan]] = [[] for _ in pairs]
    for span in found.spans:
        own = spans[span.pair]
        if own and _path(own[-1]) == _path(span):  # packets are lost elsewhere than before
            own[-1] = replace(own[-1], epochs=own[-1].epochs + span.epochs)
        else:
            own.append(span)
    measured = []
    for number, (source, target) in enumerate(pairs):
        delays_ps = [delay for delay in found.delays_ps(number) if delay is not None]
        if delays_ps:
            apart_km = surface_km(places[source], places[target], _HYPATIA_EARTH_KM)
            least_ms, greatest_ms = (2 * end(delays_ps) / PS_PER_MS for end in (min, max))
            measured.append(_PairOverTime(apart_km, least_ms, greatest_ms, tuple(spans[number])))
    return tuple(measured)


def _ps(time: str) -> int:
    return rounded(parse_quantity(time).amount)


def _pairs(of: Computed, step: str = "step") -> list[_PairOverTime]:
    """The pairs of a row that are not left out."""
    key = HashedConstellation(of.constellation)
    names = ("stations", "duration", step)
    nearest_km = float(parse_quantity(str(of.factors["nearest"])).amount)
    found = _over_time(key, *(str(of.factors[name]) for name in names))
    return [pair for pair in found if pair.apart_km >= nearest_km]


def quantile(values: Sequence[float], percent: float) -> float:
    """The smallest of some values that so many per cent of them are at most.

    >>> quantile([4, 1, 3, 2], 50), quantile([4, 1, 3, 2], 51)
    (2, 3)
    """
    place = math.ceil(len(values) * percent / 100 - 1e-9)
    return sorted(values)[max(place, 1) - 1]


def _quantile(of: Computed, value: Callable[[_PairOverTime], float]) -> float | None:
    values = [value(pair) for pair in _pairs(of)]
    return quantile(values, float(of.factors["quantile"])) if values else None


@PAIR_MEASURES.declare("ms", "of pairs of stations, the greatest round trip over the time")
def pairs_greatest_round_trip(of: Computed) -> float | None:
    """None if no pair has a path."""
    return _quantile(of, lambda pair: pair.greatest_ms)


@PAIR_MEASURES.declare(
    "1",
    "of pairs of stations, the greatest round trip over the time by that of light in vacuum along "
    "the surface",
)
def pairs_times_geodesic(of: Computed) -> float | None:
    """None if no pair has a path."""
    speed_km_s = float(of.constellation.file.earth.light_speed.amount)
    return _quantile(of, lambda pair: pair.greatest_ms / (2000 * pair.apart_km / speed_km_s))


@PAIR_MEASURES.declare("ms", "of pairs of stations, the greatest round trip less the least")
def pairs_round_trip_range(of: Computed) -> float | None:
    """None if no pair has a path."""
    return _quantile(of, lambda pair: pair.greatest_ms - pair.least_ms)


@PAIR_MEASURES.declare("1", "of pairs of stations, the greatest round trip by the least")
def pairs_round_trip_ratio(of: Computed) -> float | None:
    """None if no pair has a path."""
    return _quantile(of, lambda pair: pair.greatest_ms / pair.least_ms)


@PAIR_MEASURES.declare("changes", "of pairs of stations, the changes of path over the time")
def pairs_path_changes(of: Computed) -> float | None:
    """None if no pair has a path."""
    return _quantile(of, lambda pair: float(pair.changes))


@PAIR_MEASURES.declare("hops", "of pairs of stations, most hops of a path less fewest")
def pairs_hop_range(of: Computed) -> float | None:
    """None if no pair has a path."""
    return _quantile(of, lambda pair: float(max(pair.links) - min(pair.links)))


@PAIR_MEASURES.declare("1", "of pairs of stations, most hops of a path by fewest")
def pairs_hop_ratio(of: Computed) -> float | None:
    """By what the part fixes as `hops`, `links` or `satellites`; None if no pair has a path."""
    more = 0 if of.factors["hops"] == "links" else -1
    return _quantile(of, lambda pair: (max(pair.links) + more) / (min(pair.links) + more))


@PAIR_MEASURES.declare(
    "%", "pairs of stations of which a look each `seen_every` misses a change that `fine` shows"
)
def pairs_missing_changes(of: Computed) -> float | None:
    """Both times are the row's or fixed; None if no pair has a path."""
    every = _ps(str(of.factors["seen_every"])) / _ps(str(of.factors["fine"]))
    pairs = _pairs(of, step="fine")
    missing = sum(pair.changes_seen(round(every)) < pair.changes for pair in pairs)
    return 100 * missing / len(pairs) if pairs else None
