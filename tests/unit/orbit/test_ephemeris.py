"""Ephemerides as input: what is read, what is refused, and where the satellites are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skycell.input.faults import ScenarioFaults
from skycell.orbit import as_constellation, look, positions_km
from skycell.orbit.ephemeris import ephemerides_of
from skycell.orbit.validity import validity

SECOND = 10**12
RADIUS_KM = 7000.0
RATE = (398_600.4418 / RADIUS_KM**3) ** 0.5
EARTH_RATE = 7.292115e-5


def state(second: float) -> list[float]:
    """A circle in the plane of the equator, in axes that turn with the earth."""
    angle, rate = (RATE - EARTH_RATE) * second, RATE - EARTH_RATE
    x, y = RADIUS_KM * np.cos(angle), RADIUS_KM * np.sin(angle)
    return [x, y, 0.0, -rate * y, rate * x, 0.0]


def meta(**keys: str) -> dict[str, str]:
    usual = {
        "OBJECT_NAME": "CIRCLE",
        "OBJECT_ID": "2026-001A",
        "CENTER_NAME": "EARTH",
        "REF_FRAME": "ITRF2014",
        "TIME_SYSTEM": "UTC",
        "INTERPOLATION": "HERMITE",
        "INTERPOLATION_DEGREE": "7",
    }
    return {key: value for key, value in {**usual, **keys}.items() if value}


def moment(second: float) -> str:
    minutes, seconds = divmod(second, 60)
    return f"2026-01-01T{int(minutes) // 60:02}:{int(minutes) % 60:02}:{seconds:09.6f}"


def segment(first: int, last: int, step: int = 60, offset: float = 0.0, **keys: str) -> str:
    lines = ["META_START", *(f"{key} = {value}" for key, value in meta(**keys).items())]
    lines.append("META_STOP\nCOMMENT states")
    for second in range(first, last + 1, step):
        numbers = " ".join(f"{number:.9f}" for number in state(second))
        lines.append(f"{moment(second + offset)} {numbers}")
    return "\n".join([*lines, "COVARIANCE_START", "1.0 2.0", "COVARIANCE_STOP", ""])


def oem(*segments: str) -> str:
    return "CCSDS_OEM_VERS = 2.0\nCREATION_DATE = 2026-01-01T00:00:00\n" + "\n".join(segments)


def as_xml(first: int, last: int) -> str:
    keys = "".join(f"<{key}>{value}</{key}>" for key, value in meta().items())
    states = "".join(
        f"<stateVector><EPOCH>{moment(s)}</EPOCH>"
        + "".join(
            f"<{axis}>{number:.9f}</{axis}>"
            for axis, number in zip(
                ("X", "Y", "Z", "X_DOT", "Y_DOT", "Z_DOT"), state(s), strict=True
            )
        )
        + "</stateVector>"
        for s in range(first, last + 1, 60)
    )
    body = f"<segment><metadata>{keys}</metadata><data>{states}</data></segment>"
    return f'<?xml version="1.0"?><oem id="CCSDS_OEM_VERS"><body>{body}</body></oem>'


def sky(folder: Path, text: str, **keys: Any) -> Any:
    (folder / "states.oem").write_text(text, encoding="utf-8")
    return as_constellation(
        {
            "pattern": {"kind": "ephemeris", "file": str(folder / "states.oem"), **keys},
            "earth": {"epoch": "2026-01-01T00:10:00Z"},
        }
    )


@pytest.mark.parametrize(
    ("keys", "within_km"),
    [
        # The remainder of a polynomial through the circle: h^(n+1) / (n+1)! x product of distances.
        ({"INTERPOLATION": "HERMITE", "INTERPOLATION_DEGREE": "7"}, 1e-6),
        ({"INTERPOLATION": "", "INTERPOLATION_DEGREE": ""}, 1e-6),
        ({"INTERPOLATION": "LAGRANGE", "INTERPOLATION_DEGREE": "9"}, 1e-6),
        # A chord of 60 s: radius x (1 - cos(30 s x rate)).
        ({"INTERPOLATION": "LINEAR", "INTERPOLATION_DEGREE": "1"}, 3.5),
    ],
)
def test_positions_between_states_are_those_of_the_circle(
    keys: dict[str, Any], within_km: float, tmp_path: Path
) -> None:
    found = sky(tmp_path, oem(segment(0, 3600, **keys)))
    seconds = [0, 30, 77.7, 1000, 2400]
    ours = positions_km(found, [int(second * SECOND) for second in seconds])
    theirs = [[state(600 + second)[:3]] for second in seconds]
    worst = np.abs(ours - np.array(theirs)).max()
    assert worst < within_km
    if keys["INTERPOLATION"] == "LINEAR":
        assert worst > 1.0  # it is a chord, not the circle


def test_a_message_says_the_same_as_xml_and_in_another_time_system(tmp_path: Path) -> None:
    plain = positions_km(sky(tmp_path, oem(segment(0, 3600))), [50 * SECOND])
    assert (positions_km(sky(tmp_path, as_xml(0, 3600)), [50 * SECOND]) == plain).all()
    later = oem(segment(0, 3600, offset=37.0, TIME_SYSTEM="TAI"))
    assert (positions_km(sky(tmp_path, later), [50 * SECOND]) == plain).all()


def test_where_segments_meet_the_later_one_holds_and_a_gap_is_told(tmp_path: Path) -> None:
    # The later one begins 60 s late on the circle, as after a manoeuvre.
    met = oem(segment(0, 1200), segment(1140, 3600, offset=60.0))
    found = sky(tmp_path, met)
    validity(found, 0, 600 * SECOND)
    at = positions_km(found, [599 * SECOND, 600 * SECOND])[:, 0]
    assert np.allclose(at[0], state(1199)[:3], atol=1e-6)
    assert np.allclose(at[1], state(1140)[:3], atol=1e-6)
    apart = oem(segment(0, 1200), segment(1260, 3600))
    with pytest.raises(ScenarioFaults) as caught:
        validity(sky(tmp_path, apart), 0, 700 * SECOND)
    assert "2026-01-01" in caught.value.faults[0].got


def test_what_is_useable_bounds_what_is_used(tmp_path: Path) -> None:
    text = oem(segment(0, 3600, USEABLE_STOP_TIME=moment(1200)))
    validity(sky(tmp_path, text), 0, 600 * SECOND)
    with pytest.raises(ScenarioFaults):
        validity(sky(tmp_path, text), 0, 601 * SECOND)


def test_a_satellite_whose_states_end_is_left_out_by_wish(tmp_path: Path) -> None:
    text = oem(segment(0, 1200), segment(0, 3600, OBJECT_NAME="OTHER", OBJECT_ID="2026-001B"))
    with pytest.raises(ScenarioFaults):
        look(sky(tmp_path, text), [], at_ps=900 * SECOND)
    found = sky(tmp_path, text, faulty="leave_out")
    report = look(found, [], at_ps=900 * SECOND).validity
    assert [entry.name for entry in report.faulty] == ["CIRCLE"]
    assert sky(tmp_path, text, select=["OTHER"]).satellites == ("OTHER",)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (oem(segment(0, 600, CENTER_NAME="MOON")), "CENTER_NAME"),
        (oem(segment(0, 600, REF_FRAME="RSW")), "REF_FRAME"),
        (oem(segment(0, 600, TIME_SYSTEM="UT1")), "TIME_SYSTEM"),
        (oem(segment(0, 600, INTERPOLATION="SPLINE")), "INTERPOLATION"),
        (oem(segment(0, 600, INTERPOLATION_DEGREE="0")), "INTERPOLATION_DEGREE"),
        (oem(segment(0, 120)), "states"),
        (oem(segment(0, 600).replace("T00:05:00", "T00:02:00")), "EPOCH"),
        (oem(segment(0, 600).replace(f"{moment(300)} ", f"{moment(300)} nan")), "state"),
        (oem(segment(0, 600, USEABLE_START_TIME=moment(700))), "USEABLE_START_TIME"),
    ],
)
def test_a_segment_that_cannot_be_used_is_told_by_its_key(text: str, key: str) -> None:
    found = ephemerides_of(text)
    assert found.satellites == ()
    (entry,) = found.faulty
    assert [fault.path.split()[-1] for fault in entry.faults] == [key]


def test_a_text_without_a_segment_is_refused() -> None:
    for text in ("", "hello", "CCSDS_OEM_VERS = 2.0\n", "<oem/>", "<"):
        with pytest.raises(ScenarioFaults):
            ephemerides_of(text)
