"""Places on the earth: the built-in cities, built-in lists of cities, and the user's own."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from io import StringIO
from os import PathLike, fspath
from typing import Any

from skycell.input.account import Account, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.spelling import hint
from skycell.input.text import csv_faults, read_text

_COLUMNS = ("name", "latitude_deg", "longitude_deg")
_RANGES = {
    "latitude_deg": (-90.0, 90.0, "degrees, north positive"),
    "longitude_deg": (-180.0, 360.0, "degrees, east positive"),
    "height_km": (-1.0, 100.0, "km above the surface"),
    "mask_deg": (-90.0, 90.0, "elevation from which a satellite is visible, degrees"),
    "max_range_km": (1.0, 1_000_000.0, "longest slant range at which a satellite is visible, km"),
    "gso_exclusion_deg": (0.0, 90.0, "smallest angle from the geostationary orbit, degrees"),
}
_POPULATION = re.compile("[1-9][0-9]{0,10}")
_READ = frozenset({*_COLUMNS, *_RANGES, "height_m", "horizon", "id", "population"})
_SECTOR = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?):(-?[0-9]{1,2}(?:\.[0-9]+)?)")
_POINT = re.compile(r"([+-]?\d+(?:\.\d+)?),([+-]?\d+(?:\.\d+)?)(?:,([+-]?\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class Place:
    """A place on the earth.

    Attributes:
        name: what tables call it.
        latitude_deg: north positive, -90 to 90.
        longitude_deg: east positive, -180 to 360.
        height_km: above the surface.
        mask_deg: elevation from which a satellite is visible; the constellation's if None.
        max_range_km: longest slant range at which one is visible; the constellation's if None.
        gso_exclusion_deg: smallest angle from the geostationary orbit; the constellation's if None.
        horizon_deg: from each azimuth on a higher mask; the constellation's if None.
        population: people who live there; None where nothing is known.
    """

    name: str
    latitude_deg: float
    longitude_deg: float
    height_km: float = 0.0
    mask_deg: float | None = None
    max_range_km: float | None = None
    gso_exclusion_deg: float | None = None
    horizon_deg: tuple[tuple[float, float], ...] | None = None
    population: int | None = None


PLACE_LISTS = ("cities-100", "cities-1000")
"""Names of the built-in lists of places."""


@cache
def cities() -> Mapping[str, Place]:
    """The built-in cities by name: centres to 0.01 degrees, about a kilometre.

    >>> cities()["new_york"].latitude_deg
    40.71
    """
    text = resources.files(__package__ or __name__).joinpath("cities.csv").read_text("utf-8")
    return {place.name: place for place in parse_places(text, "cities.csv").places}


@cache
def named_places(name: str) -> tuple[Place, ...]:
    """The places of a built-in list, with their populations.

    `cities-1000` are the thousand most populous cities, the greatest first; `cities-100` are those
    hundred of them that Hypatia's experiments have, in Hypatia's order. `tools/city_list.py` wrote
    them, and says from which sources.

    Raises:
        ScenarioFaults: there is no such list.

    >>> [place.name for place in named_places("cities-100")[:3]]
    ['tokyo', 'delhi', 'shanghai']
    """
    if name not in PLACE_LISTS:
        allowed = f"a built-in list: {', '.join(PLACE_LISTS)}{hint(name, PLACE_LISTS)}"
        raise ScenarioFaults([Fault("places", "", show_value(name), allowed)])
    text = resources.files(__package__ or __name__).joinpath("cities-1000.csv").read_text("utf-8")
    every = parse_places(text, name).places
    if name == "cities-1000":
        return every
    ranks = [row["hundred"] for row in csv.DictReader(StringIO(text))]
    hundred = {int(rank): place for rank, place in zip(ranks, every, strict=True) if rank}
    return tuple(hundred[rank] for rank in sorted(hundred))


def read_places(path: str | PathLike[str]) -> list[Place]:
    """The places of a built-in list, or of a CSV file.

    The file has the columns name, latitude_deg and longitude_deg. The columns height_km (or
    height_m), mask_deg, max_range_km, gso_exclusion_deg, horizon and population are optional,
    others are passed over. A horizon is azimuths with the mask from each on, such as
    `90:40 180:10`. Also read are ground stations of Hypatia's: no header, and in each line a number
    from 0, the name, latitude, longitude and height in metres, perhaps Cartesian coordinates after.

    Raises:
        ScenarioFaults: with every fault of the file, or there is no such file.
        OSError: the file cannot be read.
    """
    try:
        return list(account_of_places(path, fspath(path)).places)
    except FileNotFoundError:
        name = fspath(path)
        allowed = f"a file of places, or a built-in list: {', '.join(PLACE_LISTS)}"
        allowed += hint(name, PLACE_LISTS)
        raise ScenarioFaults([Fault(name, "", "no such file", allowed)]) from None


def account_of_places(path: str | PathLike[str], written: str) -> ReadPlaces:
    """The places of a built-in list or of a file, and what was left aside.

    Args:
        path: the file.
        written: the name as the user wrote it, which may be that of a list.

    Raises:
        ScenarioFaults: with every fault of the file.
        OSError: the file cannot be read.
    """
    if written in PLACE_LISTS:
        places = named_places(written)
        return ReadPlaces(places, Account(written, "built-in list", {"places": len(places)}))
    return parse_places(read_text(path), fspath(path))


@dataclass(frozen=True)
class ReadPlaces:
    """The places of a file, and what was read of it and left aside."""

    places: tuple[Place, ...]
    account: Account


def parse_places(text: str, name: str) -> ReadPlaces:
    """The places of a text.

    Raises:
        ScenarioFaults: with every fault.
    """
    with csv_faults(name):
        return _read(text, name)


def _read(text: str, name: str, added: int = 0) -> ReadPlaces:
    """The places of a text, before which so many lines were added."""
    reader = csv.DictReader(StringIO(text, newline=""))
    header = [column.strip() for column in reader.fieldnames or []]
    reader.fieldnames = header
    missing = [column for column in _COLUMNS if column not in header]
    if missing and header[:1] == ["0"] and len(header) in _HYPATIA_FIELDS:
        return _read(f"{_HYPATIA_HEADER}\n{text}", name, added=1)
    if missing:
        got = ", ".join(map(show_value, header)) or "nothing"
        allowed = f"a header with {', '.join(_COLUMNS)}; {', '.join(missing)} missing"
        raise ScenarioFaults([Fault(name, "", got, allowed, line=1, column=1)])
    places: dict[str, Place] = {}
    faults: list[Fault] = []
    cut = 0
    for row in reader:
        line = reader.line_num - added
        # Hypatia's lines may end in Cartesian coordinates, which say nothing more.
        cut += 0 if added else len(row.get(None) or ())
        own = (row["name"] or "").strip()
        if not own or own in places:
            got = f"{show_value(own)} for a second time" if own else "nothing"
            faults.append(Fault(name, "name", got, "a different name", line=line))
        numbers: dict[str, Any] = {}
        if (row.get("height_m") or "").strip():
            row["height_km"] = _kilometres(row["height_m"])
        for column in _RANGES:
            written = (row.get(column) or "").strip()
            if written or column in _COLUMNS:
                numbers[column] = _number(written, name, column, line, faults)
        places[own] = Place(
            own,
            **numbers,
            horizon_deg=_horizon((row.get("horizon") or ""), name, line, faults),
            population=_population((row.get("population") or "").strip(), name, line, faults),
        )
    if faults:
        raise ScenarioFaults(faults)
    unknown = [column or "a column without a name" for column in header if column not in _READ]
    aside = [LeftAside("column", len(unknown), tuple(unknown))] if unknown else []
    if cut:
        why = "they have no column in the header"
        aside.append(LeftAside("value", cut, why=why))
    account = Account(name, "table of places", {"places": len(places)}, None, tuple(aside))
    return ReadPlaces(tuple(places.values()), account)


#: Of Hypatia's files of ground stations, without and with Cartesian coordinates.
_HYPATIA_FIELDS = (5, 8)
_HYPATIA_HEADER = "id,name,latitude_deg,longitude_deg,height_m"


def _kilometres(metres: str) -> str:
    """A height in km; what is no number stays as it is."""
    try:
        return repr(float(metres) / 1000)
    except ValueError:
        return metres


def _horizon(
    written: str, name: str, line: int, faults: list[Fault]
) -> tuple[tuple[float, float], ...] | None:
    """Azimuths with the mask from each on, ascending; None where nothing is written."""
    if not written.strip():
        return None
    found = [_SECTOR.fullmatch(word) for word in written.split()]
    sectors = [(float(f[1]), float(f[2])) for f in found if f and float(f[1]) <= 360]
    if len(sectors) < len(found) or any(abs(mask) > 90 for _, mask in sectors):
        allowed = "azimuths from 0 to 360 with a mask from -90 to 90 each, such as 90:40 180:10"
        faults.append(Fault(name, "horizon", show_value(written), allowed, line=line))
    return tuple(sorted(sectors))


def _population(written: str, name: str, line: int, faults: list[Fault]) -> int | None:
    """A number of people; None where nothing is written."""
    if written and not _POPULATION.fullmatch(written):
        allowed = "a whole number from 1 to 99999999999, or nothing"
        meaning = "people who live there"
        faults.append(Fault(name, "population", show_value(written), allowed, meaning, line=line))
        return None
    return int(written) if written else None


def _number(written: str, name: str, column: str, line: int, faults: list[Fault]) -> float:
    low, high, meaning = _RANGES[column]
    try:
        number = float(written)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        allowed = f"a number from {low:g} to {high:g}"
        faults.append(Fault(name, column, show_value(written), allowed, meaning, line=line))
    return number


def find_places(
    names: Iterable[str], own: Iterable[Place] = (), *, with_lists: bool = False
) -> list[Place]:
    """The places of some names, each a place of one's own, a built-in city, or a point.

    Args:
        names: such as `new_york` or `New York`, or latitude, longitude and perhaps height:
            `52.5,13.4` or `46.5,8.0,3.5`.
        own: places that come before the cities.
        with_lists: whether a name may be that of a built-in list, which stands for all its places.

    Raises:
        ScenarioFaults: with every name that is none.

    >>> find_places(["52.5,13.4"])[0].longitude_deg
    13.4
    """
    known = {**cities(), **{place.name: place for place in own}}
    found: list[Place] = []
    faults: list[Fault] = []
    for name in names:
        point = _POINT.fullmatch(name.replace(" ", ""))
        wanted = name.strip().lower().replace(" ", "_")
        if name in known or wanted in known:
            found.append(known.get(name) or known[wanted])
        elif point:
            found.append(_point(name.strip(), point, faults))
        elif with_lists and name in PLACE_LISTS:
            found.extend(named_places(name))
        else:
            allowed = "a place of the file given, a built-in city, or latitude,longitude"
            if with_lists:
                allowed += f"; or a built-in list: {', '.join(PLACE_LISTS)}"
            allowed += hint(wanted, (*known, *PLACE_LISTS) if with_lists else known)
            faults.append(Fault("places", "", show_value(name), allowed))
    if faults:
        raise ScenarioFaults(faults)
    return found


def _point(name: str, point: re.Match[str], faults: list[Fault]) -> Place:
    texts = zip(("latitude_deg", "longitude_deg", "height_km"), point.groups(), strict=True)
    numbers: dict[str, Any] = {}
    for column, text in texts:
        if text is not None:
            low, high, meaning = _RANGES[column]
            numbers[column] = float(text)
            if not low <= numbers[column] <= high:
                allowed = f"a number from {low:g} to {high:g}"
                faults.append(Fault("places", name, text, allowed, meaning))
    return Place(name, **numbers)
