"""VCs by label between hosts of a constellation, and which of several paths each flow takes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim
from skycell.input.quantities import counted, show_amount
from skycell.scenario.file.constellation import ConstellationNetwork
from skycell.scenario.plan.plan import Plan, PlannedVc

if TYPE_CHECKING:
    from skycell.orbit.routes import Routes

BETWEEN, UP, DOWN, TERRESTRIAL = "inter_satellite", "up", "down", "terrestrial"
"""Kinds of ports, in the order of their numbers in the columns."""
_ROUTING: Path = ("topology", "routing")
MOST_LABELS = 65_535
"""Destinations times paths: a label has 16 bits."""


def add_way(plan: Plan, source: str, target: str, user: str = "") -> str:
    """Adds the VC by label between two hosts that a user takes; returns its name.

    A user is a flow or a source in one direction, by its name.
    """
    from skycell.orbit.routes import name_of_way

    assert plan.sky is not None
    path = path_of(user, plan.sky.paths) if plan.sky.paths > 1 else 0
    name = name_of_way(source, target, path)
    if name not in plan.vcs:
        satellites = (UP, BETWEEN, DOWN)
        kinds: tuple[str, ...] = satellites
        if plan.sky.point == source:
            kinds = (TERRESTRIAL, *satellites)
        elif plan.sky.point == target:
            kinds = (*satellites, TERRESTRIAL)
        own = tuple(kind for kind in kinds if kind in plan.links)
        plan.vcs[name] = PlannedVc(name, own, by_label=(source, target), way=path)
    return name


def note_on_paths(found: Routes) -> tuple[str, ...]:
    """A sentence on how many different paths pairs have; none where each has one."""
    if found.paths == 1 or not found.pairs:
        return ()
    counts = found.different_paths
    mean, alone = sum(counts) / len(counts), counts.count(1)
    text = (
        f"Of {found.paths} paths a pair has {mean:.1f} different ones in the mean as the run "
        f"begins, and {alone} of {counted(len(counts), 'pair')} one."
    )
    return (text,)


def path_of(name: str, paths: int) -> int:
    """The path that a flow or source takes in one direction, from 0: a hash of its name, modulo.

    The rule is the modulo-N hash of RFC 2991, in which the name stands for the fields that make a
    flow: packets of a flow stay in order, and a flow does not depend on which others there are.

    >>> [path_of(name, 4) for name in ("paris>tokyo", "paris>tokyo#2", "paris>tokyo, back")]
    [1, 1, 1]
    """
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") % paths


def refuse_paths(
    topology: ConstellationNetwork, destinations: Sequence[object], faults: FaultCollector
) -> None:
    """Notes what is wrong with the number of paths, or has no effect."""
    routing = topology.routing
    said = [key for key in ("fstate", "file", "python") if getattr(routing, key) is not None]
    if routing.paths > 1 and said:
        allowed = f"1 with {said[0]}: routes of your own lead over one path"
        faults.add((*_ROUTING, "paths"), routing.paths, allowed)
    elif len(destinations) * routing.paths > MOST_LABELS:
        count = show_amount(len(destinations) * routing.paths)
        got = Verbatim(f"{routing.paths}, which is {count} labels")
        allowed = f"up to {MOST_LABELS // max(len(destinations), 1)}, for {MOST_LABELS} labels"
        faults.add((*_ROUTING, "paths"), got, allowed)
    if routing.detour is None and routing.paths > 1 and routing.by == "delay":
        allowed = "a part of the least delay, such as 0.1: how much longer the other paths may be"
        faults.add((*_ROUTING, "detour"), NOTHING, allowed)
    elif routing.detour is not None and (routing.paths == 1 or routing.by == "hops"):
        why = "one path is" if routing.paths == 1 else 'with by = "hops" all paths are'
        allowed = f"nothing: {why} no longer than the least"
        faults.add((*_ROUTING, "detour"), routing.detour, allowed)
