"""The table [[resequencer]]: VCs whose cells are put in order where they leave the network."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import NamesOfPairs, Parameters, param, quantity
from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity

_HOLD = quantity(Dimension.TIME, above=0, high=10 * PS_PER_SECOND, example="50 ms")
_BUFFER = quantity(Dimension.CELLS, low=1, high=2**32 - 1, example="1000 cells")


class Resequencer(Parameters):
    """At the end of each VC a buffer in which cells wait for those that entered before them."""

    vcs: NamesOfPairs = param(..., "VCs of cells that cross a switch, and are not of class abr")
    hold: Annotated[Quantity, _HOLD] = param(
        ...,
        "longest wait of a cell for earlier cells, which may be lost; then it goes on without them",
    )
    buffer: Annotated[Quantity, _BUFFER] = param(
        "10000 cells",
        "most cells that may wait; a further cell releases the first",
        source="choice: 90 ms of 45 Mbit/s",
    )
