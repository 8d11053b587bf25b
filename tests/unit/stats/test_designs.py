"""Which effects a design decides: one run a cell, missing cells, unequal numbers, blocks."""

import itertools

import pytest

from skycell.stats import DesignError, analyse


def test_two_factors_with_one_run_per_cell_leave_their_interaction_for_the_error() -> None:
    rows = [{"a": a, "b": b, "y": a + 2 * b + 0.1 * a * b} for a in range(3) for b in range(3)]
    found = analyse(rows, ["a", "b"], "y")
    assert found.interactions == ()
    assert (found.error.source, found.error.degrees) == ("higher interactions", 4)
    assert found.notes == ()  # where the error comes from stands in the summary


def test_one_run_of_each_level_has_effects_but_no_intervals() -> None:
    found = analyse({"tcp": ["reno", "sack"], "y": [1.0, 3.0]}, ["tcp"], "y")
    assert found.error.source == "none"
    assert found.factor("tcp").levels[0].effect.value == pytest.approx(-1)
    assert found.factor("tcp").levels[0].effect.low is None
    assert "add replications" in found.summary()[1]


def test_a_missing_cell_may_leave_nothing_for_the_error() -> None:
    # Two factors in three runs: each effect is half of the one difference that tells it. Without a
    # the mean of 1 and 2 stands for both: (2 - 1)^2 / 2 is lost; without b (3 - 1)^2 / 2.
    rows = [{"a": 0, "b": 0, "y": 1.0}, {"a": 0, "b": 1, "y": 3.0}, {"a": 1, "b": 0, "y": 2.0}]
    found = analyse(rows, ["a", "b"], "y")
    assert (found.design, found.error.source) == ("incomplete", "none")
    assert found.factor("a").levels[1].effect.value == pytest.approx(0.5)
    assert found.factor("b").levels[1].effect.value == pytest.approx(1)
    assert found.term("a").sum_of_squares == pytest.approx(0.5)
    assert found.term("b").sum_of_squares == pytest.approx(2)
    assert "add replications" in " ".join(found.summary())


@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_an_unbalanced_design_without_any_error_is_analysed(slope: float) -> None:
    cells = [(0, 0), (0, 0), (0, 1), (1, 0), (1, 1)]
    found = analyse([{"a": a, "b": b, "y": 1 + slope * a} for a, b in cells], ["a", "b"], "y")
    assert found.term("a").p == (0.0 if slope else 1.0)
    assert found.term("b").p == 1.0


def test_blocks_may_leave_nothing_for_the_error() -> None:
    # Three runs: a mean, a difference of levels and one of days.
    rows = [
        {"a": 0, "day": 1, "y": 1.0},
        {"a": 1, "day": 1, "y": 3.0},
        {"a": 0, "day": 2, "y": 2.0},
    ]
    found = analyse(rows, ["a"], "y", block="day")
    assert found.error.source == "none"
    assert found.factor("a").levels[1].effect.value == pytest.approx(1)
    assert (found.mean.low, found.factor("a").levels[0].mean.low) == (None, None)


def test_interactions_that_a_fraction_of_the_design_confounds_are_left_out() -> None:
    # Half of 2 x 2 x 2: every pair of levels has runs, but a x b is c, a x c is b, and b x c is a.
    rows = [
        {"a": a, "b": b, "c": a * b, "y": a + 2 * b + 3 * a * b + noise}
        for a, b in itertools.product((-1, 1), repeat=2)
        for noise in (-0.1, 0.1)
    ]
    found = analyse(rows, ["a", "b", "c"], "y")
    assert found.interactions == ()
    reported = [found.factor(name).levels[1].effect.value for name in ("a", "b", "c")]
    assert reported == pytest.approx([1, 2, 3])
    (note,) = [note for note in found.notes if "cells have no run" in note]
    assert note.endswith("Left out because these runs do not determine them: a × b, a × c, b × c.")


def test_a_block_that_takes_the_last_degree_of_freedom_costs_the_interaction() -> None:
    # Five runs for a mean, two effects, their interaction and a difference of days: what is
    # replicated tells the days apart and nothing else.
    runs = [(0, 0, 1, 1.0), (0, 1, 1, 2.0), (1, 0, 1, 3.0), (1, 1, 1, 4.4), (0, 0, 2, 6.0)]
    rows = [{"a": a, "b": b, "day": day, "y": y} for a, b, day, y in runs]
    found = analyse(rows, ["a", "b"], "y", block="day")
    assert found.interactions == ()
    assert (found.error.source, found.error.degrees) == ("higher interactions", 1)
    # 4.4 is 0.4 beside 2 + 3 - 1; of a quarter in each of four cells the sum of squares is 0.04.
    assert found.error.standard_error == pytest.approx(0.2)


def test_an_unbalanced_design_weighs_cells_alike_and_says_so() -> None:
    # Cell means 1, 3 and 2, 4: the effect of b is 1 whatever the number of runs.
    rows = [("x", 0, 1.0)] * 4 + [("x", 1, 3.0)] + [("y", 0, 2.0)] + [("y", 1, 4.0)] * 2
    frame = [{"a": a, "b": b, "y": y + 0.01 * (i % 2)} for i, (a, b, y) in enumerate(rows)]
    found = analyse(frame, ["a", "b"], "y")
    assert found.design == "unbalanced"
    assert found.factor("b").levels[1].effect.value == pytest.approx(1, abs=0.01)
    assert any("type III" in note for note in found.notes)
    assert found.error.source == "replications"


def test_in_an_unbalanced_design_a_part_is_what_the_model_loses_without_the_term() -> None:
    # b goes with a: taken first, either factor would also get what they have in common.
    counts = {(0, 0): 5, (0, 1): 1, (1, 0): 2, (1, 1): 6}
    rows = [
        {"a": a, "b": b, "y": a + 2 * b + 0.1 * (run % 3)}
        for (a, b), runs in counts.items()
        for run in range(runs)
    ]
    one, other = (analyse(rows, names, "y", order=1) for names in (["a", "b"], ["b", "a"]))
    for name in ("a", "b"):
        assert one.term(name).sum_of_squares == pytest.approx(other.term(name).sum_of_squares)
    alone = analyse(rows, ["b"], "y")
    rest = sum(residual.residual**2 for residual in alone.residuals)
    left = sum(residual.residual**2 for residual in one.residuals)
    assert one.term("a").sum_of_squares == pytest.approx(rest - left)


def test_empty_cells_leave_out_what_they_do_not_decide_and_are_named() -> None:
    rows = [
        {"a": a, "b": b, "c": c, "y": a + 10 * b + 0.5 * c + 0.01 * noise}
        for a in (0, 1)
        for b in (0, 1)
        for c in (0, 1, 2)
        for noise in (0, 1)
        if (a, b) != (1, 1)
    ]
    found = analyse(rows, ["a", "b", "c"], "y")
    assert found.design == "incomplete"
    names = {row.name for row in found.variation}
    assert "a × b" not in names
    assert "a × c" in names
    (note,) = [note for note in found.notes if "cells have no run" in note]
    assert note.startswith("3 of 12 cells have no run (a=1 b=1 c=0, a=1 b=1 c=1, a=1 b=1 c=2)")
    assert "Left out because these runs do not determine them: a × b." in note
    assert found.factor("b").levels[1].effect.value == pytest.approx(5, abs=0.01)


def test_runs_that_do_not_decide_the_main_effects_are_refused() -> None:
    rows = [{"a": a, "b": a, "y": float(a)} for a in (0, 1) for _ in (0, 1)]
    with pytest.raises(DesignError) as refused:
        analyse(rows, ["a", "b"], "y")
    assert str(refused.value) == (
        "2 of 4 cells have no run (a=0 b=1, a=1 b=0), and the others cannot separate the effects "
        "of the factors: add the missing runs, or leave out a factor or a level"
    )


def test_a_block_that_goes_with_a_factor_is_refused() -> None:
    rows = [{"a": a, "day": a, "y": float(a + i)} for a in (0, 1) for i in (0, 1)]
    with pytest.raises(DesignError, match="day cannot be a block"):
        analyse(rows, ["a"], "y", block="day")
