"""Pairs of stations that send to each other."""

from __future__ import annotations

import random
from collections.abc import Sequence

from skycell.input.faults import FaultCollector, Path, did_you_mean
from skycell.scenario.file.demand import Listed, Pairs, Permutation, ReciprocalPermutation, To


def pairs_of(
    pairs: Pairs, stations: Sequence[str], here: Path, faults: FaultCollector
) -> list[tuple[str, str]]:
    """The pairs that a table of traffic asks for, source first; unknown stations are faults.

    >>> from skycell.input.faults import FaultCollector
    >>> every = FaultCollector("doc")
    >>> pairs_of(To(kind="to", place="b"), ["a", "b", "c"], (), every)
    [('a', 'b'), ('c', 'b')]
    """
    if isinstance(pairs, Permutation):
        return _permutation(stations, random.Random(f"{pairs.seed}/pairs/permutation"))
    if isinstance(pairs, ReciprocalPermutation):
        drawn = list(stations)
        random.Random(f"{pairs.seed}/pairs/reciprocal").shuffle(drawn)
        joined = zip(drawn[::2], drawn[1::2], strict=False)
        both = [pair for a, b in joined for pair in ((a, b), (b, a))]
        order = {name: place for place, name in enumerate(stations)}
        return sorted(both, key=lambda pair: order[pair[0]])
    if isinstance(pairs, To):
        if not _is_station(pairs.place, stations, (*here, "to"), faults):
            return []
        return [(name, pairs.place) for name in stations if name != pairs.place]
    if isinstance(pairs, Listed):
        return _listed(pairs, stations, here, faults)
    return [(a, b) for a in stations for b in stations if a != b]


def _permutation(stations: Sequence[str], rng: random.Random) -> list[tuple[str, str]]:
    """A permutation without a station that sends to itself, all of them equally likely."""
    while True:
        drawn = list(stations)
        rng.shuffle(drawn)
        if all(a != b for a, b in zip(stations, drawn, strict=True)):
            return list(zip(stations, drawn, strict=True))


def _listed(
    pairs: Listed, stations: Sequence[str], here: Path, faults: FaultCollector
) -> list[tuple[str, str]]:
    found = []
    for i, pair in enumerate(pairs.pair):
        known = [_is_station(name, stations, (*here, i), faults) for name in pair]
        if pair[0] == pair[1]:
            faults.add((*here, i), list(pair), "two stations: nobody sends to itself")
        elif all(known):
            found.append(pair)
    return found


def _is_station(name: str, stations: Sequence[str], here: Path, faults: FaultCollector) -> bool:
    if name in stations:
        return True
    faults.add(here, name, f"a station of the topology{did_you_mean(name, stations)}")
    return False
