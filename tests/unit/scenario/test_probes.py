"""Probes: round-trip times by hand, pings that are lost, and faults of the table."""

from typing import Any

import pytest

import skycell
from skycell.scenario import ScenarioFaults, parse

MS = 10**9
ENGINES = pytest.mark.parametrize("engine", ["fast", "reference"])


def path(**changes: Any) -> dict[str, Any]:
    """Two links of 10 Mbit/s and one of 1 Mbit/s, 12 ms from end to end; no TCP connection."""
    return {
        "run": {"duration": "10 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 0,
            "bottleneck": {
                "rate": "1 Mbit/s",
                "framing": "ip",
                "delay": "10 ms",
                "buffer": "10 packets",
                **changes,
            },
            "access": {"rate": "10 Mbit/s", "framing": "ip", "delay": "1 ms"},
        },
    }


def probes(values: dict[str, Any], engine: str = "fast") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = skycell.run(values, engine=engine).records["probes"]
    return found


@ENGINES
def test_on_an_idle_path_a_round_trip_takes_all_sending_and_propagation_times(engine: str) -> None:
    (probe,) = probes(path() | {"probe": [{"name": "ping"}]}, engine)
    # 84 octets are 672 bits: 0.0672 ms on each of four access links, 0.672 ms on the two between.
    expected = round(2 * (12 + 0.672 + 2 * 0.0672) * MS)
    assert (probe["sent"], probe["answered"]) == (10, 10)
    assert probe["rtt"]["min_ps"] == probe["rtt"]["max_ps"] == expected


@ENGINES
def test_over_cells_a_ping_is_a_frame(engine: str) -> None:
    values = path(framing="sts3c", rate="155.52 Mbit/s", buffer="100 cells")
    values["topology"]["access"] = {"delay": "1 ms"}
    (probe,) = probes(values | {"probe": [{"name": "ping"}]}, engine)
    # 84 octets, 8 of LLC/SNAP and 8 of trailer fill three cells of 2 831 197 ps (149.76 Mbit/s).
    # Switches send a cell on when it is there: three cells, and one on each of two further links.
    assert probe["rtt"]["min_ps"] == 2 * (12 * MS + 5 * 2_831_197)


@ENGINES
def test_lost_pings_have_no_answer_and_lost_answers_neither(engine: str) -> None:
    values = path(loss=0.2) | {"probe": [{"name": "ping", "interval": "10 ms"}]}
    (probe,) = probes(values, engine)
    # 64 % of 1000 survive both ways; the standard deviation is 15.
    assert probe["sent"] == 1000
    assert 570 < probe["answered"] < 710
    assert probe["rtt"]["packets"] == probe["answered"]


def test_answers_under_way_as_the_run_ends_are_missing() -> None:
    values = path() | {"probe": [{"name": "ping", "interval": "20 ms"}]}
    (probe,) = probes(values)
    # The last leaves at 9.98 s and is back 25.6 ms later, as the one before is at 9.9856 s.
    assert (probe["sent"], probe["answered"]) == (500, 499)


@ENGINES
def test_beside_a_flow_pings_wait_behind_its_data(engine: str) -> None:
    values = path()
    values["topology"]["sources"] = 1
    one = {"name": "ping", "beside": "flow1", "interval": "100 ms"}
    result = skycell.run(values | {"probe": [one]}, engine=engine)
    (probe,) = result.records["probes"]
    # Ten packets of up to 1500 octets at 1 Mbit/s: 120 ms of queue at most.
    assert 25.6 * MS < probe["rtt"]["mean_ps"] < 25.7 * MS + 120 * MS
    assert probe["rtt"]["max_ps"] > 60 * MS
    sources = [source["name"] for source in result.records["sources"]]
    assert sources == ["ping", "ping.reply"]


def test_what_is_counted_begins_where_the_run_says() -> None:
    values = path() | {"probe": [{"name": "ping"}]}
    values["run"]["measure_from"] = "4.5 s"
    (probe,) = probes(values)
    assert (probe["sent"], probe["answered"], probe["rtt"]["packets"]) == (5, 5, 5)


def test_a_bound_on_answers_is_one_on_round_trips() -> None:
    bound = {"flows": ["ping.reply"], "ctd": "20 ms"}
    values = path() | {"probe": [{"name": "ping", "interval": "10 ms"}], "qos": [bound]}
    (row,) = skycell.run(values).records["qos"]
    assert row["verdict"] == "missed"


@pytest.mark.parametrize(
    ("probe", "where"),
    [
        ({"name": "ping", "beside": "flow9"}, "probe[0].beside"),
        ({"name": "ping", "source": "a"}, "probe[0].source"),
        ({"name": "ping", "interval": "0 s"}, "probe[0].interval"),
        ({"name": "ping", "size": "20 B"}, "probe[0].size"),
        ({"name": "ping", "start": {"kind": "together", "at": "10 s"}}, "probe[0].start.at"),
    ],
)
def test_a_faulty_probe_is_a_fault_with_its_place(probe: dict[str, Any], where: str) -> None:
    with pytest.raises(ScenarioFaults) as found:
        parse(path() | {"probe": [probe]})
    assert [fault.path for fault in found.value.faults] == [where]


def test_two_probes_need_two_names() -> None:
    with pytest.raises(ScenarioFaults) as found:
        parse(path() | {"probe": [{"name": "ping"}, {"name": "ping"}]})
    assert [fault.path for fault in found.value.faults] == ["probe[1].name"]
