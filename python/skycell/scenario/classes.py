"""Service classes at a port: further queues next to the default one, and who is served next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.scenario.cells import buffer_size, cell_rate, part_or_rate
from skycell.scenario.faults import show_value
from skycell.scenario.parameters import (
    Leaf,
    Parameters,
    param,
    read_each,
    whole_number,
    without,
    word,
)
from skycell.scenario.policies import Policy
from skycell.scenario.quantities import Quantity, Refused

#: In the order of Traffic Management 4.0, the most demanding first, but for ABR.
CLASSES = ("cbr", "rt_vbr", "nrt_vbr", "ubr", "gfr")
_NO_ABR = "ABR's rate control is not modelled yet: its cells would be sent as those of UBR are"


def _read_class(value: Any) -> str:
    if value == "abr":
        raise Refused(_NO_ABR)
    read: str = _CLASS.read(value)
    return read


_CLASS = word(*CLASSES)
ServiceClass = Annotated[str, replace(_CLASS, read=_read_class)]

CLASS_BUFFER = buffer_size("1000 cells")


class ClassQueue(Parameters):
    """A separate queue for one service class at a port, with its own buffer and policy."""

    name: ServiceClass = param(..., "the class")
    buffer: Annotated[Quantity | Literal["unlimited"], CLASS_BUFFER] = param(
        "unlimited",
        "cells that the queue holds, including the one being sent",
        symbol="K",
        source="choice: a class with a contract queues little, and how much it queues is worth "
        "knowing",
    )
    policy: Policy = param("tail_drop", "what the buffer accepts", source="plain ATM")


def _by_class(one: Leaf) -> Leaf:
    """A table with a value for some classes."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Refused("")
        strange = [
            _NO_ABR if key == "abr" else f"no class is called {show_value(key)}"
            for key in value
            if key not in CLASSES
        ]
        return read_each(value, one, strange)

    words = "a table by class (" + ", ".join(CLASSES) + f"), each {one.allowed}"
    return Leaf(words, read, {"type": "object", "additionalProperties": one.schema})


def by_vc(one: Leaf) -> Leaf:
    """A table with a value for some VCs, by name."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Refused("")
        return read_each(value, one)

    schema = {"type": "object", "additionalProperties": one.schema}
    return Leaf(f"a table by VC, each {one.allowed}", read, schema)


_SHARE = part_or_rate(
    'from 0 to 1 (fraction of the link\'s cells) or a rate such as "35000 cells/s" (bits of '
    "whole cells, 424 each)",
    "10 %",
    "35000 cells/s",
    or_none=True,
)
_RATES = _by_class(_SHARE)
_WEIGHT = whole_number(1, 2**32 - 1, "cells in a round")
_WEIGHTS = _by_class(_WEIGHT)


class Fifo(Parameters):
    """One queue, served in the order of arrival."""

    kind: Literal["fifo"] = param(..., "the scheduler")


class StrictPriority(Parameters):
    """The first queue that has cells, in the order of the file, the default queue last."""

    kind: Literal["strict_priority"] = param(..., "the scheduler")


class GuaranteedRate(Parameters):
    """Each class's share of the cells while it has cells to send; the rest goes by priority."""

    kind: Literal["guaranteed_rate"] = param(..., "the scheduler")
    rates: Annotated[dict[str, Any], _RATES] = param(
        ...,
        "what the classes are guaranteed; a class without its own queue stands for the "
        "default queue",
        symbol="GR",
    )


class WeightedRoundRobin(Parameters):
    """Serves one queue after the other, each up to its weight in cells."""

    kind: Literal["weighted_round_robin"] = param(..., "the scheduler")
    weights: Annotated[dict[str, int], _WEIGHTS] = param(
        {},
        "cells of a class in a round; 1 for a class that is not named; a class without its "
        "own queue stands for the default queue",
        source="equal shares",
    )


class VirtualSpacing(Parameters):
    """A queue for each VC, in one buffer, served in proportion to the VCs' MCRs."""

    kind: Literal["virtual_spacing"] = param(..., "the scheduler")
    other_rate: Annotated[Quantity, cell_rate("1000 cells/s")] = param(
        "1000 cells/s",
        "rate that stands for the MCR of a VC without a contract",
        source="choice: negligible compared with the MCRs of the studies, but no VC starves",
    )


class VcRoundRobin(Parameters):
    """A queue for each VC, in one buffer, served in turn, a cell at a time."""

    kind: Literal["vc_round_robin"] = param(..., "the scheduler")


_BY_VC = by_vc(_WEIGHT)
_ROUND = whole_number(1, 10**6, "cells in a round")


class VcWeightedRoundRobin(Parameters):
    """A queue for each VC, in one buffer, served in turn, each up to its weight in cells."""

    kind: Literal["vc_weighted_round_robin"] = param(..., "the scheduler")
    weights: Annotated[dict[str, int], _BY_VC] | None = param(
        None,
        "cells of a VC in a round; 1 for a VC that is not named",
        source="MCR over the sum of MCRs across the link, times round, to the nearest cell, at "
        "least 1; 1 for a VC without a contract",
    )
    round: Annotated[int, _ROUND] = param(
        100,
        "cells in a round of the VCs with a contract, where weights follow from MCRs",
        source="choice: weights as fine as a hundredth of the total, and a round that is short "
        "compared with a buffer",
        when=without("weights"),
    )


def _by_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


_Schedulers = (
    Fifo
    | StrictPriority
    | GuaranteedRate
    | WeightedRoundRobin
    | VirtualSpacing
    | VcRoundRobin
    | VcWeightedRoundRobin
)
_Names = Literal[
    "fifo",
    "strict_priority",
    "weighted_round_robin",
    "virtual_spacing",
    "vc_round_robin",
    "vc_weighted_round_robin",
]
Scheduler = Annotated[
    Annotated[_Schedulers, Field(discriminator="kind")],
    BeforeValidator(_by_name, json_schema_input_type=_Schedulers | _Names),
]

CLASS_MEANING = "separate queues for some service classes, in order of preference"
CLASS_SOURCE = "one queue for everything"
SCHEDULER_MEANING = "which queue sends the next cell"
SCHEDULER_SOURCE = (
    "fifo for one queue; strict_priority for several, as in ATM Forum 97-0424 with a guaranteed "
    "rate of 0"
)
SERVICE_MEANING = "service class of the VCs of the connections"
