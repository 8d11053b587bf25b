"""Generated topologies: from a few parameters to the nodes, links, VCs and flows of a plan."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from skycell.input.faults import FaultCollector, Path
from skycell.input.quantities import DAY_PS, Dimension, Quantity, rounded, show_time
from skycell.scenario.declared.framings import Ip
from skycell.scenario.file.framing import carries_packets, counts_symbols
from skycell.scenario.file.jitter import refuse_without_host
from skycell.scenario.file.links import AccessLink, CongestedLink, delay_of
from skycell.scenario.file.topology import MOST_FLOWS, Dumbbell, ParkingLot
from skycell.scenario.plan.host_ports import refuse_host_port
from skycell.scenario.plan.own_vcs import own_vcs
from skycell.scenario.plan.plan import PLAIN, UNLIMITED, NodeKind, Plan, PlannedLink


def plan_dumbbell(topology: Dumbbell, faults: FaultCollector) -> Plan:
    """N hosts - switch1 - switch2 - N hosts, with or without edge routers."""
    if topology.tcps_per_vc is None:
        return _dumbbell_of_hosts(topology)
    _refuse_trunks_of_packets(topology, faults)
    return _dumbbell_with_routers(topology, topology.tcps_per_vc, faults)


def _refuse_trunks_of_packets(topology: Dumbbell, faults: FaultCollector) -> None:
    """Notes links of packets between the routers whose VCs the connections share."""
    of_edge = topology.edge or topology.access
    own_edge = of_edge.framing or topology.bottleneck.framing
    known = len(faults.faults)
    for key, framing in (("bottleneck", topology.bottleneck.framing), ("edge", own_edge)):
        if framing is not None and carries_packets(framing):
            allowed = "a framing of ATM cells: with tcps_per_vc connections share VCs over switches"
            where: Path = ("topology", key, "framing")
            faults.add(where, framing.kind, allowed)
    if len(faults.faults) > known:
        faults.raise_if_any()  # and no network is made where packets come to switches


def nodes_between(kind: NodeKind, count: int) -> list[str]:
    """Names of the nodes between which the congested links are."""
    return [f"{kind}{k}" for k in range(1, count + 1)]


def kind_between(access: AccessLink, bottleneck: CongestedLink) -> NodeKind:
    """What stands between the links: switches forward cells, routers whole packets."""
    framings = (access.framing, bottleneck.framing)
    return "router" if any(map(carries_packets, framings)) else "switch"


def _dumbbell_of_hosts(topology: Dumbbell) -> Plan:
    plan = Plan()
    numbers = range(1, topology.sources + 1)
    kind = kind_between(topology.access, topology.bottleneck)
    one, other = nodes_between(kind, 2)
    plan.nodes.update({f"source{i}": "host" for i in numbers})
    plan.nodes.update({one: kind, other: kind})
    plan.nodes.update({f"destination{i}": "host" for i in numbers})
    for i in numbers:
        add_access(plan, f"source{i}", one, topology.access, topology.bottleneck)
    _congested(plan, one, other, topology.bottleneck)
    for i in numbers:
        add_access(plan, other, f"destination{i}", topology.access, topology.bottleneck)
    for i in numbers:
        _flow(plan, f"flow{i}", [f"source{i}", one, other, f"destination{i}"], topology.service)
    return plan


def _dumbbell_with_routers(topology: Dumbbell, tcps_per_vc: int, faults: FaultCollector) -> Plan:
    plan = Plan()
    routers = range(1, (topology.sources - 1) // tcps_per_vc + 2)
    router_of = {i: (i - 1) // tcps_per_vc + 1 for i in range(1, topology.sources + 1)}
    edge = topology.edge or topology.access
    edge_path: Path = ("topology", "edge" if topology.edge else "access")
    if topology.edge is not None:
        refuse_without_host(edge.frame_jitter, edge_path, ("router", "switch"), faults)
        refuse_host_port(topology.edge, edge_path, faults)
    extra_delays = _extra_delays(topology, routers, edge.delay, faults)
    plan.nodes.update({f"source{i}": "host" for i in router_of})
    plan.nodes.update({f"ingress{k}": "router" for k in routers})
    plan.nodes.update({"switch1": "switch", "switch2": "switch"})
    plan.nodes.update({f"egress{k}": "router" for k in routers})
    plan.nodes.update({f"destination{i}": "host" for i in router_of})
    for i, k in router_of.items():
        add_access(plan, f"source{i}", f"ingress{k}", topology.access, topology.bottleneck)
    for k in routers:
        own, path = edge, edge_path
        if k in extra_delays:
            i, delay = extra_delays[k]
            own = edge.model_copy(update={"delay": delay})
            path = ("topology", "extra_delay", i)
        add_access(plan, f"ingress{k}", "switch1", own, topology.bottleneck, path)
        if topology.edge is not None:
            port = plan.links[f"ingress{k}>switch1"]
            own_port = replace(
                port,
                buffer=topology.edge.buffer,
                policy=topology.edge.policy,
                by_flow=topology.edge.by_flow,
                buffer_key="buffer",
                policy_key="policy",
                path=edge_path,
            )
            plan.add_link(own_port)
    _congested(plan, "switch1", "switch2", topology.bottleneck)
    for k in routers:
        add_access(plan, "switch2", f"egress{k}", edge, topology.bottleneck, edge_path)
    for i, k in router_of.items():
        add_access(plan, f"egress{k}", f"destination{i}", topology.access, topology.bottleneck)
    for k in routers:
        trunk = [f"ingress{k}", "switch1", "switch2", f"egress{k}"]
        plan.add_vc(f"trunk{k}.forward", trunk, topology.service)
        plan.add_vc(f"trunk{k}.reverse", reversed(trunk), topology.service)
    for i, k in router_of.items():
        _add_flow_between_routers(plan, i, k, topology.service)
    return plan


def _extra_delays(
    topology: Dumbbell, routers: range, others: Quantity, faults: FaultCollector
) -> dict[int, tuple[int, Quantity]]:
    """Delays of the routers that are further away, by number, each with its index in the list.

    `others` is the delay of the other routers' links.
    """
    delays: dict[int, tuple[int, Quantity]] = {}
    for i, router in enumerate(topology.extra_delay):
        path: Path = ("topology", "extra_delay", i)
        if router.vc not in routers or router.vc in delays:
            faults.add(
                (*path, "vc"),
                router.vc,
                f"a number from 1 to {len(routers)}, each once"
                if routers
                else "nothing: without TCP connections there are no routers",
            )
        most_ps = DAY_PS - rounded(others.amount)
        if router.delay.amount > most_ps:
            allowed = f"up to {show_time(most_ps)}: a link has a delay of at most 24 h"
            faults.add((*path, "delay"), str(router.delay), allowed)
        delay = Quantity(others.amount + router.delay.amount, Dimension.TIME, "")
        delays[router.vc] = (i, delay)
    return delays


def _add_flow_between_routers(plan: Plan, i: int, k: int, service: str) -> None:
    """The flow of source `i`: over VCs of its own to and from routers `k`, and over their trunk."""
    name, source, destination = f"flow{i}", f"source{i}", f"destination{i}"
    forward = [
        plan.add_vc(f"{name}.in", [source, f"ingress{k}"], service),
        f"trunk{k}.forward",
        plan.add_vc(f"{name}.out", [f"egress{k}", destination], service),
    ]
    reverse = [
        plan.add_vc(f"{name}.back_in", [destination, f"egress{k}"], service),
        f"trunk{k}.reverse",
        plan.add_vc(f"{name}.back_out", [f"ingress{k}", source], service),
    ]
    plan.add_flow(name, forward, reverse)


def plan_parking_lot(topology: ParkingLot, faults: FaultCollector) -> Plan:
    """A chain of switches or routers with flows over all of it and over each congested link."""
    plan = Plan()
    flows = topology.long_flows + topology.hops * topology.cross_flows
    if flows > MOST_FLOWS:
        faults.add(
            ("topology", "cross_flows"),
            topology.cross_flows,
            f"at most {MOST_FLOWS} flows in all; hops x cross_flows + long_flows is {flows}",
        )
        faults.raise_if_any()  # and no network is made for so many
    last = topology.hops + 1
    kind = kind_between(topology.access, topology.bottleneck)
    nodes = nodes_between(kind, last)
    # (flow, its first node, its last node)
    ends = [(f"long{i}", 1, last) for i in range(1, topology.long_flows + 1)]
    ends += [
        (f"cross{hop}.{i}", hop, hop + 1)
        for hop in range(1, topology.hops + 1)
        for i in range(1, topology.cross_flows + 1)
    ]
    plan.nodes.update({f"{name}.source": "host" for name, _, _ in ends})
    plan.nodes.update(dict.fromkeys(nodes, kind))
    plan.nodes.update({f"{name}.destination": "host" for name, _, _ in ends})
    for name, first, _ in ends:
        source, node = f"{name}.source", nodes[first - 1]
        add_access(plan, source, node, topology.access, topology.bottleneck)
    for one, other in pairwise(nodes):
        _congested(plan, one, other, topology.bottleneck)
    for name, _, end in ends:
        node, destination = nodes[end - 1], f"{name}.destination"
        add_access(plan, node, destination, topology.access, topology.bottleneck)
    for name, first, end in ends:
        on_way = nodes[first - 1 : end]
        _flow(plan, name, [f"{name}.source", *on_way, f"{name}.destination"], topology.service)
    return plan


def add_access(
    plan: Plan,
    one: str,
    other: str,
    link: AccessLink,
    bottleneck: CongestedLink,
    path: Path = ("topology", "access"),
) -> None:
    """Both directions of an access link; rate and framing are the bottleneck's unless stated."""
    own_rate = link.rate is not None
    framing = link.framing
    if framing is None and (not own_rate or carries_packets(bottleneck.framing)):
        framing = bottleneck.framing
        if own_rate and framing is not None and counts_symbols(framing):
            framing = Ip(kind="ip")  # no carrier leads to a host
    for a, b in ((one, other), (other, one)):
        plan.add_link(
            PlannedLink(
                source=a,
                target=b,
                rate=link.rate or bottleneck.rate,
                framing=framing,
                delay=link.delay,
                delay_variation=link.delay_variation,
                mtu=link.mtu,
                fragmentation=link.fragmentation,
                buffer=link.host_buffer if plan.nodes[a] == "host" else UNLIMITED,
                policy=link.host_policy if plan.nodes[a] == "host" else PLAIN,
                buffer_key="host_buffer",
                policy_key="host_policy",
                jitter=None if plan.nodes[a] == "switch" else link.frame_jitter,
                path=path,
                rate_path=path if own_rate or link.framing else ("topology", "bottleneck"),
            )
        )


def _congested(plan: Plan, one: str, other: str, link: CongestedLink) -> None:
    """Both directions of a congested link, each with its own buffer."""
    for a, b, prefix in ((one, other, ""), (other, one, "reverse_")):
        plan.add_link(
            PlannedLink(
                source=a,
                target=b,
                rate=link.rate,
                framing=link.framing,
                delay=delay_of(link.delay),
                delay_variation=link.delay_variation,
                mtu=link.mtu,
                fragmentation=link.fragmentation,
                frame_check=link.frame_check,
                path=("topology", "bottleneck"),
                rate_path=("topology", "bottleneck"),
                buffer=link.reverse_buffer if prefix else link.buffer,
                policy=link.reverse_policy if prefix else link.policy,
                buffer_key=f"{prefix}buffer",
                policy_key=f"{prefix}policy",
                classes=() if prefix else link.classes,
                scheduler=None if prefix else link.scheduler,
                by_flow=not prefix and link.by_flow,
                shaper=None if prefix else link.shaper,
                policer=None if prefix else link.policer,
                rate_algorithm=None if prefix else link.rate_algorithm,
            )
        )


def _flow(plan: Plan, name: str, nodes: list[str], service: str) -> None:
    """A flow with one VC each way over `nodes`, or one from each host or router to the next."""
    forward = own_vcs(plan, f"{name}.forward", nodes, service)
    reverse = own_vcs(plan, f"{name}.reverse", nodes[::-1], service)
    plan.add_flow(name, forward, reverse)
