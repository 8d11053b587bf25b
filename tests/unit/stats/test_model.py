"""The error of replications and the weight of blocks, against plain regressions."""

import random
import tracemalloc
from itertools import accumulate

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS

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


@given(st.integers(0, 10_000), st.integers(1, 2), st.sampled_from([1.0, 0.8]))
@settings(max_examples=30, deadline=None)
def test_means_taken_off_are_what_a_column_for_each_block_comes_to(
    seed: int, order: int, part: float
) -> None:
    draw = random.Random(seed)
    rows = [
        {"a": a, "b": b, "run": run, "y": a * b + 3 * run + draw.gauss(0, 1)}
        for run in range(6)
        for a in range(3)
        for b in range(2)
        if run == 0 or draw.random() < part
    ]
    table = design_table(rows, ["a", "b"], "y", "run")
    fit = fit_model(table, order)
    terms = {(0,): "C(a, Sum)", (1,): "C(b, Sum)", (0, 1): "C(b, Sum):C(a, Sum)"}
    names = ["C(run, Sum)", *(terms[term] for term in fit.terms)]
    whole = OLS.from_formula(f"y ~ {' + '.join(names)}", pd.DataFrame(rows)).fit()
    assert fit.fitted == pytest.approx(whole.fittedvalues, rel=1e-9)
    assert fit.block_degrees == len({row["run"] for row in rows}) - 1
    assert fit.block_sum is not None
    sums = [fit.block_sum, *fit.sums]
    widths = [fit.block_degrees, *fit.degrees]
    ends = [1 + end for end in accumulate(widths)]
    kept = [0, *range(1 + fit.block_degrees, ends[-1])]
    for end, width, found in zip(ends, widths, sums, strict=True):
        own = slice(end - width, end)
        covariance = whole.normalized_cov_params.to_numpy()[own, own]
        params = whole.params.to_numpy()[own]
        assert found == pytest.approx(params @ np.linalg.solve(covariance, params), rel=1e-9)
    for weights in (fit.mean_weights(), fit.mean_weights() + fit.weights(table, (0,), (1,))):
        padded = np.zeros(len(whole.params))
        padded[kept] = weights
        assert fit.contrast(weights).value == pytest.approx(padded @ whole.params, rel=1e-9)
        assert fit._factor(weights) == pytest.approx(
            padded @ whole.normalized_cov_params @ padded, rel=1e-9
        )


def test_blocks_of_thousands_of_replications_with_some_missing_need_no_column_each() -> None:
    draw = random.Random(1)
    rows = [
        {"a": a, "run": run, "y": a + draw.gauss(0, 1)} for run in range(20_000) for a in range(2)
    ][1:]
    tracemalloc.start()
    fit = fit_model(design_table(rows, ["a"], "y", "run"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fit.error_degrees == 19_998
    assert fit.error_variance == pytest.approx(1, rel=0.05)
    assert most < 200e6  # a column for each block would be 6 GB
