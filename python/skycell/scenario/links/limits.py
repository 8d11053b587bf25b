"""The limits of numbers that drive a link, whatever file they come from."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from skycell.input.faults import show_value
from skycell.input.quantities import DAY_PS, show_amount, show_time
from skycell.scenario.links.schedule import LONGEST_PS

MOST_BPS = 10**15
"""Of a rate: a thousand Tbit/s, above any link."""
LATEST_PS = 2**63 - 1
"""Last moment of a series that a spec can hold: 106 days."""
LONGEST_SPAN_PS = 10_000 * DAY_PS
"""From the first to the last stamp of a file. A greater one is a damaged stamp."""
_LONGEST_NUMBER = 64
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")


class OutOfLimitsError(ValueError):
    """A value that no link has: what was found, what is allowed, and where in a document it is."""

    def __init__(self, got: str, allowed: str, path: str = "") -> None:
        super().__init__(got, allowed)
        self.got = got
        self.allowed = allowed
        self.path = path


def number(value: Any, *, decimal_comma: bool = False) -> Fraction:
    """An exact number from a text or a JSON value.

    >>> number("2.5e3"), number("30,5", decimal_comma=True)
    (Fraction(2500, 1), Fraction(61, 2))

    Raises:
        OutOfLimitsError: it is no number, or longer than any measurement.
    """
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, str):
        text = value.strip()
        if decimal_comma and text.count(",") == 1 and "." not in text:
            text = text.replace(",", ".")
        if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text):
            return Fraction(text)
    raise OutOfLimitsError(show_value(value), "a number")


def delay_ps(amount: Fraction, unit_ps: int) -> int:
    """A delay or a round trip in picoseconds, from a number of a unit.

    Raises:
        OutOfLimitsError: it is below 0 or above a day.
    """
    delay = amount * unit_ps
    if not 0 <= delay <= LONGEST_PS:
        got = f"{show_amount(amount)} x {show_time(unit_ps)}"
        raise OutOfLimitsError(got, f"a delay from 0 to {show_time(LONGEST_PS)}")
    return round(delay)


def rate_bps(amount: Fraction, unit_bps: int = 1) -> Fraction:
    """A rate in bit/s.

    Raises:
        OutOfLimitsError: it is below 0 or above any link's.
    """
    rate = amount * unit_bps
    if not 0 <= rate <= MOST_BPS:
        got = f"{show_amount(rate)} bit/s"
        raise OutOfLimitsError(got, f"a rate from 0 to {show_amount(MOST_BPS)} bit/s")
    return rate


def moment_ps(seconds: Fraction) -> int:
    """A moment in picoseconds, from seconds since any beginning.

    Raises:
        OutOfLimitsError: it is more than 10 000 years off.
    """
    most = 10_000 * 366 * DAY_PS
    moment = seconds * 10**12
    if abs(moment) > most:
        allowed = "seconds since a beginning, up to 10 000 years"
        raise OutOfLimitsError(f"{show_amount(seconds)} s", allowed)
    return round(moment)
