"""The port that a response is of where a sweep names none."""

from typing import Any

import skycell
from skycell.experiment.file import parse_plan
from skycell.experiment.plan import design_runs
from tests.unit.parking_lot import PARKING_LOT

PORT = "gateway>terminal"


def asymmetric(*, limited: str = "both", **tables: Any) -> dict[str, Any]:
    """Data over 10 Mbit/s, their acknowledgements over 1 Mbit/s, with buffers one or both ways."""
    ways = {
        PORT: {"from": "gateway", "to": "terminal", "rate": "10 Mbit/s"},
        "terminal>gateway": {"from": "terminal", "to": "gateway", "rate": "1 Mbit/s"},
    }
    buffer = {"buffer": "30 packets", "policy": "tail_drop"}
    host = {"rate": "100 Mbit/s", "delay": "1 ms", "framing": "ip"}
    links = [
        way
        | {"framing": "ip", "delay": "5 ms", "one_way": True}
        | (buffer if limited in ("both", name) else {"buffer": "unlimited"})
        for name, way in ways.items()
    ]
    return {
        "run": {"duration": "3 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["server", "user"],
            "routers": ["gateway", "terminal"],
            "link": [
                host | {"from": "server", "to": "gateway"},
                host | {"from": "terminal", "to": "user"},
                *links,
            ],
            "flow": [{"name": "down", "source": "server", "destination": "user"}],
        },
        "tcp": {"preset": "linux"},
        **tables,
    }


def plan(scenario: dict[str, Any], *responses: str) -> dict[str, Any]:
    controls = {"key": "tcp.congestion", "levels": ["linux_cubic", "bbr"]}
    return {
        "title": "asymmetric",
        "replications": 1,
        "responses": list(responses),
        "scenario": scenario,
        "factors": {"tcp": controls},
    }


def test_the_default_port_is_one_that_data_cross_however_slow_the_way_back_is() -> None:
    names = ("p99_sojourn", f"p99_sojourn:{PORT}", "p99_sojourn:terminal>gateway", "utilisation")
    found = skycell.sweep(plan(asymmetric(), *names))
    assert found.subjects == {"p99_sojourn": PORT, "utilisation": PORT}
    assert found.as_dict()["subjects"] == found.subjects
    for run in found.runs:
        of_default, of_data, of_acks, busy = run.values.values()
        assert of_default == of_data
        # 30 packets of 1500 octets at 10 Mbit/s are 36 ms; 40 octets at 1 Mbit/s 0.3 ms.
        assert of_data is not None
        assert of_acks is not None
        assert busy is not None
        assert 20 < of_data < 37
        assert of_acks < 5
        assert busy > 0.8
    assert found.analyse("p99_sojourn").as_dict()["subject"] == PORT


def test_packets_of_a_source_are_data_too() -> None:
    source = {"kind": "cbr", "rate": "500 kbit/s", "packet_size": "500 B", "name": "call"}
    source |= {"source": "user", "destination": "server"}
    spec = skycell.parse(asymmetric(source=[source])).resolve()
    network = skycell.metrics.Network.of(spec)
    assert network.congested == ("terminal>gateway", PORT)


def test_where_only_acknowledgements_cross_a_limited_port_there_is_no_value_and_a_note() -> None:
    scenario = asymmetric(limited="terminal>gateway")
    plan_ = parse_plan(plan(scenario, "mean_queue", "mean_queue:terminal>gateway", "efficiency"))
    (note,) = design_runs(plan_).notes
    assert "mean_queue" in note.note
    assert "no data" in note.note
    assert note.cells == 2
    found = skycell.sweep(plan_)
    assert found.subjects == {}
    assert {run.values["mean_queue"] for run in found.runs} == {None}
    assert None not in {run.values["mean_queue:terminal>gateway"] for run in found.runs}


def test_of_several_ports_as_slow_a_note_says_which_is_meant() -> None:
    recovery = {"key": "tcp.recovery", "levels": ["reno", "sack"]}
    lot = {**plan(PARKING_LOT, "mean_queue", "p99_queue"), "factors": {"tcp": recovery}}
    *_, note = design_runs(parse_plan(lot)).notes
    spec = skycell.parse(PARKING_LOT).resolve()
    first, second, third = skycell.metrics.Network.of(spec).equally_slow
    assert note.note.startswith(f"mean_queue, p99_queue: of port {first}.")
    assert second in note.note
    assert third in note.note
    named = {**lot, "responses": [f"mean_queue:{second}"]}
    assert "of port" not in "".join(own.note for own in design_runs(parse_plan(named)).notes)


def test_a_note_whose_numbers_differ_by_cell_is_told_once() -> None:
    source = {"kind": "cbr", "rate": "20 Mbit/s", "packet_size": "500 B", "name": "udp"}
    source |= {"source": "server", "destination": "user"}
    scenario = asymmetric(source=[source])
    rates = {"key": "topology.link.2.rate", "levels": ["10 Mbit/s", "16 Mbit/s"]}
    (note,) = design_runs(
        parse_plan({**plan(scenario, "throughput"), "factors": {"rate": rates}})
    ).notes
    assert (note.cells, note.varies) == (2, True)
    assert "50.0% are dropped" in note.note
