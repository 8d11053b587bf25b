"""Places that no satellite of a constellation ever rises for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skycell.input.faults import Fault, ScenarioFaults
from skycell.orbit.checks import EQUATORIAL_RADIUS_KM
from skycell.orbit.constellation import Constellation
from skycell.orbit.file import ElementsPattern, EphemerisPattern, SlotsPattern, longitudes_deg
from skycell.orbit.places import Place

_MARGIN_DEG = 0.3
"""By which up on the ellipsoid differs from up on the sphere, 0.19 degrees, and some more."""


def coverage_deg(radius_km: float, mask_deg: float, height_km: float = 0.0) -> float:
    """Angle at the earth's centre from a satellite's foot to where it stands at the mask.

    Negative where the mask is higher than any satellite can stand. A mask below the horizon is the
    horizon, since the earth hides what is below.

    Args:
        radius_km: of the satellite's orbit.
        mask_deg: of the place.
        height_km: of the place.

    >>> round(coverage_deg(42164.0, 0.0), 1)  # the geostationary orbit sees to latitude 81
    81.3
    >>> coverage_deg(42164.0, -90.0) == coverage_deg(42164.0, 0.0)
    True
    """
    high_km = EQUATORIAL_RADIUS_KM + max(height_km, 0.0)
    mask = max(math.radians(mask_deg), -math.acos(EQUATORIAL_RADIUS_KM / high_km))
    reach = math.acos(min(1.0, high_km / radius_km * math.cos(mask)))
    return math.degrees(reach - mask)


def refuse_out_of_reach(constellation: Constellation, places: Sequence[Place]) -> None:
    """Refuses places that can see no satellite at any time.

    Satellites of a file are not judged: their orbits are no circles.

    Raises:
        ScenarioFaults: for each such place, with how far the satellites reach.
    """
    pattern = constellation.file.pattern
    if isinstance(pattern, ElementsPattern | EphemerisPattern):
        return
    faults = []
    for place in places:
        mask_deg = place.mask_deg
        if mask_deg is None:
            mask_deg = float(constellation.file.ground.mask.amount)
        if isinstance(pattern, SlotsPattern):
            away_deg, reach_deg = _from_slots(constellation, pattern, place, mask_deg)
            got = f"{away_deg:.1f} deg from the nearest slot"
        else:
            inclination_deg = float(pattern.inclination.amount)
            radius_km = EQUATORIAL_RADIUS_KM + float(pattern.altitude.amount)
            away_deg = abs(place.latitude_deg)
            reach_deg = min(inclination_deg, 180 - inclination_deg)
            reach_deg += coverage_deg(radius_km, mask_deg, place.height_km)
            got = f"latitude {place.latitude_deg:g} deg"
        if away_deg > reach_deg + _MARGIN_DEG:
            faults.append(
                Fault(
                    constellation.name,
                    place.name,
                    got,
                    f"up to {reach_deg:.1f} deg, where a satellite still rises to {mask_deg:g} deg",
                    "a place that no satellite ever rises for",
                )
            )
    if faults:
        raise ScenarioFaults(faults)


def _from_slots(
    constellation: Constellation, pattern: SlotsPattern, place: Place, mask_deg: float
) -> tuple[float, float]:

    latitude = math.radians(place.latitude_deg)
    cosines = (
        math.cos(latitude) * math.cos(math.radians(longitude - place.longitude_deg))
        for longitude in longitudes_deg(pattern)
    )
    away_deg = math.degrees(math.acos(max(-1.0, min(1.0, max(cosines)))))
    return away_deg, coverage_deg(float(pattern.radius.amount), mask_deg, place.height_km)
