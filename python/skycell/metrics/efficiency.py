"""Efficiency: what all connections got together, against what the link could carry."""

from collections.abc import Sequence


def efficiency(throughput_bps: Sequence[float], ceiling_bps: float) -> float:
    """Sum of the throughputs over the largest possible TCP throughput.

    Args:
        throughput_bps: one rate per connection, bit/s.
        ceiling_bps: largest possible sum, bit/s, above 0.

    Returns:
        At least 0. It can pass 1 only if the ceiling is not that of the link.

    Source: ICCCN'97 6.2.

    >>> efficiency([30e6, 32.6e6], 125.2e6)
    0.5
    """
    if ceiling_bps <= 0:
        raise ValueError(f"a ceiling of {ceiling_bps} bit/s: must be above 0")
    return sum(throughput_bps) / ceiling_bps
