"""Paths over time for emulators: netem, mahimahi, and a table that a link reads again."""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skycell as package
from skycell.exports.mahimahi import foreseen_octets, mahimahi_files
from skycell.exports.named import NothingToExport
from skycell.exports.netem import netem_script
from skycell.exports.path_steps import PathSteps, path_of_file, path_of_run
from skycell.records import RunResult, write_result
from skycell.spec.steps import Steps
from tests.unit.cli.calling import refused, skycell
from tests.unit.plots.runs import run_over_a_sky

MS, SECOND = 10**9, 10**12
SERIES = """time_s,delay_ms,path,rate_mbit_s,loss_percent
0,20,a,8,0
1,25.5,a,4,1.5
2,,,,
2.5,10.125,b,6,0
4,10.125,b,6,0
"""
LINK = {"framing": "ip", "buffer": "20 packets"}


def scenario_of(series: str, **run: Any) -> dict[str, Any]:
    """A flow over a link that a file drives, between two links of 3 ms and 1 ms."""
    return {
        "run": {"duration": "4 s", **run},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": {"rate": "8 Mbit/s", "schedule": {"series": series}, **LINK},
            "access": {"rate": "100 Mbit/s", "framing": "ip", "delay": "1 ms"},
        },
        "tcp": {"preset": "linux"},
    }


@cache
def run_of(series: str) -> RunResult:
    return package.run(scenario_of(series))


@pytest.fixture
def series(tmp_path: Path) -> str:
    file = tmp_path / "link.csv"
    file.write_text(SERIES)
    return str(file)


def test_the_path_of_a_flow_is_that_of_all_its_links(series: str) -> None:
    path = path_of_run(run_of(series), ())
    assert path.there.times_ps == (0, SECOND, 2 * SECOND, 5 * SECOND // 2)
    # Two access links of 1 ms.
    assert path.there.delays_ps == (22 * MS, 27 * MS + MS // 2, None, 12_125_000_000)
    assert path.there.rates[:2] == (8 * 10**9, 4 * 10**9)
    assert path.there.losses_ppb[:2] == (0, 15_000_000)
    assert path.there.paths[0] == path.there.paths[1] != path.there.paths[3]
    assert path.back == path.there
    assert path.end_ps == 4 * SECOND


def test_the_path_to_a_receiver_has_its_rate() -> None:
    beam = {
        "kind": "beam",
        "terminals": 2,
        "delay": "260 ms",
        "servers": {"delay": "10 ms"},
        "forward": {
            "rate": "10 Mbit/s",
            "framing": "ip",
            "buffer": "20 packets",
            "receivers": [{"terminals": 1, "rate": "4 Mbit/s"}],
        },
        "return": {"rate": "1 Mbit/s", "framing": "ip"},
    }
    run = package.run({"run": {"duration": "1 s"}, "topology": beam})
    paths = [path_of_run(run, (name,)) for name in ("flow1", "flow2")]
    assert [path.there.rates for path in paths] == [(4 * 10**9,), (10**10,)]
    assert [path.there.delays_ps for path in paths] == [(270 * MS,)] * 2


@pytest.mark.parametrize("name", ["link.csv", "out.csv"])
def test_a_table_of_steps_gives_the_same_link_again(name: str, series: str, tmp_path: Path) -> None:
    written = tmp_path / "out.csv"
    done = skycell("export", series, "--as", "steps", "--out", written)
    assert done.exit_code == 0, done.output
    assert "Queues are not part of a path" in done.output
    specs = [package.parse(scenario_of(str(file))).resolve() for file in (series, tmp_path / name)]
    assert specs[0].links == specs[1].links
    # Also of a run, where the links of its path become one.
    run = run_of(series)
    write_result(run, tmp_path / "run")
    call = ("export", tmp_path / "run", "--as", "steps", "--out", tmp_path / "path.csv")
    assert skycell(*call).exit_code == 0
    again = path_of_file(tmp_path / "path.csv", None)
    path = path_of_run(run, ())
    assert again.there.delays_ps[:4] == path.there.delays_ps
    assert again.there.times_ps == (*path.there.times_ps, 4 * SECOND)
    up = [at for at, delay in enumerate(path.there.delays_ps) if delay is not None]
    assert all(again.there.rates[at] == path.there.rates[at] for at in up)
    assert all(again.there.losses_ppb[at] == path.there.losses_ppb[at] for at in up)


def test_a_pair_over_a_constellation_is_a_path(tmp_path: Path) -> None:
    run = run_over_a_sky()
    path = path_of_run(run, [run.spec.flows[0].name])
    first = run.traces["sky_paths"].row(0, named=True)
    assert path.there.delays_ps[0] == first["delay_ps"]
    assert set(path.there.rates) == {10**9}
    changes = run.traces["sky_paths"].filter(run.traces["sky_paths"]["pair"] == first["pair"])
    assert set(changes["start_ps"].to_list()) <= set(path.there.times_ps)
    delays = run.traces["sky_delays"].row(1, named=True)
    assert path.there.delays_ps[path.there.times_ps.index(SECOND)] == delays["delay_ps"]
    series = tmp_path / "pair.csv"
    args = ("--pair", "london", "tokyo", "--duration", "20 s", "--csv", series)
    assert skycell("orbit", "series", "iridium-like", *args).exit_code == 0
    script = tmp_path / "path.sh"
    assert skycell("export", series, "--as", "netem", "--out", script).exit_code == 0
    assert "\n1000000000 " in script.read_text()


def test_a_part_of_a_path_begins_at_0(series: str) -> None:
    part = path_of_run(run_of(series), ()).between(3 * SECOND // 2, 3 * SECOND)
    assert part.there.times_ps == (0, SECOND // 2, SECOND)
    assert part.there.delays_ps == (27 * MS + MS // 2, None, 12_125_000_000)
    assert part.end_ps == 3 * SECOND // 2
    with pytest.raises(NothingToExport, match="the path ends at 4 s"):
        path_of_run(run_of(series), ()).between(4 * SECOND, None)


def test_the_script_calls_tc_step_by_step(series: str, tmp_path: Path) -> None:
    script = tmp_path / "path.sh"
    script.write_text(netem_script(path_of_run(run_of(series), ()), script.name))
    log = tmp_path / "log"
    for name, line in {
        "tc": f'echo "$@" >> "{log}"',
        # Time stands still, so that each wait is that since the beginning.
        "date": "echo 1000000000000000000",
        "sleep": f'echo sleep "$@" >> "{log}"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for way in ("forward", "reverse"):
        log.unlink(missing_ok=True)
        subprocess.run(["sh", script, way, "eth0"], check=True, env=environment, timeout=60)
        netem = "dev eth0 root netem limit"
        # 8 Mbit/s over 22 ms and so on: 18.3 packets of 1500 octets on their way at most.
        assert log.read_text().splitlines() == [
            f"qdisc add {netem} 1019 delay 22ms rate 8000000bit loss random 0%",
            "sleep 1.000000000",
            f"qdisc change {netem} 1019 delay 27.5ms rate 4000000bit loss random 1.5%",
            "sleep 2.000000000",
            f"qdisc change {netem} 1019 delay 27.5ms rate 4000000bit loss random 100%",
            "sleep 2.500000000",
            f"qdisc change {netem} 1019 delay 12.125ms rate 6000000bit loss random 0%",
            "sleep 4.000000000",
            "qdisc del dev eth0 root",
        ]
    wrong = subprocess.run(["sh", script, "up", "eth0"], env=environment, capture_output=True)
    assert wrong.returncode == 2


def test_opportunities_are_where_a_packet_of_1504_octets_could_have_left(tmp_path: Path) -> None:
    # 12 032 bits each: at 12.032 Mbit/s one in each ms, for 3 ms; then none; then one in 2 ms.
    rates = (12_032_000_000, 12_032_000_000, 6_016_000_000)
    steps = Steps((0, 3 * MS, 5 * MS), (MS, None, MS), (0, 1, 2), rates)
    path = PathSteps("A path", steps, steps, 9 * MS)
    files = mahimahi_files(path)
    assert files["up.trace"] == files["down.trace"] == "1\n2\n3\n7\n9\n"
    assert "mm-delay 1 mm-link" in files["replay.sh"]
    assert "begins again after 9" not in files["replay.sh"]
    assert foreseen_octets(path) == 2 * 5 * 2
    later = PathSteps("A path", steps, steps, 10 * MS)
    assert "begins again after 9 ms" in mahimahi_files(later)["replay.sh"]
    (tmp_path / "up.trace").write_text(files["up.trace"])
    again = path_of_file(tmp_path / "up.trace", None)
    assert not again.has_delays
    assert again.end_ps == 9 * MS
    # Counted over the whole of 9 ms.
    assert again.there.rates[0] == 5 * 12_032 * 1000 * 1000 // 9


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 40)), min_size=1, max_size=8),
)
def test_at_any_time_as_much_may_leave_as_the_rates_allow(parts: list[tuple[int, int]]) -> None:
    times, rates, now = [], [], 0
    for length_ms, mbps in parts:
        times.append(now)
        rates.append(mbps * 10**9)
        now += length_ms * MS
    delays = tuple(MS if rate else None for rate in rates)
    steps = Steps(tuple(times), delays, tuple(range(len(times))), tuple(rates))
    path = PathSteps("A path", steps, steps, now)
    if sum(length * mbps for length, mbps in parts) * 1000 < 12_032:
        with pytest.raises(NothingToExport, match="less than 1504 octets"):
            mahimahi_files(path)
        return
    lines = list(map(int, mahimahi_files(path)["up.trace"].split()))
    by_ms = [mbps * 1000 for length, mbps in parts for _ in range(length)]
    for ms in range(len(by_ms) + 1):
        assert sum(line <= ms for line in lines) == sum(by_ms[:ms]) // 12_032


def test_what_a_path_lacks_is_a_fault(series: str, tmp_path: Path) -> None:
    delays = tmp_path / "delays.csv"
    delays.write_text("time_s,delay_ms\n0,10\n5,20\n")
    call = ("--as", "mahimahi", "--out", tmp_path / "new")
    assert "the file has none: --rate RATE" in refused(skycell("export", delays, *call))
    assert skycell("export", delays, *call, "--rate", "1 Mbit/s").exit_code == 0
    up = (tmp_path / "new" / "up.trace").read_text().split()
    assert len(up) == 5_000_000 // 12_032
    call = ("--as", "netem", "--out", tmp_path / "x.sh")
    fault = refused(skycell("export", series, *call, "--rate", "1 Mbit/s"))
    assert "--rate is for files without rates" in fault
    assert "--flow is for runs" in refused(skycell("export", series, *call, "--flow", "flow1"))
    two = scenario_of(series)
    two["topology"]["sources"] = 2
    write_result(package.run(two), tmp_path / "two")
    assert "one of flow1, flow2" in refused(skycell("export", tmp_path / "two", *call))
    fault = refused(skycell("export", tmp_path / "two", *call, "--rate", "1 Mbit/s"))
    assert "--rate is for a file of a path" in fault
    call = ("--as", "qlog", "--out", tmp_path / "q")
    assert "is neither a folder of a run nor part of one" in refused(
        skycell("export", series, *call)
    )
