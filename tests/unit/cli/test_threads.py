"""`skycell run --threads`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skycell._core import RunCancelled
from skycell.experiment.run import run_spec
from skycell.scenario import NetworkSpec, parse
from tests.divided import far_apart
from tests.unit.cli.calling import skycell

LAN = {"preset": "icccn97-lan", "start": "together", "run": {"duration": "20 ms"}}


@pytest.fixture
def lan(tmp_path: Path) -> Path:
    file = tmp_path / "lan.toml"
    file.write_text('preset = "icccn97-lan"\nstart = "together"\nrun = { duration = "20 ms" }\n')
    return file


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1000000"])
def test_a_number_of_threads_that_makes_no_sense_is_a_fault(lan: Path, threads: str) -> None:
    reported = skycell("run", lan, "--threads", threads)
    assert reported.exit_code == 2
    assert "--threads" in reported.stderr


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_network_that_is_not_divided_says_so_beside_the_records(lan: Path, engine: str) -> None:
    arguments = ("run", lan, "--json", "--engine", engine)
    one = skycell(*arguments, "--threads", "1")
    two = skycell(*arguments, "--threads", "2")
    assert (one.exit_code, two.exit_code) == (0, 0)
    assert two.stdout == one.stdout
    assert len(two.stderr.splitlines()) == len(one.stderr.splitlines()) + 1
    assert "regions" not in json.loads(two.stdout)["engine_stats"]


def test_python_refuses_a_run_without_a_thread() -> None:
    spec = parse(LAN).resolve()
    with pytest.raises(ValueError, match="threads: 0"):
        run_spec(spec, threads=0)


def test_a_constellation_with_little_to_do_stays_on_one_thread() -> None:
    # The network of the example, for a hundredth of its time: some 0.1 s of work.
    text = Path("examples/hundred-cities.toml").read_text(encoding="utf-8")
    assert 'duration = "20 s"' in text
    file = Path("examples/hundred-cities.toml")
    reported = skycell("run", file, "--set", "run.duration='0.2 s'", "--threads", "2", "--json")
    assert reported.exit_code == 0
    assert "not divided" in reported.stderr
    assert "regions" not in json.loads(reported.stdout)["engine_stats"]


def _without_engine(records: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in records.items() if key != "engine_stats"}


@pytest.mark.parametrize("run", [{}, {"measure_from": "300 ms"}])
def test_a_divided_network_has_the_records_of_one_thread(run: dict[str, str]) -> None:
    scenario = far_apart(records={"traces": ["cwnd", "transfers"]})
    scenario["run"] |= run
    spec = parse(scenario).resolve()
    one, two = (run_spec(spec, threads=threads) for threads in (1, 2))
    assert (one.regions, (two.regions or {})["regions"]) == (None, 2)
    assert _without_engine(two.summary()) == _without_engine(one.summary())
    assert two.traces.keys() == one.traces.keys() == {"cwnd", "transfers"}
    assert all(two.traces[name].equals(one.traces[name]) for name in one.traces)
    assert one.traces["transfers"].height == 1


def test_a_divided_network_tells_how_far_all_of_it_is_and_can_be_cancelled() -> None:
    busy = far_apart("100000 s", traffic="persistent")
    reported: list[int] = []

    def on_progress(now_ps: int) -> bool:
        reported.append(now_ps)
        return len(reported) < 3

    with pytest.raises(RunCancelled):
        run_spec(parse(busy).resolve(), on_progress=on_progress, threads=2)
    assert len(reported) == 3
    assert reported == sorted(reported)
    assert 0 < reported[-1] < 100_000 * 10**12


def test_the_time_before_counting_begins_is_simulated_beside_the_whole_run() -> None:
    spec = parse({**LAN, "run": {"duration": "40 ms", "measure_from": "15 ms"}}).resolve()
    one, two = (run_spec(spec, threads=threads) for threads in (1, 2))
    assert two.records_json == one.records_json
    with pytest.raises(RunCancelled):
        run_spec(_long(measure_from="900 s"), on_progress=lambda _: False, threads=2)


def _long(**run: str) -> NetworkSpec:
    busy = {"duration": "1000 s", **run}
    return parse({**LAN, "run": busy}).resolve()
