"""`skycell sweep` and `skycell analyse`, with the engine itself on a small network."""

import csv
import json
import os
import re
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
    (folder / "told.txt").write_text(reported.stdout, encoding="utf-8")
    return folder


def test_people_see_cells_findings_and_where_it_went(made: Path) -> None:
    reported = (made / "told.txt").read_text(encoding="utf-8")
    assert reported.startswith("Two by two")
    assert "of the variation of efficiency" in reported
    assert "8 simulated, 0 from the store" in reported
    assert f"Written to {made / 'out'}." in reported
    assert max(map(len, reported.splitlines())) <= 160


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


def test_a_plan_tells_what_would_be_run_and_runs_nothing(file: Path) -> None:
    reported = skycell("sweep", file, "--plan")
    assert reported.exit_code == 0, reported.output
    assert reported.stdout.splitlines() == [
        "Two by two",
        "  tcp: reno, sack",
        "  buffer (cells): 300, 3000",
        "  responses:",
        "    efficiency: sum of the TCP throughputs as a part of the ceiling",
        "    timeouts: retransmission timeouts",
        (
            "4 cells, 2 replications of each with the same seeds in every cell: 8 runs; 0 are in "
            "the store, 0.8 s are to be simulated."
        ),
    ]
    data = json.loads(skycell("sweep", file, "--plan", "--json", "--replications", 3).stdout)
    assert (data["cells"], data["runs"], data["missing"]) == (4, 12, 12)


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
    reported = skycell("sweep", "-", stdin=SWEEP.replace("reno", "renno"))
    assert reported.exit_code == 2
    assert reported.stderr.startswith("<stdin>:12:11: factors.tcp.levels[0]\n")


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


def test_an_earlier_result_is_not_replaced_without_leave(file: Path, made: Path) -> None:
    reported = skycell("sweep", file, "--out", made / "out")
    assert reported.exit_code == 2
    assert (
        "holds an earlier sweep (sweep.json, runs.csv, columns.csv, report.html); --force"
        in reported.stderr
    )


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
    reported = skycell(*call, "--no-report")
    assert (reported.exit_code, "give --out DIR" in reported.stderr) == (2, True)


def test_faults_of_the_file_end_with_two_and_a_missing_file_too(file: Path) -> None:
    file.write_text(SWEEP.replace('"sack"', '"sac"'), encoding="utf-8")
    reported = skycell("sweep", file)
    assert reported.exit_code == 2
    assert "sweep.toml:12:19: factors.tcp.levels[1]" in reported.stderr
    assert "1 fault; nothing was run." in reported.stderr
    reported = skycell("sweep", "no.toml")
    assert (reported.exit_code, "no.toml: No such file" in reported.stderr) == (2, True)


def test_a_store_that_is_none_ends_with_two(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    other.write_text("not a database, but a text that is long enough to be read as a header")
    reported = skycell("sweep", file, "--store", other)
    assert reported.exit_code == 2
    assert "is not a store of runs" in reported.stderr


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


def test_a_response_without_values_keeps_no_other_back_unless_it_was_asked_for(
    file: Path,
) -> None:
    # Two requests a page, 100 ms apart and more: none has come whole when the run ends.
    web = 'traffic = { kind = "web", requests = { least = 2 } }\n\n[factors.tcp]'
    text = SWEEP.replace('"timeouts"', '"mean_page_response"').replace("[factors.tcp]", web)
    file.write_text(text, encoding="utf-8")
    assert skycell("sweep", file, "--out", "out", "--jobs", "1").exit_code == 0
    reported = skycell("analyse", "out")
    assert reported.exit_code == 0, reported.stderr
    assert reported.stdout.startswith("efficiency\n")
    why = "no row has a value of mean_page_response"
    assert reported.stdout.endswith(f"\nmean_page_response (ms)\nNo analysis: {why}.\n\n")
    data = json.loads(skycell("analyse", "out", "--json").stdout)
    assert [found["response"] for found in data["analyses"]] == ["efficiency"]
    assert data["refused"] == {"mean_page_response": why}
    asked = skycell("analyse", "out", "--response", "mean_page_response")
    assert asked.exit_code == 2
    assert asked.stderr.endswith(f"Error: {why}\n")


def test_analyse_shows_the_allocation_effects_and_intervals_at_any_level(made: Path) -> None:
    reported = skycell("analyse", made / "out", "--response", "efficiency", "--level", "99 %")
    assert reported.exit_code == 0, reported.output
    for part in (
        "variation of efficiency",
        "overall mean",
        "tcp × buffer",
        "99 % interval",
        "error",
    ):
        assert part in reported.stdout
    assert "timeouts" not in reported.stdout


def test_levels_and_responses_are_told_with_their_units(made: Path) -> None:
    analysed = skycell("analyse", made / "out", "--response", "efficiency").stdout
    for reported in ((made / "told.txt").read_text(encoding="utf-8"), analysed):
        assert re.search(r"^ +(\S+ +)?buffer \(cells\) ", reported, re.MULTILINE)
        assert re.search(r"buffer: [\d.]+ with 3?000? cells, [\d.]+ with 3?000? cells;", reported)
    runs = json.loads((made / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert runs["factor_units"] == {"buffer": "cells"}


def test_more_runs_than_a_sweep_may_have_are_refused(file: Path) -> None:
    reported = skycell("sweep", file, "--plan", "--replications", 1_000_000_000)
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert reported.stderr.startswith(
        f"{file}: replications\n  got      1000000000\n  allowed  a whole number from 1 to 10 000\n"
    )


def test_runs_that_are_not_in_the_store_are_asked_for(file: Path) -> None:
    reported = skycell("analyse", file)
    assert reported.exit_code == 2
    hint = "8 of 8 runs are not in the store; `skycell sweep"
    assert f"{hint} {file}` makes them" in reported.stderr
    other = file.with_name("other.sqlite")
    reported = skycell("analyse", file, "--store", other)
    assert f"{hint} {file} --store {other}` makes them" in reported.stderr
    reported = skycell("analyse", file, "--engine", "reference")
    assert f"{hint} {file} --engine reference` makes them" in reported.stderr


def test_what_no_run_of_a_file_can_have_is_told_before_the_runs_are_made(file: Path) -> None:
    asked = ("--factor", "tpc", "--response", "rate", "--block", "day")
    chosen = ("--where", "tcp=tahoe", "--where", "city=x", "--where", "efficiency=2")
    has = "its columns are tcp, buffer, replication, seed, efficiency, timeouts, state, spec_hash"
    reported = skycell("analyse", file, *asked, *chosen, "--where", "seed")
    assert (reported.exit_code, reported.stdout) == (2, "")
    lines = reported.stderr.splitlines()
    assert lines[0].startswith("8 of 8 runs are not in the store; `skycell sweep")
    assert lines[1:3] == [
        "Invalid value for '--where': no row has tcp=tahoe; tcp has reno, sack",
        "Invalid value for '--where': city is not a column; " + has.replace("its", "the"),
    ]
    assert lines[3].startswith(f"the table has no columns tpc, rate, day; {has}; did you mean tcp?")
    assert lines[4] == "command line: --where"
    assert lines[-1] == "5 faults; nothing was run."


def test_what_runs_of_a_file_do_not_have_is_told_beside_a_faulty_option(made: Path) -> None:
    of_file = ("analyse", made / "sweep.toml", "--store", made / "runs.sqlite")
    reported = skycell(*of_file, "--where", "efficiency=2", "--order", "0")
    assert (reported.exit_code, reported.stdout) == (2, "")
    first, second, last = reported.stderr.splitlines()
    assert first == "Invalid value for '--order': 0 is not in the range x>=1."
    assert second.startswith("Invalid value for '--where': no row has efficiency=2; efficiency ha")
    assert last == "2 faults; nothing was run."


def test_a_folder_is_told_to_be_no_table(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").mkdir()
    reported = skycell("analyse", "runs.csv", "--factor", "tcp", "--response", "speed")
    assert reported.exit_code == 2
    assert "runs.csv is a folder, not a table" in reported.stderr


def test_where_nothing_is_made_no_store_is_made(file: Path) -> None:
    there = sorted(file.parent.iterdir())
    for arguments in (
        ("analyse", file),
        ("analyse", file, "--store", "new.sqlite"),
        ("sweep", file, "--plan"),
    ):
        skycell(*arguments)
        assert sorted(file.parent.iterdir()) == there
    file.write_text(SWEEP.replace("icccn97-lan", "icccn97-lam"), encoding="utf-8")
    assert skycell("sweep", file).exit_code == 2
    assert sorted(file.parent.iterdir()) == there


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


def test_faults_of_the_folder_of_a_sweep_and_of_its_cells_come_together(file: Path) -> None:
    file.write_text(SWEEP.replace('"sack"', '"sakc"'), encoding="utf-8")
    reported = skycell("sweep", file, "--out", file)
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert reported.stderr.startswith(
        f"Invalid value for '--out': {file} is a file\n"
        f'{file}:12:19: factors.tcp.levels[1]\n  got      "sakc"\n'
    )
    assert reported.stderr.endswith("\n2 faults; nothing was run.\n")


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


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--kind", "cwnd"], "cwnd: a sweep has response, allocation, main-effects, interactions"),
        (["--response", "speed"], "the table has no column speed; its columns are tcp, buffer,"),
        (["--flow", "flow1"], "are not for sweeps and tables, and this is a sweep"),
    ],
)
def test_what_a_sweep_does_not_have_is_refused(
    made: Path, arguments: list[str], reported: str
) -> None:
    result = skycell("plot", made / "out", *arguments, "--out", "a.svg")
    assert result.exit_code == 2
    assert reported in " ".join(result.stderr.split())


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
