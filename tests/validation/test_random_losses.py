"""A window under losses at random: the mean of additive increase and halving."""

import pytest

from tests.validation.random_losses import LOSS, mean_window

#: Time average of the window under independent losses with probability p: this over sqrt(p) (Ott,
#: Kemperman and Mathis 1996). Losses at equal distances give sqrt(3 / 2) = 1.225.
CONSTANT = 1.309


@pytest.mark.parametrize("recovery", ["reno", "new_reno", "sack"])
def test_the_mean_window_is_that_of_an_ideal_one(recovery: str) -> None:
    # 131 segments. Runs of 3000 s have some 390 losses each and differ by 2 % (standard
    # deviation), their mean by 1 %. Second losses within a window, 1 %, and the start take another.
    ideal = CONSTANT / LOSS**0.5
    assert mean_window({"recovery": recovery}) == pytest.approx(ideal, rel=0.04)
