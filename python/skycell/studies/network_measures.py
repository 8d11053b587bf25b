"""How a table's number is computed on runs over a constellation: what a pair's path leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from skycell.experiment.design import Level
from skycell.experiment.run import run_spec
from skycell.input.quantities import PS_PER_SECOND
from skycell.measures.measure import Measures
from skycell.metrics import throughputs_bps
from skycell.records.sky import sky_seconds
from skycell.scenario import NetworkSpec, parse
from skycell.spec.columns import columns_of

if TYPE_CHECKING:
    from skycell.orbit.columns import Columns

NETWORK_MEASURES: Measures[Network] = Measures()
"""What a table can compute on runs over a constellation.

A part fixes `links`: `between_satellites`, or `all` of a path. The row has `pair`, such as
`paris>tokyo`, or `each` for the mean over all pairs.
"""

EACH = "each"
"""In place of a pair: the mean over all of them."""
_TENTHS = 10
_ALL = "all"


@dataclass(frozen=True)
class Network:
    """A scenario over a constellation as a measure sees it."""

    values: Mapping[str, Any]
    """Of the scenario, as they would stand in a file."""
    folder: Path
    """That files of the scenario are relative to."""
    factors: Mapping[str, Level]
    """The row's, and what its part fixes."""

    def pairs(self) -> list[_PairInRun]:
        """The pairs of the row, simulated."""
        scenario = parse(dict(self.values), name="run", folder=self.folder, is_template=True)
        pairs = _run(_HashedSpec(scenario.resolve()))
        asked = str(self.factors["pair"])
        return list(pairs.values()) if asked == EACH else [pairs[asked]]

    def left(self) -> list[Sequence[float]]:
        """Capacity left at each step with a path, of the pairs of the row that have one."""
        counts_all = self.factors["links"] == _ALL
        found = [pair.left_of_all if counts_all else pair.left_between for pair in self.pairs()]
        return [left for left in found if left]


@dataclass(frozen=True)
class _PairInRun:
    """What a pair had in one run.

    Attributes:
        left_of_all: part of the capacity that the fullest link of the path left, at each step with
            a path.
        left_between: the same of links between satellites, at each step with such a link.
        goodput_mbps: of its connections, from the moment that is measured from.
    """

    left_of_all: Sequence[float]
    left_between: Sequence[float]
    goodput_mbps: float


class _HashedSpec:
    """A spec as a key."""

    def __init__(self, spec: NetworkSpec) -> None:
        self.spec = spec
        self.key = spec.hash()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _HashedSpec) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=64)
def _run(key: _HashedSpec) -> Mapping[str, _PairInRun]:
    """Simulates a run and keeps what pairs had in it, by their names."""
    from skycell.orbit.columns import Columns

    spec = key.spec
    file = columns_of(spec)
    if file is None or not spec.flows:
        raise ValueError("a scenario without a constellation, or without connections")
    result = run_spec(spec)
    columns = Columns(file.read_bytes())
    loads = _Loads(
        columns,
        dict(
            zip(
                result.traces["sky_seconds"].select("port", "second").iter_rows(),
                sky_seconds(spec, result.traces)["load"],
                strict=True,
            )
        ),
    )
    rates_bps = throughputs_bps(result.records, "delivered_over_duration")
    names = {node.name: number for number, node in enumerate(spec.nodes)}
    ends = {
        flow.name: tuple(names[end] for end in flow.name.partition("#")[0].split(">"))
        for flow in spec.flows
    }
    left = {name: ([], []) for name in ends}  # type: dict[str, tuple[list[float], list[float]]]
    for epoch, second in _steps(columns, spec):
        hops = columns.next_hops(epoch)
        for name, (source, target) in ends.items():
            path = _path(columns, hops, source, target)
            found = [loads.of(link, second) for link in pairwise(path)]
            if found:
                left[name][0].append(1 - max(found))
            if len(found) > 2:
                left[name][1].append(1 - max(found[1:-1]))
    return {
        name: _PairInRun(tuple(of_all), tuple(between), rate_bps / 1e6)
        for (name, (of_all, between)), rate_bps in zip(left.items(), rates_bps, strict=True)
    }


@dataclass(frozen=True)
class _Loads:
    """How full the links are in each second."""

    columns: Columns
    by_port: Mapping[tuple[int, int], float]
    """Part of the second that the packets that left a port take of the line."""

    def of(self, link: tuple[int, int], second: int) -> float:
        """The load of a link's port in a second."""
        return self.by_port.get((_ports(self.columns)[link], second), 0.0)


@lru_cache(maxsize=2)
def _ports(columns: Columns) -> Mapping[tuple[int, int], int]:
    """The port that feeds each link, by its ends."""
    ends = zip(columns.link_from.tolist(), columns.link_to.tolist(), strict=True)
    return dict(zip(ends, columns.link_port.tolist(), strict=True))


def _steps(columns: Columns, spec: NetworkSpec) -> Iterator[tuple[int, int]]:
    """Each tenth of a second: the epoch that is in force, and the second of the run."""
    import numpy as np

    first = -(-spec.measure_from_ps * _TENTHS // PS_PER_SECOND)
    for tenth in range(first, spec.duration_ps * _TENTHS // PS_PER_SECOND):
        at_ps = tenth * PS_PER_SECOND // _TENTHS
        epoch = int(np.searchsorted(columns.epoch_ps, at_ps, side="right")) - 1
        yield epoch, tenth // _TENTHS


def _path(columns: Columns, hops: Any, source: int, target: int) -> list[int]:
    """The nodes from one station to another by the routes of an epoch; nothing without a path."""
    (label,) = (columns.label_node == target).nonzero()[0].tolist()
    path = [source]
    while path[-1] != target:
        following = int(hops[path[-1], label])
        if following < 0 or following in path:
            return []
        path.append(following)
    return path


@NETWORK_MEASURES.declare(
    "%", "part of the time with a path in which more than a third of the capacity along it was left"
)
def third_left_time(of: Network) -> float | None:
    """None if the pair never has a path."""
    return _mean(100 * fmean(part > 1 / 3 for part in left) for left in of.left())


@NETWORK_MEASURES.declare("%", "capacity that was left along the path, mean over time")
def mean_left_capacity(of: Network) -> float | None:
    """None if the pair never has a path."""
    return _mean(100 * fmean(left) for left in of.left())


@NETWORK_MEASURES.declare("%", "standard deviation over time of the capacity left along the path")
def deviation_of_left_capacity(of: Network) -> float | None:
    """None if the pair never has a path."""
    return _mean(100 * pstdev(left) for left in of.left())


@NETWORK_MEASURES.declare("Mbit/s", "goodput of the pair's connection", better="larger")
def pair_goodput(of: Network) -> float | None:
    """From the moment that is measured from."""
    return _mean(pair.goodput_mbps for pair in of.pairs())


def _mean(of_pairs: Iterable[float]) -> float | None:
    """The mean over pairs; None without one."""
    numbers = list(of_pairs)
    return fmean(numbers) if numbers else None
