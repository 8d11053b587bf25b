"""A constellation put into a plan: its nodes, its kinds of links, and its routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from skycell.input.faults import (
    NOTHING,
    FaultCollector,
    Path,
    ScenarioFaults,
    Verbatim,
)
from skycell.input.quantities import (
    parse_quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.file.constellation import ConstellationNetwork, SkyPort
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.links.framing import carries_packets
from skycell.scenario.links.keys import AnyLink
from skycell.scenario.plan.plan import NodeKind, Plan, PlannedLink, PlannedSky, PlannedVc
from skycell.scenario.plan.sky_demand import add_demand, pairs_of, read_tables
from skycell.scenario.plan.sky_outages import Row, outage_rows

if TYPE_CHECKING:
    from skycell.orbit.constellation import Constellation
    from skycell.orbit.fstate import ListedRoutes
    from skycell.orbit.places import Place
    from skycell.orbit.routes import Routes

BETWEEN, UP, DOWN = "inter_satellite", "up", "down"
"""Kinds of ports, in the order of their numbers in the columns."""

_GROUND: Path = ("topology", "ground")
_BETWEEN: Path = ("topology", "inter_satellite")
_PLAIN = AnyLink.model_validate({"rate": "1 Mbit/s", "framing": "ip", "delay": "0 s"})
_MOST_EPOCHS = 1_000_000


def plan_sky(
    topology: ConstellationNetwork,
    file: ScenarioFile,
    folder: FilePath,
    seed: int,
    faults: FaultCollector,
) -> Plan:
    """Returns the plan of a constellation; what does not fit together is noted in `faults`.

    Raises:
        ScenarioFaults: the constellation or its stations have faults, or a station is unknown.
    """
    _check_framings(topology, faults)
    _refuse_tables(file, faults)
    sky, places = _sky_and_places(topology, folder, faults)
    faults.raise_if_any()
    assert sky is not None
    plan = Plan()
    forwards: NodeKind = "router" if carries_packets(topology.ground.framing) else "switch"
    plan.nodes.update(dict.fromkeys(sky.satellites, forwards))
    for place in places:
        if place.name in plan.nodes:
            allowed = "a name that no satellite and no other station has"
            faults.add(("topology", "stations"), place.name, allowed)
        plan.nodes[place.name] = "host"
    tables = read_tables(file, places, folder, faults)
    faults.raise_if_any()
    numbers = {place.name: number for number, place in enumerate(places)}
    users = pairs_of(file, tables, numbers)
    pairs = tuple((numbers[a], numbers[b]) for a, b in users)
    asked = _Asked(
        places=tuple(places),
        pairs=tuple(dict.fromkeys((*pairs, *((b, a) for a, b in pairs)))),
        duration_ps=0 if topology.frozen else rounded(file.run.duration.amount),
        step_ps=rounded(topology.step.amount),
        start_ps=rounded(topology.start.amount),
        by=topology.routing.by,
        per_station=topology.ground.satellite_port == "per_station",
        outages=outage_rows(
            topology,
            sky.satellites,
            [place.name for place in places],
            (rounded(file.run.duration.amount), rounded(topology.step.amount)),
            seed,
            faults,
        ),
        interruption_ps=rounded(topology.handover.interruption.amount),
    )
    _refuse_beside_outages(topology, faults)
    _check_handover(topology, faults)
    faults.raise_if_any()
    found = _routes(topology, sky, asked, folder, faults)
    _add_kinds(plan, topology, sky, places, faults)
    plan.sky = _planned_sky(topology, places, found)
    for a, b in users:
        for ends in ((a, b), (b, a)):
            add_way(plan, *ends)
    for table in tables:
        add_demand(plan, table, file.start)
    faults.raise_if_any()
    return plan


def add_way(plan: Plan, source: str, target: str) -> str:
    """Adds the VC by label from a station to another one, if there is none; returns its name."""
    name = f"{source}>{target}"
    if name not in plan.vcs:
        kinds = tuple(kind for kind in (UP, BETWEEN, DOWN) if kind in plan.links)
        plan.vcs[name] = PlannedVc(name, kinds, by_label=(source, target))
    return name


#: Tables that a network of nodes that forward by label does not have.
_NOT_THERE = {
    "calls": "connections of cells",
    "gfr": "VCs of cells",
    "abr": "VCs of cells",
    "vs_vd": "switches of cells",
    "policer": "VCs of cells",
    "resequencer": "VCs of cells",
    "uplink": "slots of cells",
    "classifier": "VCs between routers",
    "pep": "routers on the path of a connection, and the paths here change",
    "processing": "nodes of a graph; a constellation has satellite_delay and frame_delay",
}


def _refuse_tables(file: ScenarioFile, faults: FaultCollector) -> None:
    for key, belongs in _NOT_THERE.items():
        if getattr(file, key):
            allowed = f"nothing: over a constellation there are no {belongs}"
            if key in ("pep", "processing"):
                allowed = f"nothing: [[{key}]] is for {belongs}"
            faults.add((key, 0), Verbatim("a table"), allowed)


def _check_framings(topology: ConstellationNetwork, faults: FaultCollector) -> None:
    """Notes links of cells beside links of packets: a satellite makes no packets of cells."""
    between, ground = topology.inter_satellite, topology.ground
    if between is None or carries_packets(between.framing) == carries_packets(ground.framing):
        return
    units = "packets" if carries_packets(ground.framing) else "cells"
    allowed = f"a framing of {units}, as ground has: nodes forward packets, or all forward cells"
    faults.add((*_BETWEEN, "framing"), between.framing.kind, allowed)


def _sky_and_places(
    topology: ConstellationNetwork, folder: FilePath, faults: FaultCollector
) -> tuple[Constellation | None, list[Place]]:
    from skycell.orbit.motion import constellation_of

    here: Path = ("topology", "constellation")
    try:
        sky = constellation_of(topology.constellation, folder)
    except ScenarioFaults as found:
        _take_over(found, here, faults)
        return None, []
    try:
        places = _places(topology.stations, folder, sky)
    except ScenarioFaults as found:
        _take_over(found, ("topology", "stations"), faults)
        return sky, []
    except OSError as error:
        allowed = f"a built-in list, or a file that can be read; {error.strerror or error}"
        faults.add(("topology", "stations"), topology.stations, allowed)
        return sky, []
    names = [place.name for place in places]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        faults.add(("topology", "stations"), twice[0], "each station once")
    elif len(places) < 2:
        got = Verbatim(f"{len(places)} of them")
        faults.add(("topology", "stations"), got, "two stations or more")
    return sky, places


def _places(stations: str | tuple[str, ...], folder: FilePath, sky: Constellation) -> list[Place]:
    from skycell.orbit.places import PLACE_LISTS, find_places, named_places, read_places

    if isinstance(stations, tuple):
        return find_places(stations, sky.own_places)
    if stations in PLACE_LISTS:
        return list(named_places(stations))
    return read_places(folder / stations)


def _take_over(found: ScenarioFaults, here: Path, faults: FaultCollector) -> None:
    """Notes faults of other files where they are, and others at a key of this one."""
    for fault in found.faults:
        is_placed = fault.line is not None or bool(fault.path)
        if fault.file and fault.file != "places" and is_placed:
            faults.faults.append(fault)
        else:
            faults.add(here, Verbatim(fault.got), fault.allowed)


@dataclass(frozen=True)
class _Asked:
    """What the columns of a constellation are made from, beside itself."""

    places: tuple[Place, ...]
    pairs: tuple[tuple[int, int], ...]
    duration_ps: int
    step_ps: int
    start_ps: int
    by: str
    per_station: bool
    outages: tuple[Row, ...]
    interruption_ps: int


def _routes(
    topology: ConstellationNetwork,
    sky: Constellation,
    asked: _Asked,
    folder: FilePath,
    faults: FaultCollector,
) -> Routes:
    """The routes and delays over the run; their columns are kept."""
    from skycell.orbit.motion import Key
    from skycell.spec.columns import keep_columns

    epochs = asked.duration_ps // asked.step_ps + 1
    if epochs > _MOST_EPOCHS:
        got = Verbatim(f'"{topology.step}", which is {show_amount(epochs)} steps')
        least = show_time(-(-asked.duration_ps // _MOST_EPOCHS))
        faults.add(
            ("topology", "step"), got, f"from {least}, for up to {show_amount(_MOST_EPOCHS)}"
        )
        faults.raise_if_any()
    listed = _listed_routes(topology, sky, asked, epochs, folder, faults)
    try:
        found = _computed(Key(sky), asked) if listed is None else _of(sky, asked, listed)
    except ScenarioFaults as refused:
        _take_over(refused, ("topology", "routing"), faults)
        faults.raise_if_any()
        raise
    except ValueError as error:
        allowed = f"fewer steps, nodes or stations; {error}"
        faults.add(("topology", "step"), topology.step.text, allowed)
        faults.raise_if_any()
        raise
    assert found.file is not None
    keep_columns(found.digest, found.file)
    return found


def _refuse_beside_outages(topology: ConstellationNetwork, faults: FaultCollector) -> None:
    """Notes what leaves outages without an effect, or without routes around them."""
    if not topology.outage:
        return
    here: Path = ("topology", "outage")
    if topology.frozen:
        faults.add(here, Verbatim("a table"), "nothing with frozen = true: links never change")
    routing = topology.routing
    if routing.fstate is not None or routing.file is not None:
        allowed = "nothing with routes of a file, which know no outage"
        faults.add(here, Verbatim("a table"), allowed)


def _check_handover(topology: ConstellationNetwork, faults: FaultCollector) -> None:
    """Notes keys of handovers that contradict each other, or have no effect."""
    ground, interruption = topology.ground, topology.handover.interruption
    if ground.no_route == "waits" and ground.waiting not in (None, "rerouted"):
        allowed = "rerouted, or the key left out: no_route = waits holds what takes a later route"
        faults.add((*_GROUND, "waiting"), str(ground.waiting), allowed)
    if topology.frozen and interruption.amount:
        here: Path = ("topology", "handover", "interruption")
        faults.add(here, interruption.text, "0 s with frozen = true: no station turns then")


def _listed_routes(
    topology: ConstellationNetwork,
    sky: Constellation,
    asked: _Asked,
    epochs: int,
    folder: FilePath,
    faults: FaultCollector,
) -> ListedRoutes | None:
    """Routes of the user's; None where they are computed, and faults are raised."""
    from skycell.orbit.fstate import read_fstate
    from skycell.orbit.route_table import routes_from_file
    from skycell.orbit.router import routes_from_python

    routing = topology.routing
    said = [key for key in ("fstate", "file", "python") if getattr(routing, key) is not None]
    if not said:
        return None
    here: Path = ("topology", "routing", said[0])
    if len(said) > 1:
        faults.add(here, Verbatim(" and ".join(said)), "one of fstate, file and python")
        faults.raise_if_any()
    name = str(getattr(routing, said[0]))
    try:
        if routing.fstate is not None:
            listed = read_fstate(folder / name, len(sky.satellites), len(asked.places))
        elif routing.file is not None:
            listed = routes_from_file(
                folder / name,
                sky.satellites,
                asked.places,
                start_ps=asked.start_ps,
                duration_ps=asked.duration_ps,
                step_ps=asked.step_ps,
            )
        else:
            file, _, function = name.rpartition(":")
            if not file:
                faults.add(here, name, 'a file and its function, such as "two_ways.py:next_hops"')
                faults.raise_if_any()
            times = (asked.start_ps, asked.step_ps, epochs)
            listed = routes_from_python(
                folder / file, function, sky, asked.places, times, routing.options
            )
    except ScenarioFaults as refused:
        _take_over(refused, here, faults)
        faults.raise_if_any()
        raise
    except OSError as error:
        faults.add(here, name, f"what can be read; {error.strerror or error}")
        faults.raise_if_any()
        raise
    last_ps = listed.start_ps + listed.step_ps * listed.epochs
    end_ps = asked.start_ps + asked.duration_ps
    if listed.start_ps != asked.start_ps or last_ps < end_ps:
        span = f"from {show_time(listed.start_ps)} to {show_time(last_ps)}"
        got = Verbatim(f'"{name}", with routes {span}')
        allowed = f"routes of the run, from {show_time(asked.start_ps)} to {show_time(end_ps)}"
        faults.add(here, got, allowed)
        faults.raise_if_any()
    return listed


@lru_cache(maxsize=4)
def _computed(sky: Any, asked: _Asked) -> Routes:
    return _of(sky.constellation, asked, None)


def _of(sky: Constellation, asked: _Asked, listed: ListedRoutes | None) -> Routes:
    from skycell.orbit.routes import routes

    return routes(
        sky,
        asked.places,
        asked.pairs,
        duration_ps=asked.duration_ps,
        step_ps=asked.step_ps,
        start_ps=asked.start_ps,
        by=asked.by,
        listed=listed,
        with_file=True,
        port_per_station=asked.per_station,
        outages=asked.outages,
        interruption_ps=asked.interruption_ps,
    )


def _add_kinds(
    plan: Plan,
    topology: ConstellationNetwork,
    sky: Constellation,
    places: Sequence[Place],
    faults: FaultCollector,
) -> None:
    """Adds a link for each kind of links."""
    satellite, station = sky.satellites[0], places[0].name
    other = sky.satellites[-1]
    ground, between = topology.ground, topology.inter_satellite
    if between is not None:
        plan.add_link(_kind(BETWEEN, satellite, other, between, _BETWEEN))
    elif sky.links_satellites:
        allowed = "a table with rate, framing and buffer: the constellation has such links"
        faults.add(_BETWEEN, NOTHING, allowed)
    plan.add_link(_kind(UP, station, satellite, ground, _GROUND))
    plan.add_link(_kind(DOWN, satellite, station, ground, _GROUND))


def _kind(name: str, source: str, target: str, port: SkyPort, path: Path) -> PlannedLink:
    keys = _PLAIN.model_copy(
        update={
            "rate": port.rate,
            "framing": port.framing,
            "mtu": port.mtu,
            "loss": port.loss,
            "delay": parse_quantity("0 s"),
        }
    )
    return PlannedLink(
        source=source,
        target=target,
        keys=keys,
        port=port,
        path=path,
        rate_path=path,
        jitter=getattr(port, "frame_jitter", None) if name == UP else None,
        ack_filter=port.ack_filter,
        kind=name,
    )


def _planned_sky(
    topology: ConstellationNetwork, places: Sequence[Place], found: Routes
) -> PlannedSky:
    greatest: dict[tuple[int, int], int] = {}
    for number, pair in enumerate(found.pairs):
        delays = [delay for delay in found.delays_ps(number) if delay is not None]
        greatest[pair] = max(delays, default=0)
    rtts = [delay + greatest.get((b, a), 0) for (a, b), delay in greatest.items()]
    hops = [len(span.nodes) - 1 for span in found.spans if span.first_epoch == 0]
    own = topology.ground.waiting
    between = topology.inter_satellite
    waiting = {UP: own or "rerouted", DOWN: own or "sent"}
    if between is not None:
        waiting[BETWEEN] = between.waiting
    notes = [*found.validity.notes]
    if found.unlinked:
        notes.append(f"No satellite is in reach of {', '.join(found.unlinked)} at any step.")
    return PlannedSky(
        columns=found.digest,
        stations=tuple(place.name for place in places),
        waiting=waiting,
        waits_for_route=topology.ground.no_route == "waits",
        hop_limit=topology.hop_limit,
        loses_in_flight=topology.handover.in_flight == "lost",
        rtt_ps=max(rtts, default=0),
        epochs=found.epochs,
        links=found.links,
        hops=sum(hops) / len(hops) if hops else 0.0,
        routes=found,
        notes=tuple(notes),
    )
