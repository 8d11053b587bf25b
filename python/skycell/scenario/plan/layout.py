"""A network laid out, and its plan: links in both directions, and the VCs that flows take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.scenario.file.topology import GraphFlow, GraphVc
from skycell.scenario.links.keys import AnyLink, PortKeys
from skycell.scenario.plan.framings import check_framings
from skycell.scenario.plan.plan import NodeKind, Plan, PlannedLink, plain_port
from skycell.scenario.plan.segments import segment_vcs
from skycell.scenario.plan.shortest_paths import ShortestPaths


@dataclass(frozen=True)
class LaidLink:
    """A link between two nodes.

    Attributes:
        source: node at which it begins.
        target: node at which it ends.
        keys: what the file says of it; shared by links that one table describes.
        path: that table.
        rate_path: the table that its rate comes from.
        prefix: of the port's keys `buffer` and `policy` in the file; a host's have `host_`.
        elsewhere: tables of the keys that do not stand in `path`, by key.
        one_way: it has one direction.
    """

    source: str
    target: str
    keys: AnyLink
    path: Path
    rate_path: Path
    prefix: Literal["", "host_"] = ""
    one_way: bool = False
    elsewhere: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class LaidFlow:
    """A flow between two hosts.

    Attributes:
        keys: what the file says of it, with its own name and ends.
        path: the table that says so.
    """

    keys: GraphFlow
    path: Path


@dataclass
class Layout:
    """Nodes, links, VCs with a given path, and flows, in the order that gives them their ids."""

    nodes: dict[str, NodeKind] = field(default_factory=dict)
    links: list[LaidLink] = field(default_factory=list)
    vcs: Sequence[GraphVc] = ()
    flows: list[LaidFlow] = field(default_factory=list)


def plan_layout(layout: Layout, faults: FaultCollector) -> Plan:
    """Returns the plan of a network; what does not fit together is noted in `faults`.

    Raises:
        ScenarioFaults: nodes or links have faults, and nothing leads over them then.
    """
    plan = Plan(nodes=dict(layout.nodes))
    ports: dict[int, PortKeys] = {}
    for link in layout.links:
        add_link(plan, link, ports, faults)
    check_framings(plan, faults)
    faults.raise_if_any()
    _add_vcs(plan, layout, faults)
    paths = ShortestPaths(plan)
    declared = {vc.name for vc in layout.vcs}
    at_fault: set[Path] = set()
    for flow in layout.flows:
        known = len(faults.faults)
        if flow.path not in at_fault:
            _add_flow(plan, flow.keys, flow.path, paths, declared, faults)
        if len(faults.faults) > known:
            at_fault.add(flow.path)  # other flows of the table have the same fault
    return plan


def add_link(
    plan: Plan, link: LaidLink, host_ports: dict[int, PortKeys], faults: FaultCollector
) -> None:
    """Adds each direction of a link.

    Args:
        plan: what it is added to, with its nodes.
        link: with its keys.
        host_ports: ports of hosts by the `id` of the keys, so that links share them.
        faults: where a second link between two nodes is noted.
    """
    ends = (link.source, link.target)
    for source, target in (ends,) if link.one_way else (ends, ends[::-1]):
        kind = plan.nodes[source]
        port: PortKeys = link.keys
        if kind == "host":
            limits = {"buffer": link.keys.host_buffer, "policy": link.keys.host_policy}
            if id(link.keys) not in host_ports:
                host_ports[id(link.keys)] = plain_port().model_copy(update=limits)
            port = host_ports[id(link.keys)]
        elif kind == "router" and link.keys.rate_algorithm is not None:
            port = port.model_copy(update={"rate_algorithm": None})
        planned = PlannedLink(
            source=source,
            target=target,
            keys=link.keys,
            port=port,
            path=link.path,
            rate_path=link.rate_path,
            prefix="host_" if kind == "host" else link.prefix,
            jitter=None if kind == "switch" else link.keys.frame_jitter,
            ack_filter=kind != "host" and link.keys.ack_filter,
            elsewhere=link.elsewhere,
        )
        if planned.name in plan.links:
            got = Verbatim(f"a second link {planned.name}")
            faults.add(link.path, got, "one link in each direction")
        else:
            plan.add_link(planned)


def _add_vcs(plan: Plan, layout: Layout, faults: FaultCollector) -> None:
    for i, vc in enumerate(layout.vcs):
        here: Path = ("topology", "vc", i)
        if vc.name in plan.vcs:
            faults.add((*here, "name"), vc.name, "each name once among the VCs")
            continue
        problem = _path_problem(plan, vc.path)
        if problem:
            faults.add((*here, "path"), list(vc.path), problem)
            continue
        plan.add_vc(vc.name, vc.path, vc.service)


def _path_problem(plan: Plan, path: tuple[str, ...]) -> str:
    """Why a VC cannot take a path; empty when it can."""
    if len(path) < 2:
        return "at least two nodes"
    for name in path:
        if name not in plan.nodes:
            return f'nodes of the topology; "{name}" is not one'
    for name in (path[0], path[-1]):
        if plan.nodes[name] == "switch":
            return f'hosts or routers at both ends; "{name}" is a switch'
    for name in path[1:-1]:
        if plan.nodes[name] != "switch":
            return f'switches on the way; "{name}" is a {plan.nodes[name]}'
    hops = [f"{a}>{b}" for a, b in pairwise(path)]
    for hop in hops:
        if hop not in plan.links:
            return f"nodes connected by links; there is no link {hop}"
    if len(set(hops)) != len(hops):
        return "each link once"
    return ""


def _add_flow(
    plan: Plan,
    flow: GraphFlow,
    here: Path,
    paths: ShortestPaths,
    declared: set[str],
    faults: FaultCollector,
) -> None:
    if flow.name in plan.flows:
        faults.add((*here, "name"), flow.name, "each name once among the flows")
        return
    routes = _routes(plan, flow, here, paths, declared, faults)
    if routes is not None:
        plan.add_flow(flow.name, *routes)


def _routes(
    plan: Plan,
    flow: GraphFlow,
    here: Path,
    paths: ShortestPaths,
    declared: set[str],
    faults: FaultCollector,
) -> tuple[list[str], list[str]] | None:
    """The VCs of a flow, forth and back; none where they, or VCs of `declared`, have a fault."""
    for key, name in (("source", flow.source), ("destination", flow.destination)):
        if plan.nodes.get(name) != "host":
            hosts = [n for n, kind in plan.nodes.items() if kind == "host"]
            allowed = f"a name in hosts{did_you_mean(name, hosts)}"
            faults.add((*here, key), name, allowed)
            return None
    if flow.source == flow.destination:
        faults.add((*here, "destination"), flow.destination, "a host other than source")
        return None
    routes: dict[str, list[str]] = {}
    for key, route, ends in (
        ("forward", flow.forward, (flow.source, flow.destination)),
        ("reverse", flow.reverse, (flow.destination, flow.source)),
    ):
        if route is not None:
            if any(name in declared and name not in plan.vcs for name in route):
                return None
            problem = _route_problem(plan, route, *ends)
            if problem:
                faults.add((*here, key), list(route), problem)
                return None
            routes[key] = list(route)
            continue
        nodes = paths.between(*ends)
        if nodes is None:
            got = Verbatim(f"no path from {ends[0]} to {ends[1]}")
            faults.add(here, got, "links that connect the two hosts over switches and routers")
            return None
        routes[key] = segment_vcs(plan, f"{flow.name}.{key}", nodes, flow.service)
    return routes["forward"], routes["reverse"]


def _route_problem(plan: Plan, vcs: tuple[str, ...], source: str, destination: str) -> str:
    """Why a flow cannot take a row of VCs; empty when it can."""
    if not vcs:
        return "at least one VC"
    for name in vcs:
        if name not in plan.vcs:
            return f'VCs of the topology; "{name}" is not one{did_you_mean(name, plan.vcs)}'
    at = source
    for name in vcs:
        links = plan.vcs[name].links
        begin, end = plan.links[links[0]].source, plan.links[links[-1]].target
        if begin != at:
            return f'VCs from {source} to {destination}; "{name}" begins at {begin}, not at {at}'
        if at != source and plan.nodes[at] != "router":
            return f'VCs connected by routers; "{name}" begins at {at}'
        at = end
    if at != destination:
        return f"VCs from {source} to {destination}; these end at {at}"
    return ""
