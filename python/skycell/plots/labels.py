"""Where the names of points stand, so that they hide neither points nor each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

LETTER = 6.0
"""Width of a letter of a label, pixels, on the average, at 10 pixels."""
HEIGHT = 12.0
"""Height of a label, pixels."""
POINT = 6.0
"""Half the width of a point's mark, pixels."""

_DISTANCES = (9.0, 16.0, 24.0, 34.0, 46.0, 60.0, 76.0)
"""How far from its point a label may stand, pixels; nearer is better."""
_DIRECTIONS = 16

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
    points: Sequence[tuple[float, float]], names: Sequence[str], width: float, height: float
) -> list[Label]:
    """Places a name beside each point, the most crowded point first.

    Args:
        points: pixels from the left and from the top of the panel.
        names: what stands beside each.
        width: of the panel, pixels.
        height: of the panel, pixels.

    Returns:
        The labels, in the order of the points.

    >>> (label,) = place([(50.0, 50.0)], ["DFBA"], 100.0, 100.0)
    >>> (round(label.x), round(label.y), label.is_far)
    (71, 50, False)
    """
    marks = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    order = sorted(range(len(points)), key=lambda i: -_neighbours(points, i))
    taken: list[Box] = []
    found: dict[int, Label] = {}
    leads: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for i in order:
        x, y = points[i]
        others = [mark for j, mark in enumerate(marks) if j != i]
        best: tuple[float, Label, Box] | None = None
        for rank, distance in enumerate(_DISTANCES):
            for step in range(_DIRECTIONS):
                angle = 2 * pi * step / _DIRECTIONS
                half = len(names[i]) * LETTER / 2
                at = (
                    x + cos(angle) * (distance + half),
                    y - sin(angle) * (distance + HEIGHT / 2 - POINT),
                )
                box = (at[0] - half, at[1] - HEIGHT / 2, at[0] + half, at[1] + HEIGHT / 2)
                outside = _outside(box, width, height)
                hidden = sum(_overlap(box, other) for other in (*taken, *others))
                crossed = sum(_crosses(lead, box) for lead in leads)
                if rank > 1:
                    lead = ((x, y), _nearest((x, y), box))
                    crossed += sum(_crosses(lead, other) for other in (*taken, *others))
                cost = 40 * outside + hidden + 60 * crossed + 6 * rank + 0.1 * step
                if best is None or cost < best[0]:
                    end = _nearest((x, y), box)
                    best = (cost, Label(*at, is_far=rank > 1, lead=end), box)
        assert best is not None
        found[i] = best[1]
        taken.append(best[2])
        if best[1].is_far:
            leads.append(((x, y), best[1].lead))
    return [found[i] for i in range(len(points))]


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
