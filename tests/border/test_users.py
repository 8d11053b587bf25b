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


GATEWAY: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "hosts": ["server", "home", "ship"],
        "routers": ["gateway", "terminal"],
        "link": [
            {"from": here, "to": there, "framing": "ip", "buffer": "64 kB", **own}
            for here, there, own in (
                ("server", "gateway", {"rate": "100 Mbit/s", "delay": "10 ms"}),
                ("gateway", "terminal", {"rate": "20 Mbit/s", "delay": "270 ms", "loss": 0.001}),
                ("terminal", "home", {"rate": "100 Mbit/s", "delay": "1 ms"}),
                ("gateway", "ship", {"rate": "10 Mbit/s", "delay": "270 ms"}),
            )
        ],
        "flow": [
            {"name": name, "source": "server", "destination": name} for name in ("home", "ship")
        ],
    },
    "pep": [{"node": node, "buffer": "24 MB"} for node in ("gateway", "terminal")],
}
"""A network in which two proxies split what one pair of hosts sends, and one that of the other."""


def result(engine: str, tables: dict[str, Any] | None = None, **run: Any) -> RunResult:
    scenario = {**SCENARIO, **(tables or {}), "run": {**SCENARIO["run"], **run}}
    spec = parse(scenario).resolve()
    text, traces = _core.run(spec.canonical_json(), engine)
    return RunResult.of(spec, text, traces, "0")


def records(engine: str, tables: dict[str, Any] | None = None, **run: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result(engine, tables, **run).records_json)
    del found["engine"], found["engine_stats"]
    return found


@pytest.mark.parametrize("run", [{}, {"measure_from": "4 s"}])
def test_both_engines_leave_the_same_records_of_users(run: dict[str, Any]) -> None:
    assert records("fast", **run) == records("reference", **run)


@pytest.mark.parametrize("run", [{}, {"measure_from": "4 s"}])
def test_both_engines_leave_the_same_records_of_users_behind_proxies(run: dict[str, Any]) -> None:
    found = records("fast", GATEWAY, **run)
    assert found == records("reference", GATEWAY, **run)
    for group in found["users"]:
        first, second, third = group["sections"]
        assert "pep" not in first
        assert first["forward"]["octets_sent"] == group["forward"]["octets_sent"]
        assert group["connections"] >= third["connections"]
        if not run:
            assert second["pep"]["octets_accepted"] == first["forward"]["octets_delivered"]


def test_the_table_of_proxies_has_a_row_for_each_group_and_place() -> None:
    tables = terminal_tables(result("fast", GATEWAY))
    (proxies,) = [table for table in tables if table.title.startswith("Proxies")]
    names = [row[0].text for row in proxies.rows]
    # Calls, requests and answers are datagrams, which cross proxies unchanged.
    assert {"pages, proxy 1", "pages, proxy 2", "bulk, proxy 1"} <= set(names)
    assert not any(name.startswith(("call", "asks")) for name in names)


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
