"""The map of a run over a constellation: its links, ways and names."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from skycell.plots.export import save
from skycell.plots.figure import NothingToDrawError
from skycell.plots.run import run_figure
from skycell.plots.sky_map import CLASSES, FONT_SIZE, Frame, SkyMap, names_on, sky_map
from skycell.plots.text_metrics import text_width
from skycell.plots.world import land_rings, way
from skycell.records.sky import fullest_second, links_at, sky_links, sky_seconds
from tests.unit.plots.browser import outside_references
from tests.unit.plots.runs import run_over_a_sky, short_run


def test_a_way_is_the_shortest_over_a_sphere() -> None:
    (points,) = way((0.0, 60.0), (90.0, 60.0))
    # The great circle that is highest at longitude 45: tan(latitude) = c cos(longitude - 45), and
    # tan 60 = c cos 45.
    for longitude, latitude in points:
        highest = np.tan(np.radians(60)) / np.cos(np.radians(45))
        tangent = highest * np.cos(np.radians(longitude - 45))
        assert np.tan(np.radians(latitude)) == pytest.approx(tangent)
    for (ax, ay), (bx, by) in pairwise(points):
        assert np.hypot((bx - ax) * np.cos(np.radians((ay + by) / 2)), by - ay) < 4.1


@pytest.mark.parametrize("start_deg", [170.0, -170.0])
def test_a_way_over_the_meridian_of_180_degrees_is_two_lines_that_end_there(
    start_deg: float,
) -> None:
    parts = way((start_deg, 30.0), (-start_deg, 40.0))
    assert len(parts) == 2
    edge = 180.0 if start_deg > 0 else -180.0
    assert parts[0][-1][0] == edge
    assert parts[1][0] == (-edge, parts[0][-1][1])
    assert parts[0][-2][1] < parts[1][0][1] < parts[1][1][1]
    for part in parts:
        assert max(abs(b[0] - a[0]) for a, b in pairwise(part)) < 10


def test_a_way_that_touches_no_edge_is_one_line() -> None:
    assert len(way((-120.0, 40.0), (60.0, 40.0))) == 1  # nearly over the pole
    assert len(way((-20.0, 0.0), (20.0, 0.0))) == 1
    assert way((10.0, 1.0), (11.0, 1.0)) == [[(10.0, 1.0), (11.0, 1.0)]]


def test_coasts_are_closed_and_have_no_jump() -> None:
    rings = land_rings()
    assert len(rings) > 100
    for ring in rings:
        # Along the pole there is one step as long as the map.
        long = [(a, b) for a, b in pairwise(ring) if abs(b[0] - a[0]) > 30]
        assert all(a[1] == b[1] == -90 for a, b in long)
    longitudes, latitudes = zip(*(point for ring in rings for point in ring), strict=True)
    assert max(latitudes) < 84
    assert min(latitudes) == -90
    assert max(longitudes) - min(longitudes) < 720


def test_a_port_to_several_stations_stands_at_each_that_a_path_leads_to() -> None:
    run = run_over_a_sky()
    second = fullest_second(run.traces)
    links = links_at(run.spec, run.traces, second)
    shared = links.filter(pl.col("link").str.ends_with(">down"))
    assert set(shared["to"]) == {"london", "51,0.5"}
    assert len(shared["load"].unique()) == 1
    per_port = links.group_by("link").agg(pl.col("mbps").first())
    seconds = sky_seconds(run.spec, run.traces).filter(pl.col("second") == second)
    assert per_port["mbps"].sum() == pytest.approx(seconds["mbps"].sum())
    ends_ps = pl.when(pl.col("pair") == "tokyo>51,0.5").then(10**12).otherwise("end_ps")
    paths = run.traces["sky_paths"].with_columns(ends_ps.cast(pl.UInt64).alias("end_ps"))
    later = links_at(run.spec, {**run.traces, "sky_paths": paths}, second)
    assert set(later.filter(pl.col("link").str.ends_with(">down"))["to"]) == {"london"}
    ups = links.filter(pl.col("kind") == "up")
    assert not set(ups["to"]) & {"london", "51,0.5", "tokyo", "new_york", "los_angeles", "sydney"}


def test_the_fullest_second_is_that_with_most_octets() -> None:
    run = run_over_a_sky()
    totals = sky_seconds(run.spec, run.traces).group_by("second").agg(pl.col("mbps").sum())
    of_each = dict(totals.iter_rows())
    assert of_each[fullest_second(run.traces)] == pytest.approx(max(of_each.values()))
    title = run_figure(run, "map").title
    assert title == run_figure(run, "map", time_ps=fullest_second(run.traces) * 10**12).title


def test_lines_have_the_load_of_the_busier_direction_and_both_ends_at_their_nodes() -> None:
    run = run_over_a_sky()
    drawn = sky_map(run, 5)
    links = links_at(run.spec, run.traces, 5)
    assert len(drawn.lines) == len({frozenset(ends) for ends in links["from", "to"].iter_rows()})
    loads = {(row["from"], row["to"]): row["load"] for row in links.iter_rows(named=True)}
    points = {**drawn.satellites, **drawn.stations}
    for line in drawn.lines:
        a, b = line.ends
        assert line.load == loads[a, b]
        assert line.back == loads.get((b, a), 0.0)
        assert line.load >= line.back
        assert (line.parts[0][0], line.parts[-1][-1]) == (points[a], points[b])
    assert any(len(line.parts) == 2 for line in drawn.lines)
    ordered = [line.load for line in drawn.fullest]
    assert ordered == sorted(ordered, reverse=True)
    # A port of several links is drawn at each, and named once.
    assert len(drawn.lines) > len({line.name for line in drawn.lines}) == len(ordered)


def test_the_figure_has_a_class_for_each_load_and_lists_the_fullest_links() -> None:
    run = run_over_a_sky()
    figure = run_figure(run, "map", time_ps=5 * 10**12 + 1)
    rows = figure.datasets["links"]
    bounds = {name: (number / 5, (number + 1) / 5) for number, (name, _, _) in enumerate(CLASSES)}
    for row in rows:
        low, high = bounds[row["busy"]]
        assert low <= row["load"]
        assert row["load"] < high or row["busy"] == CLASSES[-1][0]
    assert len({row["busy"] for row in rows}) > 2
    fullest = max(rows, key=lambda row: row["load"])
    assert f"Fullest: {sky_map(run, 5).fullest[0].in_words}" in figure.caption_text()
    assert fullest["load"] == pytest.approx(sky_map(run, 5).fullest[0].load, abs=1e-4)
    names = {row["name"] for row in figure.datasets["names"]}
    assert {"New York", "Sydney"} <= names
    assert sky_map(run, 5).fullest[0].in_words in names
    assert len(figure.datasets["satellites"]) == 66


def test_names_cover_neither_each_other_nor_the_edge() -> None:
    run = run_over_a_sky()
    drawn = sky_map(run, 5)
    crowd = {
        f"a place with a long name {n}": (170.0 + 1.5 * (n % 5), 68.0 + 1.1 * (n // 5))
        for n in range(40)
    }
    crowded = replace(drawn, stations={**drawn.stations, **crowd})
    for one in (drawn, crowded):
        frame = Frame.of([*one.satellites.values(), *one.stations.values()])
        names = names_on(one, frame)
        boxes = []
        for name in names:
            half = text_width(name.text, FONT_SIZE) / 2
            x, y = name.label.x, name.label.y
            boxes.append((x - half, y - FONT_SIZE / 2, x + half, y + FONT_SIZE / 2))
            assert 0 <= boxes[-1][0] < boxes[-1][2] <= 700
            assert 0 <= boxes[-1][1] < boxes[-1][3] <= frame.height
        for (al, at, ar, ab), (bl, bt, br, bb) in combinations(boxes, 2):
            assert ar <= bl or br <= al or ab <= bt or bb <= at
        marks = [frame.pixels(point) for point in one.stations.values()]
        for name, (left, top, right, bottom) in zip(names, boxes, strict=True):
            inside = [(x, y) for x, y in marks if left < x < right and top < y < bottom]
            assert inside in ([], [name.at])
        assert len(names) >= 6


def test_a_second_between_those_kept_has_the_positions_of_the_nearest_and_reports_it() -> None:
    run = run_over_a_sky()
    kept = run.traces["sky_positions"].filter(pl.col("second").is_in([0, 10, 20]))
    thinned = replace(run, traces={**run.traces, "sky_positions": kept})
    drawn: SkyMap = sky_map(thinned, 13)
    assert drawn.positions_of == 10
    assert drawn.satellites == sky_map(run, 10).satellites
    assert [line.load for line in drawn.lines] == [line.load for line in sky_map(run, 13).lines]
    assert "10 s" in run_figure(thinned, "map", time_ps=13 * 10**12).caption_text()


def test_a_map_of_nothing_is_refused_in_words() -> None:
    run = run_over_a_sky()
    with pytest.raises(NothingToDrawError, match="seconds 0 to 29, and none from 30 s"):
        run_figure(run, "map", time_ps=30 * 10**12)
    with pytest.raises(NothingToDrawError, match='topology of the kind "constellation"'):
        run_figure(short_run(), "map")
    without = {name: run.traces[name] for name in run.traces if name != "sky_positions"}
    with pytest.raises(NothingToDrawError, match="no table sky_positions"):
        run_figure(replace(run, traces=without), "map")


def test_a_map_is_drawn_without_a_network(tmp_path: Path) -> None:
    figure = run_figure(run_over_a_sky(), "map")
    svg, page = tmp_path / "map.svg", tmp_path / "map.html"
    save({svg: figure, page: figure})
    text = svg.read_text("utf-8")
    assert all(colour in text for _, colour, _ in CLASSES)
    assert outside_references(page.read_text("utf-8")) == []


def test_the_whole_run_has_the_links_of_its_seconds() -> None:
    run = run_over_a_sky()
    every = {
        link
        for second in range(30)
        for link in links_at(run.spec, run.traces, second)["link"].to_list()
    }
    assert every == set(sky_links(run.spec, run.traces).filter(pl.col("packets") > 0)["link"])
