"""Pictures of constellations: what is drawn, and what the page does."""

from pathlib import Path

import pytest

from skycell.orbit import as_constellation, find_places, series
from skycell.plots.delay import delay_figure
from skycell.plots.export import save
from skycell.plots.figure import NothingToDrawError
from skycell.plots.globe import View, globe_figure
from tests.unit.plots.browser import outside_references

BASE = as_constellation("jsac98-6x11")
PLACES = find_places(["new_york", "tokyo"])


def test_a_globe_holds_satellites_links_orbits_places_and_the_path() -> None:
    figure = globe_figure(BASE, PLACES, [(0, 1)])
    rows = figure.datasets
    assert len(rows["satellites"]) == 66
    assert sum(row["used"] for row in rows["satellites"]) == 5
    assert len(rows["link"]) == 132 * 10
    assert len(rows["orbit"]) == 6 * 120
    assert len(rows["path"]) == 6 * 10
    assert [row["name"] for row in rows["stations"]] == ["New York", "Tokyo"]
    assert figure.subtitle is not None
    assert "New York to Tokyo: 58.0 ms over 5 satellites" in figure.subtitle


def test_heights_are_to_scale_and_the_path_begins_on_the_ground() -> None:
    rows = globe_figure(BASE, PLACES, [(0, 1)]).datasets
    first = rows["path"][0]
    assert first["x"] ** 2 + first["y"] ** 2 + first["z"] ** 2 == pytest.approx(1, abs=1e-3)
    height = {
        round((row["x"] ** 2 + row["y"] ** 2 + row["z"] ** 2) ** 0.5, 2)
        for row in rows["satellites"]
    }
    assert height == {1.12}  # 7158 km over 6378 km


def test_what_is_too_much_is_left_out_and_told() -> None:
    figure = globe_figure(as_constellation("starlink-like"))
    assert figure.datasets["link"] == []
    assert "Not drawn: 3168 links between satellites and 72 orbits." in figure.caption_text()
    assert "Not drawn" not in globe_figure(BASE).caption_text()


def test_the_view_is_over_the_middle_of_the_places() -> None:
    equator = find_places(["0,10", "0,30"])
    figure = globe_figure(BASE, equator)
    assert "Seen from above 0°\u202fN, 20°\u202fE." in figure.caption_text()
    figure = globe_figure(BASE, equator, view=View(-45, -90))
    assert "Seen from above 45°\u202fS, 90°\u202fW." in figure.caption_text()


def test_moments_are_from_one_to_what_a_page_holds() -> None:
    with pytest.raises(ValueError, match="241 moments: allowed are 1 to 240"):
        globe_figure(BASE, times_ps=range(241))


def test_a_globe_and_its_page_are_drawn_without_a_network(tmp_path: Path) -> None:
    figure = globe_figure(BASE, PLACES, [(0, 1)], times_ps=[0, 60 * 10**12])
    svg, page = tmp_path / "globe.svg", tmp_path / "globe.html"
    save({svg: figure, page: figure})
    assert svg.read_text("utf-8").count("<line") > 300
    text = page.read_text("utf-8")
    assert outside_references(text) == []
    assert all(name in text for name in ("globe_longitude", "globe_latitude", "globe_frame"))


def test_delays_are_drawn_interval_by_interval_with_each_handover_marked() -> None:
    found = series(BASE, PLACES, [(0, 1)], duration_ps=600 * 10**12)
    (rows,) = delay_figure(found).spec()["datasets"].values()
    marks = [row for row in rows if row["what"] is not None]
    assert [mark["time_s"] for mark in marks] == [35.0, 87.0, 391.0, 442.0]
    assert len({row["interval"] for row in rows if row["interval"] is not None}) == 5


def test_jumps_are_drawn_and_only_times_without_a_path_are_gaps() -> None:
    found = series(BASE, PLACES, [(0, 1)], duration_ps=600 * 10**12)
    figure = delay_figure(found)
    (rows,) = figure.spec()["datasets"].values()
    marks = [row for row in rows if row["what"] is not None]
    changes = found.handovers(0)
    assert [(row["before_ms"], row["delay_ms"]) for row in marks] == [
        (change.delay_before_ps / 1e9, change.delay_after_ps / 1e9)  # type: ignore[operator]
        for change in changes
    ]
    reported = (
        "A mark stands at the first of the steps of 1 s on a new path; the dotted line to it is"
    )
    assert reported in figure.caption_text()
    assert "Gaps" not in figure.caption_text()
    exact = series(BASE, PLACES, [(0, 1)], duration_ps=100 * 10**12, precision_ps=1000)
    assert "A mark stands at the moment of a handover; " in delay_figure(exact).caption_text()


def test_a_line_with_gaps_alone_has_no_marks_to_explain_and_the_whole_axis() -> None:
    low = as_constellation("jsac98-6x11").with_values({"ground.mask": "25 deg"})
    figure = delay_figure(series(low, PLACES, [(0, 1)], duration_ps=600 * 10**12))
    assert "mark" not in figure.caption_text()
    assert "Gaps are times without a path." in figure.caption_text()
    (line,) = figure.bare_spec()["layer"]
    assert line["encoding"]["x"]["scale"]["domain"] == [0, 600]


def test_pairs_without_any_path_cannot_be_drawn() -> None:
    none = as_constellation("o3b-like").with_values({"ground.mask": "20 deg"})
    found = series(none, find_places(["new_york", "jakarta"]), [(0, 1)], duration_ps=10**13)
    with pytest.raises(NothingToDrawError, match="no pair has a path"):
        delay_figure(found)
