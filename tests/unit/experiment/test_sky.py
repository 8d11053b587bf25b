"""Tables that follow from a scenario over a constellation: positions and paths agree."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import skycell
from skycell.experiment.sky import sky_tables
from skycell.records.files import write_result
from skycell.records.reading import read_result
from skycell.records.sky import DELAYS, MOST_SECONDS, PATHS, POSITIONS, SKY_TABLES
from skycell.scenario import parse

LIGHT_M_PER_S = 299_792_458
EARTH_KM = 6378.137
FLATTENING = 1 / 298.257223563

STAR = """
title = "66 satellites in a star"
earth = {{ shape = "{shape}" }}
links = {{ kind = "grid", seam = "none" }}
ground = {{ mask = "8 deg" }}
[pattern]
kind = "star"
planes = 6
satellites_per_plane = 11
altitude = "780 km"
inclination = "86.4 deg"
raan_step = "31.6 deg"
phase_step = "16.4 deg"
"""


def network(duration: str, **topology: Any) -> dict[str, Any]:
    """Two pairs over Iridium's pattern."""
    port = {"rate": "10 Mbit/s", "framing": "ip", "buffer": "50 packets"}
    return {
        "run": {"duration": duration},
        "topology": {
            "kind": "constellation",
            "constellation": "iridium-like",
            "stations": ["new_york", "tokyo", "paris"],
            "inter_satellite": dict(port),
            "ground": dict(port),
            **topology,
        },
        "traffic": [{"pairs": [["new_york", "tokyo"], ["paris", "new_york"]]}],
    }


def at_km(positions: pl.DataFrame, second: int, flattening: float) -> dict[str, Any]:
    """Where each node is, as a vector from the centre of the earth."""
    found = {}
    squared = flattening * (2 - flattening)
    for row in positions.filter(pl.col("second") == second).iter_rows(named=True):
        latitude, longitude = np.radians([row["latitude_deg"], row["longitude_deg"]])
        curvature = EARTH_KM / np.sqrt(1 - squared * np.sin(latitude) ** 2)
        from_axis = (curvature + row["height_km"]) * np.cos(latitude)
        along_axis = (curvature * (1 - squared) + row["height_km"]) * np.sin(latitude)
        found[row["node"]] = np.array(
            [from_axis * np.cos(longitude), from_axis * np.sin(longitude), along_axis]
        )
    return found


@pytest.mark.parametrize(("shape", "flattening"), [("wgs84", FLATTENING), ("sphere", 0)])
def test_a_delay_is_the_way_of_light_between_the_positions_along_the_path(
    shape: str, flattening: float, tmp_path: Path
) -> None:
    (tmp_path / "star.toml").write_text(STAR.format(shape=shape))
    values = network("200 s", step="1 s", constellation="star.toml")
    tables = sky_tables(parse(values, folder=tmp_path))
    paths = tables[PATHS]
    assert set(paths["pair"]) == {
        "new_york>tokyo",
        "tokyo>new_york",
        "paris>new_york",
        "new_york>paris",
    }
    assert len(paths) > 4
    for row in tables[DELAYS].iter_rows(named=True):
        at_ps = row["second"] * 10**12
        (path,) = paths.filter(
            (pl.col("pair") == row["pair"])
            & (pl.col("start_ps") <= at_ps)
            & (pl.col("end_ps") > at_ps)
        )["path"]
        at = at_km(tables[POSITIONS], row["second"], flattening)
        way_km = sum(np.linalg.norm(at[a] - at[b]) for a, b in pairwise(path))
        # Engines have whole picoseconds for each link.
        assert row["delay_ps"] == pytest.approx(way_km * 1e15 / LIGHT_M_PER_S, rel=1e-9)


def test_paths_of_a_pair_follow_one_another_to_the_end_of_the_run() -> None:
    tables = sky_tables(parse(network("200 s", step="1 s")))
    paths, delays = tables[PATHS], tables[DELAYS]
    for (pair,), own in paths.group_by("pair"):
        assert own["start_ps"][0] == 0
        assert own["end_ps"][-1] == 200 * 10**12
        assert own["start_ps"][1:].to_list() == own["end_ps"][:-1].to_list()
        assert (own["hops"] == own["path"].list.len() - 1).all()
        assert all(a != b for a, b in pairwise(own["path"].to_list()))
        first = delays.filter((pl.col("pair") == pair) & (pl.col("second") == 0))
        assert own["delay_ps"][0] == first["delay_ps"][0]


def test_long_runs_keep_seconds_from_the_first_to_the_last_evenly() -> None:
    tables = sky_tables(parse(network("1000 s", step="10 s")))
    seconds = tables[POSITIONS]["second"].unique().sort().to_list()
    assert len(seconds) == MOST_SECONDS
    assert (seconds[0], seconds[-1]) == (0, 999)
    assert {b - a for a, b in pairwise(seconds)} <= {16, 17}
    short = sky_tables(parse(network("2500 ms")))
    assert short[POSITIONS]["second"].unique().sort().to_list() == [0, 1, 2]


def test_a_frozen_sky_has_one_second_and_paths_over_the_whole_run() -> None:
    tables = sky_tables(parse(network("20 s", frozen=True)))
    assert set(tables[POSITIONS]["second"]) == {0}
    assert set(tables[PATHS]["start_ps"]) == {0}
    assert set(tables[PATHS]["end_ps"]) == {20 * 10**12}


def test_the_tables_are_written_and_read_with_the_result(tmp_path: Path) -> None:
    result = skycell.run(network("1 s"))
    assert set(SKY_TABLES) <= set(result.traces)
    write_result(result, tmp_path)
    again = read_result(tmp_path)
    for name in SKY_TABLES:
        assert again.traces[name].equals(result.traces[name]), name


def test_a_run_without_a_constellation_has_none_of_them() -> None:
    scenario = parse({"preset": "icccn97-lan", "run": {"duration": "1 ms"}})
    assert sky_tables(scenario) == {}
    assert not set(SKY_TABLES) & set(skycell.run(scenario).traces)


def test_a_path_that_begins_as_the_run_ends_is_none_of_it() -> None:
    changes = sky_tables(parse(network("200 s", step="1 s")))[PATHS]["start_ps"]
    first_s = min(change for change in changes if change) // 10**12
    paths = sky_tables(parse(network(f"{first_s} s", step="1 s")))[PATHS]
    assert (paths["start_ps"] < paths["end_ps"]).all()
