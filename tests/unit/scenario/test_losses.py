"""What lost packets of a log are: alone, in bursts, or outages."""

import random
from itertools import combinations, groupby

import pytest

from skycell.scenario.links.losses import SIGNIFICANCE, Burst, chance_of_runs, pattern_of

OFTEN = 400
"""Logs with independent losses that are looked at."""


def test_the_chance_of_few_runs_is_that_of_all_orders_counted_one_by_one() -> None:
    sent = 9
    for lost in range(1, sent + 1):
        orders = [set(order) for order in combinations(range(sent), lost)]
        runs = [sum(at not in order for at in (one - 1 for one in order)) for order in orders]
        for most in range(1, lost + 1):
            counted = sum(number <= most for number in runs) / len(orders)
            assert chance_of_runs(sent, lost, most) == pytest.approx(counted, abs=1e-9)


@pytest.mark.parametrize("part", [0.002, 0.05, 0.3])
def test_independent_losses_are_rarely_taken_for_bursts(part: float) -> None:
    rng = random.Random(7)
    found = sum(
        pattern_of([rng.random() < part for _ in range(3000)]).is_in_bursts for _ in range(OFTEN)
    )
    assert found <= 4  # of 400 by mistake: 0.4 in the mean, more than 4 with a chance of 6e-5


def test_runs_of_losses_are_outages_and_a_loss_alone_is_none() -> None:
    # As a satellite terminal has them: 32 packets at each of six changes of slots.
    packets = [990 * slot + 800 + at for slot in range(6) for at in range(32)]
    is_lost = [at in {*packets, 400} for at in range(6000)]
    found = pattern_of(is_lost)
    assert found.outages == tuple((990 * slot + 800, 990 * slot + 832) for slot in range(6))
    assert not found.bursts
    assert (found.lost, found.in_runs, found.runs) == (193, 192, 7)


def test_losses_that_are_dense_for_a_while_have_their_own_probability() -> None:
    rng = random.Random(3)
    is_lost = [at % 1000 < 100 and rng.random() < 0.35 for at in range(20_000)]
    found = pattern_of(is_lost)
    assert found.is_in_bursts
    assert found.in_bursts > 0.9 * found.lost
    part = found.in_bursts / sum(burst.sent for burst in found.bursts)
    assert part == pytest.approx(0.35, abs=0.05)


def test_an_outage_within_losses_leaves_their_probability_as_it_is() -> None:
    rng = random.Random(1)
    is_lost = [rng.random() < 0.3 for _ in range(2000)]
    is_lost[1000:1050] = [True] * 50
    found = pattern_of(is_lost)
    (outage,) = found.outages
    assert outage[0] <= 1000
    assert outage[1] >= 1050
    part = found.in_bursts / sum(burst.sent for burst in found.bursts)
    assert part == pytest.approx(0.3, abs=0.04)


def test_few_losses_decide_nothing() -> None:
    assert not pattern_of([False, True, True, False]).is_in_bursts
    assert pattern_of([True] * 4).chance == 1.0
    assert not pattern_of([False] * 4).lost


def test_a_burst_is_from_a_loss_to_a_loss() -> None:
    # RFC 3611: 16 answers in a row end it.
    one = [True, True, False] * 20 + [True]
    near = pattern_of([False] * 5000 + one + [False] * 15 + [True])
    assert near.bursts == (Burst(5000, 5077, 42, 77),)
    apart = pattern_of([False] * 5000 + one + [False] * 16 + [True])
    assert apart.bursts == (Burst(5000, 5061, 41, 61),)


def test_all_lost_packets_are_counted_once() -> None:
    rng = random.Random(11)
    for _ in range(200):
        state, is_lost = False, []
        for _ in range(500):
            state = rng.random() < (0.7 if state else 0.03)
            is_lost.append(state and rng.random() < 0.8)
        found = pattern_of(is_lost)
        spans = sorted((*found.outages, *((one.begin, one.end) for one in found.bursts)))
        assert found.in_outages + found.in_bursts <= found.lost == sum(is_lost)
        assert all(all(is_lost[begin:end]) for begin, end in found.outages)
        assert found.runs == sum(lost for lost, _ in groupby(is_lost))
        assert spans == sorted(spans)
    assert SIGNIFICANCE == 0.001
