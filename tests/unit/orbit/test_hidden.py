"""No place sees through the earth, whatever its mask is: in passes, paths, positions and runs."""

import json
from math import acos, cos, degrees, radians
from pathlib import Path

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.orbit import as_constellation, look, passes, series
from skycell.orbit.motion import path_steps
from skycell.orbit.places import Place
from skycell.orbit.reach import coverage_deg, refuse_out_of_reach
from skycell.spec.steps import Steps
from tests.unit.cli.calling import skycell

RADIUS_KM = 6378.137
SECOND = 10**12
SKY = """[pattern]
kind = "slots"
radius = "42164 km"
longitudes = ["10 deg", "81.6 deg", "160 deg"]
[ground]
mask = "-90 deg"
access = "any"
"""
"""From longitude 10 the second stands above the horizontal, the third far below."""
HUT = Place("hut", 0.0, 10.0)
FAR = Place("far", 0.0, 160.0)


@pytest.fixture
def sky(tmp_path: Path) -> Path:
    file = tmp_path / "sky.toml"
    file.write_text(SKY)
    return file


def test_what_is_behind_the_earth_is_in_no_pass_and_on_no_path(sky: Path) -> None:
    found = as_constellation(str(sky))
    by_pass = passes(found, [HUT], duration_ps=60 * SECOND)
    assert len({row.satellite for row in by_pass.rows}) == 2
    moment = look(found, [HUT, FAR], [(0, 1)])
    assert [len(moment.sights[place]) for place in ("hut", "far")] == [2, 2]
    course = series(found, [HUT, FAR], [(0, 1)], duration_ps=60 * SECOND, step_ps=SECOND)
    # Both see the second satellite, 71.6 and 78.4 degrees away along the equator.
    km = sum(
        (RADIUS_KM**2 + 42164**2 - 2 * RADIUS_KM * 42164 * cos(radians(away))) ** 0.5
        for away in (71.6, 78.4)
    )
    assert course.delays_ps(0)[0] == pytest.approx(km / 299_792.458 * 1e12, rel=1e-6)
    for known in (by_pass.validity, moment.validity, course.validity):
        assert (known.hidden[0].place, known.hidden[0].satellites) == ("hut", 1)
        assert any("The earth hides 1 satellite" in note for note in known.notes)
        assert known.as_dict()["hidden"][0]["satellites"] == 1


def test_a_run_has_no_path_through_the_earth(sky: Path, tmp_path: Path) -> None:
    only = tmp_path / "only.toml"
    only.write_text(SKY.replace('"10 deg", "81.6 deg", "160 deg"', '"160 deg"'))

    def steps_over(name: str) -> Steps:
        return path_steps(
            name, "0,10", "0,20", folder=tmp_path, start_ps=0, step_ps=SECOND, steps=2
        )

    with pytest.raises(ScenarioFaults):
        steps_over("only.toml")
    steps = steps_over("sky.toml")
    assert any("The earth hides 1 satellite above the mask of -90 deg" in s for s in steps.notes)


def test_the_command_names_what_is_hidden(sky: Path) -> None:
    done = skycell("orbit", "passes", sky, "0,10", "--duration", "1 min", "--json")
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["passes"]) == 2
    assert "The earth hides 1 satellite" in done.stderr


def test_a_mask_above_the_horizon_hides_nothing_and_says_nothing() -> None:
    found = passes(as_constellation("iridium-like"), [HUT], duration_ps=60 * SECOND)
    assert found.validity.hidden == ()


def test_satellites_reach_as_far_as_the_horizon_of_a_height() -> None:
    high = RADIUS_KM + 12
    dip = degrees(acos(RADIUS_KM / high))
    reach = degrees(acos(RADIUS_KM / 7000)) + dip
    for mask in (-dip, -30.0, -90.0):
        assert coverage_deg(7000, mask, 12) == pytest.approx(reach)
    assert coverage_deg(7000, 0, 12) == pytest.approx(degrees(acos(high / 7000)))
    with pytest.raises(ScenarioFaults):
        refuse_out_of_reach(as_constellation("geo-ring"), [Place("pole", 89.0, 0.0, mask_deg=-90)])
