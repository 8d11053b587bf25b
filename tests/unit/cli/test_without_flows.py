"""Runs of cell sources alone, as every command shows them."""

import json
import re
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


def test_check_counts_the_sources(alone: Path) -> None:
    reported = skycell("check", alone)
    assert (reported.exit_code, reported.stderr) == (0, "")
    assert reported.stdout.startswith(f"{alone}: fine; 2 cell sources, spec ")


def test_a_run_is_shown_without_what_only_flows_have(alone: Path) -> None:
    reported = skycell("run", alone)
    assert (reported.exit_code, reported.stderr) == (0, "")
    # 20 ms of 105 000 cells/s; 15 us are on the way at the end.
    total = re.search(
        r"All cell sources (\d+\.\d\d) Mbit/s of cells; (2 09\d) of 2 100", reported.stdout
    )
    assert total is not None, reported.stdout
    arrived = int(total[2].replace(" ", ""))
    assert total[1] == f"{arrived * 424 / 0.02 / 1e6:.2f}"
    for word in ("Flows", "flows", "TCP", "fairness", "nan"):
        assert word not in reported.stdout
    named = [line.partition("  ")[2].split("  ")[0] for line in reported.stdout.splitlines()]
    assert [name for name in named if name in ("all cbr", "voice", "video")] == [
        "all cbr",
        "voice",
        "video",
    ]


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


def test_what_shows_flows_is_refused_before_the_run(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skycell.experiment.run.run_spec", None)
    reported = skycell("plot", alone, "--kind", "rate", "--flow", "flow1")
    assert reported.exit_code == 2
    assert reported.stderr.splitlines() == [
        (
            "rate shows flows, and the run has none; it has queue, vc-queue, share, acr, "
            "fair-share, overload, sojourn, discards"
        ),
        "the run has no flow flow1; it has none",
        "2 faults; nothing was run.",
    ]


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
