"""Shortest paths over the links of a plan.

A path is shortest by propagation delay, then by hops; of equal ones the first that a search from
the source reaches wins, which takes links in their order in the file. Hosts are never on the way.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from skycell.scenario.plan.plan import Plan, PlannedLink

#: Picoseconds; a whole number is no fraction, as sums and comparisons of fractions take long.
_Delay = int | Fraction


@dataclass(frozen=True)
class _Reached:
    """A node that a search has reached, over `via`, as the `place`-th."""

    delay: _Delay
    hops: int
    place: int
    via: str


class ShortestPaths:
    """Shortest paths of a plan, one tree per source, each computed once.

    A tree is of the routers and switches alone. A host is joined to it where a path ends there:
    nothing lies behind it, and hosts are most of the nodes.
    """

    def __init__(self, plan: Plan) -> None:
        self._leaving: dict[str, list[PlannedLink]] = {name: [] for name in plan.nodes}
        self._into_host: dict[str, list[PlannedLink]] = {
            name: [] for name, kind in plan.nodes.items() if kind == "host"
        }
        for link in plan.links.values():
            if link.target in self._into_host:
                self._into_host[link.target].append(link)
            else:
                self._leaving[link.source].append(link)
        self._delays = {name: _whole(link.delay.amount) for name, link in plan.links.items()}
        leaving = Counter(link.source for link in plan.links.values())
        #: Of each host with one link: the switch or router that the link leads to.
        self._only_way = {
            host: self._leaving[host][0].target
            for host in self._into_host
            if leaving[host] == 1 and self._leaving[host]
        }
        self._trees: dict[str, dict[str, _Reached]] = {}

    def between(self, source: str, destination: str) -> list[str] | None:
        """Nodes from source to destination, or none when there is no way."""
        if source in self._only_way:
            # Nothing is decided at a host with one link: all such hosts of a node share its tree.
            way = self._between(self._only_way[source], destination)
            return None if way is None else [source, *way]
        return self._between(source, destination)

    def _between(self, source: str, destination: str) -> list[str] | None:
        if source not in self._trees:
            self._trees[source] = self._tree(source)
        tree = self._trees[source]
        last = tree[destination].via if destination in tree else self._last(tree, destination)
        if last is None:
            return None
        path = [destination]
        while path[-1] != source:
            path.append(last)
            last = tree[last].via
        return path[::-1]

    def _tree(self, source: str) -> dict[str, _Reached]:
        """Each node that can be reached. Ties go to what was pushed first."""
        tree: dict[str, _Reached] = {}
        pushed = 0
        heap: list[tuple[_Delay, int, int, str, str]] = [(0, 0, 0, source, source)]
        while heap:
            delay, hops, _, node, via = heapq.heappop(heap)
            if node in tree:
                continue
            tree[node] = _Reached(delay, hops, len(tree), via)
            for link in self._leaving[node]:
                if link.target not in tree:
                    pushed += 1
                    further = delay + self._delays[link.name]
                    heapq.heappush(heap, (further, hops + 1, pushed, link.target, node))
        return tree

    def _last(self, tree: dict[str, _Reached], host: str) -> str | None:
        """The node before a host, by the order in which a search comes there; none without one."""
        ways = (
            (before.delay + self._delays[link.name], before.hops, before.place, link.source)
            for link in self._into_host.get(host, ())
            if (before := tree.get(link.source)) is not None
        )
        first = min(ways, default=None)
        return None if first is None else first[-1]


def _whole(amount: Fraction) -> _Delay:
    return amount.numerator if amount.denominator == 1 else amount
