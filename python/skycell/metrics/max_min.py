"""Max-min fair rates of connections in a network of any shape, by filling every link with water."""

import heapq
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Link = TypeVar("Link", bound=Hashable)


def max_min_rates(
    routes: Sequence[Sequence[Link]],
    capacity: Mapping[Link, float],
    demand: Sequence[float] | None = None,
    weight: Sequence[float] | None = None,
    cost: Sequence[Mapping[Link, float]] | None = None,
) -> list[float]:
    """Max-min fair rates: nobody can gain without somebody who has no more losing.

    All rates rise together from zero (in proportion to their weights). Where a link is full, the
    connections across it stay at what they have; so does one whose demand is met. The others rise
    on, until all stand still.

    Args:
        routes: links that each connection crosses. A connection may cross none if it has a demand;
            a link that stands twice in a route counts once.
        capacity: of each link, at least 0; any rate unit. May be infinite.
        demand: most that each connection wants, at least 0, same unit; may be infinite, which it
            is where none is given.
        weight: share of each connection against the others, above 0; all alike if not given. With
            weights it is rate over weight that nobody can raise at the cost of a smaller one.
        cost: what a connection's rate takes of each link on its route, as a multiple of the rate,
            above 0; 1 if not given.

    Returns:
        One rate per connection, in the order of the routes.

    Raises:
        ValueError: lengths differ, a link has no capacity in the mapping, a number is out of
            range, or a connection is bounded by nothing.

    Source: Bertsekas and Gallager, Data Networks, 2nd edition, section 6.5.2. One link: 98-0876R1
    section 6.

    >>> max_min_rates([["a", "b"], ["a"], ["b"]], {"a": 10.0, "b": 4.0})
    [2.0, 8.0, 2.0]
    >>> max_min_rates([["a"], ["a"], ["a"]], {"a": 12.0}, demand=[2.0, 8.0, 10.0])
    [2.0, 5.0, 5.0]
    >>> max_min_rates([["a"], ["a"]], {"a": 12.0}, cost=[{"a": 1.0}, {"a": 2.0}])
    [4.0, 4.0]
    """
    count = len(routes)
    demands = [math.inf] * count if demand is None else [float(rate) for rate in demand]
    weights = [1.0] * count if weight is None else [float(share) for share in weight]
    crossed = [frozenset(route) for route in routes]
    _refuse(crossed, capacity, demands, weights)
    rates = [0.0] * count
    rising = set(range(count))
    on_link: dict[Link, set[int]] = {}
    for connection, links in enumerate(crossed):
        for link in links:
            on_link.setdefault(link, set()).add(connection)
    left = {link: float(capacity[link]) for link in on_link}

    def of(connection: int, link: Link) -> float:
        return 1.0 if cost is None else cost[connection][link]

    def ceiling(link: Link) -> float:
        """The water's level, rate over weight, at which a link is full."""
        return left[link] / math.fsum(weights[c] * of(c, link) for c in on_link[link])

    # A connection that stops below a link's ceiling raises it, so a ceiling of before is a bound:
    # only those that the water has reached are worked out again.
    bounds = [(ceiling(link), place, link) for place, link in enumerate(on_link)]
    heapq.heapify(bounds)
    wanted = sorted(range(count), key=lambda c: demands[c] / weights[c], reverse=True)
    while rising:
        level = demands[wanted[-1]] / weights[wanted[-1]]
        stopped = set()
        while bounds and bounds[0][0] <= level:
            _, place, link = heapq.heappop(bounds)
            if not on_link[link]:
                continue
            now = ceiling(link)
            if bounds and now > bounds[0][0]:
                heapq.heappush(bounds, (now, place, link))
                continue
            if now > level:
                heapq.heappush(bounds, (now, place, link))
                break
            level = now
            stopped |= on_link[link]
        while wanted and demands[wanted[-1]] / weights[wanted[-1]] <= level:
            stopped.add(wanted.pop())
        for connection in stopped & rising:
            # What it wants, to the last digit; else its part of the level.
            is_content = demands[connection] / weights[connection] <= level
            part = demands[connection] if is_content else level * weights[connection]
            rates[connection] = min(part, demands[connection])
            for link in crossed[connection]:
                on_link[link].discard(connection)
                left[link] = max(0.0, left[link] - rates[connection] * of(connection, link))
        rising -= stopped
    return rates


def _refuse(
    crossed: Sequence[frozenset[Link]],
    capacity: Mapping[Link, float],
    demands: Sequence[float],
    weights: Sequence[float],
) -> None:
    if not len(crossed) == len(demands) == len(weights):
        raise ValueError(
            f"{len(crossed)} routes, {len(demands)} demands and {len(weights)} weights: there must "
            "be one of each per connection"
        )
    unknown = {link for links in crossed for link in links if link not in capacity}
    if unknown:
        raise ValueError(f"no capacity is given for {', '.join(sorted(map(str, unknown)))}")
    if not all(rate >= 0 for rate in [*capacity.values(), *demands]):
        raise ValueError("capacities and demands must be numbers of at least 0")
    if not all(0 < share < math.inf for share in weights):
        raise ValueError("weights must be above 0 and finite")
    for place, (links, rate) in enumerate(zip(crossed, demands, strict=True)):
        if math.isinf(rate) and all(math.isinf(capacity[link]) for link in links):
            raise ValueError(f"connection {place} is bounded by no link and no demand")
