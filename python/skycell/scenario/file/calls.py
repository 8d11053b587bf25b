"""The table [[calls]]: connections of a class that come and go during a run."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from skycell.input.parameters import (
    Name,
    Parameters,
    ValueType,
    exact,
    param,
    probability,
    quantity,
    read_number,
    when,
    word,
)
from skycell.input.quantities import DAY_PS, Dimension, Quantity, Refused
from skycell.scenario.file.sources import Frame, PeakRate
from skycell.scenario.values.distributions import Times

#: More erlang than this would be more VCs than a port tells apart.
_MOST_ERLANG = 10_000


def _read_load(value: Any) -> Fraction:
    number = read_number(value)
    if not 0 < number <= _MOST_ERLANG:
        raise Refused("")
    return exact(number)


_LOAD = ValueType(
    f"above 0, up to {_MOST_ERLANG}, in erlang",
    _read_load,
    {"type": "number", "exclusiveMinimum": 0, "maximum": _MOST_ERLANG},
)


_SETUP = quantity(Dimension.TIME, high=DAY_PS, example="1.5 s")
_REDIAL = probability(Fraction(1, 10**6), "80 %")


class Calls(Parameters):
    """Calls of a class: they come at random, and each holds a VC if every link has room for it."""

    name: Name = param(
        ..., "name of the class of calls; its hosts' VCs have the name with a number from 1 on"
    )
    load: Annotated[Fraction, _LOAD] = param(
        ...,
        "offered traffic: mean number of calls in progress if none were blocked; calls arrive as a "
        "Poisson process",
        symbol="A",
    )
    holding: Times = param(..., "how long a call lasts")
    service: Annotated[str, word("cbr", "rt_vbr", "nrt_vbr")] = param(
        "cbr",
        "service class of its VCs: cbr reserves the peak rate, the others the effective bandwidth "
        "of [admission]",
        alias="class",
        source="Traffic Management 4.0, section 2: a call of constant rate",
    )
    setup: Annotated[Quantity, _SETUP] = param(
        "0 s",
        "time from the request of a call, which reserves its room, to its first cell; the call "
        "holds the room for this time and the holding time",
        source="choice: no signalling, as in Erlang's formula",
    )
    redial: Annotated[float, _REDIAL] | None = param(
        None,
        "probability that a blocked caller calls again, drawn for each blocked call",
        source="Erlang: calls that are blocked are lost",
    )
    redial_after: Times | None = param(
        None,
        "time from a blocked call to the next attempt",
        source="only with redial, which needs it",
        when=when("redial"),
    )
    rate: PeakRate = param(..., "cell rate of a call while it sends", symbol="PCR")
    on: Times | None = param(
        None,
        "length of a burst, with the first of which a call begins; without it a call sends all the "
        "time",
        source="constant rate",
    )
    off: Times | None = param(
        None,
        "time from the end of a burst to the next",
        source="only with on, which needs it",
        when=when("on"),
    )
    frame: Frame = param(
        1,
        "cells of its AAL5 frames, 1 for cells without frames",
        source="choice: the studies speak of cells only",
    )
    source: Name | None = param(
        None,
        "host that calls; only in a graph",
        source="one host for all of them at each end of the congested links",
    )
    destination: Name | None = param(
        None,
        "host that is called; only in a graph",
        source="one host for all of them at each end of the congested links",
    )
