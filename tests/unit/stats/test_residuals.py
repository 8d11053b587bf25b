"""What residuals tell of the intervals, on residuals made by hand."""

from collections.abc import Sequence

import pytest

from skycell.stats.findings import Diagnostics, Residual
from skycell.stats.residuals import diagnose
from skycell.stats.table import design_table


def diagnosed(
    values: Sequence[float],
    degrees: int,
    standard_error: float | None = 1.0,
    /,
    **factors: Sequence[int],
) -> Diagnostics:
    rows = [
        {**{name: levels[run] for name, levels in factors.items()}, "y": value}
        for run, value in enumerate(values)
    ]
    residuals = [Residual((), value, 0.0, value) for value in values]
    return diagnose(design_table(rows, factors, "y"), residuals, degrees, standard_error)


UNEVEN = (-1.0, 0.0, 1.0, -3.0, 0.0, 3.0)
A = (0, 0, 0, 1, 1, 1)
# The absolute values at either level are 1, 0 and 3.
B = (0, 0, 1, 1, 1, 0)


def test_the_spread_is_asked_of_each_factor_and_the_most_uneven_is_told() -> None:
    # Brown and Forsythe: 1, 0, 1 against 3, 0, 3 about medians of 0. Between them 8/3 with one
    # degree of freedom, within 20/3 with four: F = 1.6, that is t = 1.265, p = 0.2746.
    found = diagnosed(UNEVEN, 4, a=A)
    assert found.spread_factor == "a"
    assert found.spread_p == pytest.approx(0.2746, abs=1e-4)
    # Asked of two factors, it is twice as likely by chance that one of them looks so.
    for factors in ({"a": A, "b": B}, {"b": B, "a": A}):
        found = diagnosed(UNEVEN, 4, **factors)
        assert found.spread_factor == "a"
        assert found.spread_p == pytest.approx(0.5492, abs=2e-4)
    assert diagnosed(UNEVEN, 4, b=B, c=(0, 0, 1, 1, 1, 0)).spread_p == 1


def test_the_spread_is_asked_where_residuals_keep_six_tenths_of_their_freedom() -> None:
    assert diagnosed(UNEVEN, 4, a=A).spread_p is not None  # of 3.6
    assert diagnosed(UNEVEN, 3, a=A).spread_p is None


def test_the_spread_of_two_runs_says_nothing() -> None:
    assert diagnosed(UNEVEN, 4, a=(0, 0, 1, 1, 1, 1)).spread_p is None
    assert diagnosed(UNEVEN, 4, a=(0, 0, 1, 1, 1, 1), b=B).spread_factor == "b"


def test_runs_beyond_three_standard_errors_are_told_the_farthest_first() -> None:
    values = [6.1, -6.2, 5.9, -5.9, 0.0, 0.1]
    found = diagnosed(values, 4, 2.0, a=A)
    assert [residual.residual for residual in found.largest] == [-6.2, 6.1]


@pytest.mark.parametrize(
    ("values", "standard_error"),
    [(UNEVEN, None), (UNEVEN, 0.0), ((0.5,) * 6, 1.0), ((-9.0, 9.0), 1.0)],
)
def test_without_an_error_or_without_differences_nothing_is_told(
    values: Sequence[float], standard_error: float | None
) -> None:
    found = diagnosed(values, 6, standard_error, a=(0, 1) * (len(values) // 2))
    assert found == Diagnostics(None, None, None, ())


def test_three_residuals_are_enough_and_more_than_5000_too_many_to_be_asked_for_normality() -> None:
    assert diagnosed((-1.0, 0.2, 1.0), 2, a=(0, 1, 1)).normality_p is not None
    many = [float(run % 7) for run in range(5001)]
    assert diagnosed(many, 4000, a=[run % 2 for run in range(5001)]).normality_p is None
    assert diagnosed(many[1:], 4000, a=[run % 2 for run in range(5000)]).normality_p is not None
