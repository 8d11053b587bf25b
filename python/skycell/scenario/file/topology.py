"""Topologies as a scenario file writes them: generated ones, an explicit graph, a constellation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import (
    Flag,
    Name,
    NamePattern,
    Parameters,
    param,
    when,
    whole_number,
    without,
)
from skycell.scenario.declared.policies import Policy
from skycell.scenario.file.constellation import ConstellationNetwork
from skycell.scenario.links.classes import SERVICE_MEANING, ServiceClass
from skycell.scenario.links.keys import (
    BY_FLOW,
    AccessLink,
    AnyLink,
    Buffer,
    CongestedLink,
    Delay,
)

MOST_FLOWS = 10_000


class EdgeLink(AccessLink):
    """The links between an edge router and its switch, and the router's port to the switch.

    The port takes in whole frames: of the connections that share the router's VC, frame by frame.
    """

    buffer: Buffer = param(
        "unlimited",
        "cells that the port of a router on the sources' side holds, including the one being "
        "sent; a frame that does not fit is refused whole",
        symbol="K",
        source="choice: losses happen in the network only",
    )
    policy: Policy = param("tail_drop", "which frames that port accepts", source="a plain router")
    by_flow: Flag = BY_FLOW


class ExtraDelay(Parameters):
    """How much further a router is from its switch than the others."""

    vc: Annotated[int, whole_number(1, MOST_FLOWS)] = param(
        ..., "number of the pair of routers; the delay is that of the router on the sources' side"
    )
    delay: Delay = param(..., "delay beyond that of the other routers' links, one way")


class Dumbbell(Parameters):
    """N hosts - switch - switch - N hosts, one TCP connection from each source to its destination.

    With `tcps_per_vc` edge routers stand between hosts and switches, and so many connections share
    one VC between a pair of routers.
    """

    kind: Literal["dumbbell"] = param(..., "the topology")
    sources: Annotated[int, whole_number(0, MOST_FLOWS)] = param(
        ...,
        "TCP connections, each with its own pair of hosts; 0 for cell sources alone",
        symbol="N",
    )
    bottleneck: CongestedLink = param(..., "the link from switch1 to switch2")
    access: AccessLink = param(..., "the links between a host and its switch or router")
    service: ServiceClass = param("ubr", SERVICE_MEANING, alias="class", source="TCP over UBR")
    tcps_per_vc: Annotated[int, whole_number(1, MOST_FLOWS)] | None = param(
        None,
        "TCP connections on each VC; without it there are no routers, and each connection "
        "has its own VC",
    )
    edge: EdgeLink | None = param(
        None,
        "the links between a router and its switch, and the router's buffer; only with tcps_per_vc",
        source="as access",
        when=when("tcps_per_vc"),
    )
    extra_delay: tuple[ExtraDelay, ...] = param(
        [],
        "routers that are further from their switch than the others; only with tcps_per_vc",
        source="all are equally far",
        when=when("tcps_per_vc"),
    )


class ParkingLot(Parameters):
    """A chain of switches: long flows cross every congested link, cross flows one each.

    Switches are switch1, switch2, ...; the k-th congested link leads from switch k to switch k + 1.
    """

    kind: Literal["parking_lot"] = param(..., "the topology")
    hops: Annotated[int, whole_number(1, 100)] = param(..., "congested links in the chain")
    long_flows: Annotated[int, whole_number(0, MOST_FLOWS)] = param(
        1, "connections over the whole chain", source="choice: one in the classic figure"
    )
    cross_flows: Annotated[int, whole_number(0, 1000)] = param(
        1, "connections over each congested link", source="choice: one in the classic figure"
    )
    bottleneck: CongestedLink = param(..., "each congested link")
    access: AccessLink = param(..., "the links between a host and its switch")
    service: ServiceClass = param("ubr", SERVICE_MEANING, alias="class", source="TCP over UBR")


Count = Annotated[int, whole_number(1, MOST_FLOWS)]

_IN_TURN = param(
    False,
    "where both ends have a *, each name of the more numerous end has a pair, and the names of the "
    "other end are taken in turn",
    source="pairs of equal numbers",
)


class Nodes(Parameters):
    """A node, or several that are called the name with a number from 1 on."""

    name: Name = param(..., "name of the node, without the number")
    count: Count = param(1, "number of such nodes", source="one, called by the name alone")

    @property
    def names(self) -> list[str]:
        """The names of the nodes."""
        return numbered_names(self.name, self.count)


def numbered_names(name: str, count: int) -> list[str]:
    """Names of several things of one kind; of one thing the name alone.

    >>> numbered_names("user", 2), numbered_names("hub", 1)
    (['user1', 'user2'], ['hub'])
    """
    return [name] if count == 1 else [f"{name}{number}" for number in range(1, count + 1)]


def _by_name(value: Any) -> Any:
    return value if isinstance(value, dict | Nodes) else {"name": value}


AnyNodes = Annotated[Nodes, BeforeValidator(_by_name, json_schema_input_type=Nodes | Name)]


class Ends(Parameters):
    """Both ends of a link."""

    source: NamePattern = param(..., "node at which the link begins", alias="from")
    target: NamePattern = param(..., "node at which the link ends", alias="to")
    in_turn: Flag = _IN_TURN


class GraphLink(AnyLink, Ends):
    """A link between two nodes, the same in both directions unless `one_way`.

    An end with `*`, such as `user*`, stands for all nodes of that name with a number, and the table
    for a link of each.
    """

    one_way: Flag = param(False, "the link has one direction only", source="duplex links")


class GraphVc(Parameters):
    """A virtual channel, in one direction."""

    name: Name = param(..., "name of the VC")
    path: tuple[Name, ...] = param(..., "nodes from end to end")
    service: ServiceClass = param(
        "ubr", "service class of the VC", alias="class", source="TCP over UBR"
    )


class GraphFlow(Parameters):
    """A TCP connection between two hosts of the graph, or several.

    An end with `*`, such as `user*`, stands for all hosts of that name with a number. The flow of
    each has that number behind its name.
    """

    name: Name = param(..., "name of the flow, without a number")
    source: NamePattern = param(..., "host that sends data")
    destination: NamePattern = param(..., "host that receives data")
    in_turn: Flag = _IN_TURN
    count: Count = param(
        1,
        "number of connections between the same two hosts; several have the name with a number "
        "from 1 on, behind a point if the name has the number of a host",
        source="one, without such a number",
    )
    service: ServiceClass = param(
        "ubr",
        "service class of the flow's own VCs",
        alias="class",
        source="TCP over UBR",
        when=(without("forward"), without("reverse")),
    )
    forward: tuple[Name, ...] | None = param(
        None,
        "VCs that carry data, end to end; routers connect each to the next",
        source="its own VC for each section of the shortest path",
    )
    reverse: tuple[Name, ...] | None = param(
        None,
        "VCs that carry acknowledgements",
        source="its own VC for each section of the shortest path",
    )


class Graph(Parameters):
    """Any graph of hosts, routers and switches."""

    kind: Literal["graph"] = param(..., "the topology")
    hosts: tuple[AnyNodes, ...] = param(..., "names of the hosts")
    routers: tuple[AnyNodes, ...] = param([], "names of the edge routers", source="none")
    switches: tuple[AnyNodes, ...] = param([], "names of the switches", source="none")
    link: tuple[GraphLink, ...] = param(..., "links")
    vc: tuple[GraphVc, ...] = param([], "VCs with a given path", source="shortest paths")
    flow: tuple[GraphFlow, ...] = param([], "TCP connections", source="cell sources alone")


Topology = Annotated[
    Dumbbell | ParkingLot | Graph | ConstellationNetwork, Field(discriminator="kind")
]
