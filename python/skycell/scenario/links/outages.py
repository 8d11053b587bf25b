"""Outages of a link that is drawn: what a file says of their lengths and gaps, and their times.

The times are an alternating renewal process, as the run finds it under way. A run begins in an
outage with the probability mean outage / (mean outage + mean gap), the unavailability, and in the
equilibrium of renewal theory: the time that it begins in is one by the distribution weighted with
its length, of which a part is left that is uniform (D. R. Cox, Renewal Theory, 1962, chapter 5).
With quantiles from a measured series that weighting is left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from statistics import NormalDist
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skycell.input.faults import NOTHING, FaultCollector, Verbatim
from skycell.input.parameters import (
    Parameters,
    ValueType,
    exact,
    number,
    param,
    quantity,
    read_number,
)
from skycell.input.quantities import DAY_PS, PS_PER_SECOND, Dimension, Quantity, Refused, rounded

_MOST_QUANTILES = 1001
_LARGEST = 1e9
_MeanTime = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000_000, high=366 * DAY_PS, example="3 s")
]


def read_quantiles(value: Any) -> tuple[float, ...]:
    """Quantiles of a distribution, as a file lists them."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= _MOST_QUANTILES:
        raise Refused("")
    numbers = tuple(read_number(one) for one in value)
    if any(later < earlier for earlier, later in pairwise(numbers)):
        raise Refused("these do not ascend")
    if max(map(abs, numbers)) > _LARGEST:
        raise Refused("")
    return numbers


def _read_times(value: Any) -> tuple[float, ...]:
    numbers = read_quantiles(value)
    if numbers[0] < 0 or numbers[-1] <= 0:
        raise Refused("")
    return numbers


NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
"""Quantiles in a schema."""
Times = Annotated[
    tuple[float, ...],
    ValueType(
        "a list of 1 to 1001 numbers that ascend, in seconds, the last above 0",
        _read_times,
        NUMBERS,
    ),
]


_Availability = Annotated[float, number(above=0, below=1, what=", such as 0.995")]


class ConstantTime(Parameters):
    """Always the same time."""

    kind: Literal["constant"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "the time")


class ExponentialTime(Parameters):
    """Exponential: what has lasted says nothing of what is left."""

    kind: Literal["exponential"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "mean time")


class LognormalTime(Parameters):
    """Lognormal, as rain fades last."""

    kind: Literal["lognormal"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "mean time")
    sigma: Annotated[float, number(above=0, high=5, what=", such as 1.2")] = param(
        ..., "standard deviation of the logarithm", symbol="σ"
    )


class ParetoTime(Parameters):
    """Pareto: most times are short, and a few hold much of the whole."""

    kind: Literal["pareto"] = param(..., "the distribution")
    mean: _MeanTime = param(..., "mean time")
    shape: Annotated[float, number(above=1, high=100, what=", such as 1.5")] = param(
        ..., "exponent of the tail; from 2 down the variance is infinite", symbol="α"
    )


def _constant_by_text(value: Any) -> Any:
    return {"kind": "constant", "mean": value} if isinstance(value, str) else value


AnyTime = ConstantTime | ExponentialTime | LognormalTime | ParetoTime
"""Distributions of times of a link."""
TimesOfLink = Annotated[
    Annotated[AnyTime, Field(discriminator="kind")],
    BeforeValidator(_constant_by_text, json_schema_input_type=AnyTime | _MeanTime),
]


class Outages(Parameters):
    """When there is no path: a distribution, quantiles, or a mean of outages; and of gaps."""

    length: TimesOfLink | None = param(None, "duration of outages", source="lengths_s says them")
    gap: TimesOfLink | None = param(
        None,
        "times from the end of an outage to the next",
        source="gaps_s, or exponential by availability",
    )
    availability: _Availability | None = param(
        None,
        "part of the time with a path, in the long run: gaps are exponential with the mean that "
        "gives it",
        source="as gaps are",
    )
    lengths_s: Times | None = param(
        None, "quantiles of the lengths of outages", source="length says them"
    )
    gaps_s: Times | None = param(
        None, "quantiles of the times from one outage to the next", source="gap says them"
    )


def check_outages(outages: Outages, faults: FaultCollector) -> None:
    """Notes lengths or gaps that are said twice, or not at all."""
    for keys in (("length", "lengths_s"), ("gap", "availability", "gaps_s")):
        said = [key for key in keys if getattr(outages, key) is not None]
        if len(said) != 1:
            got = Verbatim(" and ".join(said)) if said else NOTHING
            allowed = f"one of {', '.join(keys[:-1])} and {keys[-1]}"
            faults.add(("outages", said[-1] if said else keys[0]), got, allowed)


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
