"""The codes of DVB-S2: the Es/N0 from which on they leave next to no errors.

Source: EN 302 307-1 table 13 (ideal demodulator, normal FECFRAMEs, a packet of 188 octets in 10^7
wrong) and section 6: 0.2 to 0.3 dB more with short ones.
"""

from __future__ import annotations

from skycell.coding.errors import OutOfRange, ResidualErrors

#: Es/N0 in dB by MODCOD.
_THRESHOLDS = {
    "QPSK 1/4": -2.35,
    "QPSK 1/3": -1.24,
    "QPSK 2/5": -0.30,
    "QPSK 1/2": 1.00,
    "QPSK 3/5": 2.23,
    "QPSK 2/3": 3.10,
    "QPSK 3/4": 4.03,
    "QPSK 4/5": 4.68,
    "QPSK 5/6": 5.18,
    "QPSK 8/9": 6.20,
    "QPSK 9/10": 6.42,
    "8PSK 3/5": 5.50,
    "8PSK 2/3": 6.62,
    "8PSK 3/4": 7.91,
    "8PSK 5/6": 9.35,
    "8PSK 8/9": 10.69,
    "8PSK 9/10": 10.98,
    "16APSK 2/3": 8.97,
    "16APSK 3/4": 10.21,
    "16APSK 4/5": 11.03,
    "16APSK 5/6": 11.61,
    "16APSK 8/9": 12.89,
    "16APSK 9/10": 13.13,
    "32APSK 3/4": 12.73,
    "32APSK 4/5": 13.64,
    "32APSK 5/6": 14.28,
    "32APSK 8/9": 15.69,
    "32APSK 9/10": 16.05,
}
MODCODS = tuple(_THRESHOLDS)
"""All of them, in the order of the standard."""
_BITS = {"QPSK": 2, "8PSK": 3, "16APSK": 4, "32APSK": 5}
_SHORT_DB = 0.3
#: Words that fail at the threshold and above: a packet in 10^7, all packets of a word together.
_FAILS = 1e-7
_WORD_BITS = {"normal": 64_800, "short": 16_200}


def threshold_db(modcod: str, frame: str = "normal") -> float:
    """The least Es/N0 of a MODCOD with normal or short FECFRAMEs, dB."""
    return _THRESHOLDS[modcod] + (_SHORT_DB if frame == "short" else 0.0)


def after_dvb_s2(es_n0_db: float, modcod: str, frame: str = "normal") -> ResidualErrors:
    """Whole words of a MODCOD that fail, with half of their bits wrong; none is corrected in part.

    Args:
        es_n0_db: energy of a symbol over the density of the noise, dB.
        modcod: as in `threshold_db`.
        frame: "normal" or "short" FECFRAMEs.

    Raises:
        OutOfRange: Es/N0 is below the threshold: the standard says nothing of what is left there.
    """
    least = threshold_db(modcod, frame)
    if es_n0_db < least:
        raise OutOfRange(f"from {least:g} dB, the threshold of {modcod} with {frame} frames")
    over, under = modcod.split()[1].split("/")
    bits = _WORD_BITS[frame] * int(over) // int(under)
    return ResidualErrors(_FAILS / 2, bits, 0.5, is_fixed=True)


def bits_per_symbol(modcod: str) -> int:
    """Coded bits that a symbol of a MODCOD carries.

    >>> [bits_per_symbol(f"{name} 3/4") for name in ("QPSK", "8PSK", "16APSK", "32APSK")]
    [2, 3, 4, 5]
    """
    return _BITS[modcod.split()[0]]
