"""Evidence of a conclusion: a text with expressions in braces, and how their numbers are shown.

A field is `{expression}` or `{expression:form}`:

- one number has as many digits as tell it from the others of the text and from the numbers that
  the criterion names, two at least; `~1` asks for one at least, `3` for three and no others, `+2`
  for a sign as well;
- several are listed with two digits, or with as many as are asked for; `span` shows the smallest
  and the largest, `named` each with its levels, `largest` and `smallest` the levels of one;
- a comparison of two numbers is shown with both and the sign that belongs between them; `of` says
  of several how many hold, and `but` also shows those that do not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from string import Formatter

from skycell.studies.cells import Cells, Key, MissingValueError
from skycell.studies.criteria import Comparison, CriterionError, Reckoning, parsed

NOTHING = "–"
"""Stands for a ratio to nothing, and for a number that is not there."""

_FORM = re.compile(
    r"(?P<sign>\+?)(?P<adapts>~?)(?P<digits>\d?) ?(?P<form>|span|named|largest|smallest|of|but)"
)
_MOST_DIGITS = 6
"""Behind the point; numbers that are alike in these are shown as equal."""
_SAME = 1e-9
"""What sums of decimal numbers may be apart by the way in which they are computed."""


def apart(values: Sequence[float], digits: int = 2, limits: Sequence[float] = ()) -> int:
    """With how many digits numbers show which is the larger one.

    Args:
        values: the numbers; their order has to be read off what is printed.
        digits: behind the point, where they do.
        limits: numbers that the values are compared with, and not with one another.

    >>> apart([0.8212, 0.8234]), apart([0.1502, 0.31], limits=[0.15])
    (3, 4)
    """
    known = [*values, *limits]
    pairs = [(a, b) for place, a in enumerate(values) for b in known[place + 1 :]]
    while digits < _MOST_DIGITS and any(
        abs(a - b) > _SAME and round(a, digits) == round(b, digits) for a, b in pairs
    ):
        digits += 1
    return digits


def write_evidence(template: str, criterion: str, reckoning: Reckoning) -> str:
    """The text with its numbers.

    Raises:
        CriterionError: a field is not allowed.
    """
    limits = [
        float(node.value)
        for node in ast.walk(parsed(criterion))
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    ]
    fields = [_Field.read(*entry[:3], reckoning) for entry in Formatter().parse(template)]
    adapting = [field for field in fields if field.number is not None and field.adapts]
    numbers = [field.number for field in adapting if field.number is not None]
    for field in adapting:
        field.digits = apart(numbers, field.digits, limits)
    return "".join(field.before + field.text() for field in fields)


class _Field:
    """A field of a text, and the words before it."""

    def __init__(self, before: str) -> None:
        self.before = before
        self.value: Cells | list[Comparison] | None = None
        self.sign, self.form, self.digits, self.adapts = "", "", 2, True

    @classmethod
    def read(cls, before: str, text: str | None, form: str | None, reckoning: Reckoning) -> _Field:
        """A field with its value; words alone have none."""
        field = cls(before)
        if text is None:
            return field
        found = _FORM.fullmatch(form or "")
        if found is None:
            raise CriterionError(f"{{{text}:{form}}}: there is no such form")
        field.sign, field.form = found["sign"], found["form"]
        field.digits = int(found["digits"] or 2)
        field.adapts = not found["digits"] or bool(found["adapts"])
        tree = parsed(text)
        try:
            if isinstance(tree, ast.Compare):
                field.value = reckoning.comparisons(tree)
            else:
                field.value = reckoning.cells(tree)
        except (MissingValueError, ZeroDivisionError):
            field.form, field.value = "nothing", None
        return field

    @property
    def number(self) -> float | None:
        """The value of a field that stands for one number."""
        if isinstance(self.value, Cells) and not self.form and len(self.value.values) == 1:
            return self.value.number
        return None

    def text(self) -> str:
        """What is shown."""
        if self.value is None:
            return NOTHING if self.form else ""
        if isinstance(self.value, Cells):
            return self._of_cells(self.value)
        return self._of_comparisons(self.value)

    def _shown(self, value: float) -> str:
        return f"{value:{self.sign}.{self.digits}f}"

    def _of_cells(self, cells: Cells) -> str:
        if self.form == "of":
            return f"{sum(cells.listed):.0f} of {len(cells.values)}"
        if self.form == "span":
            return f"{self._shown(min(cells.listed))} to {self._shown(max(cells.listed))}"
        if self.form == "named":
            named = (f"{_name(key)} {self._shown(value)}" for key, value in cells.values.items())
            return ", ".join(named)
        if self.form:
            choose: Callable[..., Key] = max if self.form == "largest" else min
            return _name(choose(cells.values, key=lambda key: cells.values[key]))
        return ", ".join(map(self._shown, cells.listed))

    def _of_comparisons(self, steps: Sequence[Comparison]) -> str:
        holds = steps[0].holds
        for step in steps[1:]:
            holds = holds.paired(step.holds, lambda a, b: a and b)
        if self.form in ("of", "but"):
            counted = f"{sum(holds.listed):.0f} of {len(holds.values)}"
            failing = self._failing(steps) if self.form == "but" else ""
            return f"{counted}, but {failing}" if failing else counted
        (step,) = steps
        return self._compared(step.left.number, step.right.number)

    def _failing(self, steps: Sequence[Comparison]) -> str:
        (step,) = steps
        left = step.left.paired(step.right, lambda a, _: a)
        right = step.left.paired(step.right, lambda _, b: b)
        return ", ".join(
            self._compared(left.values[key], right.values[key])
            for key, holds in step.holds.values.items()
            if not holds
        )

    def _compared(self, one: float, other: float) -> str:
        digits = apart([one, other], self.digits)
        left, right = f"{one:.{digits}f}", f"{other:.{digits}f}"
        return f"{left} {'=' if left == right else '<' if one < other else '>'} {right}"


def _name(key: Key) -> str:
    return " ".join(str(level).replace("_x_", " x ") for level in key)
