"""Intervals of means that stay inside what a measure can be."""

from math import sqrt

import numpy as np
import pytest

from skycell.stats import analyse
from skycell.stats.ranges import ANY, PART, POSITIVE, Range

T_OF_2 = 4.3027
"""Student's t of 0.975 with 2 degrees of freedom (NIST/SEMATECH e-Handbook 1.3.6.7.2)."""


@pytest.mark.parametrize("range_", [POSITIVE, PART, ANY, Range(high=1.0)])
def test_all_methods_agree_where_the_error_is_small(range_: Range) -> None:
    found = range_.interval(0.6, 0.001, 2.0)
    assert found == pytest.approx((0.598, 0.602), abs=2e-5)


def test_a_range_that_values_leave_has_no_end_there() -> None:
    assert PART.around([0.2, 1.1]) == POSITIVE
    assert POSITIVE.around([-1.0, 2.0]) == ANY
    assert PART.around([0.0, 1.0]) == PART


def test_a_mean_at_an_end_has_an_interval_inside() -> None:
    assert PART.interval(1.0, 0.0, 4.0) == (1.0, 1.0)
    assert POSITIVE.interval(0.0, 0.1, 4.0) == (0.0, 0.4)
    assert POSITIVE.interval(1e-9, 1.0, 12.7).low >= 0


@pytest.mark.parametrize(
    ("draw", "mean", "range_"),
    [
        (lambda r, shape: r.exponential(1, shape), 1.0, POSITIVE),
        (lambda r, shape: r.beta(9, 1, shape), 0.9, PART),
        (lambda r, shape: r.normal(10, 1, shape), 10.0, POSITIVE),
    ],
)
def test_intervals_of_three_runs_hold_the_mean_as_often_as_they_say(draw, mean, range_) -> None:  # type: ignore[no-untyped-def]
    samples = draw(np.random.default_rng(1), (4000, 3))
    found = [
        range_.interval(float(own.mean()), float(own.std(ddof=1)) / sqrt(3), T_OF_2)
        for own in samples
    ]
    assert all(range_.low <= own.low and own.high <= range_.high for own in found)
    assert sum(own.low <= mean <= own.high for own in found) / 4000 > 0.93
    if range_ is not POSITIVE or mean == 1.0:  # Student's hold it in 88 and 89 of 100
        widths = samples.std(axis=1, ddof=1) / sqrt(3) * T_OF_2
        assert (abs(samples.mean(axis=1) - mean) <= widths).mean() < 0.91


def test_an_analysis_keeps_the_means_of_levels_inside_and_differences_free() -> None:
    rows = [
        {"tcp": tcp, "time": time}
        for tcp, times in {"reno": (1.0, 2.0, 60.0), "sack": (90.0, 200.0, 300.0)}.items()
        for time in times
    ]
    free, inside = (analyse(rows, "tcp", "time", range_=range_) for range_ in (ANY, POSITIVE))
    reno = [found.factor("tcp").levels[0].mean for found in (free, inside)]
    assert reno[0].low is not None
    assert reno[0].low < 0
    assert reno[1].low is not None
    assert reno[1].low > 0
    assert reno[0].value == reno[1].value
    assert free.factor("tcp").differences == inside.factor("tcp").differences
