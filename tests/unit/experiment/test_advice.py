"""Which option: the experiment that is made, and what a ranking concludes of its runs."""

import random
from typing import Any

import pytest

from skycell.experiment.advice import AIMS, Question, experiment_of, plan_of
from skycell.experiment.ranking import Ranking, rank
from skycell.experiment.result import SweepResult, SweepRun
from skycell.input.quantities import parse_quantity


def question(**more: Any) -> Question:
    values: dict[str, Any] = {
        "rate": parse_quantity("10 Mbit/s"),
        "rtt": parse_quantity("40 ms"),
        "users": 2,
    }
    return Question(**(values | more))


def result_of(runs: list[SweepRun], n: int) -> SweepResult:
    return SweepResult(
        title="x",
        file="x",
        factors={"tcp": tuple(dict.fromkeys(str(run.levels["tcp"]) for run in runs))},
        factor_units={},
        replications=n,
        first_seed=1,
        common_random_numbers=True,
        units={"throughput": "Mbit/s"},
        engine="fast",
        version="0",
        runs=tuple(runs),
        from_store=0,
    )


def run(option: str, number: int, throughput: float | None) -> SweepRun:
    reason = "broke" if throughput is None else None
    values = {"throughput": throughput}
    return SweepRun({"tcp": option}, number, number, f"{option}{number}", values, reason)


def ranked(means: dict[str, float], *, noise: float, common: float = 0.0, seed: int = 1) -> Ranking:
    """The ranking of options with these means: noise of each run, and noise that a seed has."""
    rng = random.Random(seed)
    shared = [rng.gauss(0, common) for _ in range(5)]
    runs = [
        run(name, at + 1, mean + shared[at] + rng.gauss(0, noise))
        for name, mean in means.items()
        for at in range(5)
    ]
    return rank(result_of(runs, 5), AIMS["goodput"])


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("rtt", ["40 ms", "600 ms"])
def test_the_experiment_of_every_aim_is_sound(aim: str, rtt: str) -> None:
    asked = question(
        aim=aim, rtt=parse_quantity(rtt), traffic=AIMS[aim].traffic or "bulk", loss=0.001
    )
    plan = plan_of(asked)
    assert AIMS[aim].response in plan.responses
    policies = next(factor for factor in plan.factors if factor.name == "policy")
    has_own = any(level.label == "codel_rtt" for level in policies.levels)
    assert has_own == (rtt == "600 ms")
    assert f'rate = "{asked.rate}"' in experiment_of(asked)


def test_options_apart_are_ranked_and_told_apart() -> None:
    found = ranked({"reno": 5.0, "cubic": 9.0, "vegas": 8.99}, noise=0.01)
    assert [option.levels["tcp"] for option in found.ranked][2] == "reno"
    assert [option.is_worse for option in found.ranked] == [False, False, True]
    assert found.ranked[2].high < 0 < found.ranked[1].high
    assert not found.decides  # two of three are left


def test_noise_that_all_share_does_not_hide_a_difference_and_own_noise_does() -> None:
    means = {"reno": 5.0, "cubic": 6.0, "vegas": 4.5}
    assert ranked(means, noise=0.05, common=5.0).decides
    assert not ranked(means, noise=3.0).decides


def test_of_equal_options_few_are_called_worse() -> None:
    # With 90 % of all intervals together a wrong verdict is made in about one of ten rankings;
    # the best of several is above its own mean, which makes it some more.
    equal = dict.fromkeys("abcdef", 9.0)
    wrong = sum(len(ranked(equal, noise=1, seed=seed).best) < 6 for seed in range(100))
    assert 0 < wrong <= 25


def test_an_option_without_a_value_is_named_and_not_ranked() -> None:
    runs = [run("a", 1, 1.0), run("a", 2, 1.1), run("b", 1, None), run("b", 2, 9.0)]
    found = rank(result_of(runs, 2), AIMS["goodput"])
    assert [option.levels for option in found.ranked] == [{"tcp": "a"}]
    assert found.unranked == ({"tcp": "b"},)


def test_one_run_of_each_option_has_no_spread() -> None:
    with pytest.raises(ValueError, match="no spread"):
        rank(result_of([run("a", 1, 1.0), run("b", 1, 2.0)], 1), AIMS["goodput"])
