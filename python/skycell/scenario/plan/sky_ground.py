"""Nodes of a constellation on the ground: stations, relays, gateways and what is behind these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from skycell.input.faults import FaultCollector, Path, ScenarioFaults, Verbatim
from skycell.input.quantities import PS_PER_KM, rounded
from skycell.scenario.file.constellation import ConstellationNetwork, Gateways
from skycell.scenario.links.keys import delay_of

if TYPE_CHECKING:
    from skycell.orbit.constellation import Constellation
    from skycell.orbit.ground import Ground
    from skycell.orbit.places import Place

_STATIONS: Path = ("topology", "stations")
_RELAYS: Path = ("topology", "relays")
GATEWAYS: Path = ("topology", "gateways")


@dataclass(frozen=True)
class SkyGround:
    """Nodes on the ground.

    Attributes:
        stations: places with hosts.
        relays: places that forward.
        gateways: places that forward, with a link to the point each.
        point: the place behind the gateways, a host; None without gateways.
        terrestrial_ps: delay of each gateway's link.
        stations_relay: whether stations forward too.
    """

    stations: tuple[Place, ...] = ()
    relays: tuple[Place, ...] = ()
    gateways: tuple[Place, ...] = ()
    point: Place | None = None
    terrestrial_ps: tuple[int, ...] = ()
    stations_relay: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that use satellites, in the order of their nodes."""
        return (*self.stations, *self.relays, *self.gateways)

    @property
    def hosts(self) -> tuple[Place, ...]:
        """The places that send and receive: stations, and the point as the last one."""
        return (*self.stations, *(() if self.point is None else (self.point,)))

    @property
    def nature(self) -> Ground:
        """What the places are, for the routes."""
        from skycell.orbit.ground import Ground

        first = len(self.stations) + len(self.relays)
        terrestrial = tuple((first + i, delay) for i, delay in enumerate(self.terrestrial_ps))
        return Ground(len(self.stations), self.stations_relay, self.point, terrestrial)


def read_ground(
    topology: ConstellationNetwork,
    sky: Constellation,
    folder: FilePath,
    faults: FaultCollector,
) -> SkyGround:
    """The nodes on the ground; what is wrong with them is noted in `faults`."""
    stations = _read(topology.stations, _STATIONS, folder, sky, faults)
    if stations and len(stations) < 2 and topology.gateways is None:
        got = Verbatim(f"{len(stations)} of them")
        faults.add(_STATIONS, got, "two stations or more, or one with gateways")
    relays = _read(topology.relays, _RELAYS, folder, sky, faults) if topology.relays else ()
    gateways, point, delays = _gateways(topology.gateways, folder, sky, faults)
    found = SkyGround(stations, relays, gateways, point, delays, topology.stations_relay)
    known = set(sky.satellites)
    for own, key in ((stations, _STATIONS), (relays, _RELAYS), (gateways, (*GATEWAYS, "places"))):
        _refuse_twice(own, key, known, faults)
    if point is not None:
        _refuse_twice((point,), (*GATEWAYS, "to"), known, faults)
    return found


def _refuse_twice(
    places: Sequence[Place], key: Path, known: set[str], faults: FaultCollector
) -> None:
    """Notes the first name that is another node's; adds the names to those known."""
    names = [place.name for place in places]
    what = "station" if key == _STATIONS else "node"
    of_others = next((name for name in names if name in known), None)
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        faults.add(key, twice, f"each {what} once")
    elif of_others is not None:
        faults.add(key, of_others, f"a name that no satellite and no other {what} has")
    known.update(names)


def _gateways(
    own: Gateways | None, folder: FilePath, sky: Constellation, faults: FaultCollector
) -> tuple[tuple[Place, ...], Place | None, tuple[int, ...]]:
    """Gateways, the point behind them, and the delays of the links between; nothing without any."""
    from skycell.orbit.pairs import surface_km

    if own is None:
        return (), None, ()
    places = _read(own.places, (*GATEWAYS, "places"), folder, sky, faults)
    points = _read((own.to,), (*GATEWAYS, "to"), folder, sky, faults)
    if not points:
        return places, None, ()
    if own.delay == "distance":
        ways_km = [surface_km(place, points[0]) for place in places]
        return places, points[0], tuple(round(km * PS_PER_KM) for km in ways_km)
    assert not isinstance(own.delay, str)
    return places, points[0], (rounded(delay_of(own.delay).amount),) * len(places)


def _read(
    written: str | tuple[str, ...],
    key: Path,
    folder: FilePath,
    sky: Constellation,
    faults: FaultCollector,
) -> tuple[Place, ...]:
    """The places of a key; none with a fault, which is noted."""
    from skycell.orbit.places import PLACE_LISTS, find_places, named_places, read_places

    try:
        if isinstance(written, tuple):
            return tuple(find_places(written, sky.own_places))
        if written in PLACE_LISTS:
            return tuple(named_places(written))
        return tuple(read_places(folder / written))
    except ScenarioFaults as found:
        take_over(found, key, faults)
    except OSError as error:
        allowed = f"a built-in list, or a file that can be read; {error.strerror or error}"
        faults.add(key, written, allowed)
    return ()


def take_over(found: ScenarioFaults, here: Path, faults: FaultCollector) -> None:
    """Notes faults of other files where they are, and others at a key of this one."""
    for fault in found.faults:
        is_placed = fault.line is not None or bool(fault.path)
        if fault.file and fault.file != "places" and is_placed:
            faults.faults.append(fault)
        else:
            faults.add(here, Verbatim(fault.got), fault.allowed)
