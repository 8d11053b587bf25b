"""Measures on runs whose numbers are worked out by hand."""

from typing import Any

import pytest

from skycell.validation.measures import MEASURES, RunFlow

SECOND = 10**12
BY_NAME = {measure.name: measure for measure in MEASURES}


def run(**changed: Any) -> RunFlow:
    """A flow that begins at 1 s in a run of 11 s: slow start to 40 segments, a cut to 20 at 3 s."""
    flow = {
        "start_ps": SECOND,
        "octets_delivered": 12_500_000,
        "segments_retransmitted": 3,
        "timeouts": 1,
    }
    port = {
        "queue": {"mean": 4.0},
        "discarded": {"overflow": 2, "drawn": 1},
        "octets": {"sojourn": {"packets": 9, "p95_ps": 25 * 10**9}},
    }
    acks = {"discarded": {"overflow": 50}}
    values: dict[str, Any] = {
        "records": {"duration_ps": 11 * SECOND, "flows": [flow], "ports": [port, acks]},
        "flow": 0,
        "mss": 1000,
        "is_transfer": False,
        "windows": [
            (SECOND, 10_000.0, 1e9),
            (2 * SECOND, 40_000.0, 1e9),
            (3 * SECOND, 20_000.0, 20_000.0),
            (7 * SECOND, 30_000.0, 20_000.0),
        ],
        "first_sent_ps": 3 * SECOND // 2,
        "first_repeat_ps": 5 * SECOND,
        "end_ps": None,
    }
    return RunFlow(**(values | changed))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("goodput_mbit_s", 10.0),  # 100 Mbit in the 10 s from the flow's start
        ("completion_s", None),
        ("mean_queue_packets", 4.0),
        ("p95_sojourn_ms", 25.0),
        ("drops", 3.0),
        ("retransmissions", 3.0),
        ("timeouts", 1.0),
        ("exit_s", 2.0),
        ("exit_segments", 40.0),
        ("first_loss_s", 4.0),
        ("first_loss_segments", 20.0),
        ("mean_cwnd", (0.5 * 10 + 1 * 40 + 4 * 20 + 4 * 30) / 9.5),
    ],
)
def test_a_flow_with_endless_data_is_measured(name: str, expected: float | None) -> None:
    assert BY_NAME[name].measure(run()) == expected


def test_of_a_transfer_counts_what_was_before_its_end() -> None:
    transfer = run(is_transfer=True, end_ps=6 * SECOND)
    found = {name: BY_NAME[name].measure(transfer) for name in BY_NAME}
    assert found["completion_s"] == 5.0
    assert found["goodput_mbit_s"] is None
    assert found["mean_queue_packets"] == pytest.approx(4.0 * 11 / 6)
    assert found["mean_cwnd"] == pytest.approx((5 + 40 + 3 * 20) / 4.5)


def test_what_did_not_happen_has_no_number() -> None:
    quiet = run(first_repeat_ps=None, windows=[(SECOND, 10_000.0, 1e9)])
    names = ("exit_s", "exit_segments", "first_loss_s", "first_loss_segments")
    assert [BY_NAME[name].measure(quiet) for name in names] == [None] * 4


def test_a_measure_that_one_recorded_run_lacks_is_not_compared() -> None:
    rows = [{"flow": "0", "drops": "4"}, {"flow": "1", "drops": ""}, {"flow": "0", "drops": "6"}]
    assert BY_NAME["drops"].recorded(rows, 0) == [4.0, 6.0]
    assert BY_NAME["drops"].recorded(rows, 1) == []
