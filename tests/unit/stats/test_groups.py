"""Two groups of values are told, and one group seldom is."""

import numpy as np
import pytest

from skycell.stats.groups import FEWEST, two_groups
from skycell.stats.ranges import ANY, PART, POSITIVE

RANDOM = np.random.default_rng(20)
SAMPLES = 4000


def part_in_two(samples, range_=ANY) -> float:  # type: ignore[no-untyped-def]
    """Part of some samples in which two groups are seen."""
    return sum(two_groups(list(own), range_) is not None for own in samples) / len(samples)


@pytest.mark.parametrize("count", [5, 8, 10, 20])
def test_samples_of_one_group_are_seldom_called_two(count: int) -> None:
    shape = (SAMPLES, count)
    # 1 % is promised; with 4000 samples 1.5 % is three standard errors above.
    assert part_in_two(RANDOM.normal(0, 1, shape)) < 0.015
    assert part_in_two(RANDOM.uniform(5, 6, shape)) < 0.015
    assert part_in_two(RANDOM.uniform(0, 1, shape), PART) < 0.015
    assert part_in_two(RANDOM.exponential(1, shape), POSITIVE) < 0.015
    assert part_in_two(RANDOM.lognormal(0, 1, shape), POSITIVE) < 0.015


def test_the_threshold_is_the_uniform_distributions() -> None:
    for count in (7, 9, 15):
        found = part_in_two(RANDOM.uniform(0, 1, (4 * SAMPLES, count)))
        assert 0.006 < found < 0.014, count


def test_groups_that_stand_apart_are_seen() -> None:
    for count, least in ((5, 0.6), (8, 0.9), (20, 0.99)):
        shape = (1000, count)
        slow = RANDOM.uniform(size=shape) < 0.5
        rates = np.where(slow, 0.8, 12.0) * np.exp(RANDOM.normal(0, 0.1, shape))
        assert part_in_two(rates, POSITIVE) > least


def test_all_values_are_in_a_group_and_the_order_does_not_matter() -> None:
    values = [13.0, 0.7, 0.8, 12.2, 0.9, 12.5]
    found = two_groups(values, POSITIVE)
    assert found is not None
    assert sorted(values) == [*found.low, *found.high]
    assert found == two_groups(values[::-1], POSITIVE)


def test_few_or_equal_values_are_one_group() -> None:
    assert two_groups([1.0, 1.0, 9.0, 9.0][: FEWEST - 1], ANY) is None
    assert two_groups([3.0] * 9, POSITIVE) is None
    assert two_groups([0.0, 0.0, 0.0, 5.0, 5.0, 5.0], POSITIVE) is not None
