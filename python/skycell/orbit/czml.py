"""Constellations as CZML, which Cesium shows on a globe with a time line.

Form: the CZML Guide of AnalyticalGraphicsInc/czml-writer, https://github.com/AnalyticalGraphicsInc/czml-writer/wiki.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skycell.orbit.constellation import Constellation
from skycell.orbit.geometry import positions_km
from skycell.orbit.places import Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_EPOCH = datetime(2000, 1, 1, 12, tzinfo=UTC)
"""Time 0 of a constellation without `earth.epoch`: CZML knows dates only."""
_DEGREE = 5
"""Of the interpolation between the moments; a circle's error is below 1 m at steps of 60 s."""
_SATELLITE, _PLACE, _PATH = ([240, 228, 66, 255], [230, 159, 0, 255], [86, 180, 233, 255])


def czml(
    constellation: Constellation,
    places: Sequence[Place] = (),
    pairs: Sequence[tuple[int, int]] = (),
    *,
    start_ps: int = 0,
    step_ps: int,
    steps: int,
) -> list[dict[str, Any]]:
    """Packets of a CZML document: satellites that move, places, and the paths of pairs.

    Positions are earth-fixed. A path is drawn from each of its steps to the next.

    Args:
        constellation: the satellites.
        places: on the ground.
        pairs: source and destination of the paths, as numbers of places.
        start_ps: the first moment, since time 0.
        step_ps: from one moment to the next, above 0.
        steps: moments, one or more.

    Raises:
        ScenarioFaults: a place can see no satellite at any time, a moment is too far from the
            elements' epochs, or every satellite has decayed.
    """
    epoch_ns = constellation.file.earth.epoch
    epoch = NO_EPOCH
    if epoch_ns is not None:
        epoch = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=epoch_ns // 1000)
    times_ps = [start_ps + step * step_ps for step in range(steps)]
    at = positions_km(constellation, times_ps)
    whole = f"{_date(epoch, start_ps)}/{_date(epoch, start_ps + steps * step_ps)}"
    packets: list[dict[str, Any]] = [
        {
            "id": "document",
            "name": constellation.title,
            "version": "1.0",
            "clock": {
                "interval": whole,
                "currentTime": _date(epoch, start_ps),
                "multiplier": 10,
                "range": "LOOP_STOP",
            },
        }
    ]
    names = constellation.satellites
    packets += [
        packet
        for number, name in enumerate(names)
        if (packet := _satellite(name, at[:, number], times_ps, epoch, whole)) is not None
    ]
    packets += [_place(place) for place in places]
    if pairs:
        packets += _paths(constellation, places, pairs, times_ps, step_ps, epoch)
    return packets


def _satellite(
    name: str,
    at_km: NDArray[np.float64],
    times_ps: Sequence[int],
    epoch: datetime,
    whole: str,
) -> dict[str, Any] | None:
    """None where the satellite is left out at every moment."""
    import numpy as np

    there = ~np.isnan(at_km[:, 0])
    if not there.any():
        return None
    first_ps = times_ps[0]
    cartesian: list[float] = []
    for time_ps, point, is_there in zip(times_ps, at_km * 1000, there, strict=True):
        if is_there:
            cartesian += [(time_ps - first_ps) / 1e12, *(round(float(x), 1) for x in point)]
    position: dict[str, Any] = {"referenceFrame": "FIXED"}
    if len(times_ps) == 1:
        position["cartesian"] = cartesian[1:]
    else:
        position |= {
            "epoch": _date(epoch, first_ps),
            "interpolationAlgorithm": "LAGRANGE",
            "interpolationDegree": min(_DEGREE, len(cartesian) // 4 - 1) or 1,
            "forwardExtrapolationType": "HOLD",
            "cartesian": cartesian,
        }
    return {
        "id": f"satellite/{name}",
        "name": name,
        "availability": whole,
        "position": position,
        "point": {"pixelSize": 4, "color": {"rgba": _SATELLITE}},
    }


def _place(place: Place) -> dict[str, Any]:
    degrees = [place.longitude_deg, place.latitude_deg, place.height_km * 1000]
    return {
        "id": f"place/{place.name}",
        "name": place.name,
        "position": {"cartographicDegrees": degrees},
        "point": {"pixelSize": 8, "color": {"rgba": _PLACE}},
        "label": {
            "text": place.name,
            "font": "14px sans-serif",
            "horizontalOrigin": "LEFT",
            "pixelOffset": {"cartesian2": [10, 0]},
        },
    }


def _paths(
    constellation: Constellation,
    places: Sequence[Place],
    pairs: Sequence[tuple[int, int]],
    times_ps: Sequence[int],
    step_ps: int,
    epoch: datetime,
) -> Iterator[dict[str, Any]]:
    """A line a pair and path that it takes; shown at the steps at which it is taken."""
    from skycell.orbit.over_time import series

    duration_ps = times_ps[-1] - times_ps[0]
    found = series(
        constellation,
        places,
        pairs,
        start_ps=times_ps[0],
        step_ps=step_ps,
        duration_ps=duration_ps,
    )
    for pair in range(len(pairs)):
        source, target = found.ends(pair)
        shown: dict[tuple[str, ...], list[str]] = {}
        for part in found.intervals:
            if part.pair == pair and part.satellites:
                first_ps = times_ps[0] + part.first_step * step_ps
                ends = (_date(epoch, first_ps + n * step_ps) for n in (0, part.steps))
                shown.setdefault(part.satellites, []).append("/".join(ends))
        for number, (satellites, intervals) in enumerate(shown.items(), start=1):
            along = [f"place/{source}", *(f"satellite/{s}" for s in satellites), f"place/{target}"]
            yield {
                "id": f"path/{source}/{target}/{number}",
                "name": f"{source} to {target}: {' '.join(satellites)}",
                "polyline": {
                    "positions": {"references": [f"{name}#position" for name in along]},
                    "show": [{"interval": each, "boolean": True} for each in intervals],
                    "arcType": "NONE",
                    "width": 2,
                    "material": {"solidColor": {"color": {"rgba": _PATH}}},
                },
            }


def _date(epoch: datetime, at_ps: int) -> str:
    moment = epoch + timedelta(microseconds=at_ps // 10**6)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
