"""Positions between the states of ephemerides: used where the states lead, else refused."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skycell.input.faults import ScenarioFaults
from skycell.orbit import as_constellation, look, passes, positions_km, series, sights
from skycell.orbit.ephemeris import ephemerides_of
from skycell.orbit.places import Place
from skycell.orbit.validity import validity

SECOND = 10**12
RADIUS_KM = 6790.0
RATE = math.sqrt(398600.4418 / RADIUS_KM**3)
PLACE = Place("here", 0.0, 0.0)


def circle(second: float) -> list[float]:
    """A circle by its closed form, in TEME."""
    cosine, sine = math.cos(RATE * second), math.sin(RATE * second)
    tilt = [math.cos(0.9), math.sin(0.9)]
    return [
        RADIUS_KM * cosine,
        *(RADIUS_KM * sine * part for part in tilt),
        -RADIUS_KM * RATE * sine,
        *(RADIUS_KM * RATE * cosine * part for part in tilt),
    ]


def oem(
    every_s: int, method: str = "", count: int = 13, state: Callable[[float], list[float]] = circle
) -> str:
    lines = ["CCSDS_OEM_VERS = 2.0", "META_START", "OBJECT_NAME = CIRCLE", "CENTER_NAME = EARTH"]
    lines += ["REF_FRAME = TEME", "TIME_SYSTEM = UTC"]
    if method:
        name, degree = method.split()
        lines += [f"INTERPOLATION = {name}", f"INTERPOLATION_DEGREE = {degree}"]
    lines.append("META_STOP")
    for number in range(count):
        minutes, seconds = divmod(every_s * number, 60)
        at = f"2024-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        lines.append(" ".join([at, *(f"{part:.9f}" for part in state(every_s * number))]))
    return "\n".join(lines)


def fleet(folder: Path, text: str, **keys: Any) -> Any:
    (folder / "fleet.oem").write_text(text, encoding="utf-8")
    pattern = {"kind": "ephemeris", "file": str(folder / "fleet.oem"), **keys}
    return as_constellation({"pattern": pattern, "earth": {"epoch": "2024-01-01T00:00:00Z"}})


@pytest.mark.parametrize(
    ("every_s", "method"),
    [
        (3600, ""),  # 232 degrees of the orbit from one state to the next
        (1800, "HERMITE 1"),  # one state and its velocity
        (1800, "LINEAR 1"),
        (900, "LAGRANGE 3"),
        (120, "LINEAR 1"),  # 6790 km x (1 - cos(3.9 deg)) = 15.6 km
    ],
)
def test_states_too_far_apart_for_their_interpolation_are_refused_wherever_they_are_used(
    every_s: int, method: str, tmp_path: Path
) -> None:
    found = fleet(tmp_path, oem(every_s, method))
    span = 4 * every_s * SECOND
    for use in (
        lambda: look(found, [], at_ps=span // 8),
        lambda: positions_km(found, [0, span]),
        lambda: passes(found, [PLACE], duration_ps=span),
        lambda: sights(found, [PLACE], found.satellites, [0, span]),
        lambda: series(found, [PLACE, PLACE], [(0, 1)], duration_ps=span, step_ps=span // 4),
    ):
        with pytest.raises(ScenarioFaults) as caught:
            use()
        (fault,) = caught.value.faults
        assert fault.path == "pattern.max_error"
        assert f"{every_s} s apart" in fault.got
    loose = fleet(tmp_path, oem(120, "LINEAR 1"), max_error="16 km")
    assert len(validity(loose, 0, 1200 * SECOND).shortcomings) == 1


@pytest.mark.parametrize(
    ("every_s", "method", "off_km"),
    [
        (60, "", 0.0),
        (240, "", 0.0),
        (60, "LAGRANGE 7", 0.0),
        (60, "LINEAR 1", 6790 * (1 - math.cos(30 * RATE))),  # its sagitta, 3.9 km
    ],
)
def test_positions_that_are_good_enough_are_used_and_reported_from_a_kilometre_on(
    every_s: int, method: str, off_km: float, tmp_path: Path
) -> None:
    found = fleet(tmp_path, oem(every_s, method))
    notes = validity(found, 0, 10 * every_s * SECOND).shortcomings
    assert len(notes) == (off_km > 1)
    if notes:
        assert f"up to {off_km:.1f} km" in notes[0]


def test_a_position_below_the_surface_is_refused_whatever_error_is_allowed(tmp_path: Path) -> None:
    half_turn_s = round(math.pi / RATE)
    found = fleet(tmp_path, oem(half_turn_s, "LINEAR 1"), max_error="100000 km")
    with pytest.raises(ScenarioFaults) as caught:
        look(found, [])
    assert "inside the earth" in caught.value.faults[0].got


def test_a_satellite_is_left_out_between_the_states_that_are_too_far_apart(tmp_path: Path) -> None:
    # A state a minute, but for a gap of an hour.
    lines = oem(60, count=90).splitlines()
    gap = [line for line in lines if not "2024-01-01T00:20" <= line[:16] <= "2024-01-01T01:10"]
    found = fleet(tmp_path, "\n".join(gap), faulty="leave_out")
    moments = [600 * SECOND, 2400 * SECOND, 5000 * SECOND]
    at = positions_km(found, moments)
    assert np.isnan(at[:, 0, 0]).tolist() == [False, True, False]
    assert len(validity(found, 0, 5000 * SECOND).faulty) == 1
    # Moments beside the gap need nothing of it.
    assert len(validity(found, 0, 900 * SECOND).faulty) == 0
    assert fleet(tmp_path, "\n".join(gap)).satellites == ("CIRCLE",)


def test_velocities_that_are_not_those_of_the_positions_are_reported(tmp_path: Path) -> None:
    still = oem(60, "LAGRANGE 7", state=lambda second: [*circle(second)[:3], 0.0, 0.0, 0.0])
    (note,) = validity(fleet(tmp_path, still), 0, 300 * SECOND).shortcomings
    assert "velocities" in note


@pytest.mark.parametrize(("count", "degree"), [(2, 3), (3, 5), (4, 7), (13, 7)])
def test_a_message_that_does_not_say_is_read_with_the_degree_that_its_states_allow(
    count: int, degree: int
) -> None:
    (found,) = ephemerides_of(oem(60, count=count)).satellites
    assert (found.segments[0].interpolation, found.segments[0].degree) == ("hermite", degree)


def test_one_state_is_a_fault_that_names_no_degree_of_ours() -> None:
    (faulty,) = ephemerides_of(oem(60, count=1)).faulty
    assert "degree" not in faulty.faults[0].allowed
    (faulty,) = ephemerides_of(oem(60, "HERMITE 7", count=2)).faulty
    assert "degree 7" in faulty.faults[0].allowed
