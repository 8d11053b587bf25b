"""The terms of delays over constellations, against runs in which they are known."""

from typing import Any

import pytest

import skycell
from tests.unit.report.drawing import page_of_run

MS = 10**9
PATH = {"constellation": "jsac98-6x11", "from": "new_york", "to": "paris", "start": "0 s"}
RING = {**PATH, "constellation": "geo-ring", "to": "tokyo"}


def scenario(schedule: dict[str, Any], **changed: Any) -> skycell.Scenario:
    """One connection, and a host's port that waits for nothing."""
    bottleneck = {"rate": "20 Mbit/s", "framing": "none", "buffer": "4000 cells"}
    values = {
        "run": {"duration": "10 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": {**bottleneck, "schedule": schedule},
            "access": {
                "rate": "50 Mbit/s",
                "framing": "none",
                "delay": "2 ms",
                "frame_jitter": "0 s",
            },
        },
        "tcp": {"mss": "1460 B", "receiver_window": "65535 B", "recovery": "sack"},
    }
    return skycell.parse(values).with_values(changed)


@pytest.mark.parametrize("onboard_switching", [{}, None, {"rate": "5 Mbit/s", "framing": "none"}])
def test_without_motion_and_queues_the_terms_are_the_delay(
    onboard_switching: dict[str, Any] | None,
) -> None:
    """The least delay is that of a segment that waits nowhere: exactly the sum of the terms."""
    schedule = (
        RING if onboard_switching is None else {**RING, "onboard_switching": onboard_switching}
    )
    result = skycell.run(scenario(schedule))
    (terms,) = result.records["delay_terms"]
    parts = ("up_ps", "between_ps", "down_ps", "switching_ps")
    fixed = sum(terms[part]["mean"] for part in parts)
    fixed += terms["transmission_ps"] + terms["access_ps"]
    assert fixed == result.records["flows"][0]["delay_min_ps"]
    assert terms["access_ps"] == 4 * MS
    # 32 cells of 53 octets at the slowest rate.
    rate = 5e6 if onboard_switching else 20e6
    assert terms["transmission_ps"] == pytest.approx(32 * 424 / rate * 1e12, abs=100)
    satellites = terms["satellites"]["least"]
    assert satellites == terms["satellites"]["most"] > 1
    cells = [50e6, 20e6, 50e6] + [rate] * (satellites if onboard_switching is not None else 0)
    expected = sum(424 / cell for cell in cells) - 424 / min(cells)
    assert terms["switching_ps"]["mean"] == pytest.approx(expected * 1e12, abs=100)


@pytest.mark.parametrize("onboard_switching", [None, {}])
def test_what_nodes_take_is_a_part_of_switching(onboard_switching: dict[str, Any] | None) -> None:
    schedule = RING if onboard_switching is None else {**RING, "onboard_switching": {}}
    plain = skycell.run(scenario(schedule))
    processing = [{"nodes": ["switch1", "switch2"], "delay": "3 ms"}]
    if onboard_switching is not None:
        processing.append({"nodes": ["satellites"], "delay": "500 us"})
    slower = skycell.run(scenario(schedule, processing=processing))
    (before,), (after,) = (run.records["delay_terms"] for run in (plain, slower))
    satellites = 0 if onboard_switching is None else before["satellites"]["least"]
    taken_ps = 6 * MS + satellites * MS // 2
    assert after["switching_ps"]["mean"] - before["switching_ps"]["mean"] == taken_ps
    least = [run.records["flows"][0]["delay_min_ps"] for run in (plain, slower)]
    assert least[1] - least[0] == taken_ps
    assert {**after, "switching_ps": 0}.items() >= {
        (key, before[key]) for key in ("access_ps", "transmission_ps")
    }


def test_a_node_on_a_way_that_varies_takes_its_time_at_every_step() -> None:
    processing = [{"nodes": ["switch2"], "delay": "3 ms"}]
    plain, slower = (
        scenario(PATH).resolve(),
        scenario(PATH, processing=processing).resolve(),
    )
    there, back = (
        [link.schedule for link in spec.links if link.schedule] for spec in (plain, slower)
    )
    assert [d + 3 * MS for d in there[0].delays_ps if d] == [d for d in back[0].delays_ps if d]
    # The way back leads to the other switch.
    assert there[1] == back[1]


def test_the_terms_add_up_to_the_mean_delay() -> None:
    result = skycell.run(scenario({**PATH, "onboard_switching": {}}))
    (terms,) = result.records["delay_terms"]
    parts = ("up_ps", "between_ps", "down_ps", "switching_ps")
    fixed = sum(terms[part]["mean"] for part in parts)
    fixed += terms["transmission_ps"] + terms["access_ps"] + terms["queueing_ps"]
    assert fixed == pytest.approx(result.records["flows"][0]["delay_mean_ps"])
    for part in parts:
        assert terms[part]["least"] <= terms[part]["mean"] <= terms[part]["most"]


def test_buffers_bound_the_delay_and_full_ones_come_near() -> None:
    """JSAC section 4: each queue delays by at most its buffer over its rate, here half an RTT."""
    schedule = {**PATH, "onboard_switching": {}}
    filled = scenario(
        schedule,
        **{
            "topology.bottleneck.buffer": "0.5 RTT",
            "tcp.receiver_window": "500000 B",
            "tcp.window_scaling": True,
            "run.duration": "5 s",
        },
    )
    result = skycell.run(filled)
    (terms,) = result.records["delay_terms"]
    capacity = next(
        link.port.capacity_cells for link in result.spec.links if link.name == "switch1>switch2"
    )
    assert capacity is not None
    # No handover in these seconds: the ground's port and one for each satellite.
    assert terms["bound"]["points"] == terms["satellites"]["most"] + 1
    assert terms["bound"]["queueing_ps"] == terms["bound"]["points"] * capacity * 21_200_000
    assert terms["bound"]["holds"]
    assert terms["total_ps"]["most"] <= terms["bound"]["total_ps"]
    # One port only fills, as all have the same rate; what it adds is its own part of the bound.
    beyond = terms["total_ps"]["most"] - terms["total_ps"]["least"]
    assert 0.9 < beyond / (capacity * 21_200_000) < 1.1


def test_the_bound_is_not_told_where_it_does_not_hold() -> None:
    (terms,) = skycell.run(scenario({**PATH, "interruption": "5 ms"})).records["delay_terms"]
    assert terms["bound"] is None


def test_a_run_without_constellation_has_no_terms() -> None:
    values = dict(scenario(PATH).values)
    bottleneck = dict(values["topology"]["bottleneck"])
    del bottleneck["schedule"]
    topology = {**values["topology"], "bottleneck": {**bottleneck, "delay": "30 ms"}}
    assert "delay_terms" not in skycell.run({**values, "topology": topology}).records


def test_data_that_go_back_go_up_where_others_come_down() -> None:
    ends = {"hosts": ["a", "b"], "switches": ["s", "t"]}
    access = {"rate": "20 Mbit/s", "framing": "none", "delay": "1 ms"}
    links = [
        {"from": "s", "to": "t", "rate": "20 Mbit/s", "framing": "none", "schedule": PATH},
        {"from": "a", "to": "s", **access},
        {"from": "b", "to": "t", **access},
    ]
    flows = [
        {"name": "there", "source": "a", "destination": "b"},
        {"name": "back", "source": "b", "destination": "a"},
    ]
    topology = {"kind": "graph", **ends, "link": links, "flow": flows}
    result = skycell.run({"run": {"duration": "2 s"}, "topology": topology})
    there, back = result.records["delay_terms"]
    assert there["up_ps"] == back["down_ps"] != there["down_ps"]
    assert there["between_ps"] == back["between_ps"]


def test_the_report_shows_the_terms() -> None:
    page = page_of_run(skycell.run(scenario(PATH)))
    assert ">t_q</th>" in page
    assert "Terms of the mean delay D over the constellation, in ms:" in page


def test_access_to_a_shared_uplink_is_a_part_of_queueing() -> None:
    plain = scenario(RING)
    uplink = {"to": "switch1", "access": "fixed_assignment", "slot": "50 us"}
    result = skycell.run(plain.with_values({"uplink": [uplink]}))
    (terms,) = result.records["delay_terms"]
    (before,) = skycell.run(plain).records["delay_terms"]
    wait = terms["media_access_ps"]
    assert wait["mean"] == result.records["uplinks"][0]["access_delay"]["mean_ps"]
    assert 0 < wait["mean"] < terms["queueing_ps"]
    assert wait["median"] <= wait["p99"] <= wait["most"]
    assert "media_access_ps" not in before
    page = page_of_run(result)
    assert "t_a in t_q" in page
    assert "Slots of the uplinks that terminals share" in page
