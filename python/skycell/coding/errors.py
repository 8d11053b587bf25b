"""Errors behind a decoder: how many bits are wrong, and how they come together."""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt


@dataclass(frozen=True)
class ResidualErrors:
    """What a receiver hands on.

    Attributes:
        ber: part of the bits that are wrong, above 0.
        burst_bits: mean length of a burst, bits; 1 where errors are independent.
        density: part of a burst's bits that are wrong.
        is_fixed: whether all bursts are as long; else lengths are geometric.
    """

    ber: float
    burst_bits: float = 1.0
    density: float = 1.0
    is_fixed: bool = False

    @property
    def bursts_per_bit(self) -> float:
        """Bursts that begin, for each bit."""
        return self.ber / (self.density * self.burst_bits)


class OutOfRange(ValueError):
    """A ratio at which a formula does not hold.

    Attributes:
        allowed: where it does, in words.
    """

    def __init__(self, allowed: str) -> None:
        super().__init__(allowed)
        self.allowed = allowed


def linear(ratio_db: float) -> float:
    """A ratio that is given in dB."""
    return float(10 ** (ratio_db / 10))


def tail(x: float) -> float:
    """Probability that a normal variable of variance 1 exceeds its mean by x: Q(x)."""
    return erfc(x / sqrt(2)) / 2
