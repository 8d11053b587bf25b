"""What a carrier gives over a year: Es/N0, MODCOD and rate by availability, and their mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from skycell.input.faults import Verbatim
from skycell.input.quantities import Dimension
from skycell.link.budget import c_n_i_db, cases, ip_bps, modcod_at, ratio_db, usual_weather
from skycell.link.carrier import Carrier
from skycell.link.file import GREATEST_AVAILABILITY, LEAST_AVAILABILITY

_LEVELS = (50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
"""Per cent of a year that are in a table."""
_DRAWN = 240
"""Points of a curve."""
_SUMMED = 2000
"""Slices of a year for its mean, evenly spaced in the logarithm of what is exceeded."""


@dataclass(frozen=True)
class AvailabilityPoint:
    """A carrier at a part of a year.

    Attributes:
        availability: per cent.
        attenuation_db: of each hop, by its key, in its own weather.
        ratio_db: Es/N0, or Eb/N0 of a bit rate.
        modcod: highest that may be used; None in an outage, and for a bit rate.
        ip_bps: IP packets in bit/s; 0 in an outage, None for a bit rate.
    """

    availability: float
    attenuation_db: dict[str, float]
    ratio_db: float
    modcod: str | None
    ip_bps: float | None


@dataclass(frozen=True)
class AvailabilityCurve:
    """A carrier over the parts of a year.

    Attributes:
        title: of the file.
        points: a few, for a table.
        drawn: many, for a picture.
        mean_ip_bps: rate of IP over the year; None for a bit rate.
        least_availability: up to which the weather of the mean is that at this part of a year.
        greatest_availability: from which on the mean counts an outage.
    """

    title: str
    points: tuple[AvailabilityPoint, ...]
    drawn: tuple[AvailabilityPoint, ...]
    mean_ip_bps: float | None
    least_availability: float
    greatest_availability: float

    def as_dict(self) -> dict[str, Any]:
        """The points of the table and the mean, for a program."""
        known = asdict(self)
        del known["drawn"]
        return known


def availability_curve(carrier: Carrier, low: float, high: float) -> AvailabilityCurve:
    """A carrier from one availability to another.

    Args:
        carrier: without faults, whose weather varies.
        low: per cent.
        high: per cent, above low.

    Raises:
        ScenarioFaults: no weather varies, or it is not known for one of them.
    """
    least, most = _known(carrier)
    _check(carrier, low, high, least, most)
    between = {float(level) for level in _LEVELS if 100 - high < level < 100 - low}
    levels = sorted({100 - low, 100 - high, *between}, reverse=True)
    first, last = max(levels[0], least), max(levels[-1], least)
    ratio = (last / first) ** (1 / (_DRAWN - 1))
    drawn = [first * ratio**i for i in range(_DRAWN)]
    own = carrier.file.carrier
    mean = None
    if own.rate.dimension is Dimension.SYMBOL_RATE:
        mean = sum(
            part * (at(carrier, percent).ip_bps or 0) for percent, part in _year(least, most)
        )
    return AvailabilityCurve(
        carrier.title,
        tuple(at(carrier, percent) for percent in levels),
        tuple(at(carrier, percent) for percent in drawn),
        mean,
        100 - most,
        100 - least,
    )


def at(carrier: Carrier, percent: float) -> AvailabilityPoint:
    """A carrier in the weather of a per cent of a year, by the lines of the hops' curves."""
    own, ways = carrier.file.carrier, carrier.ways
    bad = {name: way.fade.curve.at(percent) for name, way in ways.items()}
    usual = {name: usual_weather(way).total for name, way in ways.items()}
    ratio = min(
        ratio_db(own, [c_n_i_db(own, ways[name], case[name]) for name in ways])
        for case in cases(carrier, bad, usual)
    )
    if own.rate.dimension is not Dimension.SYMBOL_RATE:
        return AvailabilityPoint(100 - percent, bad, ratio, None, None)
    modcod = modcod_at(own, ratio)
    rate = 0.0 if modcod is None else ip_bps(own, modcod)
    name = None if modcod is None else modcod.name
    return AvailabilityPoint(100 - percent, bad, ratio, name, rate)


def _known(carrier: Carrier) -> tuple[float, float]:
    """Returns the percentages of a year between which the weather of all hops is known."""
    ranges = [way.fade.range_percent for way in carrier.ways.values()]
    return max(least for least, _ in ranges), min(most for _, most in ranges)


def _year(least: float, most: float) -> Iterator[tuple[float, float]]:
    """Returns slices of a year: the per cent in the middle of each, and its part of the year.

    What is exceeded for more than `most` per cent counts as `most`; in `least` nothing goes.
    """
    yield most, 1 - most / 100
    step = math.log(most / least) / _SUMMED
    for i in range(_SUMMED):
        low, high = least * math.exp(i * step), least * math.exp((i + 1) * step)
        yield math.sqrt(low * high), (high - low) / 100


def _check(carrier: Carrier, low: float, high: float, least: float, most: float) -> None:
    faults = carrier.collector()
    where = ("carrier", "availability")
    got = Verbatim(f"{low:g} % to {high:g} %")
    if not carrier.varies:
        allowed = 'no availability: no weather depends on it; rain = "itu" and rain_table do'
        faults.add(where, got, allowed)
    elif not 100 - most - 1e-9 <= low < high <= 100 - least + 1e-9:
        bounds = max(LEAST_AVAILABILITY, 100 - most), min(GREATEST_AVAILABILITY, 100 - least)
        allowed = f"from {bounds[0]:g} % to {bounds[1]:g} %, the lower one first"
        faults.add(where, got, allowed)
    faults.raise_if_any()
