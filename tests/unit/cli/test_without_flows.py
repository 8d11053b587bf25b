"""Runs of cell sources alone, as every command shows them."""

import json
from pathlib import Path

import pytest

import skycell as package
from tests.unit.cli.calling import skycell

ALONE = """
preset = "icccn97-lan"
run.duration = "20 ms"
topology.sources = 0

[[source]]
kind = "cbr"
name = "voice"
rate = "5000 cells/s"

[[source]]
kind = "cbr"
name = "video"
rate = "100000 cells/s"
"""


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    file = tmp_path / "alone.toml"
    file.write_text(ALONE, encoding="utf-8")
    return file


@pytest.fixture
def folder(alone: Path, tmp_path: Path) -> Path:
    """What the run of it left."""
    reported = skycell("run", alone, "--trace", "queue", "--out", tmp_path / "out")
    assert reported.exit_code == 0, reported.stderr
    return tmp_path / "out"


def test_json_has_no_flows_and_all_of_the_sources(alone: Path) -> None:
    records = json.loads(skycell("run", alone, "--json").stdout)
    assert records["flows"] == []
    sent = {source["name"]: source["cells"] for source in records["sources"]}
    assert sent == {"voice": 100, "video": 2000}
    assert "web" not in records


def test_a_notebook_shows_no_table_of_flows(alone: Path) -> None:
    result = package.run(str(alone))
    assert str(result).startswith("0.02 s simulated")
    assert "<table>" not in result._repr_html_()
    assert result.flows.is_empty()


def test_the_report_has_ports_and_sources_and_no_flows(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run.html"
    reported = skycell("report", folder, "--out", out)
    assert reported.exit_code == 0, reported.stderr
    text = out.read_text(encoding="utf-8")
    assert "<h1>2 cell sources over 0.02 s</h1>" in text
    assert "Cell sources alone: 2 09" in text.replace("\u202f", " ").replace("\xa0", " ")
    assert 'id="flows"' not in text
    assert 'href="#flows"' not in text
    assert 'id="ports"' in text
    assert "Queue of an output port" in text


@pytest.mark.parametrize("is_run", [False, True])
def test_a_figure_shows_the_queue_unless_another_is_asked_for(
    alone: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_run: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    reported = skycell("plot", folder if is_run else alone)
    assert (reported.exit_code, reported.stdout) == (0, "Written to queue.svg.\n"), reported.stderr
    assert "Queue (cells)" in Path("queue.svg").read_text(encoding="utf-8")


SWEEP = """
responses = {responses}
replications = 2
scenario = "alone.toml"

[factors.buffer]
key = "topology.bottleneck.buffer"
levels = ["2 cells", "50 cells"]
"""


def test_a_sweep_measures_ports(alone: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP.format(responses='["mean_queue", "cells_discarded"]'), encoding="utf-8")
    reported = skycell("sweep", file, "--json", "--jobs", 1, "--store", tmp_path / "runs.sqlite")
    assert reported.exit_code == 0, reported.stderr
    runs = json.loads(reported.stdout)["runs"]
    assert all(run["values"]["mean_queue"] > 0 for run in runs)


def test_a_sweep_that_asks_for_what_flows_get_is_refused_before_it_runs(
    alone: Path, tmp_path: Path
) -> None:
    file = tmp_path / "sweep.toml"
    responses = '["mean_queue", "efficiency", "timeouts:flow1"]'
    file.write_text(SWEEP.format(responses=responses), encoding="utf-8")
    reported = skycell("sweep", file, "--plan", "--store", tmp_path / "runs.sqlite")
    assert reported.exit_code == 2
    lines = reported.stderr.splitlines()
    assert [line for line in lines if line.startswith("  got")] == [
        '  got      "efficiency"',
        '  got      "timeouts:flow1"',
    ]
    allowed = [line.split(": ") for line in lines if line.startswith("  allowed")]
    assert [why for _, why in allowed] == ["no combination has a TCP connection"] * 2
    assert all("mean_queue" in measures for measures, _ in allowed)
    assert not any("throughput" in measures for measures, _ in allowed)
