"""A constellation as a network: next hops of every node by destination, and how routes change."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.quantities import show_time
from skycell.orbit.absent_links import absent_links
from skycell.orbit.constellation import Constellation
from skycell.orbit.fstate import ListedRoutes
from skycell.orbit.ground import Ground
from skycell.orbit.places import Place
from skycell.orbit.validity import ALL_IS_WELL, Validity, validity

if TYPE_CHECKING:
    import polars as pl

STEP_PS = 10**11
"""Usual time between epochs: 100 ms, as in Hypatia's experiments."""
NO_PATH_PS = 2**64 - 1
NO_NODE = 2**32 - 1
LOSSES = ("", "no route", "a route without a link", "a loop: 64 links and no end")


@dataclass(frozen=True)
class PathSpan:
    """The same path of a pair over some epochs.

    Attributes:
        pair: number of the pair, or of one of its paths.
        first_epoch: where the path begins.
        epochs: how many.
        nodes: names of the nodes from the first on; up to where a packet is lost.
        missing: why a packet does not arrive; empty where it does.
    """

    pair: int
    first_epoch: int
    epochs: int
    nodes: tuple[str, ...]
    missing: str = ""


class Routes:
    """Next hops by node and destination at each epoch, and the paths of some pairs.

    Attributes:
        places: with a view of satellites; the stations come first.
        ground: what the places are.
        pairs: source and destination, as numbers of destinations; a pair comes once for each of the
            `paths` to its destination, one after another.
        paths: labels of each destination.
        by: what paths have the least of: `delay` or `hops`; `table` or `router` where routes are
            the user's.
        start_ps: the first epoch.
        step_ps: from one step to the next; each step is an epoch.
        epochs: how many.
        epoch_ps: the moment of each epoch.
        digest: SHA-256 of the columns' file.
        octets: length of the columns' file.
        links: directed links that exist at one epoch or more.
        unlinked: names of the places that no satellite is in reach of at any epoch.
        file: the columns' file, where it was asked for.
        validity: which satellites are left out, and which links do not exist.
    """

    def __init__(
        self,
        constellation: Constellation,
        places: Sequence[Place],
        pairs: Sequence[tuple[int, int]],
        by: str,
        times: tuple[int, int],
        columns: dict[str, Any],
        validity: Validity = ALL_IS_WELL,
        ground: Ground | None = None,
        paths: int = 1,
    ) -> None:
        self.constellation, self.by = constellation, by
        self.places, self.paths = tuple(places), paths
        self.ground = Ground(len(places)) if ground is None else ground
        self.pairs = tuple(pair for pair in pairs for _ in range(paths))
        self.start_ps, self.step_ps = times
        self.epoch_ps: list[int] = columns["epoch_ps"].tolist()
        self.epochs = len(self.epoch_ps)
        self.digest: str = columns["digest"]
        self.octets: int = columns["octets"]
        self.links: int = columns["links"]
        unlinked = zip(self.ground.nodes(self.places), columns["unlinked"], strict=True)
        self.unlinked = tuple(place.name for place, is_unlinked in unlinked if is_unlinked)
        self.file: bytes | None = columns.get("file")
        self.validity = validity
        self._columns = columns

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes: satellites, then places, then perhaps the point behind them."""
        places = (place.name for place in self.ground.nodes(self.places))
        return (*self.constellation.satellites, *places)

    @cached_property
    def destinations(self) -> tuple[Place, ...]:
        """The places that packets have as their destination."""
        return self.ground.destinations(self.places)

    def at_ps(self, epoch: int) -> int:
        """The moment of an epoch; of the one after the last a step later."""
        if epoch < self.epochs:
            return self.epoch_ps[epoch]
        return self.epoch_ps[-1] + self.step_ps

    def ends(self, pair: int) -> tuple[str, str]:
        """Names of a pair's places."""
        source, target = self.pairs[pair]
        return self.destinations[source].name, self.destinations[target].name

    def way(self, pair: int) -> str:
        """The name of a pair's path: `from>to`, and behind the first one with its number."""
        source, target = self.ends(pair)
        return name_of_way(source, target, pair % self.paths)

    @cached_property
    def spans(self) -> tuple[PathSpan, ...]:
        """Paths by pair and time; those of a pair follow one another without a gap."""
        columns = self._columns
        way = iter(columns["way"].tolist())
        rows = zip(
            *(
                columns[name].tolist()
                for name in ("pair", "first_epoch", "epochs", "nodes", "lost")
            ),
            strict=True,
        )
        return tuple(
            PathSpan(
                pair,
                first,
                epochs,
                tuple(self.nodes[next(way)] for _ in range(count)),
                LOSSES[lost],
            )
            for pair, first, epochs, count, lost in rows
        )

    @property
    def different_paths(self) -> list[int]:
        """How many different paths each pair has at the first epoch, of the `paths` that it has."""
        first = [span.nodes for span in self.spans if span.first_epoch == 0]
        starts = range(0, len(first), self.paths)
        return [len(set(first[start : start + self.paths])) for start in starts]

    def delays_ps(self, pair: int) -> list[int | None]:
        """Delay of a pair's path at each epoch; None where a packet does not arrive."""
        own = self._columns["delays_ps"][pair * self.epochs : (pair + 1) * self.epochs]
        return [None if delay == NO_PATH_PS else delay for delay in own.tolist()]

    @cached_property
    def first_links_ps(self) -> tuple[tuple[int, ...], ...]:
        """Delays of the links of each pair's path at the first epoch."""
        links = iter(self._columns["links_ps"].tolist())
        firsts = (span for span in self.spans if span.first_epoch == 0)
        return tuple(tuple(next(links) for _ in span.nodes[1:]) for span in firsts)

    @property
    def changes(self) -> int:
        """Next hops that differ from the epoch before, of all nodes and destinations."""
        return len(self._columns["change_epoch"])

    def path_table(self) -> pl.DataFrame:
        """One row a path: from, to, start_ps, end_ps (start of the next), hops, path, missing."""
        import polars as pl

        rows = [
            (
                *self.ends(span.pair),
                self.at_ps(span.first_epoch),
                self.at_ps(span.first_epoch + span.epochs),
                len(span.nodes) - 1,
                " ".join(span.nodes),
                span.missing,
            )
            for span in self.spans
        ]
        schema = {
            "from": pl.String,
            "to": pl.String,
            "start_ps": pl.UInt64,
            "end_ps": pl.UInt64,
            "hops": pl.UInt32,
            "path": pl.String,
            "missing": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def change_table(self) -> pl.DataFrame:
        """One row a change of next hop: time_ps, node, to, before, after; null for no next hop."""
        import polars as pl

        columns = self._columns
        return pl.DataFrame(
            {
                "time_ps": columns["epoch_ps"][columns["change_epoch"]],
                "node": self._named(columns["change_node"]),
                "to": self._named(columns["label_node"][columns["change_label"]]),
                "before": self._named(columns["change_before"]),
                "after": self._named(columns["change_after"]),
            }
        )

    def next_table(self) -> pl.DataFrame:
        """One row a node and destination at the first epoch: node, to, next; null for none."""
        import numpy as np
        import polars as pl

        ends = self._columns["label_node"]
        nodes = np.arange(len(self.nodes), dtype=np.uint32)
        table = pl.DataFrame(
            {
                "node": self._named(np.repeat(nodes, len(ends))),
                "to": self._named(np.tile(ends, len(nodes))),
                "next": self._named(self._columns["next"]),
            }
        )
        return table.filter(pl.col("node") != pl.col("to"))

    def _named(self, numbers: Any) -> pl.Series:
        """The names of nodes, null for none."""
        import polars as pl

        names = pl.Series([*self.nodes, None], dtype=pl.String)
        return names.gather(pl.Series(numbers).clip(upper_bound=len(self.nodes)))


def name_of_way(source: str, target: str, path: int) -> str:
    """The name of one of the paths of a pair; that of the first is the pair's own.

    >>> name_of_way("paris", "tokyo", 0), name_of_way("paris", "tokyo", 1)
    ('paris>tokyo', 'paris>tokyo, path 2')
    """
    return f"{source}>{target}" + (f", path {path + 1}" if path else "")


def routes(
    constellation: Constellation,
    places: Sequence[Place],
    pairs: Sequence[tuple[int, int]] = (),
    *,
    duration_ps: int = 0,
    step_ps: int = STEP_PS,
    start_ps: int = 0,
    by: str = "delay",
    listed: ListedRoutes | None = None,
    with_file: bool = False,
    jobs: int | None = None,
    on_progress: Callable[[float], bool] | None = None,
    port_per_station: bool = False,
    outages: Sequence[tuple[int, int, int, int]] = (),
    ground: Ground | None = None,
    paths: int = 1,
    detour_ppm: int = 0,
    precision_ps: int | None = None,
    interruption_ps: int = 0,
) -> Routes:
    """Routes by destination of all nodes, and the paths that they lead the pairs on.

    Args:
        constellation: the satellites.
        places: on the ground; each is a destination unless `ground` says otherwise.
        pairs: source and destination, as numbers of destinations.
        duration_ps: from the first epoch to the last.
        step_ps: from one epoch to the next.
        start_ps: the first epoch, since time 0.
        by: what a path has the least of: `delay`, or `hops` and then delay. Of equal paths that
            over the neighbour of the smallest number is taken.
        listed: routes that were read, with epochs of their own; instead of the five before.
        with_file: whether the columns' file is kept.
        jobs: threads; as many as there are cores if not given.
        on_progress: told the share that is done about every 0.1 s; False gives up.
        port_per_station: whether a satellite has a port for each station in the columns, and not
            one for all.
        outages: node, other end of a link or below 0 for the whole node, first step, and the first
            step after it: links of what is out of order do not exist.
        ground: which places are stations, and which forward.
        paths: labels of each destination, each with next hops of its own.
        detour_ppm: by how much the later paths may be longer than the first, in parts of a million.
        precision_ps: to which changes of the pairs' paths between steps are looked for, each of
            which is an epoch; None for none but the steps.
        interruption_ps: time from which on a place may use a satellite to that from which on their
            link carries packets; what it uses at the first epoch carries them at once.

    Raises:
        ScenarioFaults: a listed route has no link, or the route is greedy.
        ValueError: a step that is not above 0, or more values than fit.
    """
    import os

    from skycell import _core

    if listed is not None:
        start_ps, step_ps = listed.start_ps, listed.step_ps
        duration_ps = step_ps * (listed.epochs - 1)
    if step_ps <= 0 or duration_ps < 0:
        text = f"{show_time(max(duration_ps, 0))} in steps of {step_ps} ps: steps are above 0"
        raise ValueError(text)
    if constellation.file.route == "greedy" and listed is None:
        allowed = "shortest, because a greedy path depends on where it began"
        meaning = "how a node chooses the next one by the destination alone"
        raise ScenarioFaults([Fault(constellation.name, "route", '"greedy"', allowed, meaning)])
    last_ps = start_ps + duration_ps
    known = validity(constellation, start_ps, last_ps, places)
    epochs = duration_ps // step_ps + 1
    spec = constellation.spec(places, pairs)
    columns = _core.orbit_routes(
        json.dumps(spec if listed is None else {**spec, "route": "shortest"}),
        start_ps,
        step_ps,
        epochs,
        jobs or os.cpu_count() or 1,
        by,
        None if listed is None else listed.rows,
        with_file,
        on_progress,
        port_per_station,
        list(outages),
        None if ground is None else ground.stations,
        ground is not None and ground.stations_relay,
        [] if ground is None else list(ground.terrestrial),
        paths,
        detour_ppm,
        precision_ps,
        interruption_ps,
    )
    if listed is not None:
        by = listed.by
        _refuse_missing(constellation, ground or Ground(len(places)), places, listed, columns)
        known = replace(known, accounts=(*known.accounts, listed.account))
    known = replace(known, links=absent_links(constellation, start_ps, last_ps))
    times = (start_ps, step_ps)
    return Routes(constellation, places, pairs, by, times, columns, known, ground, paths)


def _refuse_missing(
    constellation: Constellation,
    ground: Ground,
    places: Sequence[Place],
    listed: ListedRoutes,
    columns: dict[str, Any],
) -> None:
    if "no_link" not in columns:
        return
    node, label, following, at_ps = columns["no_link"]
    names = (*constellation.satellites, *(place.name for place in ground.nodes(places)))
    numbers = f"node {node} to node {following}"
    target = ground.destinations(places)[label].name
    got = f"{names[node]} ({numbers}) hands to {names[following]} for {target}"
    allowed = (
        f"a next hop that is linked at {show_time(at_ps)} and as long as the route is in force"
    )
    raise ScenarioFaults([Fault(listed.account.file, "", got, allowed, "a route")])
