"""Processing times of nodes, as a part of the delay of the links that lead to them.

A time that is the same for all that comes over a link, with no limit on how much is in the node at
once, moves every arrival at its port by so much: as if the link were that much longer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from skycell.input.faults import FaultCollector, did_you_mean
from skycell.scenario.file.processing import SATELLITES, Processing, processing_ps
from skycell.scenario.plan.course import Course
from skycell.scenario.plan.plan import Plan
from skycell.spec.network import ScheduleSpec


def resolve_processing(
    tables: Sequence[Processing], plan: Plan, satellites: Set[str], faults: FaultCollector
) -> dict[str, int]:
    """The processing time of each node that has one, by its name, picoseconds.

    Args:
        tables: as the file has them.
        plan: the network.
        satellites: the nodes of it that are satellites.
        faults: where names that are no such node, or stand twice, go.
    """
    known = [name for name, kind in plan.nodes.items() if kind != "host" and name not in satellites]
    seen: set[str] = set()
    for i, one in enumerate(tables):
        for k, name in enumerate(one.nodes):
            where = ("processing", i, "nodes", k)
            if name == SATELLITES and not satellites:
                faults.add(where, name, "a path with onboard_switching")
            elif name != SATELLITES and name not in known:
                allowed = f"a switch or router of the topology{did_you_mean(name, known)}"
                faults.add(where, name, allowed)
            elif name in seen:
                faults.add(where, name, "each node once")
            seen.add(name)
    found = processing_ps(tables)
    of_satellites = found.pop(SATELLITES, 0)
    if of_satellites:
        found |= dict.fromkeys(satellites, of_satellites)
    return found


def longer_course(course: Course, processing: Mapping[str, int]) -> Course:
    """A course whose delays have the processing time of the node that each step leads to."""
    delays = tuple(
        None if delay is None else delay + processing.get(target, 0)
        for delay, target in zip(course.delays_ps, course.targets, strict=True)
    )
    return replace(course, delays_ps=delays)


def longer_schedule(schedule: ScheduleSpec | None, time_ps: int) -> ScheduleSpec | None:
    """A schedule whose delays are longer by a time; None for none."""
    if schedule is None or not time_ps:
        return schedule
    delays = tuple(None if delay is None else delay + time_ps for delay in schedule.delays_ps)
    return schedule.model_copy(update={"delays_ps": delays})
