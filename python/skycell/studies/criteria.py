"""The criterion of a conclusion as an expression over numbers of tables, and its evidence.

A criterion is written as an expression of Python and means what it seems to: numbers are paired by
the levels of the factors that they have in common. What it may use is listed here and nothing else:
numbers, texts, lists and tables of them, `+ - * /`, comparisons (also in a row, as `0 < x <= 1`),
`and`, `or`, `not`, the functions of `FUNCTIONS`, names that the study or the conclusion gives to
expressions, and names that the study gives to numbers of its tables. Calling such a name chooses
levels: `efficiency(tcp='sack', policy=['epd', 'sd'])`.

Evidence is a text with expressions in braces; `skycell.studies.evidence` says how they are shown.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from typing import Any

from skycell.stats import dominant_factor
from skycell.studies.cells import Cells
from skycell.studies.model import Study
from skycell.studies.values import Values

HALF_DIGIT = 0.005
"""What two printed digits can tell of two efficiencies or indices: half a unit of the last."""

CONSTANTS = {"half_digit": HALF_DIGIT}
"""Names that every criterion may use."""


class CriterionError(ValueError):
    """An expression that a criterion may not have; the message says which."""


@dataclass(frozen=True)
class Comparison:
    """A comparison with both of its sides, as evidence shows it."""

    left: Cells
    right: Cells
    holds: Cells


def _reduction(to_one: Callable[[list[float]], float]) -> Callable[..., Cells]:
    """A function of all numbers of its arguments, or of those that differ in some factors only.

    `over` names these factors; `by` names the others instead.
    """

    def reduce(*args: Cells, over: Any = None, by: Any = None) -> Cells:
        if over is None and by is None:
            return Cells.single(to_one(_all_of(args)))
        (cells,) = args
        return cells.reduced(cells.without(_names(by)) if over is None else _names(over), to_one)

    return reduce


def _all_of(args: Sequence[Cells]) -> list[float]:
    return [value for cells in args for value in cells.listed]


def _names(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _spread(values: Sequence[float]) -> float:
    return max(values) - min(values)


def _above_in_all(*pairs: Cells) -> Cells:
    """Whether numbers are above others in all pairs, as far as print can tell.

    A statement about all cases falls with one of them, so a pair counts against it only where two
    printed digits would show it: none goes the other way by more than `HALF_DIGIT`, and more than
    half are above by more than that.
    """
    ahead: list[float] = []
    behind: list[float] = []
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        ahead += one.paired(other, lambda a, b: a > b + HALF_DIGIT).listed
        behind += one.paired(other, lambda a, b: a < b - HALF_DIGIT).listed
    return Cells.single(2 * sum(ahead) > len(ahead) and not any(behind))


def _runs_below(one: Cells, other: Cells) -> Cells:
    """In how many runs, seed by seed, a number is below another, pair by pair.

    For statements that something *can* happen or *need not*: one run shows it, no mean can. A seed
    that has no number on one of the sides shows nothing.
    """
    if one.runs is None or other.runs is None or one.runs.keys() != other.runs.keys():
        raise CriterionError("runs_below takes numbers of tables with the same levels")
    counts: dict[Any, float] = {}
    for key, below in one.runs.items():
        pairs = zip(below, other.runs[key], strict=True)
        counts[key] = sum(a < b for a, b in pairs if a is not None and b is not None)
    return Cells(one.factors, counts)


def _by(factor: str, table: Mapping[Any, float]) -> Cells:
    """A number for each of some levels of a factor."""
    return Cells((factor,), {(level,): value for level, value in table.items()}, is_lookup=True)


def _level(cells: Cells, factor: str) -> Cells:
    """The level of a factor, a number, of each cell."""
    place = cells.factors.index(factor)
    return Cells(cells.factors, {key: float(key[place]) for key in cells.values})


def _only(cells: Cells, condition: Cells) -> Cells:
    """The cells for which something holds."""
    kept = cells.paired(condition, lambda _, holds: holds)
    values = {key: value for key, value in cells.values.items() if kept.values[key]}
    return Cells(cells.factors, values)


def _besides(cells: Cells, **levels: Any) -> Cells:
    """The cells that have none of some levels."""
    gone = {cells.factors.index(name): _names(listed) for name, listed in levels.items()}
    values = {
        key: value
        for key, value in cells.values.items()
        if not any(key[place] in listed for place, listed in gone.items())
    }
    return Cells(cells.factors, values)


def _join(*parts: Cells) -> Cells:
    """The numbers of several, one after the other."""
    return Cells(("place",), {(place,): value for place, value in enumerate(_all_of(parts))})


def _explained(cells: Cells) -> Cells:
    """Part of the variation that the main effect of each factor that varies explains."""
    rows = [
        {**dict(zip(cells.factors, key, strict=True)), "value": value}
        for key, value in cells.values.items()
    ]
    parts = dominant_factor(rows, cells.factors, "value")
    known = (name for name in cells.factors if name in parts)
    return Cells(("factor",), {(name,): parts[name] for name in known})


FUNCTIONS: Mapping[str, Callable[..., Cells]] = {
    "min": _reduction(min),
    "max": _reduction(max),
    "mean": _reduction(_mean),
    "sum": _reduction(sum),
    "count": _reduction(sum),
    "spread": _reduction(_spread),
    "all": _reduction(all),
    "any": _reduction(any),
    "abs": lambda cells: cells.each(abs),
    "sqrt": lambda cells: cells.each(sqrt),
    "round": lambda cells, digits: cells.each(lambda value: round(value, int(digits.number))),
    "earlier": lambda cells, factor: cells.neighbours(factor)[0],
    "later": lambda cells, factor: cells.neighbours(factor)[1],
    "last": lambda cells, factor: cells.last(factor),
    "level": _level,
    "by": _by,
    "only": _only,
    "besides": _besides,
    "join": _join,
    "explained": _explained,
    "above_in_all": _above_in_all,
    "runs_below": _runs_below,
}
"""What a criterion may call: reductions to one number, functions of each, and choices of cells."""

_OPERATIONS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.And: lambda a, b: a and b,
    ast.Or: lambda a, b: a or b,
}


@cache
def parsed(text: str) -> ast.expr:
    """The tree of an expression.

    Raises:
        CriterionError: it is none.
    """
    try:
        return ast.parse(f"({text.strip()})", mode="eval").body
    except SyntaxError as error:
        raise CriterionError(f"{text}: {error.msg}") from None


@dataclass
class Reckoning:
    """What expressions of a study come to on some numbers.

    Args:
        study: whose names they use.
        names: expressions that they may name besides the study's.
        tables: of which there have to be numbers; those of others are not looked at.
        values: the numbers.
    """

    study: Study
    names: Mapping[str, str]
    tables: Sequence[str]
    values: Values
    _known: dict[str, Cells] = field(default_factory=dict)

    def value(self, text: str) -> Cells:
        """The value of an expression.

        Raises:
            CriterionError: it uses what it may not.
            MissingValueError: a number is not there.
            ZeroDivisionError: a ratio to nothing.
        """
        return self.cells(parsed(text))

    def cells(self, node: ast.expr) -> Cells:
        """The value of an expression that stands for numbers."""
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return Cells.single(number)
            case ast.Name(id=name):
                return self._named(name)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return self.cells(left).paired(self.cells(right), _OPERATIONS[type(op)])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.cells(operand).each(operator.neg)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.cells(operand).each(operator.not_)
            case ast.BoolOp(op=op, values=nodes):
                return self._combined(_OPERATIONS[type(op)], map(self.cells, nodes))
            case ast.Compare():
                steps = self.comparisons(node)
                return self._combined(_OPERATIONS[ast.And], (step.holds for step in steps))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                named = {str(word.arg): self._argument(word.value) for word in keywords}
                return self._called(name, [self._argument(entry) for entry in args], named)
        raise CriterionError(f"{ast.unparse(node)}: not allowed in a criterion")

    def comparisons(self, node: ast.Compare) -> list[Comparison]:
        """The comparisons of a row of them."""
        sides = [self.cells(side) for side in (node.left, *node.comparators)]
        found = []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if type(op) not in _OPERATIONS:
                raise CriterionError(f"{ast.unparse(node)}: not allowed in a criterion")
            found.append(Comparison(left, right, left.paired(right, _OPERATIONS[type(op)])))
        return found

    @staticmethod
    def _combined(operation: Callable[[Any, Any], Any], parts: Any) -> Cells:
        first, *rest = parts
        for part in rest:
            first = first.paired(part, operation)
        assert isinstance(first, Cells)
        return first

    def _argument(self, node: ast.expr) -> Any:
        """Texts, lists and tables as they are; anything else stands for numbers."""
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.List() | ast.Dict():
                return ast.literal_eval(node)
        return self.cells(node)

    def _named(self, name: str) -> Cells:
        if name not in self._known:
            self._known[name] = self._looked_up(name)
        return self._known[name]

    def _looked_up(self, name: str) -> Cells:
        if name in self.names:
            return self.value(self.names[name])
        if name in self.study.names:
            return self.value(self.study.names[name])
        if name in CONSTANTS:
            return Cells.single(CONSTANTS[name])
        if name in self.study.numbers:
            return self._called(name, [], {})
        raise CriterionError(f"{name}: neither of the study nor of the conclusion")

    def _called(self, name: str, args: list[Any], named: dict[str, Any]) -> Cells:
        if name in self.study.numbers:
            numbers = self.study.numbers[name]
            measure = args[0] if args else numbers.measure
            levels = {key: _plain(level) for key, level in named.items()}
            usual = {**self.study.usual.get(numbers.usual, {}), **numbers.where}
            tables = [table for table in numbers.tables if table in self.tables]
            return self.values.cells(tables, measure, levels, usual, numbers.factors)
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **named)
        return self._named(name).at({key: _plain(level) for key, level in named.items()})


def _plain(level: Any) -> Any:
    """A level of a factor as tables have it."""
    return level.number if isinstance(level, Cells) else level
