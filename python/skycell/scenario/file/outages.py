"""When a link that is drawn has no path: how long outages last, and the times between them."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.faults import NOTHING, FaultCollector, Verbatim
from skycell.input.parameters import (
    Parameters,
    ValueType,
    number,
    param,
    quantity,
    read_number,
)
from skycell.input.quantities import DAY_PS, Dimension, Quantity, Refused

_MOST_QUANTILES = 1001
_LARGEST = 1e9
_MeanTime = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000_000, high=366 * DAY_PS, example="3 s")
]


def read_quantiles(value: Any) -> tuple[float, ...]:
    """Quantiles of a distribution, as a file lists them."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= _MOST_QUANTILES:
        raise Refused("")
    numbers = tuple(read_number(one) for one in value)
    if any(later < earlier for earlier, later in pairwise(numbers)):
        raise Refused("these do not ascend")
    if max(map(abs, numbers)) > _LARGEST:
        raise Refused("")
    return numbers


def _read_times(value: Any) -> tuple[float, ...]:
    numbers = read_quantiles(value)
    if numbers[0] < 0 or numbers[-1] <= 0:
        raise Refused("")
    return numbers


NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
"""Quantiles in a schema."""
Times = Annotated[
    tuple[float, ...],
    ValueType(
        "a list of 1 to 1001 numbers that ascend, in seconds, the last above 0",
        _read_times,
        NUMBERS,
    ),
]


_Availability = Annotated[float, number(above=0, below=1, what=", such as 0.995")]


class ConstantTime(Parameters):
    """Always the same time."""

    kind: Literal["constant"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "the time")


class ExponentialTime(Parameters):
    """Exponential: what has lasted says nothing of what is left."""

    kind: Literal["exponential"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "mean time")


class LognormalTime(Parameters):
    """Lognormal, as rain fades last."""

    kind: Literal["lognormal"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "mean time")
    sigma: Annotated[float, number(above=0, high=5, what=", such as 1.2")] = param(
        ..., "standard deviation of the logarithm", symbol="σ"
    )


class ParetoTime(Parameters):
    """Pareto: most times are short, and a few hold much of the whole."""

    kind: Literal["pareto"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "mean time")
    shape: Annotated[float, number(above=1, high=100, what=", such as 1.5")] = param(
        ..., "exponent of the tail; from 2 down the variance is infinite", symbol="α"
    )


def _constant_by_text(value: Any) -> Any:
    return {"kind": "constant", "mean": value} if isinstance(value, str) else value


AnyTime = ConstantTime | ExponentialTime | LognormalTime | ParetoTime
"""Distributions of times of a link."""
TimesOfLink = Annotated[
    Annotated[AnyTime, Field(discriminator="kind")],
    BeforeValidator(_constant_by_text, json_schema_input_type=AnyTime | _MeanTime),
]


class Outages(Parameters):
    """When there is no path: a distribution, quantiles, or a mean of outages; and of gaps."""

    length: TimesOfLink | None = param(None, "how long outages last", source="lengths_s says them")
    gap: TimesOfLink | None = param(
        None,
        "times from the end of an outage to the next",
        source="gaps_s, or exponential by availability",
    )
    availability: _Availability | None = param(
        None,
        "part of the time with a path, in the long run: gaps are exponential with the mean that "
        "makes it so",
        source="as gaps are",
    )
    lengths_s: Times | None = param(
        None, "quantiles of the lengths of outages", source="length says them"
    )
    gaps_s: Times | None = param(
        None, "quantiles of the times from one outage to the next", source="gap says them"
    )


def check_outages(outages: Outages, faults: FaultCollector) -> None:
    """Notes lengths or gaps that are said twice, or not at all."""
    for keys in (("length", "lengths_s"), ("gap", "availability", "gaps_s")):
        said = [key for key in keys if getattr(outages, key) is not None]
        if len(said) != 1:
            got = Verbatim(" and ".join(said)) if said else NOTHING
            allowed = f"one of {', '.join(keys[:-1])} and {keys[-1]}"
            faults.add(("outages", said[-1] if said else keys[0]), got, allowed)
