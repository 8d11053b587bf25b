"""The table [[processing]]: what nodes take before a unit is in its port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from skycell.input.parameters import Names, Parameters, param, quantity
from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity, rounded

_TIME = quantity(Dimension.TIME, above=0, high=10 * PS_PER_SECOND, example="50 us")

#: Stands for every satellite that switches on board.
SATELLITES = "satellites"


class Processing(Parameters):
    """A fixed time that each cell or packet spends in a node before its port has it."""

    nodes: Names = param(
        ..., f"switches and routers; {SATELLITES} are all satellites that switch on board"
    )
    delay: Annotated[Quantity, _TIME] = param(..., "processing time of each node", symbol="t_s")


def processing_ps(tables: Sequence[Processing]) -> dict[str, int]:
    """The time of each node by its name, picoseconds, as the file names them."""
    return {name: rounded(table.delay.amount) for table in tables for name in table.nodes}
