"""Routers that split connections: which flows they split, and with what TCP behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skycell.input.faults import FaultCollector, Path, did_you_mean
from skycell.input.quantities import show_amount
from skycell.scenario.file.peps import MOST_OCTETS, Pep
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.interpreter.context import Context
from skycell.scenario.interpreter.parameters import shown_window
from skycell.scenario.plan.plan import Plan, PlannedFlow
from skycell.scenario.resolve.tcp import TcpResolver
from skycell.spec.network import FlowSpec, PepSpec, TcpSpec


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


@dataclass
class PepResolver:
    """Resolves the tables [[pep]] of a file."""

    file: ScenarioFile
    plan: Plan
    context: Context
    faults: FaultCollector

    def resolve(self, tcp: Mapping[str, TcpSpec]) -> dict[str, tuple[PepSpec, ...]]:
        """The proxies of each flow that is split, in the order of its path.

        Args:
            tcp: parameters by flow, of its first connection.
        """
        ids = {name: i for i, name in enumerate(self.plan.nodes)}
        at: dict[str, dict[str, int]] = {}  # of each flow: the table of each node
        for i, pep in enumerate(self.file.pep):
            for name in self._split_by(i, pep):
                if pep.node in at.setdefault(name, {}):
                    allowed = f"each flow once at a node; pep[{at[name][pep.node]}] splits {name}"
                    self.faults.add(("pep", i, "node"), pep.node, allowed)
                at[name][pep.node] = i
        behind = [self._tcp(i, pep) for i, pep in enumerate(self.file.pep)]
        found = {}
        for name, tables in at.items():
            on_path = _joints(self.plan, self._flow(name).forward)
            row, window = [], tcp[name].rwnd
            for node in sorted(tables, key=on_path.index):
                i = tables[node]
                buffer = self._buffer(i, self.file.pep[i], window, tcp[name].mss)
                row.append(PepSpec(node=ids[node], buffer_octets=buffer, tcp=behind[i]))
                window = behind[i].rwnd
            found[name] = tuple(row)
        self._check_order(found)
        return found

    def _flow(self, name: str) -> PlannedFlow:
        return self.plan.flows[name]

    def _split_by(self, i: int, pep: Pep) -> list[str]:
        """The flows that a table splits."""
        here: Path = ("pep", i)
        kind = self.plan.nodes.get(pep.node)
        if kind != "router":
            routers = [name for name, kind in self.plan.nodes.items() if kind == "router"]
            hint = did_you_mean(pep.node, routers) if kind is None else ""
            is_other = f": {pep.node} is a {kind}, which ends no packets" if kind else ""
            allowed = f"a router of the topology{hint}{is_other}"
            self.faults.add((*here, "node"), pep.node, allowed)
            return []
        crossing = [name for name, flow in self.plan.flows.items() if self._crosses(flow, pep.node)]
        hidden = {name for flow in self.file.flow if flow.ipsec for name in flow.names}
        for key, names in (("flows", pep.flows), ("bypass", pep.bypass)):
            for k, name in enumerate(names or ()):
                self._check_name((*here, key, k), name, crossing, pep.node)
        for k, name in enumerate(pep.flows or ()):
            if name in hidden:
                allowed = (
                    "a flow without ipsec: its TCP header is encrypted from end to end, and a "
                    "proxy can neither answer nor split it (RFC 3135, section 4.1.1)"
                )
                self.faults.add((*here, "flows", k), name, allowed)
        if pep.flows is not None:
            return [name for name in dict.fromkeys(pep.flows) if name in crossing]
        passing = {*hidden, *(pep.bypass or ())}
        if not crossing:
            allowed = "a router at which data and acknowledgements of a flow go from VC to VC"
            self.faults.add((*here, "node"), pep.node, allowed)
        return [name for name in crossing if name not in passing]

    def _check_name(self, where: Path, name: str, crossing: list[str], node: str) -> None:
        if name in crossing:
            return
        hint = did_you_mean(name, crossing)
        allowed = f"a flow that crosses {node} both ways{hint}"
        self.faults.add(where, name, allowed)

    def _crosses(self, flow: PlannedFlow, node: str) -> bool:
        return all(node in _joints(self.plan, route) for route in (flow.forward, flow.reverse))

    def _tcp(self, i: int, pep: Pep) -> TcpSpec:
        if pep.tcp is None:
            return TcpResolver(self.file.tcp, ("tcp",), self.context, FaultCollector("")).resolve()
        return TcpResolver(pep.tcp, ("pep", i, "tcp"), self.context, self.faults).resolve()

    def _buffer(self, i: int, pep: Pep, window: int, mss: int) -> int:
        octets = self.context.octets(pep.buffer, mss)
        if octets < window or octets > MOST_OCTETS:
            least, most = show_amount(window), show_amount(MOST_OCTETS)
            allowed = (
                f"from {least} B, the receiver window of the connection before it, to {most} B"
            )
            got = shown_window(pep.buffer, octets)
            self.faults.add(("pep", i, "buffer"), got, allowed)
        return min(max(octets, window), MOST_OCTETS)

    def _check_order(self, found: Mapping[str, tuple[PepSpec, ...]]) -> None:
        names = list(self.plan.nodes)
        for name, row in found.items():
            flow, nodes = self._flow(name), [names[pep.node] for pep in row]
            back = [node for node in _joints(self.plan, flow.reverse) if node in nodes]
            if back[::-1] != nodes:
                i = next(i for i, pep in enumerate(self.file.pep) if pep.node == nodes[0])
                allowed = f"nodes that acknowledgements of {name} cross in the opposite order"
                self.faults.add(("pep", i, "node"), nodes[0], allowed)


def check_ipsec(file: ScenarioFile, plan: Plan, faults: FaultCollector) -> None:
    """Notes `ipsec` where no node on the way looks beyond the IP header."""
    filters = any(link.ack_filter for link in plan.links.values())
    if file.pep or file.classifier or filters:
        return
    for i, flow in enumerate(file.flow):
        if flow.ipsec:
            allowed = (
                "false: without [[pep]] and [[classifier]] no node looks at what it would hide"
            )
            faults.add(("flow", i, "ipsec"), True, allowed)


def _joints(plan: Plan, route: Iterable[str]) -> list[str]:
    """The routers at which the VCs of a route are joined."""
    return [plan.links[plan.vcs[vc].links[-1]].target for vc in tuple(route)[:-1]]
