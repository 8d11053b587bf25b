"""One number of a result, of a sweep or of a study: a measure at one combination of levels."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

from skycell.experiment.design import Level
from skycell.measures.measure import Better
from skycell.stats.groups import Groups, two_groups
from skycell.stats.ranges import ANY, LEAST_FOR_INTERVAL, Interval, Range

Verdict = Literal["inside", "near", "off", "unpublished", "own", "failed"]
"""On a number beside a published one; `own` where nothing is published to compare it with."""

_ENDS = ("published_low", "published_high")


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
        subject: what it is measured on, as the name of a port; empty if the measure says it.
        range: what it can be.
        by_replication: in the order of their seeds; none where a run failed or what is measured is
            not defined, as the fairness of a run that delivered nothing.
        published: what a publication has for it; of a range, what is nearest to our mean.
        published_range: both ends of a published range; none where a number is published.
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
    published_range: tuple[float, float] | None = None
    verdict: Verdict = "own"
    doubt: str = ""
    failures: tuple[str, ...] = ()
    spec_hashes: tuple[str, ...] = ()
    subject: str = ""
    range: Range = ANY

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

    def interval(self, level: float) -> Interval | None:
        """The confidence interval of the mean; none for too few replications to have one.

        It stays inside what the measure can be (`Range.interval`), with the factor of Student's t.

        >>> by_replication = (1.0, 2.0, 6.0)  # their mean is 3, its error 1.5275
        >>> three = Value(factors={}, metric="", unit="1", by_replication=by_replication)
        >>> [round(end, 3) for end in three.interval(0.9)]  # t of 0.95 with 2 degrees is 2.92
        [-1.46, 7.46]
        >>> from dataclasses import replace
        >>> from skycell.stats.ranges import POSITIVE
        >>> [round(end, 3) for end in replace(three, range=POSITIVE).interval(0.9)]
        [0.678, 13.269]
        """
        if self.sd is None or self.mean is None or self.n < LEAST_FOR_INTERVAL:
            return None
        from scipy.stats import t

        quantile = float(t.ppf((1 + level) / 2, self.n - 1))
        return self.range.around(self.values).interval(self.mean, self.sd / sqrt(self.n), quantile)

    @property
    def groups(self) -> Groups | None:
        """The two groups that the replications fall into; none if one may well have given them."""
        return two_groups(self.values, self.range)

    def as_dict(self) -> dict[str, Any]:
        """The number for a program, and for a figure."""
        ends = self.published_range
        return {
            "factors": dict(self.factors),
            "metric": self.metric,
            "unit": self.unit,
            **({"subject": self.subject} if self.subject else {}),
            "published": self.published,
            **({} if ends is None else dict(zip(_ENDS, ends, strict=True))),
            "mean": self.mean,
            "sd": self.sd,
            "n": self.n,
            "low": self.low,
            "high": self.high,
            "verdict": self.verdict,
            "specs": list(self.spec_hashes),
        }


def values_of(
    rows: Iterable[Mapping[str, Any]],
    factors: Iterable[str],
    units: Mapping[str, str],
    *,
    subjects: Mapping[str, str] | None = None,
    ranges: Mapping[str, Range] | None = None,
) -> list[Value]:
    """The numbers of a table with a row per run, combination by combination.

    Args:
        rows: each with a column for every factor and measure, and perhaps `spec_hash`.
        factors: columns with levels.
        units: of each measure, by its column.
        subjects: what measures are taken on, by column; of others nothing is said.
        ranges: what measures can be, by column; others can be anything.
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
            subject=(subjects or {}).get(metric, ""),
            range=(ranges or {}).get(metric, ANY),
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
