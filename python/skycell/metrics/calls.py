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


class Redialled(NamedTuple):
    """Part of the calls that are blocked where who is blocked calls again."""

    #: Of all calls that are asked for, those made again among them.
    of_all: float
    #: Of those that are made for the first time.
    of_first: float


def with_redial(
    load: float, circuits: int, redial: float, pause: float, most_waiting: int = 100
) -> Redialled:
    """Part of the calls that a group of circuits blocks whose callers call again.

    The Markov chain of circuits held and callers who wait to call again, in balance: holding times
    and pauses are exponential. The longer the pauses, the more the calls made again are as random
    as others: of all B(a) are blocked, Erlang's formula at a = A / (1 - redial B(a)). The shorter,
    the more it is a queue: of the first ones those that would wait (Erlang C). G. I. Falin, "A
    survey of retrial queues", Queueing Systems 7, 1990.

    Args:
        load: traffic offered by first calls, A, erlang.
        circuits: calls that the group holds, above 0.
        redial: probability that who is blocked calls again, each time anew.
        pause: mean time before that, in mean holding times, above 0.
        most_waiting: callers up to which the chain goes.

    >>> round(with_redial(8, 10, 0.0, 1.0).of_all, 4) == round(erlang_b(8, 10), 4)
    True
    >>> blocked = erlang_b(2, 3)
    >>> erlang_c = 3 * blocked / (3 - 2 * (1 - blocked))
    >>> round(with_redial(2, 3, 1.0, 1e-4).of_first, 3) == round(erlang_c, 3)
    True
    """
    import numpy as np

    held, waiting = circuits + 1, most_waiting + 1
    flows = np.zeros((waiting, held, waiting, held))
    for j in range(waiting):
        again = j / pause
        for i in range(held):
            if i > 0:
                flows[j, i, j, i - 1] = i
            if i < circuits:
                flows[j, i, j, i + 1] = load
                if j > 0:
                    flows[j, i, j - 1, i + 1] = again
        if j + 1 < waiting:
            flows[j, circuits, j + 1, circuits] = load * redial
        if j > 0:
            flows[j, circuits, j - 1, circuits] = again * (1 - redial)
    rates = flows.reshape(held * waiting, held * waiting)
    rates -= np.diag(rates.sum(axis=1))
    # All balances but one, and that the parts come to one.
    rates[:, 0] = 1.0
    right = np.zeros(held * waiting)
    right[0] = 1.0
    states = np.linalg.solve(rates.T, right).reshape(waiting, held)
    first = float(states[:, circuits].sum())
    again_rates = np.arange(waiting) / pause
    asked = load + float(again_rates @ states.sum(axis=1))
    blocked = load * first + float(again_rates @ states[:, circuits])
    return Redialled(blocked / asked, first)
