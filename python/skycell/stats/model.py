"""The linear model of a factorial study: its terms, its sums of squares, its error.

Every factor is coded so that the effects of its levels add up to zero (sum contrasts). In a
balanced design the sums of squares of all terms and of the error then add up to the total. In an
unbalanced one a term's sum of squares is what the model loses without it (type III).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from skycell.stats.table import DesignError, DesignTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Term = tuple[int, ...]
"""Indices of the factors of a term: one for a main effect, two for a first-order interaction."""

_NOTHING = 1e-24
"""Part of the sum of squared values below which a variation is rounding: about 1e-12 squared."""


class Contrast(NamedTuple):
    """A combination of coefficients: value, standard error (none without one), its degrees."""

    value: float
    standard_error: float | None
    degrees: float


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Attributes:
        terms: the terms of the model.
        sums: sum of squares of each term.
        degrees: degrees of freedom of each term.
        block_sum: sum of squares of the blocks; none without blocks.
        block_degrees: their degrees of freedom.
        block_runs: what the variance between blocks is multiplied by in the mean square of the
            blocks: runs of a block where the design is balanced; 0 without blocks.
        total: sum of squared differences from the overall mean.
        values_sum: sum of squared values.
        higher_sum: sum of squares of the interactions that are not in the model, as far as
            replications tell them from the error; none where they are the error.
        higher_degrees: their degrees of freedom.
        error_sum: sum of squares of the error.
        error_degrees: its degrees of freedom; 0 where nothing is left to estimate it from.
        is_pure: whether the error comes from replications.
        fitted: the model's value for each run.
        notes: sentences on terms that had to be left out.
    """

    terms: tuple[Term, ...]
    sums: tuple[float, ...]
    degrees: tuple[int, ...]
    block_sum: float | None
    block_degrees: int
    block_runs: float
    total: float
    values_sum: float
    higher_sum: float | None
    higher_degrees: int
    error_sum: float
    error_degrees: int
    is_pure: bool
    fitted: tuple[float, ...]
    notes: tuple[str, ...]
    _params: Any
    _covariance: Any

    @property
    def error_variance(self) -> float | None:
        """Mean square of the error; none without degrees of freedom."""
        return self.error_sum / self.error_degrees if self.error_degrees else None

    def contrast(self, weights: NDArray[np.float64]) -> Contrast:
        """A combination of the model's coefficients that blocks move neither up nor down."""
        value = self._value(weights)
        variance = self.error_variance
        if variance is None:
            return Contrast(value, None, 0.0)
        error = sqrt(self._factor(weights) * variance)
        return Contrast(value, error, float(self.error_degrees))

    def mean(self, weights: NDArray[np.float64]) -> Contrast:
        """A mean, as `mean_weights` and effects make it up, over blocks drawn anew.

        Blocks are a sample: other seeds would have moved all means together. The variance between
        blocks comes from their mean square (C. R. Henderson, Estimation of variance and covariance
        components, Biometrics 9, 1953, method 3), the degrees of freedom of the sum of both
        variances from F. E. Satterthwaite, An approximate distribution of estimates of variance
        components, Biometrics Bulletin 2, 1946. Where blocks differ no more than chance lets them,
        there is the error alone.
        """
        variance = self.error_variance
        if variance is None or self.block_sum is None:
            return self.contrast(weights)
        between = self.block_sum / self.block_degrees
        if between <= variance:
            return self.contrast(weights)
        of_blocks = 1 / (self.block_degrees + 1) / self.block_runs
        parts = (
            (of_blocks * between, self.block_degrees),
            (max(self._factor(weights) - of_blocks, 0.0) * variance, self.error_degrees),
        )
        whole = sum(part for part, _ in parts)
        degrees = whole**2 / sum(part**2 / own for part, own in parts)
        return Contrast(self._value(weights), sqrt(whole), degrees)

    def _value(self, weights: NDArray[np.float64]) -> float:
        """Value of a combination of coefficients; what is only rounding is zero."""
        value = float(weights @ self._params)
        noise = sqrt(_NOTHING * self.values_sum / len(self.fitted))
        return 0.0 if abs(value) <= noise else value

    def _factor(self, weights: NDArray[np.float64]) -> float:
        """Variance of a combination of coefficients over that of a run."""
        return max(float(weights @ self._covariance @ weights), 0.0)

    def weights(self, table: DesignTable, term: Term, cell: Sequence[int]) -> NDArray[np.float64]:
        """Coefficients of a term's effect at the levels `cell` of its factors."""
        import numpy as np

        row = np.zeros(len(self._params))
        start = 1
        for known in self.terms:
            width = _width(table, known)
            if known == term:
                row[start : start + width] = _coding(table, term, cell)
                return row
            start += width
        raise ValueError(f"the model has no term {term}")

    def mean_weights(self) -> NDArray[np.float64]:
        """Coefficients of the overall mean, every cell counting as much as every other."""
        import numpy as np

        row = np.zeros(len(self._params))
        row[0] = 1.0
        return row


def fit_model(table: DesignTable, order: int = 2) -> Fit:
    """Fits main effects and interactions of up to `order` factors.

    Interactions that empty cells leave undecided are left out, as `notes` says, and so is the
    highest order where a single run per cell would leave nothing for the error.

    Raises:
        DesignError: the runs do not even decide the main effects.
    """
    notes: list[str] = []
    terms = _decided_terms(table, order, notes)
    return _fit(table, terms, notes)


def _decided_terms(table: DesignTable, order: int, notes: list[str]) -> list[Term]:
    count = len(table.factors)
    order = min(order, count)
    terms = [term for size in range(1, order + 1) for term in combinations(range(count), size)]
    if not table.is_complete:
        terms = _estimable(table, terms, notes)
    if table.blocks is not None and not _has_full_rank(table, terms, with_blocks=True):
        raise DesignError(
            f"{table.block} cannot be a block: it does not change within the levels of the factors"
        )
    while _has_no_error(table, terms) and max(map(len, terms)) > 1:
        highest = max(map(len, terms))
        terms = [term for term in terms if len(term) < highest]
    return terms


def _estimable(table: DesignTable, terms: list[Term], notes: list[str]) -> list[Term]:
    """Terms that the cells with runs decide: without those whose own combinations are not full."""
    missing = table.missing_in_words()

    def is_full(term: Term) -> bool:
        seen = {tuple(cell[factor] for factor in term) for cell in table.cells}
        possible = 1
        for factor in term:
            possible *= len(table.factors[factor].levels)
        return len(seen) == possible

    kept = [term for term in terms if is_full(term)]
    if not _has_full_rank(table, kept):
        kept = [term for term in terms if len(term) == 1]
    if not _has_full_rank(table, kept):
        raise DesignError(
            f"{missing}, and the others cannot separate the effects of the factors: add the "
            "missing runs, or leave out a factor or a level"
        )
    dropped = [term_name(table, term) for term in terms if term not in kept]
    text = f"{missing}."
    if dropped:
        text += f" Left out because these runs do not determine them: {', '.join(dropped)}."
    notes.append(text)
    return kept


def _has_full_rank(table: DesignTable, terms: Sequence[Term], *, with_blocks: bool = False) -> bool:
    import numpy as np

    columns = _columns(table, terms)
    rest = _within(_groups(table) if with_blocks else _one_group(table), columns)
    # R of a QR decomposition has the singular values of the columns, and far fewer rows. What
    # taking means off leaves of a constant column is rounding: beside the column as it was.
    triangle = np.linalg.qr(rest, mode="r")
    rounding = np.finfo(float).eps * len(columns) * float(np.linalg.norm(columns))
    return bool(np.linalg.matrix_rank(triangle, tol=rounding) == columns.shape[1])


def _has_no_error(table: DesignTable, terms: Sequence[Term]) -> bool:
    blocks = len(set(table.blocks)) - 1 if table.blocks is not None else 0
    return 1 + blocks + sum(_width(table, term) for term in terms) >= len(table.values)


def term_name(table: DesignTable, term: Term) -> str:
    """A term in words, such as `tcp × buffer`."""
    return " × ".join(table.factors[factor].name for factor in term)


def _fit(table: DesignTable, terms: Sequence[Term], notes: list[str]) -> Fit:
    import numpy as np

    fitted = _fitted(table, terms)
    sums = fitted.sums
    values = np.asarray(table.values)
    values_sum = float(values @ values)
    total = float(((values - values.mean()) ** 2).sum())
    noise = _NOTHING * values_sum
    residual = _no_noise(fitted.residual, noise)
    residual_degrees = fitted.degrees
    pure = _pure_error(table) if table.is_replicated else None
    if pure is not None and pure[1] == 0:
        pure = None
    error, error_degrees = (residual, residual_degrees) if pure is None else pure
    error = _no_noise(error, noise)
    higher_degrees = residual_degrees - error_degrees
    higher = max(residual - error, 0.0) if pure is not None and higher_degrees > 0 else None
    return Fit(
        terms=tuple(terms),
        sums=tuple(_no_noise(sums[term], noise) for term in terms),
        degrees=tuple(_width(table, term) for term in terms),
        block_sum=_no_noise(sums["block"], noise) if table.blocks is not None else None,
        block_degrees=len(set(table.blocks)) - 1 if table.blocks is not None else 0,
        block_runs=_block_runs(table, terms),
        total=_no_noise(total, noise),
        values_sum=values_sum,
        higher_sum=higher,
        higher_degrees=higher_degrees if higher is not None else 0,
        error_sum=error,
        error_degrees=error_degrees,
        is_pure=pure is not None,
        fitted=tuple(fitted.values.tolist()),
        notes=tuple(notes),
        _params=fitted.params,
        _covariance=fitted.covariance,
    )


def _block_runs(table: DesignTable, terms: Sequence[Term]) -> float:
    """Runs that stand for a block where the terms are taken off (Henderson's method 3)."""
    import numpy as np

    if table.blocks is None:
        return 0.0
    columns = _columns(table, terms)
    base, _ = np.linalg.qr(np.column_stack([np.ones(len(columns)), columns]))
    of_blocks = _sums(_groups(table), base)
    left = len(table.values) - float((of_blocks**2).sum())
    return left / (len(of_blocks) - 1)


def _no_noise(value: float, noise: float) -> float:
    return 0.0 if value <= noise else value


class _Fitted(NamedTuple):
    """What a fit leaves: of blocks their sum of squares and no coefficients."""

    sums: dict[Term | str, float]
    residual: float
    degrees: int
    values: NDArray[np.float64]
    params: NDArray[np.float64]
    covariance: NDArray[np.float64]


def _fitted(table: DesignTable, terms: Sequence[Term]) -> _Fitted:
    """The model fitted by statsmodels, and what it loses without each of its terms (type III).

    In a balanced design that is the sum of squares of the term whatever the others. What the mean
    of a block leaves of the values, and of the columns of the terms, has the coefficients of the
    model with a column for each block (R. Frisch, F. V. Waugh, Partial time regressions as compared
    with individual trends, Econometrica 1, 1933): thousands of such columns would need more memory
    than there is. All runs are one block where there are none.
    """
    import numpy as np
    from statsmodels.regression.linear_model import OLS  # not formula.api, which loads everything

    groups = _one_group(table) if table.blocks is None else _groups(table)
    values, columns = np.asarray(table.values), _columns(table, terms)

    def fit(groups: NDArray[np.intp]) -> tuple[Any, NDArray[np.float64]]:
        fitted = OLS(_within(groups, values), _within(groups, columns)).fit()
        return fitted, np.asarray(fitted.resid)

    fitted, rest = fit(groups)
    # Not statsmodels' anova_lm: it takes the sums from F ratios, which are no numbers where nothing
    # is left for the error.
    params, inverse = np.asarray(fitted.params), np.asarray(fitted.normalized_cov_params)
    sums: dict[Term | str, float] = {}
    start = 0
    for term in terms:
        own = slice(start, start + _width(table, term))
        sums[term] = float(params[own] @ np.linalg.solve(inverse[own, own], params[own]))
        start = own.stop
    if table.blocks is not None:
        _, without = fit(_one_group(table))
        sums["block"] = float(((without - rest) ** 2).sum())
    runs = np.bincount(groups)
    # The blocks' own means are independent of the coefficients.
    at = (_sums(groups, columns) / runs[:, None]).mean(axis=0)
    mean = float((_sums(groups, values) / runs).mean() - at @ params)
    of_mean = float((1 / runs).sum()) / len(runs) ** 2 + float(at @ inverse @ at)
    beside = -(inverse @ at)
    covariance = np.block([[np.full((1, 1), of_mean), beside[None, :]], [beside[:, None], inverse]])
    degrees = len(values) - len(runs) - len(params)
    residual = float(rest @ rest)
    return _Fitted(sums, residual, degrees, values - rest, np.append(mean, params), covariance)


def _groups(table: DesignTable) -> NDArray[np.intp]:
    """The block of each run, from 0 on."""
    import numpy as np

    return np.unique(np.asarray(table.blocks), return_inverse=True)[1]


def _one_group(table: DesignTable) -> NDArray[np.intp]:
    """The same where all runs are one block."""
    import numpy as np

    return np.zeros(len(table.values), dtype=np.intp)


def _sums(groups: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of each group of a column, or of several side by side."""
    import numpy as np

    sums = np.zeros((int(groups.max()) + 1, *values.shape[1:]))
    np.add.at(sums, groups, values)
    return sums


def _within(groups: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the means of their groups leave of a column, or of several side by side."""
    import numpy as np

    runs = np.bincount(groups)
    means = (_sums(groups, values).T / runs).T
    return np.asarray(values - means[groups])


def _pure_error(table: DesignTable) -> tuple[float, int]:
    """Variation of replications within their cells, blocks taken off, and its degrees.

    The more numerous of the cells and the blocks are taken off as means (Frisch and Waugh), what
    the others explain of the rest is a small fit of its own.
    """
    import numpy as np

    places = {cell: place for place, cell in enumerate(table.cells)}
    cells = np.asarray([places[code] for code in table.codes])
    blocks = _one_group(table) if table.blocks is None else _groups(table)
    few, many = sorted((cells, blocks), key=lambda groups: int(groups.max()))
    rest = _within(many, np.asarray(table.values))
    others = _within(many, np.eye(int(few.max()) + 1)[few][:, 1:])
    fit, _, rank, _ = np.linalg.lstsq(others, rest, rcond=None)
    rest = rest - others @ fit
    return float(rest @ rest), len(rest) - int(many.max()) - 1 - int(rank)


def _width(table: DesignTable, term: Term) -> int:
    """Degrees of freedom of a term."""
    width = 1
    for factor in term:
        width *= len(table.factors[factor].levels) - 1
    return width


def _columns(table: DesignTable, terms: Sequence[Term]) -> NDArray[np.float64]:
    """The coded runs: the columns of each term, side by side."""
    import numpy as np

    columns = [np.empty((len(table.codes), 0))]
    for term in terms:
        # Runs at the same levels of the term's factors have the same row.
        at = [tuple(code[factor] for factor in term) for code in table.codes]
        row_of = {levels: row for row, levels in enumerate(dict.fromkeys(at))}
        rows = np.asarray([_coding(table, term, levels) for levels in row_of])
        columns.append(rows[[row_of[levels] for levels in at]])
    return np.hstack(columns)


def _coding(table: DesignTable, term: Term, cell: Sequence[int]) -> NDArray[np.float64]:
    """Sum contrasts of a term at the levels `cell`: the last level of a factor is all minus one."""
    import numpy as np

    row = np.ones(1)
    for factor, level in zip(term, cell, strict=True):
        width = len(table.factors[factor].levels) - 1
        own = -np.ones(width) if level == width else np.eye(width)[level]
        row = np.kron(row, own)
    return row
