"""Frames of DVB-S2: what of a carrier's symbols each layer takes (ETSI EN 302 307-1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

#: Information bits of a BBFRAME, K_bch, by code rate: of a normal and of a short FECFRAME (tables
#: 5a and 5b); a short one does not have 9/10.
_INFORMATION = {
    "1/4": (16_008, 3_072),
    "1/3": (21_408, 5_232),
    "2/5": (25_728, 6_312),
    "1/2": (32_208, 7_032),
    "3/5": (38_688, 9_552),
    "2/3": (43_040, 10_632),
    "3/4": (48_408, 11_712),
    "4/5": (51_648, 12_432),
    "5/6": (53_840, 13_152),
    "8/9": (57_472, 14_232),
    "9/10": (58_192, 0),
}
_BITS = {"QPSK": 2, "8PSK": 3, "16APSK": 4, "32APSK": 5}
#: Code rates of each constellation (table 12).
_RATES = {
    "QPSK": tuple(_INFORMATION),
    "8PSK": ("3/5", "2/3", "3/4", "5/6", "8/9", "9/10"),
    "16APSK": ("2/3", "3/4", "4/5", "5/6", "8/9", "9/10"),
    "32APSK": ("3/4", "4/5", "5/6", "8/9", "9/10"),
}
MODCODS = tuple(f"{name} {rate}" for name, rates in _RATES.items() for rate in rates)
"""Constellations and code rates as they are written."""

_CODED_BITS = {"normal": 64_800, "short": 16_200}
#: Symbols of a slot, and of the header of a PLFRAME (section 5.5).
_SLOT = 90
#: A block of pilots after every 16 slots but the last ones (section 5.5.3).
_PILOTS, _SLOTS_BETWEEN = 36, 16
#: Octets of the header of a BBFRAME (section 5.1.6).
BB_HEADER = 10


@dataclass(frozen=True)
class Frame:
    """One frame of the physical layer, and what is in it.

    Attributes:
        symbols: of the frame, header and pilots included.
        payload_symbols: of those, that carry coded bits.
        coded_bits: of the code word.
        information: octets of the BBFRAME, its header included.
    """

    symbols: int
    payload_symbols: int
    coded_bits: int
    information: int


def frame_of(modcod: str, size: str, pilots: bool) -> Frame | None:
    """The frame of a modulation and code; none where a short frame does not have the code rate.

    >>> frame_of("QPSK 1/2", "normal", pilots=False)
    Frame(symbols=32490, payload_symbols=32400, coded_bits=64800, information=4026)
    """
    name, rate = modcod.split(" ")
    information = _INFORMATION[rate][size == "short"]
    if not information:
        return None
    coded = _CODED_BITS[size]
    payload = coded // _BITS[name]
    slots = payload // _SLOT
    blocks = (slots - 1) // _SLOTS_BETWEEN if pilots else 0
    symbols = _SLOT * (1 + slots) + _PILOTS * blocks
    return Frame(symbols, payload, coded, information // 8)


def layers_of(frame: Frame, split: int) -> dict[str, Fraction]:
    """Shares of a carrier's symbols, by layer, in the order of the layers; together 1.

    Args:
        frame: of the carrier.
        split: octets in each frame that the encapsulation takes for a packet that is split.
    """
    physical = Fraction(frame.payload_symbols, frame.symbols)
    code = physical * 8 * frame.information / frame.coded_bits
    octet = code / frame.information
    return {
        "physical layer header and pilots": 1 - physical,
        "code": physical - code,
        "BBFRAME header": BB_HEADER * octet,
        "split packets": split * octet,
        "packets": (frame.information - BB_HEADER - split) * octet,
    }
