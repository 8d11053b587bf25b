"""What more goodput costs in delay: the options that no other one beats in both."""

from hypothesis import given
from hypothesis import strategies as st

from skycell.experiment.ranking import Aim, Ranked, Ranking
from skycell.experiment.trade_off import trade_off

GOODPUT, DELAY = Aim("throughput", "greater", ""), Aim("p95_sojourn", "smaller", "")


def ranking(values: list[tuple[float | None, float | None]]) -> Ranking:
    """Options with these values of goodput and delay."""
    options = [
        Ranked({"at": at}, {"throughput": goodput, "p95_sojourn": delay}, 0.0, 0.0, 0.0, False)
        for at, (goodput, delay) in enumerate(values)
    ]
    return Ranking(GOODPUT, tuple(options), (), 0.9, 5)


values = st.integers(1, 9).map(float)


@given(st.lists(st.tuples(values, values), min_size=1, max_size=12))
def test_no_option_is_left_out_that_another_one_does_not_beat(
    pairs: list[tuple[float, float]],
) -> None:
    found = trade_off(ranking([*pairs]), GOODPUT, DELAY)
    assert found is not None
    kept = [found.of(option) for option in found.options]
    assert kept == sorted(set(kept), key=lambda pair: pair[1])
    for goodput, delay in pairs:
        beats = [one for one in kept if one[0] >= goodput and one[1] <= delay]
        assert beats
        assert ((goodput, delay) in kept) == (beats == [(goodput, delay)])


def test_the_last_option_says_what_its_goodput_costs() -> None:
    found = trade_off(ranking([(10.0, 300.0), (9.0, 50.0), (8.0, 60.0)]), GOODPUT, DELAY)
    assert found is not None
    assert [option.levels["at"] for option in found.options] == [1, 0]
    assert found.dearest == (0.1, 250.0)


def test_options_without_a_value_have_no_place() -> None:
    assert trade_off(ranking([(None, 1.0), (1.0, None)]), GOODPUT, DELAY) is None
    found = trade_off(ranking([(None, 1.0), (1.0, 1.0)]), GOODPUT, DELAY)
    assert found is not None
    assert found.dearest is None
