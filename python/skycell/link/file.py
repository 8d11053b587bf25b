"""The file of a carrier's link budget as it is written: antennas, path, weather and modem."""

from __future__ import annotations

import math
from typing import Annotated, Any

from skycell.input.parameters import (
    Flag,
    Parameters,
    ValueType,
    decibels,
    param,
    part,
    quantity,
    when,
    whole_number,
    word,
)
from skycell.input.quantities import (
    DAY_PS,
    Dimension,
    Quantity,
    Refused,
    parse_quantity,
    unit_pattern,
)
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.adaptive import Decibels
from skycell.scenario.links.schedule import Text

LEAST_AVAILABILITY, GREATEST_AVAILABILITY = 50.0, 99.999
"""Per cent; P.618 covers what is exceeded for 0.001 % to 50 % of a year."""

ITU = "itu"
"""The word for an attenuation by ITU-R's recommendations."""

_Loss = Annotated[float, decibels(0, 100, "0.5 dB")]
_Ratio = Annotated[float, decibels(-20, 80, "22.3 dB")]
_Gain = Annotated[float, decibels(-30, 90, "60.6 dBi", Dimension.GAIN)]
_Eirp = Annotated[float, decibels(-60, 120, "49 dBW", Dimension.LEVEL)]
_Merit = Annotated[float, decibels(-60, 80, "15.8 dB/K", Dimension.MERIT)]
_Frequency = Annotated[
    Quantity, quantity(Dimension.FREQUENCY, above=0, high=350, example="19.7 GHz")
]
_Diameter = Annotated[Quantity, quantity(Dimension.LENGTH, above=0, high=100, example="1.2 m")]
_Temperature = Annotated[
    Quantity, quantity(Dimension.TEMPERATURE, above=0, high=100_000, example="150 K")
]
_Range = Annotated[
    Quantity, quantity(Dimension.DISTANCE, above=0, high=1_000_000, example="38612 km")
]
_Altitude = Annotated[
    Quantity, quantity(Dimension.DISTANCE, low=100, high=1_000_000, example="450 km")
]
_Elevation = Annotated[Quantity, quantity(Dimension.ANGLE, low=0, high=90, example="30 deg")]
_Longitude = Annotated[Quantity, quantity(Dimension.ANGLE, low=-180, high=360, example="13 deg")]
_Tilt = Annotated[Quantity, quantity(Dimension.ANGLE, low=0, high=90, example="45 deg")]
_Moment = Annotated[Quantity, quantity(Dimension.TIME, high=3653 * DAY_PS, example="10 min")]
_Rate = Annotated[
    Quantity,
    quantity(
        Dimension.BIT_RATE,
        Dimension.SYMBOL_RATE,
        above=0,
        high=10**12,
        example="36 Mbaud",
    ),
]
_TimeConstant = Annotated[
    Quantity, quantity(Dimension.TIME, low=10**12, high=DAY_PS, example="5000 s")
]


def _read_power(value: Any) -> float:
    """Power in dBW."""
    if not isinstance(value, str):
        raise Refused("the unit is missing" if isinstance(value, int | float) else "")
    read = parse_quantity(value)
    if read.dimension is Dimension.LEVEL:
        level = float(read.amount)
    elif read.dimension is Dimension.POWER and read.amount > 0:
        level = 10 * math.log10(read.amount)
    else:
        raise Refused("")
    if not -60 <= level <= 60:
        raise Refused("")
    return level


_Power = Annotated[
    float,
    ValueType(
        'a power above 0, such as "4 W", or from -60 dBW to 60 dBW, such as "15.6 dBW"',
        _read_power,
        {"type": "string", "pattern": unit_pattern(Dimension.POWER, Dimension.LEVEL)},
    ),
]


def _read_attenuation(value: Any) -> float | str:
    return ITU if value == ITU else _LOSS.read(value)


_LOSS = decibels(0, 100, "4.2 dB")
_Attenuation = Annotated[
    float | str,
    ValueType(
        f'"{ITU}" or {_LOSS.allowed}',
        _read_attenuation,
        {"anyOf": [{"enum": [ITU]}, _LOSS.schema]},
    ),
]


def _read_availability(value: Any) -> float:
    """Per cent."""
    read = parse_quantity(value) if isinstance(value, str) else None
    if read is None or read.dimension is not Dimension.PART:
        raise Refused("the unit is missing" if isinstance(value, int | float) else "")
    percent = float(read.amount * 100)
    if not LEAST_AVAILABILITY <= percent <= GREATEST_AVAILABILITY:
        raise Refused("")
    return percent


AVAILABILITY = ValueType(
    f"a part of a year from {LEAST_AVAILABILITY:g} % to {GREATEST_AVAILABILITY:g} %, such as "
    '"99.7 %"',
    _read_availability,
    {"type": "string", "pattern": unit_pattern(Dimension.PART), "examples": ["99.7 %"]},
)


class Transmitter(Parameters):
    """What sends: its EIRP, or its power and antenna."""

    eirp: _Eirp | None = param(
        None, "power times the antenna's gain; instead of power and antenna", symbol="EIRP"
    )
    power: _Power | None = param(None, "power of the amplifier", symbol="P")
    feeder_loss: _Loss = param(
        "0 dB", "loss between amplifier and antenna", source="none", when=when("power")
    )
    back_off: _Loss = param(
        "0 dB", "output power below that of saturation", source="none", when=when("power")
    )
    gain: _Gain | None = param(None, "gain of the antenna", symbol="G")
    diameter: _Diameter | None = param(
        None,
        "diameter of the antenna; with gain for scintillation alone",
        symbol="D",
    )
    efficiency: Annotated[float, part("part of the aperture that counts")] = param(
        0.65,
        "efficiency of the antenna",
        symbol="η",
        source="choice: parabolic reflectors have 0.55 to 0.75",
        when=(when("diameter"), when("gain")),
    )


class Receiver(Parameters):
    """What receives: its G/T, or its antenna and noise."""

    g_t: _Merit | None = param(
        None,
        "gain over noise temperature in clear sky; instead of antenna and noise",
        symbol="G/T",
    )
    gain: _Gain | None = param(None, "gain of the antenna", symbol="G")
    diameter: _Diameter | None = param(
        None, "diameter of the antenna; with gain or g_t for scintillation alone", symbol="D"
    )
    efficiency: Annotated[float, part("part of the aperture that counts")] = param(
        0.65,
        "efficiency of the antenna",
        symbol="η",
        source="choice: parabolic reflectors have 0.55 to 0.75",
        when=(when("diameter"), when("gain")),
    )
    system_temperature: _Temperature | None = param(
        None,
        "noise temperature of the whole in clear sky; beside g_t for the noise of weather alone",
        symbol="T",
    )
    sky_temperature: _Temperature | None = param(
        None,
        "noise that the antenna takes in from clear sky and ground, beside receiver_temperature "
        "and instead of system_temperature",
        symbol="Tc",
    )
    receiver_temperature: _Temperature | None = param(
        None, "noise of the low-noise amplifier and what is behind it", symbol="T_LNB"
    )
    weather_noise: Flag | None = param(
        None,
        "whether what absorbs the signal adds noise",
        source="true for [down]; false for [up], as a satellite sees the warm earth anyway",
    )
    medium_temperature: _Temperature = param(
        "275 K",
        "temperature of what absorbs the signal",
        symbol="Tm",
        source="ITU-R P.618-13 section 3: 275 K for rain (from memory)",
    )


class Interference(Parameters):
    """Carrier over interference of several kinds, within the carrier's bandwidth."""

    adjacent_satellite: _Ratio | None = param(None, "from other satellites", symbol="C/I")
    cross_polar: _Ratio | None = param(None, "from the other polarisation", symbol="C/I")
    co_channel: _Ratio | None = param(None, "from other beams", symbol="C/I")
    intermodulation: _Ratio | None = param(
        None, "from other carriers in the same amplifier", symbol="C/IM"
    )


class Hop(Parameters):
    """One way between an earth station and the satellite."""

    frequency: _Frequency = param(..., "frequency of the carrier", symbol="f")
    place: Text | None = param(
        None,
        "the earth station: a built-in city, or latitude,longitude and perhaps height in km",
        source="given by elevation or range",
    )
    elevation: _Elevation | None = param(
        None, "elevation of the satellite", symbol="el", source="computed from satellite and place"
    )
    range: _Range | None = param(
        None, "slant range", symbol="d", source="computed from satellite and elevation or place"
    )
    polarisation_tilt: _Tilt = param(
        "45 deg",
        "angle of the polarisation over the horizontal; 45 deg stands for circular, too",
        symbol="τ",
        source="ITU-R P.838-3",
    )
    pointing_loss: _Loss = param("0 dB", "loss by antennas that point beside", source="none")
    polarisation_loss: _Loss = param("0 dB", "loss by polarisations that differ", source="none")
    other_loss: _Loss = param("0 dB", "further losses", source="none")
    rain: _Attenuation | None = param(
        None, "attenuation by rain: by ITU-R P.618 for place and availability, or a loss"
    )
    rain_table: Text | None = param(
        None,
        "instead of rain: a CSV file with percent and attenuation_db, what is exceeded for so many "
        "per cent of a year, relative to this file's folder",
    )
    gases: _Attenuation | None = param(
        None,
        "attenuation by gases: by ITU-R P.676, or a loss",
        source='"itu" if rain is "itu", else none',
    )
    clouds: _Attenuation | None = param(
        None,
        "attenuation by clouds: by ITU-R P.840, or a loss",
        source='"itu" if rain is "itu", else none',
    )
    scintillation: _Attenuation | None = param(
        None,
        "fading by scintillation: by ITU-R P.618, or a loss",
        source='"itu" if rain is "itu", else none',
    )
    transmitter: Transmitter = param(..., "what sends")
    receiver: Receiver = param(..., "what receives")
    interference: Interference = param({}, "carrier over interference", source="none")


class SatelliteTable(Parameters):
    """Where the satellite is."""

    longitude: _Longitude | None = param(
        None, "slot of a geostationary satellite, east positive; for hops with a place"
    )
    constellation: Text | None = param(
        None, "a constellation: a preset's name, or a file relative to this file's folder"
    )
    name: Text | None = param(
        None,
        "the satellite of the constellation",
        source="that whose lowest elevation at the hops' places is highest",
        when=when("constellation"),
    )
    at: _Moment = param(
        "0 s",
        "moment at which satellites are looked at",
        source="the beginning",
        when=when("constellation"),
    )
    altitude: _Altitude | None = param(
        None, "altitude above the equatorial radius; for hops with an elevation"
    )


class CarrierTable(Parameters):
    """The carrier and its modem."""

    rate: _Rate = param(
        ...,
        "symbol rate of a DVB-S2 carrier, or bit rate of another modem; also the noise's bandwidth",
        symbol="Rs",
    )
    framing: Gse | None = param(
        None,
        "framing of the packets; its modcod is the highest that may be used",
        source='{ kind = "gse", modcod = "32APSK 9/10" }',
    )
    required: _Ratio | None = param(
        None, "Eb/N0 that the modem needs; for a bit rate", symbol="Eb/N0"
    )
    packet: Annotated[int, whole_number(20, 65_535, "octets of IP")] = param(
        1500, "length of the IP packets in the IP rate", source="Ethernet's payload"
    )
    availability: Annotated[float, AVAILABILITY] | None = param(
        None, "part of a year for which the budget holds; where weather depends on it"
    )
    implementation_loss: _Loss = param(
        "0 dB", "what the demodulator loses against an ideal one", source="an ideal one"
    )
    margin: Decibels = param("0 dB", "ratio above a threshold that a MODCOD needs", source="none")
    faded: Annotated[str, word("worse", "up", "down", "both")] = param(
        "worse",
        "which of two hops has the weather of the availability, the other one that of half the "
        "year: the one which leaves less (worse), one of them, or both at once",
        source="choice: storms at both ends at once are rare",
    )
    fade_time_constant: _TimeConstant = param(
        "5000 s",
        "time in which the correlation of a series falls to 1/e",
        symbol="1/β",
        source="ITU-R P.1853-1: β = 2e-4 per second",
    )


class CarrierFile(Parameters):
    """A carrier from the earth to a satellite, from a satellite to the earth, or both."""

    title: Text | None = param(None, "name for tables and pictures")
    carrier: CarrierTable = param(..., "carrier and modem")
    satellite: SatelliteTable | None = param(
        None, "where the satellite is", source="the hops have a range"
    )
    up: Hop | None = param(None, "from an earth station to the satellite")
    down: Hop | None = param(None, "from the satellite to an earth station")

    @property
    def hops(self) -> dict[str, Hop]:
        """The hops by their key."""
        named = {"up": self.up, "down": self.down}
        return {name: hop for name, hop in named.items() if hop is not None}
