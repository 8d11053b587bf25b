"""A constellation put into a plan: its nodes, its kinds of links, and its routes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
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
from skycell.scenario.plan.plan import NodeKind, Plan, PlannedLink, PlannedSky
from skycell.scenario.plan.sky_demand import add_demand, pairs_of, read_tables
from skycell.scenario.plan.sky_ground import GATEWAYS, SkyGround, read_ground, take_over
from skycell.scenario.plan.sky_outages import Row, outage_rows
from skycell.scenario.plan.sky_spread import (
    BETWEEN,
    DOWN,
    TERRESTRIAL,
    UP,
    add_way,
    note_on_paths,
    refuse_paths,
)

if TYPE_CHECKING:
    from skycell.orbit.constellation import Constellation
    from skycell.orbit.fstate import ListedRoutes
    from skycell.orbit.ground import Ground
    from skycell.orbit.places import Place
    from skycell.orbit.routes import Routes

_GROUND: Path = ("topology", "ground")
_BETWEEN: Path = ("topology", "inter_satellite")
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
    _check_ports(topology, faults)
    _refuse_tables(file, topology, faults)
    sky, ground = _sky_and_ground(topology, folder, faults)
    _refuse_routing(topology, ground, faults)
    faults.raise_if_any()
    assert sky is not None
    plan = Plan()
    forwards: NodeKind = "router" if carries_packets(topology.ground.framing) else "switch"
    plan.nodes.update(dict.fromkeys(sky.satellites, forwards))
    plan.nodes.update((place.name, "host") for place in ground.stations)
    plan.nodes.update((place.name, forwards) for place in (*ground.relays, *ground.gateways))
    plan.nodes.update((place.name, "host") for place in ground.hosts[len(ground.stations) :])
    tables = read_tables(file, ground.stations, ground.hosts, folder, faults)
    faults.raise_if_any()
    numbers = {place.name: number for number, place in enumerate(ground.hosts)}
    users = pairs_of(file, tables, numbers)
    pairs = tuple((numbers[a], numbers[b]) for a, b in users)
    step_ps = rounded(topology.step.every.amount)
    changes = topology.step.changes
    others = [place.name for place in (*ground.relays, *ground.gateways)]
    asked = _Asked(
        places=ground.places,
        pairs=tuple(dict.fromkeys((*pairs, *((b, a) for a, b in pairs)))),
        duration_ps=0 if topology.frozen else rounded(file.run.duration.amount),
        step_ps=step_ps,
        start_ps=rounded(topology.start.amount),
        by=topology.routing.by,
        per_station=topology.ground.satellite_port == "per_station",
        outages=outage_rows(
            topology,
            sky.satellites,
            [place.name for place in ground.stations],
            others + [place.name for place in ground.hosts[len(ground.stations) :]],
            (rounded(file.run.duration.amount), step_ps),
            seed,
            faults,
        ),
        ground=ground.nature,
        paths=topology.routing.paths,
        detour_ppm=round((topology.routing.detour or 0) * 10**6),
        precision_ps=None if changes is None else rounded(changes.amount),
        interruption_ps=rounded(topology.handover.interruption.amount),
    )
    _refuse_beside_outages(topology, faults)
    _check_handover(topology, faults)
    faults.raise_if_any()
    found = _routes(topology, sky, asked, folder, faults)
    _add_kinds(plan, topology, sky, ground, faults)
    plan.sky = _planned_sky(topology, ground, found)
    if topology.routing.paths == 1:
        for a, b in users:
            for ends in ((a, b), (b, a)):
                add_way(plan, *ends)
    for table in tables:
        add_demand(plan, table, file.start)
    faults.raise_if_any()
    return plan


#: Tables that a network of nodes that forward by label does not have.
_NOT_THERE = {
    "calls": "connections of cells",
    "gfr": "VCs of cells",
    "abr": "VCs of cells",
    "vs_vd": "switches of cells",
    "uplink": "slots of cells",
    "classifier": "VCs between routers",
    "pep": "routers on the path of a connection, and the paths here change",
    "processing": "nodes of a graph; a constellation has satellite_delay and frame_delay",
}


#: Tables of VCs of cells, whatever the way in which nodes send these on.
_OF_CELLS = ("policer", "resequencer")


def _refuse_tables(
    file: ScenarioFile, topology: ConstellationNetwork, faults: FaultCollector
) -> None:
    if carries_packets(topology.ground.framing):
        for key in (key for key in _OF_CELLS if getattr(file, key)):
            allowed = f"nothing: [[{key}]] is for VCs of cells, and ground carries packets"
            faults.add((key, 0), Verbatim("a table"), allowed)
    for key, belongs in _NOT_THERE.items():
        if getattr(file, key):
            allowed = f"nothing: over a constellation there are no {belongs}"
            if key in ("pep", "processing"):
                allowed = f"nothing: [[{key}]] is for {belongs}"
            faults.add((key, 0), Verbatim("a table"), allowed)


def _check_ports(topology: ConstellationNetwork, faults: FaultCollector) -> None:
    """Notes links of cells beside links of packets, and what no port over a constellation has."""
    units = "packets" if carries_packets(topology.ground.framing) else "cells"
    ports = (
        (_BETWEEN, topology.inter_satellite),
        (_GROUND, topology.ground),
        (GATEWAYS, topology.gateways),
    )
    for path, port in ports:
        if port is not None and port.rate_algorithm is not None:
            allowed = "nothing: no VC over a constellation is of class abr"
            faults.add((*path, "rate_algorithm"), port.rate_algorithm.kind, allowed)
        if port is not None and carries_packets(port.framing) is not (units == "packets"):
            allowed = f"a framing of {units}, as ground has: all nodes forward the same"
            faults.add((*path, "framing"), port.framing.kind, allowed)


def _sky_and_ground(
    topology: ConstellationNetwork, folder: FilePath, faults: FaultCollector
) -> tuple[Constellation | None, SkyGround]:
    from skycell.orbit.motion import constellation_of

    try:
        sky = constellation_of(topology.constellation, folder)
    except ScenarioFaults as found:
        take_over(found, ("topology", "constellation"), faults)
        return None, SkyGround()
    if topology.bent_pipe:
        sky = sky.bent_pipe()
    return sky, read_ground(topology, sky, folder, faults)


def _refuse_routing(
    topology: ConstellationNetwork, ground: SkyGround, faults: FaultCollector
) -> None:
    """Notes what has no effect, or does not go, with the way in which routes are found."""
    refuse_paths(topology, ground.hosts, faults)
    routing, changes = topology.routing, topology.step.changes
    own = next(
        (key for key in ("fstate", "file", "python") if getattr(routing, key) is not None), None
    )
    if own is not None and ground.stations_relay:
        allowed = f"nothing with {own}: routes of your own say which nodes forward"
        faults.add(("topology", "stations_relay"), True, allowed)
    if own in ("fstate", "file") and len(ground.places) > len(ground.stations):
        allowed = "routes that are computed, or of python: files name satellites and stations alone"
        faults.add(("topology", "routing", own), str(getattr(routing, own)), allowed)
    if changes is not None:
        here: Path = ("topology", "step", "changes")
        if topology.frozen:
            faults.add(here, changes.text, "nothing with frozen = true: routes never change")
        elif own is not None:
            allowed = f"nothing with {own}: routes of your own change when they say so"
            faults.add(here, changes.text, allowed)
        elif changes.amount >= topology.step.every.amount:
            allowed = f"a time below every, {topology.step.every.text}"
            faults.add(here, changes.text, allowed)


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
    ground: Ground
    paths: int
    detour_ppm: int
    precision_ps: int | None
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
        got = Verbatim(f'"{topology.step.every}", which is {show_amount(epochs)} steps')
        least = show_time(-(-asked.duration_ps // _MOST_EPOCHS))
        faults.add(
            ("topology", "step"), got, f"from {least}, for up to {show_amount(_MOST_EPOCHS)}"
        )
        faults.raise_if_any()
    listed = _listed_routes(topology, sky, asked, epochs, folder, faults)
    try:
        found = _computed(Key(sky), asked) if listed is None else _of(sky, asked, listed)
    except ScenarioFaults as refused:
        take_over(refused, ("topology", "routing"), faults)
        faults.raise_if_any()
        raise
    except ValueError as error:
        allowed = f"fewer steps, nodes or stations; {error}"
        faults.add(("topology", "step"), topology.step.every.text, allowed)
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
    if ground.no_route == "waits" and ground.waiting not in (None, "rerouted", "turned"):
        allowed = (
            "rerouted, turned, or the key left out: no_route = waits holds what takes a later route"
        )
        faults.add((*_GROUND, "waiting"), str(ground.waiting), allowed)
    here: Path = ("topology", "handover", "interruption")
    if topology.frozen and interruption.amount:
        faults.add(here, interruption.text, "0 s with frozen = true: no station turns then")
    elif topology.step.changes is not None and interruption.amount:
        allowed = (
            "0 s with looks at changes: a link that carries nothing yet is no change of a path"
        )
        faults.add(here, interruption.text, allowed)


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
                folder / file,
                function,
                sky,
                asked.places,
                times,
                routing.options,
                ground=asked.ground,
            )
    except ScenarioFaults as refused:
        take_over(refused, here, faults)
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
        ground=asked.ground,
        paths=asked.paths,
        detour_ppm=asked.detour_ppm,
        precision_ps=asked.precision_ps,
        interruption_ps=asked.interruption_ps,
    )


def _add_kinds(
    plan: Plan,
    topology: ConstellationNetwork,
    sky: Constellation,
    nodes: SkyGround,
    faults: FaultCollector,
) -> None:
    """Adds a link for each kind of links."""
    satellite, station = sky.satellites[0], nodes.stations[0].name
    other = sky.satellites[-1]
    ground, between = topology.ground, topology.inter_satellite
    if between is not None and topology.bent_pipe:
        allowed = "false, or no inter_satellite: a bent pipe has no links between satellites"
        faults.add(("topology", "bent_pipe"), True, allowed)
    elif between is not None:
        plan.add_link(_kind(BETWEEN, satellite, other, between, _BETWEEN))
    elif sky.links_satellites:
        allowed = (
            "a table with rate, framing and buffer: the constellation has such links; or bent_pipe "
            "= true"
        )
        faults.add(_BETWEEN, NOTHING, allowed)
    plan.add_link(_kind(UP, station, satellite, ground, _GROUND))
    plan.add_link(_kind(DOWN, satellite, station, ground, _GROUND))
    if topology.gateways is not None and nodes.point is not None:
        gateway = nodes.gateways[0].name
        own = _kind(TERRESTRIAL, nodes.point.name, gateway, topology.gateways, GATEWAYS)
        plan.add_link(own)


@cache
def _plain() -> AnyLink:
    return AnyLink.model_validate({"rate": "1 Mbit/s", "framing": "ip", "delay": "0 s"})


def _kind(name: str, source: str, target: str, port: SkyPort, path: Path) -> PlannedLink:
    keys = _plain().model_copy(
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
        jitter=getattr(port, "frame_jitter", None) if name != DOWN else None,
        ack_filter=port.ack_filter,
        kind=name,
    )


def _planned_sky(topology: ConstellationNetwork, ground: SkyGround, found: Routes) -> PlannedSky:
    greatest: dict[tuple[int, int], int] = {}
    for number, pair in enumerate(found.pairs):
        delays = [delay for delay in found.delays_ps(number) if delay is not None]
        greatest[pair] = max([*delays, greatest.get(pair, 0)])
    rtts = [delay + greatest.get((b, a), 0) for (a, b), delay in greatest.items()]
    hops = [len(span.nodes) - 1 for span in found.spans if span.first_epoch == 0]
    own = topology.ground.waiting
    between = topology.inter_satellite
    waiting = {UP: own or "rerouted", DOWN: own or "sent"}
    if between is not None:
        waiting[BETWEEN] = between.waiting
    if topology.gateways is not None:
        waiting[TERRESTRIAL] = topology.gateways.waiting
    notes = [*found.validity.notes, *note_on_paths(found)]
    if found.unlinked:
        notes.append(f"No satellite is in reach of {', '.join(found.unlinked)} at any step.")
    return PlannedSky(
        columns=found.digest,
        stations=tuple(place.name for place in ground.hosts),
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
        paths=topology.routing.paths,
        point="" if ground.point is None else ground.point.name,
    )
