"""What drives a scenario's links: paths over constellations, hop by hop, and accounts of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from skycell.input.account import Account
from skycell.input.quantities import rounded
from skycell.scenario.file.constellation import ConstellationNetwork
from skycell.scenario.file.topology import Dumbbell, Graph
from skycell.scenario.links.schedule import Schedule
from skycell.scenario.links.series import series_account
from skycell.scenario.plan.generators import kind_between, nodes_between
from skycell.scenario.plan.link_schedules import steps_over_constellation
from skycell.scenario.resolve.context import packet_hops
from skycell.scenario.scenario import Scenario
from skycell.spec.steps import Hops

#: Packets and hops from which a run takes long enough to say so.
_MANY_HOPS = 2 * 10**8
#: What a packet and a hop take in the fast engine (benches/NOTES.md), seconds.
_HOP_S = 1e-7
#: Steps over a run are enough for least, mean and most of a delay that creeps; changes of path have
#: their own.
_STEPS = 1000


@dataclass(frozen=True)
class SkyPath:
    """A path over a constellation in the course of a run.

    Attributes:
        constellation: its name.
        source: where the path begins.
        target: where it ends.
        forward: names of the links that lead over it from source to target.
        backward: names of those that lead back.
        is_on_board: whether its satellites switch.
        is_interrupted: whether nothing is sent at times: after handovers, or without a path.
        times_ps: when each step begins.
        end_ps: when the last step ends.
        hops: the path of each step; None while there is none.
        notes: sentences on its satellites, such as those that are left out.
        accounts: what was made of each file of the constellation, as plain data.
    """

    constellation: str
    source: str
    target: str
    forward: tuple[str, ...]
    backward: tuple[str, ...]
    is_on_board: bool
    is_interrupted: bool
    times_ps: tuple[int, ...]
    end_ps: int
    hops: tuple[Hops | None, ...]
    notes: tuple[str, ...] = ()
    accounts: tuple[dict[str, Any], ...] = ()


def sky_paths(scenario: Scenario) -> tuple[SkyPath, ...]:
    """The paths of a scenario's links that move over a constellation."""
    duration_ps = rounded(scenario.file.run.duration.amount)
    found = []
    for schedule, forward in _motions(scenario):
        if schedule.constellation is None:
            continue
        steps = steps_over_constellation(schedule, duration_ps, scenario.folder, most=_STEPS)
        is_broken = any(hops is None for hops in steps.hops)
        found.append(
            SkyPath(
                schedule.constellation,
                schedule.source or "",
                schedule.target or "",
                tuple(f"{a}>{b}" for a, b in forward),
                tuple(f"{b}>{a}" for a, b in forward),
                schedule.onboard_switching is not None,
                is_broken or schedule.interruption.amount > 0,
                steps.times_ps,
                duration_ps,
                steps.hops,
                steps.notes,
                steps.accounts,
            )
        )
    return tuple(found)


def series_accounts(scenario: Scenario) -> tuple[Account, ...]:
    """What was made of the files of measurements that drive links of a scenario."""
    return tuple(
        series_account(scenario.folder, schedule)
        for schedule, _ in _motions(scenario)
        if schedule.series is not None
    )


def notes_on_series(scenario: Scenario) -> tuple[str, ...]:
    """The same in sentences, and what to know of a constellation that is the network."""
    sky = scenario.plan.sky
    of_sky = () if sky is None else (*sky.notes, *_notes_on_size(scenario))
    return (*notes_of(series_accounts(scenario)), *of_sky)


def _notes_on_size(scenario: Scenario) -> tuple[str, ...]:
    """How much a large run over a constellation comes to."""
    sky, hops = scenario.plan.sky, packet_hops(scenario.resolution)
    if sky is None or hops < _MANY_HOPS:
        return ()
    seconds = hops * _HOP_S
    time = f"{seconds:.0f} s" if seconds < 300 else f"{seconds / 60:.0f} min"
    text = (
        f"If all stations send at the rate of their ports, about {hops / 1e6:.0f} million packets "
        f"and hops are simulated: up to {time} of computing."
    )
    return (text,)


def notes_of(accounts: Sequence[Account]) -> tuple[str, ...]:
    """The sentences of accounts, each once."""
    return tuple(dict.fromkeys(note for account in accounts for note in account.notes()))


def _motions(scenario: Scenario) -> list[tuple[Schedule, list[tuple[str, str]]]]:
    """Each schedule of the file, with the ends of the links that it moves."""
    topology = scenario.file.topology
    if isinstance(topology, ConstellationNetwork):
        return []
    if isinstance(topology, Graph):
        links = [(link.schedule, _ends_of(scenario, i)) for i, link in enumerate(topology.link)]
    else:
        kind = kind_between(topology.access, topology.bottleneck)
        count = 2 if isinstance(topology, Dumbbell) else topology.hops + 1
        hops = list(pairwise(nodes_between(kind, count)))
        links = [(topology.bottleneck.schedule, hops)]
        back = topology.bottleneck.backward.schedule
        if back != topology.bottleneck.schedule:
            links.append((back, [(far, near) for near, far in hops]))
    return [(schedule, ends) for schedule, ends in links if schedule is not None]


def _ends_of(scenario: Scenario, table: int) -> list[tuple[str, str]]:
    """Both ends of the links of one table of a graph, in the direction of the table."""
    forward: dict[tuple[str, str], None] = {}
    for link in scenario.plan.links.values():
        ends = (link.source, link.target)
        if link.path == ("topology", "link", table) and ends[::-1] not in forward:
            forward[ends] = None
    return list(forward)
