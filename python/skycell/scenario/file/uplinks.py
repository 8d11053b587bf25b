"""The table [[uplink]]: links of terminals that share the slots of one uplink."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import (
    Name,
    NamePatterns,
    Parameters,
    param,
    quantity,
    whole_number,
    without,
    word,
)
from skycell.input.quantities import Dimension, Quantity
from skycell.scenario.declared.access import AccessProtocol
from skycell.scenario.declared.impairments import Impairments

#: Longest slot, and longest time until terminals know something, as in `crates/spec`.
LONGEST_PS = 10 * 10**12

Time = Annotated[Quantity, quantity(Dimension.TIME, high=LONGEST_PS, example="250 ms")]
Slot = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=LONGEST_PS, example="2.5 ms")]


class UplinkEnds(Parameters):
    """Whose uplink it is."""

    to: Name = param(..., "node that the terminals send to: the satellite, or the hub behind it")
    terminals: NamePatterns | None = param(
        None,
        "nodes that share the uplink; user* are those called user and a number",
        source="all hosts with a link to that node",
    )


class UplinkKeys(Parameters):
    """Slots that terminals share, and who may send in them."""

    access: AccessProtocol = param(..., "access protocol: how terminals get slots")
    slot_cells: Annotated[int, whole_number(1, 4)] = param(
        1, "cells of one terminal that a slot carries", source="EN 301 790: bursts of 1, 2 or 4"
    )
    slot: Slot | None = param(
        None,
        "length of a slot",
        source="the time of its cells on the slowest of the links, at its slowest",
    )
    hop: Time | None = param(
        None,
        "propagation delay between a terminal and the satellite",
        source="the longest delay of the terminals' links, over the run; of a beam half of its "
        "delay",
    )
    controller: Annotated[str, word("ground", "on_board")] = param(
        "ground",
        "place of the controller that answers requests: ground adds a hop to the request and to "
        "the answer",
        source="NASA/CR-1999-209158, part III.A: at the NCC without on-board processing",
        when=without("response"),
    )
    feedback: Time | None = param(
        None,
        "time from the end of a slot until terminals know its result",
        source="two hops: each hears the downlink",
    )
    response: Time | None = param(
        None,
        "time from the end of a request until the grants that answer it hold",
        source="four hops with a controller on the ground, two with one on board",
    )
    impairments: Impairments = param({}, "impairments of the uplink", source="nothing")


class Uplink(UplinkKeys, UplinkEnds):
    """An uplink that terminals share: the ports of their links send in its slots only.

    What a slot carries waits in the port of its terminal, under the port's own policy and
    scheduler, until a slot lets it through.
    """
