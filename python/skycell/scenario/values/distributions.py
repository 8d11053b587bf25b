"""Distributions of times and sizes, as a scenario file names them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, number, param, quantity, whole_number
from skycell.input.quantities import LONGEST_RUN_PS, Dimension, Quantity

Time = Annotated[
    Quantity, quantity(Dimension.TIME, Dimension.RTT, high=LONGEST_RUN_PS, example="0.1 s")
]


class Constant(Parameters):
    """Always the same time."""

    kind: Literal["constant"] = param(..., "the distribution")
    value: Time = param(..., "the time")


class Uniform(Parameters):
    """Uniform over [low, high)."""

    kind: Literal["uniform"] = param(..., "the distribution")
    low: Time = param(..., "smallest time")
    high: Time = param(..., "end of the range, above low")


class Exponential(Parameters):
    """Exponential with a given mean."""

    kind: Literal["exponential"] = param(..., "the distribution")
    mean: Time = param(..., "mean time, above zero")


def _constant_by_value(value: Any) -> Any:
    return {"kind": "constant", "value": value} if isinstance(value, str) else value


_Times = Constant | Uniform | Exponential
Times = Annotated[
    Annotated[_Times, Field(discriminator="kind")],
    BeforeValidator(_constant_by_value, json_schema_input_type=_Times | Time),
]
PageInterval = Times

Octets = Annotated[int, whole_number(1, 65_535, "octets")]
_OctetsOfLaw = Annotated[float, number(above=0, high=65_535)]


class ConstantSize(Parameters):
    """Always the same size."""

    kind: Literal["constant"] = param(..., "the distribution")
    octets: Octets = param(..., "octets")


class ExtremeSize(Parameters):
    """Largest extreme value (Gumbel), rounded to whole octets."""

    kind: Literal["extreme"] = param(..., "the distribution")
    mode: _OctetsOfLaw = param(..., "most frequent size, octets")
    scale: _OctetsOfLaw = param(..., "scale, octets")


_Sizes = ConstantSize | ExtremeSize
Sizes = Annotated[_Sizes, Field(discriminator="kind")]
