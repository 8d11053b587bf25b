"""An explicit graph: its nodes, links, VCs and flows, as a file gives them."""

from __future__ import annotations

from collections.abc import Iterator

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.input.quantities import show_amount
from skycell.scenario.file.topology import (
    MOST_FLOWS,
    Graph,
    GraphFlow,
    GraphLink,
    Nodes,
    numbered_names,
)
from skycell.scenario.links.jitter import refuse_without_host
from skycell.scenario.plan.host_ports import refuse_host_port
from skycell.scenario.plan.layout import LaidFlow, LaidLink, Layout
from skycell.scenario.plan.patterns import Pair, pairs_of
from skycell.scenario.plan.plan import UNLIMITED, NodeKind


def lay_out_graph(topology: Graph, faults: FaultCollector) -> Layout:
    """Returns the network of a graph, without the links that have a fault."""
    layout = Layout(vcs=topology.vc)
    kinds: tuple[tuple[str, NodeKind, tuple[Nodes, ...]], ...] = (
        ("hosts", "host", topology.hosts),
        ("routers", "router", topology.routers),
        ("switches", "switch", topology.switches),
    )
    for key, kind, groups in kinds:
        for i, group in enumerate(groups):
            for name in group.names:
                if name in layout.nodes:
                    faults.add(("topology", key, i), name, "each name once among the nodes")
                layout.nodes[name] = kind
    for i, link in enumerate(topology.link):
        layout.links += _links_of(layout, link, ("topology", "link", i), faults)
    for i, flow in enumerate(topology.flow):
        layout.flows += _flows_of(layout, flow, ("topology", "flow", i), faults)
    return layout


def _links_of(
    layout: Layout, link: GraphLink, here: Path, faults: FaultCollector
) -> Iterator[LaidLink]:
    """The links that a table stands for."""
    ends = (("from", link.source), ("to", link.target))
    pairs = pairs_of(ends, layout.nodes, "nodes", here, faults, in_turn=link.in_turn)
    if any(name.endswith("*") for _, name in ends) and _refuse_shared(link, here, faults):
        return
    for pair in pairs:
        if _joins_two_nodes(layout, pair, here, faults):
            _check_ends(layout, link, pair, here, faults)
            yield LaidLink(pair.source, pair.target, link, here, here, one_way=link.one_way)


def _refuse_shared(link: GraphLink, here: Path, faults: FaultCollector) -> bool:
    """Notes what several links of one table would share, though links of their own do not."""
    if link.schedule is None:
        return False
    shared = {
        "model": (link.schedule.model, "draws a course"),
        "onboard_switching": (link.schedule.onboard_switching, "has satellites"),
    }
    said = {key: what for key, (value, what) in shared.items() if value is not None}
    for key, what in said.items():
        allowed = f"a table for each link: each {what} of its own, and * stands for several links"
        faults.add((*here, "schedule", key), Verbatim("links by *"), allowed)
    return bool(said)


def _flows_of(
    layout: Layout, flow: GraphFlow, here: Path, faults: FaultCollector
) -> Iterator[LaidFlow]:
    """The flows that a table stands for, of each pair of hosts all its connections."""
    ends = (("source", flow.source), ("destination", flow.destination))
    hosts = [name for name, kind in layout.nodes.items() if kind == "host"]
    pairs = pairs_of(ends, hosts, "hosts", here, faults, in_turn=flow.in_turn)
    if len(pairs) * flow.count > MOST_FLOWS:
        got = Verbatim(f"{flow.count} between {len(pairs)} pairs of hosts")
        allowed = f"up to {show_amount(MOST_FLOWS)} connections of a table"
        faults.add((*here, "count"), got, allowed)
        return
    for pair in pairs:
        base = f"{flow.name}{pair.number}"
        point = "." if pair.number and flow.count > 1 else ""
        for name in numbered_names(f"{base}{point}", flow.count):
            own = {"name": name, "source": pair.source, "destination": pair.target}
            yield LaidFlow(flow.model_copy(update=own), here)


def _joins_two_nodes(layout: Layout, link: Pair, here: Path, faults: FaultCollector) -> bool:
    is_whole = link.source != link.target
    if not is_whole:
        faults.add((*here, "to"), link.target, "a node other than from")
    for key, name in (("from", link.source), ("to", link.target)):
        if name not in layout.nodes:
            allowed = f"a name in hosts, routers or switches{did_you_mean(name, layout.nodes)}"
            faults.add((*here, key), name, allowed)
            is_whole = False
    return is_whole


def _check_ends(
    layout: Layout, link: GraphLink, ends: Pair, here: Path, faults: FaultCollector
) -> None:
    """Notes keys of ports that no end of the link has."""
    feeding = [ends.source] if link.one_way else [ends.source, ends.target]
    kinds = [layout.nodes[name] for name in feeding]
    if set(kinds) == {"host"}:
        _refuse_port(link, here, faults)
    if link.rate_algorithm is not None and "switch" not in kinds:
        allowed = "nothing: no switch feeds the link"
        faults.add((*here, "rate_algorithm"), link.rate_algorithm.kind, allowed)
    refuse_without_host(link.frame_jitter, here, kinds, faults)
    if "host" not in kinds:
        refuse_host_port(link, here, faults)


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
