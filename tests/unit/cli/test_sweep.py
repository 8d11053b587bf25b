"""`skycell sweep` and `skycell analyse`, with the engine itself on a small network."""

import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.cli.calling import skycell
from tests.unit.plots.spoiling import spoil

SWEEP = """
title = "Two by two"
replications = 2
responses = ["efficiency", "timeouts"]

[scenario]
preset = "icccn97-lan"
run.duration = "100 ms"

[factors.tcp]
key = "tcp.recovery"
levels = ["reno", "sack"]

[factors.buffer]
key = "topology.bottleneck.buffer"
form = "{} cells"
levels = [300, 3000]
"""


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a folder of its own; on a busy machine these runs would tell their progress."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 1e9)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sweep's file, and in `out` what the command wrote."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    reported = skycell(
        "sweep",
        folder / "sweep.toml",
        "--out",
        folder / "out",
        "--jobs",
        1,
        "--store",
        folder / "runs.sqlite",
    )
    assert reported.exit_code == 0, reported.output
    return folder


def test_the_folder_has_the_result_the_table_the_report_and_the_figures(made: Path) -> None:
    out = made / "out"
    assert {path.name for path in out.iterdir()} == {
        "sweep.json",
        "runs.csv",
        "columns.csv",
        "report.html",
        "figures",
    }
    with (out / "runs.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert [row["seed"] for row in rows[:2]] == ["1", "2"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1>Two by two</h1>" in page
    assert (out / "figures" / "allocation-efficiency.svg").exists()


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ('["tail_drop", "epd"]', ["Note in 2 of 4 cells: tail_drop at switch port"]),
        ('["epd", "selective_drop"]', []),
    ],
)
def test_notes_on_scenarios_are_shown_with_the_plan_and_with_the_results(
    tmp_path: Path, levels: str, expected: list[str]
) -> None:
    policies = f'[factors.policy]\nkey = "topology.bottleneck.policy"\nlevels = {levels}\n'
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP[: SWEEP.index("[factors.buffer]")] + policies, encoding="utf-8")
    for options in ((), ("--plan",)):
        reported = skycell("sweep", file, *options).stdout.splitlines()
        notes = [line.partition(" switch1")[0] for line in reported if line.startswith("Note")]
        assert notes == expected
    planned = json.loads(skycell("sweep", file, "--plan", "--json").stdout)
    assert [note["cells"] for note in planned["notes"]] == [2] * len(expected)


def test_a_sweep_comes_from_standard_input_and_what_it_names_from_the_current_folder(
    made: Path, tmp_path: Path
) -> None:
    store = made / "runs.sqlite"
    reported = skycell("sweep", "-", "--json", "--store", store, stdin=SWEEP)
    assert (reported.exit_code, reported.stderr) == (0, "")
    of_file = json.loads((made / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert json.loads(reported.stdout) == of_file | {"file": "<stdin>"}
    (tmp_path / "lan.toml").write_text('preset = "icccn97-lan"\nrun.duration = "100 ms"\n')
    before, _, behind = SWEEP.partition("[scenario]")
    named = f'{before}scenario = "lan.toml"\n\n{behind[behind.index("[factors") :]}'
    reported = skycell("sweep", "-", "--plan", "--json", "--store", store, stdin=named)
    assert json.loads(reported.stdout)["missing"] == 0


def test_json_is_all_that_standard_output_holds_and_a_second_call_runs_nothing(
    file: Path, made: Path
) -> None:
    reported = skycell("sweep", file, "--json", "--store", made / "runs.sqlite")
    assert (reported.exit_code, reported.stderr) == (0, "")
    data = json.loads(reported.stdout)
    assert len(data["runs"]) == 8
    stored = json.loads((made / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert data["runs"] == stored["runs"]


def test_a_disk_that_fills_up_leaves_nothing_in_the_way_of_the_next_call(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def fill(path: Path, content: bytes) -> int:
        if ".runs.csv" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, content)

    store, out = made / "runs.sqlite", tmp_path / "out"
    command = ("sweep", made / "sweep.toml", "--store", store, "--jobs", 1, "--out", out)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fill)
        reported = skycell(*command)
    assert reported.exit_code == 1
    assert reported.stderr == (
        f"{out}/runs.csv: No space left on device\nNothing of the result was written. Finished "
        f"runs are kept in {store}: the same command does not repeat them.\n"
    )
    assert "0 simulated, 8 from the store" in reported.stdout
    assert "Written to" not in reported.stdout
    assert not out.exists()
    assert skycell(*command).exit_code == 0


def test_a_figure_that_cannot_be_drawn_is_named_and_all_else_is_written(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, "main-effects-efficiency")
    store, out = made / "runs.sqlite", tmp_path / "out"
    reported = skycell("sweep", made / "sweep.toml", "--store", store, "--jobs", 1, "--out", out)
    assert reported.exit_code == 1
    lines = reported.stderr.splitlines()
    assert lines[0].startswith("Drawing failed: figure main-effects-efficiency: ")
    assert lines[-1] == f"The rest was written to {out}; the same command with --force draws again."
    figures = {path.stem for path in (out / "figures").iterdir()}
    assert "main-effects-efficiency" not in figures
    assert {"main-effects-timeouts", "allocation-efficiency"} <= figures
    assert "This figure could not be drawn: " in (out / "report.html").read_text("utf-8")
    assert json.loads((out / "sweep.json").read_text("utf-8"))["title"] == "Two by two"
    reported = skycell("report", out, "--out", tmp_path / "a.html")
    assert reported.exit_code == 1
    assert "Error: Drawing failed: figure main-effects-efficiency: " in reported.stderr
    assert reported.stderr.endswith(f"The rest was written to {tmp_path / 'a.html'}.\n")


def test_without_a_report_the_result_and_the_table_are_written_and_it_can_be_drawn_later(
    made: Path, tmp_path: Path
) -> None:
    out = tmp_path / "bare"
    call = ("sweep", made / "sweep.toml", "--store", made / "runs.sqlite")
    reported = skycell(*call, "--out", out, "--no-report")
    assert reported.exit_code == 0, reported.output
    assert {path.name for path in out.iterdir()} == {"sweep.json", "runs.csv", "columns.csv"}
    assert skycell("report", out, "--out", tmp_path / "later.html").exit_code == 0
    assert (tmp_path / "later.html").exists()


def finished(store: Path) -> int:
    """Runs in the store, looked at without opening it as one."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        try:
            row = database.execute("SELECT count(*) FROM runs WHERE state = 'finished'").fetchone()
        except sqlite3.Error:
            return 0  # it is just being made
        return int(row[0])


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT as a terminal does")
def test_an_interrupted_sweep_goes_on_where_it_was(file: Path, tmp_path: Path) -> None:
    file.write_text(
        SWEEP.replace('"100 ms"', '"4 s"').replace("replications = 2", "replications = 8"),
        encoding="utf-8",
    )
    store = tmp_path / "runs.sqlite"
    command = [sys.executable, "-c", "from skycell.cli.main import main; main()"]
    command += ["sweep", str(file), "--jobs", "2", "--store", str(store)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # the signal reaches workers too, as from a terminal
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and finished(store) < 2:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        _, reported = process.communicate(timeout=60)
    kept = finished(store)
    assert process.returncode != 0
    assert 2 <= kept < 32
    assert f"Interrupted: {kept} of 32 runs are finished and kept in {store}" in reported
    plan = skycell("sweep", file, "--plan", "--json", "--store", store)
    assert json.loads(plan.stdout)["missing"] == 32 - kept


def test_analyse_takes_the_folder_of_a_sweep_its_file_or_its_table(made: Path) -> None:
    out = made / "out"
    folder = json.loads(skycell("analyse", out, "--json").stdout)
    assert [found["response"] for found in folder["analyses"]] == ["efficiency", "timeouts"]
    assert folder["analyses"][0]["error"]["source"] == "replications"
    stored = skycell("analyse", made / "sweep.toml", "--json", "--store", made / "runs.sqlite")
    assert json.loads(stored.stdout) == folder
    table = skycell(
        "analyse",
        out / "runs.csv",
        "--json",
        "--factor",
        "tcp",
        "--factor",
        "buffer",
        "--response",
        "efficiency",
        "--block",
        "replication",
    )
    (analysis,) = json.loads(table.stdout)["analyses"]
    with_units = folder["analyses"][0]
    assert with_units["factors"][1].pop("unit") == "cells"  # which a table does not tell
    assert analysis.pop("summary") == [s.replace(" cells", "") for s in with_units.pop("summary")]
    assert analysis == with_units


def test_a_store_that_is_only_looked_into_stays_as_it_is(made: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    shutil.copy(made / "runs.sqlite", store)
    before = store.read_bytes(), store.stat().st_mtime_ns, sorted(tmp_path.iterdir())
    analysed = skycell("analyse", made / "sweep.toml", "--store", store, "--json")
    assert analysed.exit_code == 0, analysed.stderr
    planned = skycell("sweep", made / "sweep.toml", "--plan", "--store", store)
    assert planned.exit_code == 0, planned.stderr
    assert (store.read_bytes(), store.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before


def test_looking_into_a_store_needs_no_leave_to_write(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skycell.experiment.store._PATIENCE_S", 0.01)
    store = made / "runs.sqlite"
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        reported = skycell("sweep", made / "sweep.toml", "--store", store)
        assert reported.exit_code == 2
        fault = f"{store}: cannot be opened as a store of runs: database is locked\n"
        assert reported.stderr.endswith(f"Invalid value for '--store': {fault}")
        reported = skycell("analyse", made / "sweep.toml", "--store", store, "--json")
        assert reported.exit_code == 0, reported.stderr
        reported = skycell("sweep", made / "sweep.toml", "--plan", "--store", store)
        assert reported.exit_code == 0, reported.stderr


def test_an_empty_file_that_is_only_looked_into_stays_empty(file: Path) -> None:
    store = file.with_name("empty.sqlite")
    store.touch()
    there = sorted(file.parent.iterdir())
    reported = skycell("analyse", file, "--store", store)
    assert reported.exit_code == 2
    assert "8 of 8 runs are not in the store; `skycell sweep" in reported.stderr
    assert skycell("sweep", file, "--plan", "--store", store).exit_code == 0
    assert store.read_bytes() == b""
    assert sorted(file.parent.iterdir()) == there


def _interrupt(*_arguments: object, **_named: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_in_the_analysis_tells_what_is_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skycell.cli.sweep_output.show_sweep", _interrupt)
    store = Path(".skycell", "runs.sqlite")
    reported = skycell("sweep", file, "--jobs", 1)
    assert (reported.exit_code, reported.stdout) == (1, "")
    kept = f"finished runs are kept in {store}; the same command continues from there.\n"
    assert reported.stderr == f"Interrupted: the result is not shown, {kept}"
    reported = skycell("sweep", file, "--out", "out")
    assert reported.stderr == (
        "Interrupted: the result is not shown, it is written to out; `skycell analyse out` shows "
        "it.\n"
    )
    monkeypatch.setattr("skycell.report.write_sweep_report", _interrupt)
    reported = skycell("sweep", file, "--out", "other")
    assert reported.stderr == f"Interrupted: the result is not written, {kept}"
    monkeypatch.setattr("skycell.stats.analyse", _interrupt)
    reported = skycell("analyse", file)
    assert (reported.exit_code, reported.stdout) == (1, "")
    assert reported.stderr == (
        "Interrupted: `skycell analyse` wrote nothing; the same command starts over.\n"
    )


def test_the_current_folder_is_named_by_its_path(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    reported = skycell("sweep", file, "--out", ".", "--jobs", 1)
    assert reported.exit_code == 0
    assert reported.stdout.endswith(f"\nWritten to {folder}.\n")
    reported = skycell("sweep", file, "--out", ".")
    assert (
        f"Invalid value for '--out': {folder} holds an earlier sweep (sweep.json" in reported.stderr
    )


@pytest.mark.parametrize(
    "kind", ["response", "allocation", "main-effects", "interactions", "residuals"]
)
def test_each_kind_of_a_sweep_is_drawn(made: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "a.svg"
    reported = skycell("plot", made / "out", "--kind", kind, "--level", 95, "--out", out)
    assert reported.exit_code == 0, reported.output
    assert "Two by two" in out.read_text(encoding="utf-8")


def test_options_of_sweeps_are_refused_for_runs() -> None:
    scenario = 'preset = "icccn97-lan"\nrun.duration = "20 ms"\n'
    reported = skycell("plot", "-", "--response", "efficiency", "--out", "a.svg", stdin=scenario)
    of_factors = "--response, --factor, --where, --block and --level are for sweeps and tables"
    assert f"{of_factors}, and this is neither" in reported.stderr


def test_the_report_is_written_again_at_another_level(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    reported = skycell("report", made / "out", "--out", out, "--level", 99)
    assert reported.exit_code == 0, reported.output
    text = out.read_text(encoding="utf-8")
    assert "At 99 % confidence" in text
    assert "99 % interval" in text
    assert "http://www" not in text.replace("http://www.w3.org", "")
