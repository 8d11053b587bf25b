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
    read_number,
    when,
    word,
)
from skycell.input.quantities import Refused
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


class Calls(Parameters):
    """Calls of a class: they come at random, and each holds a VC if every link has room for it."""

    name: Name = param(
        ..., "name of the class of calls; with a number from 1 on, that of its hosts' VCs"
    )
    load: Annotated[Fraction, _LOAD] = param(
        ...,
        "traffic offered: calls that would be under way in the mean if none were blocked; they "
        "come as a Poisson process",
        symbol="A",
    )
    holding: Times = param(..., "how long a call lasts")
    service: Annotated[str, word("cbr", "rt_vbr", "nrt_vbr")] = param(
        "cbr",
        "service class of its VCs: of cbr the peak rate is promised, of the others the effective "
        "bandwidth of [admission]",
        alias="class",
        source="Traffic Management 4.0, section 2: a call of constant rate",
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
