"""`skycell report`: a run as one file, and what it says when it cannot."""

import json
from pathlib import Path

import pytest

from skycell import run as run_scenario
from skycell.records import write_result
from tests.unit.cli.calling import refused, skycell
from tests.unit.plots.runs import run_without_traces, short_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with a run."""
    write_result(run_without_traces(), tmp_path / "run")
    return tmp_path / "run"


def test_a_run_becomes_one_file(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "a.html"
    result = skycell("report", run, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"Written to {out}.\n"
    assert out.read_bytes().startswith(b"<!doctype html>")
    assert [path.name for path in out.parent.iterdir()] == ["a.html"]


def test_figures_are_counted_while_a_long_report_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_result(short_run(), tmp_path / "run")
    monkeypatch.setattr("skycell.cli.progress.DrawingProgress.elapsed_if_due", lambda _: 2.0)
    reported = skycell("report", tmp_path / "run", "--out", tmp_path / "a.html")
    assert reported.exit_code == 0, reported.stderr
    lines = reported.stderr.splitlines()
    counts = [int(line.partition(" of ")[0]) for line in lines]
    assert counts == sorted(set(counts))
    # With the last one the report is as good as written.
    assert lines[-1] == "6 of 7 figures drawn"


def test_a_run_that_version_0_1_wrote_has_a_report_too(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scenario = {
        "preset": "icccn97-lan",
        "run": {"duration": "50 ms"},
        "topology": {"sources": 1},
        "traffic": {"kind": "transfers", "size": "1000 B", "count": 1},
        "start": "together",
        "records": {"traces": ["transfers"]},
    }
    write_result(run_scenario(scenario), folder)
    # What its records did not have yet.
    records = json.loads((folder / "records.json").read_text("utf-8"))
    for flow in records["flows"]:
        assert flow["transfers"] == 1
        del flow["closings"], flow["closing_ps"]
    del records["notes"], records["ceiling_bps"]
    (folder / "records.json").write_text(json.dumps(records), "utf-8")
    done = skycell("report", folder, "--out", tmp_path / "a.html")
    assert done.exit_code == 0, done.stderr


def test_a_file_of_the_run_stands_for_its_folder(run: Path, tmp_path: Path) -> None:
    assert skycell("report", run / "records.json", "--out", tmp_path / "a.html").exit_code == 0


def test_without_a_name_it_is_report_html(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert skycell("report", run).stdout == "Written to report.html.\n"


def test_a_file_is_not_replaced_without_leave(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    out.write_text("mine", encoding="utf-8")
    assert refused(skycell("report", run, "--out", out)) == (
        f"Error: Invalid value for '--out': {out} exists already; nothing was written; "
        "--force replaces it"
    )
    assert out.read_text(encoding="utf-8") == "mine"
    assert skycell("report", run, "--out", out, "--force").exit_code == 0
