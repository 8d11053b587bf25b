"""What follows from the scenario of a run over a constellation: where its nodes are, and its paths.

A spec has no positions, and no path of a pair: an engine needs next hops and delays only.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_SECOND, rounded
from skycell.records.sky import DELAYS, PATHS, POSITIONS, seconds_of
from skycell.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from skycell.orbit.routes import Routes

_EARTH_KM = 6378.137
"""Equatorial radius (WGS84), and that of a sphere."""
_FLATTENING = 1 / 298.257223563
"""Of the ellipsoid (WGS84)."""
_ROUNDS = 8
"""Approximations of a latitude; each has an error of less than 1/100 of the one before."""


def sky_tables(scenario: Scenario) -> dict[str, pl.DataFrame]:
    """The tables of a run by name; none without a constellation that carries packets.

    `sky_positions`: `second` (since the start of the run), `node`, `latitude_deg`,
    `longitude_deg`, and `height_km` above the constellation's earth, which is a sphere or WGS84. A
    satellite that is left out has no row.

    `sky_paths`: `pair` (from>to, and of several paths with its number), `start_ps`, `end_ps`,
    `hops`, `delay_ps` at its first step and `last_delay_ps` at its last, `path` (names of the
    nodes), and `missing`, why a packet does not arrive. Delays are null if a packet does not
    arrive, and `missing` is empty if it does.

    `sky_delays`: `pair`, `second`, `delay_ps` of the path in force; null without one.
    """
    sky = scenario.plan.sky
    if sky is None:
        return {}
    duration_ps = rounded(scenario.file.run.duration.amount)
    found = sky.routes
    seconds = seconds_of(duration_ps) if found.epochs > 1 else [0]
    return {
        POSITIONS: _positions(found, seconds),
        PATHS: _paths(found, duration_ps),
        DELAYS: _delays(found, seconds),
    }


def _positions(found: Routes, seconds: list[int]) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    from skycell.orbit import positions_km

    satellites = found.constellation.satellites
    places = found.ground.nodes(found.places)
    times = [found.start_ps + second * PS_PER_SECOND for second in seconds]
    is_sphere = found.constellation.file.earth.shape == "sphere"
    latitude, longitude, height = _geodetic(positions_km(found.constellation, times), is_sphere)
    moving = pl.DataFrame(
        {
            "second": np.repeat(np.array(seconds, dtype=np.uint32), len(satellites)),
            "node": list(satellites) * len(seconds),
            "latitude_deg": latitude.ravel(),
            "longitude_deg": longitude.ravel(),
            "height_km": height.ravel(),
        }
    ).filter(pl.col("height_km").is_not_nan())
    resting = pl.DataFrame(
        {
            "second": np.repeat(np.array(seconds, dtype=np.uint32), len(places)),
            "node": [place.name for place in places] * len(seconds),
            "latitude_deg": [float(place.latitude_deg) for place in places] * len(seconds),
            "longitude_deg": [float(place.longitude_deg) for place in places] * len(seconds),
            "height_km": [float(place.height_km) for place in places] * len(seconds),
        },
        schema=moving.schema,
    )
    return pl.concat([moving, resting]).sort("second", maintain_order=True)


def _geodetic(
    at_km: NDArray[np.float64], is_sphere: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Latitude and longitude in degrees and height in km of earth-fixed vectors.

    The latitude is that at which tan latitude = (z + e^2 N sin latitude) / p, with N the radius of
    curvature in the prime vertical and p the distance from the axis; it is found by repetition.
    """
    import numpy as np

    x, y, z = at_km[..., 0], at_km[..., 1], at_km[..., 2]
    flattening = 0.0 if is_sphere else _FLATTENING
    squared = flattening * (2 - flattening)
    from_axis = np.hypot(x, y)
    latitude = np.arctan2(z, from_axis)
    for _ in range(_ROUNDS):
        sine = np.sin(latitude)
        curvature = _EARTH_KM / np.sqrt(1 - squared * sine * sine)
        latitude = np.arctan2(z + squared * curvature * sine, from_axis)
    sine = np.sin(latitude)
    height = from_axis * np.cos(latitude) + z * sine
    height -= _EARTH_KM * np.sqrt(1 - squared * sine * sine)
    return np.degrees(latitude), np.degrees(np.arctan2(y, x)), height


def _paths(found: Routes, duration_ps: int) -> pl.DataFrame:
    import polars as pl

    delays = [found.delays_ps(pair) for pair in range(len(found.pairs))]
    rows = []
    for span in found.spans:
        last = span.first_epoch + span.epochs
        start_ps = found.at_ps(span.first_epoch) - found.start_ps
        if start_ps >= duration_ps:  # a look at the end of the run, after which nothing is sent
            continue
        own = delays[span.pair]
        rows.append(
            (
                found.way(span.pair),
                start_ps,
                duration_ps
                if last == found.epochs
                else min(found.at_ps(last) - found.start_ps, duration_ps),
                len(span.nodes) - 1,
                own[span.first_epoch],
                own[last - 1],
                list(span.nodes),
                span.missing,
            )
        )
    schema: dict[str, Any] = {
        "pair": pl.String,
        "start_ps": pl.UInt64,
        "end_ps": pl.UInt64,
        "hops": pl.UInt32,
        "delay_ps": pl.UInt64,
        "last_delay_ps": pl.UInt64,
        "path": pl.List(pl.String),
        "missing": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _delays(found: Routes, seconds: list[int]) -> pl.DataFrame:
    import polars as pl

    times = [found.start_ps + second * PS_PER_SECOND for second in seconds]
    epochs = [bisect_right(found.epoch_ps, at_ps) - 1 for at_ps in times]
    names, delays = [], []
    for pair in range(len(found.pairs)):
        own = found.delays_ps(pair)
        names += [found.way(pair)] * len(seconds)
        delays += [own[epoch] for epoch in epochs]
    return pl.DataFrame(
        {"pair": names, "second": seconds * len(found.pairs), "delay_ps": delays},
        schema={"pair": pl.String, "second": pl.UInt32, "delay_ps": pl.UInt64},
    )
