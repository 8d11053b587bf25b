"""What bit errors cost in cells, frames and packets, before anything is run.

Source: I.432.1 section 4.3.2 for the modes of a header's receiver; Gilbert 1960 for the matrices of
a channel with two states. Errors of a header that its code does not see are counted as seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import expm1

import numpy as np
from numpy.typing import NDArray

_HEADER, _PAYLOAD = 40, 384
_CELL = _HEADER + _PAYLOAD
#: Wrong bits of a burst, at half density, that are never none: 2^-300 is nothing.
_SURE = 300
_Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class TwoStates:
    """Bits by a state that may change after each; one state alone where errors are independent.

    Attributes:
        to_bad: probability that the bad state follows the good one.
        to_good: the other way round, above 0.
        in_good: part of the bits that are wrong in the good state.
        in_bad: in the bad one.
    """

    to_bad: float
    to_good: float
    in_good: float
    in_bad: float

    @property
    def ber(self) -> float:
        """Part of all bits that are wrong."""
        return float(self._met @ np.array([self.in_good, self.in_bad]))

    @property
    def _met(self) -> _Matrix:
        """How often the states are met."""
        return np.array([self.to_good, self.to_bad]) / (self.to_good + self.to_bad)

    def packet_loss(self, bits: int) -> float:
        """Probability that a packet of so many bits on the line has a wrong one."""
        _, one, more = self._window(bits)
        return float((self._met @ (one + more)).sum())

    def cell_loss(self) -> float:
        """Probability that a cell is lost by its header."""
        _, one, more = self._window(_HEADER)
        right, wrong = self._modes()
        return float((right @ more).sum() + (wrong @ (one + more)).sum())

    def frame_loss(self, cells: int) -> float:
        """Probability that an AAL5 frame loses a cell by its header, or has a wrong bit."""
        none, one, more = self._window(_HEADER)
        clean, spoilt_one, spoilt_more = self._window(_PAYLOAD)
        spoilt = spoilt_one + spoilt_more
        right, wrong = self._modes()
        lost = 0.0
        for _ in range(cells):
            lost += (right @ more).sum() + (wrong @ (one + more)).sum()
            accepted, corrected = (right + wrong) @ none, right @ one
            lost += ((accepted + corrected) @ spoilt).sum()
            right, wrong = accepted @ clean, corrected @ clean
        return float(lost)

    def _modes(self) -> tuple[_Matrix, _Matrix]:
        """States before a header, with its receiver in the correction and the detection mode."""
        none, one, more = self._window(_HEADER)
        payload = sum(self._window(_PAYLOAD))
        return self._met @ none @ payload, self._met @ (one + more) @ payload

    def _window(self, bits: int) -> tuple[_Matrix, _Matrix, _Matrix]:
        """Changes of state over so many bits of which none, one, and more than one are wrong."""
        after = np.array([[1 - self.to_bad, self.to_bad], [self.to_good, 1 - self.to_good]])
        wrong = np.array([[self.in_good], [self.in_bad]])
        square = ((1 - wrong) * after, wrong * after, np.zeros((2, 2)))
        found = (np.eye(2), np.zeros((2, 2)), np.zeros((2, 2)))
        while bits:
            if bits & 1:
                found = _joined(found, square)
            square = _joined(square, square)
            bits >>= 1
        return found


def _joined(
    first: tuple[_Matrix, _Matrix, _Matrix], then: tuple[_Matrix, _Matrix, _Matrix]
) -> tuple[_Matrix, _Matrix, _Matrix]:
    none, one, more = first
    then_none, then_one, then_more = then
    some = then_one + then_more
    return (
        none @ then_none,
        none @ then_one + one @ then_none,
        none @ then_more + one @ some + more @ (then_none + some),
    )


@dataclass(frozen=True)
class FixedBursts:
    """Bursts of one length, far enough apart that none meets another.

    Attributes:
        ber: part of all bits that are wrong, far below the density.
        bits: of a burst, at least 1.
        density: part of a burst's bits that are wrong, from 0.5 to 1.
    """

    ber: float
    bits: int
    density: float

    def packet_loss(self, bits: int) -> float:
        """Probability that a packet of so many bits on the line has a wrong one."""
        whole = min(self.bits, bits)
        # Bursts that reach in with 1, 2 ... bits from either side, and those that lie within.
        edges = 2 * sum(self._any(bit) for bit in range(1, min(whole, _SURE)))
        edges += 2 * max(0, whole - _SURE)
        return self._by_bursts(edges + (abs(bits - self.bits) + 1) * self._any(whole))

    def cell_loss(self) -> float:
        """Probability that a cell is lost by its header: cells lost to a burst, for each begun."""
        length, more = self.bits, 0.0
        if length > 10 * _CELL:  # within it, one header is like the next
            cells = length // _CELL - 5
            length -= cells * _CELL
            wrong = self._any(_HEADER)
            more = cells * ((1 - wrong) * self._several(_HEADER) + wrong * wrong)
        lost = sum(self._headers_lost(begin, length) for begin in range(_CELL))
        return min(1.0, self._begin * (lost + _CELL * more))

    def frame_loss(self, cells: int) -> float:
        """Probability that an AAL5 frame loses a cell by its header, or has a wrong bit."""
        last = _CELL * cells - 1
        first = 1 - self.bits
        begins: Iterator[int] | range = range(first, last + 1)
        sure = 0
        if self.bits > 2 * _SURE + 2 * _HEADER and last - first > 4 * _CELL:
            # Only at its ends may a long burst leave the payload as it is.
            ends = 2 * _CELL
            sure = last + 1 - first - 2 * ends
            begins = iter([*range(first, first + ends), *range(last + 1 - ends, last + 1)])
        return self._by_bursts(sure + sum(self._spoils(begin, cells) for begin in begins))

    @property
    def _begin(self) -> float:
        """Bursts that begin, for each bit."""
        return self.ber / (self.density * self.bits)

    def _by_bursts(self, offsets: float) -> float:
        return -expm1(-self._begin * offsets)

    def _any(self, bits: int) -> float:
        """Probability that of so many bits of a burst one is wrong."""
        return 1 - float((1 - self.density) ** min(bits, _SURE))

    def _several(self, bits: int) -> float:
        """Probability that more than one is."""
        return self._any(bits) - self._one(bits)

    def _one(self, bits: int) -> float:
        return float(bits * self.density * (1 - self.density) ** (bits - 1)) if bits else 0.0

    def _headers_met(self, begin: int, end: int) -> Iterator[int]:
        """Bits of each header that a burst meets, from the first on."""
        for cell in range(max(0, (begin - _HEADER) // _CELL), end // _CELL + 1):
            bits = min(end, cell * _CELL + _HEADER) - max(begin, cell * _CELL)
            if bits > 0:
                yield bits

    def _headers_lost(self, begin: int, length: int) -> float:
        """Mean number of headers that cost their cell, of a burst that begins with this bit."""
        lost = detects = 0.0
        for bits in self._headers_met(begin, begin + length):
            wrong = self._any(bits)
            lost += (1 - detects) * self._several(bits) + detects * wrong
            detects = wrong
        return lost

    def _spoils(self, begin: int, cells: int) -> float:
        """Probability that a burst spoils a frame, whose first bit is bit 0."""
        end = min(begin + self.bits, _CELL * cells)
        begin = max(begin, 0)
        payload = _payload_before(end) - _payload_before(begin)
        if payload >= _SURE:
            return 1.0
        corrects, detects = 1.0, 0.0
        for bits in self._headers_met(begin, end):
            none = 1 - self._any(bits)
            corrects, detects = (corrects + detects) * none, corrects * self._one(bits)
        return 1 - (corrects + detects) * (1 - self._any(payload))


def _payload_before(bit: int) -> int:
    """Bits of payloads before a bit of a line of cells."""
    return bit // _CELL * _PAYLOAD + max(0, bit % _CELL - _HEADER)


Law = TwoStates | FixedBursts
"""How the bits of a line come wrong."""


def bursts(ber: float, bits: int, density: float, *, is_fixed: bool) -> Law:
    """Bursts of one length, or of a geometric one with this mean.

    Args:
        ber: part of all bits that are wrong.
        bits: of a burst.
        density: part of a burst's bits that are wrong.
        is_fixed: whether all are as long.
    """
    if is_fixed:
        return FixedBursts(ber, bits, density)
    begins = 1 / (1 + bits * (density / ber - 1))
    # The next burst may begin with the bit behind the last one.
    return TwoStates(begins, (1 - begins) / bits, 0.0, density)
