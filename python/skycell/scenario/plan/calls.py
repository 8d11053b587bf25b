"""Calls drawn and put into a plan: when each is asked for, how long it lasts, and VCs for them.

Calls of a class go from one host to another. Each holds one of the VCs between them, the first that
is free, so that there are as many VCs as calls may be under way at once.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim
from skycell.input.quantities import (
    CELL_BITS,
    DAY_PS,
    LONGEST_RUN_PS,
    Dimension,
    Quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.file.calls import Calls
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.topology import Graph
from skycell.scenario.links.keys import payload_rate
from skycell.scenario.plan.framings import check_framings
from skycell.scenario.plan.plan import Plan, PlannedCalls
from skycell.scenario.plan.shortest_paths import ShortestPaths
from skycell.scenario.plan.sources import hosts_between, own_hosts, takes_packets
from skycell.scenario.values.cells import cells_per_second
from skycell.scenario.values.distributions import Constant, Times, Uniform

#: Calls, and bursts of calls, that a run has at most: each is a part of its spec.
MOST = 1_000_000
#: VCs that a class of calls has at most.
_MOST_VCS = 10_000


def plan_calls(plan: Plan, file: ScenarioFile, seed: int, faults: FaultCollector) -> None:
    """Adds the calls of a file to its plan, after its sources.

    Args:
        plan: the network, to which hosts and VCs are added.
        file: with the calls.
        seed: of the run.
        faults: where they go.
    """
    paths = ShortestPaths(plan) if isinstance(file.topology, Graph) and file.calls else None
    for i, calls in enumerate(file.calls):
        here: Path = ("calls", i)
        known = len(faults.faults)
        if any(calls.name == other.name for other in file.calls[:i]):
            faults.add((*here, "name"), calls.name, "each name once among the calls")
            continue
        if paths is None:
            nodes = own_hosts(plan, file.topology, calls, here, faults)
        else:
            nodes = hosts_between(plan, paths, calls, here, faults)
        _check_times(calls, here, faults)
        if len(faults.faults) == known:
            _refuse_many(calls, rounded(file.run.duration.amount), here, faults)
        if found := takes_packets(plan, nodes):
            allowed = "only switches and links of cells from host to host: calls are VCs"
            faults.add(here, Verbatim(found), allowed)
        if len(faults.faults) == known:
            _add(plan, file, calls, nodes, seed, here, faults)


def _add(
    plan: Plan,
    file: ScenarioFile,
    calls: Calls,
    nodes: Sequence[str],
    seed: int,
    here: Path,
    faults: FaultCollector,
) -> None:
    begins, lengths = _drawn(calls, rounded(file.run.duration.amount), seed)
    count = _most_at_once(begins, lengths)
    if file.admission.overbooking == "refuse":
        # Who calls again may come when others do.
        most = len(begins) if calls.redial else count
        count = min(most, _room(plan, calls, nodes))
    elif calls.redial:
        allowed = 'nothing with admission.overbooking = "allow", where no call is blocked'
        faults.add((*here, "redial"), calls.redial, allowed)
    count = max(1, count)
    if count > _MOST_VCS:
        got = Verbatim(f"{show_amount(count)} calls at once")
        faults.add((*here, "load"), got, f"up to {show_amount(_MOST_VCS)} at once")
        return
    vcs = [f"{calls.name}{number}" for number in range(1, count + 1)]
    taken = next((vc for vc in vcs if vc in plan.vcs), None)
    if taken is not None:
        faults.add((*here, "name"), calls.name, f"a name without a VC called {taken}")
        return
    for vc in vcs:
        plan.sources[vc] = plan.add_vc(vc, nodes, calls.service)
    plan.calls[calls.name] = PlannedCalls(tuple(vcs), tuple(begins), tuple(lengths))


def _drawn(calls: Calls, duration_ps: int, seed: int) -> tuple[list[int], list[int]]:
    """When calls are asked for before a run ends, and how long each holds a VC, picoseconds."""
    arrivals = random.Random(f"{seed}/calls/{calls.name}/arrivals")
    holding = random.Random(f"{seed}/calls/{calls.name}/holding")
    between = float(mean_of(calls.holding) / calls.load)
    begins: list[int] = []
    at = arrivals.expovariate(1.0) * between
    while at < duration_ps:
        begins.append(int(at))
        at += arrivals.expovariate(1.0) * between
    setup = rounded(calls.setup.amount)
    return begins, [setup + draw(calls.holding, holding) for _ in begins]


def draw(times: Times, rng: random.Random) -> int:
    """A time from a distribution, whole picoseconds, above 0."""
    if isinstance(times, Constant):
        found = rounded(times.value.amount)
    elif isinstance(times, Uniform):
        low, high = rounded(times.low.amount), rounded(times.high.amount)
        found = rng.randrange(low, high)
    else:
        found = int(rng.expovariate(1.0) * float(times.mean.amount))
    return min(max(1, found), LONGEST_RUN_PS)


def mean_of(times: Times) -> Fraction:
    """Mean of a distribution, picoseconds."""
    if isinstance(times, Constant):
        return times.value.amount
    if isinstance(times, Uniform):
        return (times.low.amount + times.high.amount) / 2
    return times.mean.amount


def _most_at_once(begins: Sequence[int], lengths: Sequence[int]) -> int:
    """The most calls under way at once if none were blocked."""
    ends: list[int] = []
    most = 0
    for begin, length in zip(begins, lengths, strict=True):
        while ends and ends[0] <= begin:
            heappop(ends)
        heappush(ends, begin + length)
        most = max(most, len(ends))
    return most


def _room(plan: Plan, calls: Calls, nodes: Sequence[str]) -> int:
    """Calls that the slowest link of a path carries by what each needs at the least."""
    probe = FaultCollector("")
    check_framings(plan, probe)
    if probe.faults:
        return _MOST_VCS  # they come out later
    links = [plan.links[f"{a}>{b}"] for a, b in pairwise(nodes)]
    slowest = min(payload_rate(link.rate, link.framing) for link in links) / CELL_BITS
    rate = calls.rate
    peak = cells_per_second(rate) if isinstance(rate, Quantity) else slowest * rate
    least = peak
    if calls.on is not None and calls.off is not None and calls.service != "cbr":
        on, off = mean_of(calls.on), mean_of(calls.off)
        least = peak * on / (on + off)
    return math.floor(slowest / least)


def _check_times(calls: Calls, here: Path, faults: FaultCollector) -> None:
    """Refuses times that no call can have."""
    if (calls.on is None) != (calls.off is None) and calls.on is not None:
        faults.add((*here, "off"), NOTHING, "a time, because on is given")
    if calls.redial and calls.redial_after is None:
        faults.add((*here, "redial_after"), NOTHING, "a time, because redial is given")
    for key, longest in (
        ("holding", LONGEST_RUN_PS),
        ("on", DAY_PS),
        ("off", DAY_PS),
        ("redial_after", DAY_PS),
    ):
        times: Times | None = getattr(calls, key)
        if times is None:
            continue
        keys = [name for name in type(times).model_fields if name != "kind"]
        values: list[Quantity] = [getattr(times, name) for name in keys]
        where = (*here, key) if isinstance(times, Constant) else (*here, key, keys[-1])
        for name, value in zip(keys, values, strict=True):
            own = (*here, key) if isinstance(times, Constant) else (*here, key, name)
            if value.dimension is not Dimension.TIME:
                allowed = "a time; no RTT is known when calls are drawn"
                faults.add(own, value.text, allowed)
            elif value.amount > longest:
                faults.add(own, value.text, f"up to {show_time(longest)}")
        if isinstance(times, Uniform) and values[0].amount >= values[1].amount:
            faults.add(where, values[1].text, f"above low, {values[0].text}")
        elif values[-1].amount == 0 and key != "off":
            faults.add(where, values[-1].text, "above 0")


def _refuse_many(calls: Calls, duration_ps: int, here: Path, faults: FaultCollector) -> None:
    """Refuses more calls, or bursts of calls, than a spec should hold."""
    holding = mean_of(calls.holding)
    count = calls.load * duration_ps / holding
    what, key = "calls", "load"
    if calls.on is not None and calls.off is not None:
        count *= 1 + holding / (mean_of(calls.on) + mean_of(calls.off))
        what, key = "bursts of calls", "on"
    if count > MOST:
        got = Verbatim(f"{show_amount(int(count))} {what} over {show_time(duration_ps)}")
        faults.add((*here, key), got, f"up to {show_amount(MOST)} in the mean")
