"""An explicit graph: its nodes, links, VCs and flows, with shortest paths where none are given.

A path is shortest by propagation delay, then by hops; of equal ones the first that a search from
the source reaches wins, which takes links in their order in the file. Hosts are never on the way.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.scenario.file.jitter import refuse_without_host
from skycell.scenario.file.links import delay_of
from skycell.scenario.file.topology import Graph, GraphFlow, GraphLink
from skycell.scenario.plan.framings import check_framings
from skycell.scenario.plan.host_ports import refuse_host_port
from skycell.scenario.plan.own_vcs import own_vcs
from skycell.scenario.plan.plan import UNLIMITED, NodeKind, Plan, PlannedLink


def plan_graph(topology: Graph, faults: FaultCollector) -> Plan:
    """The plan of a graph; what does not fit together is noted in `faults`.

    Raises:
        ScenarioFaults: nodes or links have faults, and nothing leads over them then.
    """
    plan = Plan()
    _add_nodes(plan, topology, faults)
    _add_links(plan, topology, faults)
    check_framings(plan, faults)
    faults.raise_if_any()
    _add_vcs(plan, topology, faults)
    paths = ShortestPaths(plan)
    declared = {vc.name for vc in topology.vc}
    for i, flow in enumerate(topology.flow):
        _add_flow(plan, flow, ("topology", "flow", i), paths, declared, faults)
    return plan


def _add_nodes(plan: Plan, topology: Graph, faults: FaultCollector) -> None:
    kinds: tuple[tuple[str, NodeKind, tuple[str, ...]], ...] = (
        ("hosts", "host", topology.hosts),
        ("routers", "router", topology.routers),
        ("switches", "switch", topology.switches),
    )
    for key, kind, names in kinds:
        for i, name in enumerate(names):
            if name in plan.nodes:
                faults.add(("topology", key, i), name, "each name once among the nodes")
            plan.nodes[name] = kind


def _add_links(plan: Plan, topology: Graph, faults: FaultCollector) -> None:
    for i, link in enumerate(topology.link):
        here: Path = ("topology", "link", i)
        ends = (("from", link.source), ("to", link.target))
        known = [_is_node(plan, name, (*here, key), faults) for key, name in ends]
        if link.source == link.target:
            faults.add((*here, "to"), link.target, "a node other than from")
        if link.source == link.target or not all(known):
            continue
        directions = [ends] if link.one_way else [ends, ends[::-1]]
        fed_by = [plan.nodes[source] for (_, source), _ in directions]
        if set(fed_by) == {"host"}:
            _refuse_port(link, here, faults)
        if link.rate_algorithm is not None and "switch" not in fed_by:
            allowed = "nothing: no switch feeds the link"
            faults.add((*here, "rate_algorithm"), link.rate_algorithm.kind, allowed)
        refuse_without_host(link.frame_jitter, here, fed_by, faults)
        if "host" not in fed_by:
            refuse_host_port(link, here, faults)
        for (_, source), (_, target) in directions:
            name = f"{source}>{target}"
            if name in plan.links:
                faults.add(here, Verbatim(f"a second link {name}"), "one link in each direction")
                continue
            is_host = plan.nodes[source] == "host"
            planned = PlannedLink(
                source=source,
                target=target,
                rate=link.rate,
                framing=link.framing,
                delay=delay_of(link.delay),
                delay_variation=link.delay_variation,
                mtu=link.mtu,
                fragmentation=link.fragmentation,
                frame_check=link.frame_check,
                path=here,
                rate_path=here,
                buffer=link.host_buffer if is_host else link.buffer,
                policy=link.host_policy if is_host else link.policy,
                buffer_key="host_buffer" if is_host else "buffer",
                policy_key="host_policy" if is_host else "policy",
                classes=() if is_host else link.classes,
                scheduler=None if is_host else link.scheduler,
                by_flow=not is_host and link.by_flow,
                shaper=None if is_host else link.shaper,
                policer=None if is_host else link.policer,
                ack_filter=not is_host and link.ack_filter,
                rate_algorithm=link.rate_algorithm if plan.nodes[source] == "switch" else None,
                jitter=None if plan.nodes[source] == "switch" else link.frame_jitter,
            )
            plan.add_link(planned)


def _refuse_port(link: GraphLink, here: Path, faults: FaultCollector) -> None:
    """Notes what a link that only hosts feed says of its port."""
    own = {
        "buffer": link.buffer != UNLIMITED and str(link.buffer),
        "policy": link.policy.kind != "tail_drop" and link.policy.kind,
        "class": link.classes and Verbatim("a list of tables"),
        "scheduler": link.scheduler and link.scheduler.kind,
        "by_flow": link.by_flow,
        "shaper": link.shaper and Verbatim("a table"),
        "policer": link.policer and Verbatim("a table"),
        "ack_filter": link.ack_filter,
    }
    for key, got in own.items():
        if got:
            rest = {"buffer": "unlimited", "by_flow": "false", "ack_filter": "false"}.get(
                key, "nothing"
            )
            allowed = f"{rest}: only a host feeds the link, and its port has host_buffer"
            faults.add((*here, key), got, allowed)


def _is_node(plan: Plan, name: str, path: Path, faults: FaultCollector) -> bool:
    if name in plan.nodes:
        return True
    allowed = f"a name in hosts, routers or switches{did_you_mean(name, plan.nodes)}"
    faults.add(path, name, allowed)
    return False


def _add_vcs(plan: Plan, topology: Graph, faults: FaultCollector) -> None:
    for i, vc in enumerate(topology.vc):
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
        routes[key] = own_vcs(plan, f"{flow.name}.{key}", nodes, flow.service)
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


@dataclass(frozen=True)
class _Reached:
    """A node that a search has reached, over `via`, as the `place`-th."""

    delay: Fraction
    hops: int
    place: int
    via: str


class ShortestPaths:
    """Shortest paths of a plan, one tree per source, each computed once.

    A tree is of the routers and switches alone. A host is joined to it where a path ends there:
    nothing lies behind it, and hosts are most of the nodes.
    """

    def __init__(self, plan: Plan) -> None:
        self._leaving: dict[str, list[PlannedLink]] = {name: [] for name in plan.nodes}
        self._into_host: dict[str, list[PlannedLink]] = {
            name: [] for name, kind in plan.nodes.items() if kind == "host"
        }
        for link in plan.links.values():
            if link.target in self._into_host:
                self._into_host[link.target].append(link)
            else:
                self._leaving[link.source].append(link)
        self._trees: dict[str, dict[str, _Reached]] = {}

    def between(self, source: str, destination: str) -> list[str] | None:
        """Nodes from source to destination, or none when there is no way."""
        if source not in self._trees:
            self._trees[source] = self._tree(source)
        tree = self._trees[source]
        last = tree[destination].via if destination in tree else self._last(tree, destination)
        if last is None:
            return None
        path = [destination]
        while path[-1] != source:
            path.append(last)
            last = tree[last].via
        return path[::-1]

    def _tree(self, source: str) -> dict[str, _Reached]:
        """Each node that can be reached. Ties go to what was pushed first."""
        tree: dict[str, _Reached] = {}
        pushed = 0
        heap: list[tuple[Fraction, int, int, str, str]] = [(Fraction(0), 0, 0, source, source)]
        while heap:
            delay, hops, _, node, via = heapq.heappop(heap)
            if node in tree:
                continue
            tree[node] = _Reached(delay, hops, len(tree), via)
            for link in self._leaving[node]:
                if link.target not in tree:
                    pushed += 1
                    further = delay + link.delay.amount
                    heapq.heappush(heap, (further, hops + 1, pushed, link.target, node))
        return tree

    def _last(self, tree: dict[str, _Reached], host: str) -> str | None:
        """The node before a host, by the order in which a search comes there; none without one."""
        ways = (
            (before.delay + link.delay.amount, before.hops, before.place, link.source)
            for link in self._into_host.get(host, ())
            if (before := tree.get(link.source)) is not None
        )
        first = min(ways, default=None)
        return None if first is None else first[-1]
