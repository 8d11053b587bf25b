"""The map of a report, second by second."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

import skycell
from skycell.plots.sky_map import CLASSES, Frame, sky_map
from skycell.records.sky import fullest_second
from skycell.report.sky_frames import map_over_time
from tests.unit.plots.browser import browse, outside_references
from tests.unit.plots.runs import run_over_a_sky, run_without_traces
from tests.unit.report.drawing import page_of_run

GROUP = re.compile(r'<g data-text="([^"]*)" display="(\w+)">(.*?)</g>')


@pytest.fixture(scope="module")
def page() -> str:
    return page_of_run(run_over_a_sky())


def groups(text: str) -> list[tuple[str, str, str]]:
    """Text, display and content of each moment."""
    return [(html.unescape(said), shown, drawn) for said, shown, drawn in GROUP.findall(text)]


def common_frame() -> Frame:
    """The part of the world that all seconds need."""
    maps = [sky_map(run_over_a_sky(), second) for second in range(30)]
    return Frame.of([at for drawn in maps for at in drawn.satellites.values()])


def test_there_is_a_moment_for_each_second_and_that_with_most_packets_is_shown(page: str) -> None:
    found = groups(page)
    assert [said.split(" s:")[0] for said, _, _ in found] == [f"{n} to {n + 1}" for n in range(30)]
    fullest = fullest_second(run_over_a_sky().traces)
    assert [n for n, (_, shown, _) in enumerate(found) if shown == "inline"] == [fullest]
    assert f'max="29" value="{fullest}"' in page
    assert outside_references(page) == []


def test_a_moment_has_the_links_of_its_second_in_the_colours_of_their_loads(page: str) -> None:
    run, frame = run_over_a_sky(), common_frame()
    for second in (0, 5, 29):
        drawn = sky_map(run, second)
        content = groups(page)[second][2]
        for level, (_, colour, _) in enumerate(CLASSES):
            lines = [line for line in drawn.lines if line.level == level]
            paths = re.findall(rf'stroke="{colour}"[^>]* d="([^"]*)"', content)
            assert len(paths) == bool(lines)
            ways = paths[0].split("M")[1:] if paths else []
            ends = {(way.split(" ")[0], way.split(" ")[-1]) for way in ways}
            parts = [[frame.pixels(at) for at in part] for line in lines for part in line.parts]
            assert ends == {
                (f"{part[0][0]:.1f},{part[0][1]:.1f}", f"{part[-1][0]:.1f},{part[-1][1]:.1f}")
                for part in parts
            }
        dots = re.findall(r'class="satellites"[^>]* d="([^"]*)"', content)[0]
        assert dots.count("M") == 66


def test_coasts_are_where_points_are(page: str) -> None:
    frame = common_frame()
    (matrix,) = re.findall(r"matrix\(([^)]*)\)", page)
    a, b, c, d, e, f = map(float, matrix.split())
    for point in ((-180.0, 0.0), (37.5, -60.0), (151.2, 81.0)):
        placed = (a * point[0] + c * point[1] + e, b * point[0] + d * point[1] + f)
        assert placed == pytest.approx(frame.pixels(point), abs=0.01)


def test_a_run_without_a_constellation_or_its_positions_has_no_map() -> None:
    assert map_over_time(run_without_traces()) is None
    assert 'id="map"' not in page_of_run(run_without_traces())
    run = run_over_a_sky()
    without = {name: run.traces[name] for name in run.traces if name != "sky_paths"}
    assert map_over_time(replace(run, traces=without)) is None


def test_a_long_run_has_a_part_of_its_seconds_and_reports_it() -> None:
    port = {"rate": "20 kbit/s", "framing": "ip", "buffer": "10 packets"}
    topology = {
        "kind": "constellation",
        "constellation": "iridium-like",
        "stations": ["paris", "tokyo"],
        "inter_satellite": port,
        "ground": port,
        "step": "10 s",
    }
    traffic = [{"pairs": [["paris", "tokyo"]]}]
    found = map_over_time(
        skycell.run({"run": {"duration": "120 s"}, "topology": topology, "traffic": traffic})
    )
    assert found is not None
    assert found.count == 61
    assert "Drawn: 61 of 120 seconds." in found.caption
    assert [said.split(" to ")[0] for said, _, _ in groups(str(found.svg))][-1] == "119"


def test_a_browser_shows_the_moment_of_the_slider(tmp_path: Path, page: str) -> None:
    file = tmp_path / "report.html"
    fullest = fullest_second(run_over_a_sky().traces)
    file.write_text(page.replace(f'max="29" value="{fullest}"', 'max="29" value="3"'), "utf-8")
    visit = browse(file)
    assert visit.requests == []
    assert [n for n, (_, shown, _) in enumerate(groups(visit.dom)) if shown == "inline"] == [3]
    (said,) = re.findall(r'<p class="shown">([^<]*)</p>', visit.dom)
    assert html.unescape(said) == groups(visit.dom)[3][0]
    assert '<div class="player">' in visit.dom
    assert '<div class="player" hidden' in page
