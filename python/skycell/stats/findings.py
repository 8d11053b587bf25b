"""What an analysis of a factorial study finds, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from skycell.stats.table import Level

MAIN, INTERACTION, BLOCK, HIGHER, ERROR = "main effect", "interaction", "block", "higher", "error"
"""Kinds of the rows of an allocation of variation."""


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and confidence interval; none where there is no error."""

    value: float
    standard_error: float | None
    low: float | None
    high: float | None

    @property
    def is_clear(self) -> bool | None:
        """Whether the interval leaves out zero."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0

    def as_dict(self) -> dict[str, float | None]:
        """The estimate for a program."""
        return {
            "value": self.value,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class Variation:
    """One row of the allocation of variation.

    Attributes:
        name: the term in words, such as `tcp × buffer`.
        kind: main effect, interaction, block, higher (interactions beyond the model), or error.
        factors: the factors of the term.
        sum_of_squares: in the square of the response's unit; 0 also where it is too small for a
            number.
        degrees: of freedom.
        share: part of the total variation, 0 to 1.
        f: mean square over that of the error; none where there is no error.
        p: probability of so large a ratio without any effect; none where there is no error.
    """

    name: str
    kind: str
    factors: tuple[str, ...]
    sum_of_squares: float
    degrees: int
    share: float
    f: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class LevelEffect:
    """A level of a factor: mean of the response and effect (mean less overall mean)."""

    level: Level
    runs: int
    mean: Estimate
    effect: Estimate


@dataclass(frozen=True)
class Difference:
    """Two levels of a factor: the first one's mean less the second one's.

    The interval is Tukey's: all intervals of the factor hold together with the stated confidence.
    """

    first: Level
    second: Level
    difference: Estimate


@dataclass(frozen=True)
class FactorEffects:
    """A factor: its levels, and how they differ."""

    name: str
    levels: tuple[LevelEffect, ...]
    differences: tuple[Difference, ...]
    unit: str = ""
    """What its levels are counted in; empty if nothing is said of it."""

    def alike(self) -> list[tuple[Level, Level]]:
        """Pairs of levels that cannot be told apart."""
        return [(d.first, d.second) for d in self.differences if d.difference.is_clear is False]


@dataclass(frozen=True)
class InteractionEffect:
    """A combination of levels: mean of the response there, and effect beyond the main effects."""

    levels: tuple[Level, ...]
    mean: Estimate
    effect: Estimate


@dataclass(frozen=True)
class Interaction:
    """An interaction of two factors, at every pair of their levels."""

    factors: tuple[str, str]
    cells: tuple[InteractionEffect, ...]


@dataclass(frozen=True)
class ErrorTerm:
    """Where the standard errors come from.

    Attributes:
        source: `replications`, `higher interactions`, or `none`.
        standard_error: of one run, in the response's unit; none without an error term.
        degrees: of freedom.
    """

    source: Literal["replications", "higher interactions", "none"]
    standard_error: float | None
    degrees: int


@dataclass(frozen=True)
class Residual:
    """One run: its cell, the model's value and what is left."""

    levels: tuple[Level, ...]
    value: float
    fitted: float
    residual: float


@dataclass(frozen=True)
class Diagnostics:
    """Whether the residuals are as the intervals suppose: normal, alike everywhere.

    Attributes:
        normality_p: of the Shapiro-Wilk test; small when residuals are not normal. None below
            three residuals or two degrees of freedom, or where all are zero.
        spread_p: smallest p of the Brown-Forsythe tests of the factors, times their number
            (Bonferroni); small when the spread differs between levels of a factor. None also where
            the model ties the residuals together: below 0.6 degrees of freedom a run.
        spread_factor: the factor that this p belongs to.
        largest: residuals beyond three standard errors, the largest first.
    """

    normality_p: float | None
    spread_p: float | None
    spread_factor: str | None
    largest: tuple[Residual, ...]


@dataclass(frozen=True)
class Findings:
    """The numbers of an analysis of one response of a factorial study.

    Attributes:
        response: name of the response.
        level: of the confidence intervals, 0 to 1.
        design: `balanced`, `unbalanced` (cells differ in their number of runs) or `incomplete`
            (cells without a run).
        runs: number of runs.
        cells: number of combinations with a run.
        possible_cells: number of combinations of the levels.
        mean: overall mean, every cell counting the same.
        variation: the allocation of variation: main effects, interactions, blocks, interactions
            beyond the model, error.
        varies: whether the response is not the same in all runs, but for rounding.
        total: total variation, the sum of squared differences from the mean; 0 also where a
            response varies whose squares are too small for a number, below about 1e-154.
        values_sum: sum of squared values, likewise.
        error: where the standard errors come from.
        factors: effects of every factor.
        interactions: first-order interactions of the model.
        residuals: run by run.
        diagnostics: of the residuals.
        notes: what a reader has to know of this design.
        subject: what the response is measured on, as the name of a port; empty if it says that.
    """

    response: str
    level: float
    design: Literal["balanced", "unbalanced", "incomplete"]
    runs: int
    cells: int
    possible_cells: int
    mean: Estimate
    variation: tuple[Variation, ...]
    varies: bool
    total: float
    values_sum: float
    error: ErrorTerm
    factors: tuple[FactorEffects, ...]
    interactions: tuple[Interaction, ...]
    residuals: tuple[Residual, ...] = field(repr=False)
    diagnostics: Diagnostics
    notes: tuple[str, ...]
    subject: str = ""

    def named(self, units: Mapping[str, str], subject: str = "") -> Self:
        """Names the units of the levels of factors, and what the response is of."""
        factors = (replace(own, unit=units.get(own.name, own.unit)) for own in self.factors)
        return replace(self, factors=tuple(factors), subject=subject)

    def factor(self, name: str) -> FactorEffects:
        """The effects of a factor; KeyError for another name."""
        for found in self.factors:
            if found.name == name:
                return found
        raise KeyError(name)

    def term(self, *factors: str) -> Variation:
        """The row of a main effect or an interaction, in any order of its factors."""
        for found in self.variation:
            if found.factors and set(found.factors) == set(factors):
                return found
        raise KeyError(" × ".join(factors))

    @property
    def dominant(self) -> str | None:
        """The factor whose main effect explains most; none where the response does not vary."""
        mains = [row for row in self.variation if row.kind == MAIN]
        best = max(mains, key=lambda row: row.share)
        return best.factors[0] if best.share > 0 else None

    def shares(self) -> dict[str, float]:
        """Part of the variation that each factor's main effect explains, the largest first."""
        mains = [row for row in self.variation if row.kind == MAIN]
        ordered = sorted(mains, key=lambda row: -row.share)
        return {row.factors[0]: row.share for row in ordered}
