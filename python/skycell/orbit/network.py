"""Paths over a constellation: at one moment, and over time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skycell.orbit.constellation import Constellation
from skycell.orbit.file import ElementsPattern
from skycell.orbit.places import Place
from skycell.orbit.reach import refuse_out_of_reach
from skycell.scenario.faults import Fault, ScenarioFaults, Shown, show_value
from skycell.scenario.quantities import PS_PER_SECOND, show_time

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

NO_PATH_PS = 2**64 - 1
"""Delay of a step without a path, in the columns of the compiled part."""


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
        return None if self.delay_ps is None else self.delay_ps / 1e9

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
    """A satellite as a place sees it."""

    satellite: str
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
    """

    routes: tuple[Route, ...]
    links: tuple[tuple[str, str], ...]
    sights: dict[str, tuple[Sight, ...]]
    used: dict[str, str | None]


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
        ScenarioFaults: a place can see no satellite at any time, or the moment is too far from the
            elements' epochs.
        OrbitError: SGP4 gives no position.

    >>> from skycell.orbit import as_constellation, find_places
    >>> places = find_places(["los_angeles", "london"])
    >>> moment = look(as_constellation("jsac98-6x11"), places, [(0, 1)])
    >>> len(moment.routes[0].satellites), round(moment.routes[0].delay_ms)
    (7, 83)
    """
    from skycell import _core

    refuse_distant_elements(constellation, at_ps, at_ps)
    refuse_out_of_reach(constellation, places)
    spec = json.dumps(constellation.spec(places, pairs))
    found = json.loads(_core.orbit_moment(spec, at_ps))
    names = constellation.satellites
    highest = [
        None if seen is None else Sight(names[seen[0]], seen[1], seen[2])
        for seen in found["highest"]
    ]
    return Moment(
        routes=tuple(
            _route(path, places, pair, names, highest)
            for pair, path in zip(pairs, found["paths"], strict=True)
        ),
        links=tuple((names[a], names[b]) for a, b in found["links"]),
        sights={
            place.name: tuple(Sight(names[n], elevation, slant) for n, elevation, slant in seen)
            for place, seen in zip(places, found["visible"], strict=True)
        },
        used={
            place.name: None if n is None else names[n]
            for place, n in zip(places, found["used"], strict=True)
        },
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
        missing = _reason(path, places)
        if "station" in path and (best := highest[path["station"]]):
            missing += f"; the highest, {best.satellite}, stands at {best.elevation_deg:.1f} deg"
        return Route(source, target, (), (), missing=missing)
    satellites = tuple(names[n] for n in path["satellites"])
    return Route(source, target, satellites, tuple(path["links_ps"]))


def _reason(path: dict[str, Any], places: Sequence[Place]) -> str:
    if path["reason"] == "nothing_visible":
        return f"{places[path['station']].name} sees no satellite"
    return "the satellites at both ends are not connected"


def refuse_distant_elements(constellation: Constellation, first_ps: int, last_ps: int) -> None:
    """Refuses moments that are farther from the elements' epochs than the file allows.

    Raises:
        ScenarioFaults: for each satellite that is too far.
    """
    file = constellation.file
    pattern = file.pattern
    if not isinstance(pattern, ElementsPattern) or file.earth.epoch is None:
        return
    farthest_s = float(pattern.farthest.amount) / PS_PER_SECOND
    faults = []
    for entry in constellation.elements:
        since = file.earth.epoch / 1e9 - entry.epoch_unix_s
        away_s = max(abs(since + at_ps / PS_PER_SECOND) for at_ps in (first_ps, last_ps))
        if away_s > farthest_s:
            got = Shown(f"{away_s / 86_400:.1f} days from the epoch of {entry.name}").text
            faults.append(
                Fault(
                    constellation.name,
                    "earth.epoch",
                    got,
                    f"up to {pattern.farthest} (pattern.farthest, {show_value(pattern.file)})",
                    "the moment that is time 0",
                )
            )
    if faults:
        raise ScenarioFaults(faults)


@dataclass(frozen=True)
class Stretch:
    """The same path over some steps.

    Attributes:
        pair: number of the pair.
        first_step: where it begins.
        steps: how many.
        satellites: the path; empty where there is none.
        missing: why there is none.
    """

    pair: int
    first_step: int
    steps: int
    satellites: tuple[str, ...]
    missing: str = ""


class Series:
    """Paths and delays of some pairs over time."""

    def __init__(
        self,
        constellation: Constellation,
        places: Sequence[Place],
        pairs: Sequence[tuple[int, int]],
        start_ps: int,
        step_ps: int,
        steps: int,
        columns: dict[str, Any],
    ) -> None:
        self.constellation = constellation
        self.places = tuple(places)
        self.pairs = tuple(pairs)
        self.start_ps, self.step_ps, self.steps = start_ps, step_ps, steps
        self._columns = columns

    @property
    def times_ps(self) -> NDArray[np.uint64]:
        """The moments, since time 0."""
        import numpy as np

        return self.start_ps + self.step_ps * np.arange(self.steps, dtype=np.uint64)

    def delays_ps(self, pair: int) -> NDArray[np.uint64]:
        """Delay of a pair at each step; `NO_PATH_PS` where there is no path."""
        delays: Any = self._columns["delays_ps"]
        return delays[pair * self.steps : (pair + 1) * self.steps]  # type: ignore[no-any-return]

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Paths by pair and time; a pair's stretches follow each other without a gap."""
        columns, names = self._columns, self.constellation.satellites
        reasons = json.loads(columns["reasons"])
        way = iter(columns["way"].tolist())
        return tuple(
            Stretch(
                pair,
                first,
                steps,
                tuple(names[next(way)] for _ in range(count)),
                "" if reason is None else _reason(reason, self.places),
            )
            for pair, first, steps, count, reason in zip(
                columns["pair"].tolist(),
                columns["first_step"].tolist(),
                columns["steps"].tolist(),
                columns["satellites"].tolist(),
                reasons,
                strict=True,
            )
        )

    def ends(self, pair: int) -> tuple[str, str]:
        """Names of a pair's places."""
        source, target = self.pairs[pair]
        return self.places[source].name, self.places[target].name

    def delay_table(self) -> pl.DataFrame:
        """Columns from, to, time_ps, delay_ps and satellites, the last two null without a path."""
        import numpy as np
        import polars as pl

        columns = self._columns
        counts = np.repeat(columns["satellites"], columns["steps"])
        pairs = np.repeat(np.arange(len(self.pairs), dtype=np.uint32), self.steps)
        names = pl.Enum([*dict.fromkeys(place.name for place in self.places)])
        ends = [self.ends(pair) for pair in range(len(self.pairs))]
        table = pl.DataFrame(
            {
                "pair": pairs,
                "time_ps": np.tile(self.times_ps, len(self.pairs)),
                "delay_ps": columns["delays_ps"],
                "satellites": counts,
            }
        )
        by_pair = pl.DataFrame(
            {
                "pair": np.arange(len(ends), dtype=np.uint32),
                "from": pl.Series([source for source, _ in ends], dtype=names),
                "to": pl.Series([target for _, target in ends], dtype=names),
            }
        )
        there_is = pl.col("satellites") > 0
        return table.join(by_pair, on="pair", how="left", maintain_order="left").select(
            "from",
            "to",
            "time_ps",
            pl.when(there_is).then("delay_ps").alias("delay_ps"),
            pl.when(there_is).then("satellites").alias("satellites"),
        )

    def path_table(self) -> pl.DataFrame:
        """One row a stretch: from, to, start_ps, end_ps (first moment of the next), path."""
        import polars as pl

        rows = [
            {
                "from": self.ends(stretch.pair)[0],
                "to": self.ends(stretch.pair)[1],
                "start_ps": self.start_ps + self.step_ps * stretch.first_step,
                "end_ps": self.start_ps + self.step_ps * (stretch.first_step + stretch.steps),
                "satellites": len(stretch.satellites),
                "path": " ".join(stretch.satellites),
                "missing": stretch.missing,
            }
            for stretch in self.stretches
        ]
        schema = {
            "from": pl.String,
            "to": pl.String,
            "start_ps": pl.UInt64,
            "end_ps": pl.UInt64,
            "satellites": pl.UInt32,
            "path": pl.String,
            "missing": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def link_table(self) -> pl.DataFrame:
        """One row a link and step: from, to, time_ps, link (from 0), source, target, delay_ps."""
        import numpy as np
        import polars as pl

        if not self._columns["links_ps"].size and any(s.satellites for s in self.stretches):
            raise ValueError("the series was made without links; with_links keeps them")
        names = ["", "", *self.constellation.satellites]
        parts = []
        taken = 0
        number = {name: place for place, name in enumerate(self.constellation.satellites)}
        for stretch in self.stretches:
            if not stretch.satellites:
                continue
            count = len(stretch.satellites) + 1
            amount = count * stretch.steps
            nodes = np.array([-2, *(number[s] for s in stretch.satellites), -1]) + 2
            times = self.times_ps[stretch.first_step : stretch.first_step + stretch.steps]
            source, target = self.ends(stretch.pair)
            local = [source, target, *names[2:]]
            parts.append(
                pl.DataFrame(
                    {
                        "from": pl.repeat(source, amount, eager=True),
                        "to": pl.repeat(target, amount, eager=True),
                        "time_ps": np.repeat(times, count),
                        "link": np.tile(np.arange(count, dtype=np.uint32), stretch.steps),
                        "source": [local[n] for n in nodes[:-1].tolist()] * stretch.steps,
                        "target": [local[n] for n in nodes[1:].tolist()] * stretch.steps,
                        "delay_ps": self._columns["links_ps"][taken : taken + amount],
                    }
                )
            )
            taken += amount
        return pl.concat(parts) if parts else pl.DataFrame()

    def handovers(self, pair: int | None = None) -> list[Handover]:
        """Every change of path, with the step in which it shows."""
        found = []
        for before, after in zip(self.stretches, self.stretches[1:], strict=False):
            if before.pair != after.pair or pair not in (None, before.pair):
                continue
            delays = self.delays_ps(after.pair)
            at = after.first_step
            known = [int(d) if d != NO_PATH_PS else None for d in (delays[at - 1], delays[at])]
            found.append(
                Handover(
                    after.pair,
                    self.start_ps + self.step_ps * at,
                    _what_changes(before, after),
                    before.satellites,
                    after.satellites,
                    known[0],
                    known[1],
                )
            )
        return found


@dataclass(frozen=True)
class Handover:
    """A change of path.

    Attributes:
        pair: number of the pair.
        at_ps: first step on the new path; the change is within one step before it.
        what: `up`, `down`, `up and down`, `route`, `lost` or `found`.
        before: satellites of the old path.
        after: satellites of the new path.
        delay_before_ps: of the last step on the old path; None without path.
        delay_after_ps: of the first step on the new path; None without path.
    """

    pair: int
    at_ps: int
    what: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    delay_before_ps: int | None
    delay_after_ps: int | None


def _what_changes(before: Stretch, after: Stretch) -> str:
    if not after.satellites:
        return "lost"
    if not before.satellites:
        return "found"
    ends = [
        name
        for name, place in (("up", 0), ("down", -1))
        if before.satellites[place] != after.satellites[place]
    ]
    return " and ".join(ends) or "route"


def series(
    constellation: Constellation,
    places: Sequence[Place],
    pairs: Sequence[tuple[int, int]],
    *,
    duration_ps: int,
    step_ps: int = PS_PER_SECOND,
    start_ps: int = 0,
    with_links: bool = False,
    jobs: int | None = None,
    on_progress: Callable[[float], bool] | None = None,
) -> Series:
    """Paths and delays over time.

    Args:
        constellation: the satellites.
        places: on the ground.
        pairs: source and destination, as numbers of places.
        duration_ps: from the first moment to the last.
        step_ps: from one moment to the next.
        start_ps: the first moment, since time 0.
        with_links: whether the delay of each link is kept too.
        jobs: threads; as many as there are cores if not given.
        on_progress: told the share that is done about every 0.1 s; False gives up.

    Raises:
        ScenarioFaults: a place can see no satellite at any time, or a moment is too far from the
            elements' epochs.
        OrbitError: SGP4 gives no position.
        ValueError: a step that is not above 0, or more values than fit.
    """
    import os

    from skycell import _core

    if step_ps <= 0 or duration_ps < 0:
        text = f"{show_time(max(duration_ps, 0))} in steps of {step_ps} ps: steps are above 0"
        raise ValueError(text)
    refuse_distant_elements(constellation, start_ps, start_ps + duration_ps)
    refuse_out_of_reach(constellation, places)
    steps = duration_ps // step_ps + 1
    columns = _core.orbit_series(
        json.dumps(constellation.spec(places, pairs)),
        start_ps,
        step_ps,
        steps,
        jobs or os.cpu_count() or 1,
        with_links,
        on_progress,
    )
    return Series(constellation, places, pairs, start_ps, step_ps, steps, columns)
