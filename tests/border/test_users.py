"""Users from a scenario to figures: both engines, the tables, what counts."""

import json
from typing import Any

import pytest

from skycell import _core
from skycell.records.result import RunResult
from skycell.scenario import parse
from skycell.tables.run import terminal_tables

SCENARIO: dict[str, Any] = {
    "run": {"duration": "12 s"},
    "topology": {
        "kind": "dumbbell",
        "sources": 3,
        "access": {"delay": "1 ms"},
        "bottleneck": {"rate": "20 Mbit/s", "framing": "ip", "delay": "20 ms", "buffer": "64 kB"},
    },
    "tcp": {"preset": "linux"},
    "traffic": [
        {
            "users": 4,
            "preset": "web_2025",
            "page_size": ["20 kB", "30 kB", "40 kB", "60 kB", "90 kB"],
        },
        {"users": 2, "preset": "hls_2025", "segment": "1 s", "buffer": "12 s"},
        {"users": 2, "preset": "g711", "length": "3 s"},
        {"users": 2, "preset": "game_2008"},
        {"users": 1, "kind": "bulk", "size": "100 kB"},
    ],
}


def result(engine: str, **run: Any) -> RunResult:
    scenario = {**SCENARIO, "run": {**SCENARIO["run"], **run}}
    spec = parse(scenario).resolve()
    text, traces = _core.run(spec.canonical_json(), engine)
    return RunResult.of(spec, text, traces, "0")


def records(engine: str, **run: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result(engine, **run).records_json)
    del found["engine"], found["engine_stats"]
    return found


@pytest.mark.parametrize("run", [{}, {"measure_from": "4 s"}])
def test_both_engines_leave_the_same_records_of_users(run: dict[str, Any]) -> None:
    assert records("fast", **run) == records("reference", **run)


def test_there_is_a_table_for_each_kind_before_those_of_ports() -> None:
    titles = [table.title.partition(":")[0] for table in terminal_tables(result("fast"))]
    assert titles[:5] == ["Pages", "Videos", "Calls", "Requests and answers", "Downloads"]


def test_what_began_before_the_time_that_counts_is_left_out() -> None:
    whole, later = records("fast"), records("fast", measure_from="4 s")
    for all_of, counted in zip(whole["users"], later["users"], strict=True):
        begins = [begin for begin in all_of["rows"]["begin_ps"] if begin >= 4 * 10**12]
        assert counted["rows"]["begin_ps"] == begins
    assert 0 < later["users"][3]["responses"]["asked"] < whole["users"][3]["responses"]["asked"]
    connections = [group["connections"] for group in whole["users"]]
    assert all(count > 0 for count in (connections[0], connections[1], connections[4]))


def test_a_video_without_a_bottleneck_never_stalls() -> None:
    (group,) = [g for g in records("fast")["users"] if g["app"]["kind"] == "video"]
    assert set(group["rows"]["stalls"]) == {0}
