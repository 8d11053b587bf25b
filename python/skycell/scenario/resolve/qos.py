"""Bounds on losses and delays: whether there is something to hold against them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skycell.input.faults import NOTHING, FaultCollector, did_you_mean
from skycell.scenario.file.qos import OF_PACKETS, QosTargets
from skycell.scenario.plan.plan import Plan
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.sky_ports import a_sky_port, sky_port_id


def check_qos(net: Resolution) -> None:
    """Refuses bounds of nothing, tables without a bound, and bounds on delays nobody measures."""
    plan, faults = net.plan, net.faults
    for i, one in enumerate(net.file.qos):
        if not any(bound is not None for bound in one.bounds):
            allowed = "a profile, or a bound in clr, ctd or cdv"
            faults.add(("qos", i, "profile"), NOTHING, allowed)
        if one.vcs is None and one.ports is None and one.flows is None:
            allowed = "VCs, ports of packets, or sources of packets in flows"
            faults.add(("qos", i, "vcs"), NOTHING, allowed)
        if plan.sky is None:
            _check_ports(one, i, plan, faults)
        else:
            _check_sky_ports(one, i, net)
        if one.ports is None:
            _check_sources(one, i, plan, faults)
        _check_vcs(one, i, net.file.records.delay_vcs, plan, faults)
        if one.vcs and one.asks_for_delays and one.quantile == OF_PACKETS:
            allowed = "0.9 or 0.99 with vcs: records of cells do not have this quantile"
            faults.add(("qos", i, "quantile"), one.quantile, allowed)
        _check_losses(one, i, faults)


def _check_vcs(
    one: QosTargets, i: int, delay_vcs: Sequence[str] | None, plan: Plan, faults: FaultCollector
) -> None:
    """Refuses VCs that are none, that carry packets, or that are not measured."""
    for k, name in enumerate(one.vcs or ()):
        where = ("qos", i, "vcs", k)
        if name not in plan.vcs:
            faults.add(where, name, plan.a_vc(name))
        elif name in (one.vcs or ())[:k]:
            faults.add(where, name, "each VC once")
        elif one.asks_for_delays and any(link.carries_packets for link in plan.links_of([name])):
            allowed = (
                "a VC that carries cells, or only a loss bound; packet delays are recorded per "
                "flow and per port"
            )
            faults.add(where, name, allowed)
        elif one.ports is not None:
            missed = [port for port in one.ports if port not in plan.vcs[name].all_links]
            if missed and missed[0] in plan.links:
                faults.add(where, name, f"a VC that crosses {missed[0]}")
        elif one.asks_for_delays and delay_vcs is not None and name not in delay_vcs:
            allowed = "a VC in records.delay_vcs, or only a loss bound"
            faults.add(where, name, allowed)


def _check_ports(one: QosTargets, i: int, plan: Plan, faults: FaultCollector) -> None:
    """Refuses ports of the other kind, and flows that do not cross a port."""
    ports = one.ports or ()
    kind = "packets" if one.vcs is None else "cells"
    for k, name in enumerate(ports):
        where = ("qos", i, "ports", k)
        if name not in plan.links:
            hint = did_you_mean(name, plan.links)
            faults.add(where, name, f"a link of {kind}, from>to{hint}")
        elif plan.links[name].carries_packets and one.vcs is not None:
            faults.add(where, name, "a link of cells with vcs; a link of packets without vcs")
        elif not plan.links[name].carries_packets and one.vcs is None:
            faults.add(where, name, "a link of packets; a link of cells only with vcs")
        elif name in ports[:k]:
            faults.add(where, name, "each port once")
        else:
            _check_flows(one, i, name, plan, faults)


def _check_sky_ports(one: QosTargets, i: int, net: Resolution) -> None:
    """Refuses what is no port of the constellation, and flows that do not exist."""
    for k, name in enumerate(one.ports or ()):
        where = ("qos", i, "ports", k)
        if one.vcs is not None:
            allowed = "a port without vcs: ports of a constellation hold packets"
            net.faults.add(where, name, allowed)
        elif sky_port_id(net, name) is None:
            net.faults.add(where, name, a_sky_port(net, name))
        elif name in (one.ports or ())[:k]:
            net.faults.add(where, name, "each port once")
    if one.ports:
        known = _known_flows(net.plan)
        for k, name in enumerate(one.flows or ()):
            if name not in known:
                allowed = f"a flow one way, or a source of packets{did_you_mean(name, known)}"
                net.faults.add(("qos", i, "flows", k), name, allowed)


def _known_flows(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The VCs of each flow one way, and of each source."""
    known = {f"{name}.forward": flow.forward for name, flow in plan.flows.items()}
    known |= {f"{name}.reverse": flow.reverse for name, flow in plan.flows.items()}
    return known | plan.datagrams


def _check_flows(one: QosTargets, i: int, port: str, plan: Plan, faults: FaultCollector) -> None:
    known = _known_flows(plan)
    for k, name in enumerate(one.flows or ()):
        where = ("qos", i, "flows", k)
        if name not in known:
            allowed = f"a flow one way, or a source of packets{did_you_mean(name, known)}"
            faults.add(where, name, allowed)
        elif port not in {link for vc in known[name] for link in plan.vcs[vc].all_links}:
            faults.add(where, name, f"a flow or source that crosses {port}")


def _check_sources(one: QosTargets, i: int, plan: Plan, faults: FaultCollector) -> None:
    """Refuses flows without ports that are no sources of packets, or stand there twice."""
    flows = one.flows or ()
    for k, name in enumerate(flows):
        where = ("qos", i, "flows", k)
        if name not in plan.datagrams:
            hint = did_you_mean(name, plan.datagrams)
            allowed = f"a source of packets, because ports is not given{hint}"
            faults.add(where, name, allowed)
        elif name in flows[:k]:
            faults.add(where, name, "each source once")


def _check_losses(one: QosTargets, i: int, faults: FaultCollector) -> None:
    """Refuses bounds on losses that are not recorded apart."""
    key = "clr" if one.clr is not None else "profile"
    got = one.clr if one.clr is not None else one.profile
    if one.bounds.clr is None:
        return
    if one.flows is not None and one.ports is not None:
        allowed = "nothing with flows: losses at a port are recorded for all its packets together"
    elif one.flows is not None:
        allowed = "nothing with flows: losses are recorded for a source's VCs or for ports"
    elif one.vcs is not None and one.ports is not None:
        allowed = (
            "nothing with ports of cells: losses are recorded per VC, and only delays per port"
        )
    else:
        return
    faults.add(("qos", i, key), got, allowed)


class Asked(NamedTuple):
    """What has to be recorded for bounds: names of VCs, links and sources."""

    #: VCs of cells whose delays are measured unless the file says others.
    delay_vcs: frozenset[str]
    #: Links of packets at whose ports the stays of single flows are.
    flow_ports: frozenset[str]
    #: Links of cells at whose ports the stays of the cells of each VC are.
    stay_ports: frozenset[str]
    #: Sources of packets whose delays from end to end are.
    sources: frozenset[str]
    #: Ports of a constellation whose losses and stays are; those of `flow_ports` among them.
    sky_ports: frozenset[str] = frozenset()


@part
def asked(net: Resolution) -> Asked:
    """Returns what bounds need to be recorded; what does not exist is left out."""
    targets, plan = net.file.qos, net.plan
    links = {
        is_of_flows: {
            name
            for one in targets
            if (one.flows if is_of_flows else one.vcs)
            for name in one.ports or ()
            if name in plan.links and plan.links[name].carries_packets is is_of_flows
        }
        for is_of_flows in (True, False)
    }
    named = {name for one in targets if one.ports is None for name in one.flows or ()}
    sources = frozenset(named & {*plan.datagrams})
    if plan.sky is not None:
        of_flows = {name for one in targets if one.flows for name in one.ports or ()}
        all_ports = {name for one in targets for name in one.ports or ()}
        ports = frozenset(all_ports)
        return Asked(_measured(net), frozenset(of_flows), frozenset(), sources, ports)
    return Asked(_measured(net), frozenset(links[True]), frozenset(links[False]), sources)


def _measured(net: Resolution) -> frozenset[str]:
    """The VCs of cells whose delays have bounds."""
    plan = net.plan
    return frozenset(
        name
        for target in net.file.qos
        if target.asks_for_delays and target.ports is None
        for name in target.vcs or ()
        if name in plan.vcs and not any(link.carries_packets for link in plan.links_of([name]))
    )
