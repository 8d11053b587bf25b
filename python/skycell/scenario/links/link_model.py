"""The model of a link that varies, as a file writes it: what its courses are drawn from."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Parameters, ValueType, number, param, quantity, when
from skycell.input.quantities import DAY_PS, Dimension, Quantity
from skycell.scenario.declared.types import PartOfOne
from skycell.scenario.links.adaptive import AdaptiveCoding
from skycell.scenario.links.outages import NUMBERS, Outages, read_quantiles

MOST_MEMORY = 0.999
"""Largest correlation of neighbours: with 1 nothing would change."""

_Time = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000_000, high=DAY_PS, example="100 ms")
]
_Phase = Annotated[Quantity, quantity(Dimension.TIME, high=DAY_PS, example="12 s")]


Quantiles = Annotated[
    tuple[float, ...],
    ValueType("a list of 1 to 1001 numbers that ascend, up to 1e9", read_quantiles, NUMBERS),
]
Memory = Annotated[float, number(low=-MOST_MEMORY, high=MOST_MEMORY)]


class LevelProcess(Parameters):
    """How one value of a link goes through time: a level for each slot, and noise on it.

    Quantiles are evenly spaced, from the least value to the greatest.
    """

    slots: Quantiles = param(..., "quantiles of the level of a slot, in the table's unit")
    slot_memory: Memory = param(
        0.0, "correlation of the normal scores of neighbouring slots", source="none"
    )
    noise: Quantiles = param([0.0], "quantiles of a sample above its slot's level", source="none")
    noise_memory: Memory = param(
        0.0,
        "correlation of the normal scores of neighbouring samples, without the levels",
        source="none",
    )


class LinkModel(Parameters):
    """A link that varies by chance: each seed draws another course of it."""

    step: _Time = param(..., "time from one sample to the next")
    slot: _Time | None = param(
        None, "time for which a level holds, a step or longer", source="the run: a single path"
    )
    phase: _Phase = param(
        "0 s", "time of the first whole slot's beginning", source="the first", when=when("slot")
    )
    delay_ms: LevelProcess | None = param(None, "one way", source="the link's own delay")
    rate_mbps: LevelProcess | None = param(None, "rate of the link", source="the link's own rate")
    adaptive_coding: AdaptiveCoding | None = param(
        None,
        "the rate follows Es/N0 through the MODCODs of DVB-S2, on a link with framing gse",
        source="the link's own rate",
    )
    loss: PartOfOne | None = param(None, "part of the frames that are lost", source="none")
    outages: Outages | None = param(None, "times without a path", source="none")
