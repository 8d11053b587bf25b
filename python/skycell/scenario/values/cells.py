"""What is counted in cells: rates of VCs, sizes of buffers."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from skycell.input.parameters import ValueType, exact, quantity, read_number
from skycell.input.quantities import (
    Dimension,
    Quantity,
    Refused,
    amount_in,
    parse_quantity,
    unit_pattern,
)

MOST_CELLS = 2**32 - 1


def cell_rate(example: str) -> ValueType:
    """A rate of cells, or of the bits of whole cells."""
    return quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        low=1,
        high=10**12,
        what="bits of whole cells, 424 each",
        example=example,
    )


def buffer_size(example: str) -> ValueType:
    """What a queue holds: cells, or what the link carries in a time; or no limit."""
    return quantity(
        Dimension.CELLS,
        Dimension.FRAMES,
        Dimension.RTT,
        Dimension.TIME,
        low=1,
        high=MOST_CELLS,
        words=["unlimited"],
        what="a time or RTT counts as what the link carries in it, rounded down",
        example=example,
    )


def part_or_rate(allowed: str, *examples: str, or_none: bool = False) -> ValueType:
    """A part of the cells that a link carries, as a number or in per cent, or a rate.

    `allowed` says it in words; 0 is a part and a rate where `or_none`.
    """

    def read(value: Any) -> Fraction | Quantity:
        given: Fraction | Quantity
        if isinstance(value, str):
            given = parse_quantity(value)
            amount = given.amount
            if given.dimension is Dimension.PART:
                given = amount
            elif given.dimension not in (Dimension.BIT_RATE, Dimension.CELL_RATE):
                raise Refused(f'"{given.text}" is {given.dimension.value}')
        else:
            given = amount = exact(read_number(value))
        is_too_much = isinstance(given, Fraction) and given > 1
        if amount < 0 or (amount == 0 and not or_none) or is_too_much:
            raise Refused("")
        return given

    least = {"minimum": 0} if or_none else {"exclusiveMinimum": 0}
    pattern = unit_pattern(Dimension.PART, Dimension.BIT_RATE, Dimension.CELL_RATE)
    schema = {
        "anyOf": [
            {"type": "number", **least, "maximum": 1},
            {"type": "string", "pattern": pattern, "examples": list(examples)},
        ]
    }
    return ValueType(allowed, read, schema)


def cells_per_second(rate: Quantity) -> Fraction:
    """A rate of cells, or of the bits of whole cells, in cells a second.

    >>> [str(cells_per_second(parse_quantity(rate))) for rate in ("4.24 Mbit/s", "9 cells/s")]
    ['10000', '9']
    """
    cells = amount_in(rate, Dimension.CELL_RATE)
    assert cells is not None
    return cells


def frame_cells_of(mss: int, llc_snap: bool, timestamps: bool) -> int:
    """Cells of a full segment: TCP/IP headers and options, LLC/SNAP, AAL5 trailer (I.363.5).

    >>> frame_cells_of(9180, True, False), frame_cells_of(512, True, False)
    (193, 12)
    """
    options = 12 if timestamps else 0  # RFC 7323 appendix A
    return -(-(mss + 40 + options + (8 if llc_snap else 0) + 8) // 48)


CellRate = Annotated[Quantity, cell_rate("20000 cells/s")]
