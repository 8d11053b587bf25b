"""When slots begin in which a value keeps its level: the phase that leaves the least noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_PHASES = 20_000
"""Phases that are compared: finer ones would not be told apart."""


@dataclass(frozen=True)
class Phase:
    """A phase, and how well it does.

    Attributes:
        phase_ps: beginning of the first whole slot.
        noise: variance within the slots of this phase, as a part of that over all samples.
        noise_at_zero: the same with slots from the first sample on.
    """

    phase_ps: int
    noise: float
    noise_at_zero: float


def best_phase(
    times_ps: NDArray[np.int64],
    courses: Sequence[NDArray[np.float64]],
    slot_ps: int,
    resolution_ps: int,
) -> Phase:
    """The phase of slots that leaves the least noise of all courses together.

    A phase costs one sum for each slot, as the sums up to each sample are known: all phases
    together cost as much as there are samples.

    Args:
        times_ps: of the samples, ascending, from 0.
        courses: values at these times, each scaled by its own variance; NaN where there is none.
        slot_ps: length of a slot.
        resolution_ps: from one phase to the next; that of the samples tells all apart.
    """
    import numpy as np

    step = max(resolution_ps, -(-slot_ps // MOST_PHASES), 1)
    end = int(times_ps[-1]) + 1
    sums = []
    for values in courses:
        there = np.isfinite(values)
        if not there.any() or not (whole := float(np.nanvar(values))):
            continue
        scaled = np.where(there, (values - np.nanmean(values)) / whole**0.5, 0.0)
        counts = np.concatenate(([0.0], np.cumsum(there.astype(float))))
        sums.append((np.concatenate(([0.0], np.cumsum(scaled))), counts))

    def noise(phase: int) -> float:
        begins = np.arange(phase % slot_ps, end + slot_ps, slot_ps, dtype=np.int64)
        at = np.concatenate(([0], np.searchsorted(times_ps, begins), [len(times_ps)]))
        total = 0.0
        for values, counts in sums:
            number = np.diff(counts[at])
            level = np.diff(values[at])
            kept = number > 0
            total += 1 - float((level[kept] ** 2 / number[kept]).sum()) / float(counts[-1])
        return total / max(len(sums), 1)

    best = min(range(0, slot_ps, step), key=noise)
    return Phase(best, noise(best), noise(0))
