"""What a measure can be, and intervals of its mean that stay inside that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, log
from typing import NamedTuple

LEAST_FOR_INTERVAL = 3
"""Replications below which a mean has no interval: of two, Student's factor is 12.7 at 95 %."""


class Interval(NamedTuple):
    """Both ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Range:
    """What a measure can be.

    Attributes:
        low: the least value; minus infinity if there is none.
        high: the largest value; infinity if there is none.
    """

    low: float = -inf
    high: float = inf

    def around(self, values: Sequence[float]) -> Range:
        """The range without the ends that some values lie beyond.

        >>> PART.around([0.9, 1.02])
        Range(low=0.0, high=inf)
        """
        low = self.low if min(values, default=inf) >= self.low else -inf
        high = self.high if max(values, default=-inf) <= self.high else inf
        return replace(self, low=low, high=high)

    def interval(self, mean: float, error: float, quantile: float) -> Interval:
        """An interval of a mean that stays inside the range.

        Without ends it is the mean and the quantile times the standard error, on both sides. With
        one end it is so for the logarithm of the distance from the end, with two for the logit; the
        error of these is that of the mean times the derivative (delta method). All three agree if
        the error is small beside the distance from the ends.

        Args:
            mean: the mean.
            error: its standard error.
            quantile: half the width of the interval, in standard errors.

        Source: W. Q. Meeker, L. A. Escobar, Statistical Methods for Reliability Data, 1998, 7.3
        (logarithm of a positive quantity) and 3.6 (logit of a part).

        >>> [round(end, 3) for end in POSITIVE.interval(10.0, 5.0, 2.0)]  # 10 / e and 10 e
        [3.679, 27.183]
        >>> [round(end, 3) for end in PART.interval(0.9, 0.09, 1.0)]  # odds of 9, times e and by e
        [0.768, 0.961]
        >>> ANY.interval(10.0, 5.0, 2.0)
        Interval(low=0.0, high=20.0)
        """
        half = quantile * error
        has_low, has_high = isfinite(self.low), isfinite(self.high)
        below, above = mean - self.low, self.high - mean
        if half == 0 or not (has_low or has_high):
            return Interval(mean - half, mean + half)
        if below <= 0 or above <= 0:  # at an end, and yet with an error
            return Interval(max(mean - half, self.low), min(mean + half, self.high))
        if has_low and has_high:
            width = self.high - self.low
            logit, step = log(below / above), half * width / (below * above)
            low, high = (self.low + width * _logistic(logit + by) for by in (-step, step))
            return Interval(low, high)
        if has_low:
            return Interval(
                self.low + below * _exp(-half / below), self.low + below * _exp(half / below)
            )
        return Interval(
            self.high - above * _exp(half / above), self.high - above * _exp(-half / above)
        )


def _logistic(x: float) -> float:
    return 1 / (1 + _exp(-x))


def _exp(x: float) -> float:
    """The exponential, of what is too large the largest that there is."""
    return exp(min(x, 700.0))


ANY = Range()
"""Whatever a number can be, as a difference."""

POSITIVE = Range(low=0.0)
"""From 0 on, as a time, a rate, a count."""

PART = Range(low=0.0, high=1.0)
"""From 0 to 1, as a part of something or a fairness index."""
