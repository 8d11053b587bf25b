"""`Carrier`: a checked file of a carrier's link budget."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from skycell.input.checking import check_against
from skycell.input.dotted_keys import set_value, steps_of
from skycell.input.faults import NOTHING, FaultCollector, Positions, Verbatim
from skycell.input.forms import meaning_at
from skycell.input.idle_keys import idle_below
from skycell.input.plain_values import plain_value
from skycell.input.quantities import Dimension
from skycell.input.text import read_text
from skycell.input.toml_text import read_toml
from skycell.link.antenna import Noise, eirp, from_db, noise_of
from skycell.link.file import CarrierFile, CarrierTable, Hop
from skycell.link.path import Geometry, free_space_db, geometries
from skycell.link.rain import Fade, fade_of
from skycell.link.row import Row
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.framing import unfit_of


@dataclass(frozen=True)
class Way:
    """A hop without faults: all of it but the moment's weather.

    Attributes:
        name: its key in the file.
        hop: of the file.
        geometry: its path.
        fade: its weather over a year.
        eirp_dbw: what the transmitter sends.
        eirp_rows: rows that lead to it.
        losses: rows of what is lost whatever the weather.
        noise: how the receiver hears.
        c_i: rows of carrier over interference.
    """

    name: str
    hop: Hop
    geometry: Geometry
    fade: Fade
    eirp_dbw: float
    eirp_rows: tuple[Row, ...]
    losses: tuple[Row, ...]
    noise: Noise
    c_i: tuple[Row, ...]

    @cached_property
    def loss_db(self) -> float:
        """What is lost whatever the weather."""
        return sum(float(row.value or 0) for row in self.losses)

    @cached_property
    def interference(self) -> float:
        """Interference over carrier, all kinds together, as a ratio."""
        return sum(from_db(-float(row.value or 0)) for row in self.c_i)


@dataclass(frozen=True)
class Carrier:
    """A carrier's file, checked: its budget can be made as it stands.

    `values` is what the file says. Files that it names are looked for from `folder`.
    """

    name: str
    values: Mapping[str, Any]
    positions: Positions = field(default_factory=dict, repr=False)
    folder: Path = Path()

    @cached_property
    def file(self) -> CarrierFile:
        """The file with defaults filled in."""
        return check_against(CarrierFile, self.values, self._faults())

    @property
    def title(self) -> str:
        """What tables and pictures call it."""
        return self.file.title or self.name

    @cached_property
    def ways(self) -> dict[str, Way]:
        """The hops by their key.

        Raises:
            ScenarioFaults: with every fault of the file.
        """
        faults = self.collector()
        paths = geometries(self.file, self.folder, faults)
        found = {}
        for name, hop in self.file.hops.items():
            geometry = paths.get(name)
            fade = geometry and fade_of(name, hop, geometry, self.folder, faults)
            if geometry and fade and not faults.faults:
                found[name] = _way(name, hop, geometry, fade)
        is_fixed = bool(found) and not any(way.fade.varies for way in found.values())
        if self.file.carrier.availability is not None and is_fixed:
            got = Verbatim(f"{self.file.carrier.availability:g} %")
            allowed = 'nothing: no weather depends on it; rain = "itu" and rain_table do'
            faults.add(("carrier", "availability"), got, allowed)
        faults.raise_if_any()
        return found

    @property
    def varies(self) -> bool:
        """Whether the budget depends on the part of a year."""
        return any(way.fade.varies for way in self.ways.values())

    def collector(self) -> FaultCollector:
        """Returns what takes faults of the file, which has been read."""
        faults = self._faults()
        faults.meaning_at = partial(meaning_at, self.file)
        return faults

    def with_values(self, values: Mapping[str, Any]) -> Carrier:
        """The carrier with other values, given as they would stand in the file.

        Args:
            values: by dotted key, such as `carrier.rate` or `down.rain`.

        Raises:
            ScenarioFaults: with these values it has no budget.
        """
        changed = copy.deepcopy(dict(self.values))
        faults = FaultCollector(self.name)
        for key, value in values.items():
            set_value(changed, key, plain_value(value), faults, CarrierFile)
        faults.raise_if_any()
        touched = [".".join(steps_of(key)) for key in values]
        kept = {
            path: place
            for path, place in self.positions.items()
            if not any(path.startswith(f"{key}.") for key in touched)
        }
        kept.update(dict.fromkeys(touched))
        return replace(self, values=changed, positions=kept).checked()

    def checked(self) -> Carrier:
        """Returns itself.

        Raises:
            ScenarioFaults: with every fault of the file.
        """
        faults = self.collector()
        _check(self.file, faults)
        for idle in idle_below(self.values, [self.file], ()):
            faults.add(idle.path, idle.got, idle.why)
        faults.raise_if_any()
        _ = self.ways
        return self

    def _faults(self) -> FaultCollector:
        return FaultCollector(self.name, self.positions)


def as_carrier(
    source: Carrier | str | PathLike[str] | Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
) -> Carrier:
    """A checked carrier of a file, or of the data that a file stands for.

    Args:
        source: the file, or the data.
        values: what replaces values of it, as for `Carrier.with_values`.

    Raises:
        ScenarioFaults: with every fault.
        OSError: the file cannot be read.
    """
    if isinstance(source, Carrier):
        return source.with_values(values) if values else source
    if isinstance(source, Mapping):
        return _made(Carrier("carrier", plain_value(dict(source))), values)
    return parse_carrier(read_text(source), fspath(source), Path(source).parent, values)


def parse_carrier(
    text: str, name: str, folder: Path = Path(), values: Mapping[str, Any] | None = None
) -> Carrier:
    """A checked carrier of a text.

    Args:
        text: of the file.
        name: what faults call it.
        folder: where the files that it names are.
        values: what replaces values of it, as for `Carrier.with_values`.

    Raises:
        ScenarioFaults: with every fault.
    """
    read, positions = read_toml(text, name)
    return _made(Carrier(name, read, positions, folder), values)


def _made(carrier: Carrier, values: Mapping[str, Any] | None) -> Carrier:
    return carrier.with_values(values) if values else carrier.checked()


def _check(file: CarrierFile, faults: FaultCollector) -> None:
    """Notes what a file contradicts itself in, and what it lacks."""
    _check_modem(file.carrier, faults)
    if not file.hops:
        faults.add(("down",), NOTHING, "a table [up], [down], or both")
    if file.carrier.faded in ("up", "down") and file.carrier.faded not in file.hops:
        allowed = '"worse", or a hop that the file has'
        faults.add(("carrier", "faded"), file.carrier.faded, allowed)
    for name, hop in file.hops.items():
        _check_transmitter(name, hop, faults)
        _check_receiver(name, hop, faults)


def _check_modem(carrier: CarrierTable, faults: FaultCollector) -> None:
    if carrier.rate.dimension is Dimension.SYMBOL_RATE:
        if carrier.required is not None:
            allowed = "nothing with a symbol rate: the MODCODs of DVB-S2 say what they need"
            faults.add(("carrier", "required"), f"{carrier.required:g} dB", allowed)
        unfit = unfit_of(framing_of(carrier))
        if unfit is not None and carrier.framing is not None:
            got = str(getattr(carrier.framing, unfit.key))
            faults.add(("carrier", "framing", unfit.key), got, unfit.allowed)
    elif carrier.framing is not None:
        allowed = 'nothing with a bit rate; with a symbol rate, such as "36 Mbaud", that of DVB-S2'
        faults.add(("carrier", "framing"), Verbatim("a table"), allowed)


def framing_of(carrier: CarrierTable) -> Gse:
    """Returns the framing of a DVB-S2 carrier; its MODCOD is the highest."""
    return carrier.framing or Gse(kind="gse", modcod="32APSK 9/10")


def _check_transmitter(name: str, hop: Hop, faults: FaultCollector) -> None:
    own, where = hop.transmitter, (name, "transmitter")
    said = [key for key in ("eirp", "power") if getattr(own, key) is not None]
    if len(said) != 1:
        got = Verbatim("eirp and power") if said else NOTHING
        faults.add((*where, said[-1] if said else "eirp"), got, "one of eirp and power")
    elif said == ["eirp"] and own.gain is not None:
        faults.add((*where, "gain"), f"{own.gain:g} dBi", "nothing: eirp holds the antenna's gain")
    elif said == ["power"] and own.gain is None and own.diameter is None:
        allowed = 'the antenna\'s gain, such as "46 dBi", or its diameter, such as "1.2 m"'
        faults.add((*where, "gain"), NOTHING, allowed)


def _check_receiver(name: str, hop: Hop, faults: FaultCollector) -> None:
    own, where = hop.receiver, (name, "receiver")
    if own.g_t is not None and own.gain is not None:
        faults.add((*where, "gain"), f"{own.gain:g} dBi", "nothing: g_t holds the antenna's gain")
    if own.g_t is None and own.gain is None and own.diameter is None:
        allowed = 'G/T, such as "15.8 dB/K", or the antenna\'s gain or diameter with its noise'
        faults.add((*where, "g_t"), NOTHING, allowed)
    parts = ("sky_temperature", "receiver_temperature")
    said = [key for key in parts if getattr(own, key) is not None]
    if own.system_temperature is not None and said:
        allowed = f"nothing: system_temperature holds {said[0]}"
        faults.add((*where, said[0]), str(getattr(own, said[0])), allowed)
    elif len(said) == 1:
        other = next(key for key in parts if key not in said)
        allowed = f'a temperature, such as "100 K", beside {said[0]}'
        faults.add((*where, other), NOTHING, allowed)
    elif own.g_t is None and own.system_temperature is None and not said:
        allowed = 'a temperature, such as "150 K"; or sky_temperature and receiver_temperature'
        faults.add((*where, "system_temperature"), NOTHING, allowed)


_C_I = {
    "adjacent_satellite": ("C/I", "over adjacent satellites"),
    "cross_polar": ("C/I", "over the other polarisation"),
    "co_channel": ("C/I", "over other beams"),
    "intermodulation": ("C/IM", "over intermodulation"),
}


def _way(name: str, hop: Hop, geometry: Geometry, fade: Fade) -> Way:
    frequency_ghz = float(hop.frequency.amount)
    level, rows = eirp(hop.transmitter, frequency_ghz, f"{name}.transmitter")
    free = free_space_db(geometry.range_km, frequency_ghz)
    losses = [Row("Lfs", "loss of free space", free, "dB", "20 lg(4 π d f / c)")]
    for key, words in (
        ("pointing_loss", "pointing loss"),
        ("polarisation_loss", "polarisation loss"),
        ("other_loss", "further losses"),
    ):
        if getattr(hop, key):
            losses.append(Row("L", words, getattr(hop, key), "dB", f"{name}.{key}"))
    c_i = [
        Row(symbol, words, ratio, "dB", f"{name}.interference.{key}")
        for key, (symbol, words) in _C_I.items()
        if (ratio := getattr(hop.interference, key)) is not None
    ]
    noise = noise_of(hop.receiver, frequency_ghz, f"{name}.receiver", usual=name == "down")
    return Way(name, hop, geometry, fade, level, tuple(rows), tuple(losses), noise, tuple(c_i))
