"""Calls that found no room, and the part of them that should by theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


def blocking_probability(calls: Mapping[str, Any]) -> float:
    """The part of the calls of a class that were blocked, of those asked for, which are some."""
    return int(calls["blocked"]) / int(calls["offered"])


def erlang_b(load: float, circuits: int) -> float:
    """Part of the calls that a group of circuits blocks, all held for one where there is room.

    Calls come as a Poisson process; how they are held is of no account but for its mean. A. K.
    Erlang, 1917; the recursion B(n) = A B(n - 1) / (n + A B(n - 1)).

    Args:
        load: traffic offered, A, erlang.
        circuits: calls that the group holds, from 0.

    >>> round(erlang_b(8, 10), 4), erlang_b(8, 0)
    (0.1217, 1.0)
    """
    blocked = 1.0
    for number in range(1, circuits + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked


class Class(NamedTuple):
    """Calls of a class: the traffic that they offer, erlang, and the circuits that each holds."""

    load: float
    circuits: int


def kaufman_roberts(classes: Sequence[Class], circuits: int) -> list[float]:
    """Part of the calls of each class that a group blocks which they share.

    With q(j) the weight of j circuits held, j q(j) = sum over classes of A b q(j - b), q(0) = 1;
    a call that needs b finds no room in the last b of the states. J. S. Kaufman, "Blocking in a
    shared resource environment", IEEE Transactions on Communications 29(10), 1981; J. W. Roberts,
    1981.

    >>> [round(part, 4) for part in kaufman_roberts([Class(8, 1)], 10)]
    [0.1217]
    """
    weights = [1.0]
    for held in range(1, circuits + 1):
        terms = (load * b * weights[held - b] for load, b in classes if b <= held)
        weights.append(sum(terms) / held)
    total = sum(weights)
    return [sum(weights[max(0, circuits - b + 1) :]) / total for _, b in classes]
