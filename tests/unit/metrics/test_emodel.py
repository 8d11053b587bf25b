"""The E-model gives the numbers of ITU-T G.107 and G.113 to the digit."""

import pytest

from skycell.metrics.applications import call_ratings
from skycell.metrics.emodel import EModel, burst_ratio, mean_opinion


def test_the_defaults_have_the_rating_and_the_opinion_of_the_recommendation() -> None:
    # G.107 (06/2015), table 2 and clause 7.7: R = 93.2; by annex B MOS 4.41.
    rating = EModel().rating()
    assert round(rating, 1) == 93.2
    assert round(mean_opinion(rating), 2) == 4.41


@pytest.mark.parametrize(
    ("delay_ms", "impairment"),
    [(0, 0.0), (100, 0.0), (150, 0.16), (200, 3.04), (300, 14.76), (400, 24.07)],
)
def test_absolute_delay_impairs_by_its_formula(delay_ms: float, impairment: float) -> None:
    assert round(EModel(ta_ms=delay_ms).absolute_delay(), 2) == impairment


def test_losses_impair_a_codec_by_its_robustness() -> None:
    # 95 * 2 / (2 + 25.1), G.711 with concealment; without, 95 * 2 / (2 + 4.3).
    assert round(EModel(ppl=2, bpl=25.1).equipment(), 2) == 7.01
    assert round(EModel(ppl=2, bpl=4.3).equipment(), 2) == 30.16
    # Losses in runs count more: 95 * 2 / (2 / 2 + 25.1).
    assert round(EModel(ppl=2, bpl=25.1, burst_ratio=2).equipment(), 2) == 7.28
    assert EModel(ie=11).equipment() == 11


def test_opinions_of_ratings_are_those_of_annex_b() -> None:
    opinions = [round(mean_opinion(rating), 2) for rating in (50, 60, 70, 90)]
    assert opinions == [2.58, 3.10, 3.60, 4.34]
    assert (mean_opinion(-3), mean_opinion(100)) == (1.0, 4.5)


def test_random_losses_have_a_burst_ratio_of_one() -> None:
    # With p = 0.1 runs are 1 / 0.9 long in the mean: 100 losses of 1000 in 90 runs.
    assert burst_ratio(1000, 100, 90) == pytest.approx(1.0)
    assert burst_ratio(1000, 0, 0) == 1.0


def test_a_talker_hears_more_of_a_later_echo() -> None:
    ratings = [EModel(t_ms=t, ta_ms=t, tr_ms=2 * t).rating() for t in (0, 100, 200, 300, 500)]
    assert ratings == sorted(ratings, reverse=True)
    # Without an echo only the delay itself is left.
    far = EModel(ta_ms=300).rating()
    assert ratings[3] < far


def test_a_call_whose_losses_come_in_long_bursts_is_rated_0_and_not_below() -> None:
    rows = {"packets": 100, "lost": 40, "late": 0, "runs": 2, "least_delay_ps": 10**11}
    app = {"ie": 0.0, "bpl": 4.3, "interval_ps": 2 * 10**10, "playout_ps": 6 * 10**10}
    group = {"app": app, "rows": {name: [value] for name, value in rows.items()}}
    worst = EModel(ta_ms=180, bpl=4.3, ppl=40, burst_ratio=12)  # 20 in a row, not 1 / (1 - 0.4)
    assert worst.rating() < 0
    assert call_ratings(group) == [0.0]
