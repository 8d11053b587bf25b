"""What is measured on runs with web users."""

from typing import Any

import pytest

from skycell.studies.measured_run import Evaluation, Measured
from skycell.studies.measures import MEASURES
from tests.unit.studies.test_measures import facts

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


def run_of(summary: dict[str, Any], rates_mbps: list[float], ceiling_mbps: float) -> Measured:
    """A run with a ceiling, whose flows got these rates."""
    flows = [
        {**flow, "octets_delivered": round(rate * MBIT_OVER_100_S)}
        for flow, rate in zip(summary["flows"], rates_mbps, strict=True)
    ]
    cell_bps = ceiling_mbps * 1e6 * 53 * 12 / 512  # of which 512 octets in 12 cells are TCP's
    evaluation = Evaluation(cell_bps, "delivered_over_duration")
    return Measured({**summary, "flows": flows}, None, facts(), evaluation, {})


def value(name: str, run: Measured) -> float | None:
    return MEASURES[name].measure(run)


def test_fairness_is_against_what_each_server_had_to_send() -> None:
    # 12 Mbit/s among servers that want 2, 8 and 10: shares 2, 5, 5 (98-0876R1 section 7).
    run = run_of(summary(2, 8, 10), [2, 5, 5], 12)
    assert value("ceiling", run) == pytest.approx(12.0)
    assert value("max_min_fairness", run) == pytest.approx(1.0)
    # x/e = 1, 1.2, 0.8: 3^2 / (3 (1 + 1.44 + 0.64))
    run = run_of(summary(2, 8, 10), [2, 6, 4], 12)
    assert value("max_min_fairness", run) == pytest.approx(9 / 9.24)


def test_a_server_that_was_asked_for_nothing_takes_no_part() -> None:
    assert value("max_min_fairness", run_of(summary(0, 8), [0, 8], 12)) == pytest.approx(1.0)
    assert value("max_min_fairness", run_of(summary(0, 8), [0, 0], 12)) is None


def test_load_and_mean_file_come_from_what_was_scheduled() -> None:
    run = run_of(summary(2, 8, answered=1_000), [0, 0], 12)
    assert value("offered_load", run) == pytest.approx(10.0)
    assert value("mean_file", run) == pytest.approx(125.0)  # 125 MB in 1000 files
    assert value("mean_file", run_of(summary(0, answered=0), [0], 12)) is None


def test_response_times_are_in_seconds_and_missing_where_nothing_came() -> None:
    run = run_of(summary(1), [0], 12)
    assert value("file_response_median", run) == 2.5
    assert value("page_response_p95", run) is None
