"""The globe of a run over a constellation: the links of the map, in space."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from skycell.plots.export import save
from skycell.plots.figure import NothingToDrawError
from skycell.plots.run import run_figure
from skycell.plots.sky_map import CLASSES, sky_map
from tests.unit.plots.browser import outside_references
from tests.unit.plots.runs import run_over_a_sky, short_run


def test_each_link_of_the_map_leads_from_node_to_node_in_space() -> None:
    run = run_over_a_sky()
    figure, drawn = run_figure(run, "globe", time_ps=5 * 10**12), sky_map(run, 5)
    nodes = {row["name"]: [row[axis] for axis in "xyz"] for row in figure.datasets["satellites"]}
    places = {"new_york": "New York", "london": "London", "tokyo": "Tokyo", "sydney": "Sydney"}
    places |= {"los_angeles": "Los Angeles", "51,0.5": "51,0.5"}
    stations = {row["name"]: [row[axis] for axis in "xyz"] for row in figure.datasets["stations"]}
    nodes |= {name: stations[shown] for name, shown in places.items()}
    rows = figure.datasets["links"]
    pieces = len(rows) // len(drawn.lines)
    for number, line in enumerate(drawn.lines):
        own = rows[number * pieces : (number + 1) * pieces]
        assert {row["link"] for row in own} == {line.name}
        assert {row["busy"] for row in own} == {CLASSES[line.level][0]}
        assert [own[0][axis] for axis in "xyz"] == nodes[line.ends[0]]
        assert [own[-1][f"e{axis}"] for axis in "xyz"] == nodes[line.ends[1]]
        for one, other in pairwise(own):
            assert [one[f"e{axis}"] for axis in "xyz"] == [other[axis] for axis in "xyz"]


def test_satellites_are_at_their_heights_and_stations_on_the_ground() -> None:
    run = run_over_a_sky()
    figure = run_figure(run, "globe", time_ps=5 * 10**12)
    for kind, low, high in (("satellites", 775, 805), ("stations", -1, 1)):
        for row in figure.datasets[kind]:
            radius = np.linalg.norm([row[axis] for axis in "xyz"])
            assert low < (radius - 1) * 6378.137 < high
    at = run.traces["sky_positions"].filter((pl.col("second") == 5) & (pl.col("node") == "1-1"))
    (row,) = (row for row in figure.datasets["satellites"] if row["name"] == "1-1")
    longitude = np.degrees(np.arctan2(row["y"], row["x"]))
    assert longitude == pytest.approx(at["longitude_deg"][0], abs=0.02)


def test_stations_with_names_are_apart() -> None:
    rows = run_figure(run_over_a_sky(), "globe").datasets["stations"]
    named = [row for row in rows if row["is_named"]]
    for one, other in combinations(named, 2):
        assert np.linalg.norm([one[axis] - other[axis] for axis in "xyz"]) >= 0.25
    # London and a place near it have one name.
    assert len(named) == len(rows) - 1


def test_it_is_of_the_second_of_the_map_and_refused_as_the_map_is() -> None:
    run = run_over_a_sky()
    assert run_figure(run, "globe").title == run_figure(run, "map").title
    with pytest.raises(NothingToDrawError, match="none from 30 s"):
        run_figure(run, "globe", time_ps=30 * 10**12)
    with pytest.raises(NothingToDrawError, match='topology of the kind "constellation"'):
        run_figure(short_run(), "globe")


def test_it_is_drawn_without_a_network_and_its_page_turns(tmp_path: Path) -> None:
    figure = run_figure(run_over_a_sky(), "globe")
    svg, page = tmp_path / "globe.svg", tmp_path / "globe.html"
    save({svg: figure, page: figure})
    assert CLASSES[-1][1] in svg.read_text("utf-8")
    text = page.read_text("utf-8")
    assert outside_references(text) == []
    assert "globe_longitude" in text
