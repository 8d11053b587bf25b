"""One number of a table: what its replications gave, their mean and their spread."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Replicates:
    """The values of some replications.

    >>> found = Replicates((0.5, None, 0.7))
    >>> found.n, found.mean, found.low, found.high
    (2, 0.6, 0.5, 0.7)
    """

    by_replication: tuple[float | None, ...]
    """In the order of their seeds; none where a run failed or what is measured is not defined, as
    the fairness of a run that delivered nothing."""

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
