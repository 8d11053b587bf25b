"""What weather takes of a signal for a part of a year: given, from a table, or by ITU-R."""

from __future__ import annotations

import csv
import math
import warnings
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import StringIO
from pathlib import Path

from skycell.input.faults import (
    NOTHING,
    Fault,
    FaultCollector,
    ScenarioFaults,
    Verbatim,
    show_value,
)
from skycell.input.text import csv_faults, read_text
from skycell.link.antenna import diameter_m
from skycell.link.file import GREATEST_AVAILABILITY, ITU, LEAST_AVAILABILITY, Hop
from skycell.link.path import Geometry

PARTS = ("gases", "clouds", "rain", "scintillation")
_RECOMMENDATIONS = {
    "gases": "ITU-R P.676-12",
    "clouds": "ITU-R P.840-7",
    "rain": "ITU-R P.618-13 2.2.1.1",
    "scintillation": "ITU-R P.618-13 2.4",
}
_MOST_RAIN = 5.0
"""Per cent of a year, up to which P.618-13 2.2.1.1 has a rain attenuation."""
_FREQUENCIES = (1.0, 55.0)
"""GHz, of P.618-13 2.2.1.1."""
_LEAST_ELEVATION = 5.0
"""Degrees, from which P.618's sums of zenith values hold."""
_STEPS = 24
"""Points of a curve in a decade of percentages: lines are within 0.01 dB of the law at 30 GHz."""
_MOST_DB = 200.0
_MOST_FAULTS = 20


@dataclass(frozen=True)
class Attenuation:
    """What a signal loses on its way through the weather, dB."""

    gases: float
    clouds: float
    rain: float
    scintillation: float

    @property
    def total(self) -> float:
        """The sum of P.618-13 2.5."""
        return self.gases + math.hypot(self.rain + self.clouds, self.scintillation)


@dataclass(frozen=True)
class Curve:
    """Attenuation by the per cent of a year for which it is exceeded; lines over their logarithm.

    Attributes:
        percent: ascending.
        values: dB, for each.
    """

    percent: tuple[float, ...]
    values: tuple[float, ...]

    def at(self, percent: float) -> float:
        """Returns the attenuation; beyond the ends, that of the end."""
        if percent <= self.percent[0]:
            return self.values[0]
        if percent >= self.percent[-1]:
            return self.values[-1]
        right = bisect_left(self.percent, percent)
        low, high = self.percent[right - 1 : right + 1]
        part = math.log(percent / low) / math.log(high / low)
        return self.values[right - 1] * (1 - part) + self.values[right] * part


@dataclass(frozen=True)
class Fade:
    """The weather of a hop over a year.

    Attributes:
        stated: dB by part, of those that the file says.
        table: rain of a file; None without.
        by_itu: parts by ITU-R's recommendations.
        sources: what gives each part.
        geometry: of the hop.
        frequency_ghz: of the carrier.
        tilt_deg: of its polarisation.
        diameter_m: of the earth station's antenna; None if it is not known and not needed.
        efficiency: of that antenna.
    """

    stated: dict[str, float]
    table: Curve | None
    by_itu: frozenset[str]
    sources: dict[str, str]
    geometry: Geometry
    frequency_ghz: float
    tilt_deg: float
    diameter_m: float | None
    efficiency: float

    @property
    def varies(self) -> bool:
        """Whether attenuation depends on the part of a year."""
        return self.table is not None or bool(self.by_itu)

    @property
    def range_percent(self) -> tuple[float, float]:
        """The percentages of a year between which the attenuation is known."""
        least, most = 100 - GREATEST_AVAILABILITY, 100 - LEAST_AVAILABILITY
        if self.table is not None:
            least, most = max(least, self.table.percent[0]), min(most, self.table.percent[-1])
        return least, most

    def at(self, percent: float) -> Attenuation:
        """Returns what is exceeded for so many per cent of a year."""
        found = dict.fromkeys(PARTS, 0.0) | self.stated
        if self.table is not None:
            found["rain"] = self.table.at(percent)
        if self.by_itu:
            found |= self._of_place(percent)
        return Attenuation(**found)

    @cached_property
    def curve(self) -> Curve:
        """The sum of all parts over the range of percentages."""
        least, most = self.range_percent
        count = max(2, round(_STEPS * math.log10(most / least)) + 1)
        grid = {least * (most / least) ** (i / (count - 1)) for i in range(count)}
        if self.table is not None:
            grid |= {percent for percent in self.table.percent if least <= percent <= most}
        elif least < _MOST_RAIN < most:
            grid |= {_MOST_RAIN, _MOST_RAIN * (1 + 1e-9)}
        ordered = tuple(sorted(min(max(percent, least), most) for percent in grid))
        return Curve(ordered, tuple(self.at(percent).total for percent in ordered))

    def _of_place(self, percent: float) -> dict[str, float]:
        place, elevation = self.geometry.place, self.geometry.elevation_deg
        assert place is not None
        assert elevation is not None
        parts = self.by_itu - {"rain"} if percent > _MOST_RAIN else self.by_itu
        computed = _attenuation(
            (place.latitude_deg, place.longitude_deg, place.height_km or None),
            (self.frequency_ghz, elevation, self.tilt_deg),
            (self.diameter_m or 1.0, self.efficiency),
            percent,
            parts,
        )
        return {part: computed[part] if part in parts else 0.0 for part in self.by_itu}


@lru_cache(maxsize=4096)
def _attenuation(
    place: tuple[float, float, float | None],
    signal: tuple[float, float, float],
    antenna: tuple[float, float],
    percent: float,
    parts: frozenset[str],
) -> dict[str, float]:
    """Returns attenuations by part, of the package that has the recommendations and their maps."""
    import itur

    latitude, longitude, height_km = place
    frequency_ghz, elevation_deg, tilt_deg = signal
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what has no value is reported as a fault
        gases, clouds, rain, scintillation, _ = itur.atmospheric_attenuation_slant_path(
            latitude,
            (longitude + 180) % 360 - 180,
            frequency_ghz,
            elevation_deg,
            percent,
            antenna[0],
            hs=height_km,
            eta=antenna[1],
            tau=tilt_deg,
            return_contributions=True,
            include_rain="rain" in parts,
            include_gas="gases" in parts,
            include_scintillation="scintillation" in parts,
            include_clouds="clouds" in parts,
        )
    values = zip(PARTS, (gases, clouds, rain, scintillation), strict=True)
    return {part: float(value.value) for part, value in values}


def fade_of(
    name: str, hop: Hop, geometry: Geometry, folder: Path, faults: FaultCollector
) -> Fade | None:
    """Returns the weather of a hop; None with a fault, which is noted.

    Args:
        name: key of the hop in the file.
        hop: of the file.
        geometry: its path.
        folder: of the file.
        faults: takes what is wrong.
    """
    noted = len(faults.faults)
    said = [key for key in ("rain", "rain_table") if getattr(hop, key) is not None]
    if len(said) != 1:
        got = Verbatim("rain and rain_table") if said else NOTHING
        allowed = f'one of them: rain = "4.2 dB", rain = "{ITU}", or rain_table = "rain.csv"'
        faults.add((name, said[-1] if said else "rain"), got, allowed)
    usual: float | str = ITU if hop.rain == ITU else 0.0
    written = {part: getattr(hop, part) for part in PARTS}
    chosen = {part: usual if value is None else value for part, value in written.items()}
    by_itu = frozenset(part for part, value in chosen.items() if value == ITU)
    stated = {part: float(value) for part, value in chosen.items() if value != ITU}
    table = None
    if hop.rain_table is not None and len(said) == 1:
        stated.pop("rain", None)
        table = _read_table(folder / hop.rain_table, (name, "rain_table"), hop.rain_table, faults)
    sources = {part: f"{name}.{part}" for part in stated}
    sources |= {part: _RECOMMENDATIONS[part] for part in by_itu}
    if table is not None:
        sources["rain"] = f"{name}.rain_table"
    frequency_ghz = float(hop.frequency.amount)
    on_earth = hop.transmitter if name == "up" else hop.receiver
    diameter = diameter_m(on_earth, frequency_ghz)
    if by_itu:
        _check_itu(name, hop, geometry, by_itu, faults)
        if "scintillation" in by_itu and diameter is None:
            side = "transmitter" if name == "up" else "receiver"
            allowed = 'a length, such as "1.2 m", for scintillation; or scintillation = "0 dB"'
            faults.add((name, side, "diameter"), NOTHING, allowed)
    if len(faults.faults) > noted:
        return None
    fade = Fade(
        stated,
        table,
        by_itu,
        sources,
        geometry,
        frequency_ghz,
        float(hop.polarisation_tilt.amount),
        diameter,
        on_earth.efficiency,
    )
    if not all(math.isfinite(fade.at(percent).total) for percent in (0.01, 1.0, 50.0)):
        allowed = "a place that the maps of ITU-R cover, no higher than the weather"
        faults.add((name, "place"), hop.place, allowed)
        return None
    return fade


def _check_itu(
    name: str, hop: Hop, geometry: Geometry, by_itu: frozenset[str], faults: FaultCollector
) -> None:
    """Notes what the recommendations do not cover or need, and the missing package."""
    first = next(part for part in ("rain", *PARTS) if part in by_itu)
    if not _is_installed():
        allowed = (
            f'a loss, such as "4.2 dB", or a rain_table; "{ITU}" needs itur: '
            "pip install 'skycell[rain]'"
        )
        faults.add((name, first), ITU, allowed)
    low, high = _FREQUENCIES
    if not low <= hop.frequency.amount <= high:
        allowed = f'from {low:g} GHz to {high:g} GHz with "{ITU}": ITU-R P.618-13 covers no others'
        faults.add((name, "frequency"), str(hop.frequency), allowed)
    if geometry.place is None:
        allowed = f'a place, such as "london" or "51.5,-0.14", for {first} = "{ITU}"'
        faults.add((name, "place"), NOTHING, allowed)
    elevation = geometry.elevation_deg
    if elevation is None:
        allowed = f'an angle, such as "30 deg", for {first} = "{ITU}"'
        faults.add((name, "elevation"), NOTHING, allowed)
    elif elevation < _LEAST_ELEVATION:
        allowed = f'{_LEAST_ELEVATION:g} deg or more with "{ITU}": lower, other laws hold'
        faults.add((name, "elevation"), Verbatim(f"{elevation:.2f} deg"), allowed)


def _is_installed() -> bool:
    try:
        import itur  # noqa: F401
    except ImportError:
        return False
    return True


def _read_table(
    path: Path, where: tuple[str, ...], written: str, faults: FaultCollector
) -> Curve | None:
    """Returns the attenuations of a file; None with a fault, which is noted."""
    try:
        text = read_text(path)
        with csv_faults(str(path)):
            return _curve(text, str(path))
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        faults.add(where, written, allowed)
    except ScenarioFaults as found:
        faults.faults += found.faults
    return None


_COLUMNS = {
    "percent": (0.0, 100.0, "per cent of a year for which the attenuation is exceeded"),
    "attenuation_db": (0.0, _MOST_DB, "attenuation in dB"),
}


def _curve(text: str, name: str) -> Curve:
    rows = csv.reader(StringIO(text, newline=""))
    header = [column.strip() for column in next(rows, [])]
    if sorted(header) != sorted(_COLUMNS):
        got = ", ".join(map(show_value, header)) or "nothing"
        allowed = f"a header with {' and '.join(_COLUMNS)}"
        raise ScenarioFaults([Fault(name, "", got, allowed, line=1)])
    found: list[Fault] = []
    values: list[tuple[float, float]] = []
    for row in rows:
        line = rows.line_num
        if not row:
            continue
        if len(found) >= _MOST_FAULTS:
            break
        if len(row) != len(header):
            got = f"{len(row)} values"
            found.append(Fault(name, "", got, f"{len(header)}, as in the header", line=line))
            continue
        by_name = dict(zip(header, row, strict=True))
        read = [_number(by_name[column], column, name, line, found) for column in _COLUMNS]
        percent, attenuation = read
        if percent is None or attenuation is None:
            continue
        if values and (percent <= values[-1][0] or attenuation > values[-1][1]):
            got = (
                f"{percent:g} %, {attenuation:g} dB after {values[-1][0]:g} %, {values[-1][1]:g} dB"
            )
            allowed = "a greater percentage and no greater attenuation"
            found.append(Fault(name, "percent", got, allowed, _COLUMNS["percent"][2], line=line))
            continue
        values.append((percent, attenuation))
    if len(values) < 2 and not found:
        found.append(Fault(name, "", f"{len(values)} rows", "two or more", line=1))
    if found:
        raise ScenarioFaults(found)
    percents, attenuations = zip(*values, strict=True)
    return Curve(percents, attenuations)


def _number(written: str, column: str, name: str, line: int, found: list[Fault]) -> float | None:
    low, high, meaning = _COLUMNS[column]
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    is_percent = column == "percent"
    if low <= value <= high and not (is_percent and value in (low, high)):
        return value
    bounds = f"above {low:g} and below {high:g}" if is_percent else f"from {low:g} to {high:g}"
    fault = Fault(
        name, column, show_value(written.strip()), f"a number {bounds}", meaning, line=line
    )
    found.append(fault)
    return None
