"""Satellites that switch on board: from the paths of a link to the nodes, links and VCs of a plan.

The link's own port is that of the ground station, whose link turns from satellite to satellite.
Each satellite of any path is a switch, with ports towards its neighbours and the ground.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from skycell.input.faults import FaultCollector, Path, Verbatim, show_value
from skycell.input.quantities import Dimension, Quantity, rounded
from skycell.scenario.links.chain import Chain
from skycell.scenario.links.keys import PortKeys
from skycell.scenario.plan.plan import Plan, PlannedLink, Rerouting
from skycell.scenario.plan.satellite_path import SatellitePath
from skycell.spec.steps import Hops

_NO_DELAY = Quantity(Fraction(0), Dimension.TIME, "0 s")


def satellite_node(name: str) -> str:
    """Name of the node that a satellite is."""
    return f"sat-{name}"


def add_satellites(plan: Plan, chains: Mapping[Path, Chain], faults: FaultCollector) -> None:
    """Puts satellites into a plan: their nodes, the links between them, and the ways of VCs."""
    if not chains:
        return
    _refuse_other_skies(plan, chains, faults)
    ways: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    ports: list[tuple[object, ...]] = []
    for path, chain in chains.items():
        names = [name for name, link in plan.links.items() if link.table_of("schedule") == path]
        if not names:
            continue
        first = plan.links[names[0]]
        ports.append(_port(first, chain))
        if ports[-1] != ports[0]:
            allowed = "the values of the first such link: links share the satellites"
            got = Verbatim("another rate, framing, buffer, policy or loss")
            faults.add(
                (*path, "schedule", "onboard_switching"),
                got,
                allowed,
            )
        ways |= {
            name: _board(plan, plan.links[name], first, chain, name != names[0]) for name in names
        }
    loses = any(chain.schedule.handover_loses_cells for chain in chains.values())
    for name, vc in plan.vcs.items():
        if any(link in ways for link in vc.links):
            first_way, later = _ways_of_vc(vc.links, ways)
            rerouting = Rerouting(later, loses) if later else None
            plan.vcs[name] = replace(vc, links=first_way, rerouting=rerouting)


def _refuse_other_skies(plan: Plan, chains: Mapping[Path, Chain], faults: FaultCollector) -> None:
    """Satellites are known by their names, so all links go over those of one sky, at one time."""
    every = list(chains.values())
    for chain in every[1:]:
        for key in ("constellation", "start", "handover_loses_cells"):
            first, own = (getattr(c.schedule, key) for c in (every[0], chain))
            if own != first:
                allowed = f"{_shown(first)}, as the first link with satellites on board has"
                shown = Verbatim(_shown(own))
                faults.add((*chain.path, "schedule", key), shown, allowed)
    for chain in every:
        for _, satellites in chain.changes:
            taken = [name for name in map(satellite_node, satellites) if name in plan.nodes]
            if taken:
                allowed = "other names: the satellites are nodes too"
                faults.add(("topology",), taken[0], allowed, "a node")
                return


def _shown(value: object) -> str:
    return show_value(value if isinstance(value, bool) else str(value))


def _board(
    plan: Plan, link: PlannedLink, first: PlannedLink, chain: Chain, is_reverse: bool
) -> list[tuple[int, tuple[str, ...]]]:
    """Puts the satellites of one direction of a link into the plan.

    Returns:
        The links of its ways, by the time from which on they hold.
    """
    steps = [_turned(hops) if is_reverse else hops for hops in chain.hops]
    delays: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for time, hops in zip(chain.times_ps, steps, strict=True):
        if hops is None:
            continue
        for ends, delay in zip(_after_up(hops, link.target), hops.links_ps[1:], strict=True):
            delays.setdefault(ends, []).append((time, delay))
    for (source, target), rows in delays.items():
        name = f"{source}>{target}"
        plan.nodes.setdefault(source, "switch")
        if name in plan.links:
            rows = _merged(plan.satellite_paths[name], rows)
        else:
            plan.add_link(
                _satellite_link(first, chain, source, target, is_down=target == link.target)
            )
        plan.satellite_paths[name] = _held(rows, target)
    plan.satellite_paths[link.name] = _ground_path(chain, steps)
    return [
        (time, (link.name, *(f"{a}>{b}" for a, b in _after_up(hops, link.target))))
        for time, hops in ((time, _hops_from(chain, steps, time)) for time, _ in chain.changes)
    ]


def _turned(hops: Hops | None) -> Hops | None:
    return hops and Hops(hops.satellites[::-1], hops.links_ps[::-1])


def _hops_from(chain: Chain, steps: Sequence[Hops | None], time: int) -> Hops:
    first = bisect_left(chain.times_ps, time)
    found = (steps[place] for place in range(first, len(steps)))
    return next(hops for hops in found if hops is not None)


def _after_up(hops: Hops, ground: str) -> list[tuple[str, str]]:
    """Both ends of the links after the one up to the first satellite."""
    return list(pairwise([*map(satellite_node, hops.satellites), ground]))


def _port(first: PlannedLink, chain: Chain) -> tuple[object, ...]:
    """What makes a satellite's port and its link: rate, framing, buffer, policy and losses."""
    link = _satellite_link(first, chain, "", "", is_down=False)
    own = chain.schedule.onboard_switching
    assert own is not None
    port = (getattr(link.port, key) for key in PortKeys.model_fields)
    return (link.rate, link.framing, own.loss, own.down_loss, *port)


def _satellite_link(
    first: PlannedLink, chain: Chain, source: str, target: str, *, is_down: bool
) -> PlannedLink:
    """A link that a satellite feeds: as the ground link, but for what the file says of them.

    The ground link stands for the delay of the whole path wherever RTTs are measured.
    """
    own = chain.schedule.onboard_switching
    assert own is not None
    here = (*chain.path, "schedule", "onboard_switching")
    keys: dict[str, object] = {"delay": _NO_DELAY}
    if own.rate:
        keys |= {"rate": own.rate, "framing": own.framing}
    limits = {"buffer": own.buffer, "policy": own.policy}
    written = {key: value for key, value in limits.items() if value is not None}
    return replace(
        first,
        source=source,
        target=target,
        keys=first.keys.model_copy(update=keys),
        port=first.port.model_copy(update=written),
        path=here,
        rate_path=here if own.rate else first.rate_path,
        loss_key=(*here, "down_loss" if is_down else "loss"),
        prefix="",
        jitter=None,
    )


def _held(rows: list[tuple[int, int]], target: str) -> SatellitePath:
    """Where no path takes the link its delay stays what it was last, at first what it will be."""
    kept = [row for i, row in enumerate(rows) if i == 0 or row[1] != rows[i - 1][1]]
    times = (0, *(time for time, _ in kept[1:]))
    return SatellitePath(times, tuple(delay for _, delay in kept), (target,) * len(kept))


def _merged(known: SatellitePath, rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The rows of two ground links that share a link between satellites."""
    old = dict(zip(known.times_ps, known.delays_ps, strict=True))
    merged = {time: delay for time, delay in old.items() if delay is not None} | dict(rows)
    return sorted(merged.items())


def _ground_path(chain: Chain, steps: Sequence[Hops | None]) -> SatellitePath:
    known = next(hops for hops in steps if hops is not None)
    rows: list[tuple[int, int | None, str]] = []
    for time, hops in zip(chain.times_ps, steps, strict=True):
        known = hops or known
        row = (hops.links_ps[0] if hops else None, satellite_node(known.satellites[0]))
        if not rows or row != rows[-1][1:]:
            rows.append((time, *row))
    times, delays, targets = zip(*rows, strict=True)
    return SatellitePath(
        times,
        delays,
        targets,
        rounded(chain.schedule.interruption.amount),
        chain.schedule.handover_loses_cells,
    )


def _ways_of_vc(
    links: tuple[str, ...], ways: Mapping[str, list[tuple[int, tuple[str, ...]]]]
) -> tuple[tuple[str, ...], tuple[tuple[int, tuple[str, ...]], ...]]:
    """The first way of a VC and the later ones, each with the time from which on it holds."""
    times = sorted({time for link in links for time, _ in ways.get(link, ()) if time > 0})

    def at(time: int) -> tuple[str, ...]:
        taken: list[str] = []
        for link in links:
            own = [way for since, way in ways.get(link, ()) if since <= time]
            taken += own[-1] if own else (link,)
        return tuple(taken)

    return at(0), tuple((time, at(time)) for time in times)
