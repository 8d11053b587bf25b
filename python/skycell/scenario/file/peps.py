"""The table [[pep]]: routers that split the TCP connections which cross them."""

from __future__ import annotations

from typing import Annotated

from skycell.input.parameters import Name, NamePatterns, Parameters, param, quantity, without
from skycell.input.quantities import Dimension, Quantity
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.values.tcp_types import RTT_X_BANDWIDTH

#: Largest buffer of a proxy, octets.
MOST_OCTETS = 10**12

PepBuffer = Annotated[
    Quantity | str,
    quantity(
        Dimension.SIZE,
        Dimension.RTT,
        above=0,
        high=MOST_OCTETS,
        words=[RTT_X_BANDWIDTH],
        example="512 KiB",
    ),
]


class Pep(Parameters):
    """A performance enhancing proxy: a router that splits connections (RFC 3135)."""

    node: Name = param(..., "router at which connections are split")
    buffer: PepBuffer = param(
        ...,
        "most octets that the router may hold of each connection; at least the receiver window "
        "before the router",
    )
    flows: NamePatterns | None = param(
        None,
        "flows that the router splits; web* are those called web and a number",
        source="all flows that cross it both ways, except flows with ipsec",
    )
    bypass: NamePatterns | None = param(
        None,
        "flows that cross the router unchanged; web* are those called web and a number",
        source="flows with ipsec",
        when=without("flows"),
    )
    tcp: Tcp | None = param(
        None,
        "TCP parameters of the connection behind it that differ; the others are as in [tcp]",
        source="as in [tcp]",
    )
