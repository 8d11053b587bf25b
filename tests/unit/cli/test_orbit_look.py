"""`skycell orbit look` and CZML: what is shown, written and refused."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.orbit import as_constellation, find_places, look, passes, positions_km, series, sights

SECOND = 10**12
LOOK = ["orbit", "look", "iridium-like", "london", "sydney", "--duration", "10 min"]


def test_the_same_sights_are_shown_written_and_given_to_programs(tmp_path: Path) -> None:
    file = tmp_path / "look.csv"
    shown = CliRunner().invoke(main, [*LOOK, "--step", "1 min", "--csv", str(file)])
    assert shown.exit_code == 0, shown.output
    rows = pl.read_csv(file)
    tops = rows.group_by("place", "satellite").agg(pl.col("elevation_deg").max())
    for place, satellite, top in tops.iter_rows():
        line = rf"{place} +{satellite} +{top:.1f} "
        assert bool(re.search(line, shown.output)) == (top >= 0), line
    inputs = json.loads(CliRunner().invoke(main, [*LOOK, "--step", "1 min", "--json"]).stdout)
    assert [row["range_km"] for row in inputs["sights"]] == rows["range_km"].to_list()
    # Those that come up, and no others.
    places = find_places(["london", "sydney"])
    found = passes(as_constellation("iridium-like"), places, duration_ps=600 * SECOND).rows
    assert set(rows["satellite"]) == {row.satellite for row in found}


def test_a_sight_is_what_a_moment_and_positions_have() -> None:
    sky, places = as_constellation("iridium-like"), find_places(["london", "sydney"])
    times_ps = [0, 77 * SECOND]
    found = sights(sky, places, sky.satellites, times_ps)
    assert found.angles.shape == (2, 2, len(sky.satellites), 3)
    for moment, at_ps in enumerate(times_ps):
        seen = look(sky, places, at_ps=at_ps).sights
        for number, place in enumerate(places):
            for sight in seen[place.name]:
                row = found.angles[moment, number, sky.satellites.index(sight.satellite)]
                assert row[:2].tolist() == [sight.azimuth_deg, sight.elevation_deg]
    table = found.table()
    assert table.height == found.angles[..., 0].size
    one = table.filter(place="sydney", satellite=sky.satellites[5], time_ps=times_ps[1])
    assert one["range_km"].to_list() == [found.angles[1, 1, 5, 2]]


def packets(tmp_path: Path, *options: str) -> list[dict[str, Any]]:
    file = tmp_path / "sky.czml"
    call = ["orbit", "globe", "iridium-like", "london", "sydney", "--out", str(file), *options]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    assert "Time 0 is 2000-01-01 12:00 UTC" in done.output
    found: list[dict[str, Any]] = json.loads(file.read_text())
    return found


def test_czml_has_positions_and_paths_of_every_moment(tmp_path: Path) -> None:
    found = packets(tmp_path, "--frames", "11", "--every", "60 s")
    assert found[0]["id"] == "document"
    by_id = {packet["id"]: packet for packet in found}
    sky = as_constellation("iridium-like")
    at = positions_km(sky, [step * 60 * SECOND for step in range(11)])
    for number, name in enumerate(sky.satellites):
        values = np.array(by_id[f"satellite/{name}"]["position"]["cartesian"]).reshape(11, 4)
        assert values[:, 0].tolist() == [60.0 * step for step in range(11)]
        assert np.abs(values[:, 1:] / 1000 - at[:, number]).max() < 1e-4
    places = find_places(["london", "sydney"])
    taken = series(sky, places, [(0, 1)], duration_ps=600 * SECOND, step_ps=60 * SECOND)
    for part in taken.intervals:
        along = ["place/london", *(f"satellite/{s}" for s in part.satellites), "place/sydney"]
        (path,) = (
            packet["polyline"]
            for packet in found
            if "polyline" in packet
            and packet["polyline"]["positions"]["references"] == [f"{n}#position" for n in along]
        )
        begin, end = (f"{part.first_step + steps:02d}" for steps in (0, part.steps))
        interval = f"2000-01-01T12:{begin}:00.000000Z/2000-01-01T12:{end}:00.000000Z"
        assert {"interval": interval, "boolean": True} in path["show"]
    # Every reference leads to a packet: a viewer leaves out what it cannot resolve.
    for packet in found:
        for reference in packet.get("polyline", {}).get("positions", {}).get("references", []):
            assert reference.removesuffix("#position") in by_id


def test_interpolation_between_moments_of_czml_is_within_a_metre() -> None:
    # What a viewer does: Lagrange's polynomial through the six moments about a time.
    sky = as_constellation("iridium-like")
    at = positions_km(sky, [step * 60 * SECOND for step in range(6)])[:, 3]
    between = positions_km(sky, [150 * SECOND])[0, 3]
    nodes = np.arange(6.0)
    weights = [
        np.prod([(2.5 - other) / (node - other) for other in nodes if other != node])
        for node in nodes
    ]
    assert np.linalg.norm(np.array(weights) @ at - between) < 1e-3
