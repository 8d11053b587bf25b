"""The types of parameters of traffic as people write them, named as in `crates/declare`."""

from __future__ import annotations

from typing import Annotated, Any

from skycell.input.parameters import Flag as Flag
from skycell.input.parameters import ValueType, quantity, read_number, whole_number
from skycell.input.quantities import Dimension, Quantity, Refused
from skycell.scenario.values.distributions import Times as Times


def _positive(high: int, what: str) -> ValueType:
    def read(value: Any) -> float:
        number = read_number(value)
        if not 0 < number <= high:
            raise Refused("")
        return number

    schema = {"type": "number", "exclusiveMinimum": 0, "maximum": high}
    return ValueType(f"a number above 0, at most {high} ({what})", read, schema)


PageInterval = Times
TransferOctets = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=10**15, example="10 MB")]
RequestOctets = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=10**6, example="128 B")]
KilobyteOctets = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=10**6, example="1024 B")]
Repetitions = Annotated[int, whole_number(1, 2**32 - 1)]
PoissonMean = Annotated[float, _positive(500, "a count")]
CountLimit = Annotated[int, whole_number(1, 1_000)]
Share = Annotated[float, _positive(10**6, "in proportion to the other classes")]
FileSizes = Annotated[float, _positive(10**6, "kilobytes")]
