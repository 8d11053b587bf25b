"""Receivers of links at rates of their own: which VCs they receive, and how fast."""

from __future__ import annotations

from collections.abc import Iterable

from skycell.input.faults import Path, Verbatim
from skycell.input.quantities import rounded
from skycell.scenario.links.receivers import Receiver, payload_of
from skycell.scenario.plan.patterns import listed, near
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.spec.declared.network import ReceiverSpec

_Ways = dict[str, list[frozenset[str]]]
"""By VC: the nodes that packets come to behind a link, for each route."""


@part
def receivers(net: Resolution) -> dict[str, tuple[ReceiverSpec, ...]]:
    """Returns the receivers of each link that has some."""
    by_table: dict[Path, list[PlannedLink]] = {}
    for link in net.plan.links.values():
        if link.keys.receivers:
            by_table.setdefault(link.path, []).append(link)
    behind = _ways_behind(net) if by_table else {}
    found: dict[str, tuple[ReceiverSpec, ...]] = {}
    for path, links in by_table.items():
        specs: dict[str, list[ReceiverSpec]] = {}
        taken: dict[str, int] = {}
        for i, receiver in enumerate(links[0].keys.receivers):
            _add(net, (*path, "receivers", i), receiver, links, behind, taken, specs)
        found |= {name: tuple(own) for name, own in specs.items()}
    return found


def _add(
    net: Resolution,
    here: Path,
    receiver: Receiver,
    links: list[PlannedLink],
    behind: dict[str, _Ways],
    taken: dict[str, int],
    specs: dict[str, list[ReceiverSpec]],
) -> None:
    """Adds a receiver to the links of its table; a fault is noted, and nothing added."""
    framing = links[0].framing
    if framing is None or not links[0].carries_packets:
        allowed = "nothing: the link carries cells, all at its own rate"
        net.faults.add(here, Verbatim("a receiver"), allowed)
        return
    named = _named(net, receiver, here)
    if named is None:
        return
    payload = payload_of(receiver, (links[0].rate, framing), here, net.faults)
    if payload is None:
        return
    number = here[-1]
    assert isinstance(number, int)
    is_used = False
    for link in links:
        ways = behind.get(link.name, {})
        vcs = [vc for vc, routes in ways.items() if any(named.keys() & nodes for nodes in routes)]
        for vc in vcs:
            if not all(named.keys() & nodes for nodes in ways[vc]):
                got = Verbatim(f"{vc}, which also carries packets to other nodes")
                net.faults.add((*here, "nodes"), got, "nodes whose packets have VCs of their own")
                return
            if taken.setdefault(vc, number) != number:
                got = Verbatim(f"{vc}, which receivers[{taken[vc]}] receives")
                net.faults.add((*here, "nodes"), got, "nodes of which no other table speaks")
                return
        if not vcs:
            continue
        is_used = True
        own = specs.setdefault(link.name, [])
        if receiver.model is None:
            ids = tuple(net.vc_ids[vc] for vc in vcs)
            rate = rounded(payload * 1000)
            own.append(ReceiverSpec(vcs=ids, times_ps=(0,), rates_millibps=(rate,)))
            continue
        for node in named:
            ids = tuple(net.vc_ids[vc] for vc in vcs if any(node in way for way in ways[vc]))
            course = _course(net, here, f"{link.name}/{node}") if ids else None
            if course is not None:
                own.append(ReceiverSpec(vcs=ids, times_ps=course[0], rates_millibps=course[1]))
    if not is_used:
        allowed = "nodes to which a flow or source goes on behind the link"
        net.faults.add((*here, "nodes"), list(receiver.nodes), allowed)


def _course(
    net: Resolution, here: Path, stream: str
) -> tuple[tuple[int, ...], tuple[int | None, ...]] | None:
    """When each step begins, and its rate, None where nothing is received; None with a fault."""
    steps = net.schedules.courses[here](stream, net.faults)
    if steps is None:
        return None
    rows: list[tuple[int, int | None]] = []
    for time, rate, delay in zip(steps.times_ps, steps.rates, steps.delays_ps, strict=True):
        found = None if delay is None else rate
        if not rows or rows[-1][1] != found:
            rows.append((time, found))
    return tuple(time for time, _ in rows), tuple(rate for _, rate in rows)


def _named(net: Resolution, receiver: Receiver, here: Path) -> dict[str, None] | None:
    """The nodes that a table names, in order; None where a name is no node's, which is noted."""
    nodes = net.plan.nodes
    found: dict[str, None] = {}
    for k, name in listed(receiver.nodes, nodes):
        if name not in nodes:
            allowed = f"a node of the topology{near(name, nodes)}"
            net.faults.add((*here, "nodes", k), name, allowed)
            return None
        found[name] = None
    return found


def _ways_behind(net: Resolution) -> dict[str, _Ways]:
    """By link: where the packets of each VC go on to."""
    plan = net.plan
    found: dict[str, _Ways] = {}
    flows = (route for flow in plan.flows.values() for route in (flow.forward, flow.reverse))
    routes: Iterable[tuple[str, ...]] = (*flows, *plan.datagrams.values())
    for route in dict.fromkeys(routes):
        visited: set[str] = set()
        for vc in reversed(route):
            for name in reversed(plan.vcs[vc].links):
                visited.add(plan.links[name].target)
                found.setdefault(name, {}).setdefault(vc, []).append(frozenset(visited))
    return found
