"""How far a satellite is, and how high it stands: from a slot, a constellation or an orbit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skycell.input.faults import NOTHING, FaultCollector, ScenarioFaults, Verbatim, did_you_mean
from skycell.input.quantities import PS_PER_SECOND, rounded
from skycell.link.antenna import LIGHT_M_PER_S
from skycell.link.file import CarrierFile, Hop, SatelliteTable
from skycell.orbit import (
    Constellation,
    Place,
    as_constellation,
    constellations,
    find_places,
    sights,
)
from skycell.orbit.checks import EQUATORIAL_RADIUS_KM


@dataclass(frozen=True)
class Geometry:
    """A hop's path.

    Attributes:
        range_km: between earth station and satellite.
        elevation_deg: of the satellite; None if the file has only a range.
        range_source: what gives the range.
        elevation_source: what gives the elevation.
        place: of the earth station; None if the file has none.
    """

    range_km: float
    elevation_deg: float | None
    range_source: str
    elevation_source: str
    place: Place | None


def free_space_db(range_km: float, frequency_ghz: float) -> float:
    """Returns the loss of free space.

    >>> round(free_space_db(38_000, 14), 1)
    207.0
    """
    return 20 * math.log10(4 * math.pi * range_km * 1e3 * frequency_ghz * 1e9 / LIGHT_M_PER_S)


def slant_range_km(altitude_km: float, elevation_deg: float) -> float:
    """Returns the range of a satellite over a sphere with the equatorial radius.

    >>> round(slant_range_km(35_785.863, 30)), round(slant_range_km(450, 5))
    (38612, 1944)
    """
    elevation = math.radians(elevation_deg)
    orbit = EQUATORIAL_RADIUS_KM + altitude_km
    across = EQUATORIAL_RADIUS_KM * math.cos(elevation)
    return math.sqrt(orbit**2 - across**2) - EQUATORIAL_RADIUS_KM * math.sin(elevation)


def geometries(file: CarrierFile, folder: Path, faults: FaultCollector) -> dict[str, Geometry]:
    """Returns the path of each hop; of a hop with a fault, which is noted, none."""
    satellite = file.satellite or SatelliteTable()
    keys = ("longitude", "constellation", "altitude")
    said = [key for key in keys if getattr(satellite, key) is not None]
    if len(said) > 1:
        faults.add(("satellite", said[1]), Verbatim(" and ".join(said)), "one of them")
        return {}
    if file.satellite is not None and not said:
        faults.add(("satellite",), NOTHING, f"one of {', '.join(keys)}", "where the satellite is")
        return {}
    sky = _sky(satellite, folder, faults)
    own = () if sky is None else sky.own_places
    places = {name: _place(name, hop, own, faults) for name, hop in file.hops.items()}
    if said in ([], ["altitude"]):
        orbit = satellite.altitude
        altitude = None if orbit is None else float(orbit.amount)
        return _as_written(file.hops, places, altitude, faults)
    for name, hop in file.hops.items():
        for key in ("elevation", "range"):
            if getattr(hop, key) is not None:
                allowed = f"nothing: satellite.{said[0]} and place give it"
                faults.add((name, key), str(getattr(hop, key)), allowed)
        if hop.place is None:
            allowed = f'a place, such as "london" or "51.5,-0.14", beside satellite.{said[0]}'
            faults.add((name, "place"), NOTHING, allowed)
    known = {name: place for name, place in places.items() if place is not None}
    if sky is None or len(known) < len(file.hops):
        return {}
    return _seen(sky, satellite, known, said[0], faults)


def _sky(satellite: SatelliteTable, folder: Path, faults: FaultCollector) -> Constellation | None:
    """Returns the constellation with the satellite, of one slot or named."""
    if satellite.longitude is not None:
        slot = str(satellite.longitude)
        return as_constellation({"pattern": {"kind": "slots", "longitudes": [slot]}})
    name = satellite.constellation
    if name is None:
        return None
    if name in constellations():
        return as_constellation(name)
    try:
        return as_constellation(folder / name)
    except OSError as error:
        presets = ", ".join(constellations())
        allowed = f"{presets}, or a file that can be read; {error.strerror or error}"
        allowed += did_you_mean(name, constellations())
        faults.add(("satellite", "constellation"), name, allowed)
    except ScenarioFaults as found:
        faults.faults += found.faults
    return None


def _place(name: str, hop: Hop, own: tuple[Place, ...], faults: FaultCollector) -> Place | None:
    if hop.place is None:
        return None
    try:
        return find_places([hop.place], own)[0]
    except ScenarioFaults as found:
        for fault in found.faults:
            faults.add((name, "place"), hop.place, fault.allowed)
    return None


def _as_written(
    hops: Mapping[str, Hop],
    places: Mapping[str, Place | None],
    altitude_km: float | None,
    faults: FaultCollector,
) -> dict[str, Geometry]:
    """Returns the paths of hops that say elevation or range themselves."""
    found = {}
    for name, hop in hops.items():
        elevation = None if hop.elevation is None else float(hop.elevation.amount)
        stated = f"{name}.elevation"
        if altitude_km is None:
            if hop.range is None:
                allowed = 'a distance, such as "38612 km", or [satellite] with where it is'
                faults.add((name, "range"), NOTHING, allowed)
                continue
            far, source = float(hop.range.amount), f"{name}.range"
        else:
            if hop.range is not None:
                allowed = "nothing: satellite.altitude and elevation give it"
                faults.add((name, "range"), str(hop.range), allowed)
            if elevation is None:
                allowed = 'an angle, such as "30 deg", beside satellite.altitude'
                faults.add((name, "elevation"), NOTHING, allowed)
                continue
            far = slant_range_km(altitude_km, elevation)
            source = "√(R² − (re cos el)²) − re sin el"
        found[name] = Geometry(far, elevation, source, stated, places[name])
    return found


def _seen(
    sky: Constellation,
    satellite: SatelliteTable,
    places: Mapping[str, Place],
    key: str,
    faults: FaultCollector,
) -> dict[str, Geometry]:
    """Returns the paths of hops between places and a satellite of a constellation."""
    names = sky.satellites
    if satellite.name is not None:
        if satellite.name not in names:
            allowed = f"a satellite of {sky.title}, such as {names[0]}"
            allowed += did_you_mean(satellite.name, names)
            faults.add(("satellite", "name"), satellite.name, allowed)
            return {}
        names = (satellite.name,)
    try:
        angles = sights(sky, list(places.values()), names, [rounded(satellite.at.amount)]).angles[0]
    except ScenarioFaults as found:
        faults.faults += found.faults
        return {}
    lowest = angles[:, :, 1].min(axis=0).tolist()
    # NaN, of a satellite that is left out, is above nothing.
    best = max(range(len(names)), key=lambda i: (lowest[i] == lowest[i], lowest[i]))
    found_paths = {}
    for row, (name, place) in enumerate(places.items()):
        _, elevation, far = (float(value) for value in angles[row, best])
        source = f"satellite.{key} and {name}.place"
        if key == "constellation":
            at_s = float(satellite.at.amount) / PS_PER_SECOND
            source = f"satellite {names[best]} at {at_s:g} s and {name}.place"
        if not elevation >= 0:
            got = Verbatim(f"{place.name}, where the satellite stands at {elevation:.1f} deg")
            allowed = "a place that has the satellite above the horizon"
            faults.add((name, "place"), got, allowed)
            continue
        found_paths[name] = Geometry(far, elevation, source, source, place)
    return found_paths
