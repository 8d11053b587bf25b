"""Discards, queues and delay from records."""

import pytest

from skycell.metrics import (
    discard_ratio,
    discards_by_reason,
    flow_delays_s,
    queue_bound_delay_s,
    queue_lengths,
)

PORT = {
    "name": "sw1>sw2",
    "arrived": 1_000,
    "departed": 940,
    "queued": 10,
    "discarded": {"overflow": 20, "rest_of_frame": 30, "above_threshold": 0},
    "frames_discarded": {"overflow": 2, "rest_of_frame": 0, "above_threshold": 0},
    "queue": {"mean": 12.5, "max": 99, "p50": None, "p90": None, "p99": None},
}


def test_the_ratio_counts_every_reason() -> None:
    assert discard_ratio(PORT) == 0.05


def test_a_port_without_arrivals_discards_nothing() -> None:
    port = {"arrived": 0, "departed": 0, "queued": 0, "discarded": {"overflow": 0}}
    assert discard_ratio(port) == 0.0


def test_a_port_that_discards_what_was_there_when_counting_began_discards_no_more_than_all() -> (
    None
):
    # 30 packets were there, none came any more, 29 were dropped on leaving.
    port = {"arrived": 0, "departed": 1, "queued": 0, "discarded": {"delayed": 29}}
    assert discard_ratio(port) == 29 / 30


def test_reasons_can_be_counted_in_cells_or_frames() -> None:
    assert discards_by_reason(PORT) == {"overflow": 20, "rest_of_frame": 30}
    assert discards_by_reason(PORT, frames=True) == {"overflow": 2}


def test_a_queue_keeps_its_port_and_has_no_percentiles_without_samples() -> None:
    (queue,) = queue_lengths({"ports": [PORT]})
    assert (queue.port, queue.mean, queue.largest, queue.p50) == ("sw1>sw2", 12.5, 99, None)


def test_a_full_buffer_bounds_the_wait() -> None:
    # 200 000 cells of 424 bit at 149.76 Mbit/s (353 207 cells/s) take 0.566 s to send.
    assert queue_bound_delay_s(200_000, 2_831_197) == pytest.approx(0.56624, abs=1e-5)


def test_a_bound_needs_a_buffer_and_a_rate() -> None:
    with pytest.raises(ValueError, match="buffer and cell time must be above 0"):
        queue_bound_delay_s(0, 1)


def test_a_flow_without_arrivals_has_no_delay() -> None:
    silent = {"segments_received": 0, "delay_mean_ps": 0.0, "delay_min_ps": 0, "delay_max_ps": 0}
    assert flow_delays_s({"flows": [silent]}) == [None]
