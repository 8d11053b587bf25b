"""Effects, allocation of variation and intervals, on numbers worked out by hand."""

import itertools
import json
import math
import random
from collections.abc import Sequence
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skycell.stats import DesignError, analyse, dominant_factor
from skycell.stats.findings import Estimate
from skycell.stats.result import Analysis
from tests.unit.stats.by_hand import Row, sums_of_squares

# Jain, The Art of Computer Systems Performance Analysis, section 18.1: a 2^2 design with three
# replications, whose effects are 41, 21.5, 9.5 and 5.
MEMORY_CACHE = {
    ("low", "low"): (15, 18, 12),
    ("high", "low"): (45, 48, 51),
    ("low", "high"): (25, 28, 19),
    ("high", "high"): (75, 75, 81),
}


def workstation() -> list[dict[str, Any]]:
    return [
        {"memory": memory, "cache": cache, "run": run, "speed": speed}
        for (memory, cache), speeds in MEMORY_CACHE.items()
        for run, speed in enumerate(speeds, start=1)
    ]


def shares(found: Analysis) -> dict[str, float]:
    return {row.name: row.share for row in found.variation}


def test_a_textbook_design_with_replications_has_its_published_allocation() -> None:
    found = analyse(workstation(), ["memory", "cache"], "speed", level=0.9)
    # SSA = 12 x 21.5^2 = 5547, SSB = 12 x 9.5^2 = 1083, SSAB = 12 x 5^2 = 300, SSE = 102,
    # SST = 7032.
    reported = {row.name: row.sum_of_squares for row in found.variation}
    assert reported == pytest.approx(
        {"memory": 5547, "cache": 1083, "memory × cache": 300, "error": 102}
    )
    assert shares(found) == pytest.approx(
        {"memory": 0.78882, "cache": 0.15401, "memory × cache": 0.04266, "error": 0.01451}, abs=5e-6
    )
    assert (found.error.source, found.error.degrees) == ("replications", 8)
    # s_e = sqrt(102 / 8) = 3.57; of an effect s_e / sqrt(12) = 1.03; t[0.95; 8] = 1.86.
    low = found.factor("memory").levels[0].effect
    assert low.value == pytest.approx(-21.5)
    assert low.standard_error == pytest.approx(1.0308, abs=1e-4)
    assert low.high == pytest.approx(-21.5 + 1.8595 * 1.0308, abs=1e-3)
    assert found.mean.value == pytest.approx(41)
    assert found.dominant == "memory"


def test_each_combination_of_two_factors_has_the_mean_of_its_runs() -> None:
    (found,) = analyse(workstation(), ["memory", "cache"], "speed", level=0.9).interactions
    assert found.factors == ("memory", "cache")
    means = {cell.levels: cell.mean.value for cell in found.cells}
    assert means == pytest.approx({cell: sum(of) / 3 for cell, of in MEMORY_CACHE.items()})
    effects = {cell.levels: cell.effect.value for cell in found.cells}
    assert effects == pytest.approx(
        {("low", "low"): 5, ("low", "high"): -5, ("high", "low"): -5, ("high", "high"): 5}
    )
    # A mean of three runs: s_e / sqrt(3), with the t of above.
    mean = found.cells[0].mean
    assert mean.standard_error == pytest.approx((102 / 8 / 3) ** 0.5)
    assert mean.high == pytest.approx(15 + 1.8595 * 2.0616, abs=1e-3)


def _three_levels(*means: float) -> Analysis:
    """Three runs of each of three levels, with noise of mean square 1 and 6 degrees of freedom."""
    rows = [
        {"tcp": tcp, "y": mean + noise}
        for tcp, mean in zip(("vanilla", "reno", "sack"), means, strict=True)
        for noise in (-1.0, 0.0, 1.0)
    ]
    return analyse(rows, "tcp", "y", level=0.95)


def test_levels_are_told_apart_by_intervals_that_hold_together() -> None:
    # Tables of the studentized range have q[0.95; 3, 6] = 4.339: half an interval is
    # 4.339 / sqrt(2) x sqrt(2 / 3) = 2.505. Student's t alone, 2.447, would give 1.998.
    found = _three_levels(0.0, 2.4, 5.0)
    vanilla_to_reno = found.factor("tcp").differences[0]
    assert (vanilla_to_reno.first, vanilla_to_reno.second) == ("vanilla", "reno")
    assert vanilla_to_reno.difference.value == pytest.approx(-2.4)
    assert vanilla_to_reno.difference.high == pytest.approx(-2.4 + 2.505, abs=1e-3)
    assert found.factor("tcp").alike() == [("vanilla", "reno")]
    assert _three_levels(0.0, 2.4, 4.91).factor("tcp").alike() == [("vanilla", "reno")]
    assert _three_levels(0.0, 2.4, 4.89).factor("tcp").alike() == [
        ("vanilla", "reno"),
        ("reno", "sack"),
    ]
    assert [level.runs for level in found.factor("tcp").levels] == [3, 3, 3]


def test_an_effect_is_as_likely_by_chance_as_tables_of_f_say() -> None:
    # F[0.95; 2, 6] = 5.143. Levels at -d, 0 and d have the mean square 3 x 2 d^2 / 2 over an error
    # of 1.
    d = (5.143 / 3) ** 0.5
    row = _three_levels(-d, 0, d).term("tcp")
    assert row.f == pytest.approx(5.143)
    assert row.p == pytest.approx(0.05, abs=1e-4)


def test_without_any_error_what_does_not_vary_is_no_effect() -> None:
    rows = [{"a": a, "b": b, "y": float(a)} for a in (0, 1) for b in (0, 1) for _ in range(2)]
    found = analyse(rows, ["a", "b"], "y")
    assert (found.term("a").p, found.term("b").p) == (0.0, 1.0)
    assert found.design == "balanced"


def test_means_are_effects_above_the_overall_mean_and_have_the_wider_interval() -> None:
    found = analyse(workstation(), ["memory", "cache"], "speed")
    level = found.factor("cache").levels[1]
    assert level.mean.value == pytest.approx(41 + 9.5)
    # A mean of six runs: s_e / sqrt(6).
    assert level.mean.standard_error == pytest.approx(math.sqrt(102 / 8 / 6))
    assert level.runs == 6
    (cells,) = found.interactions
    assert cells.cells[0].levels == ("low", "low")
    assert cells.cells[0].effect.value == pytest.approx(5)
    assert cells.cells[0].mean.value == pytest.approx(15)


@given(
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
@settings(max_examples=25, deadline=None)
def test_a_balanced_design_agrees_with_the_sums_by_hand(
    sizes: list[int], replications: int, random: Any
) -> None:
    cells = itertools.product(*map(range, sizes))
    rows: list[Row] = [
        (cell, random.uniform(-1, 1) + 0.3 * sum(cell))
        for cell in cells
        for _ in range(replications)
    ]
    names = [f"factor {place}" for place in range(len(sizes))]
    frame = [dict(zip(names, code, strict=True)) | {"y": value} for code, value in rows]
    found = analyse(frame, names, "y")
    order = max(len(row.factors) for row in found.variation)
    by_hand = sums_of_squares(rows, order)
    assert found.total == pytest.approx(by_hand[()])
    for row in found.variation:
        if row.factors:
            term = tuple(names.index(name) for name in row.factors)
            assert row.sum_of_squares == pytest.approx(by_hand[term], abs=1e-12)
    rest = sum(row.sum_of_squares for row in found.variation if not row.factors)
    assert rest == pytest.approx(by_hand[(-1,)], abs=1e-9)
    # What is drawn may be the same in all runs.
    assert sum(row.share for row in found.variation) == pytest.approx(int(found.varies))
    assert sum(row.degrees for row in found.variation) == len(rows) - 1
    for factor in found.factors:
        assert sum(level.effect.value for level in factor.levels) == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_the_fitted_value_is_the_sum_of_the_told_effects(seed: int) -> None:
    import random

    draw = random.Random(seed)
    frame = [
        {"a": a, "b": b, "y": draw.uniform(0, 1)}
        for a in range(3)
        for b in "uvwx"
        for _ in range(draw.randint(1, 3))
    ]
    found = analyse(frame, ["a", "b"], "y")
    (pairs,) = found.interactions
    means = {cell.levels: cell.mean.value for cell in pairs.cells}
    for residual in found.residuals:
        assert residual.fitted == pytest.approx(means[residual.levels])
        assert residual.value - residual.fitted == pytest.approx(residual.residual)


def test_blocks_take_what_the_runs_of_a_replication_share_out_of_the_error() -> None:
    # Every run of replication 3 is 10 higher: with common random numbers that is no error.
    rows = [
        {"tcp": tcp, "run": run, "y": base + {1: 0, 2: 1, 3: 10}[run] + noise}
        for (tcp, base), noises in zip(
            [("reno", 5), ("sack", 6)], [(0.1, -0.1, 0), (-0.1, 0.1, 0)], strict=True
        )
        for run, noise in zip((1, 2, 3), noises, strict=True)
    ]
    alone = analyse(rows, ["tcp"], "y")
    blocked = analyse(rows, ["tcp"], "y", block="run")
    assert alone.factor("tcp").differences[0].difference.is_clear is False
    assert blocked.factor("tcp").differences[0].difference.is_clear is True
    assert blocked.error.degrees == 2
    assert shares(blocked)["run (block)"] > 0.9
    assert (
        "What runs with the same run share is taken out of the error; the intervals of means allow "
        "for it."
    ) in blocked.notes


def _blocked(shared: Sequence[float]) -> Analysis:
    """Two levels in three blocks: effects of -1 and 1, blocks as given, noise with a sum of 0."""
    noise = [[0.1, -0.1, 0.0], [-0.1, 0.1, 0.0]]
    rows = [
        {"tcp": tcp, "run": run, "y": 10 + 2 * tcp - 1 + shared[run] + noise[tcp][run]}
        for tcp in (0, 1)
        for run in range(3)
    ]
    return analyse(rows, "tcp", "y", level=0.9, block="run")


def test_the_interval_of_a_mean_is_over_other_blocks_and_that_of_an_effect_is_not() -> None:
    # Squared noise is 0.04 over 2 degrees of freedom: 0.02. Blocks of 2 runs lie -3, 0 and 3 beside
    # the mean: 2 x 18 over 2 degrees, 18. A mean of all 6 runs has the variance 18 / 6 = 3 with the
    # 2 degrees of the blocks, t 2.91999. A level's mean has one part more: (18 + 0.02) / 6.
    found = _blocked([-3, 0, 3])
    assert found.mean.standard_error == pytest.approx(3**0.5)
    assert found.mean.high == pytest.approx(10 + 2.91999 * 3**0.5, abs=1e-4)
    level = found.factor("tcp").levels[0]
    assert level.mean.standard_error == pytest.approx((18.02 / 6) ** 0.5)
    # Satterthwaite: 18.02^2 / (18^2 / 2 + 0.02^2 / 2) = 2.00444 degrees, t 2.91558.
    assert level.mean.high == pytest.approx(9 + 2.91558 * (18.02 / 6) ** 0.5, abs=1e-4)
    # The effect is half a difference within the blocks.
    assert level.effect.standard_error == pytest.approx((0.02 / 6) ** 0.5)


def test_blocks_that_differ_no_more_than_chance_lets_them_widen_no_interval() -> None:
    found = _blocked([0, 0, 0])
    assert found.mean.standard_error == pytest.approx((0.02 / 6) ** 0.5)


def test_levels_without_error_whose_means_are_the_same_cannot_be_told_apart() -> None:
    # 0.1 + 0.2 is not 0.3: the means differ by rounding, and there is no error to hide it.
    rows = [
        {"f": f, "y": y} for f, y in [("a", 0.1), ("b", 0.3), ("c", 0.1 + 0.2)] for _ in range(3)
    ]
    found = analyse(rows, "f", "y")
    assert found.factor("f").alike() == [("b", "c")]


@pytest.mark.parametrize("power", [-1000, -600, -40, 400])
def test_a_response_of_any_size_is_explained_as_one_about_1_is(power: int) -> None:
    size = 2.0**power  # no digit is lost
    draw = random.Random(3)
    rows = [
        {"a": a, "b": b, "run": run, "y": 1 + a + 0.3 * b + draw.gauss(0, 0.1)}
        for a, b, run in itertools.product(range(2), range(3), range(4))
    ]
    tiny = [{**row, "y": row["y"] * size} for row in rows]
    usual, found = (analyse(own, ["a", "b"], "y", block="run") for own in (rows, tiny))
    assert found.varies
    assert found.summary()[0] == usual.summary()[0]
    for own, other in zip(found.variation, usual.variation, strict=True):
        assert (own.share, own.f, own.p) == (other.share, other.f, other.p)
        assert own.sum_of_squares == other.sum_of_squares * size * size
    assert found.total == usual.total * size * size
    assert found.error.standard_error == (usual.error.standard_error or math.nan) * size
    for level, like in zip(found.factor("b").levels, usual.factor("b").levels, strict=True):
        assert level.mean.value == like.mean.value * size
        assert level.mean.low == (like.mean.low or math.nan) * size
    assert found.diagnostics.normality_p == usual.diagnostics.normality_p
    assert found.diagnostics.spread_p == usual.diagnostics.spread_p
    assert dominant_factor(tiny, ["a", "b"], "y") == dominant_factor(rows, ["a", "b"], "y")


def test_values_next_to_the_smallest_number_are_still_told_apart() -> None:
    rows = [{"f": f, "y": y} for f, y in [("a", 5e-324), ("b", 1.5e-323)] for _ in range(2)]
    found = analyse(rows, "f", "y")
    assert (found.varies, found.dominant) == (True, "f")


def test_nothing_is_said_of_the_spread_where_the_model_ties_residuals_together() -> None:
    # One run a cell of 3 x 2 x 2: two degrees of freedom are left, and within a level of the first
    # factor all residuals have one size, whatever the runs.
    rows = [
        {"a": a, "b": b, "c": c, "y": (7 * a + 5 * b + 3 * c + 11 * a * b * c) % 6}
        for a, b, c in itertools.product(range(3), range(2), range(2))
    ]
    found = analyse(rows, ["a", "b", "c"], "y")
    sizes = {(r.levels[0], round(abs(r.residual), 9)) for r in found.residuals}
    assert len(sizes) == 3
    assert found.diagnostics.spread_p is None
    assert found.diagnostics.normality_p is not None


def test_a_single_degree_of_freedom_says_nothing_of_the_normal_distribution() -> None:
    rows = [
        {"a": a, "b": b, "c": c, "y": a + 2 * b + 3 * c + a * b * c}
        for a, b, c in itertools.product(range(2), repeat=3)
    ]
    assert analyse(rows, ["a", "b", "c"], "y").diagnostics.normality_p is None


def test_interactions_beyond_the_model_are_told_apart_from_the_error_of_replications() -> None:
    # A pure interaction of three factors, +1 or -1, and replications that differ by 0.2.
    rows = [
        {"a": a, "b": b, "c": c, "y": a * b * c + noise}
        for a, b, c in itertools.product((-1, 1), repeat=3)
        for noise in (-0.1, 0.1)
    ]
    found = analyse(rows, ["a", "b", "c"], "y")
    assert shares(found)["higher interactions"] == pytest.approx(16 / 16.16)
    assert found.error.degrees == 8
    assert found.error.standard_error == pytest.approx(math.sqrt(0.16 / 8))
    whole = analyse(rows, ["a", "b", "c"], "y", order=3)
    assert whole.term("a", "b", "c").share == pytest.approx(16 / 16.16)


@pytest.mark.parametrize(
    ("frame", "factors", "response", "reported"),
    [
        (
            {"a": [1, 2], "y": [1.0, 2.0]},
            ["b"],
            "y",
            "the table has no column b; its columns are a, y",
        ),
        ([], ["a"], "y", "the table has no rows"),
        ({"a": [], "y": []}, ["a"], "y", "the table has no rows"),
        (
            {"a": [1, 2], "y": ["high", 2]},
            ["a"],
            "y",
            "y is 'high' in row 1, which is not a number",
        ),
        ({"a": [1, 2], "y": ["3", "x"]}, ["a"], "y", "y is 'x' in row 2, which is not a number"),
        (
            {"a": [1, 2], "y": ["3", "nan"]},
            ["a"],
            "y",
            "y is 'nan' in row 2, which is not a number",
        ),
        ({"a": [1, 2], "y": [True, 2]}, ["a"], "y", "y is True in row 1, which is not a number"),
        ({"a": [1, 2], "y": [math.inf, 2]}, ["a"], "y", "y is infinite in row 1"),
        ({"a": [1, 2], "y": [2, -1e200]}, ["a"], "y", "y is -1e+200 in row 2; the limit is"),
        ({"a": [1, 2], "y": [None, None]}, ["a"], "y", "no row has a value of y"),
        ({"a": [None, 2], "y": [1, 2]}, ["a"], "y", "a is empty in a row; every run needs a level"),
        ({"a": [1, 1], "y": [1.0, 2.0]}, ["a"], "y", "no factor varies: a given"),
        ({"a": [1, 2], "y": [1.0, None]}, ["a"], "y", "no factor varies: a given"),
        ({"a": [1, 2], "y": [1.0, 2.0]}, ["y"], "y", "y cannot be both a factor and the response"),
        ({"a": [1, 2], "y": [1.0]}, ["a"], "y", "the columns of the table have different lengths"),
    ],
)
def test_a_table_that_cannot_be_analysed_is_refused_with_the_reason(
    frame: Any, factors: Sequence[str], response: str, reported: str
) -> None:
    with pytest.raises(DesignError) as refused:
        analyse(frame, factors, response)
    assert str(refused.value).startswith(reported)


def test_texts_that_are_numbers_are_numbers() -> None:
    numbers = analyse({"a": [1, 2, 1, 2], "y": [1.5, -2, 3, 4e3]}, "a", "y")
    assert analyse({"a": [1, 2, 1, 2], "y": ["1.5", " -2", "3", "4e3"]}, "a", "y") == numbers


def test_a_single_factor_may_be_given_by_its_name() -> None:
    one = analyse(workstation(), "memory", "speed")
    assert one == analyse(workstation(), ["memory"], "speed")


def test_an_analysis_is_shown_in_a_line_and_printed_as_its_sentences() -> None:
    found = analyse(workstation(), ["memory", "cache"], "speed")
    assert repr(found) == "<Analysis of speed by memory, cache: 12 runs>"
    assert str(found).splitlines() == found.summary()


def test_the_block_must_be_a_column_of_its_own() -> None:
    with pytest.raises(DesignError, match="a cannot be both the block and a factor"):
        analyse({"a": [1, 2], "y": [1, 2]}, ["a"], "y", block="a")


@pytest.mark.parametrize("level", [0, 1, 90])
def test_a_confidence_level_lies_between_nothing_and_all(level: float) -> None:
    with pytest.raises(ValueError, match="must be above 0 and below 1"):
        analyse(workstation(), ["memory"], "speed", level=level)
    with pytest.raises(ValueError, match="must be 1 or more"):
        analyse(workstation(), ["memory"], "speed", order=0)


def test_a_higher_confidence_widens_every_interval() -> None:
    narrow = analyse(workstation(), ["memory", "cache"], "speed", level=0.9)
    wide = analyse(workstation(), ["memory", "cache"], "speed", level=0.99)
    for one, other in zip(narrow.factors, wide.factors, strict=True):
        for n, w in zip(one.levels, other.levels, strict=True):
            assert n.effect.value == pytest.approx(w.effect.value)
            assert (w.effect.low or 0) < (n.effect.low or 0)


def test_rows_without_a_value_and_factors_of_one_level_are_left_out_and_told() -> None:
    rows = [*workstation(), {"memory": "low", "cache": "low", "run": 4, "speed": None}]
    found = analyse([row | {"site": "lab"} for row in rows], ["memory", "cache", "site"], "speed")
    assert found.runs == 12
    assert "1 row without a value of speed is left out." in found.notes
    assert "site is lab in all rows and is left out." in found.notes


def test_every_kind_of_table_gives_the_same_analysis() -> None:
    rows = workstation()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    first = analyse(rows, ["memory", "cache"], "speed").as_dict()
    for table in (columns, pl.DataFrame(rows), pd.DataFrame(rows)):
        assert analyse(table, ["memory", "cache"], "speed").as_dict() == first
    json.dumps(first, allow_nan=False)


@pytest.mark.parametrize("name", ["C", "log", "y", "Q('x')", "a b", "f0", "np.exp"])
def test_a_factor_may_be_called_whatever_means_something_in_a_formula(name: str) -> None:
    rows = [
        {name: row["memory"], "cache": row["cache"], "speed": row["speed"]} for row in workstation()
    ]
    found = analyse(rows, [name, "cache"], "speed")
    assert found.term(name).sum_of_squares == pytest.approx(5547)


def test_levels_that_are_numbers_are_ascending_and_words_as_they_come() -> None:
    rows = [{"n": n, "w": w, "y": n + len(w)} for n in (15, 5, 10) for w in ("sd", "epd", "ubr")]
    found = analyse(rows, ["n", "w"], "y")
    assert [level.level for level in found.factor("n").levels] == [5, 10, 15]
    assert [level.level for level in found.factor("w").levels] == ["sd", "epd", "ubr"]


def test_a_response_that_does_not_vary_has_no_dominant_factor() -> None:
    rows = [row | {"speed": 0.1} for row in workstation()]
    found = analyse(rows, ["memory", "cache"], "speed")
    assert found.dominant is None
    assert found.summary() == ["speed is the same in all 12 runs: nothing matters."]
    assert set(shares(found).values()) == {0.0}
    assert json.dumps(found.as_dict(), allow_nan=False)


def test_without_any_error_whatever_varies_is_an_effect() -> None:
    rows = [{"a": a, "y": float(a)} for a in (0, 1) for _ in range(2)]
    found = analyse(rows, ["a"], "y")
    assert found.term("a").p == 0.0
    assert found.factor("a").differences[0].difference.is_clear is True


def test_the_dominant_factor_comes_first_with_its_part() -> None:
    found = dominant_factor(workstation(), ["cache", "memory"], "speed")
    assert found == pytest.approx({"memory": 5547 / 7032, "cache": 1083 / 7032})
    assert list(found) == ["memory", "cache"]


@pytest.mark.parametrize(
    ("low", "high", "is_clear"),
    [(0.1, 1, True), (-1, -0.1, True), (-1, 1, False), (0, 1, False), (-1, 0, False)],
)
def test_a_number_is_clear_where_its_interval_leaves_out_zero(
    low: float, high: float, is_clear: bool
) -> None:
    assert Estimate((low + high) / 2, 0.1, low, high).is_clear is is_clear
    assert Estimate(1, None, None, None).is_clear is None


def test_a_factor_that_acts_with_another_only_does_not_dominate() -> None:
    rows = [
        {"a": a, "b": b, "y": 0.1 * a + 0.2 * b + a * b + noise}
        for a, b in itertools.product((-1, 1), repeat=2)
        for noise in (-0.1, 0.1)
    ]
    found = analyse(rows, ["a", "b"], "y")
    assert found.dominant == "b"
    assert list(found.shares()) == ["b", "a"]
    # 8 x (0.01 + 0.04 + 1) and 8 x 0.01 of noise.
    assert found.shares() == pytest.approx({"b": 0.32 / 8.48, "a": 0.08 / 8.48})


def test_a_program_is_told_the_sum_of_squares_of_the_mean_too() -> None:
    # Jain: SSY = SS0 + SST, and SS0 = 12 x 41^2.
    reported = analyse(workstation(), ["memory", "cache"], "speed").as_dict()
    assert reported["sum_of_squares"] == pytest.approx(
        {"values": 27_204.0, "mean": 20_172.0, "total": 7032.0}
    )
    assert "unit" not in reported["factors"][0]
    with_units = analyse(workstation(), ["memory", "cache"], "speed").named({"cache": "kB"})
    assert with_units.as_dict()["factors"][1]["unit"] == "kB"
    assert json.loads(with_units.to_json()) == with_units.as_dict()


def test_an_unknown_factor_or_term_is_a_key_error() -> None:
    found = analyse(workstation(), ["memory", "cache"], "speed")
    with pytest.raises(KeyError):
        found.factor("disk")
    with pytest.raises(KeyError):
        found.term("memory", "disk")
    assert found.term("cache", "memory").name == "memory × cache"
