"""`skycell reproduce`, on the smallest tables and with the engine itself."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from skycell.cli.study_output import show_reproduction, show_sensitivity
from skycell.cli.study_progress import StudyProgress
from skycell.experiment.store import RunStore
from skycell.studies import ConclusionResult, Progress, known_ids
from skycell.studies.sensitivity import Sensitivity, alternatives
from tests.unit.cli.calling import skycell
from tests.unit.plots.spoiling import spoil
from tests.unit.report.reproductions import reproduction as made_by_hand
from tests.unit.report.reproductions import row

ONE = "atmf960518-one"  # five runs of one source over 2 s


@pytest.fixture(autouse=True)
def _no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine these runs take long enough to tell their progress."""
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 1e9)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite"


def reproduce(*arguments: object) -> Result:
    return skycell("reproduce", *arguments)


def quick(store: Path, *arguments: object) -> Result:
    settings = ("--store", store, "--replications", 1, "--jobs", 1)
    return reproduce(*arguments, *settings)


def test_json_is_all_that_standard_output_holds(store: Path) -> None:
    reported = quick(store, ONE, "--json")
    assert (reported.exit_code, reported.stderr) == (0, "")
    data = json.loads(reported.stdout)
    assert list(data) == ["engine", "rows", "conclusions"]
    assert [row["factors"]["max_window_bytes"] for row in data["rows"]] == [
        65536,
        120000,
        300000,
        600000,
        1200000,
    ]
    assert all(row["verdict"] == "unpublished" for row in data["rows"])
    # 65536 octets a round trip of 30.1 ms are 17.4 Mbit/s. Of the 2 s up to 100 ms pass before the
    # start, half a round trip before the first octet, and slow start costs five round trips.
    assert 17.4 * (2 - 0.100 - 0.015 - 0.160) / 2 < data["rows"][0]["mean"] < 17.4 * 1.85 / 2
    (conclusion,) = data["conclusions"]
    assert (conclusion["id"], conclusion["published_holds"]) == ("1.8", None)


def test_runs_are_kept_under_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert reproduce(ONE, "--replications", 1, "--json").exit_code == 0
    assert (tmp_path / ".skycell" / "runs.sqlite").is_file()


def test_seeds_count_on_from_the_first(store: Path) -> None:
    three = json.loads(quick(store, ONE, "--json", "--seed", 11).stdout)
    two = reproduce(ONE, "--json", "--seed", 10, "--replications", 2, "--store", store, "--jobs", 1)
    row = json.loads(two.stdout)["rows"][0]
    assert row["n"] == 2
    assert three["rows"][0]["mean"] in (row["low"], row["high"])


def test_results_are_written_and_never_over_others(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    reported = quick(store, ONE, "--out", out)
    assert reported.exit_code == 0, reported.output
    assert f"Written to {out}." in reported.stdout
    result = json.loads((out / "result.json").read_text())
    assert {
        "engine",
        "version",
        "seed",
        "replications",
        "rows",
        "conclusions",
        "meanings",
    } == result.keys()
    with (out / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5
    assert rows[0]["max_window_bytes"] == "65536"
    assert rows[0]["published"] == ""
    assert any(out.glob("*.html"))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    refused = quick(store, ONE, "--out", out)
    assert refused.exit_code == 2
    assert "holds an earlier study (result.json, rows.csv" in refused.stderr
    assert "--force replaces it" in refused.stderr
    assert {path: path.read_bytes() for path in before} == before
    assert quick(store, ONE, "--out", out, "--force").exit_code == 0


def test_a_figure_that_cannot_be_drawn_is_named_and_all_else_is_written(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, f"{ONE}-throughput")
    out = tmp_path / "out"
    reported = quick(store, ONE, "--out", out)
    assert reported.exit_code == 1
    lines = reported.stderr.splitlines()
    assert lines[0].startswith(f"Drawing failed: figure {ONE}-throughput: ")
    assert lines[-1] == f"The rest was written to {out}; the same command with --force draws again."
    assert "5 without a published value" in reported.stdout
    assert {"result.json", "rows.csv", "report.html", "figures"} == {p.name for p in out.iterdir()}
    assert "This figure could not be drawn: " in (out / "report.html").read_text("utf-8")
    # The run over time is drawn all the same.
    assert {path.suffix for path in (out / "figures").glob("atmf960518-run-*")} == {
        *(".svg", ".pdf", ".png")
    }


def test_a_disk_that_fills_up_leaves_nothing_in_the_way_of_the_next_call(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def fill(path: Path, content: bytes) -> int:
        if ".rows.csv" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, content)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fill)
        reported = quick(store, ONE, "--out", out)
    assert reported.exit_code == 1
    assert reported.stderr.startswith(
        f"{out}/rows.csv: No space left on device\nNothing of the result"
    )
    assert not out.exists()
    assert quick(store, ONE, "--out", out).exit_code == 0


def test_the_list_names_every_study_and_table() -> None:
    reported = reproduce("--list")
    assert reported.exit_code == 0
    listed = {line.split()[0] for line in reported.stdout.splitlines() if line.split()}
    assert set(known_ids()) - {"all", "own"} <= listed
    data = json.loads(reproduce("--list", "--json").stdout)
    assert [study["id"] for study in data][:2] == ["atmf960518", "icccn97"]


def test_other_choices_are_compared_one_at_a_time(store: Path) -> None:
    reported = quick(store, ONE, "--json", "--vary", "tcp.rto_initial=1 s,6 s")
    assert reported.exit_code == 0, reported.output
    data = json.loads(reported.stdout)
    assert [shift["value"] for shift in data["shifts"]] == ["1 s", "6 s"]
    assert data["baseline"][0]["table"] == ONE
    assert data["flips"] == []
    shown = quick(store, ONE, "--vary", "tcp.rto_initial=1 s")
    assert "as chosen" in shown.stdout
    assert "tcp.rto_initial" in shown.stdout


def test_values_of_ones_own_are_tried_beside_those_that_the_studies_name(store: Path) -> None:
    own = ("--vary", "tcp.rto_initial=1 s,2 s", "--vary", "tcp.rto_initial=4 s")
    reported = quick(store, ONE, "--json", "--vary", "all", *own)
    assert reported.exit_code == 0, reported.output
    varied = [(shift["key"], shift["value"]) for shift in json.loads(reported.stdout)["shifts"]]
    named = [(key, value) for key, values in alternatives([ONE]).items() for value in values]
    assert ("tcp.rto_initial", "1 s") in named
    assert varied == [*named, ("tcp.rto_initial", "2 s"), ("tcp.rto_initial", "4 s")]


def test_a_failed_run_ends_with_1_and_its_reason(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A worker process finds an engine whose runs fail: a stand-in for one that is broken.
    (tmp_path / "sitecustomize.py").write_text(
        "import skycell._core as core\n"
        "def run(*_: object):\n"
        "    raise core.RunError('the ledger does not balance')\n"
        "core.run_summary = run\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    reported = quick(store, ONE)
    assert reported.exit_code == 1
    assert "5 of 5 runs failed, the first: atmf960518 one " in reported.stderr
    assert "RunError: the ledger does not balance" in reported.stderr
    assert f"{ONE}: 5 failed" in reported.stdout


def _interrupt(process: subprocess.Popen[str]) -> None:
    """As from a terminal: the signal reaches workers too."""
    os.killpg(process.pid, signal.SIGINT)


def _terminate(process: subprocess.Popen[str]) -> None:
    """As from a batch system."""
    process.terminate()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT as a terminal does")
@pytest.mark.parametrize("end", [_interrupt, _terminate])
def test_a_call_that_is_ended_keeps_its_runs_and_the_next_goes_on(
    tmp_path: Path, end: Callable[[subprocess.Popen[str]], None]
) -> None:
    store = tmp_path / "runs.sqlite"
    settings = ["--store", str(store), "--replications", "2", "--jobs", "2", "--json"]
    command = [sys.executable, "-c", "from skycell.cli.main import main; main()"]
    command += ["reproduce", "atmf970616-s4", *settings]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and _finished(store) < 2:
            time.sleep(0.1)
        end(process)
        stdout, stderr = process.communicate(timeout=30)
    kept = _finished(store)
    assert kept >= 2
    assert process.returncode == 1
    assert stdout == ""
    assert re.search(
        rf"^Interrupted: {kept} of \d+ runs are finished and kept in {re.escape(str(store))}; "
        r"the same command continues from there\.$",
        stderr,
        re.MULTILINE,
    )
    assert "Traceback" not in stderr


def _finished(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with RunStore(store) as runs:
            return len(runs)
    except Exception:  # the other process is just making it
        return 0


def test_progress_is_told_with_the_time_that_is_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 2.0)
    with StudyProgress("runs.sqlite") as progress:
        now[0] += 1.0
        progress(Progress(0, 10, 5.0, 400.0))
        assert capsys.readouterr().err == ""  # short work is silent
        now[0] += 3.0
        progress(Progress(2, 10, 100.0, 400.0))
        assert capsys.readouterr().err == (
            "2 of 10 runs, 100 of 400 s simulated (25%), about 12 s left\n"
        )
        now[0] += 5.0
        progress(Progress(3, 10, 120.0, 400.0))
        assert capsys.readouterr().err == ""  # not a line for every run


def test_progress_on_a_narrow_terminal_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 0.0)
    with StudyProgress("runs.sqlite") as progress:
        progress(Progress(2, 10, 100.0, 400.0))
        assert isinstance(sys.stderr, Terminal)
        reported = sys.stderr.getvalue()
    assert reported == "\r2 of 10 runs, 100 of 400 s si\x1b[K"


def test_progress_says_nothing_where_the_store_had_every_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Looking them up can take longer than the time that is silent.
    monkeypatch.setattr("skycell.cli.progress.QUIET_S", 0.0)
    with StudyProgress("runs.sqlite") as progress:
        progress(Progress(0, 0, 0.0, 0.0))
    assert capsys.readouterr().err == ""


def test_conclusions_that_need_other_tables_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    lacks = ConclusionResult("dfba", "11.8", "x", True, None, "no numbers", without=("a", "b"))
    show_sensitivity(Sensitivity("fast", 1, (), (), (), (lacks,)))
    assert capsys.readouterr().out.endswith("\ndfba 11.8 is not decided without a, b\n")


def test_values_errors_and_changes_have_their_unit(capsys: pytest.CaptureFixture[str]) -> None:
    made = made_by_hand(
        [row("ijsc-t5", {"vc": vc}, 12.4, (13.0, 14.0), unit="Mbit/s") for vc in (1, 2)]
    )
    show_reproduction(made)
    shown = capsys.readouterr().out
    assert shown.startswith("ijsc-t5: GEO backbone: throughput of each VC; Efficiency in Mbit/s\n")
    assert "\nijsc-t5: 0 inside, 2 near, 0 off, mean absolute error 1.100 Mbit/s\n" in shown
    show_sensitivity(Sensitivity("fast", 2, tuple(made.summaries), (), ()))
    (chosen,) = [line for line in capsys.readouterr().out.splitlines() if "as chosen" in line]
    assert chosen.split()[-1] == "Mbit/s"
