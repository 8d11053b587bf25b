"""Bounds on losses and delays: whether there is something to hold against them."""

from __future__ import annotations

from collections.abc import Sequence

from skycell.input.faults import NOTHING, FaultCollector, did_you_mean
from skycell.input.parameters import meaning_of
from skycell.scenario.file.qos import OF_PORTS, QosTargets
from skycell.scenario.plan.plan import Plan


def check_qos(
    targets: Sequence[QosTargets],
    delay_vcs: Sequence[str] | None,
    plan: Plan,
    faults: FaultCollector,
) -> None:
    """Refuses bounds of nothing, tables without a bound, and bounds on delays nobody measures.

    Args:
        targets: as the file has them.
        delay_vcs: the VCs whose delays the file measures; None if it leaves that open.
        plan: the network.
        faults: where they go.
    """
    meaning = meaning_of(QosTargets.model_fields["vcs"])
    for i, one in enumerate(targets):
        if not any(bound is not None for bound in one.bounds):
            allowed = "a profile, or a bound in clr, ctd or cdv"
            faults.add(("qos", i, "profile"), NOTHING, allowed, "what they may suffer")
        if one.vcs is None and one.ports is None:
            faults.add(("qos", i, "vcs"), NOTHING, "VCs, or ports of packets", meaning)
        _check_ports(one, i, plan, faults)
        vcs = one.vcs or ()
        for k, name in enumerate(vcs):
            where = ("qos", i, "vcs", k)
            if name not in plan.vcs:
                faults.add(where, name, plan.a_vc(name), meaning)
            elif name in vcs[:k]:
                faults.add(where, name, "each VC once", meaning)
            elif one.asks_for_delays and any(
                link.carries_packets for link in plan.links_of([name])
            ):
                allowed = (
                    "a VC of cells, or a bound on losses alone: how long packets wait is recorded "
                    "at every port of packets"
                )
                faults.add(where, name, allowed, meaning)
            elif one.asks_for_delays and delay_vcs is not None and name not in delay_vcs:
                allowed = "a VC in records.delay_vcs, or a bound on losses alone"
                faults.add(where, name, allowed, meaning)
        if vcs and one.asks_for_delays and one.quantile == OF_PORTS:
            allowed = "0.9 or 0.99 where vcs are named: records of cells have no such quantile"
            faults.add(("qos", i, "quantile"), one.quantile, allowed, _meaning("quantile"))


def _check_ports(one: QosTargets, i: int, plan: Plan, faults: FaultCollector) -> None:
    """Refuses ports that hold no packets, and flows that do not cross a port."""
    meaning = meaning_of(QosTargets.model_fields["ports"])
    ports = one.ports or ()
    for k, name in enumerate(ports):
        where = ("qos", i, "ports", k)
        if name not in plan.links or not plan.links[name].carries_packets:
            hint = did_you_mean(name, plan.links) if name not in plan.links else ""
            faults.add(where, name, f"a link of packets, from>to{hint}", meaning)
        elif name in ports[:k]:
            faults.add(where, name, "each port once", meaning)
        else:
            _check_flows(one, i, name, plan, faults)
    if one.flows is not None and one.bounds.clr is not None:
        allowed = "nothing with flows: losses at a port are recorded of all its packets"
        faults.add(("qos", i, "clr"), one.bounds.clr, allowed, _meaning("clr"))


def _check_flows(one: QosTargets, i: int, port: str, plan: Plan, faults: FaultCollector) -> None:
    known = {f"{name}.forward": flow.forward for name, flow in plan.flows.items()}
    known |= {f"{name}.reverse": flow.reverse for name, flow in plan.flows.items()}
    known |= plan.datagrams
    for k, name in enumerate(one.flows or ()):
        where = ("qos", i, "flows", k)
        if name not in known:
            allowed = f"a flow one way, or a source of packets{did_you_mean(name, known)}"
            faults.add(where, name, allowed, _meaning("flows"))
        elif port not in {link for vc in known[name] for link in plan.vcs[vc].all_links}:
            faults.add(where, name, f"one that crosses {port}", _meaning("flows"))


def _meaning(key: str) -> str:
    return meaning_of(QosTargets.model_fields[key])


def ports_with_flows(targets: Sequence[QosTargets], plan: Plan) -> set[str]:
    """The links of packets at whose ports the stays of single flows are bounded."""
    named = (name for one in targets if one.flows for name in one.ports or ())
    return {name for name in named if name in plan.links and plan.links[name].carries_packets}


def vcs_with_delays(targets: Sequence[QosTargets], plan: Plan) -> set[str]:
    """The VCs of cells whose delays are bounded, which are measured unless the file says others."""
    return {
        name
        for one in targets
        if one.asks_for_delays
        for name in one.vcs or ()
        if name in plan.vcs and not any(link.carries_packets for link in plan.links_of([name]))
    }
