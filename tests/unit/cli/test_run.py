import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

from skycell.plots.labels import grouped
from skycell.scenario import parse
from tests.unit.cli.calling import skycell

SHORT = 'preset = "icccn97-lan"\nstart = "together"\nrun = { duration = "20 ms" }\n'

MOVING = """
[run]
duration = "20 ms"
[topology]
kind = "dumbbell"
sources = 1
[topology.bottleneck]
rate = "10 Mbit/s"
framing = "none"
buffer = "100 cells"
schedule = { series = "moves.csv" }
[topology.access]
rate = "50 Mbit/s"
framing = "none"
delay = "5 us"
"""


def run(*arguments: object, stdin: str | None = None) -> Result:
    return skycell("run", *arguments, stdin=stdin)


@pytest.fixture
def short(tmp_path: Path) -> Path:
    file = tmp_path / "short.toml"
    file.write_text(SHORT)
    return file


def test_files_that_standard_input_names_are_looked_for_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = "time_s,delay_ms,path\n0,5,a\n0.01,6,a\n1,7,a\n"
    (tmp_path / "moves.csv").write_text(series, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("-", stdin=MOVING).exit_code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    reported = run("-", stdin=MOVING)
    assert reported.exit_code == 2
    assert reported.stderr.startswith("<stdin>:11:23: topology.bottleneck.schedule.series\n")


def test_a_run_of_which_the_fast_engine_steps_a_port_says_so(tmp_path: Path) -> None:
    outage = "time_s,delay_ms\n0,5\n0.01,\n0.011,6\n1,7\n"
    (tmp_path / "moves.csv").write_text(outage, encoding="utf-8")
    moving = tmp_path / "moving.toml"
    moving.write_text(MOVING, encoding="utf-8")
    reported = run(moving)
    assert reported.exit_code == 0
    assert "engine fast (steps 2 of 6 ports)" in " ".join(reported.stdout.split())
    records = json.loads(run(moving, "--json").stdout)
    assert records["engine"] == "fast"
    reasons = [port["reason"] for port in records["engine_stats"]["stepped_ports"]]
    assert reasons == ["time_varying_link"] * 2


def test_a_run_in_closed_form_says_no_more(short: Path) -> None:
    assert "engine fast;" in run(short).stdout
    assert json.loads(run(short, "--json").stdout)["engine_stats"]["stepped_ports"] == []


APART = """
run = { duration = "1 s" }
tcp = { mss = "1024 B" }
topology.kind = "graph"
topology.hosts = ["a", "b", "c", "d"]
topology.link = [
    { from = "a", to = "b", rate = "40000 cells/s", delay = "1 ms" },
    { from = "c", to = "d", rate = "10000 cells/s", delay = "1 ms" },
]
topology.flow = [
    { name = "wide", source = "a", destination = "b" },
    { name = "narrow", source = "c", destination = "d" },
]
"""


def test_what_links_lose_is_told_on_the_terminal_and_in_the_report(tmp_path: Path) -> None:
    file = tmp_path / "loses.toml"
    file.write_text(APART.replace('delay = "1 ms" }', 'delay = "1 ms", loss = "2 %" }'))
    reported = run(file, "--out", tmp_path / "out").stdout
    records = json.loads(run(file, "--json").stdout)
    lost = [vc["cells_lost"]["drawn"] for vc in records["vcs"]]
    # Each VC has a link of its own.
    names = ("a>b", "b>a", "c>d", "d>c")
    of_link = {port["name"]: port["departed"] for port in records["ports"]}
    by_link = dict(zip(names, lost, strict=True))
    assert records["vcs"][0]["name"] == "wide.forward"
    for name, count in by_link.items():
        if count:
            part = f"{count / of_link[name]:.2%}"
            said = f"Link {name} lost {count:,} of {of_link[name]:,} cells ({part}): {count:,} at"
            assert said.replace(",", " ") in reported
    assert sum(map(bool, lost)) >= 2
    file.write_text(APART)
    assert " lost " not in run(file).stdout
    assert skycell("report", tmp_path / "out", "--out", tmp_path / "run.html").exit_code == 0
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    rows = page[page.index("lost on links") :]
    assert all(f">{grouped(count)}<" in rows for count in lost if count)


def test_fairness_is_measured_against_max_min_fair_shares_as_in_a_sweep(tmp_path: Path) -> None:
    # Each has a link of its own and all of it: fair. Against equal shares it would be
    # (1 + 4)^2 / (2 x 17) = 0.735.
    file = tmp_path / "apart.toml"
    file.write_text(APART, encoding="utf-8")
    reported = run(file, "--out", tmp_path / "out")
    assert "fairness 1.000." in reported.stdout
    report = skycell("report", tmp_path / "out", "--out", tmp_path / "run.html")
    assert report.exit_code == 0, report.stderr
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "a fairness index of 1.000 against their max-min fair shares" in text


def test_what_web_users_waited_for_is_shown_over_all_of_them(tmp_path: Path) -> None:
    web = tmp_path / "web.toml"
    web.write_text(
        'preset = "icccn97-lan"\ntraffic = { kind = "web", page_interval = "1 s" }\n'
        'run = { duration = "800 ms" }\n',
        encoding="utf-8",
    )
    records = json.loads(run(web, "--json").stdout)["web"]
    table = [line.split() for line in run(web).stdout.splitlines()]
    (files,) = (line for line in table if line[:1] == ["files"])
    times = records["file_response"]
    assert times["count"] > 0
    assert files[1:3] == [str(records["requests"]), str(times["count"])]
    assert (files[3], files[-1]) == (
        f"{times['mean_ps'] / 1e12:.3f}",
        f"{times['max_ps'] / 1e12:.3f}",
    )


def test_json_is_all_that_standard_output_holds(short: Path) -> None:
    reported = run(short, "--json", "--seed", 7)
    assert (reported.exit_code, reported.stderr) == (0, "")
    records = json.loads(reported.stdout)
    assert records["seed"] == 7
    assert records["engine"] == "fast"
    assert records["spec_hash"] == parse(SHORT).resolve(seed=7).hash()
    assert {"version", "flows", "vcs", "ports", "ledger"} <= records.keys()


def test_what_the_command_line_sets_goes_over_the_file(short: Path) -> None:
    reported = run(
        *(short, "--json"),
        *("--set", "tcp.recovery=reno"),
        *("--set", "topology.sources=2"),
        *("--set", "topology.bottleneck.buffer=500 cells"),
        *("--set", 'topology.bottleneck.policy={ kind = "epd", drop_threshold = 0.5 }'),
    )
    records = json.loads(reported.stdout)
    assert len(records["flows"]) == 2
    same = parse(SHORT).with_values(
        {
            "tcp.recovery": "reno",
            "topology.sources": 2,
            "topology.bottleneck.buffer": "500 cells",
            "topology.bottleneck.policy": {"kind": "epd", "drop_threshold": 0.5},
        }
    )
    assert records["spec_hash"] == same.resolve().hash()


def test_the_names_of_traces_wait_for_none_of_their_tables() -> None:
    heavy = "import sys, skycell.cli.run; print(*sys.modules)"
    reported = subprocess.run(
        [sys.executable, "-c", heavy], capture_output=True, text=True, check=True
    )
    assert not {"pydantic", "polars", "numpy"} & set(reported.stdout.split())


def test_an_earlier_run_is_kept_unless_forced_and_that_is_known_before_the_run(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert run(short, "--out", out).exit_code == 0
    before = (out / "records.json").read_bytes()

    def never(*_args: object) -> None:
        raise AssertionError("the run was begun")

    monkeypatch.setattr("skycell.experiment.run.run_spec", never)
    refused = run(short, "--out", out, "--seed", 2)
    assert refused.exit_code == 2
    assert "holds an earlier run (spec.json, records.json); --force replaces it" in refused.stderr
    assert (out / "records.json").read_bytes() == before
    monkeypatch.undo()
    assert run(short, "--out", out, "--seed", 2, "--force").exit_code == 0
    assert json.loads((out / "records.json").read_text())["seed"] == 2


def test_a_run_that_fails_ends_with_one(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from skycell import _core

    def unbalanced(*_args: object) -> None:
        raise _core.RunError("cells of vc flow1.forward: 3 put in, 2 found")

    monkeypatch.setattr("skycell.experiment.run.run_spec", unbalanced)
    reported = run(short, "--json")
    assert reported.exit_code == 1
    assert reported.stdout == ""
    assert reported.stderr == "The run failed: cells of vc flow1.forward: 3 put in, 2 found\n"


def test_a_folder_that_cannot_be_written_ends_with_one(
    short: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def disk_is_full(*_args: object, **_named: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr("skycell.records.files.write_result", disk_is_full)
    reported = run(short, "--out", tmp_path / "out")
    assert reported.exit_code == 1
    assert reported.stderr == (
        f"{tmp_path}: No space left on device\nNothing of the result was written.\n"
    )
    # A run is kept nowhere else: what it found is shown.
    assert "Mbit/s" in reported.stdout
    assert "Written to" not in reported.stdout


def test_an_interrupt_ends_a_long_run_and_leaves_no_files(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text('preset = "icccn97-geo"\nrun = { duration = "90 h" }\n')
    out = tmp_path / "out"
    command = [sys.executable, "-m", "skycell.cli.main", "run", str(file), "--out", str(out)]
    script = "from skycell.cli.main import main; main()"
    command[1:3] = ["-c", script]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    # The first line of progress says that the run is under way.
    assert "simulated" in process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 1
    assert stdout == ""
    assert stderr.splitlines()[-1] == (
        "Interrupted: `skycell run` wrote nothing; the same command starts over."
    )
    assert "Traceback" not in stderr
    assert not out.exists()


def test_a_reader_that_goes_away_is_no_traceback(short: Path) -> None:
    script = "from skycell.cli.main import main; main()"
    command = [sys.executable, "-c", script, "run", str(short), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    deadline = time.monotonic() + 20
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=max(1, deadline - time.monotonic())) == 1


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(
    short: Path, tmp_path: Path
) -> None:
    name = tmp_path / ("x" * 300)
    reported = run(short, "--out", name)
    assert reported.exit_code == 2
    assert f"{name} cannot be written: File name too long" in reported.stderr


def test_a_full_disk_ends_a_run_with_its_reason(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise pl.exceptions.ComputeError("parquet: IO error: No space left on device (os error 28)")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    reported = run(short, "--trace", "cwnd", "--out", tmp_path / "run")
    assert reported.exit_code == 1
    assert reported.stderr == (
        f"{tmp_path}/run/cwnd.parquet: No space left on device\n"
        "Nothing of the result was written.\n"
    )
    assert not (tmp_path / "run").exists()
