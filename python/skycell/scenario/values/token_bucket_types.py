"""The types of parameters of a port's token buckets, named as in `crates/declare`."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import quantity
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, Dimension, Quantity

BitRate = Annotated[
    Quantity,
    # An octet takes a picosecond at least.
    quantity(Dimension.BIT_RATE, low=CELL_BITS, high=8 * PS_PER_SECOND, example="10 Mbit/s"),
]
BitRateOrNone = BitRate
BurstOctets = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=10**9, example="15 kB")]
