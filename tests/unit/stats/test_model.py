"""The error of replications and the weight of blocks, against plain regressions."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS

from skycell.stats import model
from skycell.stats.model import fit_model
from skycell.stats.table import design_table


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_error_of_replications_is_that_of_a_model_with_every_cell_and_block(
    seed: int, has_blocks: bool
) -> None:
    draw = random.Random(seed)
    rows = [
        {"a": a, "b": b, "run": run, "y": a * b + run + draw.gauss(0, 1)}
        for a in range(3)
        for b in range(3)
        for run in range(5)
        if draw.random() < 0.8 or run == 0
    ]
    table = design_table(rows, ["a", "b"], "y", "run" if has_blocks else None)
    fit = fit_model(table)
    cells = sorted({(row["a"], row["b"]) for row in rows})
    columns = [[float((row["a"], row["b"]) == cell) for cell in cells] for row in rows]
    if has_blocks:
        runs = sorted({row["run"] for row in rows})[1:]
        columns = [
            own + [float(row["run"] == run) for run in runs]
            for own, row in zip(columns, rows, strict=True)
        ]
    whole = OLS([row["y"] for row in rows], np.asarray(columns)).fit()
    if not fit.is_pure:
        assert whole.df_resid == 0 or len(rows) == len(cells)
        return
    assert fit.error_sum == pytest.approx(whole.ssr)
    assert fit.error_degrees == whole.df_resid


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_the_mean_square_of_blocks_holds_their_variance_as_often_as_the_design_says(
    seed: int,
) -> None:
    # A quadratic form of runs that share independent draws of variance 1 with their block has the
    # mean that its values for the indicators of the blocks have together.
    draw = random.Random(seed)
    rows = [
        {"a": a, "b": b, "run": run}
        for a in range(3)
        for b in range(2)
        for run in range(4)
        if draw.random() < 0.8 or run == 0
    ]
    runs = sorted({row["run"] for row in rows})
    total = 0.0
    for own in runs:
        marked = [{**row, "y": float(row["run"] == own)} for row in rows]
        fit = fit_model(design_table(marked, ["a", "b"], "y", "run"))
        assert fit.block_sum is not None
        total += fit.block_sum
    assert fit.block_runs == pytest.approx(total / (len(runs) - 1))


@given(st.integers(0, 10_000), st.integers(1, 2))
@settings(max_examples=15, deadline=None)
def test_means_of_complete_blocks_are_what_columns_of_blocks_come_to(seed: int, order: int) -> None:
    draw = random.Random(seed)
    rows = [
        {"a": a, "b": b, "run": run, "y": a * b + 3 * run + draw.gauss(0, 1)}
        for run in range(6)
        for a in range(3)
        for b in range(2)
    ]
    table = design_table(rows, ["a", "b"], "y", "run")
    by_means = fit_model(table, order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_has_complete_blocks", lambda _: False)
        by_columns = fit_model(table, order)
    assert by_means.terms == by_columns.terms
    assert by_means.degrees == by_columns.degrees
    assert by_means.error_degrees == by_columns.error_degrees
    assert (by_means.higher_sum is None) == (by_columns.higher_sum is None) == (order == 2)
    for name in ("sums", "block_sum", "block_runs", "error_sum", "fitted"):
        found, expected = getattr(by_means, name), getattr(by_columns, name)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), name
    weights = by_means.weights(table, (0,), (1,))
    assert by_means.mean(weights) == pytest.approx(by_columns.mean(weights), rel=1e-9)
