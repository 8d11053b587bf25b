"""One number of a result, of a sweep or of a study: a measure at one combination of levels."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from skycell.experiment.design import Level

Verdict = Literal["inside", "near", "off", "unpublished", "own", "failed"]
"""On a number beside a published one; `own` where nothing is published to compare it with."""

Better = Literal["larger", "smaller", ""]
"""Which values of a measure users would rather have; empty where that is not for us to say."""


@dataclass(frozen=True, kw_only=True)
class Value:
    """What a measure gave at one combination of levels: its replications, their mean and spread.

    >>> found = Value(
    ...     factors={"tcp": "reno"}, metric="efficiency", unit="1", by_replication=(0.5, None, 0.7)
    ... )
    >>> found.n, found.mean, found.low, found.high
    (2, 0.6, 0.5, 0.7)

    Attributes:
        factors: level of each factor.
        metric: name of the measure.
        unit: of its values; `1` for a number without unit.
        by_replication: in the order of their seeds; none where a run failed or what is measured is
            not defined, as the fairness of a run that delivered nothing.
        published: what a publication has for it.
        verdict: on the published value.
        doubt: why its print is in doubt; empty if it is not.
        failures: why runs have no result.
        spec_hashes: of the runs, where there were some.
    """

    factors: Mapping[str, Level]
    metric: str
    unit: str
    by_replication: tuple[float | None, ...]
    published: float | None = None
    verdict: Verdict = "own"
    doubt: str = ""
    failures: tuple[str, ...] = ()
    spec_hashes: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[float, ...]:
        """Those of the replications that have a number."""
        return tuple(value for value in self.by_replication if value is not None)

    @property
    def n(self) -> int:
        """Number of replications that have a number."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """Mean over the replications."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over the replications (n - 1); none for fewer than two."""
        return statistics.stdev(self.values) if self.n > 1 else None

    @property
    def low(self) -> float | None:
        """Smallest of the replications."""
        return min(self.values, default=None)

    @property
    def high(self) -> float | None:
        """Largest of the replications."""
        return max(self.values, default=None)

    def margin(self, level: float) -> float | None:
        """Half the confidence interval of the mean, by Student's t; none for fewer than two runs.

        >>> two = Value(factors={}, metric="", unit="1", by_replication=(1.0, 3.0))
        >>> round(two.margin(0.9), 3)  # t of 0.95 with one degree of freedom is 6.314; sd is sqrt 2
        6.314
        """
        if self.sd is None or self.n < 2:
            return None
        from scipy.stats import t

        return float(t.ppf((1 + level) / 2, self.n - 1)) * self.sd / sqrt(self.n)

    def as_dict(self) -> dict[str, Any]:
        """The number for a program, and for a figure."""
        return {
            "factors": dict(self.factors),
            "metric": self.metric,
            "unit": self.unit,
            "published": self.published,
            "mean": self.mean,
            "sd": self.sd,
            "n": self.n,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
            "specs": list(self.spec_hashes),
        }


def values_of(
    rows: Iterable[Mapping[str, Any]], factors: Iterable[str], units: Mapping[str, str]
) -> list[Value]:
    """The numbers of a table with a row per run, combination by combination.

    Args:
        rows: each with a column for every factor and measure, and perhaps `spec_hash`.
        factors: columns with levels.
        units: of each measure, by its column.
    """
    names = list(factors)
    cells: dict[tuple[tuple[bool, Level], ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        # True and 1 are one key of a dictionary, and two levels.
        key = tuple((isinstance(row[name], bool), row[name]) for name in names)
        cells.setdefault(key, []).append(row)
    return [
        Value(
            factors={name: own[0][name] for name in names},
            metric=metric,
            unit=unit,
            by_replication=tuple(row[metric] for row in own),
            spec_hashes=tuple(dict.fromkeys(row["spec_hash"] for row in own if "spec_hash" in row)),
        )
        for own in cells.values()
        for metric, unit in units.items()
    ]


def best_of(values: Iterable[Value], better: Better) -> Value | None:
    """The number that users would rather have, the first of equal ones; none without a mean."""
    known = [value for value in values if value.mean is not None]
    if not known or not better:
        return None
    return (max if better == "larger" else min)(known, key=lambda value: value.mean or 0.0)
