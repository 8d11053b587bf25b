"""Topologies as a scenario file writes them: generated ones, an explicit graph, a constellation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skycell.input.parameters import Flag, Name, Parameters, param, when, whole_number, without
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


class Ends(Parameters):
    """Both ends of a link."""

    source: Name = param(..., "node at which the link begins", alias="from")
    target: Name = param(..., "node at which the link ends", alias="to")


class GraphLink(AnyLink, Ends):
    """A link between two nodes, the same in both directions unless `one_way`."""

    one_way: Flag = param(False, "the link has one direction only", source="duplex links")


class GraphVc(Parameters):
    """A virtual channel, in one direction."""

    name: Name = param(..., "name of the VC")
    path: tuple[Name, ...] = param(..., "nodes from end to end")
    service: ServiceClass = param(
        "ubr", "service class of the VC", alias="class", source="TCP over UBR"
    )


class GraphFlow(Parameters):
    """A TCP connection between two hosts of the graph."""

    name: Name = param(..., "name of the flow")
    source: Name = param(..., "host that sends data")
    destination: Name = param(..., "host that receives data")
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
    hosts: tuple[Name, ...] = param(..., "names of the hosts")
    routers: tuple[Name, ...] = param([], "names of the edge routers", source="none")
    switches: tuple[Name, ...] = param([], "names of the switches", source="none")
    link: tuple[GraphLink, ...] = param(..., "links")
    vc: tuple[GraphVc, ...] = param([], "VCs with a given path", source="shortest paths")
    flow: tuple[GraphFlow, ...] = param([], "TCP connections", source="cell sources alone")


Topology = Annotated[
    Dumbbell | ParkingLot | Graph | ConstellationNetwork, Field(discriminator="kind")
]
