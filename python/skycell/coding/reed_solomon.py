"""The Reed-Solomon code (204, 188) over a convolutional one, with the interleaver between them.

Source: EN 300 421 sections 4.4.1 and 4.4.2: RS(204, 188, t = 8) shortened from (255, 239), an
interleaver of depth 12. The sum over wrong octets of a bounded-distance decoder is that of
textbooks (Proakis).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

from skycell.coding.convolutional import after_viterbi
from skycell.coding.errors import OutOfRange

#: Octets of a word, those of them that are the user's, and wrong ones that are corrected.
WORD, USER, CORRECTED = 204, 188, 8


@dataclass(frozen=True)
class FailedWords:
    """What a Reed-Solomon decoder hands on: words that it could not correct, as they came.

    Attributes:
        part: of the words that fail, above 0.
        errors: part of the bits of such a word that are wrong.
    """

    part: float
    errors: float

    @property
    def ber(self) -> float:
        """Part of all bits that are wrong."""
        return self.part * self.errors


def after_reed_solomon(eb_n0_db: float, rate: str = "1/2") -> FailedWords:
    """The concatenated code of DVB-S with an inner code rate.

    The interleaver spreads a burst of up to 12 octets over as many words: within one, octets are
    wrong independently. A burst of L bits touches (L + 7) / 8 octets.

    Args:
        eb_n0_db: energy of a user's bit over the density of the noise, dB.
        rate: of the inner code, one of `RATES`.

    Raises:
        OutOfRange: the inner code's formula does not hold, or next to no word ever fails.
    """
    inner_db = eb_n0_db + 10 * log(USER / WORD) / log(10)
    try:
        inner = after_viterbi(inner_db, rate)
    except OutOfRange as error:
        allowed = f"an Eb/N0 of the inner code {error.allowed}; it has 0.36 dB less"
        raise OutOfRange(allowed) from None
    octets = min(1.0, inner.bursts_per_bit * (inner.burst_bits + 7))
    fails, wrong = _failures(octets)
    if fails < 1e-100:
        raise OutOfRange("less: at so much no word ever fails")
    # Of a wrong octet so many bits are wrong, of eight.
    bits = min(1.0, inner.ber / octets)
    return FailedWords(fails, wrong / fails / WORD * bits)


def _failures(octets: float) -> tuple[float, float]:
    """Probability of more wrong octets than are corrected, and the mean number in such words."""
    fails = wrong = 0.0
    for count in range(CORRECTED + 1, WORD + 1):
        ways = lgamma(WORD + 1) - lgamma(count + 1) - lgamma(WORD - count + 1)
        rest = (WORD - count) * log1p(-octets) if count < WORD and octets < 1 else 0.0
        probability = exp(ways + count * log(octets) + rest)
        fails += probability
        wrong += count * probability
    return fails, wrong
