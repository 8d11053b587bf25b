"""Whether residuals are as the intervals suppose: normal, and of the same spread everywhere."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import frexp, ldexp

from skycell.stats.findings import Diagnostics, Residual
from skycell.stats.table import DesignTable

FAR = 3.0
"""Standard errors beyond which a single run is told."""

_LEAST_FREE = 0.6
"""Degrees of freedom that residuals keep of the runs where their spread is asked about.

The test takes residuals as free of each other. Of 1000 tables of normal runs, of equal spread, for
each of 50 designs with one to five factors, it called at most 48 uneven at the 1 % level from here
on; below, where the model ties residuals together (one run a cell, or two), up to all of them.
"""

_MOST_NORMAL_TESTED = 5000  # the p of Shapiro and Wilk is not accurate beyond (SciPy)


def diagnose(
    table: DesignTable,
    residuals: Sequence[Residual],
    degrees: int,
    standard_error: float | None,
) -> Diagnostics:
    """Tests the residuals of a fitted model.

    Args:
        table: the runs.
        residuals: of each run, in the order of the table.
        degrees: of freedom of the residuals.
        standard_error: of one run; none where there is no error term.
    """
    # Over a power of two: no digit is lost, and the squares of residuals of any size are numbers.
    size = frexp(standard_error or 0.0)[1]
    values = [ldexp(residual.residual, -size) for residual in residuals]
    if not standard_error or len(values) < 3 or max(values) == min(values):
        return Diagnostics(None, None, None, ())
    spread = _spread(table, values) if degrees >= _LEAST_FREE * len(values) else None
    far = [r for r in residuals if abs(r.residual) > FAR * standard_error]
    return Diagnostics(
        normality_p=_normality(values) if degrees > 1 else None,
        spread_p=spread[0] if spread else None,
        spread_factor=spread[1] if spread else None,
        largest=tuple(sorted(far, key=lambda r: -abs(r.residual))),
    )


def _normality(values: Sequence[float]) -> float | None:
    from scipy.stats import shapiro

    if len(values) > _MOST_NORMAL_TESTED:
        return None
    return float(shapiro(values).pvalue)


def _spread(table: DesignTable, values: Sequence[float]) -> tuple[float, str] | None:
    """The most uneven factor: p of Brown and Forsythe's test times the number of factors."""
    from scipy.stats import levene

    found: list[tuple[float, str]] = []
    for place, factor in enumerate(table.factors):
        groups: list[list[float]] = [[] for _ in factor.levels]
        for code, value in zip(table.codes, values, strict=True):
            groups[code[place]].append(value)
        if min(map(len, groups)) < 3:
            continue  # the spread of two values about a fitted middle says nothing
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # groups without any spread
            p = float(levene(*groups, center="median").pvalue)
        if p == p:  # not a number where no group varies
            found.append((p, factor.name))
    if not found:
        return None
    p, name = min(found)
    return min(1.0, p * len(found)), name
