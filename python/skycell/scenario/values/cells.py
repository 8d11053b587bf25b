"""What is counted in cells: rates of VCs, sizes of buffers."""

from __future__ import annotations

from dataclasses import replace
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
    units_of,
)
from skycell.scenario.values.buffer_units import SIZES

MOST_CELLS = 2**32 - 1
#: Rates of VCs in a spec are in thousandths of a cell a second.
MILLICELLS = 1000


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
    """What a queue holds: cells, packets, octets, what the link carries in a time; or no limit."""
    size = quantity(*SIZES, low=1, high=MOST_CELLS, words=["unlimited"], example=example)
    units = units_of(*SIZES)
    allowed = (
        f'"unlimited" or a size above 0, such as "{example}", "1 MB" or "150 ms" ({units}; a time, '
        "RTT or BDP counts as what the link carries in it, rounded down)"
    )
    return replace(size, allowed=allowed)


def amount_held(example: str, low: int) -> ValueType:
    """A number of cells, or of what else a buffer counts, from `low`."""
    size = quantity(*SIZES, low=low, high=MOST_CELLS, example=example)
    allowed = f'a size from {low}, such as "{example}" or "30 kB" ({units_of(*SIZES)})'
    return replace(size, allowed=allowed)


def part_or_rate(allowed: str, *examples: str, or_none: bool = False) -> ValueType:
    """A part of the cells that a link carries, as a number or in per cent, or a rate.

    `allowed` says it in words; 0 is a part and a rate where `or_none`.
    """

    def read(value: Any) -> Fraction | Quantity:
        parsed: Fraction | Quantity
        if isinstance(value, str):
            parsed = parse_quantity(value)
            amount = parsed.amount
            if parsed.dimension is Dimension.PART:
                parsed = amount
            elif parsed.dimension not in (Dimension.BIT_RATE, Dimension.CELL_RATE):
                raise Refused(f'"{parsed.text}" is {parsed.dimension.value}')
        else:
            parsed = amount = exact(read_number(value))
        is_too_much = isinstance(parsed, Fraction) and parsed > 1
        if amount < 0 or (amount == 0 and not or_none) or is_too_much:
            raise Refused("")
        return parsed

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
    return aal5_cells_of(packet_octets_of(mss, timestamps), llc_snap)


def aal5_cells_of(packet: int, llc_snap: bool) -> int:
    """Cells of an IP packet: LLC/SNAP (RFC 2684) and AAL5 trailer (I.363.5) beside it.

    >>> aal5_cells_of(1500, True), aal5_cells_of(40, False)
    (32, 1)
    """
    return -(-(packet + (8 if llc_snap else 0) + 8) // 48)


def packet_octets_of(payload: int, timestamps: bool) -> int:
    """Octets of the IP packet of a segment: TCP/IP headers and options.

    >>> packet_octets_of(1460, False), packet_octets_of(0, True)
    (1500, 52)
    """
    return payload + 40 + (12 if timestamps else 0)  # RFC 7323 appendix A


CellRate = Annotated[Quantity, cell_rate("20000 cells/s")]
