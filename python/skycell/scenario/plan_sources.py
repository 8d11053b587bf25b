"""Cell sources put into a plan: with hosts and a VC of their own, or between hosts of a graph."""

from __future__ import annotations

from difflib import get_close_matches

from skycell.scenario.faults import FaultCollector, Path, Shown
from skycell.scenario.file import ScenarioFile
from skycell.scenario.generators import add_access
from skycell.scenario.graph import ShortestPaths
from skycell.scenario.parameters import meaning_of
from skycell.scenario.plan import Plan
from skycell.scenario.sources import CbrSource, Source
from skycell.scenario.topology import Graph, NSource, ParkingLot


def plan_sources(plan: Plan, file: ScenarioFile, faults: FaultCollector) -> None:
    """Adds the sources of a file to its plan, in their order.

    In a generated topology a source sends from `<name>.source` at the first switch to
    `<name>.destination` at the last, over links like the hosts' own.
    """
    paths = ShortestPaths(plan) if isinstance(file.topology, Graph) and file.source else None
    for i, source in enumerate(file.source):
        here: Path = ("source", i)
        if source.name in plan.sources or source.name in plan.vcs:
            allowed = "each name once among the sources and the VCs"
            faults.add((*here, "name"), source.name, allowed, "name of the source and of its VC")
            continue
        if paths is None:
            nodes = _own_hosts(plan, file.topology, source, here, faults)
        else:
            nodes = _between_hosts(plan, paths, source, here, faults)
        if nodes:
            plan.sources[source.name] = plan.add_vc(source.name, nodes, source.service)


def _own_hosts(
    plan: Plan, topology: object, source: Source, here: Path, faults: FaultCollector
) -> list[str]:
    for key in ("source", "destination"):
        if getattr(source, key) is not None:
            meaning = meaning_of(CbrSource.model_fields[key])
            allowed = "nothing in a generated topology: a source has hosts of its own"
            faults.add((*here, key), getattr(source, key), allowed, meaning)
    assert isinstance(topology, NSource | ParkingLot)
    last = 2 if isinstance(topology, NSource) else topology.hops + 1
    switches = [f"switch{k}" for k in range(1, last + 1)]
    begin, end = f"{source.name}.source", f"{source.name}.destination"
    for name in (begin, end):
        if name in plan.nodes:
            faults.add((*here, "name"), source.name, f"a name without a host called {name}")
            return []
    plan.nodes.update({begin: "host", end: "host"})
    add_access(plan, begin, switches[0], topology.access, topology.bottleneck)
    add_access(plan, switches[-1], end, topology.access, topology.bottleneck)
    return [begin, *switches, end]


def _between_hosts(
    plan: Plan, paths: ShortestPaths, source: Source, here: Path, faults: FaultCollector
) -> list[str]:
    hosts = [name for name, kind in plan.nodes.items() if kind == "host"]
    ends = {"source": source.source, "destination": source.destination}
    for key, name in ends.items():
        if name not in hosts:
            close = get_close_matches(name or "", hosts, n=1)
            hint = f'; did you mean "{close[0]}"?' if close else ""
            got = Shown("nothing") if name is None else name
            meaning = meaning_of(CbrSource.model_fields[key])
            faults.add((*here, key), got, f"a name in hosts{hint}", meaning)
            return []
    begin, end = str(source.source), str(source.destination)
    nodes = paths.between(begin, end) if begin != end else None
    if nodes is None:
        got = Shown(f"no way from {begin} to {end}")
        faults.add(here, got, "links that join two hosts over switches")
        return []
    routers = [name for name in nodes[1:-1] if plan.nodes[name] == "router"]
    if routers:
        got = Shown(f"a way over {routers[0]}")
        faults.add(here, got, "a way over switches only: routers join frames of TCP connections")
        return []
    return nodes
