"""What readers of satellites' files say: read, left aside, assumed; and what a foreign file is."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.input.account import Account
from skycell.input.faults import ScenarioFaults
from skycell.orbit import as_constellation, positions_km
from skycell.orbit.elements import parse_elements, sets_of
from skycell.orbit.ephemeris import ephemerides_of
from tests.unit.orbit.test_accuracy import circle, oem
from tests.unit.orbit.test_elements import FIELDS, TLE, as_csv, as_json, as_kvn, as_xml

LINES = TLE.read_text("utf-8").splitlines()
#: As in the verification cases of AIAA 2006-6753: start, stop and step in minutes.
TIMES = "      0.0      2880.0        120.00"


def aside(account: Account | None) -> dict[str, tuple[int, tuple[str, ...]]]:
    assert account is not None
    return {part.what: (part.count, part.names) for part in account.left_aside}


def test_columns_after_the_69th_are_left_aside_and_said() -> None:
    plain = sets_of("\n".join(LINES), "x.tle")
    longer = [line + TIMES if line.startswith("2 ") else line for line in LINES]
    read = sets_of("\n".join(["#  a comment", *longer, "/EX"]), "x.tle")
    assert [entry.omm for entry in read.sets] == [entry.omm for entry in plain.sets]
    many = len(plain.sets)
    assert plain.account is not None
    assert plain.account.read == {"satellites": many}
    assert plain.account.sentences() == ()
    found = aside(read.account)
    assert found["trailing text"][0] == many
    assert found["line"] == (2, ("line 1", f"line {3 * many + 2}"))


def test_no_fault_of_two_line_elements_has_the_parser_s_words_where_it_says_what_is_allowed() -> (
    None
):
    first, second = LINES[1:3]
    for line in (
        f"{second}5",
        second[:50],
        second.replace("58.0579", "58.0578"),
        second.replace("58.0579", "58.057x"),
        second.replace("2 06251", "2 06252"),
    ):
        with pytest.raises(ScenarioFaults) as caught:
            parse_elements(f"{first}\n{line}", "x.tle")
        (fault,) = caught.value.faults
        assert fault.line == (1 if "06252" in line else 2)
        assert "error" not in fault.allowed
        assert "characters" not in fault.allowed
        assert fault.meaning


@pytest.mark.parametrize("written", [as_csv, as_json, as_kvn, as_xml])
def test_keywords_of_a_message_that_are_not_read_are_named_and_those_missing_assumed(
    written: Any,
) -> None:
    more = {**FIELDS, "USER_DEFINED_A": "5", "SOLAR_RAD_COEFF": "0.1", "CREATION_DATE": "x"}
    account = sets_of(written(more)).account
    assert aside(account) == {"keyword": (2, ("SOLAR_RAD_COEFF", "USER_DEFINED_A"))}
    assert account is not None
    assert {part.about for part in account.assumed} >= {"time_system", "mean_element_theory"}
    with pytest.raises(ScenarioFaults) as caught:
        parse_elements(written({**FIELDS, "CENTER_NAME": "MARS"}))
    assert "CENTER_NAME" in caught.value.faults[0].path


def test_satellites_that_are_not_chosen_and_second_sets_are_counted(tmp_path: Path) -> None:
    (tmp_path / "x.tle").write_text("\n".join([*LINES, *LINES[:3]]), encoding="utf-8")
    values = {
        "pattern": {
            "kind": "elements",
            "file": str(tmp_path / "x.tle"),
            "exclude": ["CBERS 2"],
        },
        "earth": {"epoch": "2006-06-26T00:00:00Z"},
    }
    (account,) = as_constellation(values).accounts
    assert aside(account)["satellite"][0] == 1
    assert [part.about for part in account.assumed] == ["sets"]
    assert "6251" in account.assumed[0].sentence


def test_an_ephemeris_says_its_states_what_it_leaves_aside_and_its_interpolation() -> None:
    text = oem(60).replace("META_STOP", "REF_FRAME_EPOCH = 2000-01-01T00:00:00\nMETA_STOP")
    lines = [f"{line} 0 0 0" if line.startswith("2024") else line for line in text.splitlines()]
    lines += ["COVARIANCE_START", "EPOCH = 2024-01-01T00:00:00", "1.0", "COVARIANCE_STOP"]
    account = ephemerides_of("\n".join(["a note", *lines]), "a.oem").account
    assert account is not None
    assert account.read == {"satellites": 1, "segments": 1, "states": 13}
    assert account.span_s == 720
    found = aside(account)
    assert found["covariance"][0] == 1
    assert found["acceleration"][0] == 13
    assert found["keyword"] == (1, ("REF_FRAME_EPOCH",))
    assert found["line"] == (1, ("line 1",))
    assert [part.about for part in account.assumed] == ["interpolation"]
    said = ephemerides_of(oem(60, "HERMITE 5"), "a.oem").account
    assert said is not None
    assert said.assumed == ()


def meme(count: int = 10) -> str:
    """A file in SpaceX's form; the header and covariance are of no account."""
    start = datetime(2024, 1, 1)
    lines = [
        "created:2024-01-01 00:10:05 UTC",
        "ephemeris_start:2024-01-01 00:00:00 UTC ephemeris_stop:2024-01-01 00:09:00 UTC",
        "ephemeris_source:blend",
        "UVW",
    ]
    for minute in range(count):
        at = f"{start + timedelta(minutes=minute):%Y%j%H%M%S}.000"
        lines.append(" ".join([at, *(f"{part:.10f}" for part in circle(60 * minute))]))
        lines += [" ".join(["4.9529272549e-07"] * 7)] * 3
    return "\n".join(lines)


def test_an_ephemeris_of_spacex_is_the_oem_that_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "MEME_44713_STARLINK-1007_3640054_Operational_1371416520_UNCLASSIFIED.txt"
    file.write_text(meme(), encoding="utf-8")
    same = oem(60, count=10).replace("TEME", "EME2000").replace("CIRCLE", "STARLINK-1007")
    (tmp_path / "same.oem").write_text(same, encoding="utf-8")
    skies = [
        as_constellation(
            {
                "pattern": {"kind": "ephemeris", "file": str(own), "select": [choice]},
                "earth": {"epoch": "2024-01-01T00:00:00Z"},
            }
        )
        for own, choice in ((file, 44713), (tmp_path / "same.oem", "STARLINK-1007"))
    ]
    times_ps = [0, 90 * 10**12, 540 * 10**12]
    ours, theirs = (positions_km(sky, times_ps) for sky in skies)
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert skies[0].satellites == ("STARLINK-1007",)
    (account,) = skies[0].accounts
    assert "is a SpaceX ephemeris" in account.heading
    assert account.read["states"] == 10
    assert aside(account) == {"covariance": (10, ())}
    broken = meme().replace("2024001000300.000", "2024001006300.000")
    assert len(ephemerides_of(broken, file.name).faulty) == 1


@pytest.mark.parametrize(
    ("text", "kind", "what"),
    [
        (oem(60), "elements", "OEM"),
        (meme(), "elements", "SpaceX"),
        ("\n".join(LINES), "ephemeris", "TLE"),
        (as_json(FIELDS), "ephemeris", "OMM"),
        ("#dP2024  1  1  0  0  0.00000000      96 ORBIT IGS20 HLM  IGS", "ephemeris", "SP3"),
        ("stk.v.11.0\nBEGIN Ephemeris", "ephemeris", "STK"),
        ("<!DOCTYPE html><html></html>", "elements", "web page"),
    ],
)
def test_a_file_of_another_form_is_named_with_what_would_be_read(
    text: str, kind: str, what: str
) -> None:
    with pytest.raises(ScenarioFaults) as caught:
        (sets_of if kind == "elements" else ephemerides_of)(text, "x")
    (fault,) = caught.value.faults
    assert what in fault.got
    reads = 'pattern.kind = "' in fault.allowed
    assert reads == (what in ("OEM", "SpaceX", "TLE", "OMM"))


def test_the_set_ups_of_other_simulators_say_what_is_not_read(tmp_path: Path) -> None:
    from tests.unit.orbit.test_fleet import STARRYNET, walker

    file = tmp_path / "config.json"
    file.write_text(json.dumps({**STARRYNET, "satellite link loss ": 1}), encoding="utf-8")
    (account,) = as_constellation(file).accounts
    assert aside(account) == {"key": (2, ("Cycle", "satellite link loss "))}
    folder = tmp_path / "hypatia"
    folder.mkdir()
    (folder / "tles.txt").write_text(walker(4, 5), encoding="utf-8")
    (folder / "isls.txt").write_text("0 1\n5 6\n", encoding="utf-8")
    (folder / "gsl_interfaces_info.txt").write_text("0,1,1.0\n", encoding="utf-8")
    (folder / "description.txt").write_text(
        "max_isl_length_m=5442958.2\nmin_elevation_deg=25\n", encoding="utf-8"
    )
    (folder / "ground_stations.txt").write_text("0,Rio,-22.9,-43.2,12\n", encoding="utf-8")
    first, satellites, links, places = as_constellation(folder).accounts
    assert aside(first) == {
        "setting": (1, ("min_elevation_deg",)),
        "other file": (1, ("gsl_interfaces_info.txt",)),
    }
    assert [part.about for part in first.assumed] == ["epoch"]
    assert satellites.read == {"satellites": 20}
    assert (links.read, places.read) == ({"links": 2}, {"places": 1})
    part = as_constellation(folder).with_values({"pattern.exclude": ["Walker 5"]})
    assert aside(part.accounts[2]) == {"link": (1, ())}


def test_columns_of_places_that_are_not_read_are_named(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name,latitude_deg,longitude_deg,owner\nhut,46,8,me,5\n", encoding="utf-8")
    values = {"preset": "kuiper-like", "ground": {"places": str(file)}}
    (account,) = as_constellation(values).accounts
    assert aside(account) == {"column": (1, ("owner",)), "value": (1, ())}


def test_the_account_of_a_file_is_shown_by_verbs_and_programs(tmp_path: Path) -> None:
    (tmp_path / "a.oem").write_text(oem(60), encoding="utf-8")
    (tmp_path / "a.toml").write_text(
        '[pattern]\nkind = "ephemeris"\nfile = "a.oem"\n[earth]\nepoch = "2024-01-01T00:00:00Z"\n',
        encoding="utf-8",
    )
    for verb in ("look", "passes"):
        arguments = ["orbit", verb, str(tmp_path / "a.toml"), "0,0", "--duration", "60 s"]
        done = CliRunner().invoke(main, [*arguments, "--json"])
        assert done.exit_code == 0, done.output
        (file,) = json.loads(done.stdout)["files"]
        assert file["read"] == {"satellites": 1, "segments": 1, "states": 13}
        assert "how to interpolate" in done.stderr
