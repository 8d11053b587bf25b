"""The error of replications, against a regression on a column per cell and block."""

import random

import numpy as np
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
