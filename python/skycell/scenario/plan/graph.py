"""An explicit graph: its nodes, links, VCs and flows, as a file gives them."""

from __future__ import annotations

from skycell.input.faults import FaultCollector, Path, Verbatim, did_you_mean
from skycell.scenario.file.topology import Graph, GraphLink
from skycell.scenario.links.jitter import refuse_without_host
from skycell.scenario.plan.host_ports import refuse_host_port
from skycell.scenario.plan.layout import LaidLink, Layout
from skycell.scenario.plan.plan import UNLIMITED, NodeKind


def lay_out_graph(topology: Graph, faults: FaultCollector) -> Layout:
    """Returns the network of a graph, without the links that have a fault."""
    layout = Layout(vcs=topology.vc, flows=list(topology.flow))
    kinds: tuple[tuple[str, NodeKind, tuple[str, ...]], ...] = (
        ("hosts", "host", topology.hosts),
        ("routers", "router", topology.routers),
        ("switches", "switch", topology.switches),
    )
    for key, kind, names in kinds:
        for i, name in enumerate(names):
            if name in layout.nodes:
                faults.add(("topology", key, i), name, "each name once among the nodes")
            layout.nodes[name] = kind
    for i, link in enumerate(topology.link):
        here: Path = ("topology", "link", i)
        if _joins_two_nodes(layout, link, here, faults):
            _check_ends(layout, link, here, faults)
            laid = LaidLink(link.source, link.target, link, here, here, one_way=link.one_way)
            layout.links.append(laid)
    return layout


def _joins_two_nodes(layout: Layout, link: GraphLink, here: Path, faults: FaultCollector) -> bool:
    is_whole = link.source != link.target
    if not is_whole:
        faults.add((*here, "to"), link.target, "a node other than from")
    for key, name in (("from", link.source), ("to", link.target)):
        if name not in layout.nodes:
            allowed = f"a name in hosts, routers or switches{did_you_mean(name, layout.nodes)}"
            faults.add((*here, key), name, allowed)
            is_whole = False
    return is_whole


def _check_ends(layout: Layout, link: GraphLink, here: Path, faults: FaultCollector) -> None:
    """Notes keys of ports that no end of the link has."""
    feeding = [link.source] if link.one_way else [link.source, link.target]
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
