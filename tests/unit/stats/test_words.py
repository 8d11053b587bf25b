"""What an analysis says in plain words."""

import itertools
import random
import re

import pytest

from skycell.stats import analyse
from skycell.stats.result import Analysis


def made(spread: float = 0.01, seed: int = 2) -> Analysis:
    """Four TCPs, of which two are alike, times two policies that hardly matter."""
    draw = random.Random(seed)
    base = {"vanilla": 0.60, "reno": 0.75, "newreno": 0.860, "sack": 0.861}
    rows = [
        {"tcp": tcp, "policy": policy, "y": base[tcp] + draw.gauss(0, spread)}
        for tcp, policy in itertools.product(base, ("epd", "sd"))
        for _ in range(5)
    ]
    return analyse(rows, ["tcp", "policy"], "y")


def test_the_summary_names_factors_that_matter_and_levels_that_are_alike() -> None:
    first, second, tcp, policy, error = made().summary()
    assert first.startswith("tcp explains 99.0 % of the variation of y, policy 0.01 %; inter")
    assert "policy" in first
    assert (
        second
        == "At 90 % confidence tcp matters; policy and tcp × policy cannot be told from chance."
    )
    alike = ("newreno and sack.", "sack and newreno.")
    assert re.match(r"tcp: 0\.\d+ with \w+, 0\.\d+ with \w+, ", tcp)
    assert tcp.endswith(tuple(f"cannot be told apart: {pair}" for pair in alike))
    assert policy.endswith("they cannot be told apart.")
    assert error.startswith("The error is that of the replications (standard error of a run 0.0")
    assert error.endswith("32 degrees of freedom).")


def test_chance_alone_is_called_chance() -> None:
    draw = random.Random(5)
    rows = [
        {"a": a, "b": b, "y": draw.gauss(0, 1)} for a in range(3) for b in range(3) for _ in "123"
    ]
    summary = analyse(rows, ["a", "b"], "y", level=0.99).summary()
    assert summary[1] == "At 99 % confidence no factor matters: all differences can be chance."
    assert "none can be told apart" in summary[2]


def three_factors(effect: float) -> list[str]:
    """The summary where nothing but all three factors together does anything."""
    draw = random.Random(4)
    rows = [
        {"a": a, "b": b, "c": c, "y": effect * (-1) ** (a + b + c) + draw.gauss(0, 1)}
        for a, b, c in itertools.product(range(2), repeat=3)
        for _ in range(4)
    ]
    return analyse(rows, ["a", "b", "c"], "y").summary()


def test_higher_interactions_beyond_chance_are_pointed_out() -> None:
    found = [s for s in three_factors(effect=3.0) if s.startswith("The higher interactions (9")]
    assert len(found) == 1
    assert found[0].endswith("and a model of a higher order names them.")
    assert not any("higher order" in s for s in three_factors(effect=0.0))


def test_an_interaction_above_a_main_effect_is_pointed_out() -> None:
    # Selective Drop helps a large buffer by a half and costs a small one as much.
    helps = {(0, "epd"): 0.0, (0, "sd"): -0.5, (1, "epd"): 0.0, (1, "sd"): 0.5}
    rows = [
        {"buffer": buffer, "policy": policy, "y": buffer + gain + 0.01 * run}
        for (buffer, policy), gain in helps.items()
        for run in range(3)
    ]
    summary = analyse(rows, ["buffer", "policy"], "y").summary()
    assert "What policy does depends on buffer more than it does by itself." in summary


def test_a_run_far_from_the_model_and_residuals_that_are_not_normal_are_told() -> None:
    draw = random.Random(3)
    rows = [{"a": a, "y": a + draw.gauss(0, 0.01)} for a in range(3) for _ in range(12)]
    rows[7]["y"] = 1.0
    found = analyse(rows, ["a"], "y")
    text = " ".join(found.summary())
    assert "The residuals are not normal (Shapiro-Wilk p = " in text
    assert "A run lies far from the model: a=0 gave 1 where 0.08" in text
    assert found.diagnostics.largest[0].value == 1.0


def test_a_spread_that_differs_between_levels_is_told() -> None:
    draw = random.Random(4)
    rows = [{"a": a, "y": draw.gauss(0, 0.01 if a else 1)} for a in (0, 1) for _ in range(20)]
    text = " ".join(analyse(rows, ["a"], "y").summary())
    assert "The spread differs between the levels of a (Brown-Forsythe p = " in text


def test_well_behaved_residuals_are_not_spoken_of() -> None:
    text = " ".join(made().summary())
    assert "normal" not in text
    assert "spread" not in text


@pytest.mark.parametrize(("rows", "degrees"), [(1, 3), (2, 8)])
def test_the_summary_says_where_the_error_comes_from(rows: int, degrees: int) -> None:
    draw = random.Random(2)
    frame = [
        {"a": a, "b": b, "y": a + draw.gauss(0, 0.1)}
        for a in range(4)
        for b in range(2)
        for _ in range(rows)
    ]
    found = analyse(frame, ["a", "b"], "y")
    (sentence,) = [s for s in found.summary() if "error" in s and "explains" not in s]
    assert f"{degrees} degrees of freedom" in sentence
    assert ("With one run per cell" in sentence) == (rows == 1)
    assert ("from the interactions of 2 factors (" in sentence) == (rows == 1)


def test_interactions_that_are_the_error_are_told_by_their_factors() -> None:
    cells = list(itertools.product((0, 1), repeat=4))
    draw = random.Random(3)
    rows = [{**dict(zip("abcd", cell, strict=True)), "y": draw.random()} for cell in cells]
    two = " ".join(analyse(rows, list("abcd"), "y").summary())
    assert "the error is taken from the interactions of 3 factors or more (" in two
    three = " ".join(analyse(rows, list("abcd"), "y", order=3).summary())
    assert "the error is taken from the interactions of 4 factors (" in three
    assert "1 degree of freedom)" in three
    some = " ".join(analyse(rows[1:], list("abcd"), "y").summary())
    assert "the error is taken from the interactions beyond the model (" in some
