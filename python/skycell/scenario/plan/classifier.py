"""Classifiers put flows and datagrams on VCs: rules of a file turned into routes of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from skycell.input.faults import FaultCollector, Path, did_you_mean
from skycell.scenario.file.classifier import PRESETS, Classifier, Rule
from skycell.scenario.file.scenario_file import FlowOverride, ScenarioFile
from skycell.scenario.file.topology import Graph
from skycell.scenario.plan.patterns import listed
from skycell.scenario.plan.plan import Plan, PlannedVc

_HEADERS = ("source_port", "destination_port", "dscp", "label")
"""What a file may say of the headers of a flow's data."""
_HIDDEN = ("source_port", "destination_port")
"""What encryption from end to end hides."""


@dataclass(frozen=True)
class _Packets:
    """What the headers of a flow's packets in one direction say."""

    name: str
    protocol: str
    source: str
    destination: str
    source_port: int | None = None
    destination_port: int | None = None
    dscp: str = "DF"
    label: int | None = None
    is_hidden: bool = False

    def back(self) -> _Packets:
        """The same in the other direction."""
        return replace(
            self,
            source=self.destination,
            destination=self.source,
            source_port=self.destination_port,
            destination_port=self.source_port,
        )


def classify(plan: Plan, file: ScenarioFile, faults: FaultCollector) -> None:
    """Puts packets on the VCs that the classifiers of a file choose for them."""
    if not file.classifier:
        _refuse_headers(file, faults)
        return
    declared = {vc.name for vc in file.topology.vc} if isinstance(file.topology, Graph) else set()
    for i, classifier in enumerate(file.classifier):
        _Classifying(plan, file, declared, i, classifier, faults).run()


def _refuse_headers(file: ScenarioFile, faults: FaultCollector) -> None:
    """Notes what flows say of headers that nobody looks at."""
    for i, flow in enumerate(file.flow):
        for key in _HEADERS:
            if (got := getattr(flow, key)) is not None:
                allowed = "nothing: without [[classifier]] no node reads it"
                faults.add(("flow", i, key), got, allowed)


@dataclass
class _Classifying:
    plan: Plan
    file: ScenarioFile
    declared: set[str]
    i: int
    classifier: Classifier
    faults: FaultCollector
    #: Rules with faults of their own.
    faulty: set[int] = field(default_factory=set)

    def run(self) -> None:
        node = self.classifier.node
        if self.plan.nodes.get(node) not in ("host", "router"):
            known = [name for name, kind in self.plan.nodes.items() if kind != "switch"]
            allowed = f"a host or router of the topology{did_you_mean(node, known)}"
            self.faults.add(("classifier", self.i, "node"), node, allowed)
            return
        self._check_hosts()
        before, used = set(self.plan.vcs), set[int]()
        tables: dict[str, FlowOverride] = {}
        for table in self.file.flow:
            for _, name in listed(table.names, self.plan.flows):
                tables.setdefault(name, table)
        flows = {name: self._of_flow(name, tables.get(name)) for name in self.plan.flows}
        for name, flow in self.plan.flows.items():
            forward = self._route(flow.forward, flows[name], used)
            reverse = self._route(flow.reverse, flows[name].back(), used)
            self.plan.flows[name] = replace(flow, forward=forward, reverse=reverse)
        for name, route in self.plan.datagrams.items():
            ends = self._ends(route)
            packets = _Packets(name, "udp", *ends)
            self.plan.datagrams[name] = self._route(route, packets, used)
        self._forget(before)
        for k in set(range(len(self.classifier.rule))) - used - self.faulty:
            allowed = f"rules that packets reach at {node} and that match some of them"
            self.faults.add(self._at(k), self.classifier.rule[k].vc, allowed)
        own = len(self.classifier.rule)
        if self.classifier.preset is not None and not any(k >= own for k in used):
            allowed = "nothing: the rules before it match all packets"
            where: Path = ("classifier", self.i, "preset")
            self.faults.add(where, self.classifier.preset, allowed)
        self._check_count()

    def _at(self, k: int) -> Path:
        return ("classifier", self.i, "rule", k)

    def _check_hosts(self) -> None:
        hosts = [name for name, kind in self.plan.nodes.items() if kind == "host"]
        for k, rule in enumerate(self.classifier.rule):
            for key, name in (("source", rule.source), ("destination", rule.destination)):
                if name is not None and name not in hosts:
                    self.faulty.add(k)
                    allowed = f"a host{did_you_mean(name, hosts)}"
                    self.faults.add((*self._at(k), key), name, allowed)

    def _ends(self, route: tuple[str, ...]) -> tuple[str, str]:
        links = self.plan.links_of(route)
        return links[0].source, links[-1].target

    def _of_flow(self, name: str, own: FlowOverride | None) -> _Packets:
        packets = _Packets(name, "tcp", *self._ends(self.plan.flows[name].forward))
        if own is None:
            return packets
        said = {key: getattr(own, key) for key in _HEADERS if getattr(own, key) is not None}
        return replace(packets, **said, is_hidden=own.ipsec)

    def _route(self, route: tuple[str, ...], packets: _Packets, used: set[int]) -> tuple[str, ...]:
        """A route with the VC that begins at the node as the rules have it."""
        for at, vc in enumerate(route):
            planned = self.plan.vcs[vc]
            if self._begins_here(planned.links[0]):
                found = self._rule(packets)
                if found is None:
                    return route
                k, rule = found
                used.add(k)
                return (*route[:at], self._vc(k, rule, planned), *route[at + 1 :])
        return route

    def _rules(self) -> Iterator[tuple[int, Rule]]:
        yield from enumerate(self.classifier.rule)
        if self.classifier.preset is not None:
            yield from enumerate(PRESETS[self.classifier.preset], len(self.classifier.rule))

    def _rule(self, packets: _Packets) -> tuple[int, Rule] | None:
        """The first rule that holds for some packets."""
        for k, rule in self._rules():
            asked = {
                key: getattr(rule, key)
                for key in ("protocol", "source", "destination", *_HEADERS)
                if getattr(rule, key) is not None
            }
            hidden = [key for key in asked if packets.is_hidden and key in _HIDDEN]
            if any(getattr(packets, key) != asked[key] for key in asked if key not in hidden):
                continue
            if hidden:
                self.faulty.add(k)
                allowed = f"nothing: {packets.name} has ipsec, which hides its ports from the node"
                self.faults.add((*self._at(k), hidden[0]), asked[hidden[0]], allowed)
                return None
            return k, rule
        return None

    def _vc(self, k: int, rule: Rule, planned: PlannedVc) -> str:
        """The VC of a rule over the links of one that was there."""
        end = self.plan.links[planned.links[-1]].target
        service = planned.service if rule.service is None else rule.service
        for name in (rule.vc, f"{rule.vc}.{end}"):
            known = self.plan.vcs.setdefault(name, replace(planned, name=name, service=service))
            if known.links == planned.links:
                if known.service != service:
                    allowed = f"{known.service}: VC {name} is there already, of that class"
                    self.faults.add((*self._at(k), "class"), service, allowed)
                return name
        allowed = f"the name of a VC from {self.classifier.node} to {end} over the same links"
        self.faults.add((*self._at(k), "vc"), rule.vc, allowed)
        return planned.name

    def _begins_here(self, link: str) -> bool:
        return self.plan.links[link].source == self.classifier.node

    def _forget(self, before: set[str]) -> None:
        """Takes VCs away that nobody takes any more, unless the file has declared them."""
        routes = [(*flow.forward, *flow.reverse) for flow in self.plan.flows.values()]
        taken = {vc for route in (*routes, *self.plan.datagrams.values()) for vc in route}
        taken |= {*self.plan.sources.values(), *self.declared}
        for name in before - taken:
            del self.plan.vcs[name]

    def _check_count(self) -> None:
        most = self.classifier.most_vcs
        first = Counter(vc.links[0] for vc in self.plan.vcs.values())
        over = {link: count for link, count in first.items() if self._begins_here(link)}
        link, count = max(over.items(), key=lambda one: one[1], default=("", 0))
        if most is not None and count > most:
            allowed = f"at least {count}, the VCs that begin over {link}, or rules with fewer VCs"
            self.faults.add(("classifier", self.i, "most_vcs"), most, allowed)
