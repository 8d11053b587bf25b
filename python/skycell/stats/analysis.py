"""`analyse`: means, effects, allocation of variation and intervals of a factorial study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import ldexp, sqrt
from typing import TYPE_CHECKING, Literal

from skycell.stats.findings import (
    BLOCK,
    ERROR,
    HIGHER,
    INTERACTION,
    MAIN,
    Difference,
    ErrorTerm,
    Estimate,
    FactorEffects,
    Interaction,
    InteractionEffect,
    LevelEffect,
    Residual,
    Variation,
)
from skycell.stats.model import Contrast, Fit, Term, fit_model, term_name
from skycell.stats.ranges import ANY, Range
from skycell.stats.residuals import diagnose
from skycell.stats.result import Analysis
from skycell.stats.table import DesignTable, Frame, design_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def analyse(
    frame: Frame,
    factors: str | Iterable[str],
    response: str,
    level: float = 0.9,
    *,
    order: int = 2,
    block: str | None = None,
    range_: Range = ANY,
) -> Analysis:
    """Analyses one response of a factorial study.

    The model has main effects and interactions of up to `order` factors. Its error comes from
    replications where a cell has several runs, and from the higher interactions where it has one.

    Args:
        frame: the runs: a polars or pandas frame, a mapping of columns, or rows that are mappings.
        factors: columns whose distinct values are the levels, or the only one.
        response: column of the numbers to explain. Rows without one are left out.
        level: confidence of the intervals, above 0 and below 1.
        order: most factors of an interaction in the model, 1 or more.
        block: column of blocks, such as the replication when all cells of a replication used
            common random numbers: what runs of one block share is then no error.
        range_: what the response can be; the intervals of its means stay inside.

    Raises:
        DesignError: a column is missing or holds no numbers, no factor varies, or the cells with
            runs do not decide the main effects; the message says what would do.
        ValueError: `level` or `order` is out of range.

    Source: Jain, The Art of Computer Systems Performance Analysis, 1991, chapters 20 to 23; for
    one run per cell 98-0876R1 section 7.

    >>> rows = {"tcp": ["reno", "sack"] * 4, "buffer": [1, 1, 2, 2] * 2,
    ...         "efficiency": [0.60, 0.80, 0.70, 0.90, 0.62, 0.82, 0.72, 0.92]}
    >>> found = analyse(rows, ["tcp", "buffer"], "efficiency", level=0.95)
    >>> found.dominant, round(found.term("tcp").share, 3), found.error.source
    ('tcp', 0.794, 'replications')
    >>> reno = found.factor("tcp").levels[0]
    >>> round(reno.mean.value, 3), round(reno.effect.value, 3), round(reno.effect.low, 3)
    (0.66, -0.1, -0.114)
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level of {level}: must be above 0 and below 1")
    if order < 1:
        raise ValueError(f"interactions of up to {order} factors: must be 1 or more")
    table = design_table(frame, [factors] if isinstance(factors, str) else factors, response, block)
    fit = fit_model(table.in_powers_of_two(), order)
    exponent = table.exponent
    estimate = _Estimates(table, fit, level, range_.around(table.values))
    expected = [ldexp(value, exponent) for value in fit.fitted]
    residuals = tuple(
        Residual(
            tuple(f.levels[c] for f, c in zip(table.factors, code, strict=True)),
            value,
            fitted,
            value - fitted,
        )
        for code, value, fitted in zip(table.codes, table.values, expected, strict=True)
    )
    error = _error_term(fit, exponent)
    return Analysis(
        response=response,
        level=level,
        design=_design(table),
        runs=len(table.values),
        cells=len(table.cells),
        possible_cells=table.possible_cells,
        mean=estimate.mean(),
        variation=tuple(_variation(table, fit)),
        varies=fit.total > 0,
        total=ldexp(fit.total, 2 * exponent),
        values_sum=ldexp(fit.values_sum, 2 * exponent),
        error=error,
        factors=tuple(estimate.factor(place) for place in range(len(table.factors))),
        interactions=tuple(estimate.interaction(term) for term in fit.terms if len(term) == 2),
        residuals=residuals,
        diagnostics=diagnose(
            table, residuals, fit.error_degrees + fit.higher_degrees, error.standard_error
        ),
        notes=(*table.notes, *fit.notes, *_notes(table)),
    )


def _design(table: DesignTable) -> Literal["balanced", "unbalanced", "incomplete"]:
    if not table.is_complete:
        return "incomplete"
    return "balanced" if table.is_balanced else "unbalanced"


def _notes(table: DesignTable) -> list[str]:
    notes = []
    if not table.is_balanced:
        notes.append(
            "Cells have different numbers of runs: means give every cell the same weight, "
            "and the shares of the variation, each of which is what the model loses without "
            "the term (type III), need not add up to 100 %."
        )
    if table.block is not None:
        notes.append(
            f"What runs with the same {table.block} share is taken out of the error; the intervals "
            "of means allow for it."
        )
    return notes


def _error_term(fit: Fit, exponent: int) -> ErrorTerm:
    variance = fit.error_variance
    if variance is None:
        return ErrorTerm("none", None, 0)
    source: Literal["replications", "higher interactions"] = (
        "replications" if fit.is_pure else "higher interactions"
    )
    return ErrorTerm(source, ldexp(sqrt(variance), exponent), fit.error_degrees)


def _variation(table: DesignTable, fit: Fit) -> list[Variation]:
    rows = [
        _row(fit, term_name(table, term), MAIN if len(term) == 1 else INTERACTION, sums, degrees)
        for term, sums, degrees in zip(fit.terms, fit.sums, fit.degrees, strict=True)
    ]
    rows = [
        Variation(**{**vars(row), "factors": tuple(table.factors[f].name for f in term)})
        for row, term in zip(rows, fit.terms, strict=True)
    ]
    if fit.block_sum is not None:
        name = f"{table.block} (block)"
        rows.append(_row(fit, name, BLOCK, fit.block_sum, fit.block_degrees))
    if fit.higher_sum is not None:
        name = "higher interactions"
        rows.append(_row(fit, name, HIGHER, fit.higher_sum, fit.higher_degrees))
    if fit.error_degrees:
        share = fit.error_sum / fit.total if fit.total else 0.0
        rows.append(Variation("error", ERROR, (), fit.error_sum, fit.error_degrees, share))
    squared = 2 * table.exponent
    return [replace(row, sum_of_squares=ldexp(row.sum_of_squares, squared)) for row in rows]


def _row(fit: Fit, name: str, kind: str, sums: float, degrees: int) -> Variation:
    from scipy.stats import f as f_distribution

    share = sums / fit.total if fit.total else 0.0
    ratio = probability = None
    variance = fit.error_variance
    if variance is not None and variance > 0:
        ratio = sums / degrees / variance
        probability = float(f_distribution.sf(ratio, degrees, fit.error_degrees))
    elif variance is not None:  # no error at all: whatever varies is an effect
        probability = 0.0 if sums > 0 else 1.0
    return Variation(name, kind, (), sums, degrees, share, ratio, probability)


class _Estimates:
    """Means and effects with their intervals, in the unit of the table's values."""

    def __init__(self, table: DesignTable, fit: Fit, level: float, range_: Range) -> None:
        self._table, self._fit, self._level = table, fit, level
        self._range = range_

    def _mean(self, weights: NDArray[np.float64]) -> Estimate:
        """A mean of the response, whose interval stays inside what the response can be."""
        return self._estimate(self._fit.mean(weights), within=self._range)

    def _estimate(
        self, found: Contrast, quantile: float | None = None, within: Range = ANY
    ) -> Estimate:
        """A contrast with its interval, by Student's t unless a quantile is given."""
        value, error, degrees = found
        value = ldexp(value, self._table.exponent)
        if error is None:
            return Estimate(value, None, None, None)
        error = ldexp(error, self._table.exponent)
        low, high = within.interval(value, error, quantile or _student(self._level, degrees))
        return Estimate(value, error, low, high)

    def mean(self) -> Estimate:
        """The overall mean."""
        return self._mean(self._fit.mean_weights())

    def factor(self, place: int) -> FactorEffects:
        """Levels of a factor and their differences."""
        table, fit, term = self._table, self._fit, (place,)
        factor = table.factors[place]
        weights = [fit.weights(table, term, [index]) for index in range(len(factor.levels))]
        overall = fit.mean_weights()
        levels = tuple(
            LevelEffect(
                level=name,
                runs=sum(code[place] == index for code in table.codes),
                mean=self._mean(overall + weights[index]),
                effect=self._estimate(fit.contrast(weights[index])),
            )
            for index, name in enumerate(factor.levels)
        )
        quantile = self._tukey(len(factor.levels))
        differences = tuple(
            Difference(
                factor.levels[first],
                factor.levels[second],
                self._estimate(fit.contrast(weights[first] - weights[second]), quantile),
            )
            for first, second in combinations(range(len(factor.levels)), 2)
        )
        return FactorEffects(factor.name, levels, differences)

    def _tukey(self, levels: int) -> float | None:
        """Quantile for all differences of a factor together; none for a single one."""
        degrees = self._fit.error_degrees
        return _tukey(self._level, levels, degrees) if degrees and levels > 2 else None

    def interaction(self, term: Term) -> Interaction:
        """Every pair of levels of two factors."""
        table, fit = self._table, self._fit
        first, second = term
        cells = []
        for one, one_name in enumerate(table.factors[first].levels):
            for two, two_name in enumerate(table.factors[second].levels):
                own = fit.weights(table, term, [one, two])
                mean = (
                    fit.mean_weights()
                    + fit.weights(table, (first,), [one])
                    + fit.weights(table, (second,), [two])
                    + own
                )
                cells.append(
                    InteractionEffect(
                        (one_name, two_name),
                        self._mean(mean),
                        self._estimate(fit.contrast(own)),
                    )
                )
        names = (table.factors[first].name, table.factors[second].name)
        return Interaction(names, tuple(cells))


@cache
def _student(level: float, degrees: float) -> float:
    """Half-width of an interval, in standard errors."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, degrees))


@cache
def _tukey(level: float, levels: int, degrees: int) -> float:
    """Half-width of simultaneous intervals, in standard errors of a difference (Tukey, Kramer)."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, levels, degrees)) / 2**0.5


def dominant_factor(rows: Frame, factors: Sequence[str], response: str) -> dict[str, float]:
    """Part of the variation that each factor's main effect explains, the largest first.

    The first key is the dominant factor. It answers "which factor decides", for published values
    and for ours alike, also where there is a single value per cell:

        both = [row for row in rows if row.published is not None and row.mean is not None]
        factors = ["tcp", "policy", "buffer_cells"]
        theirs = dominant_factor([{**r.factors, "y": r.published} for r in both], factors, "y")
        ours = dominant_factor([{**r.factors, "y": r.mean} for r in both], factors, "y")
        agrees = next(iter(theirs)) == next(iter(ours))

    Where a print is suspect, leave the row out of both. Means of replications serve as they are;
    for intervals hand the single runs (`row.values`) to `analyse`.

    Args:
        rows: a polars or pandas frame, a mapping of columns, or rows that are mappings.
        factors: columns whose distinct values are the levels; those that do not vary are left out.
        response: column of the numbers.

    Raises:
        DesignError: as `analyse`.

    >>> rows = [{"gr": g, "tcp": t, "value": g + 0.1 * t} for g in (0, 1, 2) for t in (0, 1)]
    >>> list(dominant_factor(rows, ["tcp", "gr"], "value"))
    ['gr', 'tcp']
    """
    table = design_table(rows, factors, response)
    fit = fit_model(table.in_powers_of_two())
    mains = [row for row in _variation(table, fit) if row.kind == MAIN]
    return {row.name: row.share for row in sorted(mains, key=lambda row: -row.share)}
