"""Links that move, as a scenario file writes them: a series of delays, or a constellation."""

from __future__ import annotations

from typing import Annotated, Any

from skycell.input.parameters import Flag, Parameters, ValueType, param, quantity, when
from skycell.input.quantities import DAY_PS, Dimension, Quantity, Refused
from skycell.scenario.declared.framings import Framing
from skycell.scenario.declared.policies import Policy
from skycell.scenario.values.link_values import Buffer, Rate

#: Steps of one link; a spec with more takes hundreds of megabytes.
MOST_STEPS = 1_000_000
#: Longest delay and interruption of a link, 1 day.
LONGEST_PS = DAY_PS
_LONGEST_TEXT = 1000


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT:
        raise Refused("")
    return value


Text = Annotated[str, ValueType("a text of up to 1000 letters", _read_text, {"type": "string"})]
Moment = Annotated[Quantity, quantity(Dimension.TIME, high=10_000 * DAY_PS, example="20 min")]
Step = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000, high=LONGEST_PS, example="100 ms")
]
Interruption = Annotated[Quantity, quantity(Dimension.TIME, high=LONGEST_PS, example="50 ms")]


class OnboardSwitching(Parameters):
    """The ports of satellites that switch cells on board."""

    rate: Rate | None = param(
        None, "rate of the links that satellites feed", source="the rate of the ground's link"
    )
    framing: Framing | None = param(
        None,
        "framing of that rate; only with rate",
        source="the rate of the ground's link",
        when=when("rate"),
    )
    buffer: Buffer | None = param(
        None,
        "cells that each port of a satellite holds, including the one being sent",
        source="that of the ground's port",
    )
    policy: Policy | None = param(
        None, "what these buffers accept", source="that of the ground's port"
    )


class Schedule(Parameters):
    """How the delay of a link changes: `series`, or `constellation` with `from` and `to`."""

    series: Text | None = param(
        None,
        "a CSV file with time, delay and optionally path, rate, loss or availability, "
        "relative to the scenario's folder; instead of constellation",
    )
    constellation: Text | None = param(
        None,
        "a built-in constellation, or a constellation file relative to the scenario's "
        "folder; instead of series",
    )
    source: Text | None = param(
        None,
        "place where the path begins: a city, or latitude,longitude; with constellation",
        alias="from",
        when=when("constellation"),
    )
    target: Text | None = param(
        None,
        "place where the path ends; with constellation",
        alias="to",
        when=when("constellation"),
    )
    start: Moment = param(
        "0 s",
        "time in the series or of the constellation at which the run begins",
        source="its own beginning",
    )
    step: Step | None = param(
        None,
        "time from one delay of the constellation to the next; with constellation",
        source='"100 ms": a low satellite changes a delay by less than 7 us in that time',
        when=when("constellation"),
    )
    onboard_switching: OnboardSwitching | None = param(
        None,
        "satellites switch cells and have their own queues; with constellation",
        source="a path is one link without queues",
        when=when("constellation"),
    )
    interruption: Interruption = param(
        "0 s",
        "after a handover no transmission begins for this long",
        source="choice: a handover that was prepared",
    )
    handover_loses_cells: Flag = param(
        False,
        "whether the cells that are under way at a handover are lost",
        source="choice: they arrive over the old path",
    )
