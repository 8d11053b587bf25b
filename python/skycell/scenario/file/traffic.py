"""When applications begin to send, and losses that a scenario prescribes."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, ValueType, param, quantity
from skycell.input.quantities import LONGEST_RUN_PS, Dimension, Quantity, Refused
from skycell.scenario.values.rule_specs import kind_by_name
from skycell.scenario.values.tcp_types import LARGEST_WINDOW

Moment = Annotated[
    Quantity, quantity(Dimension.TIME, Dimension.RTT, high=LONGEST_RUN_PS, example="100 ms")
]


class Together(Parameters):
    """All flows begin at the same time."""

    kind: Literal["together"] = param(..., "the rule")
    at: Moment = param("0 s", "when", source="the start of the run")


class Staggered(Parameters):
    """One flow after the other, in their order."""

    kind: Literal["staggered"] = param(..., "the rule")
    every: Moment = param(..., "time between one flow and the next")
    first: Moment = param("0 s", "when the first flow begins", source="the start of the run")


class Drawn(Parameters):
    """Uniform over [earliest, latest), each flow from its own random stream."""

    kind: Literal["drawn"] = param(..., "the rule")
    earliest: Moment = param("0 s", "start of the range", source="the start of the run")
    latest: Moment = param(
        "100 ms",
        "end of the range, above earliest",
        source="choice: one tick of the studies' clocks, so that sources do not move in step",
    )


_Starts = Together | Staggered | Drawn
Start = Annotated[
    Annotated[_Starts, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=_Starts | Literal["together", "drawn"]),
]

_MOST_LOSSES = 100_000


def _read_transmissions(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or len(value) > _MOST_LOSSES:
        raise Refused("")
    for number in value:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**63:
            raise Refused("")
    if any(a >= b for a, b in pairwise(value)):
        raise Refused("")
    return tuple(value)


_TRANSMISSIONS = ValueType(
    "whole numbers from 0, ascending",
    _read_transmissions,
    {"type": "array", "items": {"type": "integer", "minimum": 0}, "uniqueItems": True},
)


class Loss(Parameters):
    """Data segments that a flow loses before they reach the network."""

    transmissions: Annotated[tuple[int, ...], _TRANSMISSIONS] = param(
        [],
        "ordinals, from 0, of the transmissions (new or repeated) that are lost",
        source="only the losses of the network",
    )
    at_cwnd: (
        Annotated[
            Quantity,
            quantity(
                Dimension.SIZE,
                Dimension.SEGMENTS,
                low=1,
                high=LARGEST_WINDOW,
                example="125000 B",
            ),
        ]
        | None
    ) = param(
        None,
        "the first new segment is lost each time cwnd reaches this from below",
        source="only the losses of the network",
    )
