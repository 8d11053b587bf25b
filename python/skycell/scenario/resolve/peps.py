"""Routers that split connections: which flows they split, and with what TCP behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skycell.input.faults import Path, did_you_mean
from skycell.input.quantities import show_amount
from skycell.scenario.file.peps import MOST_OCTETS, Pep
from skycell.scenario.interpreter.parameters import shown_window
from skycell.scenario.plan.plan import Plan, PlannedFlow
from skycell.scenario.plan.users import users_of
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.tcp import common_tcp, of_users, tcp_of, tcps, tcps_of_users
from skycell.spec.declared.network import FlowSpec, PepSpec, TcpSpec


@dataclass(frozen=True)
class Connection:
    """One of the connections of a flow, with the VCs that carry it."""

    name: str
    tcp: TcpSpec
    forward: tuple[str, ...]
    reverse: tuple[str, ...]


def connections_of(flow: FlowSpec, plan: Plan) -> Iterator[Connection]:
    """The connections of a flow in the order of its path; itself if it is not split."""
    planned, nodes = plan.flows[flow.name], list(plan.nodes)
    forward, reverse = planned.forward, planned.reverse
    name, tcp = flow.name, flow.tcp
    for pep in flow.peps:
        node = nodes[pep.node]
        there = _joints(plan, forward).index(node) + 1
        back = _joints(plan, reverse).index(node) + 1
        yield Connection(name, tcp, forward[:there], reverse[back:])
        forward, reverse = forward[there:], reverse[:back]
        name, tcp = f"{flow.name}@{node}", pep.tcp
    yield Connection(name, tcp, forward, reverse)


@part
def peps(net: Resolution) -> dict[str, tuple[PepSpec, ...]]:
    """Returns the proxies of each flow that is split, in the order of its path."""
    at: dict[str, dict[str, int]] = {}  # of each flow: the table of each node
    for i, pep in enumerate(net.file.pep):
        for name in _split_by(net, i, pep):
            if pep.node in at.setdefault(name, {}):
                allowed = f"each flow once at a node; pep[{at[name][pep.node]}] splits {name}"
                net.faults.add(("pep", i, "node"), pep.node, allowed)
            at[name][pep.node] = i
    behind = [
        common_tcp(net) if pep.tcp is None else tcp_of(net, pep.tcp, ("pep", i, "tcp"))
        for i, pep in enumerate(net.file.pep)
    ]
    if users_of(net.file):
        behind = [of_users(tcp) for tcp in behind]
    before = _before(net)
    found = {}
    for name, tables in at.items():
        on_path = _joints(net.plan, net.plan.flows[name].forward)
        window, mss = before[name]
        row = []
        for node in sorted(tables, key=on_path.index):
            i = tables[node]
            buffer = _buffer(net, i, net.file.pep[i], window, mss)
            row.append(PepSpec(node=net.node_ids[node], buffer_octets=buffer, tcp=behind[i]))
            window = behind[i].rwnd
        found[name] = tuple(row)
    _check_order(net, found)
    return found


def _before(net: Resolution) -> dict[str, tuple[int, int]]:
    """The receiver window before the first proxy and the MSS of each flow.

    Users go to pairs of hosts in turn: those of a pair have the largest of their groups'.
    """
    tables = users_of(net.file)
    if not tables:
        return {name: (tcp.rwnd, tcp.mss) for name, tcp in tcps(net).items()}
    names = list(net.plan.flows)
    found = dict.fromkeys(names, (0, 0))
    first = 0
    for table, tcp in zip(tables, tcps_of_users(net), strict=True):
        for k in range(min(table.users, len(names))):
            name = names[(first + k) % len(names)]
            window, mss = found[name]
            found[name] = (max(window, tcp.rwnd), max(mss, tcp.mss))
        first += table.users
    return found


def _split_by(net: Resolution, i: int, pep: Pep) -> list[str]:
    """Returns the flows that a table splits."""
    here: Path = ("pep", i)
    nodes, flows = net.plan.nodes, net.plan.flows
    kind = nodes.get(pep.node)
    if kind != "router":
        routers = [name for name, kind in nodes.items() if kind == "router"]
        hint = did_you_mean(pep.node, routers) if kind is None else ""
        is_other = f": {pep.node} is a {kind}, which ends no packets" if kind else ""
        net.faults.add((*here, "node"), pep.node, f"a router of the topology{hint}{is_other}")
        return []
    crossing = [name for name, flow in flows.items() if _crosses(net.plan, flow, pep.node)]
    hidden = {name for flow in net.file.flow if flow.ipsec for name in flow.names}
    for key, names in (("flows", pep.flows), ("bypass", pep.bypass)):
        for k, name in enumerate(names or ()):
            if name not in crossing:
                hint = did_you_mean(name, crossing)
                allowed = f"a flow that crosses {pep.node} both ways{hint}"
                net.faults.add((*here, key, k), name, allowed)
    for k, name in enumerate(pep.flows or ()):
        if name in hidden:
            allowed = (
                "a flow without ipsec: its TCP header is encrypted from end to end, and a "
                "proxy can neither answer nor split it (RFC 3135, section 4.1.1)"
            )
            net.faults.add((*here, "flows", k), name, allowed)
    if pep.flows is not None:
        return [name for name in dict.fromkeys(pep.flows) if name in crossing]
    passing = {*hidden, *(pep.bypass or ())}
    if not crossing:
        allowed = "a router at which data and acknowledgements of a flow go from VC to VC"
        net.faults.add((*here, "node"), pep.node, allowed)
    return [name for name in crossing if name not in passing]


def _crosses(plan: Plan, flow: PlannedFlow, node: str) -> bool:
    return all(node in _joints(plan, route) for route in (flow.forward, flow.reverse))


def _buffer(net: Resolution, i: int, pep: Pep, window: int, mss: int) -> int:
    octets = context(net).octets(pep.buffer, mss)
    if octets < window or octets > MOST_OCTETS:
        least, most = show_amount(window), show_amount(MOST_OCTETS)
        allowed = f"from {least} B, the receiver window of the connection before it, to {most} B"
        net.faults.add(("pep", i, "buffer"), shown_window(pep.buffer, octets), allowed)
    return min(max(octets, window), MOST_OCTETS)


def _check_order(net: Resolution, found: Mapping[str, tuple[PepSpec, ...]]) -> None:
    names = list(net.plan.nodes)
    for name, row in found.items():
        nodes = [names[pep.node] for pep in row]
        reverse = net.plan.flows[name].reverse
        back = [node for node in _joints(net.plan, reverse) if node in nodes]
        if back[::-1] != nodes:
            i = next(i for i, pep in enumerate(net.file.pep) if pep.node == nodes[0])
            allowed = f"nodes that acknowledgements of {name} cross in the opposite order"
            net.faults.add(("pep", i, "node"), nodes[0], allowed)


def check_ipsec(net: Resolution) -> None:
    """Notes `ipsec` where no node on the way looks beyond the IP header."""
    filters = any(link.ack_filter for link in net.plan.links.values())
    if net.file.pep or net.file.classifier or filters:
        return
    for i, flow in enumerate(net.file.flow):
        if flow.ipsec:
            allowed = (
                "false: without [[pep]] and [[classifier]] no node reads what ipsec would hide"
            )
            net.faults.add(("flow", i, "ipsec"), True, allowed)


def _joints(plan: Plan, route: Iterable[str]) -> list[str]:
    """The routers at which the VCs of a route are joined."""
    return [plan.links[plan.vcs[vc].links[-1]].target for vc in tuple(route)[:-1]]
