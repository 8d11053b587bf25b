"""CLP bits of a source: a part of its frames, or a pattern of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from skycell.input.parameters import ValueType, exact, read_number
from skycell.input.quantities import Dimension, Refused, parse_quantity

_MOST_BITS = 10_000


def _read(value: Any) -> Fraction | str:
    """A part as a fraction, a pattern as its text.

    >>> _read("25 %"), _read(0.5), _read("0001")
    (Fraction(1, 4), Fraction(1, 2), '0001')
    """
    if isinstance(value, str) and value and set(value) <= {"0", "1"}:
        if "1" not in value or len(value) > _MOST_BITS:
            raise Refused("")
        return value
    if isinstance(value, str):
        parsed = parse_quantity(value)
        if parsed.dimension is not Dimension.PART:
            raise Refused(f'"{parsed.text}" is {parsed.dimension.value}')
        part = parsed.amount
    else:
        part = exact(read_number(value))
    if not Fraction(1, 10**9) <= part <= 1:
        raise Refused("")
    return part


_CLP = ValueType(
    "a part from 1e-9 to 1, as a number or in per cent, or a pattern of 0 and 1 with a 1 in it, up "
    f'to {_MOST_BITS} long, such as "0001"',
    _read,
    {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {"type": "string", "pattern": "^([01]*1[01]*|.*%)$", "examples": ["25 %", "0001"]},
        ]
    },
)
Clp = Annotated[Any, _CLP]
