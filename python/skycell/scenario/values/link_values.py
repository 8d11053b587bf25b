"""Values of links: rates, framings, delays, and the sizes of buffers."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from skycell.input.parameters import probability, quantity, word
from skycell.input.quantities import CELL_BITS, DAY_PS, PS_PER_SECOND, Dimension, Quantity
from skycell.scenario.values.cells import buffer_size
from skycell.spec.values import WHOLE_PPB

#: Part of the stated rate that carries cells, and the only rate that the framing exists at.
FRAMINGS: dict[str, tuple[Fraction, int | None]] = {
    "none": (Fraction(1), None),
    # ANSI T1.105: 260 of 270 columns of an STS-3c carry payload: 149.76 of 155.52 Mbit/s.
    "sts3c": (Fraction(260, 270), 155_520_000),
    # Likewise 1040 of 1080 columns of an STS-12c: 599.04 of 622.08 Mbit/s.
    "sts12c": (Fraction(1040, 1080), 622_080_000),
    # ANSI T1.624: PLCP puts 12 cells in each 125 us frame of a DS3: 96 000 cells/s.
    "ds3_plcp": (Fraction(96_000 * CELL_BITS, 44_736_000), 44_736_000),
}

Rate = Annotated[
    Quantity,
    quantity(
        Dimension.BIT_RATE,
        Dimension.CELL_RATE,
        low=CELL_BITS,
        high=CELL_BITS * PS_PER_SECOND,  # time is counted in whole picoseconds
        what="from one cell a second",
        example="155.52 Mbit/s",
        other="353207 cells/s",
    ),
]
Delay = Annotated[
    Quantity,
    quantity(
        Dimension.TIME, Dimension.DISTANCE, high=DAY_PS, what="1 km is 5 us", example="275 ms"
    ),
]
Buffer = Annotated[
    Quantity | Literal["unlimited"],
    buffer_size("12000 cells"),
]
Framing = Annotated[str, word(*FRAMINGS)]
Loss = Annotated[float, probability(Fraction(1, WHOLE_PPB), "0.1 %")]
