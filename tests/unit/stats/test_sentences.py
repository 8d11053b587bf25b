"""What an analysis says in plain words."""

import itertools
import random
import re
from dataclasses import replace

import pytest

from skycell.stats import analyse
from skycell.stats.findings import (
    BLOCK,
    ERROR,
    HIGHER,
    INTERACTION,
    MAIN,
    Variation,
)
from skycell.stats.result import Analysis
from skycell.stats.sentences import percent


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


def allocated(*rows: tuple[str, str, float, float | None], level: float = 0.9) -> list[str]:
    """The summary of an allocation of (name, kind, share, p)."""
    variation = tuple(
        Variation(
            name,
            kind,
            tuple(name.split(" × ")) if kind in (MAIN, INTERACTION) else (),
            share,
            1,
            share,
            p=p,
        )
        for name, kind, share, p in rows
    )
    return replace(made(), variation=variation, level=level).summary()


ALLOCATED = (
    ("tcp", MAIN, 0.20, 0.01),
    ("policy", MAIN, 0.04, 0.099),
    ("buffer", MAIN, 0.30, 0.101),
    ("tcp × policy", INTERACTION, 0.0999, 0.01),
    ("policy × buffer", INTERACTION, 0.21, 0.09),
    ("run (block)", BLOCK, 0.05, 0.001),
    ("higher interactions", HIGHER, 0.06, 0.2),
    ("error", ERROR, 0.0099, None),
)


def test_where_the_variation_is_stands_in_order_and_adds_up() -> None:
    assert allocated(*ALLOCATED)[0] == (
        "buffer explains 30.0 % of the variation of y, tcp 20.0 % and policy 4.0 %; interactions "
        "31.0 % (most of it policy × buffer, 21.0 %); the run 5.0 %; higher interactions 6.0 %; "
        "the error 0.99 %."
    )
    (one, *_) = allocated(*ALLOCATED[:2], ALLOCATED[3])
    assert one == (
        "tcp explains 20.0 % of the variation of y, policy 4.0 %; interactions 10.0 % "
        "(tcp × policy)."
    )


def test_what_is_less_likely_by_chance_than_the_level_leaves_matters() -> None:
    assert allocated(*ALLOCATED)[1] == (
        "At 90 % confidence tcp, policy, tcp × policy and policy × buffer matter; buffer cannot be "
        "told from chance."
    )
    assert allocated(*ALLOCATED, level=0.8)[1] == (
        "At 80 % confidence tcp, policy, buffer, tcp × policy and policy × buffer matter."
    )


def test_an_interaction_larger_than_an_effect_qualifies_the_smaller_one() -> None:
    reported = [line for line in allocated(*ALLOCATED) if line.startswith("What ")]
    # 21 % are more than the 4 of the policy and less than the 30 of the buffer.
    depends = "What policy does depends on {} more than it does by itself."
    assert reported == [depends.format("tcp"), depends.format("buffer")]
    small = (("tcp", MAIN, 0.02, 0.01), ("policy", MAIN, 0.01, 0.01), ALLOCATED[3])
    assert depends.format("tcp") in allocated(*small)
    by_chance = (*small[:2], ("tcp × policy", INTERACTION, 0.0999, 0.101))
    assert not [line for line in allocated(*by_chance) if line.startswith("What ")]


@pytest.mark.parametrize(
    ("share", "reported"),
    [
        (0, "0.0 %"),
        (0.00009, "below 0.01 %"),
        (0.0001, "0.01 %"),
        (0.0099, "0.99 %"),
        (0.01, "1.0 %"),
    ],
)
def test_a_part_of_the_variation_has_the_digits_that_tell(share: float, reported: str) -> None:
    assert percent(share) == reported


def levels_of(*means: float) -> str:
    """What is said of a factor of some levels, three runs each; the second sentence after two."""
    rows = [
        {"tcp": f"t{place}", "y": mean + noise}
        for place, mean in enumerate(means)
        for noise in (-1, 0, 1)
    ]
    return analyse(rows, "tcp", "y").summary()[2]


def test_levels_stand_from_high_to_low_with_the_pairs_that_are_alike() -> None:
    assert levels_of(10, 20) == "tcp: 20 with t1, 10 with t0; they can be told apart."
    assert levels_of(10, 10.1) == "tcp: 10.1 with t1, 10 with t0; they cannot be told apart."
    three = "tcp: 30 with t1, 20 with t2, 10 with t0; "
    assert levels_of(10, 30, 20) == f"{three}all can be told apart."
    assert levels_of(10, 10.2, 10.1).endswith("; none can be told apart.")
    assert levels_of(10, 20, 20.1, 10.1) == (
        "tcp: 20.1 with t2, 20 with t1, 10.1 with t3, 10 with t0; cannot be told apart: "
        "t2 and t1; t3 and t0."
    )
    assert levels_of(-1234.4, 999.96).startswith("tcp: 1000 with t1, -1234 with t0")


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
