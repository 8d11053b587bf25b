"""Congested links whose directions differ, beside the same networks written as graphs."""

from pathlib import Path
from typing import Any

import pytest

from skycell import run
from skycell.records.result import RunResult
from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.scenario.notes import notes_on_carriers
from skycell.spec.declared.network import LinkSpec

FORWARD = {
    "rate": "20 Mbit/s",
    "framing": "ip",
    "mtu": "1500 B",
    "delay": "20 ms",
    "loss": 0.001,
    "buffer": "1 BDP",
    "policy": "codel",
}
REVERSE = {
    "rate": "200 kbit/s",
    "framing": "ethernet",
    "delay": "35 ms",
    "loss": 0.01,
    "buffer": "8 kB",
    "policy": "codel",
}
ACCESS = {"rate": "100 Mbit/s", "delay": "1 ms"}
SERIES = "time_s,delay_ms,rate_mbit_s\n0,10,5\n3,20,4\n9,10,5\n"
MS = 10**9


def resolved(scenario: Scenario) -> dict[str, LinkSpec]:
    return {link.name: link for link in scenario.resolve().links}


def both_ways(scenario: Scenario) -> tuple[LinkSpec, LinkSpec]:
    links = resolved(scenario)
    return links["router1>router2"], links["router2>router1"]


def dumbbell(
    reverse: dict[str, Any] | None,
    folder: Path = Path(),
    framing_of_access: str | None = None,
    **forward: Any,
) -> Scenario:
    """Two sources; a key of `forward` that is None is left out."""
    keys: dict[str, Any] = {
        key: value for key, value in {**FORWARD, **forward}.items() if value is not None
    }
    bottleneck = keys if reverse is None else {**keys, "reverse": reverse}
    access = ACCESS if framing_of_access is None else {**ACCESS, "framing": framing_of_access}
    topology = {"kind": "dumbbell", "sources": 2, "bottleneck": bottleneck, "access": access}
    return parse({"run": {"duration": "5 s"}, "topology": topology}, folder=folder)


def parking_lot(reverse: dict[str, Any]) -> Scenario:
    bottleneck = {**FORWARD, "reverse": reverse}
    topology = {"kind": "parking_lot", "hops": 2, "bottleneck": bottleneck, "access": ACCESS}
    return parse({"run": {"duration": "5 s"}, "topology": topology})


def graph(routers: int, flows: dict[str, tuple[str, int, str, int]]) -> Scenario:
    """Routers in a row; flows by name, with both hosts and the routers at which they are."""
    access = {**ACCESS, "framing": "ip"}
    links: list[dict[str, Any]] = []
    for a in range(1, routers):
        there, back = f"router{a}", f"router{a + 1}"
        links.append({"from": there, "to": back, "one_way": True, **FORWARD})
        links.append({"from": back, "to": there, "one_way": True, **FORWARD, **REVERSE})
    for source, at, destination, end in flows.values():
        links.append({"from": source, "to": f"router{at}", **access})
        links.append({"from": f"router{end}", "to": destination, **access})
    ends = [(source, destination) for source, _, destination, _ in flows.values()]
    topology = {
        "kind": "graph",
        "hosts": [host for pair in ends for host in pair],
        "routers": [f"router{i}" for i in range(1, routers + 1)],
        "link": links,
        "flow": [
            {"name": name, "source": source, "destination": destination}
            for name, (source, destination) in zip(flows, ends, strict=True)
        ],
    }
    return parse({"run": {"duration": "5 s"}, "topology": topology})


def records_by_name(result: RunResult) -> dict[str, Any]:
    """What flows, VCs and ports counted, without the order of links."""
    return {
        table: {row["name"]: row for row in frame.to_dicts()}
        for table, frame in (("flows", result.flows), ("vcs", result.vcs), ("ports", result.ports))
    }


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("kind", ["dumbbell", "parking_lot"])
def test_a_graph_of_the_same_links_leaves_the_same_records(kind: str, engine: str) -> None:
    if kind == "dumbbell":
        short = dumbbell(REVERSE)
        ends = {f"flow{i}": (f"source{i}", 1, f"destination{i}", 2) for i in (1, 2)}
        long = graph(2, ends)
    else:
        short = parking_lot(REVERSE)
        places = {"long1": (1, 3), "cross1.1": (1, 2), "cross2.1": (2, 3)}
        hosts = {name: (f"{name}.source", f"{name}.destination") for name in places}
        long = graph(
            3, {name: (hosts[name][0], a, hosts[name][1], b) for name, (a, b) in places.items()}
        )
    found = records_by_name(run(short, engine=engine))
    assert found == records_by_name(run(long, engine=engine))
    assert found["ports"]["router2>router1"]["octets_discarded"]


def test_what_reverse_leaves_out_is_as_the_forward_direction() -> None:
    keys: dict[str, Any] = {"delay_variation": {"kind": "uniform", "spread": "1 ms"}}
    forward, back = both_ways(dumbbell({"buffer": "10 kB"}, **keys))
    link = ("framing", "delay_ps", "loss_ppb", "delay_variation", "channel", "schedule")
    assert all(getattr(back, key) == getattr(forward, key) for key in link)
    assert back.port.queues[0].capacity_cells == 10_000
    assert back.port.queues[0].policy.kind == "tail_drop"


def test_without_reverse_the_other_direction_holds_all() -> None:
    forward, back = both_ways(dumbbell(None))
    assert (forward.port.capacity_cells, back.port.capacity_cells) == (110_000, None)
    assert back.loss_ppb == forward.loss_ppb == 10**6


def test_packets_of_one_direction_make_routers_of_what_is_between() -> None:
    cells: dict[str, Any] = {"framing": "none", "mtu": None, "policy": "tail_drop"}
    forward, back = both_ways(dumbbell({"framing": "ip"}, framing_of_access="none", **cells))
    assert forward.framing is None
    assert back.framing is not None


def test_a_buffer_in_bdp_is_that_of_the_slowest_link_of_the_data() -> None:
    forward, back = both_ways(dumbbell({**REVERSE, "framing": "ip", "buffer": "1 BDP"}))
    rtt_s = 0.001 * 4 + 0.020 + 0.035
    assert forward.port.capacity_cells == int(20e6 * rtt_s / 8)
    assert back.port.capacity_cells == int(200e3 * rtt_s / 8)


def test_a_delay_of_its_own_stands_in_place_of_a_schedule(tmp_path: Path) -> None:
    (tmp_path / "link.csv").write_text(SERIES)
    schedule = {"series": "link.csv"}
    moving: dict[str, Any] = {"schedule": schedule, "delay": None}
    forward, back = both_ways(dumbbell({"buffer": "9 kB"}, tmp_path, **moving))
    assert forward.schedule == back.schedule is not None
    forward, back = both_ways(dumbbell({"delay": "7 ms"}, tmp_path, **moving))
    assert forward.schedule is not None
    assert (back.schedule, back.delay_ps) == (None, 7 * MS)


def test_each_direction_may_have_a_series(tmp_path: Path) -> None:
    (tmp_path / "down.csv").write_text(SERIES)
    (tmp_path / "up.csv").write_text("time_s,rate_mbit_s\n0,1\n2,2\n9,1\n")
    down, up = {"series": "down.csv"}, {"series": "up.csv"}
    forward, back = both_ways(
        dumbbell({"schedule": up, "delay": "30 ms", "loss": 0}, tmp_path, schedule=down, delay=None)
    )
    assert forward.schedule is not None
    assert back.schedule is not None
    assert set(forward.schedule.delays_ps) == {10 * MS, 20 * MS}
    assert set(back.schedule.delays_ps) == {30 * MS}
    assert [rate // 10**9 for rate in back.schedule.rates_millibps] == [1, 2]
    assert (forward.loss_ppb, back.loss_ppb) == (10**6, 0)


def test_a_series_that_drives_both_directions_leaves_no_rate_to_one(tmp_path: Path) -> None:
    (tmp_path / "link.csv").write_text("time_s,delay_ms,rate_mbit_s,loss\n0,10,5,0.1\n9,20,4,0\n")
    moving: dict[str, Any] = {"schedule": {"series": "link.csv"}, "delay": None, "loss": 0}
    with pytest.raises(ScenarioFaults) as faults:
        dumbbell({"rate": "1 Mbit/s", "loss": 0.01}, tmp_path, **moving)
    wrong = {fault.path.rpartition(".")[2] for fault in faults.value.faults}
    assert wrong == {"rate", "loss"}


def test_a_model_is_drawn_for_each_direction_that_has_one(tmp_path: Path) -> None:
    law = "delay_ms = { slots = [10, 30], noise = [0, 9] }"
    (tmp_path / "model.toml").write_text(f'step = "100 ms"\n{law}\n')
    model: dict[str, Any] = {"schedule": {"model": "model.toml"}}
    scenario = dumbbell(model, tmp_path, delay="20 ms")
    assert scenario.is_drawn
    forward, back = both_ways(scenario)
    assert (forward.schedule, forward.delay_ps) == (None, 20 * MS)
    assert back.schedule is not None
    forward, back = both_ways(dumbbell(model, tmp_path, delay=None, **model))
    assert forward.schedule is not None
    assert back.schedule is not None
    assert forward.schedule.delays_ps != back.schedule.delays_ps


def test_losses_behind_a_code_are_those_of_the_directions_own_framing() -> None:
    gse = {"kind": "gse", "modcod": "QPSK 1/2"}
    carrier: dict[str, Any] = {
        "rate": "10 Mbaud",
        "framing": gse,
        "loss": {"kind": "dvb_s2", "es_n0": "5 dB"},
    }
    forward, back = both_ways(
        dumbbell({"framing": {"kind": "gse", "modcod": "QPSK 3/4"}}, **carrier)
    )
    assert forward.channel is not None
    assert back.channel is not None
    assert forward.channel != back.channel


def test_a_carrier_of_the_other_direction_has_its_note() -> None:
    carrier: dict[str, Any] = {"rate": "1 Mbaud", "framing": {"kind": "gse", "modcod": "QPSK 1/2"}}
    (note,) = notes_on_carriers(dumbbell(carrier).file.topology)
    assert note.startswith("1 Mbaud of QPSK 1/2")
