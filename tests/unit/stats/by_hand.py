"""Sums of squares of balanced designs by hand: a second opinion on the statistics library."""

from collections.abc import Mapping, Sequence
from itertools import combinations

Row = tuple[tuple[int, ...], float]
"""Level of each factor, and the response."""


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def sums_of_squares(rows: Sequence[Row], order: int) -> Mapping[tuple[int, ...], float]:
    """Of each term by the indices of its factors; `()` has the total, `(-1,)` what is left.

    The effect of a term at a cell is the mean there less the effects of all smaller terms in it.
    """
    count = len(rows[0][0])
    terms = [t for size in range(order + 1) for t in combinations(range(count), size)]
    effects: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    for term in terms:
        for cell in {tuple(code[f] for f in term) for code, _ in rows}:
            own = [v for code, v in rows if tuple(code[f] for f in term) == cell]
            smaller = sum(
                effects[below, tuple(cell[term.index(f)] for f in below)]
                for below in terms
                if set(below) < set(term)
            )
            effects[term, cell] = mean(own) - smaller
    found = {
        term: sum(effects[term, tuple(code[f] for f in term)] ** 2 for code, _ in rows)
        for term in terms
        if term
    }
    overall = effects[(), ()]
    total = sum((value - overall) ** 2 for _, value in rows)
    return found | {(): total, (-1,): total - sum(found.values())}
