"""Outages of a link that is drawn: an alternating renewal process, as the run finds it under way.

A run begins in an outage with the probability mean outage / (mean outage + mean gap), the
unavailability, and in the equilibrium of renewal theory: the time that it begins in is one by the
distribution weighted with its length, of which a part is left that is uniform (D. R. Cox, Renewal
Theory, 1962, chapter 5). With quantiles from a measured series that weighting is left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist

from skycell.input.parameters import exact
from skycell.input.quantities import PS_PER_SECOND, Dimension, Quantity, rounded
from skycell.scenario.file.outages import (
    AnyTime,
    ExponentialTime,
    LognormalTime,
    Outages,
    ParetoTime,
)

_NORMAL = NormalDist()
_SMALLEST_PART = 1e-12
_PS_PER_US = 1_000_000


@dataclass(frozen=True)
class _Quantiles:
    """A distribution by evenly spaced quantiles, in seconds."""

    values: Sequence[float]

    @property
    def mean_s(self) -> float:
        return sum(quantile(self.values, (step + 0.5) / 1000) for step in range(1000)) / 1000

    def draw_ps(self, rng: random.Random) -> int:
        return rounded(exact(quantile(self.values, rng.random())) * PS_PER_SECOND)

    def under_way_ps(self, rng: random.Random) -> int:
        """What is left of one in which the run begins."""
        whole_s = quantile(self.values, rng.random())
        return rounded(exact(whole_s * rng.random()) * PS_PER_SECOND)


@dataclass(frozen=True)
class _Named:
    """A named distribution; times in whole microseconds, alike on all machines."""

    law: AnyTime

    @property
    def mean_s(self) -> float:
        return float(self.law.mean.amount) / PS_PER_SECOND

    def draw_ps(self, rng: random.Random) -> int:
        return _whole(self._at(rng.random(), is_weighted=False))

    def under_way_ps(self, rng: random.Random) -> int:
        """What is left of one in which the run begins."""
        whole_s = self._at(rng.random(), is_weighted=True)
        if isinstance(self.law, ExponentialTime):
            return _whole(whole_s)  # as if it had just begun
        return _whole(whole_s * rng.random())

    def _at(self, part: float, is_weighted: bool) -> float:
        """The time that a part of the distribution is below, or of that weighted by length."""
        law, rest = self.law, max(1 - part, _SMALLEST_PART)
        if isinstance(law, ExponentialTime):
            return -self.mean_s * log(rest)
        if isinstance(law, LognormalTime):
            score = _NORMAL.inv_cdf(min(max(part, _SMALLEST_PART), 1 - _SMALLEST_PART))
            # The mean is exp(mu + sigma^2 / 2); weighting by length adds sigma^2 to mu.
            middle = 0.5 if is_weighted else -0.5
            return self.mean_s * exp(middle * law.sigma**2 + law.sigma * score)
        if isinstance(law, ParetoTime):
            least = self.mean_s * (law.shape - 1) / law.shape
            shape = law.shape - 1 if is_weighted else law.shape
            return float(least * rest ** (-1 / shape))
        return self.mean_s


def _whole(time_s: float) -> int:
    """A time in picoseconds, of whole microseconds, at most a thousand years."""
    return round(min(time_s, 3e10) * 1e6) * _PS_PER_US


_Times = _Quantiles | _Named


def _laws(outages: Outages) -> tuple[_Times, _Times]:
    """The distributions of outages and of the gaps between them."""
    length: _Times = _Quantiles(outages.lengths_s or ())
    if outages.length is not None:
        length = _Named(outages.length)
    if outages.availability is not None:
        up = exact(outages.availability)
        mean = exact(length.mean_s) * PS_PER_SECOND * up / (1 - up)
        law = ExponentialTime.model_construct(
            kind="exponential", mean=Quantity(mean, Dimension.TIME, "")
        )
        return length, _Named(law)
    return length, _Named(outages.gap) if outages.gap else _Quantiles(outages.gaps_s or ())


def spans_off(
    outages: Outages | None, step_ps: int, seed: str, until_ps: int
) -> list[tuple[int, int]]:
    """Beginnings and ends of outages; time 0 finds an outage or a gap under way, by its share."""
    if outages is None:
        return []
    rng = random.Random(seed)
    spans: list[tuple[int, int]] = []
    lengths, gaps = _laws(outages)
    # Measured gaps are a sample long at least.
    least_ps = step_ps if isinstance(gaps, _Quantiles) else 1
    least_s = least_ps / PS_PER_SECOND
    length_s, gap_s = lengths.mean_s, gaps.mean_s
    is_off = rng.random() < length_s / (length_s + max(gap_s, least_s))
    at_ps = (lengths if is_off else gaps).under_way_ps(rng)
    if is_off:
        spans.append((0, at_ps))
        at_ps += gaps.draw_ps(rng)
    while at_ps < until_ps:
        length_ps = lengths.draw_ps(rng)
        if length_ps:
            spans.append((at_ps, at_ps + length_ps))
        at_ps += length_ps + max(gaps.draw_ps(rng), least_ps)
    return spans


def expected_outages(outages: Outages, until_ps: int) -> float:
    """Mean number of outages in a time, in the long run."""
    return until_ps / PS_PER_SECOND / sum(law.mean_s for law in _laws(outages))


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which a part of a distribution lies, from evenly spaced quantiles.

    >>> quantile((0.0, 10.0, 30.0), 0.75)
    20.0
    """
    if len(values) == 1:
        return values[0]
    at = part * (len(values) - 1)
    below = min(int(at), len(values) - 2)
    return values[below] + (at - below) * (values[below + 1] - values[below])
