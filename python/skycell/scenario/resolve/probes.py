"""Probes: the routes of their pings and answers, and the sources that send both."""

from __future__ import annotations

from skycell.input.faults import FaultCollector, Path, did_you_mean
from skycell.input.quantities import rounded
from skycell.scenario.file.probe import REPLY, Probe
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.topology import Graph
from skycell.scenario.plan.plan import Plan
from skycell.scenario.plan.segments import segment_vcs
from skycell.scenario.plan.shortest_paths import ShortestPaths
from skycell.scenario.plan.sky_spread import add_way
from skycell.scenario.plan.sources import hosts_between, own_hosts, station_ends
from skycell.scenario.resolve.flows import starts
from skycell.scenario.resolve.resolution import Resolution
from skycell.scenario.values.cells import aal5_cells_of
from skycell.spec.declared.network import (
    SourcePatternConstant,
    SourcePatternEcho,
    SourceSpec,
    StartAt,
)


def plan_probes(plan: Plan, file: ScenarioFile, faults: FaultCollector) -> None:
    """Adds the routes of a file's probes to its plan, after those of its sources."""
    paths = ShortestPaths(plan) if isinstance(file.topology, Graph) and file.probe else None
    for i, probe in enumerate(file.probe):
        here: Path = ("probe", i)
        taken = {*plan.sources, *plan.datagrams, *plan.vcs}
        if taken & {probe.name, probe.name + REPLY}:
            allowed = "each name once among the probes, the sources and the VCs"
            faults.add((*here, "name"), probe.name, allowed)
        elif probe.beside is not None:
            _join(plan, probe, probe.beside, here, faults)
        else:
            _add_vcs(plan, file, probe, paths, here, faults)


def _join(plan: Plan, probe: Probe, flow: str, here: Path, faults: FaultCollector) -> None:
    for key in ("source", "destination"):
        if getattr(probe, key) is not None:
            allowed = "nothing with beside: pings go between the hosts of the flow"
            faults.add((*here, key), getattr(probe, key), allowed)
    if flow not in plan.flows:
        allowed = f"a flow of the topology{did_you_mean(flow, plan.flows)}"
        faults.add((*here, "beside"), flow, allowed)
        return
    plan.datagrams[probe.name] = plan.flows[flow].forward
    plan.datagrams[probe.name + REPLY] = plan.flows[flow].reverse


def _add_vcs(
    plan: Plan,
    file: ScenarioFile,
    probe: Probe,
    paths: ShortestPaths | None,
    here: Path,
    faults: FaultCollector,
) -> None:
    if plan.sky is not None:
        ends = station_ends(plan, probe, here, faults)
        if ends is not None:
            reply = probe.name + REPLY
            plan.datagrams[probe.name] = (add_way(plan, *ends, probe.name),)
            plan.datagrams[reply] = (add_way(plan, *ends[::-1], reply),)
        return
    if paths is None:
        nodes = own_hosts(plan, file.topology, probe, here, faults)
        back: list[str] | None = nodes[::-1]
    else:
        nodes = hosts_between(plan, paths, probe, here, faults)
        back = paths.between(nodes[-1], nodes[0]) if nodes else None
    if nodes and not back:
        allowed = "links that lead back too, for the answers"
        faults.add((*here, "destination"), probe.destination, allowed)
    elif nodes and back:
        name, reply = probe.name, probe.name + REPLY
        plan.datagrams[name] = tuple(segment_vcs(plan, name, nodes, probe.service))
        plan.datagrams[reply] = tuple(segment_vcs(plan, reply, back, probe.service))


def probe_sources(net: Resolution, first: int) -> tuple[SourceSpec, ...]:
    """Returns the sources of pings and of answers in turn.

    Args:
        net: the network.
        first: number of the first of them in the spec.
    """
    found: list[SourceSpec] = []
    for i, probe in enumerate(net.file.probe):
        octets = int(probe.size.amount)
        start = starts(net, probe.start, [probe.name], ("probe", i, "start"))[probe.name]
        ping, reply = (
            tuple(net.vc_ids[vc] for vc in net.plan.datagrams[name])
            for name in (probe.name, probe.name + REPLY)
        )
        pings = SourceSpec(
            name=probe.name,
            vc=ping[0],
            datagram_route=ping,
            cell_interval_ps=rounded(probe.interval.amount),
            frame_cells=aal5_cells_of(octets, llc_snap=True),
            datagram_octets=octets,
            pattern=SourcePatternConstant(),
            start=start,
        )
        answers = {
            "name": probe.name + REPLY,
            "vc": reply[0],
            "datagram_route": reply,
            "cell_interval_ps": 0,
            "pattern": SourcePatternEcho(of=first + len(found)),
            "start": StartAt(time_ps=0),
        }
        found += [pings, pings.model_copy(update=answers)]
    return tuple(found)
