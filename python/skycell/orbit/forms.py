"""What a file of satellites is, where it is none that a pattern reads."""

from __future__ import annotations

import re

from skycell.input.faults import Fault

ELEMENTS = "TLE, or OMM as CSV, JSON, XML or KVN"
EPHEMERIDES = "OEM as KVN or XML, or an ephemeris of SpaceX's (MEME_*.txt)"

#: Forms by how they begin, what they are, and the pattern that reads them.
_FORMS = (
    (
        re.compile(r"CCSDS_OEM_VERS|<[^>]*oem\b", re.I),
        "an orbit ephemeris message (OEM)",
        "ephemeris",
    ),
    (re.compile(r"created:.*\s+ephemeris_start:"), "an ephemeris of SpaceX's", "ephemeris"),
    (
        re.compile(r"CCSDS_OMM_VERS|<[^>]*omm\b|\[?\s*\{.*\"MEAN_MOTION\"", re.I | re.S),
        "orbit mean-elements messages (OMM)",
        "elements",
    ),
    (re.compile(r"(?:.*\n)?1 [ A-Z0-9]{5}[UCS ] .*\r?\n2 "), "two-line elements (TLE)", "elements"),
    (re.compile(r"CCSDS_OPM_VERS"), "an orbit parameter message (OPM), one state", ""),
    (re.compile(r"CCSDS_TDM_VERS"), "a tracking data message (TDM)", ""),
    (re.compile(r"CCSDS_CDM_VERS"), "a conjunction data message (CDM)", ""),
    (re.compile(r"#[a-d][PV][0-9 ]{4} "), "precise orbits in SP3", ""),
    (re.compile(r"H1 +CPF", re.I), "a prediction for laser ranging (CPF)", ""),
    (re.compile(r"stk\.v\.", re.I), "an ephemeris of STK (.e)", ""),
    (re.compile(r".*RINEX VERSION / TYPE"), "a RINEX file", ""),
    (re.compile(r"<!DOCTYPE html|<html", re.I), "a web page", ""),
)
#: Of a text, in which its form is looked for.
_BEGINNING = 4000


def not_this_form(text: str, name: str, pattern: str) -> Fault:
    """The fault of a text in which a pattern finds no satellite.

    Args:
        text: of the file.
        name: what the fault calls it.
        pattern: `elements` or `ephemeris`.

    >>> print(not_this_form("#cP2024  1  1  0  0  0.0", "a.sp3", "ephemeris").got)
    precise orbits in SP3
    """
    allowed = ELEMENTS if pattern == "elements" else EPHEMERIDES
    beginning = text[:_BEGINNING].lstrip("\ufeff \t\r\n")
    for form, what, reader in _FORMS:
        if form.match(beginning):
            if reader and reader != pattern:
                allowed += f'; pattern.kind = "{reader}" reads this file'
            elif reader:
                what += " without a satellite"
            return Fault(name, "", what, allowed, "the satellites")
    got = "no element set" if pattern == "elements" else "no ephemeris"
    return Fault(name, "", got, allowed, "the satellites")
