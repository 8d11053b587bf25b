"""Paths over a constellation over time: delays step by step, and when paths change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND, show_time
from skycell.orbit.absent_links import absent_links
from skycell.orbit.constellation import Constellation
from skycell.orbit.network import Route, reason_text
from skycell.orbit.places import Place
from skycell.orbit.reach import refuse_out_of_reach
from skycell.orbit.validity import ALL_IS_WELL, Validity, validity

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

NO_PATH_PS = 2**64 - 1
"""Delay of a step without a path, in the columns of the compiled part."""


@dataclass(frozen=True)
class Interval:
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


@dataclass(frozen=True)
class Change:
    """A change of path, where its moment was looked for.

    Attributes:
        pair: number of the pair.
        at_ps: the first moment known to be on the new path; the precision before it, the old path
            was still taken.
        before_ps: delay of the old path then; None where there was none.
        route: the new path at that moment.
    """

    pair: int
    at_ps: int
    before_ps: int | None
    route: Route


class Series:
    """Paths and delays of some pairs over time.

    Attributes:
        precision_ps: to which the moments of changes of path are known; None for the step.
        validity: which satellites are left out, and which elements are used far from their epoch.
    """

    def __init__(
        self,
        constellation: Constellation,
        places: Sequence[Place],
        pairs: Sequence[tuple[int, int]],
        start_ps: int,
        step_ps: int,
        steps: int,
        columns: dict[str, Any],
        precision_ps: int | None = None,
        validity: Validity = ALL_IS_WELL,
    ) -> None:
        self.validity = validity
        self.constellation = constellation
        self.places = tuple(places)
        self.pairs = tuple(pairs)
        self.start_ps, self.step_ps, self.steps = start_ps, step_ps, steps
        self.precision_ps = precision_ps
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
    def intervals(self) -> tuple[Interval, ...]:
        """Paths by pair and time; a pair's intervals follow each other without a gap."""
        columns, names = self._columns, self.constellation.satellites
        reasons = json.loads(columns["reasons"])
        way = iter(columns["way"].tolist())
        return tuple(
            Interval(
                pair,
                first,
                steps,
                tuple(names[next(way)] for _ in range(count)),
                "" if reason is None else reason_text(reason, self.places),
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

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Changes of path by pair and time; none where their moments were not looked for."""
        columns, names = self._columns, self.constellation.satellites
        reasons = json.loads(columns["change_reasons"])
        way = iter(columns["change_way"].tolist())
        links = iter(columns["change_links_ps"].tolist())
        return tuple(
            Change(
                pair,
                at_ps,
                None if before_ps == NO_PATH_PS else before_ps,
                Route(
                    *self.ends(pair),
                    tuple(names[next(way)] for _ in range(count)),
                    tuple(next(links) for _ in range(count + 1)) if count else (),
                    "" if reason is None else reason_text(reason, self.places),
                ),
            )
            for pair, at_ps, before_ps, count, reason in zip(
                columns["change_pair"].tolist(),
                columns["change_at_ps"].tolist(),
                columns["change_before_ps"].tolist(),
                columns["change_satellites"].tolist(),
                reasons,
                strict=True,
            )
        )

    def hops_ps(self, pair: int) -> list[tuple[tuple[str, ...], tuple[int, ...]] | None]:
        """Satellites and delay of each link of a pair's path at each step; None without a path.

        Raises:
            ValueError: the series was made without links.
        """
        found: list[tuple[tuple[str, ...], tuple[int, ...]] | None] = []
        for interval, links_ps in self._links():
            if interval.pair == pair:
                way = interval.satellites
                found += [(way, tuple(step)) if way else None for step in links_ps.tolist()]
        return found

    def _links(self) -> Iterator[tuple[Interval, NDArray[np.uint64]]]:
        """Each interval with the delays of its links, a row a step; of no link without a path."""
        links_ps = self._columns["links_ps"]
        if not links_ps.size and any(interval.satellites for interval in self.intervals):
            raise ValueError("the series was made without links; with_links keeps them")
        taken = 0
        for interval in self.intervals:
            count = len(interval.satellites) + 1 if interval.satellites else 0
            amount = count * interval.steps
            yield interval, links_ps[taken : taken + amount].reshape(interval.steps, count)
            taken += amount

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
        """One row an interval: from, to, start_ps, end_ps (first moment of the next), path."""
        import polars as pl

        rows = [
            {
                "from": self.ends(interval.pair)[0],
                "to": self.ends(interval.pair)[1],
                "start_ps": self.start_ps + self.step_ps * interval.first_step,
                "end_ps": self.start_ps + self.step_ps * (interval.first_step + interval.steps),
                "satellites": len(interval.satellites),
                "path": " ".join(interval.satellites),
                "missing": interval.missing,
            }
            for interval in self.intervals
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

        names = ["", "", *self.constellation.satellites]
        parts = []
        number = {name: place for place, name in enumerate(self.constellation.satellites)}
        for interval, links_ps in self._links():
            steps, count = links_ps.shape
            if not count:
                continue
            nodes = np.array([-2, *(number[s] for s in interval.satellites), -1]) + 2
            times = self.times_ps[interval.first_step : interval.first_step + steps]
            source, target = self.ends(interval.pair)
            local = [source, target, *names[2:]]
            parts.append(
                pl.DataFrame(
                    {
                        "from": pl.repeat(source, links_ps.size, eager=True),
                        "to": pl.repeat(target, links_ps.size, eager=True),
                        "time_ps": np.repeat(times, count),
                        "link": np.tile(np.arange(count, dtype=np.uint32), steps),
                        "source": [local[n] for n in nodes[:-1].tolist()] * steps,
                        "target": [local[n] for n in nodes[1:].tolist()] * steps,
                        "delay_ps": links_ps.ravel(),
                    }
                )
            )
        return pl.concat(parts) if parts else pl.DataFrame()

    def handovers(self, pair: int | None = None) -> list[Handover]:
        """Every change of path, at its moment or with the step in which it shows."""
        if self.precision_ps is not None:
            return self._exact_handovers(pair)
        found = []
        for before, after in zip(self.intervals, self.intervals[1:], strict=False):
            if before.pair != after.pair or pair not in (None, before.pair):
                continue
            delays = self.delays_ps(after.pair)
            at = after.first_step
            known = [int(d) if d != NO_PATH_PS else None for d in (delays[at - 1], delays[at])]
            found.append(
                Handover(
                    after.pair,
                    self.start_ps + self.step_ps * at,
                    _what_changes(before.satellites, after.satellites),
                    before.satellites,
                    after.satellites,
                    known[0],
                    known[1],
                )
            )
        return found

    def _exact_handovers(self, pair: int | None) -> list[Handover]:
        before = {s.pair: s.satellites for s in self.intervals if s.first_step == 0}
        found = []
        for change in self.changes:
            old = before[change.pair]
            before[change.pair] = change.route.satellites
            if pair in (None, change.pair):
                what = _what_changes(old, change.route.satellites)
                handover = Handover(
                    change.pair,
                    change.at_ps,
                    what,
                    old,
                    change.route.satellites,
                    change.before_ps,
                    change.route.delay_ps,
                )
                found.append(handover)
        return found


@dataclass(frozen=True)
class Handover:
    """A change of path.

    Attributes:
        pair: number of the pair.
        at_ps: first step on the new path, the change being within one step before it; where its
            moment was looked for, that moment.
        what: `up`, `down`, `up and down`, `route`, `lost` or `found`.
        before: satellites of the old path.
        after: satellites of the new path.
        delay_before_ps: last known on the old path; None without path.
        delay_after_ps: first known on the new path; None without path.
    """

    pair: int
    at_ps: int
    what: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    delay_before_ps: int | None
    delay_after_ps: int | None


def _what_changes(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    if not after:
        return "lost"
    if not before:
        return "found"
    ends = [name for name, place in (("up", 0), ("down", -1)) if before[place] != after[place]]
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
    precision_ps: int | None = None,
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
        precision_ps: how exactly the moments of changes of path are looked for, above 0; if not
            given, a change shows at the first step after it, and stations that hold their
            satellite take the next one at that step.
        jobs: threads; as many as there are cores if not given.
        on_progress: told the share that is done about every 0.1 s; False gives up.

    Raises:
        ScenarioFaults: a place can see no satellite at any time, a moment is too far from the
            elements' epochs, or every satellite has decayed before the first.
        ValueError: a step that is not above 0, or more values than fit.
    """
    import os

    from skycell import _core

    if step_ps <= 0 or duration_ps < 0:
        text = f"{show_time(max(duration_ps, 0))} in steps of {step_ps} ps: steps are above 0"
        raise ValueError(text)
    known = validity(constellation, start_ps, start_ps + duration_ps, places)
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
        precision_ps,
    )
    known = replace(known, links=absent_links(constellation, start_ps, start_ps + duration_ps))
    return Series(
        constellation, places, pairs, start_ps, step_ps, steps, columns, precision_ps, known
    )
