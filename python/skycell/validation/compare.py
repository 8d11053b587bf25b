"""A recorded number beside ours: means, ranges and the verdict."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from skycell.experiment.value import Verdict

INSIDE_RELATIVE = 0.05
"""Largest relative difference of means that counts as the same, beside the recorded range."""
NEAR_RELATIVE = 0.15
"""Largest relative difference of a `near` value."""

# A number such as 0.62 - 0.60 is not exactly 0.02 in binary.
_ROUNDING = 1e-9


def verdict_of(
    recorded: Sequence[float], ours: Sequence[float], failures: Sequence[str] = ()
) -> Verdict:
    """Whether our mean is what real hosts gave.

    `inside`: within 5 % of the mean of the recorded replications, or between the least and the
    greatest of them. `near`: within 15 % of the mean. Else `off`, also where ours has no such
    number; `failed` where our runs failed.

    >>> verdict_of([9.5, 9.6], [9.2]), verdict_of([9.5, 9.6], [8.5]), verdict_of([40, 90], [41])
    ('inside', 'near', 'inside')
    """
    if failures and not ours:
        return "failed"
    if not ours:
        return "off"
    mean, wanted = statistics.fmean(ours), statistics.fmean(recorded)
    off_by = abs(mean - wanted) - _ROUNDING
    is_in_range = min(recorded) - _ROUNDING <= mean <= max(recorded) + _ROUNDING
    if is_in_range or off_by <= INSIDE_RELATIVE * abs(wanted):
        return "inside"
    return "near" if off_by <= NEAR_RELATIVE * abs(wanted) else "off"
