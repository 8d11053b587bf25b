"""A constellation put into a plan: its nodes, its kinds of links, and the flows of its traffic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from skycell.input.faults import (
    NOTHING,
    FaultCollector,
    Path,
    ScenarioFaults,
    Verbatim,
    did_you_mean,
)
from skycell.input.quantities import (
    Dimension,
    Quantity,
    parse_quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.file.constellation import ConstellationNetwork, SkyPort
from skycell.scenario.file.demand import (
    CbrDemand,
    Connections,
    Demand,
    FileDemand,
    Gravity,
    Listed,
    Paced,
    Pairs,
    Permutation,
    ReciprocalPermutation,
    To,
)
from skycell.scenario.file.scenario_file import ScenarioFile
from skycell.scenario.file.sources import CbrSource, VbrSource
from skycell.scenario.file.topology import MOST_FLOWS
from skycell.scenario.file.traffic import Start, Together
from skycell.scenario.links.framing import carries_packets
from skycell.scenario.links.keys import AnyLink
from skycell.scenario.plan.plan import Plan, PlannedLink, PlannedSky, PlannedVc
from skycell.scenario.plan.sky_outages import Row, outage_rows

if TYPE_CHECKING:
    from skycell.orbit.constellation import Constellation
    from skycell.orbit.fstate import ListedRoutes
    from skycell.orbit.pairs import Demand as ListedDemand
    from skycell.orbit.places import Place
    from skycell.orbit.routes import Routes

BETWEEN, UP, DOWN = "inter_satellite", "up", "down"
"""Kinds of ports, in the order of their numbers in the columns."""

_GROUND: Path = ("topology", "ground")
_BETWEEN: Path = ("topology", "inter_satellite")
_PLAIN = AnyLink.model_validate({"rate": "1 Mbit/s", "framing": "ip", "delay": "0 s"})
_PLAIN_CBR = CbrSource.model_validate({"kind": "cbr", "name": "plain", "rate": 1})
_PLAIN_VBR = VbrSource.model_validate(
    {"kind": "vbr", "name": "plain", "peak_rate": 1, "on": "1 s", "off": "1 s"}
)
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
    plan.nodes.update(dict.fromkeys(sky.satellites, "router"))
    for place in places:
        if place.name in plan.nodes:
            allowed = "a name that no satellite and no other station has"
            faults.add(("topology", "stations"), place.name, allowed)
        plan.nodes[place.name] = "host"
    tables = _demands(file, places, folder, faults)
    faults.raise_if_any()
    numbers = {place.name: number for number, place in enumerate(places)}
    users = _users(file, tables, numbers)
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
    )
    _refuse_beside_outages(topology, faults)
    faults.raise_if_any()
    found = _routes(topology, sky, asked, folder, faults)
    _add_kinds(plan, topology, sky, places, faults)
    plan.sky = _planned_sky(topology, places, found)
    for a, b in users:
        for ends in ((a, b), (b, a)):
            add_way(plan, *ends)
    for table in tables:
        _add_demand(plan, table, file.start)
    faults.raise_if_any()
    return plan


def add_way(plan: Plan, source: str, target: str) -> str:
    """Adds the VC by label from a station to another one, if there is none; returns its name."""
    name = f"{source}>{target}"
    if name not in plan.vcs:
        kinds = tuple(kind for kind in (UP, BETWEEN, DOWN) if kind in plan.links)
        plan.vcs[name] = PlannedVc(name, kinds, by_label=(source, target))
    return name


def names_of(pair: tuple[str, str], count: int, taken: Iterable[str]) -> list[str]:
    """Names of so many users of a pair: from>to, and behind the first one from>to#2 and so on.

    >>> names_of(("a", "b"), 2, ["a>b", "c>d"])
    ['a>b#2', 'a>b#3']
    """
    first = f"{pair[0]}>{pair[1]}"
    known, number = set(taken), 1
    found: list[str] = []
    while len(found) < count:
        name = first if number == 1 else f"{first}#{number}"
        number += 1
        if name not in known:
            found.append(name)
    return found


def _add_demand(plan: Plan, table: _Table, start: Start) -> None:
    """Adds the flows and sources of a table of traffic; `start` is that of the file."""
    demand = table.demand
    if isinstance(demand, FileDemand):
        for pair, row in zip(table.pairs, table.rows, strict=True):
            if row.octets is not None:
                (name,) = _connect(plan, table.number, pair, 1)
                plan.listed[name] = row
            else:
                rate = Quantity(Fraction(row.bit_s or 0), Dimension.BIT_RATE, f"{row.bit_s} bit/s")
                at = Quantity(Fraction(row.start_ps), Dimension.TIME, show_time(row.start_ps))
                own = _PLAIN_CBR.model_copy(
                    update={
                        "rate": rate,
                        "packet_size": demand.packet_size,
                        "start": Together.model_construct(kind="together", at=at),
                    }
                )
                _add_sources(plan, table.number, own, [pair], 1)
    elif isinstance(demand, Connections):
        for pair in table.pairs:
            _connect(plan, table.number, pair, demand.count)
    else:
        _add_sources(plan, table.number, _source_of(demand, start), table.pairs, demand.count)


def _connect(plan: Plan, table: int, pair: tuple[str, str], count: int) -> list[str]:
    """Adds connections of a pair; returns their names."""
    a, b = pair
    names = names_of(pair, count, plan.flows)
    for name in names:
        plan.add_flow(name, (f"{a}>{b}",), (f"{b}>{a}",))
        plan.demands[name] = table
    return names


def _source_of(demand: Paced, start: Start) -> CbrSource | VbrSource:
    """A source that sends as a table of traffic says."""
    own: CbrSource | VbrSource
    if isinstance(demand, CbrDemand):
        own = _PLAIN_CBR.model_copy(update={"rate": demand.rate})
    else:
        keys = ("peak_rate", "on", "off", "phase")
        own = _PLAIN_VBR.model_copy(update={key: getattr(demand, key) for key in keys})
    common = {"packet_size": demand.packet_size, "start": demand.start or start}
    return own.model_copy(update=common)


def _add_sources(
    plan: Plan,
    table: int,
    own: CbrSource | VbrSource,
    pairs: Sequence[tuple[str, str]],
    count: int,
) -> None:
    for a, b in pairs:
        for name in names_of((a, b), count, (*plan.datagrams, *plan.flows)):
            source = own.model_copy(update={"name": name, "source": a, "destination": b})
            plan.demand_sources.append((("traffic", table), source))
            plan.datagrams[name] = (f"{a}>{b}",)


def demands_of(file: ScenarioFile) -> tuple[Demand, ...]:
    """The tables of traffic of a file over a constellation."""
    return file.traffic if isinstance(file.traffic, tuple) else ()


@dataclass(frozen=True)
class _Table:
    """A table of traffic.

    Attributes:
        number: its place among the tables.
        demand: as it is written.
        pairs: names of stations, source first.
        rows: of its file, one for each pair; empty without a file.
    """

    number: int
    demand: Demand
    pairs: tuple[tuple[str, str], ...]
    rows: tuple[ListedDemand, ...] = ()

    @property
    def count(self) -> int:
        """Connections and sources of each pair."""
        return 1 if isinstance(self.demand, FileDemand) else self.demand.count


def _demands(
    file: ScenarioFile, places: Sequence[Place], folder: FilePath, faults: FaultCollector
) -> list[_Table]:
    """Every table of traffic with its pairs."""
    found = []
    users = 0
    for i, demand in enumerate(demands_of(file)):
        table = _table(i, demand, places, folder, faults)
        if table is None:
            continue
        users += len(table.pairs) * table.count
        if users > MOST_FLOWS:
            got = Verbatim(f"{show_amount(users)} connections and sources")
            allowed = f"up to {show_amount(MOST_FLOWS)} of them in all"
            faults.add(("traffic", i, "count"), got, allowed)
            break
        found.append(table)
    if not demands_of(file) and not file.source and not file.probe:
        allowed = '[[traffic]] with pairs, such as "permutation", or [[source]] or [[probe]]'
        faults.add(("traffic",), Verbatim("no list of pairs"), allowed)
    return found


def _table(
    number: int,
    demand: Demand,
    places: Sequence[Place],
    folder: FilePath,
    faults: FaultCollector,
) -> _Table | None:
    """A table of traffic with its pairs; None with a fault, which is noted."""
    from skycell.orbit.pairs import read_demands

    names = [place.name for place in places]
    key = "file" if isinstance(demand, FileDemand) else "pairs"
    here: Path = ("traffic", number, key)
    rows: tuple[ListedDemand, ...] = ()
    try:
        if isinstance(demand, FileDemand):
            rows = tuple(read_demands(folder / demand.file, places))
            numbers = [(row.source, row.target) for row in rows]
        else:
            numbers = _numbers(demand.pairs, places, here, faults)
    except ScenarioFaults as found:
        for fault in found.faults:
            if fault.file == "pairs":
                faults.add(
                    (*here, *([fault.path] if fault.path else [])),
                    Verbatim(fault.got),
                    fault.allowed,
                )
            else:
                faults.faults.append(fault)
        return None
    except OSError as error:
        assert isinstance(demand, FileDemand)
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(here, demand.file, allowed)
        return None
    return _Table(number, demand, tuple((names[a], names[b]) for a, b in numbers), rows)


def _numbers(
    pairs: Pairs, places: Sequence[Place], here: Path, faults: FaultCollector
) -> list[tuple[int, int]]:
    """The pairs that a table asks for, as numbers of places."""
    from skycell.orbit.pairs import (
        all_pairs,
        gravity,
        permutation,
        reciprocal_permutation,
        to_place,
    )

    if isinstance(pairs, Permutation):
        return permutation(places, pairs.seed)
    if isinstance(pairs, ReciprocalPermutation):
        return reciprocal_permutation(places, pairs.seed)
    if isinstance(pairs, Gravity):
        exponent = float(pairs.distance_exponent)
        return gravity(places, pairs.draws, pairs.seed, distance_exponent=exponent)
    if isinstance(pairs, To):
        return to_place(places, pairs.place)
    if isinstance(pairs, Listed):
        return _listed(pairs, [place.name for place in places], here, faults)
    return all_pairs(places)


def _listed(
    pairs: Listed, stations: Sequence[str], here: Path, faults: FaultCollector
) -> list[tuple[int, int]]:
    numbers = {name: number for number, name in enumerate(stations)}
    found = []
    for i, pair in enumerate(pairs.pair):
        unknown = [name for name in pair if name not in numbers]
        for name in unknown:
            allowed = f"stations of the topology{did_you_mean(name, stations)}"
            faults.add((*here, i), name, allowed)
        if pair[0] == pair[1]:
            faults.add((*here, i), list(pair), "two stations: nobody sends to itself")
        elif not unknown:
            found.append((numbers[pair[0]], numbers[pair[1]]))
    return found


def _users(
    file: ScenarioFile,
    tables: Sequence[_Table],
    stations: Mapping[str, int],
) -> list[tuple[str, str]]:
    """The pairs of stations that have traffic, each once."""
    of_tables = [pair for table in tables for pair in table.pairs]
    ends = [(str(one.source), str(one.destination)) for one in (*file.source, *file.probe)]
    known = [(a, b) for a, b in ends if a in stations and b in stations and a != b]
    return list(dict.fromkeys((*of_tables, *known)))


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
    for path, port in ((_BETWEEN, topology.inter_satellite), (_GROUND, topology.ground)):
        if port is not None and not carries_packets(port.framing):
            allowed = "a framing of packets: the nodes of a constellation forward packets"
            faults.add((*path, "framing"), port.framing.kind, allowed)


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
        hop_limit=topology.hop_limit,
        loses_in_flight=topology.handover.in_flight == "lost",
        rtt_ps=max(rtts, default=0),
        epochs=found.epochs,
        links=found.links,
        hops=sum(hops) / len(hops) if hops else 0.0,
        routes=found,
        notes=tuple(notes),
    )
