"""Scenarios of cell sources alone: what their words refer to, and how both engines run them."""

from typing import Any

import pytest

from skycell.experiment.run import run_spec
from skycell.metrics import link_cell_bps
from skycell.records.result import RunResult
from skycell.scenario import Scenario, check, parse

#: A cell each 2.5 us on every link: 400 000 cells/s.
CELL_TIME_PS = 2_500_000
LINK = {"rate": "400000 cells/s", "delay": "1 ms"}
#: Sources that lose cells together.
OVERLOAD = {"admission": {"overbooking": "allow"}}


def voice(name: str = "voice", **others: Any) -> dict[str, Any]:
    return {"kind": "cbr", "name": name, "rate": "100000 cells/s", **others}


def video(name: str = "video", **others: Any) -> dict[str, Any]:
    times = {"on": "2 ms", "off": {"kind": "exponential", "mean": "1 ms"}}
    return {"kind": "vbr", "name": name, "peak_rate": "350000 cells/s", **times, **others}


def dumbbell(*sources: dict[str, Any], buffer: str = "50 cells", **topology: Any) -> dict[str, Any]:
    return {
        **OVERLOAD,
        "run": {"duration": "20 ms"},
        "topology": {
            "kind": "dumbbell",
            "sources": 0,
            "bottleneck": {**LINK, "buffer": buffer},
            "access": {"delay": "500 us"},
            **topology,
        },
        "source": list(sources),
    }


GRAPH = {
    **OVERLOAD,
    "run": {"duration": "20 ms"},
    "topology": {
        "kind": "graph",
        "hosts": ["a", "b"],
        "switches": ["s"],
        "link": [
            {"from": "a", "to": "s", **LINK},
            {"from": "s", "to": "b", **LINK, "buffer": "20 cells", "one_way": True},
        ],
    },
    "source": [
        voice(source="a", destination="b", frame=4),
        video(source="a", destination="b", frame=7),
    ],
}
PARKING_LOT = {
    **dumbbell(voice(), video()),
    "topology": {
        "kind": "parking_lot",
        "hops": 2,
        "long_flows": 0,
        "cross_flows": 0,
        "bottleneck": {**LINK, "buffer": "20 cells"},
        "access": {"delay": "1 us"},
    },
}


def run(scenario: Scenario, engine: str) -> RunResult:
    return run_spec(scenario.resolve(), engine)


@pytest.mark.parametrize(
    "values",
    [dumbbell(voice(), video(), video("film")), PARKING_LOT, GRAPH],
    ids=["dumbbell", "parking_lot", "graph"],
)
def test_both_engines_leave_the_same_records_and_traces(values: dict[str, Any]) -> None:
    traces = {"records": {"traces": ["queue", "vc_queue", "discards", "cwnd", "sequence"]}}
    scenario = parse({**values, **traces})
    reference, fast = run(scenario, "reference"), run(scenario, "fast")
    of_engines = {"engine", "engine_stats"}
    reported = [
        {key: value for key, value in result.records.items() if key not in of_engines}
        for result in (reference, fast)
    ]
    assert reported[0] == reported[1]
    assert all(reference.traces[name].equals(fast.traces[name]) for name in reference.traces)
    assert (reported[0]["flows"], len(reference.traces["cwnd"])) == ([], 0)
    assert sum(vc["cells_delivered"] for vc in reported[0]["vcs"]) > 1_000


def test_what_two_sources_send_into_a_full_link_is_in_the_ledger() -> None:
    # 250 000 cells/s of each for 20 ms, 5000 cells; 400 000 of both fit.
    own = {"rate": "250000 cells/s", "class": "ubr"}  # of class cbr they would be a fault
    scenario = parse(dumbbell(*(voice(name, **own) for name in "ab")))
    records = run(scenario, "fast").records
    assert [source["cells"] for source in records["sources"]] == [5_000, 5_000]
    offered = {a["name"]: a["put_in"] for a in records["ledger"]["accounts"]}
    assert offered["frames handed to ports"] == 10_000
    assert (offered["cells, vc a"], offered["cells, vc b"]) == (5_000, 5_000)
    (port,) = (port for port in records["ports"] if port["name"] == "switch1>switch2")
    # Busy from the first cell's arrival, 1 cell time and 500 us after the start, to the end.
    assert port["busy_ps"] == 20 * 10**9 - 500 * 10**6 - CELL_TIME_PS
    assert port["arrived"] == port["departed"] + port["discarded"]["overflow"] + port["queued"]


def test_rtt_is_twice_the_delay_of_the_source_with_the_longest_route() -> None:
    # 2 x (0.5 + 1 + 0.5) ms hold 1600 cells of 2.5 us; the graph's way has 2 x 2 ms as well.
    (link,) = (
        link
        for link in parse(dumbbell(voice(), buffer="1 RTT")).resolve().links
        if link.name == "switch1>switch2"
    )
    assert link.cell_time_ps == CELL_TIME_PS
    assert link_cell_bps(link.cell_time_ps) == 400_000 * 424
    assert link.port.capacity_cells == 1600
    graph = parse(GRAPH).with_values({"topology.link.1.buffer": "0.5 RTT"}).resolve()
    assert [link.port.capacity_cells for link in graph.links] == [None, None, 800]


def test_a_frame_is_the_longest_of_the_sources() -> None:
    graph = parse(GRAPH).with_values({"topology.link.1.buffer": "3 frames"}).resolve()
    assert graph.links[-1].port.capacity_cells == 21


def test_thresholds_of_vcs_are_those_of_the_sources() -> None:
    policy = {"kind": "single_drop", "thresholds": ["30 cells", "20 cells"]}
    scenario = parse(dumbbell(voice(), video())).with_values({"topology.bottleneck.policy": policy})
    spec = scenario.resolve()
    (link,) = (link for link in spec.links if link.name == "switch1>switch2")
    assert link.port.policy.kind == "single_drop"
    assert link.port.policy.thresholds_cells == (30, 20)


def test_a_window_that_nobody_has_need_not_hold_a_segment() -> None:
    # Without delays RTT x bandwidth is nothing.
    at_once = {**LINK, "delay": "0 s", "buffer": "50 cells"}
    values = dumbbell(voice(), bottleneck=at_once, access={"delay": "0 s"})
    with_window = {**values, "tcp": {"receiver_window": "RTT x bandwidth"}}
    assert check(with_window) == ()
    found = check({**with_window, "topology": {**values["topology"], "sources": 1}})
    assert [fault.path for fault in found] == ["tcp.receiver_window"]


def test_several_sources_alike_are_as_if_each_were_written() -> None:
    alike = parse(dumbbell(voice("v", count=3), video("film"))).resolve()
    written = parse(dumbbell(*(voice(f"v{i}") for i in (1, 2, 3)), video("film"))).resolve()
    assert alike == written
    assert parse(dumbbell(voice("v", count=1))).resolve() == parse(dumbbell(voice("v"))).resolve()


def test_sources_of_one_table_begin_one_after_the_other_if_it_says_so() -> None:
    source = {
        "kind": "cbr",
        "name": "voice",
        "rate": "64 kbit/s",
        "count": 3,
        "start": {"kind": "staggered", "every": "2 ms", "first": "1 ms"},
    }
    spec = parse(
        {"preset": "icccn97-lan", "run": {"duration": "20 ms"}, "source": [source]}
    ).resolve()
    starts = [own.start.time_ps for own in spec.sources]  # type: ignore[union-attr]
    assert starts == [10**9, 3 * 10**9, 5 * 10**9]
