"""What a sweep measures on a run, worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest

import skycell
from skycell.measures.responses import RESPONSES, is_response, measure
from skycell.measures.run_view import SweepView
from skycell.measures.uplinks import UPLINKS
from skycell.metrics import Network
from tests.unit.parking_lot import PARKING_LOT


def flow(name: str, octets: int, **others: int) -> dict[str, Any]:
    plain = {
        "segments_sent": 100,
        "segments_retransmitted": 10,
        "segments_received": 80,
        "timeouts": 1,
        "fast_retransmits": 4,
        "delay_mean_ps": 2 * 10**9,
        "delay_max_ps": 10**10,
    }
    return {"name": name, "octets_delivered": octets} | plain | others


def port(name: str, arrived: int, discarded: int, mean: float, **sent: int) -> dict[str, Any]:
    """A port that was busy for half of the second; cells that it sent by class."""
    return {
        "name": name,
        "arrived": arrived,
        "departed": sum(sent.values()),
        "queued": arrived - discarded - sum(sent.values()),
        "discarded": {"overflow": discarded},
        "busy_ps": 5 * 10**11,
        "queue": {"mean": mean, "p99": 60, "max": 70},
        "queues": [
            {"class": None if name == "rest" else name, "departed": cells}
            for name, cells in sent.items()
        ],
    }


def vc(name: str, offered: int, arrived: int, **delays: int) -> dict[str, Any]:
    """A VC whose cells take 1 ms at least; of those that did not arrive a port took half."""
    lost = (offered - arrived) // 2
    return {
        "name": name,
        "cells_offered": offered,
        "cells_nonconforming": 2 * lost,
        "cells_policed": lost - 2,
        "cells_refused": 1,
        "cells_lost": {"drawn": 1},
        "cells_discarded": {"overflow": lost},
        "delay": {"cells": arrived, "fixed_ps": 10**9, "p50_ps": 0, "p90_ps": 0, "p99_ps": 0}
        | delays,
    }


# Flow a has a link of 8 Mbit/s and b one of 2, of which half is TCP's.
NETWORK = Network(
    ceiling_bps=10e6,
    routes=((0,), (1,)),
    left_bps=(8e6, 2e6),
    shares=(0.5, 0.5),
    congested=("slow", "fast"),
)
RUN = SweepView(
    summary={
        "duration_ps": 10**12,
        "flows": [
            flow("a", 500_000),
            flow("b", 250_000, segments_received=20, delay_mean_ps=10**10, delay_max_ps=5 * 10**10),
        ],
        "ports": [port("fast", 100, 1, 3.5), port("slow", 300, 7, 20.5, cbr=60, rest=180)],
        "measured_vcs": [
            vc("voice", 100, 80, mean_ps=2 * 10**9, p999_ps=4 * 10**9, max_ps=5 * 10**9),
            vc("video", 300, 20, mean_ps=12 * 10**9, p999_ps=2 * 10**9, max_ps=6 * 10**9),
        ],
    },
    network=NETWORK,
    definition="delivered_over_duration",
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("efficiency", 0.6),  # 4 and 2 Mbit/s of 10
        ("max_min_fairness", 0.9),  # 1 and 2 times their share: 9 / (2 x 5)
        ("throughput", 6.0),
        ("throughput:b", 2.0),
        ("smallest_throughput", 2.0),
        ("largest_throughput", 4.0),
        ("timeouts", 2.0),
        ("fast_retransmits:a", 4.0),
        ("retransmitted_part", 0.1),
        ("mean_delay", 3.6),  # (80 x 2 + 20 x 10) / 100 ms
        ("mean_delay:b", 10.0),
        ("largest_delay", 50.0),
        ("cells_discarded", 8.0),
        ("cells_discarded:fast", 1.0),
        ("discarded_part", 0.02),
        ("mean_queue", 20.5),  # of the slower link
        ("mean_queue:fast", 3.5),
        ("largest_queue", 70.0),
        ("p99_queue", 60.0),
        ("utilisation", 0.5),
        ("utilisation:nowhere", None),
        ("ceiling", NETWORK.ceiling_bps / 1e6),
        ("throughput:c", None),
        ("link_share", 0.5),
        ("link_share:cbr", 0.125),  # 60 of 240 cells in half of the time
        ("link_share:rest", 0.375),
        ("link_share:abr", None),
        ("cell_loss_ratio", 0.75),  # 20 and 280 of 400
        ("cell_loss_ratio:voice", 0.2),
        ("nonconforming_part:video", 280 / 300),
        ("mean_cell_delay", 4.0),  # (80 x 2 + 20 x 12) / 100 ms
        ("mean_cell_delay:video", 12.0),
        ("largest_cell_delay", 6.0),
        ("largest_cell_delay:voice", 5.0),
        ("p999_cell_delay", 4.0),
        ("p999_cell_delay:video", 2.0),
        ("cell_delay_variation", 3.0),  # 4 ms less 1 ms
        ("cell_delay_variation:video", 1.0),
        ("cell_loss_ratio:other", None),
    ],
)
def test_a_response_is_what_its_meaning_says(name: str, value: float | None) -> None:
    assert is_response(name)
    assert measure(name, RUN) == (None if value is None else pytest.approx(value))


def test_web_users_are_due_no_more_than_was_asked_of_their_servers() -> None:
    # Of 4 Mbit/s each could have on its own link, a's server had 2 Mbit/s to send, b's nothing.
    flows = [
        flow("a", 250_000) | {"web": {"octets_scheduled": 250_000}},
        flow("b", 0) | {"web": {"octets_scheduled": 0}},
        flow("c", 125_000) | {"web": {"octets_scheduled": 10_000_000}},
    ]
    network = Network(10e6, ((0,), (0,), (0,)), (12e6,), (0.5,) * 3, ())
    assert network.fair_bps([2e6, 0, 80e6]) == pytest.approx([2e6, 0, 4e6])
    view = SweepView({"duration_ps": 10**12, "flows": flows, "ports": []}, network, RUN.definition)
    # 1 and 1/4 of what they are due; b was due nothing: (5/4)^2 / (2 x 17/16).
    assert measure("max_min_fairness", view) == pytest.approx(25 / 34)


def test_response_times_of_web_users_are_those_of_the_summary() -> None:
    times = {"count": 80, "mean_ps": 2 * 10**11, "p95_ps": 7 * 10**11}
    web = {"requests": 100, "file_response": times, "page_response": times | {"mean_ps": 10**12}}
    view = replace(RUN, summary={**RUN.summary, "web": web})
    assert measure("mean_file_response", view) == 200
    assert measure("p95_file_response", view) == 700
    assert measure("mean_page_response", view) == 1000
    assert measure("p95_page_response", view) == 700
    assert measure("late_files_part", view) == pytest.approx(0.2)
    for name in ("mean_file_response", "p95_page_response", "late_files_part"):
        assert measure(name, RUN) is None


def taken(count: int, mean_ms: int, p95_ms: int, begun: int, **flow: str) -> dict[str, Any]:
    """What transfers took, of a flow or of all."""
    times = {"count": count, "mean_ps": mean_ms * 10**9, "p95_ps": p95_ms * 10**9}
    return {"times": times, "begun": begun, **flow}


def test_transfer_times_are_those_of_the_summary_and_of_each_flow_alone() -> None:
    flows = [taken(9, 200, 700, 10, name="a"), taken(0, 0, 0, 1, name="silent")]
    summary = {**RUN.summary, "transfers": taken(9, 200, 700, 12) | {"flows": flows}}
    view = replace(RUN, summary=summary)
    assert measure("mean_transfer_time", view) == measure("mean_transfer_time:a", view) == 200
    assert measure("p95_transfer_time", view) == measure("p95_transfer_time:a", view) == 700
    assert measure("late_transfers_part", view) == pytest.approx(0.25)
    assert measure("late_transfers_part:a", view) == pytest.approx(0.1)
    # Flow b has other traffic, and a run without the trace has no times.
    for name in ("mean_transfer_time", "p95_transfer_time", "late_transfers_part"):
        assert measure(f"{name}:b", view) is None
        assert measure(name, RUN) is None
    # Of connections that closed, a's two took 1 s together, and b's one no time.
    closed = [
        {**flow, "closings": count, "closing_ps": total}
        for flow, count, total in zip(RUN.flows, (2, 1), (10**12, 0), strict=True)
    ]
    view = replace(RUN, summary={**RUN.summary, "flows": closed})
    assert measure("mean_closing_time", view) == pytest.approx(1000 / 3)
    assert measure("mean_closing_time:a", view) == 500
    open_still = [flow | {"closings": 0} for flow in closed]
    assert measure("mean_closing_time", replace(RUN, summary={"flows": open_still})) is None
    silent = replace(RUN, summary={**RUN.summary, "transfers": flows[1]})
    assert measure("mean_transfer_time", silent) is None
    assert measure("late_transfers_part", silent) == 1
    begun = replace(RUN, summary={**RUN.summary, "transfers": taken(0, 0, 0, 0)})
    assert measure("late_transfers_part", begun) is None


def test_where_nothing_came_there_is_no_response_time_and_no_share() -> None:
    nothing = {"count": 0, "mean_ps": 0, "p95_ps": 0}
    asked = {"requests": 4, "file_response": nothing, "page_response": nothing}
    view = replace(RUN, summary={**RUN.summary, "web": asked})
    assert measure("mean_file_response", view) is None
    assert measure("late_files_part", view) == 1
    not_asked = replace(RUN, summary={**RUN.summary, "web": asked | {"requests": 0}})
    assert measure("late_files_part", not_asked) is None
    # A port without classes is busy as it is; one that sent nothing is busy for nobody.
    for slow in (port("slow", 300, 7, 20.5, cbr=0, rest=0), port("slow", 300, 7, 20.5)):
        view = replace(RUN, summary={**RUN.summary, "ports": [slow]})
        assert measure("link_share", view) == 0.5
    no_port = replace(
        RUN, summary={**RUN.summary, "ports": []}, network=replace(NETWORK, congested=())
    )
    assert measure("link_share", no_port) is None


def test_without_a_ceiling_there_is_no_efficiency() -> None:
    full = replace(RUN, network=replace(NETWORK, ceiling_bps=0.0))
    assert measure("efficiency", full) is None
    little = replace(RUN, network=replace(NETWORK, ceiling_bps=1.0))
    assert measure("efficiency", little) == pytest.approx(6e6)


def test_web_users_of_the_engine_have_all_of_these() -> None:
    source = {
        "scenario": {"preset": "icccn97-lan", "traffic": "web", "run": {"duration": "5 s"}},
        "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
        "responses": [
            "mean_page_response",
            "p95_file_response",
            "late_files_part",
            "jain_fairness",
        ],
    }
    rows = skycell.sweep(source, jobs=1).rows()
    assert all(row["mean_page_response"] > 0 for row in rows)
    assert all(0 <= row["late_files_part"] < 1 for row in rows)
    assert all(0 < row["jain_fairness"] <= 1 for row in rows)


PERCENTILES = (50, 90, 95, 99)

TRANSFERS: dict[str, Any] = {
    "scenario": {
        "preset": "icccn97-lan",
        "run": {"duration": "2 s"},
        "topology": {"sources": 3},
        "traffic": {"kind": "transfers", "size": "300 kB", "idle": "70 ms"},
        "flow": [{"names": ["flow3"], "traffic": "persistent"}],
        "start": "together",
    },
    "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
    "responses": [
        f"{name}{flow}"
        for flow in ("", ":flow2")
        for name in (
            "mean_transfer_time",
            *(f"p{percent}_transfer_time" for percent in PERCENTILES),
            "late_transfers_part",
        )
    ],
}


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_transfer_times_of_the_engine_are_those_of_the_trace(engine: str) -> None:
    for row in skycell.sweep(TRANSFERS, jobs=1, engine=engine).rows():
        values = {"tcp.recovery": row["tcp"], "records.traces": ["transfers"]}
        result = skycell.run(skycell.parse(TRANSFERS["scenario"]).with_values(values))
        assert result.spec_hash == row["spec_hash"]
        trace: list[dict[str, int]] = result.traces["transfers"].rows(named=True)
        alone = [transfer for transfer in trace if transfer["flow"] == 1]
        for part, rows in (("", trace), (":flow2", alone)):
            times = sorted(transfer["end_ps"] - transfer["start_ps"] for transfer in rows)
            assert len(times) > 5
            mean = sum(times) / len(times)
            assert row[f"mean_transfer_time{part}"] == pytest.approx(mean / 10**9)
            for percent in PERCENTILES:
                nearest = times[-(-percent * len(times) // 100) - 1]
                found = row[f"p{percent}_transfer_time{part}"]
                assert found == pytest.approx(nearest / 10**9)
            # At the end each flow is under way where its last transfer ended 70 ms before or more.
            ends = {transfer["flow"]: transfer["end_ps"] for transfer in rows}
            late = sum(end + 7 * 10**10 < 2 * 10**12 for end in ends.values())
            assert row[f"late_transfers_part{part}"] == pytest.approx(late / (len(times) + late))


def test_a_vc_of_which_no_cell_arrived_has_losses_and_no_delay() -> None:
    silent = vc("voice", 100, 0, mean_ps=0, p999_ps=0, max_ps=0)
    view = replace(RUN, summary={**RUN.summary, "measured_vcs": [silent]})
    assert measure("cell_loss_ratio", view) == 1
    delays = ("mean_cell_delay", "largest_cell_delay", "p999_cell_delay", "cell_delay_variation")
    for name in delays:
        assert measure(name, view) is None
    none = replace(RUN, summary={**RUN.summary, "measured_vcs": []})
    assert measure("cell_loss_ratio", none) is None


def test_a_port_whose_only_limited_queue_is_that_of_a_class_is_one_with_a_limited_buffer() -> None:
    video = {"kind": "vbr", "peak_rate": 1.0, "on": "5 ms", "off": "5 ms", "phase": "0 s"}
    own = {"buffer": "unlimited", "policy": "tail_drop"}
    scenario = {
        "preset": "icccn97-lan",
        "run": {"duration": "50 ms"},
        "topology": {"bottleneck": {**own, "class": [{"name": "nrt_vbr", "buffer": "20 cells"}]}},
        "source": [{**video, "name": name} for name in ("one", "other")],
        "admission": {"overbooking": "allow"},
    }
    names = ["largest_queue", "link_share:nrt_vbr", "cells_discarded:switch1>switch2"]
    factors = {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}}
    made = skycell.sweep({"scenario": scenario, "factors": factors, "responses": names}, jobs=1)
    for row in made.rows():
        assert row["largest_queue"] >= 20
        assert 0.3 < row["link_share:nrt_vbr"] < 0.6
        assert row["cells_discarded:switch1>switch2"] > 0


def test_vcs_and_classes_of_the_engine_have_all_of_these() -> None:
    source = {
        "scenario": {
            "preset": "icccn97-lan",
            "run": {"duration": "50 ms"},
            "topology": {"kind": "dumbbell", "bottleneck": {"class": [{"name": "cbr"}]}},
            "source": [
                {"kind": "cbr", "name": name, "rate": 0.6, "frame": 10} for name in ("a", "b")
            ],
            "policer": [{"vcs": ["b"], "pcr": "100000 cells/s"}],
        },
        "factors": {"tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]}},
        "responses": [
            *("link_share", "link_share:cbr", "link_share:rest"),
            *("cell_loss_ratio:a", "cell_loss_ratio:b", "nonconforming_part"),
            *("mean_cell_delay", "largest_cell_delay:a", "p999_cell_delay:a"),
            "cell_delay_variation",
        ],
    }
    for row in skycell.sweep(source, jobs=1).rows():
        assert row["link_share"] == pytest.approx(row["link_share:cbr"] + row["link_share:rest"])
        assert row["link_share:cbr"] == pytest.approx(0.8, abs=0.01)
        # Of b comes a cell every 4.5 us, and one in three where one every 10 us may.
        assert row["cell_loss_ratio:b"] == pytest.approx(2 / 3, abs=0.01)
        assert row["nonconforming_part"] == pytest.approx(1 / 3, abs=0.01)
        assert 0 < row["cell_delay_variation"] < 1
        assert row["mean_cell_delay"] < row["p999_cell_delay:a"] <= row["largest_cell_delay:a"]


def test_uplinks_have_their_responses_and_other_runs_have_none() -> None:
    of: dict[str, Any] = {
        "name": "switch1",
        "slots": 200,
        "idle": 40,
        "successes": 30,
        "collisions": 25,
        "false_collisions": 5,
        "used": 60,
        "lost": 10,
        "backlog_second_half": 12.0,
        "backlog_drift": 0.25,
        "terminal_state": 2,
        "controller_state": 41,
        "access_delay": {
            "cells": 5,
            "mean_ps": 3 * 10**9,
            "p50_ps": 2 * 10**9,
            "p90_ps": 6 * 10**9,
            "p99_ps": 7 * 10**9,
        },
    }
    # Slots of its own alone, and no message that has had its access.
    none = {"idle": 0, "successes": 0, "collisions": 0, "false_collisions": 0}
    other = {**of, **none, "name": "hub", "access_delay": {"cells": 0}}
    expected = {
        "uplink_throughput": (0.4, 0.25),
        "collided_part": (0.25, None),
        "mean_access_delay": (3.0, None),
        "p50_access_delay": (2.0, None),
        "p90_access_delay": (6.0, None),
        "p99_access_delay": (7.0, None),
        "backlog": (12.0, 12.0),
        "backlog_drift": (0.25, 0.25),
        "terminal_state": (2.0, 2.0),
        "controller_state": (41.0, 41.0),
    }
    assert set(expected) == set(UPLINKS)
    alone = replace(RUN, summary={**RUN.summary, "flows": [], "uplinks": [of]})
    both = replace(RUN, summary={**RUN.summary, "uplinks": [of, other]})
    for name, (own, others) in expected.items():
        assert measure(name, alone) == own
        assert measure(f"{name}:switch1", both) == own
        assert measure(f"{name}:hub", both) == others
        assert measure(name, both) == (own if others is None else (own + others) / 2)
        assert measure(name, RUN) is None


def test_calls_have_their_responses_all_together_and_by_class() -> None:
    voice = {"name": "voice", "offered": 90, "blocked": 3, "carried": 7.5}
    video = {"name": "video", "offered": 10, "blocked": 7, "carried": 0.5}
    none = {"name": "nobody", "offered": 0, "blocked": 0, "carried": 0.0}
    view = replace(RUN, summary={**RUN.summary, "flows": [], "calls": [voice, video, none]})
    assert (measure("blocking", view), measure("carried_calls", view)) == (0.1, 8.0)
    assert measure("blocking:voice", view) == 3 / 90
    assert measure("carried_calls:video", view) == 0.5
    assert measure("blocking:nobody", view) is None
    assert measure("blocking", RUN) is measure("carried_calls", RUN) is None


def test_what_is_not_defined_on_a_run_is_none_and_no_fault() -> None:
    silent = flow("a", 0, segments_sent=0, segments_received=0)
    flows = [silent, silent | {"name": "b"}]
    view = SweepView({"duration_ps": 10**12, "flows": flows, "ports": []}, NETWORK, RUN.definition)
    for name in ("max_min_fairness", "retransmitted_part", "mean_delay", "largest_delay"):
        assert measure(name, view) is None
    for name in ("discarded_part", "mean_queue", "largest_queue"):
        assert measure(name, view) is None
    assert measure("throughput", view) == 0


@pytest.mark.parametrize("name", ["speed", "", "efficiency:a", "timeouts:", ":a", "Efficiency"])
def test_other_names_are_no_responses(name: str) -> None:
    assert not is_response(name)


def test_every_response_has_a_unit_and_a_meaning() -> None:
    for name, response in RESPONSES.items():
        assert response.unit, name
        assert not response.meaning.endswith("."), name
        parts = {"", "flow", "port", "uplink", "probe", "call", "class", "vc", "sky", "user"}
        assert response.part in parts


ALONE = skycell.parse(PARKING_LOT).with_values(
    {
        "topology.long_flows": 0,
        "topology.cross_flows": 0,
        "source": [{"kind": "cbr", "name": "voice", "rate": 0.5}],
    }
)


def test_without_flows_what_is_of_flows_has_no_value() -> None:
    network = Network.of(ALONE.resolve(), "left")
    assert (network.ceiling_bps, network.fair_bps()) == (0.0, [])
    summary = {"duration_ps": 10**12, "flows": [], "ports": [port("slow", 300, 7, 20.5)]}
    view = SweepView(summary, replace(network, congested=("slow",)), RUN.definition)
    found = {name: measure(name, view) for name in RESPONSES}
    assert {name for name, value in found.items() if value is not None} == {
        "cells_discarded",
        "discarded_part",
        "mean_queue",
        "largest_queue",
        "p99_queue",
        "utilisation",
        "link_share",
    }
