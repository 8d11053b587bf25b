"""Ports that filter acknowledgements: where they can, and where that has an effect."""

from __future__ import annotations

from skycell.scenario.resolve.resolution import Resolution, part


@part
def hidden_flows(net: Resolution) -> frozenset[str]:
    """Returns the flows whose acknowledgements no filter sees, of a plan that has filters."""
    if not any(link.ack_filter for link in net.plan.links.values()):
        return frozenset()
    return net.hidden_flows


def check_ack_filters(net: Resolution) -> None:
    """Notes `ack_filter` of links that carry no acknowledgements that it sees."""
    plan = net.plan
    tables = {link.path: link for link in plan.links.values() if link.ack_filter}
    for path, link in tables.items():
        of_table = {one.name for one in plan.links.values() if one.path == path}
        crossing = [
            flow.name
            for flow in plan.flows.values()
            if not of_table.isdisjoint(one.name for one in plan.links_of(flow.reverse))
        ]
        if not link.carries_packets:
            problem = "the link carries cells, and a filter takes out packets"
        elif not crossing:
            problem = "no flow has its acknowledgements over the link"
        elif all(name in hidden_flows(net) for name in crossing):
            problem = "ipsec hides the acknowledgements of all flows that have them over the link"
        else:
            continue
        net.faults.add((*path, "ack_filter"), True, f"false: {problem}")
