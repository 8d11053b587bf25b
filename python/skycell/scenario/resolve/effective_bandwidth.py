"""How much of a link on/off sources need so that their buffer seldom overflows.

Source: R. Guérin, H. Ahmadi, M. Naghshineh, "Equivalent capacity and its application to bandwidth
allocation in high-speed networks", IEEE Journal on Selected Areas in Communications 9(7), September
1991, pages 968 to 981. Times on and off are exponential there; fixed ones need less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class OnOff(NamedTuple):
    """An on/off source: its peak rate, cells/s, and its mean times on and off, seconds."""

    peak: float
    on_s: float
    off_s: float

    @property
    def utilisation(self) -> float:
        """Part of the time in which it is on, above 0 to 1."""
        return self.on_s / (self.on_s + self.off_s)

    @property
    def mean(self) -> float:
        """Mean rate, cells/s."""
        return self.peak * self.utilisation


def of_one(source: OnOff, buffer_cells: float, loss: float) -> float:
    """Rate at which one source overflows a buffer for a part of the time, cells/s.

    A fluid source on for b and off for b (1 - rho) / rho in the mean, served at c, has more than x
    queued for e^(-z x) of the time but for a factor below 1, with
    z = (c - rho R) / (b (1 - rho) c (R - c)). This is the c for which that is the loss.

    Args:
        source: with peak R and utilisation rho.
        buffer_cells: x, from 0; infinite without a limit.
        loss: from 0 to 1.

    >>> video = OnOff(peak=10_000, on_s=0.1, off_s=0.1)
    >>> [round(of_one(video, cells, 1e-5)) for cells in (0, 1000, 10_000, math.inf)]
    [10000, 9206, 6336, 5000]
    """
    rho = source.utilisation
    if math.isinf(buffer_cells) or rho == 1:
        return source.mean
    if buffer_cells == 0 or loss == 0:
        return source.peak
    burst = -math.log(loss) * source.on_s * (1 - rho)
    half = burst * source.peak - buffer_cells
    root = math.sqrt(half * half + 4 * buffer_cells * burst * rho * source.peak)
    if half < 0:  # the same without a difference of two large numbers
        return 2 * buffer_cells * rho * source.peak / (root - half)
    return (half + root) / (2 * burst)


def of_all(sources: Sequence[OnOff], buffer_cells: float, loss: float) -> float:
    """Rate that sources need together, cells/s: the least of three rates.

    These are the sum of what each needs alone, the rate that all exceed together for no more than
    `loss` of the time if their sum is normal, and the sum of their peaks.

    >>> video = OnOff(peak=1000, on_s=0.1, off_s=0.9)
    >>> [round(of_all([video] * count, 100, 1e-5)) for count in (1, 100)]
    [914, 23809]
    """
    alone = sum(of_one(source, buffer_cells, loss) for source in sources)
    mean = sum(source.mean for source in sources)
    peaks = sum(source.peak for source in sources)
    if loss == 0:
        return min(alone, peaks)
    variance = sum(source.mean * (source.peak - source.mean) for source in sources)
    # The normal tail as the paper approximates it, for a loss below 1 / sqrt(2 pi).
    factor = math.sqrt(max(0.0, -2 * math.log(loss) - math.log(2 * math.pi)))
    together = mean + factor * math.sqrt(variance)
    return min(alone, together, peaks)
