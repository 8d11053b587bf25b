"""Quantities as people write them: "155.52 Mbit/s", "275 ms", "12000 cells", "0.5 RTT".

A quantity is read exactly (as a fraction of base units) and keeps the text it was written with. A
unit that means different things to different people is refused, with the word to write instead.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction

PS_PER_SECOND = 10**12
PS_PER_MS = 10**9
DAY_PS = 86_400 * PS_PER_SECOND
#: Of a run, and of what the command line asks of a constellation.
LONGEST_RUN_PS = 100 * DAY_PS
#: Signals in fibre travel 1 km in 5 us, the figure that the 1996-1999 studies use
#: (NASA/CR-1999-209158, part II: "1 km links, 5 microseconds").
PS_PER_KM = 5 * 10**6
#: Bits of a cell on the link (I.361: 53 octets).
CELL_BITS = 424

#: Longer texts are no quantity; this also bounds the digits that have to be computed with.
_LONGEST_TEXT = 64


class Dimension(StrEnum):
    """What a quantity counts, in words; its base unit stands beside it."""

    TIME = "a time"  # picoseconds
    BIT_RATE = "a rate"  # bit/s
    CELL_RATE = "a rate of cells"  # cells/s
    SYMBOL_RATE = "a rate of symbols"  # symbols/s
    SIZE = "a size"  # octets
    CELLS = "a number of cells"
    FRAMES = "a number of frames"  # of one full segment
    PACKETS = "a number of packets"
    SEGMENTS = "a number of segments"  # of one MSS
    TICKS = "a number of ticks"  # of the host's clock
    RTT = "a number of RTT"  # round-trip times of the scenario, or what a link carries in them
    BDP = "a number of BDP"  # what a link carries in a round-trip time of the scenario
    PART = "a part"  # 1 for all of it
    DISTANCE = "a distance"  # km
    ANGLE = "an angle"  # degrees
    SPEED = "a speed"  # km/s
    DECIBEL = "a ratio"  # dB
    FREQUENCY = "a frequency"  # GHz
    LENGTH = "a length"  # metres
    POWER = "a power"  # W
    LEVEL = "a power over 1 W"  # dBW
    GAIN = "a gain"  # dB over an isotropic antenna
    MERIT = "a G/T"  # dB over 1/K
    TEMPERATURE = "a temperature"  # K


_UNITS: dict[str, tuple[Dimension, Fraction]] = {
    "ns": (Dimension.TIME, Fraction(10**3)),
    "us": (Dimension.TIME, Fraction(10**6)),
    "ms": (Dimension.TIME, Fraction(10**9)),
    "s": (Dimension.TIME, Fraction(10**12)),
    "min": (Dimension.TIME, Fraction(60 * 10**12)),
    "h": (Dimension.TIME, Fraction(3600 * 10**12)),
    "bit/s": (Dimension.BIT_RATE, Fraction(1)),
    "kbit/s": (Dimension.BIT_RATE, Fraction(10**3)),
    "Mbit/s": (Dimension.BIT_RATE, Fraction(10**6)),
    "Gbit/s": (Dimension.BIT_RATE, Fraction(10**9)),
    "cells/s": (Dimension.CELL_RATE, Fraction(1)),
    "kbaud": (Dimension.SYMBOL_RATE, Fraction(10**3)),
    "Mbaud": (Dimension.SYMBOL_RATE, Fraction(10**6)),
    "B": (Dimension.SIZE, Fraction(1)),
    "kB": (Dimension.SIZE, Fraction(10**3)),
    "KiB": (Dimension.SIZE, Fraction(2**10)),
    "MB": (Dimension.SIZE, Fraction(10**6)),
    "MiB": (Dimension.SIZE, Fraction(2**20)),
    "GB": (Dimension.SIZE, Fraction(10**9)),
    "GiB": (Dimension.SIZE, Fraction(2**30)),
    "TB": (Dimension.SIZE, Fraction(10**12)),
    "TiB": (Dimension.SIZE, Fraction(2**40)),
    "cells": (Dimension.CELLS, Fraction(1)),
    "cell": (Dimension.CELLS, Fraction(1)),
    "frames": (Dimension.FRAMES, Fraction(1)),
    "frame": (Dimension.FRAMES, Fraction(1)),
    "packets": (Dimension.PACKETS, Fraction(1)),
    "packet": (Dimension.PACKETS, Fraction(1)),
    "segments": (Dimension.SEGMENTS, Fraction(1)),
    "segment": (Dimension.SEGMENTS, Fraction(1)),
    "ticks": (Dimension.TICKS, Fraction(1)),
    "tick": (Dimension.TICKS, Fraction(1)),
    "RTT": (Dimension.RTT, Fraction(1)),
    "BDP": (Dimension.BDP, Fraction(1)),
    "%": (Dimension.PART, Fraction(1, 100)),
    "km": (Dimension.DISTANCE, Fraction(1)),
    "deg": (Dimension.ANGLE, Fraction(1)),
    "km/s": (Dimension.SPEED, Fraction(1)),
    "dB": (Dimension.DECIBEL, Fraction(1)),
    "MHz": (Dimension.FREQUENCY, Fraction(1, 1000)),
    "GHz": (Dimension.FREQUENCY, Fraction(1)),
    "m": (Dimension.LENGTH, Fraction(1)),
    "mW": (Dimension.POWER, Fraction(1, 1000)),
    "W": (Dimension.POWER, Fraction(1)),
    "kW": (Dimension.POWER, Fraction(1000)),
    "dBW": (Dimension.LEVEL, Fraction(1)),
    "dBi": (Dimension.GAIN, Fraction(1)),
    "dB/K": (Dimension.MERIT, Fraction(1)),
    "K": (Dimension.TEMPERATURE, Fraction(1)),
}

#: How the units of sizes are listed for people: by the first and the last of each kind.
_SIZES = {"kB": "kB to TB", "KiB": "KiB to TiB"} | dict.fromkeys(
    ("MB", "MiB", "GB", "GiB", "TB", "TiB"), ""
)

#: Units that we refuse although people write them, with the reason; of m and K only where no length
#: or temperature is meant.
_AMBIGUOUS = {
    "KB": "KB is 1000 octets to some and 1024 to others; write kB or KiB",
    "K": "K is not a unit; write kB, KiB or kbit/s",
    "M": "M is not a unit; write MB, MiB or Mbit/s",
    "G": "G is not a unit; write GB, GiB or Gbit/s",
    "m": "m is a minute to some and a metre to others; write min, or km",
    "Mb": "Mb is a megabit to some and a megabyte to others; write MB, MiB or Mbit/s",
    "Gb": "Gb is a gigabit to some and a gigabyte to others; write GB, GiB or Gbit/s",
    "kb": "kb is a kilobit to some and a kilobyte to others; write kB or KiB",
    "b": "b is a bit to some and a byte to others; write B",
    "Mb/s": "Mb/s is bits to some and bytes to others; write Mbit/s",
    "kb/s": "kb/s is bits to some and bytes to others; write kbit/s",
    "MB/s": "rates are written in bits: Mbit/s",
    "GB/s": "rates are written in bits: Gbit/s",
    "kB/s": "rates are written in bits: kbit/s",
    "dBm": "write dBW or mW; 0 dBW are 30 dBm",
    "bps": "write bit/s",
    "kbps": "write kbit/s",
    "Kbps": "write kbit/s",
    "Mbps": "write Mbit/s",
    "MBps": "rates are written in bits: Mbit/s",
    "Gbps": "write Gbit/s",
    "sec": "write s",
    "msec": "write ms",
    "usec": "write us",
    "µs": "write us",
    "μs": "write us",
    "bytes": "write B",
    "octets": "write B",
    "°": "write deg",
    "degrees": "write deg",
}

_NUMBER = r"[+-]?(?:[0-9]{1,3}(?: [0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?"
_QUANTITY = re.compile(rf"({_NUMBER})\s*(%|[^\W\d_][^\s\d]*)?")


class Refused(ValueError):
    """A text that is not a quantity, with a sentence on why."""


@dataclass(frozen=True)
class Quantity:
    """An amount in the base unit of its dimension, and the text it came from.

    >>> parse_quantity("275 ms")
    Quantity(amount=Fraction(275000000000, 1), dimension=<Dimension.TIME: 'a time'>, text='275 ms')
    """

    amount: Fraction
    dimension: Dimension
    text: str

    def __str__(self) -> str:
        return self.text


def parse_quantity(text: str) -> Quantity:
    """Reads a number with its unit, exactly.

    Raises:
        Refused: no number, no unit, or a unit that is unknown or means different things.

    >>> parse_quantity("2 KiB").amount
    Fraction(2048, 1)
    """
    stripped = text.strip()
    match = _QUANTITY.fullmatch(stripped) if len(stripped) <= _LONGEST_TEXT else None
    if match is None:
        raise Refused("a number followed by its unit is needed")
    number, unit = match.group(1), match.group(2)
    if unit is None:
        raise Refused("the unit is missing")
    if unit not in _UNITS:
        raise Refused(_why_unknown(unit))
    dimension, factor = _UNITS[unit]
    return Quantity(Fraction(number.replace(" ", "")) * factor, dimension, stripped)


def amount_in(value: Quantity, dimension: Dimension) -> Fraction | None:
    """The amount in the base unit of a dimension; none where the unit alone does not give it.

    >>> amount_in(parse_quantity("2 cells/s"), Dimension.BIT_RATE)
    Fraction(848, 1)
    """
    if value.dimension is dimension:
        return value.amount
    if {value.dimension, dimension} != {Dimension.BIT_RATE, Dimension.CELL_RATE}:
        return None
    return value.amount * CELL_BITS if dimension is Dimension.BIT_RATE else value.amount / CELL_BITS


def misfit(value: Quantity) -> str:
    """Returns what there is to say about a quantity where another dimension is needed.

    >>> misfit(parse_quantity("5 m")), misfit(parse_quantity("5 km"))
    ('m is a minute to some and a metre to others; write min, or km', '"5 km" is a distance')
    """
    unit = value.text.split()[-1].lstrip("+-.0123456789")
    return _AMBIGUOUS.get(unit) or f'"{value.text}" is {value.dimension.value}'


def rounded(value: Fraction) -> int:
    """The nearest whole number; of two the greater.

    >>> rounded(Fraction(5, 2)), rounded(Fraction(12, 5))
    (3, 2)
    """
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def units_of(*dimensions: Dimension) -> str:
    """The units of some dimensions, as a list for people, singular forms left out.

    >>> units_of(Dimension.SIZE, Dimension.SEGMENTS)
    'B, kB to TB, KiB to TiB, segments'
    """
    words = [u for u, (d, _) in _UNITS.items() if d in dimensions]
    shown = (_SIZES.get(w, w) for w in words if f"{w}s" not in words)
    return ", ".join(filter(None, shown))


def unit_pattern(*dimensions: Dimension) -> str:
    """A regular expression (ECMA flavour, for JSON Schema) of the quantities of some dimensions."""
    words = sorted(u for u, (d, _) in _UNITS.items() if d in dimensions)
    units = "|".join(re.escape(w).replace(r"\%", "%") for w in words)
    number = _NUMBER.replace("(?:", "(").replace("[+-]?", "", 1)
    return rf"^\s*\+?{number}\s*({units})\s*$"


def _why_unknown(unit: str) -> str:
    if unit in _AMBIGUOUS:
        return _AMBIGUOUS[unit]
    shown = "".join(c if c.isprintable() else "?" for c in unit[:24])
    shown += "…" if len(unit) > 24 else ""
    close = get_close_matches(unit, _UNITS, n=1, cutoff=0.6)
    return f'the unit "{shown}" is unknown' + (f"; did you mean {close[0]}?" if close else "")


LONGEST_NUMBER = 40
"""Digits that a message has of a number; the longest of ours has 20."""
_MANY_DIGITS = re.compile(rf"[0-9]{{{LONGEST_NUMBER + 1},}}")


def shortened(number: int | str) -> str:
    """A whole number, or the digits of one, as it is or by its first digits and their count.

    >>> shortened(-1234567), shortened(10**299), shortened("0" * 5000)
    ('-1234567', '100000…(300 digits)', '000000…(5000 digits)')
    """
    if isinstance(number, int):
        size = abs(number)
        if size < 10**LONGEST_NUMBER:
            return str(number)
        # Python writes out no number of more than 4300 digits. That of the digits is exact or one
        # too low, since 2^(n - 1) <= size < 2^n.
        count = int((size.bit_length() - 1) * math.log10(2)) + 1
        count += size >= 10**count
        first = size // 10 ** (count - 6)
        return f"{'-' * (number < 0)}{first}…({count} digits)"
    return number if len(number) <= LONGEST_NUMBER else f"{number[:6]}…({len(number)} digits)"


def with_short_numbers(text: str) -> str:
    """A text with each long row of digits in it `shortened`.

    >>> with_short_numbers(f"{'9' * 300} s")
    '999999…(300 digits) s'
    """
    return _MANY_DIGITS.sub(lambda digits: shortened(digits[0]), text)


def show_amount(value: Fraction | int | float) -> str:
    """A number for people: thousands apart, no exponent, at most nine digits after the point.

    >>> show_amount(366792), show_amount(0.9)
    ('366 792', '0.9')
    """
    if abs(value) >= 10**LONGEST_NUMBER:
        return shortened(int(value))
    text = (
        f"{float(value):,.9f}".rstrip("0").rstrip(".") if value != int(value) else f"{int(value):,}"
    )
    return text.replace(",", " ")


def counted(number: int, noun: str) -> str:
    """A count with what it counts, in the singular where it is one.

    >>> counted(1, "run"), counted(0, "run"), counted(1296, "run")
    ('1 run', '0 runs', '1296 runs')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_rate(bit_s: int) -> str:
    """A bit rate for people, in the largest unit that leaves a whole number.

    >>> show_rate(424), show_rate(2_000_000_000)
    ('424 bit/s', '2 Gbit/s')
    """
    for unit, factor in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if bit_s and bit_s % factor == 0:
            return f"{show_amount(bit_s // factor)} {unit}"
    return f"{show_amount(bit_s)} bit/s"


def show_time(time_ps: Fraction | int) -> str:
    """A time for people, in the largest unit that leaves a number of at least one.

    >>> show_time(550_020_000_000), show_time(7200 * 10**12), show_time(0)
    ('550.02 ms', '2 h', '0 s')
    """
    time = Fraction(time_ps)
    for unit, factor in (("h", 3600 * 10**12), ("s", 10**12), ("ms", 10**9), ("us", 10**6)):
        if time >= factor:
            return f"{show_amount(time / factor)} {unit}"
    return f"{show_amount(time / 1000)} ns" if time else "0 s"
