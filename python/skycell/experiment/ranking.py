"""A ranking of options by what matters, with what the data decide.

Options are compared run by run with the same seeds (common random numbers). An option is worse than
the one with the best mean if the interval of the mean difference does not hold 0; all these
intervals hold together with the confidence asked for (Bonferroni). Sources: R. Jain, The Art of
Computer Systems Performance Analysis, 1991, 13.4; B. L. Nelson, F. J. Matejcik, Management Science
41, 1995.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from skycell.experiment.result import SweepResult

Traffic = Literal["bulk", "web"]
"""What users do."""

Beside = Literal["none", "vbr"]
"""Other traffic on the link: none, or VBR that goes first and takes all of it half of the time."""


@dataclass(frozen=True)
class Aim:
    """What an option is judged by.

    Attributes:
        response: of a sweep, or measure of a study.
        better: which values are better.
        meaning: in words.
        traffic: that it is of; both if not given.
    """

    response: str
    better: Literal["greater", "smaller"]
    meaning: str
    traffic: Traffic | None = None


@dataclass(frozen=True)
class Ranked:
    """One option in the order of its mean.

    Attributes:
        levels: of the factors.
        values: mean of each response; None where a run has none.
        difference: of the aim to the best option's, mean; 0 for the best.
        low: of the interval of that difference.
        high: of it.
        is_worse: whether the data say that it is worse than the best.
    """

    levels: Mapping[str, Any]
    values: Mapping[str, float | None]
    difference: float
    low: float
    high: float
    is_worse: bool


@dataclass(frozen=True)
class Ranking:
    """Options in the order of their means.

    Attributes:
        aim: what they are ranked by.
        ranked: options, the best mean first.
        unranked: options with a run that failed or has no value.
        confidence: with which all differences lie in their intervals together.
        replications: runs of each option.
    """

    aim: Aim
    ranked: tuple[Ranked, ...]
    unranked: tuple[Mapping[str, Any], ...]
    confidence: float
    replications: int

    @property
    def best(self) -> tuple[Ranked, ...]:
        """The options that the data do not tell apart from the best mean."""
        return tuple(option for option in self.ranked if not option.is_worse)

    @property
    def decides(self) -> bool:
        """Whether fewer than half of the options are left."""
        return 2 * len(self.best) < len(self.ranked)


_Key = tuple[tuple[str, Any], ...]


def rank(result: SweepResult, aim: Aim, confidence: float = 0.9) -> Ranking:
    """Ranks the cells of a sweep.

    Args:
        result: the sweep; each replication has one seed in all of its cells.
        aim: what its cells are ranked by.
        confidence: with which all differences lie in their intervals together, 0 to 1.

    Raises:
        ValueError: no option has a value in all of its runs, or there is one run of each only.
    """
    from scipy.stats import t as student

    by_option: dict[_Key, dict[int, Mapping[str, float | None]]] = {}
    for run in result.runs:
        key = tuple(run.levels.items())
        by_option.setdefault(key, {})[run.replication] = run.values or {}
    samples: dict[_Key, list[float]] = {}
    for key, runs in by_option.items():
        values = [runs[number].get(aim.response) for number in sorted(runs)]
        found = [value for value in values if value is not None]
        if len(found) == len(values):
            samples[key] = found
    if not samples:
        raise ValueError(f"no option has a value of {aim.response} in all of its runs")
    sign = 1 if aim.better == "greater" else -1
    ordered = sorted(samples, key=lambda key: -sign * _mean(samples[key]))
    best = samples[ordered[0]]
    count = len(best)
    if count < 2:
        raise ValueError("one run of each option has no spread: 2 or more are needed")
    compared = max(len(ordered) - 1, 1)
    quantile = float(student.ppf(1 - (1 - confidence) / (2 * compared), count - 1))
    ranked: list[Ranked] = []
    for key in ordered:
        apart = [own - other for own, other in zip(samples[key], best, strict=True)]
        mean = _mean(apart)
        spread = sqrt(sum((one - mean) ** 2 for one in apart) / (count - 1))
        half = quantile * spread / sqrt(count)
        worse = key != ordered[0] and sign * mean + half < 0
        means = {
            name: _mean_or_none([values.get(name) for values in by_option[key].values()])
            for name in result.responses
        }
        ranked.append(Ranked(dict(key), means, mean, mean - half, mean + half, worse))
    left = tuple(dict(key) for key in by_option if key not in samples)
    return Ranking(aim, tuple(ranked), left, confidence, count)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return _mean(found) if found and len(found) == len(values) else None
