"""Orbits, delays and routes against independent libraries."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skycell.orbit import (
    as_constellation,
    cities,
    find_places,
    look,
    passes,
    positions_km,
    series,
    sights,
)
from skycell.orbit.elements import read_elements
from skycell.orbit.over_time import NO_PATH_PS

ELEMENTS = Path(__file__).parent / "orbits" / "stations.tle"
EPOCH = datetime(2006, 6, 20, 0, 0, 0, tzinfo=UTC)
LIGHT_KM_S = 299_792.458
MICROSECOND_KM = LIGHT_KM_S * 1e-6


def constellation(**values: str) -> Any:
    data = {
        "pattern": {"kind": "elements", "file": str(ELEMENTS), "farthest": "2400 h"},
        "earth": {"epoch": EPOCH.isoformat(), **values},
    }
    return as_constellation(data)


@pytest.fixture(scope="module")
def sky() -> Any:
    return pytest.importorskip("skyfield.api")


def test_positions_and_delays_of_elements_agree_with_skyfield(sky: Any) -> None:
    # skyfield has its own tables of UT1; ours is told the same difference.
    time_scale = sky.load.timescale(builtin=True)
    start = time_scale.from_datetime(EPOCH)
    found = constellation(ut1_minus_utc=f"{float(start.dut1) * 1000:.6f} ms")
    sets = read_elements(ELEMENTS)
    minutes = [0, 7, 61, 500]
    ours = positions_km(found, [minute * 60 * 10**12 for minute in minutes])
    places = find_places(["new_york", "sydney"])
    lines = ELEMENTS.read_text("utf-8").splitlines()
    for number, entry in enumerate(sets):
        place = next(n for n, line in enumerate(lines) if line.strip() == entry.name)
        satellite = sky.EarthSatellite(lines[place + 1], lines[place + 2], ts=time_scale)
        for step, minute in enumerate(minutes):
            moment = time_scale.from_datetime(EPOCH + timedelta(minutes=minute))
            itrs = sky_position(satellite, moment)
            assert np.linalg.norm(ours[step, number] - itrs) < MICROSECOND_KM / 10
            for station in places:
                point = sky.wgs84.latlon(station.latitude_deg, station.longitude_deg)
                at = np.array(point.itrs_xyz.km)
                delay_us = np.linalg.norm(itrs - at) / LIGHT_KM_S * 1e6
                own_us = np.linalg.norm(ours[step, number] - ground_km(station)) / LIGHT_KM_S * 1e6
                assert abs(delay_us - own_us) < 1


def test_sights_are_those_that_skyfield_has(sky: Any) -> None:
    time_scale = sky.load.timescale(builtin=True)
    start = time_scale.from_datetime(EPOCH)
    found = constellation(ut1_minus_utc=f"{float(start.dut1) * 1000:.6f} ms")
    minutes = [0, 7, 61, 500]
    places = find_places(["new_york", "sydney"])
    times_ps = [minute * 60 * 10**12 for minute in minutes]
    ours = sights(found, places, found.satellites, times_ps).angles
    lines = ELEMENTS.read_text("utf-8").splitlines()
    for number, name in enumerate(found.satellites):
        row = next(n for n, line in enumerate(lines) if line.strip() == name)
        satellite = sky.EarthSatellite(lines[row + 1], lines[row + 2], ts=time_scale)
        for step, minute in enumerate(minutes):
            moment = time_scale.from_datetime(EPOCH + timedelta(minutes=minute))
            for place, station in enumerate(places):
                point = sky.wgs84.latlon(station.latitude_deg, station.longitude_deg)
                elevation, azimuth, distance = (satellite - point).at(moment).altaz()
                own_azimuth, own_elevation, own_km = ours[step, place, number]
                # As for passes; polar motion, below 20 m, is left out here.
                assert abs(elevation.degrees - own_elevation) < 0.01
                apart = abs((azimuth.degrees - own_azimuth + 180) % 360 - 180)
                assert apart * np.cos(elevation.radians) < 0.01
                assert abs(distance.km - own_km) < 0.01


def sky_position(satellite: Any, moment: Any) -> np.ndarray[Any, Any]:
    from skyfield.framelib import itrs

    position: np.ndarray[Any, Any] = satellite.at(moment).frame_xyz(itrs).km
    return position


#: SGP4's velocities are not quite the rates of its positions: these alone are interpolated.
#: How far ours may be from skyfield's, km, by REF_FRAME: in axes of 2000, ICRF's bias against them,
#: 0.02 arcseconds, and the terms of nutation below 0.002 arcseconds that are left out.
FRAMES = {"TEME": 3e-5, "TOD": 3e-3, "EME2000": 3e-3, "GCRF": 3e-3, "ITRF2014": 3e-5}


@pytest.mark.parametrize("frame", FRAMES)
def test_positions_of_ephemerides_agree_with_skyfield_in_every_frame(
    frame: str, sky: Any, tmp_path: Path
) -> None:
    from skyfield.framelib import itrs, true_equator_and_equinox_of_date
    from skyfield.sgp4lib import TEME

    time_scale = sky.load.timescale(builtin=True)
    lines = ELEMENTS.read_text("utf-8").splitlines()
    satellite = sky.EarthSatellite(lines[1], lines[2], ts=time_scale)
    axes = {"TEME": TEME, "TOD": true_equator_and_equinox_of_date, "ITRF2014": itrs}.get(frame)
    text = [
        "CCSDS_OEM_VERS = 2.0\nMETA_START\nOBJECT_NAME = A\nOBJECT_ID = 1962-025E",
        f"CENTER_NAME = EARTH\nREF_FRAME = {frame}\nTIME_SYSTEM = UTC",
        "INTERPOLATION = LAGRANGE\nINTERPOLATION_DEGREE = 9\nMETA_STOP",
    ]
    for minute in range(31):
        at = EPOCH + timedelta(minutes=minute)
        there = satellite.at(time_scale.from_datetime(at))
        if axes is None:
            position, velocity = there.position.km, there.velocity.km_per_s
        else:
            found_position, found_velocity = there.frame_xyz_and_velocity(axes)
            position, velocity = found_position.km, found_velocity.km_per_s
        numbers = " ".join(f"{number:.9f}" for number in (*position, *velocity))
        text.append(f"{at:%Y-%m-%dT%H:%M:%S} {numbers}")
    (tmp_path / "a.oem").write_text("\n".join(text), encoding="utf-8")
    dut1_ms = float(time_scale.from_datetime(EPOCH).dut1) * 1000
    found = as_constellation(
        {
            "pattern": {"kind": "ephemeris", "file": str(tmp_path / "a.oem")},
            "earth": {"epoch": EPOCH.isoformat(), "ut1_minus_utc": f"{dut1_ms:.6f} ms"},
        }
    )
    seconds = [0, 31, 600, 1000, 1799]
    ours = positions_km(found, [second * 10**12 for second in seconds])
    for second, position in zip(seconds, ours[:, 0], strict=True):
        moment = time_scale.from_datetime(EPOCH + timedelta(seconds=second))
        assert np.linalg.norm(position - sky_position(satellite, moment)) < FRAMES[frame]


@pytest.mark.parametrize("mask_deg", [0.0, 10.0])
def test_passes_are_those_that_skyfield_finds(mask_deg: float, sky: Any) -> None:
    time_scale = sky.load.timescale(builtin=True)
    begin = EPOCH + timedelta(days=5)
    start, end = (time_scale.from_datetime(begin + timedelta(hours=h)) for h in (0, 24))
    found = constellation(
        epoch=begin.isoformat(), ut1_minus_utc=f"{float(start.dut1) * 1000:.6f} ms"
    )
    found = found.with_values({"ground.mask": f"{mask_deg} deg"})
    places = find_places(["new_york", "sydney"])
    ours = passes(found, places, duration_ps=86_400 * 10**12).rows
    lines = ELEMENTS.read_text("utf-8").splitlines()
    compared = 0
    for place in places:
        point = sky.wgs84.latlon(place.latitude_deg, place.longitude_deg)
        for first in range(0, len(lines) - 2, 3):
            satellite = sky.EarthSatellite(lines[first + 1], lines[first + 2], ts=time_scale)
            own = [p for p in ours if (p.place, p.satellite) == (place.name, lines[first].strip())]
            mine = []
            for row in own:
                mine += [(0, row.rise)] if row.rise else []
                # At the ends of the time a pass has its highest moment there, which is no event.
                is_inside = row.top.at_ps not in (0, 86_400 * 10**12)
                mine += [(1, row.top)] if is_inside and row.rise and row.set else []
                mine += [(2, row.set)] if row.set else []
            events = sky_events(satellite, point, start, end, mask_deg)
            whole = [kind for kind, _ in events if kind != 1]
            assert [kind for kind, _ in mine if kind != 1] == whole
            theirs = {kind: [at for k, at in events if k == kind] for kind in (0, 1, 2)}
            for kind, event in mine:
                at = begin + timedelta(microseconds=event.at_ps / 1e6)
                near = min(theirs[kind], key=lambda t: abs((t - at).total_seconds()))
                # A slow satellite stands near its highest for minutes: there elevations count.
                slow = satellite.model.no_kozai < 0.02
                if not (slow and kind == 1):
                    assert abs((near - at).total_seconds()) < (5.0 if slow else 0.5), (kind, at)
                elevation, azimuth, distance = (
                    (satellite - point).at(time_scale.from_datetime(at)).altaz()
                )
                assert abs(elevation.degrees - event.elevation_deg) < 0.01
                apart = abs((azimuth.degrees - event.azimuth_deg + 180) % 360 - 180)
                assert apart * np.cos(elevation.radians) < 0.01
                assert abs(distance.km - event.range_km) < 0.1
                compared += 1
    assert compared > 30


def sky_events(
    satellite: Any, point: Any, start: Any, end: Any, mask_deg: float
) -> list[tuple[int, datetime]]:
    """Rises (0), highest moments (1) and settings (2) by skyfield."""
    times, kinds = satellite.find_events(point, start, end, altitude_degrees=mask_deg)
    return [(int(k), t.utc_datetime()) for t, k in zip(times, kinds, strict=True)]


def ground_km(place: Any) -> np.ndarray[Any, Any]:
    """Geodetic to Cartesian by the textbook, for WGS84."""
    latitude, longitude = np.radians([place.latitude_deg, place.longitude_deg])
    flattening = 1 / 298.257223563
    squared = flattening * (2 - flattening)
    normal = 6378.137 / np.sqrt(1 - squared * np.sin(latitude) ** 2)
    return np.array(
        [
            normal * np.cos(latitude) * np.cos(longitude),
            normal * np.cos(latitude) * np.sin(longitude),
            normal * (1 - squared) * np.sin(latitude),
        ]
    )


def test_the_slant_range_of_a_place_is_that_of_skyfield(sky: Any) -> None:
    time_scale = sky.load.timescale(builtin=True)
    moment = time_scale.from_datetime(EPOCH)
    found = constellation(ut1_minus_utc=f"{float(moment.dut1) * 1000:.6f} ms")
    found = found.with_values({"ground.mask": "-90 deg"})
    (station,) = find_places(["new_york"])
    sights = look(found, [station]).sights["new_york"]
    lines = ELEMENTS.read_text("utf-8").splitlines()
    point = sky.wgs84.latlon(station.latitude_deg, station.longitude_deg)
    for sight in sights:
        place = next(n for n, line in enumerate(lines) if line.strip() == sight.satellite)
        satellite = sky.EarthSatellite(lines[place + 1], lines[place + 2], ts=time_scale)
        elevation, _, distance = (satellite - point).at(moment).altaz()
        assert abs(distance.km - sight.slant_range_km) < MICROSECOND_KM
        assert abs(elevation.degrees - sight.elevation_deg) < 0.01


def test_circular_orbits_are_those_of_two_bodies(sky: Any) -> None:
    from skyfield.keplerlib import propagate

    found = as_constellation("kuiper-like")
    times_s = np.array([0.0, 60.0, 3000.0])
    fixed = positions_km(found, [int(time * 1e12) for time in times_s])
    inertial = [turned(at, 7.292115e-5 * time) for at, time in zip(fixed, times_s, strict=True)]
    # Velocity of a circular orbit: at right angles, from the plane that two moments span.
    start, soon = inertial[0], inertial[1]
    normal = np.cross(start, soon)
    ahead = np.cross(normal, start)
    radius = np.linalg.norm(start, axis=1, keepdims=True)
    speed = np.sqrt(398_600.4418 / radius)
    velocity = speed * ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    for number in range(0, len(start), 97):
        at, _ = propagate(start[number], velocity[number], 0.0, np.array([3000.0]), 398_600.4418)
        assert np.linalg.norm(at.reshape(3) - inertial[2][number]) < MICROSECOND_KM


def turned(at: np.ndarray[Any, Any], angle: float) -> np.ndarray[Any, Any]:
    """Earth-fixed points in axes that do not turn."""
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y, z = at.T
    return np.stack([cosine * x - sine * y, sine * x + cosine * y, z], axis=1)


@pytest.mark.parametrize("name", ["jsac98-12x24", "starlink-like", "iridium-like"])
def test_shortest_routes_are_those_of_scipy(name: str) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    found = as_constellation(name).with_values({"route": "shortest", "ground.access": "nearest"})
    # Within the reach of every constellation.
    places = [place for place in cities().values() if abs(place.latitude_deg) < 60][::7]
    pairs = [(a, b) for a in range(len(places)) for b in range(len(places)) if a != b]
    light = float(found.file.earth.light_speed.amount)
    for at_ps in (0, 1234 * 10**12):
        moment = look(found, places, pairs, at_ps)
        at = positions_km(found, [at_ps])[0]
        number = {name: place for place, name in enumerate(found.satellites)}
        ends = np.array([[number[a], number[b]] for a, b in moment.links])
        length = np.linalg.norm(at[ends[:, 0]] - at[ends[:, 1]], axis=1)
        delay_ps = np.round(length / light * 1e12)
        graph = coo_array((delay_ps, (ends[:, 0], ends[:, 1])), shape=(len(at), len(at)))
        used = sorted({number[name] for name in moment.used.values() if name is not None})
        least = dict(zip(used, dijkstra(graph.tocsr(), directed=False, indices=used), strict=True))
        compared = 0
        for route in moment.routes:
            if route.satellites:
                first, last = number[route.satellites[0]], number[route.satellites[-1]]
                assert sum(route.links_ps[1:-1]) == int(least[first][last])
                compared += 1
        assert compared > len(pairs) / 2


def test_a_free_choice_of_satellites_is_the_least_over_all_choices() -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    found = as_constellation("starlink-like")
    places = find_places(["new_york", "london"])
    moment = look(found, places, [(0, 1)])
    at = positions_km(found, [0])[0]
    number = {name: place for place, name in enumerate(found.satellites)}
    ends = np.array([[number[a], number[b]] for a, b in moment.links])

    def delay_ps(a: Any, b: Any) -> Any:
        return np.round(np.linalg.norm(a - b, axis=-1) / LIGHT_KM_S * 1e12)

    a, b = ends.T
    graph = coo_array((delay_ps(at[a], at[b]), (a, b)), shape=(1584, 1584))
    up = [number[sight.satellite] for sight in moment.sights["new_york"]]
    down = [number[sight.satellite] for sight in moment.sights["london"]]
    inner = dijkstra(graph.tocsr(), directed=False, indices=up)
    begin, end = map(ground_km, places)
    best = min(
        inner[row, last] + delay_ps(at[first], begin) + delay_ps(at[last], end)
        for row, first in enumerate(up)
        for last in down
    )
    assert moment.routes[0].delay_ps == int(best)


def test_a_series_is_its_moments_whatever_the_threads_and_steps() -> None:
    found = as_constellation("iridium-like").with_values({"ground.hold": False})
    places = find_places(["paris", "sydney", "lima"])
    pairs = [(0, 1), (1, 2)]
    minute = 60 * 10**12
    by_one = series(found, places, pairs, duration_ps=200 * minute, step_ps=minute, jobs=1)
    by_three = series(found, places, pairs, duration_ps=200 * minute, step_ps=minute, jobs=3)
    assert by_one.intervals == by_three.intervals
    for pair in range(2):
        assert (by_one.delays_ps(pair) == by_three.delays_ps(pair)).all()
    for step in (0, 77, 200):
        routes = look(found, places, pairs, step * minute).routes
        for pair, route in enumerate(routes):
            expected = NO_PATH_PS if route.delay_ps is None else route.delay_ps
            assert int(by_one.delays_ps(pair)[step]) == expected


def test_formats_of_elements_say_the_same() -> None:
    from skycell.orbit.elements import parse_elements

    sets = read_elements(ELEMENTS)
    as_json = json.dumps([dict(entry.omm) for entry in sets])
    assert parse_elements(as_json) == sets
