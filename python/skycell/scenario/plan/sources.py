"""Cell sources put into a plan: with hosts and a VC of their own, or between hosts of a graph."""

from __future__ import annotations

from itertools import pairwise

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim, did_you_mean
from skycell.scenario.file.calls import Calls
from skycell.scenario.file.probe import Probe
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import Source, each_source, sends_packets
from skycell.scenario.file.topology import Dumbbell, Graph, ParkingLot, Topology
from skycell.scenario.plan.generators import access_keys, access_link, nodes_between
from skycell.scenario.plan.layout import add_link
from skycell.scenario.plan.plan import Plan
from skycell.scenario.plan.segments import segment_vcs
from skycell.scenario.plan.shortest_paths import ShortestPaths
from skycell.scenario.plan.sky_spread import add_way

Ends = Source | Calls | Probe
"""What sends from one host to another."""


def plan_sources(plan: Plan, file: ScenarioFile, faults: FaultCollector) -> None:
    """Adds the sources of a file to its plan, in their order.

    In a generated topology a source sends from `<name>.source` at the first switch to
    `<name>.destination` at the last, over links like the hosts' own.
    """
    paths = ShortestPaths(plan) if isinstance(file.topology, Graph) and file.source else None
    for here, source in each_source(file.source, faults):
        if source.name in {*plan.sources, *plan.datagrams, *plan.vcs}:
            allowed = "each name once among the sources and the VCs"
            faults.add((*here, "name"), source.name, allowed)
            continue
        if source.beside is not None:
            _beside(plan, file.topology, source, source.beside, here, faults)
            continue
        if plan.sky is not None:
            plan_between_stations(plan, source, here, faults)
            continue
        if paths is None:
            nodes = own_hosts(plan, file.topology, source, here, faults)
        else:
            nodes = hosts_between(plan, paths, source, here, faults)
        if nodes and sends_packets(source):
            route = segment_vcs(plan, source.name, nodes, source.service)
            plan.datagrams[source.name] = tuple(route)
        elif nodes:
            _plan_cells(plan, source, nodes, here, faults)
    if not file.source and not file.calls and not file.probe and plan.sky is None:
        _refuse_no_users(file.topology, faults)


def _refuse_no_users(topology: Topology, faults: FaultCollector) -> None:
    """Notes a fault where there is neither a TCP connection nor a cell source."""
    if isinstance(topology, Dumbbell):
        key, flows = "sources", topology.sources
    elif isinstance(topology, ParkingLot):
        key, flows = "long_flows", topology.long_flows + topology.hops * topology.cross_flows
    else:
        assert isinstance(topology, Graph)
        key, flows = "flow", len(topology.flow)
    if not flows:
        got = NOTHING if key == "flow" else 0
        allowed = "at least one TCP connection, or a cell source in [[source]]"
        faults.add(("topology", key), got, allowed)


def _beside(
    plan: Plan,
    topology: Topology,
    source: Source,
    flow: str,
    here: Path,
    faults: FaultCollector,
) -> None:
    """Puts a source of datagrams on the VCs of a flow, unless that has a fault of its own."""
    for key in ("source", "destination"):
        if getattr(source, key) is not None:
            allowed = "nothing with beside: its datagrams go between the hosts of the flow"
            faults.add((*here, key), getattr(source, key), allowed)
    if flow in plan.flows:
        route = plan.flows[flow].forward
        packets = [link for link in plan.links_of(route) if link.carries_packets]
        if packets and not sends_packets(source):
            _ask_for_packet_size(f"packets on {packets[0].name}", here, faults)
        plan.datagrams[source.name] = route
    elif not isinstance(topology, Graph) or not _is_at_fault(topology, flow, faults):
        allowed = f"a flow of the topology{did_you_mean(flow, plan.flows)}"
        faults.add((*here, "beside"), flow, allowed)


def _is_at_fault(topology: Graph, flow: str, faults: FaultCollector) -> bool:
    """Whether a fault of the table that may stand for a flow says why there is no such flow."""
    tables = [i for i, own in enumerate(topology.flow) if flow.startswith(own.name)]
    places = tuple(f"topology.flow[{i}]" for i in tables)
    return any(fault.path.startswith(places) for fault in faults.faults)


def own_hosts(
    plan: Plan, topology: object, source: Ends, here: Path, faults: FaultCollector
) -> list[str]:
    """The path of a source in a generated topology, over hosts that it gets; empty with a fault."""
    for key in ("source", "destination"):
        if getattr(source, key) is not None:
            allowed = "nothing in a generated topology, where a source has its own hosts"
            faults.add((*here, key), getattr(source, key), allowed)
    assert isinstance(topology, Dumbbell | ParkingLot)
    last = 2 if isinstance(topology, Dumbbell) else topology.hops + 1
    first = "router1" if "router1" in plan.nodes else "switch1"
    between = nodes_between(plan.nodes[first], last)
    begin, end = f"{source.name}.source", f"{source.name}.destination"
    for name in (begin, end):
        if name in plan.nodes:
            faults.add((*here, "name"), source.name, f"a name without a host called {name}")
            return []
    plan.nodes.update({begin: "host", end: "host"})
    keys = access_keys(topology.access, topology.bottleneck)
    for ends in ((begin, between[0]), (between[-1], end)):
        add_link(plan, access_link(*ends, keys, topology.access), {}, faults)
    return [begin, *between, end]


def plan_between_stations(plan: Plan, source: Source, here: Path, faults: FaultCollector) -> None:
    """Puts a source of datagrams on the way by label between two stations."""
    ends = station_ends(plan, source, here, faults)
    if not sends_packets(source):
        _ask_for_packet_size("a constellation", here, faults)
    elif ends is not None:
        plan.datagrams[source.name] = (add_way(plan, *ends, source.name),)


def station_ends(
    plan: Plan, source: Ends, here: Path, faults: FaultCollector
) -> tuple[str, str] | None:
    """The stations between which something sends; None, with a fault, if it names no two."""
    stations = plan.sky.stations if plan.sky is not None else ()
    known = True
    for key, name in (("source", source.source), ("destination", source.destination)):
        if name not in stations:
            got = NOTHING if name is None else name
            allowed = f"a station of the topology{did_you_mean(name, stations)}"
            faults.add((*here, key), got, allowed)
            known = False
    if known and source.source == source.destination:
        faults.add((*here, "destination"), source.destination, "a station other than source")
        known = False
    return (str(source.source), str(source.destination)) if known else None


def _plan_cells(
    plan: Plan, source: Source, nodes: list[str], here: Path, faults: FaultCollector
) -> None:
    """Puts a source of cells on a VC of its own, unless something on its way takes packets only."""
    found = takes_packets(plan, nodes)
    if found:
        _ask_for_packet_size(found, here, faults)
        return
    plan.sources[source.name] = plan.add_vc(source.name, nodes, source.service)


def takes_packets(plan: Plan, nodes: list[str]) -> str:
    """What on a path takes packets and no cells, in words; empty if nothing does."""
    routers = [name for name in nodes[1:-1] if plan.nodes[name] == "router"]
    packets = [link for a, b in pairwise(nodes) if plan.links[link := f"{a}>{b}"].carries_packets]
    if not routers and not packets:
        return ""
    return f"the router {routers[0]}" if routers else f"packets on {packets[0]}"


def _ask_for_packet_size(found: str, here: Path, faults: FaultCollector) -> None:
    got = Verbatim(f"nothing, and {found} on its way")
    allowed = 'octets of IP packets, such as "1500 B": routers and links of packets carry no cells'
    faults.add((*here, "packet_size"), got, allowed)


def hosts_between(
    plan: Plan, paths: ShortestPaths, source: Ends, here: Path, faults: FaultCollector
) -> list[str]:
    """The path of a source between two hosts of a graph; empty with a fault."""
    hosts = [name for name, kind in plan.nodes.items() if kind == "host"]
    ends = {"source": source.source, "destination": source.destination}
    for key, name in ends.items():
        if name not in hosts:
            got = NOTHING if name is None else name
            allowed = f"a name in hosts{did_you_mean(name, hosts)}"
            faults.add((*here, key), got, allowed)
            return []
    begin, end = str(source.source), str(source.destination)
    nodes = paths.between(begin, end) if begin != end else None
    if nodes is None:
        got = Verbatim(f"no path from {begin} to {end}")
        faults.add(here, got, "links that connect two hosts over switches and routers")
        return []
    return nodes
