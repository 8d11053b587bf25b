"""`skycell orbit passes`: what is shown, written and refused."""

import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.orbit import as_constellation, find_places, look, passes

SECOND = 10**12
SKY = ["orbit", "passes", "iridium-like", "london", "sydney", "--duration", "30 min"]


def test_the_same_passes_are_shown_written_and_given_to_programs(tmp_path: Path) -> None:
    rows = passes(
        as_constellation("iridium-like"),
        find_places(["london", "sydney"]),
        duration_ps=1800 * SECOND,
    ).rows
    shown = CliRunner().invoke(main, SKY)
    assert shown.exit_code == 0, shown.output
    for row in rows:
        assert f"{row.top.elevation_deg:.1f}" in shown.output
    inputs = json.loads(CliRunner().invoke(main, [*SKY, "--json"]).stdout)["passes"]
    assert [(p["place"], p["satellite"]) for p in inputs] == [(r.place, r.satellite) for r in rows]
    assert [p["set"] and p["set"]["at_ps"] for p in inputs] == [r.set and r.set.at_ps for r in rows]
    file = tmp_path / "passes.csv"
    assert CliRunner().invoke(main, [*SKY, "--csv", str(file)]).exit_code == 0
    table = pl.read_csv(file)
    assert table["rise_at_ps"].to_list() == [row.rise and row.rise.at_ps for row in rows]
    assert table["top_azimuth_deg"].to_list() == [row.top.azimuth_deg for row in rows]


def test_a_satellite_is_seen_within_its_pass_and_not_a_microsecond_beyond() -> None:
    # Limits besides the mask end passes too; all are as single moments have them.
    sky = as_constellation("iridium-like").with_values(
        {
            "ground.max_range": "1800 km",
            "ground.horizon": [["90 deg", "30 deg"], ["200 deg", "0 deg"]],
        }
    )
    places = find_places(["london"])
    rows = passes(sky, places, duration_ps=3600 * SECOND).rows
    assert len(rows) > 5

    def sees(name: str, at_ps: int) -> bool:
        return name in {s.satellite for s in look(sky, places, at_ps=at_ps).sights["london"]}

    for row in rows:
        for event, way in ((row.rise, -1), (row.set, 1)):
            if event is not None:
                # Found to 1 us from within; a second one makes room for rounding.
                assert sees(row.satellite, event.at_ps - way * 10**6)
                assert not sees(row.satellite, event.at_ps + way * 2 * 10**6)
        assert sees(row.satellite, row.top.at_ps)


def test_the_threads_do_not_show() -> None:
    sky, places = as_constellation("kuiper-like"), find_places(["london", "sydney"])
    one, three = (passes(sky, places, duration_ps=300 * SECOND, jobs=j).rows for j in (1, 3))
    assert one == three
