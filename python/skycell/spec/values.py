"""What follows from parts of a spec."""

from __future__ import annotations

from skycell.spec.network import (
    DistributionConstant,
    DistributionExponential,
    DistributionSpec,
    DistributionUniform,
    SourceSpec,
)

WHOLE_PPB = 10**9
"""The whole in parts per billion, as shares of a link and losses are told."""


def mean_ps(times: DistributionSpec) -> int:
    """Mean of a distribution of times, picoseconds."""
    if isinstance(times, DistributionConstant):
        return times.value_ps
    if isinstance(times, DistributionUniform):
        return (times.low_ps + times.high_ps) // 2
    assert isinstance(times, DistributionExponential)
    return times.mean_ps


def route_of(source: SourceSpec) -> tuple[int, ...]:
    """The VCs that carry what a source sends."""
    return source.datagram_route or (source.vc,)
