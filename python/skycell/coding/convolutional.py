"""QPSK without a code, and the convolutional code of constraint length 7 behind a Viterbi decoder.

Source: J. G. Proakis, Digital Communications, for Q(sqrt(2 Eb/N0)) and the union bound over the
distance spectrum; EN 300 421 section 4.4.3 for generators 171 and 133 (octal) and the puncturing.
"""

from __future__ import annotations

from math import sqrt

from skycell.coding.errors import OutOfRange, ResidualErrors, linear, tail

#: By code rate: its value, bits of a period of the puncturing, and by distance from the free one
#: on: error events that begin in a period, the wrong bits of all of them, and their lengths from
#: the first to the last wrong bit. Counted over the trellis; a test counts them again.
_SPECTRA: dict[str, tuple[float, int, dict[int, tuple[int, int, int]]]] = {
    "1/2": (
        1 / 2,
        1,
        {
            10: (11, 36, 55),
            12: (38, 211, 353),
            14: (193, 1404, 2300),
            16: (1331, 11633, 20266),
            18: (7275, 77433, 136400),
            20: (40406, 502690, 888049),
        },
    ),
    "2/3": (
        2 / 3,
        2,
        {
            6: (1, 3, 3),
            7: (16, 70, 105),
            8: (48, 285, 472),
            9: (158, 1276, 2123),
            10: (642, 6160, 10510),
            11: (2435, 27128, 47713),
        },
    ),
    "3/4": (
        3 / 4,
        3,
        {
            5: (8, 42, 62),
            6: (31, 201, 332),
            7: (160, 1492, 2539),
            8: (892, 10469, 18210),
            9: (4512, 62935, 111709),
        },
    ),
    "5/6": (
        5 / 6,
        5,
        {
            4: (14, 92, 150),
            5: (69, 528, 943),
            6: (654, 8694, 16026),
            7: (4996, 79453, 148926),
            8: (39677, 791795, 1501005),
        },
    ),
    "7/8": (
        7 / 8,
        7,
        {
            3: (2, 9, 14),
            4: (46, 500, 895),
            5: (499, 7437, 13495),
            6: (5291, 105707, 196733),
            7: (56137, 1402089, 2636510),
        },
    ),
}
RATES = tuple(_SPECTRA)
"""Code rates of EN 300 421."""
#: The bound is too high where errors are many; above this ratio of wrong bits it says nothing.
_MOST_BER = 1e-2
#: Eb/N0 up to which formulas are asked, dB: beyond it nothing is wrong in the life of a satellite.
MOST_DB = 15.0


def uncoded(eb_n0_db: float) -> ResidualErrors:
    """QPSK, or BPSK, without a code: Q(sqrt(2 Eb/N0)), each bit for itself.

    Args:
        eb_n0_db: energy of a bit over the noise's density, dB, from -10 to 15.

    Raises:
        OutOfRange: beyond that.

    >>> f"{uncoded(9.6).ber:.2g}"
    '9.7e-06'
    """
    if not -10 <= eb_n0_db <= MOST_DB:
        raise OutOfRange(f"from -10 dB to {MOST_DB:g} dB")
    return ResidualErrors(tail(sqrt(2 * linear(eb_n0_db))))


def after_viterbi(eb_n0_db: float, rate: str = "1/2") -> ResidualErrors:
    """The code of constraint length 7 at one of `RATES`: union bound, and the law of error events.

    Args:
        eb_n0_db: energy of a bit that is handed over, dB, over the density of the noise.
        rate: of the code, one of `RATES`.

    Raises:
        OutOfRange: the bound is above one wrong bit in 100, or Eb/N0 above 15 dB.

    >>> f"{after_viterbi(4.5).ber:.1g}"
    '3e-06'
    """
    found = _union_bound(eb_n0_db, rate)
    if found.ber > _MOST_BER or eb_n0_db > MOST_DB:
        least = next(db / 10 for db in range(100) if _union_bound(db / 10, rate).ber <= _MOST_BER)
        raise OutOfRange(
            f"from {least:g} dB, below which the union bound says nothing, to {MOST_DB:g} dB"
        )
    return found


def _union_bound(eb_n0_db: float, rate: str) -> ResidualErrors:
    part, period, spectrum = _SPECTRA[rate]
    events = wrong = lengths = 0.0
    for distance, (count, bits, length) in spectrum.items():
        probability = tail(sqrt(2 * distance * part * linear(eb_n0_db)))
        events += count * probability
        wrong += bits * probability
        lengths += length * probability
    return ResidualErrors(wrong / period, lengths / events, wrong / lengths)
