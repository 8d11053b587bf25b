"""Outages of satellites, stations and links of a constellation, as rows by epoch."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim, did_you_mean
from skycell.input.quantities import rounded, show_amount
from skycell.scenario.file.constellation import ConstellationNetwork, Outage

Row = tuple[int, int, int, int]
"""A node, the other end of a link or -1, the first epoch of an outage, and the first one after."""

_MOST_OUTAGES = 100_000
_EACH = "*"


def outage_rows(
    topology: ConstellationNetwork,
    satellites: Sequence[str],
    stations: Sequence[str],
    others: Sequence[str],
    times: tuple[int, int],
    seed: int,
    faults: FaultCollector,
) -> tuple[Row, ...]:
    """The outages of a run; what does not fit is noted in `faults`.

    Args:
        topology: of the file.
        satellites: names of the satellites, which are the first nodes.
        stations: names of the stations, which follow.
        others: names of the other nodes on the ground, which follow the stations.
        times: duration of the run, and the step, picoseconds.
        seed: of the run, by which outages are drawn.
        faults: takes what is wrong.
    """
    numbers = {name: number for number, name in enumerate((*satellites, *stations, *others))}
    rows: list[Row] = []
    for i, outage in enumerate(topology.outage):
        here: Path = ("topology", "outage", i)
        for name, other in _ends(outage, satellites, (stations, others), here, faults):
            drawn_as = f"{seed}/outage/{i}/{name}>{other}" if other else f"{seed}/outage/{i}/{name}"
            for begin_ps, length_ps in _times(outage, times, drawn_as, here, faults):
                first, last = (-(-at // times[1]) for at in (begin_ps, begin_ps + length_ps))
                if first < last:
                    rows.append((numbers[name], numbers.get(other, -1), first, last))
            if len(rows) > _MOST_OUTAGES:
                got = Verbatim(f"more than {show_amount(_MOST_OUTAGES)} outages")
                faults.add((*here, "every"), got, f"up to {show_amount(_MOST_OUTAGES)} in all")
                return ()
    return tuple(rows)


def _ends(
    outage: Outage,
    satellites: Sequence[str],
    on_ground: tuple[Sequence[str], Sequence[str]],
    here: Path,
    faults: FaultCollector,
) -> list[tuple[str, str]]:
    """What is out of order: nodes, each with an empty name beside it, or both ends of a link."""
    said = [key for key in ("satellite", "station", "link") if getattr(outage, key) is not None]
    if len(said) != 1:
        got = Verbatim(" and ".join(said)) if said else NOTHING
        faults.add(here, got, "one of satellite, station and link")
        return []
    stations, others = on_ground
    if outage.link is not None:
        known = (*satellites, *stations, *others)
        wrong = [k for k, name in enumerate(outage.link) if name not in known]
        for k in wrong:
            allowed = f"a satellite or a station{did_you_mean(outage.link[k], known)}"
            faults.add((*here, "link", k), outage.link[k], allowed)
        return [] if wrong else [outage.link]
    names = satellites if outage.satellite is not None else stations
    name = outage.satellite or outage.station or ""
    if name == _EACH:
        return [(each, "") for each in names]
    if outage.satellite is None:
        names = (*stations, *others)
    if name not in names:
        faults.add((*here, said[0]), name, f'a {said[0]}, or "*"{did_you_mean(name, names)}')
        return []
    return [(name, "")]


def _times(
    outage: Outage, times: tuple[int, int], drawn_as: str, here: Path, faults: FaultCollector
) -> Iterator[tuple[int, int]]:
    """When outages begin, and how long they last, picoseconds."""
    duration_ps, step_ps = times
    if (outage.at is None) == (outage.every is None):
        got = NOTHING if outage.at is None else Verbatim("at and every")
        faults.add((*here, "at"), got, "one of at, with lasts, and every")
        return
    lasts = outage.lasts if outage.every is None else outage.every.lasts
    if lasts is None:
        faults.add((*here, "lasts"), NOTHING, "the length of the outage")
        return
    length_ps = rounded(lasts.amount)
    if length_ps < step_ps:
        key = ("lasts",) if outage.every is None else ("every", "lasts")
        faults.add((*here, *key), lasts.text, "at least topology.step, at which links change")
        return
    if outage.at is not None:
        begin_ps = rounded(outage.at.amount)
        if begin_ps >= duration_ps:
            faults.add((*here, "at"), outage.at.text, "before the end of the run")
            return
        yield begin_ps, length_ps
    elif outage.every is not None:
        rng = random.Random(drawn_as)
        mean_ps = rounded(outage.every.mean.amount)
        at_ps = round(rng.expovariate(1 / mean_ps))
        while at_ps < duration_ps:
            yield at_ps, length_ps
            at_ps += length_ps + round(rng.expovariate(1 / mean_ps))
