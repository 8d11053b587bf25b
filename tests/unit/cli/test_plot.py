"""`skycell plot`: what it draws, and what it says when it cannot."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skycell.plots.figure import Figure
from skycell.plots.run import run_figure
from skycell.records import write_result
from skycell.studies.figures import TracedFigure
from skycell.studies.library import load_study
from skycell.studies.model import Study
from tests.unit.cli.calling import refused, skycell
from tests.unit.plots.runs import short_run
from tests.unit.report.reproductions import ROWS, reproduction, row

SCENARIO = """
preset = "icccn97-lan"

[run]
duration = "150 ms"

[topology]
kind = "dumbbell"
sources = 2
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with a run that kept every trace."""
    write_result(short_run(), tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder with a reproduced study."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "result.json").write_text(reproduction().to_result_json(), encoding="utf-8")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with four runs of each of two TCPs at each of two sites."""
    rows = [
        f"{site},{tcp},{speed + 0.01 * run},{run}"
        for site, speeds in (("a", (1.0, 2.0)), ("b", (8.0, 9.5)))
        for tcp, speed in zip(("reno", "sack"), speeds, strict=True)
        for run in range(4)
    ]
    path = tmp_path / "speeds.csv"
    path.write_text("\n".join(["site,tcp,speed,run", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["cwnd", "sequence", "queue", "vc-queue", "discards"])
def test_each_kind_of_a_run_is_drawn(run: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / f"{kind}.svg"
    result = skycell("plot", run, "--kind", kind, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"Written to {out}.\n"
    assert out.read_bytes().startswith(b"<svg ")


def test_a_scenario_comes_from_a_file_or_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "lan.toml").write_text(SCENARIO, encoding="utf-8")
    assert skycell("plot", tmp_path / "lan.toml", "--out", tmp_path / "a.svg").exit_code == 0
    assert skycell("plot", "-", "--out", tmp_path / "b.svg", stdin=SCENARIO).exit_code == 0
    assert (tmp_path / "b.svg").read_bytes() == (tmp_path / "a.svg").read_bytes()


def test_a_file_of_the_run_stands_for_its_folder(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert skycell("plot", run / "records.json", "--out", out).exit_code == 0
    assert "Congestion window" in out.read_text(encoding="utf-8")


def test_flows_and_times_are_chosen(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    times = ("--from", "50 ms", "--to", "0.1 s")
    result = skycell("plot", run, "--flow", "flow2", *times, "--out", out)
    assert result.exit_code == 0, result.stderr
    text = out.read_text(encoding="utf-8")
    assert "Shown: flow2 of 2 flows." in text
    assert '"domain": [0.05, 0.1]' in text


def test_a_scenario_is_run_with_the_trace_that_its_figure_needs(tmp_path: Path) -> None:
    file, out = tmp_path / "two.toml", tmp_path / "a.svg"
    file.write_text(SCENARIO, encoding="utf-8")
    result = skycell("plot", file, "--kind", "vc-queue", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "flow1.forward" in out.read_text(encoding="utf-8")


def test_values_of_a_scenario_are_replaced(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO, encoding="utf-8")

    def drawn(*settings: str) -> str:
        out = tmp_path / "a.html"
        result = skycell("plot", file, "--force", "--out", out, *settings)
        assert result.exit_code == 0, result.stderr
        return out.read_text(encoding="utf-8")

    longer = drawn("--set", "run.duration=200 ms", "--set", "tcp.recovery=vanilla")
    assert longer != drawn()
    changed = 'tcp.recovery = "vanilla"' + SCENARIO.replace("150 ms", "200 ms")
    file.write_text(changed, encoding="utf-8")
    assert drawn() == longer


def test_a_study_is_drawn_from_its_folder_or_file(study: Path, tmp_path: Path) -> None:
    for number, source in enumerate((study, study / "result.json")):
        out = tmp_path / f"{number}.svg"
        result = skycell("plot", source, "--kind", "jain_fairness", "--out", out)
        assert result.exit_code == 0, result.stderr
        text = out.read_text(encoding="utf-8")
        assert "Three TCPs over a geostationary link: fairness" in text


def test_a_figure_over_time_is_run_with_what_the_study_was_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = load_study("bonaventure").traced[0]
    shown: dict[str, Any] = {}

    def draw(study: Study, wanted: TracedFigure, **how: Any) -> Figure:
        shown.update(how)
        return run_figure(short_run(), "cwnd")

    monkeypatch.setattr("skycell.report.traced.traced_figure", draw)
    values = {"metric": "throughput", "unit": "Mbit/s", "overrides": {"tcp.tick": "200 ms"}}
    rows = [row("bonaventure-throughput", {}, 1.0, (1.0,), **values)]
    file = tmp_path / "result.json"
    file.write_text(reproduction(rows, ()).to_result_json(), encoding="utf-8")
    result = skycell("plot", file, "--kind", traced.id, "--out", tmp_path / "a.svg")
    assert result.exit_code == 0, result.stderr
    assert shown["overrides"] == {"tcp.tick": "200 ms"}


def test_a_figure_of_a_stored_study_says_what_it_was_set_to(tmp_path: Path) -> None:
    rows = [replace(ROWS[0], overrides={"tcp.tick": "200 ms"})]
    file = tmp_path / "result.json"
    file.write_text(reproduction(rows, ()).to_result_json(), encoding="utf-8")
    assert skycell("plot", file, "--out", tmp_path / "a.html").exit_code == 0
    drawn = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Set differently from the study: tcp.tick = 200 ms." in drawn


def test_a_study_is_drawn_by_its_first_metric(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert skycell("plot", study, "--table", "icccn97-t3", "--out", out).exit_code == 0
    assert ">Efficiency</text>" in out.read_text(encoding="utf-8")


def test_a_file_is_not_replaced_without_leave(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    out.write_text("mine", encoding="utf-8")
    assert refused(skycell("plot", run, "--out", out)) == (
        f"Error: Invalid value for '--out': {out} exists already; nothing was written; "
        "--force replaces it"
    )
    assert out.read_text(encoding="utf-8") == "mine"
    assert skycell("plot", run, "--out", out, "--force").exit_code == 0
    assert out.read_bytes().startswith(b"<svg ")


def test_an_ending_that_is_no_format_is_refused_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skycell.experiment.run.run_spec", None)
    message = refused(skycell("plot", "-", "--out", tmp_path / "a.gif", stdin=SCENARIO))
    assert message == (
        "Error: Invalid value for '--out': a.gif: a figure is written as one of "
        ".svg, .pdf, .png, .html"
    )


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_run(
    run: Path, tmp_path: Path
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine", encoding="utf-8")
    for verb, out in (("plot", in_the_way / "a.svg"), ("report", in_the_way / "a.html")):
        assert refused(skycell(verb, run, "--out", out)) == (
            f"Error: Invalid value for '--out': {out} cannot be written: {in_the_way} is a file"
        )


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    ("make", "reported"),
    [(os.mkfifo, "it is a device or a pipe, not a file"), (os.mkdir, "Is a directory")],
)
def test_what_is_no_file_is_replaced_with_no_leave(
    run: Path, tmp_path: Path, make: Callable[[Path], None], reported: str, force: tuple[str, ...]
) -> None:
    for verb, name in (("plot", "a.svg"), ("report", "a.html")):
        out = tmp_path / name
        make(out)
        kind = out.stat().st_mode
        message = f"Error: Invalid value for '--out': {out} cannot be written: {reported}"
        assert refused(skycell(verb, run, "--out", out, *force)) == message
        assert out.stat().st_mode == kind


def test_a_link_that_leads_nowhere_is_not_replaced_without_leave(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    out.symlink_to(tmp_path / "nowhere")
    assert "a.svg exists already" in refused(skycell("plot", run, "--out", out))
    assert out.is_symlink()


def test_a_disk_that_fills_up_names_the_file(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    out = tmp_path / "a.svg"
    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    result = skycell("plot", run, "--out", out)
    assert (result.exit_code, result.stderr) == (1, f"{out}: No space left on device\n")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_of_two_tables_with_one_metric_one_has_to_be_named(study: Path, tmp_path: Path) -> None:
    file = study / "result.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data["rows"].append({**data["rows"][0], "table": "ijsc-t1"})
    file.write_text(json.dumps(data), encoding="utf-8")
    result = skycell("plot", study, "--kind", "efficiency", "--out", tmp_path / "a.svg")
    assert refused(result) == (
        f"Error: 2 tables of {file} hold efficiency; name one with --table: icccn97-t3, ijsc-t1"
    )


def test_a_study_without_results_has_no_figure(study: Path, tmp_path: Path) -> None:
    file = study / "result.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**data, "rows": []}), encoding="utf-8")
    result = skycell("plot", study, "--out", tmp_path / "a.svg")
    assert refused(result) == f"Error: {file} holds no values"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("response", "Speed"),
        ("allocation", "Share of the variation of speed"),
        ("main-effects", "90 % intervals"),
        ("interactions", "SACK"),
        ("residuals", "normal"),
    ],
)
def test_each_kind_of_a_table_is_drawn(table: Path, tmp_path: Path, kind: str, shown: str) -> None:
    out = tmp_path / "a.svg"
    columns = ("--factor", "site", "--factor", "tcp", "--response", "speed")
    result = skycell("plot", table, "--kind", kind, *columns, "--out", out)
    assert result.exit_code == 0, result.output
    text = " ".join(out.read_text(encoding="utf-8").replace("\u00a0", " ").split())
    assert shown in text
    assert "speeds.csv" in text
    sha256 = hashlib.sha256(table.read_bytes()).hexdigest()[:12]
    assert f"Table speeds.csv, 16 rows, SHA-256 {sha256}; read by skycell" in text


def test_rows_of_a_table_and_their_blocks_and_level_are_chosen(table: Path, tmp_path: Path) -> None:
    columns = ("--factor", "tcp", "--response", "speed", "--block", "run", "--level", "99")
    html = tmp_path / "a.html"
    result = skycell("plot", table, *columns, "--where", "site=b", "--out", html)
    assert result.exit_code == 0, result.output
    text = html.read_text(encoding="utf-8")
    assert "speeds.csv, only site = b" in text
    assert "99 % intervals" in text
    assert "They also include what runs with the same run share" in text
    assert "Table speeds.csv, 8 rows" in text
    assert '"value": 9.5' in text
    assert '"value": 1.0' not in text


def test_a_table_is_also_tsv_or_parquet(table: Path, tmp_path: Path) -> None:
    import polars as pl

    pl.read_csv(table).write_parquet(tmp_path / "speeds.parquet")
    pl.read_csv(table).write_csv(tmp_path / "speeds.TSV", separator="\t")
    for name in ("speeds.parquet", "speeds.TSV"):
        out = tmp_path / f"{name}.svg"
        columns = ("--factor", "tcp", "--response", "speed")
        reported = skycell("plot", tmp_path / name, *columns, "--out", out)
        assert reported.exit_code == 0, reported.output
        assert f"Table {name}, 16 rows" in out.read_text(encoding="utf-8")


def test_a_trace_of_a_run_stands_for_its_folder_and_is_no_table(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.svg"
    assert skycell("plot", run / "cwnd.parquet", "--out", out).exit_code == 0
    assert "Congestion window" in out.read_text(encoding="utf-8")


def test_a_failure_to_draw_ends_with_1(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        from skycell.plots.render_workers import RenderError

        raise RenderError("no memory")

    monkeypatch.setattr("skycell.plots.render_workers.RenderWorkers.order", fail)
    result = skycell("plot", run, "--out", tmp_path / "a.svg")
    assert result.exit_code == 1
    assert result.stderr == "Error: Drawing failed: no memory\n"
    assert not (tmp_path / "a.svg").exists()
