"""Values of links: rates, framings, delays, and the sizes of buffers."""

from __future__ import annotations

from typing import Annotated, Literal

from skycell.input.parameters import quantity
from skycell.input.quantities import CELL_BITS, DAY_PS, PS_PER_SECOND, Dimension, Quantity
from skycell.scenario.values.cells import buffer_size

Rate = Annotated[
    Quantity,
    quantity(
        Dimension.BIT_RATE,
        Dimension.CELL_RATE,
        Dimension.SYMBOL_RATE,
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
FrameCheck = Annotated[
    Quantity | Literal["frame", "header"],
    quantity(Dimension.SIZE, low=1, high=65_535, words=["frame", "header"], example="60 B"),
]
Mtu = Annotated[Quantity, quantity(Dimension.SIZE, low=68, high=65_535, example="1500 B")]
