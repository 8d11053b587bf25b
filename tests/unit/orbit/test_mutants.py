"""Damaged files of satellites: each is read, or leaves with faults, whatever was damaged.

A few hundred mutants of each form are tried; with SKYCELL_MUTANTS=10000 that many.
"""

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.input.toml_text import read_toml
from skycell.orbit import as_constellation
from skycell.orbit.constellation import Constellation
from skycell.orbit.elements import sets_of
from skycell.orbit.ephemeris import ephemerides_of
from skycell.orbit.fleet import Fleet
from skycell.orbit.grid import read_pairs
from skycell.orbit.places import parse_places
from skycell.orbit.validity import validity
from tests.unit.orbit.test_accounts import meme
from tests.unit.orbit.test_accuracy import oem
from tests.unit.orbit.test_elements import FIELDS, TLE, as_csv, as_json, as_kvn, as_xml

MUTANTS = int(os.environ.get("SKYCELL_MUTANTS", "200"))

XML = """<?xml version="1.0"?><oem id="CCSDS_OEM_VERS" version="2.0"><body><segment><metadata>
<OBJECT_NAME>A</OBJECT_NAME><OBJECT_ID>1</OBJECT_ID><CENTER_NAME>EARTH</CENTER_NAME>
<REF_FRAME>TEME</REF_FRAME><TIME_SYSTEM>UTC</TIME_SYSTEM></metadata><data>
<stateVector><EPOCH>2024-01-01T00:00:00</EPOCH><X>6790</X><Y>0</Y><Z>0</Z><X_DOT>0</X_DOT>
<Y_DOT>4.759122</Y_DOT><Z_DOT>6.004503</Z_DOT></stateVector>
<stateVector><EPOCH>2024-01-01T00:01:00</EPOCH><X>6774.252</X><Y>285.212</Y><Z>359.848</Z>
<X_DOT>-1.064</X_DOT><Y_DOT>4.748</Y_DOT><Z_DOT>5.990</Z_DOT></stateVector>
</data></segment></body></oem>"""

PLACES = (
    "name,latitude_deg,longitude_deg,height_m,mask_deg,horizon\nhut,46,8,2500,10,90:40 180:10\n"
)

#: What is put into a text.
PIECES = [
    *["", " ", "\t", "\n", "\r", "\0", "\x1b[2J", "\ufeff", "\u2028", "é", "١", "²", r"\ud800"],
    *[",", ";", "=", ":", '"', "'", "{", "[", "]", "}", "<", ">", "&", "/", "#", "-", "+", "."],
    *["nan", "inf", "-1", "1e999", "1e-999", "9" * 400, "0x1", "1_0", "NaN", "null", "true"],
    *["META_START", "META_STOP", "COVARIANCE_START", "CCSDS_OMM_VERS = 2", "1 ", "2 ", "0 "],
    *["2024-01-01T00:00:60", "0000-00-00", "9999-999T99:99:99", "LINEAR", "LAGRANGE", "27", "28"],
]


def mutant(text: str, draw: random.Random) -> str:
    """A text with one to four damages: signs, lines, numbers lost, doubled, moved, replaced."""
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        at = draw.randrange(len(text) + 1)
        end = min(len(text), at + draw.choice([1, 1, 2, 7, 40, 300]))
        lines = text.splitlines(keepends=True)
        damage = draw.randrange(8)
        if damage == 0:
            text = text[:at] + text[end:]
        elif damage == 1:
            text = text[:at] + draw.choice(PIECES) + text[at:]
        elif damage == 2:
            text = text[:at] + draw.choice(PIECES) + text[end:]
        elif damage == 3:
            text = text[:end] + text[at:]
        elif damage == 4 and lines:
            line = draw.randrange(len(lines))
            lines.insert(draw.randrange(len(lines) + 1), lines.pop(line))
            text = "".join(lines)
        elif damage == 5 and lines:
            line = draw.randrange(len(lines))
            text = "".join([*lines[:line], *lines[line : line + 1] * 2, *lines[line + 1 :]])
        elif damage == 6:
            text = text[:at]
        else:
            digits = [place for place, sign in enumerate(text) if sign.isdigit()]
            if digits:
                place = draw.choice(digits)
                text = text[:place] + draw.choice("0123456789-.eE") + text[place + 1 :]
    return text


def used(fleet: Fleet, pattern: dict[str, Any], epoch: str) -> None:
    """Uses satellites as every verb does, between two moments."""
    if not fleet.names:
        return
    values = {"pattern": {**pattern, "file": "x"}, "earth": {"epoch": epoch}}
    sky = Constellation("x", values)
    sky.__dict__["fleet"] = fleet  # what is read from a file otherwise
    sky.__dict__["own_places"] = sky.__dict__["file_links"] = ()
    validity(sky, 0, 60 * 10**12)


def elements(text: str) -> None:
    read = sets_of(text, "x")
    fleet = Fleet(read.sets, (), read.faulty, None, read.account)
    # The sets are of 2006 and of 2020.
    for day in ("2006-06-26", "2020-07-12"):
        pattern = {"kind": "elements", "faulty": "leave_out", "farthest": "8000 h"}
        if any(entry.omm["EPOCH"].startswith(day[:4]) for entry in read.sets):
            used(fleet, pattern, f"{day}T02:00:00Z")


def ephemerides(text: str) -> None:
    read = ephemerides_of(text, "x")
    fleet = Fleet((), read.satellites, read.faulty, None, read.account)
    used(fleet, {"kind": "ephemeris"}, "2024-01-01T00:00:00Z")


#: A whole file of each form, and its reader.
FORMS: dict[str, tuple[str, Callable[[str], object]]] = {
    "tle": ("\n".join(TLE.read_text("utf-8").splitlines()[:9]), elements),
    "omm csv": (as_csv(FIELDS), elements),
    "omm json": (as_json(FIELDS), elements),
    "omm kvn": (as_kvn(FIELDS), elements),
    "omm xml": (as_xml(FIELDS), elements),
    "oem kvn": (oem(60, "HERMITE 7"), ephemerides),
    "oem xml": (XML, ephemerides),
    "meme": (meme(5), ephemerides),
    "isls": ("0 1\n1 2\n2,3\n", lambda text: read_pairs(text, "x", 4)),
    "places": (PLACES, lambda text: parse_places(text, "x")),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_damaged_file_is_read_or_leaves_with_faults(form: str) -> None:
    whole, read = FORMS[form]
    read(whole)
    outcomes = set()
    for seed in range(MUTANTS):
        text = mutant(whole, random.Random(f"{form} {seed}"))
        outcomes.add(_is_refused(read, text, f"mutant {seed} of {form}"))
    # Damage is seen in some files, and not in all: a sign of a name may change.
    assert outcomes == {True, False}


def test_a_damaged_constellation_file_leaves_with_faults() -> None:
    whole = 'preset = "iridium-like"\n[links]\nkind = "grid"\nclearance = "80 km"\n'
    for seed in range(MUTANTS):
        text = mutant(whole, random.Random(f"toml {seed}"))
        _is_refused(lambda text: as_constellation(read_toml(text, "x")[0]), text, f"mutant {seed}")


def _is_refused(read: Callable[[str], object], text: str, name: str) -> bool:
    """Whether a text has faults, each of which says what was found and what is allowed."""
    try:
        read(text)
    except ScenarioFaults as refused:
        faults = refused.faults
    except Exception as error:
        raise AssertionError(f"{name}: {text!r}") from error
    else:
        return False
    assert faults
    assert all(fault.got and fault.allowed for fault in faults), (name, text)
    return True
