"""Fairness index and max-min shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.metrics import fairness_index, fairness_to_the_due, max_min_shares

rates = st.lists(st.floats(0.001, 1e9), min_size=1, max_size=40)


def test_one_connection_with_everything_has_one_nth() -> None:
    assert fairness_index([5.0, 0.0, 0.0, 0.0]) == 0.25


@given(rates)
def test_the_index_lies_between_one_nth_and_one(throughput: list[float]) -> None:
    index = fairness_index(throughput)
    assert 1 / len(throughput) - 1e-9 <= index <= 1 + 1e-9


@given(rates, st.floats(1e-6, 1e6))
def test_a_common_factor_changes_nothing(throughput: list[float], factor: float) -> None:
    scaled = [rate * factor for rate in throughput]
    assert fairness_index(scaled) == pytest.approx(fairness_index(throughput), rel=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_rates_whose_squares_are_no_numbers_have_an_index(unit: float) -> None:
    # (3 + 1)^2 / (2 x (9 + 1)), whatever the unit.
    assert fairness_index([3 * unit, unit]) == pytest.approx(0.8)


def test_who_was_due_something_and_got_nothing_counts() -> None:
    # One of two that were due as much has all: a half. The third was due nothing.
    assert fairness_to_the_due([0.0, 2.0, 0.0], [2.0, 2.0, 0.0]) == 0.5


def test_being_due_little_is_being_due_something() -> None:
    # Parts of 1 and 1/2: (3/2)^2 / (2 x 5/4).
    assert fairness_to_the_due([0.25, 0.125], [0.25, 0.25]) == pytest.approx(0.9)


@given(rates)
def test_getting_exactly_the_share_is_perfectly_fair(share: list[float]) -> None:
    assert fairness_index(share, share) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("throughput", "share", "message"),
    [
        ([1.0], [1.0, 2.0], "1 throughputs but 2 fair shares"),
        ([1.0], [0.0], "a fair share must be above zero"),
        ([-1.0], None, "a throughput must not be below zero"),
        ([0.0, 0.0], None, "nothing was delivered"),
        ([], None, "nothing was delivered"),
    ],
)
def test_nonsense_is_refused(
    throughput: list[float], share: list[float] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fairness_index(throughput, share)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(0, 1e7))
def test_max_min_gives_all_away_and_nobody_more_than_asked(
    demand: list[float], capacity: float
) -> None:
    shares = max_min_shares(demand, capacity)
    assert all(share <= asked + 1e-9 for share, asked in zip(shares, demand, strict=True))
    assert sum(shares) == pytest.approx(min(capacity, sum(demand)), rel=1e-9, abs=1e-6)
    # Whoever is held below the demand has at least as much as everybody else.
    held = [s for s, d in zip(shares, demand, strict=True) if s < d - 1e-6]
    assert all(share >= max(shares) - 1e-6 * max(1.0, max(shares)) for share in held)


@pytest.mark.parametrize(("demand", "capacity"), [([1.0, -1.0], 1.0), ([1.0], -1.0)])
def test_a_negative_demand_or_capacity_is_refused(demand: list[float], capacity: float) -> None:
    with pytest.raises(ValueError, match="must not be below zero"):
        max_min_shares(demand, capacity)
