"""Moments as orbit data messages write them, in any time system that can be brought to UTC."""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import UTC, datetime, timedelta

EPOCH_YEARS = (1957, 2100)
"""From the first satellite on."""

#: CCSDS 502.0-B-3, section 7.5.10: a date, or year and day of the year; also a blank for the T.
_EPOCH = re.compile(
    r"([0-9]{4}-(?:[0-9]{2}-[0-9]{2}|[0-9]{3}))[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]*)?[Zz]?"
)
_SECOND_NS = 10**9
#: What a time system is ahead of TAI, ns. TDB is within 2 ms of TT (15 m of a low orbit).
_AHEAD_OF_TAI_NS = {
    "TAI": 0,
    "GPS": -19 * _SECOND_NS,
    "TT": 32_184_000_000,
    "TDT": 32_184_000_000,
    "TDB": 32_184_000_000,
}
TIME_SYSTEMS = ("UTC", *_AHEAD_OF_TAI_NS)
"""Time systems whose moments are read; the others of CCSDS 502.0 need a table or a clock."""

#: The leap seconds: from the beginning of a month on, TAI - UTC is 10 s and one more with each
#: after the first (IERS, Bulletin C; none since 2017).
_LEAPS = [
    datetime(year, month, 1, tzinfo=UTC)
    for year, month in [
        *[(1972, 1), (1972, 7), (1973, 1), (1974, 1), (1975, 1), (1976, 1), (1977, 1), (1978, 1)],
        *[(1979, 1), (1980, 1), (1981, 7), (1982, 7), (1983, 7), (1985, 7), (1988, 1), (1990, 1)],
        *[(1991, 1), (1992, 7), (1993, 7), (1994, 7), (1996, 1), (1997, 7), (1999, 1), (2006, 1)],
        *[(2009, 1), (2012, 7), (2015, 7), (2017, 1)],
    ]
]
_LEAPS_NS = [round(leap.timestamp()) * _SECOND_NS for leap in _LEAPS]


def read_epoch(written: object, system: str = "UTC") -> int | None:
    """Nanoseconds of UTC since 1970 of a moment as it is written; None for what is none.

    Args:
        written: a date, or a year and a day of it, with T or a blank before the time of day.
        system: one of `TIME_SYSTEMS`; others than UTC are read from 1972 on.

    >>> read_epoch("1980-006T00:00:19", "TAI") == read_epoch("1980-01-06 00:00:00", "UTC")
    True
    """
    found = _EPOCH.fullmatch(written.strip()) if isinstance(written, str) else None
    if found is None:
        return None
    day, time, fraction = found.groups(default="")
    form = "%Y-%m-%d" if len(day) == len("2026-11-21") else "%Y-%j"
    try:
        moment = datetime.strptime(f"{day} {time}", f"{form} %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    if not EPOCH_YEARS[0] <= moment.year <= EPOCH_YEARS[1]:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    unix_ns = (since.days * 86_400 + since.seconds) * _SECOND_NS
    unix_ns += int(f"{fraction[1:10]:0<9}")
    return unix_ns if system == "UTC" else _utc_ns(unix_ns - _AHEAD_OF_TAI_NS[system])


def _utc_ns(tai_ns: int) -> int | None:
    """A moment of UTC by what clocks of TAI show; None before 1972: no whole seconds apart."""
    leaps = [at_ns + (10 + place) * _SECOND_NS for place, at_ns in enumerate(_LEAPS_NS)]
    known = bisect_right(leaps, tai_ns)
    return tai_ns - (9 + known) * _SECOND_NS if known else None


def show_epoch(unix_ns: int) -> str:
    """A moment in the form that SGP4's reader takes.

    >>> show_epoch(1_594_516_747_402_656_000)
    '2020-07-12T01:19:07.402656'
    """
    whole, part = divmod(unix_ns, _SECOND_NS)
    moment = datetime(1970, 1, 1) + timedelta(seconds=whole)
    digits = f"{part:09}".rstrip("0")
    return moment.isoformat() + (f".{digits}" if digits else "")
