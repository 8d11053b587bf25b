"""Service classes at a port: further queues next to the default one, and who is served next."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from skycell.input.parameters import Parameters, param, word
from skycell.input.quantities import Quantity, Refused
from skycell.scenario.declared.policies import Policy
from skycell.scenario.values.cells import buffer_size
from skycell.scenario.values.parameter_types import CLASSES, NO_ABR


def _read_class(value: Any) -> str:
    if value == "abr":
        raise Refused(NO_ABR)
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


CLASS_MEANING = "separate queues for some service classes, in order of preference"
CLASS_SOURCE = "one queue for everything"
SCHEDULER_MEANING = "which queue sends the next cell"
SCHEDULER_SOURCE = (
    "fifo for one queue; strict_priority for several, as in ATM Forum 97-0424 with a guaranteed "
    "rate of 0"
)
BY_FLOW_MEANING = (
    "policies and scheduler see flows where they would see VCs; at routers, which see IP packets"
)
ACK_FILTER_MEANING = (
    "a newer acknowledgement of a connection takes the place of an older one that waits; at "
    "routers, which see IP packets"
)
ACK_FILTER_SOURCE = "RFC 3449, 5.2.1: an option"
BY_FLOW_SOURCE = "the papers' switches see VCs"
SHAPER_MEANING = "token bucket that holds the packets of the port to a rate; they wait"
SHAPER_SOURCE = "as fast as the link"
POLICER_MEANING = "token bucket to which the packets that come to the port have to conform"
POLICER_SOURCE = "whatever comes"
RATE_ALGORITHM_MEANING = "by what a switch port tells ABR VCs a rate"
RATE_ALGORITHM_SOURCE = "no feedback"
SERVICE_MEANING = "service class of the VCs of the connections"
