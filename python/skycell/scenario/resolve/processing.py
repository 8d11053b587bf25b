"""Processing times of nodes, as a part of the delay of the links that lead to them.

A time that is the same for all that comes over a link, with no limit on how much is in the node at
once, moves every arrival at its port by so much: as if the link were that much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from skycell.input.faults import did_you_mean
from skycell.scenario.file.processing import SATELLITES, processing_ps
from skycell.scenario.plan.onboard_switching import satellite_node
from skycell.scenario.plan.satellite_path import SatellitePath
from skycell.scenario.resolve.resolution import Resolution, each_once, part, places
from skycell.spec.declared.network import ScheduleSpec


@part
def processing(net: Resolution) -> dict[str, int]:
    """Returns the processing time of each node that has one, by its name, picoseconds."""
    satellites = {
        satellite_node(name)
        for chain in net.schedules.chains.values()
        for _, names in chain.changes
        for name in names
    }
    nodes = net.plan.nodes
    known = [name for name, kind in nodes.items() if kind != "host" and name not in satellites]

    def problem(name: str) -> str:
        if name == SATELLITES:
            return "" if satellites else "a path with onboard_switching"
        if name not in known:
            return f"a switch or router of the topology{did_you_mean(name, known)}"
        return ""

    each_once(net, places("processing", "nodes", net.file.processing), "node", problem)
    found = processing_ps(net.file.processing)
    of_satellites = found.pop(SATELLITES, 0)
    if of_satellites:
        found |= dict.fromkeys(satellites, of_satellites)
    return found


def with_processing(path: SatellitePath, processing: Mapping[str, int]) -> SatellitePath:
    """A path whose delays have the processing time of the node that each step leads to."""
    delays = tuple(
        None if delay is None else delay + processing.get(target, 0)
        for delay, target in zip(path.delays_ps, path.targets, strict=True)
    )
    return replace(path, delays_ps=delays)


def delayed_schedule(schedule: ScheduleSpec | None, time_ps: int) -> ScheduleSpec | None:
    """A schedule whose delays are longer by a time; None for none."""
    if schedule is None or not time_ps:
        return schedule
    delays = tuple(None if delay is None else delay + time_ps for delay in schedule.delays_ps)
    return schedule.model_copy(update={"delays_ps": delays})
