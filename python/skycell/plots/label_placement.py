"""Where the names of points stand, so that they hide neither points nor each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

HEIGHT = 12.0
"""Height of a label, pixels."""
POINT = 6.0
"""Half the width of a point's mark, pixels."""
APART = 3.0
"""Least distance of a label from another and from a point that is not its own, pixels."""

_DISTANCES = (9.0, 16.0, 24.0, 34.0, 46.0, 60.0, 76.0, 94.0)
"""How far from its point a label may stand, pixels; nearer is better."""
_DIRECTIONS = 24
_CLEAR = 5.0
"""So much nearer to its own point than to others is a label without a line, pixels."""
_MOST = 64
"""Places that a label chooses among, the best without others."""
_ROUNDS = 12
"""Times that every label looks for a better place among the others; few need more than four."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, pixels."""


@dataclass(frozen=True)
class Label:
    """Where a name stands.

    Attributes:
        x: middle of the name, pixels from the left.
        y: middle of the name, pixels from the top.
        is_far: whether a line has to lead to it.
        lead: where that line ends, at the nearest edge of the name.
    """

    x: float
    y: float
    is_far: bool
    lead: tuple[float, float]


def place(
    points: Sequence[tuple[float, float]], widths: Sequence[float], width: float, height: float
) -> list[Label]:
    """Places a name beside each point: the most crowded first, then each anew among all others.

    Args:
        points: pixels from the left and from the top of the panel.
        widths: of the names, pixels.
        width: of the panel, pixels.
        height: of the panel, pixels.

    Returns:
        The labels, in the order of the points.

    >>> (label,) = place([(50.0, 50.0)], [30.0], 100.0, 100.0)
    >>> (round(label.x), round(label.y), label.is_far)
    (74, 50, False)
    """
    choices = []
    for i, (point, wide) in enumerate(zip(points, widths, strict=True)):
        others = [other for j, other in enumerate(points) if j != i]
        own = [
            (_alone(choice, point, others, width, height), choice)
            for choice in _choices(point, wide)
        ]
        choices.append(sorted(own, key=lambda entry: entry[0])[:_MOST])
    order = sorted(range(len(points)), key=lambda i: -_neighbours(points, i))
    found: dict[int, _Choice] = {}
    for _ in range(_ROUNDS):
        before = dict(found)
        for i in order:
            rest = [choice for j, choice in found.items() if j != i]
            costs = [
                cost + sum(_clash(choice, other) for other in rest) for cost, choice in choices[i]
            ]
            found[i] = choices[i][costs.index(min(costs))][1]
        if found == before:
            break
    return [found[i].label for i in range(len(points))]


@dataclass(frozen=True)
class _Choice:
    """A place that a name may take."""

    label: Label
    box: Box
    line: tuple[tuple[float, float], tuple[float, float]] | None
    """From the point to the label, where it is far."""
    cost: float
    """Of the distance; where that is the same, names stand at the right."""


def _choices(point: tuple[float, float], wide: float) -> list[_Choice]:
    x, y = point
    found = []
    for rank, distance in enumerate(_DISTANCES):
        for step in range(_DIRECTIONS):
            angle = 2 * pi * step / _DIRECTIONS
            middle = (
                x + cos(angle) * (distance + wide / 2),
                y - sin(angle) * (distance + HEIGHT / 2 - POINT),
            )
            half = wide / 2
            box = (
                middle[0] - half,
                middle[1] - HEIGHT / 2,
                middle[0] + half,
                middle[1] + HEIGHT / 2,
            )
            if _overlap(box, _mark(point)):
                continue
            is_far, end = rank > 1, _nearest(point, box)
            label = Label(*middle, is_far=is_far, lead=end)
            line = (point, end) if is_far else None
            found.append(_Choice(label, box, line, 6 * rank + 0.1 * step))
    return found


def _alone(
    choice: _Choice,
    point: tuple[float, float],
    others: Sequence[tuple[float, float]],
    width: float,
    height: float,
) -> float:
    """What a place costs before any other name stands."""
    marks = [_mark(other) for other in others]
    hidden = sum(_in_the_way(choice, mark) for mark in marks)
    away = _distance(point, choice.box)
    # Without a line it is read as the name of the point that is nearest.
    nearest = min((_distance(other, choice.box) for other in others), default=away + _CLEAR)
    mistaken = 0.0 if choice.line else max(0.0, away + _CLEAR - nearest)
    return choice.cost + 40 * _outside(choice.box, width, height) + hidden + 4 * mistaken


def _mark(point: tuple[float, float]) -> Box:
    """What a point covers."""
    x, y = point
    return x - POINT, y - POINT, x + POINT, y + POINT


def _distance(point: tuple[float, float], box: Box) -> float:
    end = _nearest(point, box)
    return hypot(end[0] - point[0], end[1] - point[1])


def _in_the_way(choice: _Choice, mark: Box) -> float:
    """What it costs that a name, or the line to it, meets something that stands fast."""
    crossed = choice.line is not None and _crosses(choice.line, mark)
    return _overlap(_wider(choice.box), mark) + 60 * crossed


def _clash(one: _Choice, other: _Choice) -> float:
    """What it costs that two names or their lines meet."""
    cost = _in_the_way(one, other.box)
    if other.line is not None:
        cost += 60 * _crosses(other.line, one.box)
        if one.line is not None:
            cost += 60 * _meet(one.line, other.line)
    return cost


def _wider(box: Box) -> Box:
    return (box[0] - APART, box[1] - APART / 2, box[2] + APART, box[3] + APART / 2)


def _neighbours(points: Sequence[tuple[float, float]], place_: int) -> int:
    x, y = points[place_]
    return sum(abs(x - a) < 40 and abs(y - b) < 20 for a, b in points)


def _nearest(point: tuple[float, float], box: Box) -> tuple[float, float]:
    """The point of a box that is nearest to a point outside."""
    left, top, right, bottom = box
    return min(max(point[0], left), right), min(max(point[1], top), bottom)


def _overlap(one: Box, other: Box) -> float:
    """Pixels that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)


def _outside(box: Box, width: float, height: float) -> float:
    """How far a box leaves the panel, pixels."""
    return max(0.0, -box[0]) + max(0.0, -box[1]) + max(0.0, box[2] - width, box[3] - height)


def _crosses(line: tuple[tuple[float, float], tuple[float, float]], box: Box) -> bool:
    """Whether a line goes through a box, looked at in twelve places."""
    (x0, y0), (x1, y1) = line
    return any(
        box[0] < x0 + (x1 - x0) * t / 12 < box[2] and box[1] < y0 + (y1 - y0) * t / 12 < box[3]
        for t in range(1, 12)
    )


def _meet(
    one: tuple[tuple[float, float], tuple[float, float]],
    other: tuple[tuple[float, float], tuple[float, float]],
) -> bool:
    """Whether two lines cross."""
    (a, b), (c, d) = one, other
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """On which side of the line from `a` to `b` a point lies, by its sign."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
