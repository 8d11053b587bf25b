"""Fairness of the connections of one run."""

import math
from collections.abc import Sequence


def fairness_index(throughput: Sequence[float], fair_share: Sequence[float] | None = None) -> float:
    """Jain's fairness index of the connections of one run.

    Args:
        throughput: what each connection's receiver got; any rate unit, at least 0.
        fair_share: what each was due, every entry above zero; same unit. Without it all are due
            the same.

    Returns:
        From 1/n (one connection has all) to 1 (all got the same part of their share).

    Raises:
        ValueError: the lengths differ, a share is not above zero, a rate is below zero, or nothing
            was delivered.

    Source: NASA/CR-1999-209158, Definition 2. (Part III.A of the report prints the squares on the
    wrong sums; that form would give 1/n^2 for equal shares.)

    >>> fairness_index([9.0, 3.0], [6.0, 6.0])
    0.8
    >>> fairness_index([2.0, 1.0], [2.0, 1.0])
    1.0
    """
    shares = [1.0] * len(throughput) if fair_share is None else list(fair_share)
    if len(shares) != len(throughput):
        raise ValueError(f"{len(throughput)} throughputs but {len(shares)} fair shares")
    if any(share <= 0 for share in shares):
        raise ValueError("a fair share must be above zero")
    if any(rate < 0 for rate in throughput):
        raise ValueError("a throughput must not be below zero")
    parts = [rate / share for rate, share in zip(throughput, shares, strict=True)]
    largest = max(parts, default=0.0)
    if largest == 0:
        raise ValueError("nothing was delivered")
    # By a power of two, which costs no digit: squares of tiny or huge rates neither vanish nor
    # overflow.
    exponent = math.frexp(largest)[1]
    parts = [math.ldexp(part, -exponent) for part in parts]
    return sum(parts) ** 2 / (len(parts) * sum(part * part for part in parts))


def fairness_to_the_due(throughput: Sequence[float], fair_share: Sequence[float]) -> float | None:
    """Jain's index of the connections that were due anything; none where these got nothing.

    Args:
        throughput: what each connection's receiver got; any rate unit, at least 0.
        fair_share: what each was due, at least 0; same unit. One that asked for nothing is due
            nothing.

    >>> fairness_to_the_due([2.0, 1.0, 0.0], [2.0, 1.0, 0.0])
    1.0
    >>> fairness_to_the_due([0.0], [1.0])
    """
    due = [pair for pair in zip(throughput, fair_share, strict=True) if pair[1] > 0]
    if not any(rate for rate, _ in due):
        return None
    return fairness_index([rate for rate, _ in due], [share for _, share in due])


def max_min_shares(demand: Sequence[float], capacity: float) -> list[float]:
    """Max-min fair shares: nobody can get more without taking from one who has no more.

    Args:
        demand: what each connection asks for, at least 0; any rate unit.
        capacity: what there is to share, at least 0; same unit.

    Returns:
        One share per connection, at most its demand; their sum is the smaller of capacity and
        total demand.

    Source: 98-0876R1 section 6, which takes e_i from the scheduled octets of each server.

    >>> max_min_shares([2.0, 8.0, 10.0], 12.0)
    [2.0, 5.0, 5.0]
    """
    if capacity < 0 or any(rate < 0 for rate in demand):
        raise ValueError("demands and capacity must not be below zero")
    shares = [0.0] * len(demand)
    left = capacity
    by_demand = sorted(range(len(demand)), key=lambda index: demand[index])
    for place, index in enumerate(by_demand):
        shares[index] = min(demand[index], left / (len(demand) - place))
        left -= shares[index]
    return shares
