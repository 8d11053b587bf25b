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


SERVICE_MEANING = "service class of the VCs of the connections"
