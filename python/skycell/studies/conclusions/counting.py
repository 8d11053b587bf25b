"""Counting pairs, and writing numbers into evidence."""

from collections.abc import Iterable, Sequence

Pair = tuple[float, float]


def above(pairs: Sequence[Pair]) -> int:
    """Pairs whose first number is above the second.

    >>> above([(2.0, 1.0), (1.0, 1.0), (1.0, 2.0)])
    1
    """
    return sum(a > b for a, b in pairs)


def at_least(pairs: Sequence[Pair]) -> int:
    """Pairs whose first number is not below the second."""
    return sum(a >= b for a, b in pairs)


TOLD = 0.005
"""What two printed digits can tell of two efficiencies or indices: half a unit of the last."""


def in_all(pairs: Sequence[Pair]) -> bool:
    """Whether the first number is above the second in all pairs, as far as print can tell.

    A statement about all cases falls with one of them, so a pair counts against it only where two
    printed digits would show it: none goes the other way by more than `TOLD`, and more than half
    are above by more than that.

    >>> in_all([(0.97, 0.90), (0.99, 0.95), (0.988, 0.989)]), in_all([(0.97, 0.90), (0.95, 0.96)])
    (True, False)
    """
    told = sum(a > b + TOLD for a, b in pairs)
    return 2 * told > len(pairs) and all(a >= b - TOLD for a, b in pairs)


def ties(pairs: Sequence[Pair]) -> int:
    """Pairs of equal numbers."""
    return sum(a == b for a, b in pairs)


def in_some_run(below: Sequence[float | None], above: Sequence[float | None]) -> int:
    """Runs, seed by seed, in which the first number is below the second.

    For statements that something *can* happen or *need not*: one run shows it, no mean can. A seed
    that has no number on one of the sides shows nothing.

    >>> in_some_run([1.0, 5.0, 1.0], [2.0, 2.0, None])
    1
    """
    pairs = zip(below, above, strict=True)
    return sum(a < b for a, b in pairs if a is not None and b is not None)


def count(found: int, of: Sequence[object]) -> str:
    """A count as evidence: `5 of 6`."""
    return f"{found} of {len(of)}"


def spread(values: Iterable[float]) -> float:
    """Largest less smallest.

    >>> spread([0.25, 0.75, 0.5])
    0.5
    """
    listed = list(values)
    return max(listed) - min(listed)


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean."""
    listed = list(values)
    return sum(listed) / len(listed)


def show(values: Iterable[float], digits: int = 2) -> str:
    """Numbers for people.

    >>> show([0.5, 0.25])
    '0.50, 0.25'
    """
    return ", ".join(f"{value:.{digits}f}" for value in values)


_MOST_DIGITS = 6
"""Behind the point; numbers that are alike in these are told as equal."""
_NOTHING = 1e-9
"""What sums of decimal numbers may be apart by the way in which they are computed."""


def apart(values: Sequence[float], digits: int = 2, limits: Sequence[float] = ()) -> list[str]:
    """Numbers for people, each with as many digits as show which is the larger one.

    Args:
        values: the numbers; their order has to be read off what is printed.
        digits: behind the point, where they do.
        limits: numbers that the values are compared with, and not with one another.

    >>> apart([0.8212, 0.8234])
    ['0.821', '0.823']
    >>> apart([0.1502, 0.31], limits=[0.15])
    ['0.1502', '0.3100']
    """
    known = [*values, *limits]
    pairs = [(a, b) for i, a in enumerate(values) for b in known[i + 1 :]]
    while digits < _MOST_DIGITS and any(
        abs(a - b) > _NOTHING and round(a, digits) == round(b, digits) for a, b in pairs
    ):
        digits += 1
    return [f"{value:.{digits}f}" for value in values]


def compared(one: float, other: float, digits: int = 2) -> str:
    """Two numbers with the sign that belongs between them.

    >>> compared(0.8212, 0.8234), compared(30.0, 2.5, 1), compared(0.5, 0.5)
    ('0.821 < 0.823', '30.0 > 2.5', '0.50 = 0.50')
    """
    left, right = apart([one, other], digits)
    return f"{left} {'=' if left == right else '<' if one < other else '>'} {right}"


def between(values: Iterable[float], digits: int = 2) -> str:
    """Smallest and largest for people: `0.12 to 0.22`."""
    listed = list(values)
    return f"{min(listed):.{digits}f} to {max(listed):.{digits}f}"
