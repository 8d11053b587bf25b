"""Pings between two hosts, as a scenario file writes them."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Name, Parameters, param, quantity, without
from skycell.input.quantities import DAY_PS, Dimension, Quantity
from skycell.scenario.file.sources import PacketSize
from skycell.scenario.file.traffic import Start
from skycell.scenario.links.classes import ServiceClass

_Interval = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=DAY_PS, example="200 ms")]
_ENDS = "its own hosts at both ends of the congested links"

REPLY = ".reply"
"""What follows the name of a probe in the name of its answers."""


class Probe(Parameters):
    """A host that sends pings to another one, which answers each of them at once."""

    name: Name = param(..., f"name of its pings and of their VC; NAME{REPLY} are the answers")
    interval: _Interval = param("1 s", "time from one ping to the next", source="ping of Linux")
    size: PacketSize = param(
        "84 B",
        "octets of the IP packet of a ping, and of its answer",
        source="ping of Linux: 56 octets of data, 8 of ICMP and 20 of IP",
    )
    start: Start = param("together", "when it begins", source="the start of the run")
    beside: Name | None = param(
        None,
        "flow whose hosts the pings join: they go on the VCs of its data, and the answers on those "
        "of its acknowledgements",
        source="its own VCs",
    )
    service: ServiceClass = param(
        "ubr",
        "service class of its VCs",
        alias="class",
        source="no promise",
        when=without("beside"),
    )
    source: Name | None = param(None, "host that sends the pings; only in a graph", source=_ENDS)
    destination: Name | None = param(None, "host that answers; only in a graph", source=_ENDS)
