"""Generated topologies: from a few parameters to the nodes, links, VCs and flows of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from skycell.input.faults import FaultCollector, Path
from skycell.input.quantities import DAY_PS, Dimension, Quantity, rounded, show_time
from skycell.scenario.declared.framings import Framing, Ip
from skycell.scenario.file.topology import MOST_FLOWS, Dumbbell, GraphFlow, GraphVc, ParkingLot
from skycell.scenario.links.framing import carries_packets, counts_symbols
from skycell.scenario.links.jitter import refuse_without_host
from skycell.scenario.links.keys import (
    AccessLink,
    AnyLink,
    CongestedLink,
    PortKeys,
    VaryingLinkKeys,
)
from skycell.scenario.plan.host_ports import refuse_host_port
from skycell.scenario.plan.layout import LaidFlow, LaidLink, Layout
from skycell.scenario.plan.plan import NodeKind

_BOTTLENECK: Path = ("topology", "bottleneck")
_REVERSE: Path = (*_BOTTLENECK, "reverse")
_ACCESS: Path = ("topology", "access")

_DECIDED_BY = {"schedule": {"delay"}, "loss": {"framing", "delay", "schedule"}}
"""Keys of the reverse direction that are not the forward direction's beside some of its own."""


@cache
def _plain_link() -> AnyLink:
    return AnyLink.model_validate({"rate": "1 Mbit/s"})


@cache
def plain_vc() -> GraphVc:
    """A VC whose path is to be given."""
    return GraphVc.model_validate({"name": "vc", "path": ["a", "b"]})


@cache
def _plain_flow() -> GraphFlow:
    return GraphFlow.model_validate({"name": "flow", "source": "a", "destination": "b"})


def lay_out_dumbbell(topology: Dumbbell, faults: FaultCollector) -> Layout:
    """Returns N hosts - switch1 - switch2 - N hosts, with or without edge routers."""
    if topology.tcps_per_vc is None:
        _refuse_rate_algorithms(topology, faults)
        return _dumbbell_of_hosts(topology)
    _refuse_trunks_of_packets(topology, faults)
    return _dumbbell_with_routers(topology, topology.tcps_per_vc, faults)


def _refuse_trunks_of_packets(topology: Dumbbell, faults: FaultCollector) -> None:
    """Notes links of packets between the routers whose VCs the connections share."""
    of_edge = topology.edge or topology.access
    own_edge = of_edge.framing or topology.bottleneck.framing
    known = len(faults.faults)
    reverse = topology.bottleneck.reverse
    places: tuple[tuple[Path, Framing | None], ...] = (
        (_BOTTLENECK, topology.bottleneck.framing),
        (_REVERSE, reverse.framing if reverse is not None else None),
        (("topology", "edge"), own_edge),
    )
    for path, framing in places:
        if framing is not None and carries_packets(framing):
            allowed = "a framing of ATM cells: with tcps_per_vc connections share VCs over switches"
            faults.add((*path, "framing"), framing.kind, allowed)
    if len(faults.faults) > known:
        faults.raise_if_any()  # and no network is made where packets come to switches


def _refuse_rate_algorithms(topology: Dumbbell | ParkingLot, faults: FaultCollector) -> None:
    """Notes algorithms of switch ports where routers stand between the links."""
    if kind_between(topology.access, topology.bottleneck) == "switch":
        return
    for path, port in ((_BOTTLENECK, topology.bottleneck), (_REVERSE, topology.bottleneck.reverse)):
        if port is not None and port.rate_algorithm is not None:
            allowed = "nothing: no switch feeds the link"
            faults.add((*path, "rate_algorithm"), port.rate_algorithm.kind, allowed)


def nodes_between(kind: NodeKind, count: int) -> list[str]:
    """Names of the nodes between which the congested links are."""
    return [f"{kind}{k}" for k in range(1, count + 1)]


def kind_between(access: AccessLink, bottleneck: CongestedLink) -> NodeKind:
    """What stands between the links: switches forward cells, routers whole packets."""
    framings = (access.framing, bottleneck.framing, bottleneck.backward.framing)
    return "router" if any(map(carries_packets, framings)) else "switch"


def _dumbbell_of_hosts(topology: Dumbbell) -> Layout:
    numbers = range(1, topology.sources + 1)
    kind = kind_between(topology.access, topology.bottleneck)
    near, far = nodes_between(kind, 2)
    layout = Layout()
    layout.nodes.update({f"source{i}": "host" for i in numbers})
    layout.nodes.update({near: kind, far: kind})
    layout.nodes.update({f"destination{i}": "host" for i in numbers})
    access = access_keys(topology.access, topology.bottleneck)
    layout.links += [access_link(f"source{i}", near, access, topology.access) for i in numbers]
    layout.links += congested_links(near, far, topology.bottleneck)
    layout.links += [access_link(far, f"destination{i}", access, topology.access) for i in numbers]
    layout.flows += [_flow(f"flow{i}", f"source{i}", f"destination{i}", topology) for i in numbers]
    return layout


def _dumbbell_with_routers(topology: Dumbbell, tcps_per_vc: int, faults: FaultCollector) -> Layout:
    routers = range(1, (topology.sources - 1) // tcps_per_vc + 2)
    router_of = {i: (i - 1) // tcps_per_vc + 1 for i in range(1, topology.sources + 1)}
    edge = topology.edge or topology.access
    edge_path: Path = ("topology", "edge" if topology.edge else "access")
    if topology.edge is not None:
        refuse_without_host(edge.frame_jitter, edge_path, ("router", "switch"), faults)
        refuse_host_port(topology.edge, edge_path, faults)
    extra_delays = _extra_delays(topology, routers, edge.delay, faults)
    layout = Layout()
    layout.nodes.update({f"source{i}": "host" for i in router_of})
    layout.nodes.update({f"ingress{k}": "router" for k in routers})
    layout.nodes.update({"switch1": "switch", "switch2": "switch"})
    layout.nodes.update({f"egress{k}": "router" for k in routers})
    layout.nodes.update({f"destination{i}": "host" for i in router_of})
    access = access_keys(topology.access, topology.bottleneck)
    edge_keys = access_keys(edge, topology.bottleneck)
    for i, k in router_of.items():
        layout.links.append(access_link(f"source{i}", f"ingress{k}", access, topology.access))
    for k in routers:
        keys, path = edge_keys, edge_path
        if k in extra_delays:
            i, delay = extra_delays[k]
            keys = edge_keys.model_copy(update={"delay": delay})
            path = ("topology", "extra_delay", i)
        ingress = f"ingress{k}"
        back = access_link("switch1", ingress, _without_port(keys), edge, path, one_way=True)
        forward = access_link(ingress, "switch1", keys, edge, path, one_way=True)
        if topology.edge is not None:
            forward = replace(forward, path=edge_path, prefix="")
        layout.links += [forward, back]
    layout.links += congested_links("switch1", "switch2", topology.bottleneck)
    egress_keys = _without_port(edge_keys)
    for k in routers:
        layout.links.append(access_link("switch2", f"egress{k}", egress_keys, edge, edge_path))
    for i, k in router_of.items():
        layout.links.append(access_link(f"egress{k}", f"destination{i}", access, topology.access))
    vcs: dict[str, list[str]] = {}
    for k in routers:
        trunk = [f"ingress{k}", "switch1", "switch2", f"egress{k}"]
        vcs |= {f"trunk{k}.forward": trunk, f"trunk{k}.reverse": trunk[::-1]}
    for i, k in router_of.items():
        flow = f"flow{i}"
        forward_vcs = {
            f"{flow}.in": [f"source{i}", f"ingress{k}"],
            f"trunk{k}.forward": vcs[f"trunk{k}.forward"],
            f"{flow}.out": [f"egress{k}", f"destination{i}"],
        }
        reverse_vcs = {
            f"{flow}.back_in": [f"destination{i}", f"egress{k}"],
            f"trunk{k}.reverse": vcs[f"trunk{k}.reverse"],
            f"{flow}.back_out": [f"ingress{k}", f"source{i}"],
        }
        vcs |= forward_vcs | reverse_vcs
        routes = {"forward": tuple(forward_vcs), "reverse": tuple(reverse_vcs)}
        ends = (f"source{i}", f"destination{i}")
        layout.flows.append(_flow(flow, *ends, topology, routes))
    layout.vcs = [
        plain_vc().model_copy(
            update={"name": name, "path": tuple(path), "service": topology.service}
        )
        for name, path in vcs.items()
    ]
    return layout


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


def lay_out_parking_lot(topology: ParkingLot, faults: FaultCollector) -> Layout:
    """Returns a chain of switches or routers with flows over all of it and over each link."""
    flows = topology.long_flows + topology.hops * topology.cross_flows
    if flows > MOST_FLOWS:
        faults.add(
            ("topology", "cross_flows"),
            topology.cross_flows,
            f"at most {MOST_FLOWS} flows in all; hops x cross_flows + long_flows is {flows}",
        )
        faults.raise_if_any()  # and no network is made for so many
    _refuse_rate_algorithms(topology, faults)
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
    layout = Layout()
    layout.nodes.update({f"{name}.source": "host" for name, _, _ in ends})
    layout.nodes.update(dict.fromkeys(nodes, kind))
    layout.nodes.update({f"{name}.destination": "host" for name, _, _ in ends})
    access = access_keys(topology.access, topology.bottleneck)
    for name, first, _ in ends:
        node = nodes[first - 1]
        layout.links.append(access_link(f"{name}.source", node, access, topology.access))
    for near, far in pairwise(nodes):
        layout.links += congested_links(near, far, topology.bottleneck)
    for name, _, end in ends:
        node = nodes[end - 1]
        layout.links.append(access_link(node, f"{name}.destination", access, topology.access))
    for name, _, _ in ends:
        layout.flows.append(_flow(name, f"{name}.source", f"{name}.destination", topology))
    return layout


def access_keys(link: AccessLink, bottleneck: CongestedLink) -> AnyLink:
    """Returns the keys of an access link; rate and framing are by default the bottleneck's."""
    framing = link.framing
    if framing is None and (link.rate is None or carries_packets(bottleneck.framing)):
        framing = bottleneck.framing
        if link.rate is not None and framing is not None and counts_symbols(framing):
            framing = Ip(kind="ip")  # no carrier leads to a host
    rate = link.rate or bottleneck.rate
    return _plain_link().model_copy(update={**_keys_of(link), "rate": rate, "framing": framing})


def access_link(
    source: str,
    target: str,
    keys: AnyLink,
    link: AccessLink,
    path: Path = _ACCESS,
    *,
    one_way: bool = False,
) -> LaidLink:
    """Returns an access link; `keys` are those of `link` with the bottleneck's."""
    rate_path = path if link.rate is not None or link.framing else _BOTTLENECK
    return LaidLink(source, target, keys, path, rate_path, "host_", one_way)


def congested_links(near: str, far: str, link: CongestedLink) -> list[LaidLink]:
    """Returns both directions of a congested link, each with its own port."""
    keys = _plain_link().model_copy(update=_keys_of(link))
    back = _plain_link().model_copy(update=_keys_of(link.backward))
    own = link.reverse.own_keys if link.reverse is not None else frozenset()
    decided = {*own, *(key for key, deciding in _DECIDED_BY.items() if deciding & own)}
    inherited = dict.fromkeys(VaryingLinkKeys.model_fields.keys() - decided, _BOTTLENECK)
    rate_path = _REVERSE if own & {"rate", "framing"} else _BOTTLENECK
    return [
        LaidLink(near, far, keys, _BOTTLENECK, _BOTTLENECK, one_way=True),
        LaidLink(far, near, back, _REVERSE, rate_path, one_way=True, elsewhere=inherited),
    ]


def _keys_of(link: AccessLink | CongestedLink) -> dict[str, Any]:
    return {key: value for key, value in link if key in AnyLink.model_fields}


def _without_port(keys: AnyLink) -> AnyLink:
    """Returns the keys of a link whose port takes everything in."""
    return keys.model_copy(
        update={key: getattr(_plain_link(), key) for key in PortKeys.model_fields}
    )


def _flow(
    name: str,
    source: str,
    destination: str,
    topology: Dumbbell | ParkingLot,
    routes: Mapping[str, tuple[str, ...]] = {},
) -> LaidFlow:
    own = {"name": name, "source": source, "destination": destination, **routes}
    keys = _plain_flow().model_copy(update={**own, "service": topology.service})
    return LaidFlow(keys, ("topology",))
