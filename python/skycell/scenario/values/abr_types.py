"""The types of parameters of [[abr]] as people write them, named as in `crates/declare`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from skycell.input.parameters import Flag as Flag
from skycell.input.parameters import ValueType, quantity, read_number, whole_number
from skycell.input.quantities import Dimension, Quantity, Refused
from skycell.scenario.values.parameter_types import CellRateOrNone as CellRateOrNone
from skycell.scenario.values.parameter_types import FromZeroToOne as FromZeroToOne
from skycell.scenario.values.parameter_types import Interval as Interval
from skycell.scenario.values.parameter_types import PartOfOne as PartOfOne
from skycell.scenario.values.parameter_types import abr_rate

PeakCellRate = Annotated[Quantity | Literal["link rate"], abr_rate(1, "link rate")]
RateUpToPeak = Annotated[Quantity | Literal["pcr"], abr_rate(0, "pcr")]
CellsInFlight = Annotated[
    Quantity, quantity(Dimension.CELLS, low=1, high=2**24 - 1, example="10000 cells")
]


def _read_cells_between(value: Any) -> int:
    if value not in _POWERS or isinstance(value, bool):
        raise Refused("")
    return int(value)


_POWERS = (2, 4, 8, 16, 32, 64, 128, 256)
CellsBetweenRm = Annotated[
    int, ValueType("a power of 2 from 2 to 256", _read_cells_between, {"enum": list(_POWERS)})
]
LeastCellsBetweenRm = Annotated[int, whole_number(1, 255)]


def _read_weight(value: Any) -> float:
    number = read_number(value)
    if number <= 0:
        raise Refused("")
    return number


Weight = Annotated[
    float, ValueType("above 0", _read_weight, {"type": "number", "exclusiveMinimum": 0})
]
