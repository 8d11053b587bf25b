"""Ephemerides as SpaceX publishes them, a file a satellite: its modified ITC form, as text.

A header of four lines says when the file was made, from when to when it reaches and by which step,
its source, and the axes of the covariance (UVW). Each state has a line: moment as year, day of the
year and time without signs between them, position (km) and velocity (km/s). The axes are the mean
equator and equinox of 2000, as the file's name begins (MEME). Three lines follow with the lower
half of the covariance.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from skycell.input.faults import Fault, show_value
from skycell.orbit.oem_text import Line, MessageText, SegmentText

_HEADER = re.compile(r"\s*created:.*\s+ephemeris_start:")
_HEADER_KEYS = ("created:", "ephemeris_start:", "ephemeris_source:", "UVW")
_MOMENT = re.compile(r"([0-9]{4})([0-9]{3})([0-9]{2})([0-9]{2})([0-9]{2}(?:\.[0-9]+)?)")
_NAMED = re.compile(r"MEME_([0-9]{1,9})_([^_]+)_")
_NUMBERS = re.compile(r"[-+.0-9eE \t]+")
#: Words of a line of covariance.
_COVARIANCE = 7


def is_meme(text: str) -> bool:
    """Whether a text is such a file."""
    return _HEADER.match(text[:2000]) is not None


def read_meme(text: str, name: str) -> MessageText:
    """The states of a text; the satellite's name and number are those of the file's name.

    Args:
        text: of the file.
        name: of the file, with its folders.
    """
    file = PurePath(name).name
    named = _NAMED.match(file)
    number, satellite = named.groups() if named else ("", PurePath(name).stem)
    keywords = {
        "OBJECT_NAME": satellite,
        "OBJECT_ID": number,
        "CENTER_NAME": "EARTH",
        "REF_FRAME": "EME2000",
        "TIME_SYSTEM": "UTC",
    }
    segment = SegmentText("line 1", keywords)
    found = MessageText("SpaceX ephemeris in its modified ITC form", [segment])
    covariance_lines = 0
    for line, written in enumerate(text.splitlines(), start=1):
        words = written.split()
        moment = _MOMENT.fullmatch(words[0]) if words else None
        if moment and len(words) == 7:
            year, day, hours, minutes, seconds = moment.groups()
            epoch = f"{year}-{day}T{hours}:{minutes}:{seconds}"
            segment.lines.append(Line(f"line {line}", epoch, tuple(words[1:])))
        elif len(words) == _COVARIANCE and _NUMBERS.fullmatch(written):
            covariance_lines += 1
        elif words and not written.startswith(_HEADER_KEYS):
            allowed = (
                "a moment such as 2026116183742.000 with six numbers, or seven of a covariance"
            )
            fault = Fault(name, "", show_value(written.strip()), allowed, "a state", line=line)
            segment.faults.append(fault)
    found.covariances = covariance_lines // 3
    return found
