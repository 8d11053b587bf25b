"""Runs with satellites that switch on board, against networks of switches and against the rule."""

from typing import Any

import pytest

import skycell
from skycell.records import RunResult

PATH = {"constellation": "jsac98-6x11", "from": "new_york", "to": "tokyo", "start": "80 s"}
TCP = {
    "recovery": "sack",
    "mss": "1460 B",
    "receiver_window": "400000 B",
    "window_scaling": True,
}


def over(schedule: dict[str, Any], **run: Any) -> skycell.Scenario:
    """Two SACK connections over one congested link."""
    return skycell.parse(
        {
            "run": {"duration": "12 s", **run},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "rate": "20 Mbit/s",
                    "framing": "none",
                    "buffer": "1000 cells",
                    "schedule": schedule,
                },
                "access": {"rate": "20 Mbit/s", "framing": "none", "delay": "1 ms"},
            },
            "tcp": TCP,
        }
    )


def in_us(delay_ps: int) -> str:
    return f"{delay_ps // 10**6}.{delay_ps % 10**6:06d} us"


def chain_of_switches() -> skycell.Scenario:
    """The path over the ring of geostationary satellites, written as a graph."""
    ring = over({**PATH, "constellation": "geo-ring", "start": "0 s", "onboard_switching": {}})
    spec = ring.resolve()
    nodes = [node.name for node in spec.nodes]
    hosts = [name for name in nodes if "source" in name or "destination" in name]
    links: list[dict[str, Any]] = []
    for link in spec.links:
        source, target = nodes[link.from_], nodes[link.to]
        if any(e["from"] == target and e["to"] == source for e in links):
            continue  # the other direction
        is_access = {source, target} & set(hosts)
        own = {} if is_access else {"buffer": "1000 cells"}
        entry = {"from": source, "to": target, "delay": in_us(link.delay_ps), **own}
        links.append({"rate": "20 Mbit/s", "framing": "none", **entry})
    return skycell.parse(
        {
            "run": {"duration": "12 s"},
            "topology": {
                "kind": "graph",
                "hosts": hosts,
                "switches": [name for name in nodes if name not in hosts],
                "link": links,
                "flow": [
                    {"name": f"flow{n}", "source": f"source{n}", "destination": f"destination{n}"}
                    for n in (1, 2)
                ],
            },
            "tcp": TCP,
        }
    )


def test_satellites_that_stand_still_are_a_chain_of_switches() -> None:
    ring = over({**PATH, "constellation": "geo-ring", "start": "0 s", "onboard_switching": {}})
    boarded, chain = skycell.run(ring), skycell.run(chain_of_switches())
    assert boarded.records["flows"] == chain.records["flows"]
    assert boarded.records["flows"][0]["octets_delivered"] > 0
    satellites = [{port["name"]: port for port in ports(result)} for result in (boarded, chain)]
    assert len(satellites[0]) > 3
    assert satellites[0] == satellites[1]


def ports(result: RunResult) -> list[dict[str, Any]]:
    return [port for port in result.records["ports"] if port["name"].startswith("sat-")]


def lost(result: RunResult) -> dict[str, int]:
    total: dict[str, int] = {}
    for vc in result.records["vcs"]:
        for reason, count in vc["cells_lost"].items():
            total[reason] = total.get(reason, 0) + count
    return total


def test_cells_on_board_go_on_by_the_newest_path_that_comes_by() -> None:
    result = skycell.run(over({**PATH, "onboard_switching": {}}))
    # What is under way to 4-7 or waits there reaches 5-4, and both paths meet before its port.
    assert set(lost(result).values()) == {0}
    old = {p["name"]: p for p in ports(result)}["sat-4-4>sat-5-4"]
    assert old["arrived"] == old["departed"] > 0
    meeting = {p["name"]: p for p in ports(result)}["sat-5-4>switch2"]
    assert meeting["queue"]["max"] > 100
    assert meeting["arrived"] > old["arrived"]


def test_satellites_off_the_path_may_lose_what_they_hold() -> None:
    result = skycell.run(over({**PATH, "onboard_switching": {}, "handover_loses_cells": True}))
    gone = lost(result)
    assert gone["off_path"] > 0
    # Those on their way up to the old satellite are lost with its link.
    assert gone["handover"] > 0
    assert gone["drawn"] == 0
    # 20 Mbit/s over the links of the old path but for the last: at most what it carries.
    assert gone["off_path"] + gone["handover"] < 20e6 / 424 * 0.070
    meeting = {p["name"]: p for p in ports(result)}["sat-5-4>switch2"]
    assert meeting["queue"]["max"] < 20


@pytest.mark.parametrize("is_lossy", [False, True])
def test_both_engines_leave_the_same(is_lossy: bool) -> None:
    scenario = over({**PATH, "onboard_switching": {}, "handover_loses_cells": is_lossy})
    left = [
        {k: v for k, v in skycell.run(scenario, engine=engine).records.items() if k in KEPT}
        for engine in ("fast", "reference")
    ]
    assert left[0] == left[1]


KEPT = ("flows", "vcs", "ports", "ledger")


def test_cross_traffic_on_board_queues_hop_after_hop() -> None:
    """Two ground links share satellites, so that cells wait on board and not at the ground only."""
    ends = [("new_york", "tokyo"), ("toronto", "tokyo")]
    schedule = {key: value for key, value in PATH.items() if key not in ("from", "to")}
    links: list[dict[str, Any]] = [
        {
            "from": f"up_{a}",
            "to": f"down_{a}",
            "rate": "20 Mbit/s",
            "framing": "none",
            "buffer": "1000 cells",
            "schedule": {**schedule, "from": a, "to": b, "onboard_switching": {}},
        }
        for a, b in ends
    ]
    access: dict[str, Any] = {"rate": "20 Mbit/s", "framing": "none", "delay": "1 ms"}
    access["frame_jitter"] = {"kind": "port_gap"}
    links += [{"from": f"host_{a}", "to": f"up_{a}", **access} for a, _ in ends]
    links += [{"from": f"down_{a}", "to": f"end_{a}", **access} for a, _ in ends]
    result = skycell.run(
        {
            "run": {"duration": "6 s"},
            "topology": {
                "kind": "graph",
                "hosts": [f"{kind}_{a}" for a, _ in ends for kind in ("host", "end")],
                "switches": [f"{kind}_{a}" for a, _ in ends for kind in ("up", "down")],
                "link": links,
                "flow": [
                    {"name": a, "source": f"host_{a}", "destination": f"end_{a}"} for a, _ in ends
                ],
            },
            "tcp": TCP,
        }
    )
    shared = {p["name"]: p for p in ports(result)}
    longest = max(shared.values(), key=lambda port: port["queue"]["max"])
    assert longest["queue"]["max"] > 200
    assert result.records["flows"][1]["octets_delivered"] > 1e6


@pytest.mark.parametrize(
    "loss",
    [
        "1 %",
        {"kind": "gilbert_elliott", "good_to_bad": 0.001, "bad_to_good": 0.1},
        {"kind": "loss_bursts", "length": "20 ms", "gap": "1 s"},
        {"kind": "periodic_losses", "length": "10 ms", "period": "1 s"},
        {"kind": "bit_errors", "ber": 1e-6},
    ],
)
def test_links_up_to_satellites_lose_alike_in_both_engines(loss: Any) -> None:
    scenario = over({**PATH, "onboard_switching": {}}).with_values(
        {"topology.bottleneck.loss": loss}
    )
    reference, fast = (skycell.run(scenario, engine=name).records for name in ("reference", "fast"))
    own = ("engine", "engine_stats")
    assert {k: v for k, v in fast.items() if k not in own} == {
        k: v for k, v in reference.items() if k not in own
    }
    lost = sum(sum(vc["cells_lost"].values()) + vc.get("frames_crc", 0) for vc in fast["vcs"])
    assert lost > 0
    without = skycell.run(over({**PATH, "onboard_switching": {}})).records
    assert sum(sum(vc["cells_lost"].values()) for vc in without["vcs"]) == 0


@pytest.mark.parametrize("key", ["loss", "down_loss"])
@pytest.mark.parametrize(
    "loss",
    [
        "1 %",
        {"kind": "loss_bursts", "length": "20 ms", "gap": "1 s"},
        {"kind": "bit_errors", "ber": 1e-6},
    ],
)
def test_links_that_satellites_feed_lose_alike_in_both_engines(key: str, loss: Any) -> None:
    scenario = over({**PATH, "onboard_switching": {key: loss}})
    reference, fast = (skycell.run(scenario, engine=name).records for name in ("reference", "fast"))
    assert {name: fast[name] for name in KEPT} == {name: reference[name] for name in KEPT}
    assert sum(sum(vc["cells_lost"].values()) + vc.get("frames_crc", 0) for vc in fast["vcs"]) > 0


def before_the_handover(
    frame: int, rate: str, up: Any = 0, **losses: Any
) -> tuple[int, dict[str, Any]]:
    """Frames of a source over satellites that switch, whose path holds for the run of 6 s.

    Returns:
        The links between satellites on the path, and the record of the source's VC.
    """
    values = dict(over({**PATH, "onboard_switching": losses}, duration="6 s").values)
    bottleneck = {**values["topology"]["bottleneck"], "loss": up}
    values["topology"] = {**values["topology"], "sources": 0, "bottleneck": bottleneck}
    values["source"] = [{"kind": "cbr", "name": "cells", "rate": rate, "frame": frame}]
    result = skycell.run(values)
    between = [link for link in result.spec.links if link.name.count("sat-") == 2]
    (vc,) = result.spec.vcs
    crossed = [result.spec.links[link] for link in vc.path]
    return sum(link in between for link in crossed), result.records["vcs"][0]


def test_a_path_loses_frames_on_each_of_its_links() -> None:
    up, p, down = 0.02, 0.05, 0.1
    links, vc = before_the_handover(1, "10 Mbit/s", up, loss=p, down_loss=down)
    assert links == 4
    # What has not arrived at the end is not lost: 0.1 s of 6 s at most.
    counted = vc["cells_delivered"] + vc["cells_lost"]["drawn"]
    assert counted > 0.97 * vc["cells_offered"]
    expected = (1 - up) * (1 - p) ** links * (1 - down)
    deviation = (expected * (1 - expected) / counted) ** 0.5
    assert vc["cells_delivered"] / counted == pytest.approx(expected, abs=4 * deviation)


def test_bit_errors_of_links_between_satellites_add_up_to_the_end() -> None:
    ber, cells = 2e-6, 20
    links, vc = before_the_handover(cells, "10 Mbit/s", loss={"kind": "bit_errors", "ber": ber})
    whole = (1 - ber) ** (384 * cells * links)
    ended = vc["frames_delivered"] + vc["frames_corrupt"]
    assert ended > 6_000
    deviation = (whole * (1 - whole) / ended) ** 0.5
    assert vc["frames_delivered"] / ended == pytest.approx(whole, abs=4 * deviation)
    assert vc["frames_crc"] == vc["frames_corrupt"] > 0
