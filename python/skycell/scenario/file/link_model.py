"""The model of a link that varies, as a file writes it: what its courses are drawn from."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from skycell.input.parameters import Parameters, ValueType, param, quantity, read_number
from skycell.input.quantities import DAY_PS, Dimension, Quantity, Refused
from skycell.scenario.values.parameter_types import PartOfOne

_MOST_QUANTILES = 1001
MOST_MEMORY = 0.999
"""Largest correlation of neighbours: with 1 nothing would change."""
_LARGEST = 1e9

_Time = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000_000, high=DAY_PS, example="100 ms")
]
_Phase = Annotated[Quantity, quantity(Dimension.TIME, high=DAY_PS, example="12 s")]


def _read_quantiles(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= _MOST_QUANTILES:
        raise Refused("")
    numbers = tuple(read_number(one) for one in value)
    if any(later < earlier for earlier, later in pairwise(numbers)):
        raise Refused("these do not ascend")
    if any(abs(number) > _LARGEST for number in numbers):
        raise Refused("")
    return numbers


def _read_times(value: Any) -> tuple[float, ...]:
    numbers = _read_quantiles(value)
    if numbers[0] < 0 or numbers[-1] <= 0:
        raise Refused("")
    return numbers


def _read_memory(value: Any) -> float:
    number = read_number(value)
    if abs(number) > MOST_MEMORY:
        raise Refused("")
    return number


_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
Quantiles = Annotated[
    tuple[float, ...],
    ValueType("a list of 1 to 1001 numbers that ascend, up to 1e9", _read_quantiles, _NUMBERS),
]
Times = Annotated[
    tuple[float, ...],
    ValueType(
        "a list of 1 to 1001 numbers that ascend, in seconds, the last above 0",
        _read_times,
        _NUMBERS,
    ),
]
Memory = Annotated[
    float,
    ValueType(
        f"from -{MOST_MEMORY} to {MOST_MEMORY}",
        _read_memory,
        {"type": "number", "minimum": -MOST_MEMORY, "maximum": MOST_MEMORY},
    ),
]


class Course(Parameters):
    """How one value of a link goes through time: a level for each slot, and noise on it.

    Quantiles are evenly spaced, from the least value to the greatest.
    """

    slots: Quantiles = param(..., "quantiles of the level of a slot, in the table's unit")
    slot_memory: Memory = param(
        0.0, "correlation of the normal scores of neighbouring slots", source="none"
    )
    noise: Quantiles = param([0.0], "quantiles of a sample above its slot's level", source="none")
    noise_memory: Memory = param(
        0.0, "the same of neighbouring samples, without the levels", source="none"
    )


class Outages(Parameters):
    """When there is no path."""

    lengths_s: Times = param(..., "quantiles of the lengths of outages")
    gaps_s: Times = param(..., "quantiles of the times from one outage to the next")


class LinkModel(Parameters):
    """A link that varies by chance: each seed draws another course of it."""

    step: _Time = param(..., "time from one sample to the next")
    slot: _Time = param(..., "time for which a level holds, a step or longer")
    phase: _Phase = param("0 s", "time of the first whole slot's beginning", source="the first")
    delay_ms: Course | None = param(None, "one way", source="the link's own delay")
    rate_mbps: Course | None = param(None, "rate of the link", source="the link's own rate")
    loss: PartOfOne | None = param(None, "part of the frames that is lost", source="none")
    outages: Outages | None = param(None, "times without a path", source="none")
