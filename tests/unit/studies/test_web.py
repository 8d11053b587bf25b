"""What is measured on runs with web users."""

from typing import Any

import pytest

from skycell.studies.web import max_min_fairness, mean_file_kb, offered_load, response_time

MBIT_OVER_100_S = 100 * 10**6 // 8  # octets that make 1 Mbit/s over 100 seconds


def summary(*scheduled_mbps: float, answered: int = 10) -> dict[str, Any]:
    octets = [round(rate * MBIT_OVER_100_S) for rate in scheduled_mbps]
    times = {"p50_ps": 2_500_000_000_000, "p95_ps": None}
    return {
        "duration_ps": 100 * 10**12,
        "flows": [{"web": {"octets_scheduled": count}} for count in octets],
        "web": {
            "octets_scheduled": sum(octets),
            "requests_answered": answered,
            "file_response": times,
            "page_response": times,
        },
    }


def test_fairness_is_against_what_each_server_had_to_send() -> None:
    # 12 Mbit/s among servers that want 2, 8 and 10: shares 2, 5, 5 (98-0876R1 section 7).
    run = summary(2, 8, 10)
    assert max_min_fairness(run, [2e6, 5e6, 5e6], 12e6) == pytest.approx(1.0)
    # x/e = 1, 1.2, 0.8: 3^2 / (3 (1 + 1.44 + 0.64))
    assert max_min_fairness(run, [2e6, 6e6, 4e6], 12e6) == pytest.approx(9 / 9.24)


def test_a_server_that_was_asked_for_nothing_takes_no_part() -> None:
    assert max_min_fairness(summary(0, 8), [0.0, 8e6], 12e6) == pytest.approx(1.0)
    assert max_min_fairness(summary(0, 8), [0.0, 0.0], 12e6) is None


def test_load_and_mean_file_come_from_what_was_scheduled() -> None:
    run = summary(2, 8, answered=1_000)
    assert offered_load(run) == pytest.approx(10.0)
    assert mean_file_kb(run) == pytest.approx(125.0)  # 125 MB in 1000 files
    assert mean_file_kb(summary(0, answered=0)) is None


def test_response_times_are_in_seconds_and_missing_where_nothing_came() -> None:
    assert response_time(summary(1), "file_response", "p50_ps") == 2.5
    assert response_time(summary(1), "page_response", "p95_ps") is None
