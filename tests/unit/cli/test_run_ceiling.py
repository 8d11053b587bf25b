"""What TCP got against what it could get: in the summary, the records and the report."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.calling import skycell
from tests.unit.cli.test_run import MOVING, SHORT, run


def test_beside_cell_sources_tcp_is_measured_against_what_they_leave(
    tmp_path: Path,
) -> None:
    short = tmp_path / "short.toml"
    short.write_text(SHORT, encoding="utf-8")
    video = '[[source]]\nkind = "cbr"\nname = "video"\nrate = 0.25\n'
    shared = tmp_path / "shared.toml"
    shared.write_text(f"{SHORT}\n{video}", encoding="utf-8")
    assert "of the 125.20 that TCP could get;" in run(short).stdout
    assert "of the 93.90 that cell sources leave to TCP;" in run(shared).stdout


def test_flows_beside_the_congested_link_are_no_part_of_what_tcp_could_get_there(
    tmp_path: Path,
) -> None:
    rate = 'rate = "1 Mbit/s", framing = "none", delay = "1 ms"'
    file = tmp_path / "beside.toml"
    file.write_text(
        f"""
run.duration = "300 ms"
[topology]
kind = "graph"
hosts = ["a", "b", "c"]
switches = ["s", "t"]
link = [
    {{ from = "a", to = "s", {rate} }},
    {{ from = "b", to = "s", {rate} }},
    {{ from = "c", to = "t", {rate} }},
    {{ from = "s", to = "t", {rate}, buffer = "99 cells", one_way = true }},
    {{ from = "t", to = "s", {rate}, one_way = true }},
]
flow = [
    {{ name = "across", source = "a", destination = "c" }},
    {{ name = "beside", source = "a", destination = "b" }},
]
"""
    )
    reported = run(file).stdout
    assert "All flows" in reported
    assert "that TCP could get" not in reported
    across = "topology.flow=[{ name = 'across', source = 'a', destination = 'c' }]"
    assert "of the 0.81 that TCP could get" in run(file, "--set", across).stdout


def test_a_slow_link_beside_the_congested_one_limits_what_tcp_could_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The last link has 2 Mbit/s, or 4 for 10 ms of 20; 512 of the 636 octets in the 12 cells of a
    # segment are payload.
    Path("gone.csv").write_text("time_s,delay_ms,rate_mbit_s\n0,5,4\n0.01,,\n1,5,4\n")
    for slow, reported in (
        ('rate = "2 Mbit/s", delay = "1 ms"', "1.61 that TCP could get."),
        (
            'rate = "4 Mbit/s", schedule = { series = "gone.csv" }',
            "1.61 that TCP could get of the link as it varied.",
        ),
    ):
        Path("slow.toml").write_text(
            f"""
run.duration = "20 ms"
start = "together"
[topology]
kind = "graph"
hosts = ["a", "b"]
routers = ["r", "s"]
link = [
    {{ from = "a", to = "r", rate = "10 Mbit/s", framing = "none", delay = "1 us" }},
    {{ from = "r", to = "s", rate = "9 Mbit/s", framing = "none", delay = "1 us", buffer = "1 s" }},
    {{ from = "s", to = "b", framing = "none", {slow} }},
]
flow = [{{ name = "f", source = "a", destination = "b" }}]
"""
        )
        (line,) = (one for one in run(Path("slow.toml")).stdout.splitlines() if "All flows" in one)
        assert line.endswith(f"of the {reported}")


def test_what_tcp_could_get_of_a_link_that_varies_is_what_it_could_carry_over_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # 10 ms of 20 at 10 Mbit/s, and the others at 10, at 3 or without a path: 8.05 Mbit/s are 512 of
    # the 636 octets in the 12 cells of a segment, and the mean is (10 + 3) / 2 or 5 Mbit/s.
    for name, columns, reported in (
        ("moves.csv", "delay_ms,path\n0,5,a\n1,6,a\n", "8.05 that TCP could get."),
        (
            "rate.csv",
            "delay_ms,rate_mbit_s\n0,5,10\n0.01,5,3\n1,5,3\n",
            "5.23 that TCP could get of the link as it varied.",
        ),
        (
            "loss.csv",
            "delay_ms,loss_percent\n0,5,0\n0.01,5,3\n1,5,3\n",
            "8.05 that TCP could get, losses aside.",
        ),
        (
            "gone.csv",
            "delay_ms,loss_percent,availability\n0,5,1,1\n0.01,,,0\n1,5,1,1\n",
            "4.03 that TCP could get of the link as it varied, losses aside.",
        ),
    ):
        Path(name).write_text(f"time_s,{columns}")
        moving = MOVING.replace("moves.csv", name)
        shown = run("-", "--set", "start=together", "--out", f"{name}.out", stdin=moving).stdout
        (line,) = (line for line in shown.splitlines() if line.startswith("All flows"))
        assert line.endswith(f"of the {reported}")
        records = json.loads(Path(f"{name}.out", "records.json").read_text(encoding="utf-8"))
        assert f"{records['ceiling_bps'] / 1e6:.2f}" == reported[:4]
        report = skycell("report", f"{name}.out", "--out", f"{name}.html")
        assert report.exit_code == 0, report.stderr
        assert reported.removesuffix(".") in Path(f"{name}.html").read_text(encoding="utf-8")
