"""Files of elements and constellations, broken in every way: read, or refused with faults."""

import json
import math
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skycell.cli.main import main
from skycell.input.faults import Fault
from skycell.orbit import as_constellation, positions_km
from skycell.orbit.elements import parse_elements, read_elements
from skycell.scenario import ScenarioFaults
from tests.unit.orbit.test_elements import FIELDS, TLE, as_csv, as_json, as_kvn, as_xml

FORMS = {"csv": as_csv, "json": as_json, "kvn": as_kvn, "xml": as_xml}
NUMBERS = [key for key in FIELDS if key not in ("OBJECT_NAME", "OBJECT_ID", "EPOCH")]
#: What stands for a value; each is no number in the range of any keyword.
NO_NUMBERS = [
    "nan",
    "-nan",
    "inf",
    "-Infinity",
    "1e999",
    "9" * 5000,
    "1_0",
    "0x10",
    "١٢",
    "()",
    "-",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", NUMBERS)
def test_what_is_no_number_is_a_fault_of_its_key(form: str, key: str) -> None:
    for value in [*NO_NUMBERS, "-999999999999"]:
        with pytest.raises(ScenarioFaults) as caught:
            parse_elements(FORMS[form]({**FIELDS, key: value}), "x")
        (fault,) = caught.value.faults
        assert (fault.file, fault.path.split()[-1]) == ("x", key), value
        assert len(str(fault)) < 400


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("NORAD_CAT_ID", "-1"),
        ("NORAD_CAT_ID", "25544.5"),
        ("NORAD_CAT_ID", "1000000000"),
        ("EPHEMERIS_TYPE", "4"),
        ("REV_AT_EPOCH", "-1"),
        ("ECCENTRICITY", "1"),
        ("MEAN_MOTION", "0"),
        ("CLASSIFICATION_TYPE", "X"),
        ("TIME_SYSTEM", "UT1"),
        ("OBJECT_NAME", "N" * 201),
        ("EPOCH", "2020-07-12"),
        ("EPOCH", "2020-07-12T01:19:07+05:00"),
        ("EPOCH", "2020-02-30T01:19:07"),
        ("EPOCH", "2020-367T01:19:07"),
        ("EPOCH", "0001-01-01T00:00:00"),
        ("EPOCH", "9999-12-31T23:59:59"),
    ],
)
def test_what_a_keyword_cannot_be_is_a_fault_of_it(form: str, key: str, value: str) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements(FORMS[form]({**FIELDS, key: value}))
    (fault,) = caught.value.faults
    assert fault.path.split()[-1] == key
    assert fault.allowed


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "written",
    [
        "2020-07-12T01:19:07.402656",
        "2020-07-12 01:19:07.402656",
        "2020-07-12T01:19:07.402656Z",
        "2020-194T01:19:07.402656000",
    ],
)
def test_an_epoch_has_a_t_or_a_blank_and_a_date_or_a_day(form: str, written: str) -> None:
    (found,) = parse_elements(FORMS[form]({**FIELDS, "EPOCH": written}))
    # 2020-07-12 is day 194 of the year.
    assert found.epoch_unix_s == pytest.approx(1594516747.402656)


#: JSON that is read, and where its only fault is.
JSONS: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "NaN": (lambda f: json.dumps([{**f, "BSTAR": math.nan}]), "[0] BSTAR"),
    "Infinity": (lambda f: json.dumps([{**f, "NORAD_CAT_ID": math.inf}]), "[0] NORAD_CAT_ID"),
    "digits": (
        lambda f: json.dumps([f]).replace('"25544"', "9" * 5000),
        "[0] NORAD_CAT_ID",
    ),
    "true": (lambda f: json.dumps([{**f, "BSTAR": True}]), "[0] BSTAR"),
    "list": (lambda f: json.dumps([{**f, "EPOCH": ["x"]}]), "[0] EPOCH"),
    "name": (lambda f: json.dumps([{**f, "OBJECT_NAME": {"a": 1}}]), "[0] OBJECT_NAME"),
    "surrogate": (lambda f: json.dumps([{**f, "OBJECT_NAME": "\ud800"}]), "[0] OBJECT_NAME"),
    "no object": (lambda f: json.dumps([f, 5]), "[1]"),
    "levels": (lambda f: "[" * 100_000 + "]" * 100_000, ""),
    "levels of a value": (lambda f: '[{"BSTAR":' + "[" * 100_000 + "]" * 100_000 + "}]", ""),
    "nothing": (lambda f: "[]", ""),
}


@pytest.mark.parametrize("case", JSONS)
def test_json_that_is_no_message_is_a_fault(case: str) -> None:
    make, path = JSONS[case]
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements(make(FIELDS))
    (fault,) = caught.value.faults
    assert fault.path == path
    assert len(str(fault)) < 400


#: Files, and a part of the only fault of each.
TEXTS = {
    as_csv(FIELDS).replace("BSTAR", "MEAN_MOTION"): "for a second time",
    f"{as_csv(FIELDS)[:-1]},1,2\n": "values",
    f"{as_kvn(FIELDS)}\nBSTAR = 1": "for a second time",
    f"<a>{'<a>' * 1000}": "no element found",
    "<?xml version='1.0' encoding='nonsense'?><ndm/>": "no element set",
    "CCSDS_OMM_VERS": "without a satellite",
    "NAME\x07\n" + "\n".join(TLE.read_text("utf-8").splitlines()[1:3]): "NAME",
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_contradicts_itself_is_a_fault(text: str) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements(text)
    assert TEXTS[text] in caught.value.faults[0].got


def test_names_differ_also_from_those_that_are_made_different() -> None:
    names = ["A", "A", "A (2)", "A"]
    text = json.dumps([{**FIELDS, "OBJECT_NAME": name} for name in names])
    assert [entry.name for entry in parse_elements(text)] == ["A", "A (2)", "A (2) (2)", "A (3)"]


def test_a_call_over_a_broken_file_ends_with_2_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(
        '[pattern]\nkind = "elements"\nfile = "x"\n[earth]\nepoch = "2020-07-12T12:00:00Z"\n',
        "utf-8",
    )
    broken: dict[str, bytes | None] = {
        "no file": None,
        "UTF-16": as_csv(FIELDS).encode("utf-16"),
        "no text": bytes(range(128, 256)),
        "a number": as_csv({**FIELDS, "NORAD_CAT_ID": "nan"}).encode(),
        "nothing": b"",
    }
    for name, octets in broken.items():
        if octets is not None:
            (tmp_path / "x").write_bytes(octets)
        done = CliRunner().invoke(
            main, ["orbit", "path", str(tmp_path / "x.toml"), "cairo", "rome"]
        )
        assert done.exit_code == 2, (name, done.output, done.exception)
        assert "fault" in done.stderr.splitlines()[-1], name


SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
PIECES = st.sampled_from(
    [
        *NO_NUMBERS,
        *["", " ", "\n", ",", '"', "{", "}", "[[", "<", ">", "&", "=", "\0", "\ufeff", "\u2028"],
        *["1 ", "2 ", "0 ", "é", "1e400", "-1", "null", "omm", "CCSDS_OMM_VERS = 2"],
    ]
)


@st.composite
def broken(draw: st.DrawFn, text: str) -> bytes:
    """A text with some parts of it replaced, as octets, perhaps in another encoding or cut."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.sampled_from([0, 1, 1, 3, 9, 80])))
        piece = draw(PIECES | st.text(max_size=4) | st.just(text[at:end] * 2))
        text = text[:at] + piece + text[end:]
    octets = text.encode(draw(st.sampled_from(["utf-8"] * 6 + ["utf-8-sig", "utf-16"])), "ignore")
    return octets[: draw(st.sampled_from([len(octets)] * 4 + [len(octets) // 2]))]


def faults_of(read: Callable[[], object]) -> tuple[Fault, ...]:
    """The faults with which something is refused; none where it is read."""
    try:
        read()
    except ScenarioFaults as refused:
        return refused.faults
    return ()


GOOD = {
    **{form: make(FIELDS) for form, make in FORMS.items()},
    "tle": "\n".join(TLE.read_text("utf-8").splitlines()[:6]),
}


@pytest.mark.parametrize("form", GOOD)
@settings(SETTINGS)
@given(data=st.data())
def test_a_broken_file_of_elements_is_read_or_refused(
    tmp_path: Path, form: str, data: st.DataObject
) -> None:
    file = tmp_path / "x"
    file.write_bytes(data.draw(broken(GOOD[form])))
    faults = faults_of(lambda: read_elements(file))
    assert all(len(str(fault)) < 1000 for fault in faults)
    if faults:
        return
    names = [entry.name for entry in read_elements(file)]
    assert len(set(names)) == len(names) > 0
    # What is read, the compiled part takes; it may find that it is no orbit.
    content = {
        "pattern": {"kind": "elements", "file": str(file)},
        "earth": {"epoch": "2020-07-12T12:00:00Z"},
    }
    faults = faults_of(lambda: positions_km(as_constellation(content), [0]))
    assert {fault.path for fault in faults} <= {"earth.epoch", "pattern.file"}


@pytest.mark.parametrize("preset", ["iridium-like", "geo-ring"])
@settings(SETTINGS)
@given(data=st.data())
def test_a_broken_constellation_is_read_or_refused(
    tmp_path: Path, preset: str, data: st.DataObject
) -> None:
    text = resources.files("skycell.orbit.presets").joinpath(f"{preset}.toml").read_text("utf-8")
    file = tmp_path / "x.toml"
    file.write_bytes(data.draw(broken(text)))
    faults = faults_of(lambda: positions_km(as_constellation(file), [0]))
    assert all(len(str(fault)) < 1000 for fault in faults)
