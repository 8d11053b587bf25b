"""`skycell validate`, with the engine itself on the shortest scenario."""

import json
from pathlib import Path

import pytest

from skycell.validation.scenarios import scenarios
from tests.unit.cli.calling import skycell

QUICK = ("tail", "--replications", 1, "--jobs", 1)


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 1e9)


def test_json_has_the_form_of_reproduce() -> None:
    reported = skycell("validate", "linux", *QUICK, "--json")
    assert (reported.exit_code, reported.stderr) == (0, "")
    data = json.loads(reported.stdout)
    assert list(data) == ["engine", "rows", "conclusions"]
    row = next(row for row in data["rows"] if row["metric"] == "completion_s")
    assert (row["study"], row["table"], row["unit"], row["n"]) == ("linux", "tail", "s", 1)
    assert row["published_low"] <= row["published"] <= row["published_high"]


def test_people_see_a_line_for_each_scenario_and_the_verdicts() -> None:
    reported = skycell("validate", "linux", *QUICK)
    assert reported.exit_code == 0
    assert "tail-cubic-10M-100ms-100p-100000B" in reported.stdout
    assert "verdicts" in reported.stdout
    assert "1 scenarios, 1 runs" not in reported.stdout


def test_out_writes_rows_and_a_report_and_refuses_to_do_so_twice(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert skycell("validate", "linux", *QUICK, "--out", out).exit_code == 0
    names = {"validation.json", "rows.csv", "report.html"}
    assert {path.name for path in out.iterdir()} == names
    data = json.loads((out / "validation.json").read_text())
    assert data["replications"] == {"linux": 1}
    page = (out / "report.html").read_text()
    assert "tail-cubic-10M-100ms-100p-100000B" in page
    assert "Linux 6.18" in page
    again = skycell("validate", "linux", *QUICK, "--out", out)
    assert again.exit_code == 2
    assert "holds an earlier validation" in again.stderr
    other = skycell("reproduce", "icccn97-t3", "--out", out)
    assert "holds a validation" in other.stderr


def test_a_scenario_that_fails_ends_with_1() -> None:
    reported = skycell("validate", "linux", *QUICK, "--set", "tcp.congestion=vegas2")
    assert reported.exit_code == 1
    assert "1 runs failed" not in reported.stderr
    assert "vegas2" in reported.stderr


def test_the_list_has_every_scenario() -> None:
    reported = skycell("validate", "linux", "--list")
    assert all(found.id in reported.stdout for found in scenarios())
    listed = json.loads(skycell("validate", "linux", "two", "--list", "--json").stdout)
    assert [entry["congestion"] for entry in listed] == ["cubic", "cubic"]
