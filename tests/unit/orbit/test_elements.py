"""Element sets in each of their formats, and their faults."""

from pathlib import Path

import pytest

from skycell.orbit import as_constellation, look
from skycell.orbit.elements import parse_elements
from skycell.scenario import ScenarioFaults

TLE = Path(__file__).parents[2] / "validation" / "orbits" / "stations.tle"

FIELDS = {
    "OBJECT_NAME": "ISS (ZARYA)",
    "OBJECT_ID": "1998-067A",
    "EPOCH": "2020-07-12T01:19:07.402656",
    "MEAN_MOTION": "15.49560532",
    "ECCENTRICITY": "0.0001771",
    "INCLINATION": "51.6435",
    "RA_OF_ASC_NODE": "225.4004",
    "ARG_OF_PERICENTER": "44.9625",
    "MEAN_ANOMALY": "5.1087",
    "BSTAR": "0.0049645",
    "NORAD_CAT_ID": "25544",
}


def as_csv(fields: dict[str, str]) -> str:
    return f"{','.join(fields)}\n{','.join(fields.values())}\n"


def as_json(fields: dict[str, str]) -> str:
    import json

    return json.dumps([fields])


def as_kvn(fields: dict[str, str]) -> str:
    lines = ["CCSDS_OMM_VERS = 2.0", "COMMENT made for a test", "REF_FRAME = TEME"]
    lines += [
        f"{key} = {value}{' [deg]' if key == 'INCLINATION' else ''}"
        for key, value in fields.items()
    ]
    return "\n".join(lines)


def as_xml(fields: dict[str, str]) -> str:
    inner = "".join(f"<{key}>{value}</{key}>" for key, value in fields.items())
    return f'<?xml version="1.0"?><ndm><omm id="CCSDS_OMM_VERS"><body>{inner}</body></omm></ndm>'


@pytest.mark.parametrize("written", [as_csv, as_json, as_kvn, as_xml])
def test_an_omm_says_the_same_in_every_format(written: object) -> None:
    (found,) = parse_elements(written(FIELDS))  # type: ignore[operator]
    assert found.name == "ISS (ZARYA)"
    assert found.omm["INCLINATION"] == 51.6435
    assert found.omm["NORAD_CAT_ID"] == 25544
    assert found.omm["MEAN_MOTION_DOT"] == 0.0
    assert found.epoch_unix_s == pytest.approx(1594516747.402656)


@pytest.mark.parametrize("written", [as_csv, as_json, as_kvn, as_xml])
def test_every_fault_of_a_message_is_told(written: object) -> None:
    broken = {**FIELDS, "INCLINATION": "190", "EPOCH": "yesterday", "MEAN_ELEMENT_THEORY": "DSST"}
    del broken["BSTAR"]
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements(written(broken))  # type: ignore[operator]
    reported = {fault.path.split()[-1]: fault.got for fault in caught.value.faults}
    assert reported == {
        "INCLINATION": '"190"',
        "EPOCH": '"yesterday"',
        "BSTAR": "nothing",
        "MEAN_ELEMENT_THEORY": '"DSST"',
    }


def test_two_line_elements_have_names_or_numbers_that_differ() -> None:
    lines = TLE.read_text("utf-8").splitlines()
    twice = "\n".join([*lines[1:3], *lines[1:3], *lines[:3]])
    assert [entry.name for entry in parse_elements(twice)] == ["6251", "6251 (2)", "DELTA 1 DEB"]


def test_a_broken_line_is_told_by_its_number() -> None:
    lines = TLE.read_text("utf-8").splitlines()
    lines[2] = lines[2].replace("58.0579", "58.0578")
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements("\n".join(lines), "x.tle")
    (fault,) = caught.value.faults
    assert (fault.file, fault.line) == ("x.tle", 3)
    assert "58.0578" in fault.got
    assert fault.meaning == "checksum"
    assert fault.allowed.startswith("3,")


def test_what_a_file_holds_is_told_without_its_control_characters() -> None:
    lines = TLE.read_text("utf-8").splitlines()
    lines[2] = f"{lines[2][:60]}\x1b[2J"
    for text in (as_json({**FIELDS, "EPOCH": "\x1b[2J"}), "\n".join(lines)):
        with pytest.raises(ScenarioFaults) as caught:
            parse_elements(text)
        assert "\x1b" not in str(caught.value)
        assert "[2J" in str(caught.value)


@pytest.mark.parametrize("text", ["", "{}", "[]", "<ndm/>", "hello"])
def test_a_text_without_elements_is_refused(text: str) -> None:
    with pytest.raises(ScenarioFaults):
        parse_elements(text)


def test_an_epoch_far_from_the_elements_is_told_in_days() -> None:
    data = {
        "pattern": {"kind": "elements", "file": str(TLE)},
        "earth": {"epoch": "2006-07-10T00:00:00Z"},
    }
    with pytest.raises(ScenarioFaults) as caught:
        look(as_constellation(data), [])
    # 2006-06-25 19:46:44 to 2006-07-10: 14.2 days.
    reported = [fault.got for fault in caught.value.faults]
    assert "14.2 days from the epoch of DELTA 1 DEB" in reported
    assert "up to 336 h (pattern.farthest" in caught.value.faults[0].allowed


def test_an_omm_may_begin_with_comments_and_have_its_numbers_as_texts() -> None:
    (found,) = parse_elements(f"COMMENT from a catalogue\n\n{as_kvn(FIELDS)}")
    (plain,) = parse_elements(as_kvn(FIELDS))
    assert found.omm == plain.omm
    import json

    as_numbers = {k: float(v) if v.replace(".", "").isdigit() else v for k, v in FIELDS.items()}
    (text,), (number,) = parse_elements(as_json(FIELDS)), parse_elements(json.dumps(as_numbers))
    assert text.omm == number.omm


@pytest.mark.parametrize("written", [as_csv, as_json, as_kvn, as_xml])
@pytest.mark.parametrize(
    ("epoch", "system", "expected"),
    [
        ("2020-07-12 01:19:07.402656", "UTC", "2020-07-12T01:19:07.402656"),
        ("2020-194T01:19:07.402656Z", "UTC", "2020-07-12T01:19:07.402656"),
        # TAI - UTC is 37 s from 2017 on, 36 s before; GPS is 19 s behind TAI, TT 32.184 s ahead.
        ("2020-07-12T01:19:44.402656", "TAI", "2020-07-12T01:19:07.402656"),
        ("2020-07-12T01:19:25.402656", "GPS", "2020-07-12T01:19:07.402656"),
        ("2020-07-12T01:20:16.586656", "TT", "2020-07-12T01:19:07.402656"),
        ("2016-12-31T23:59:59.5", "TAI", "2016-12-31T23:59:23.5"),
        ("2017-01-01T00:00:37", "TAI", "2017-01-01T00:00:00"),
        ("1972-01-01T00:00:10", "TAI", "1972-01-01T00:00:00"),
    ],
)
def test_epochs_are_read_as_catalogues_and_time_systems_have_them(
    written: object, epoch: str, system: str, expected: str
) -> None:
    fields = {**FIELDS, "EPOCH": epoch, "TIME_SYSTEM": system}
    (found,) = parse_elements(written(fields))  # type: ignore[operator]
    assert (found.omm["EPOCH"], found.omm["TIME_SYSTEM"]) == (expected, "UTC")


@pytest.mark.parametrize(
    ("key", "value"), [("EPHEMERIS_TYPE", "4"), ("MEAN_ELEMENT_THEORY", "SGP4-XP")]
)
def test_elements_for_another_propagator_say_so(key: str, value: str) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements(as_json({**FIELDS, key: value}))
    (fault,) = caught.value.faults
    assert "another propagator" in str(fault)
