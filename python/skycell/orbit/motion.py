"""The delay of a path over a constellation, as the steps of a link that moves."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from pathlib import Path
from typing import NoReturn

from skycell.input.faults import Fault, ScenarioFaults, did_you_mean, show_value
from skycell.input.quantities import show_time
from skycell.orbit.constellation import Constellation, as_constellation
from skycell.orbit.over_time import NO_PATH_PS, Interval, series
from skycell.orbit.places import Place, find_places
from skycell.orbit.presets import constellations
from skycell.orbit.reach import refuse_out_of_reach
from skycell.spec.steps import Hops, Steps

PRECISION_PS = 1000
"""To which the moments of handovers are found: 1 ns, when a cell of 155.52 Mbit/s takes 2.7 us."""


def path_steps(
    constellation: str,
    source: str,
    target: str,
    *,
    folder: Path,
    start_ps: int,
    step_ps: int,
    steps: int,
    with_hops: bool = False,
) -> Steps:
    """The delay between two places: at each step and the moment after the last, and at each change.

    A change of path has a step at its own moment, which is found to 1 ns, and a new number.

    Args:
        constellation: name of a built-in one, or of a file.
        source: place at which the path begins.
        target: place at which it ends.
        folder: from which a file's name leads to it.
        start_ps: moment of the constellation at which the steps begin.
        step_ps: from one to the next.
        steps: how many.
        with_hops: whether the path of each step is told, link by link.

    Raises:
        ScenarioFaults: what cannot be had; faults without a file are of this call's own words.
    """
    names = {"from": source, "to": target}
    try:
        sky = constellation_of(constellation, folder)
    except ScenarioFaults as unknown:
        raise ScenarioFaults([*unknown.faults, *_faults_of_places(None, names)]) from None
    first, last = _places(sky, names)
    if first == last:
        _refuse("to", f'"{target}", where the path begins', "another place", "where the path ends")
    # The file may have changed since it was last read, so what it says is part of the key.
    return _steps(Key(sky), (first, last), start_ps, step_ps, steps, with_hops)


class Key:
    """A constellation that is equal to another when their files say the same."""

    def __init__(self, constellation: Constellation) -> None:
        self.constellation = constellation
        self.text = repr(
            (
                constellation.file,
                constellation.fleet,
                constellation.file_links,
                constellation.own_places,
                constellation.is_bent_pipe,
            )
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=32)
def _steps(
    key: Key,
    places: tuple[Place, Place],
    start_ps: int,
    step_ps: int,
    steps: int,
    with_hops: bool,
) -> Steps:
    found = series(
        key.constellation,
        places,
        [(0, 1)],
        duration_ps=step_ps * steps,
        step_ps=step_ps,
        start_ps=start_ps,
        with_links=with_hops,
        precision_ps=PRECISION_PS,
    )
    delays = [None if delay == NO_PATH_PS else delay for delay in found.delays_ps(0).tolist()]
    if all(
        delay is None for delay in (*delays[:steps], *(c.route.delay_ps for c in found.changes))
    ):
        span = f"from {show_time(start_ps)} to {show_time(start_ps + step_ps * (steps - 1))}"
        reasons = "; ".join((_reasons(found.intervals), *found.validity.shortcomings))
        got = f"no path at any of {steps} steps {span}: {reasons}"
        _refuse("to", got, "places with a path for a part of the run", "where the path ends")
    changes = deque(found.changes)
    at_steps = (
        [hops and Hops(*hops) for hops in found.hops_ps(0)] if with_hops else [None] * (steps + 1)
    )
    rows: list[tuple[int, int | None, int, Hops | None]] = []
    number = 0
    for n, (delay, hops) in enumerate(zip(delays, at_steps, strict=True)):
        while changes and changes[0].at_ps <= start_ps + step_ps * n:
            change = changes.popleft()
            number += 1
            route = change.route
            own = Hops(route.satellites, route.links_ps) if route.satellites else None
            rows.append((change.at_ps - start_ps, route.delay_ps, number, own))
        if not rows or rows[-1][0] < step_ps * n:
            rows.append((step_ps * n, delay, number, hops))
    times, known, paths, ways = zip(*rows, strict=True)
    return Steps(
        times,
        known,
        paths,
        hops=ways if with_hops else (),
        notes=found.validity.notes,
        accounts=tuple(account.as_dict() for account in found.validity.accounts),
    )


def _reasons(intervals: tuple[Interval, ...]) -> str:
    return "; ".join(dict.fromkeys(interval.missing for interval in intervals))


def constellation_of(name: str, folder: Path) -> Constellation:
    """The constellation of a name; else `ScenarioFaults`, of this call's own words or a file's.

    Args:
        name: of a built-in one, or of a file.
        folder: from which a file's name leads to it.
    """
    if name in constellations():
        return as_constellation(name)
    try:
        return as_constellation(str(folder / name))
    except OSError as error:
        hint = did_you_mean(name, constellations())
        allowed = f"{', '.join(constellations())}, or a file; {error.strerror or error}{hint}"
        _refuse("constellation", show_value(name), allowed, "satellites of the path")


def _places(sky: Constellation, names: dict[str, str]) -> list[Place]:
    """The places of some names, by the key that gives them; each has satellites above it."""
    faults = _faults_of_places(sky, names)
    if faults:
        raise ScenarioFaults(faults)
    return find_places(list(names.values()), sky.own_places)


def _faults_of_places(sky: Constellation | None, names: dict[str, str]) -> list[Fault]:
    """What is wrong with names of places, whatever satellites there are where none are known."""
    faults = []
    for key, name in names.items():
        try:
            found = find_places([name], () if sky is None else sky.own_places)
            if sky is not None:
                refuse_out_of_reach(sky, found)
        except ScenarioFaults as refused:
            for fault in refused.faults:
                got = f"{show_value(name)}, {fault.got}" if fault.path else fault.got
                faults.append(Fault("", key, got, fault.allowed, fault.meaning or "a place"))
    return faults


def _refuse(key: str, got: str, allowed: str, meaning: str) -> NoReturn:
    raise ScenarioFaults([Fault("", key, got, allowed, meaning)])
