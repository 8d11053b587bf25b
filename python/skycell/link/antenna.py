"""What leaves an antenna and what another one makes of it: EIRP, gain, noise and G/T."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skycell.input.quantities import Quantity
from skycell.link.file import Receiver, Transmitter
from skycell.link.row import Row

LIGHT_M_PER_S = 299_792_458.0
"""Exact, SI."""
BOLTZMANN_DBW = 10 * math.log10(1.380649e-23)
"""dBW per K and Hz, from the SI's exact value: -228.60."""
_APERTURE = "G = η (π D f / c)²"


def db(ratio: float) -> float:
    """Returns a ratio of powers in dB."""
    return 10 * math.log10(ratio)


def from_db(level: float) -> float:
    """Returns the ratio of powers that a number of dB is."""
    return float(10 ** (level / 10))


def gain_dbi(diameter_m: float, efficiency: float, frequency_ghz: float) -> float:
    """Returns the gain of an aperture.

    >>> round(gain_dbi(1.2, 0.65, 19.7), 2)
    46.01
    """
    return db(efficiency * (math.pi * diameter_m * frequency_ghz * 1e9 / LIGHT_M_PER_S) ** 2)


def diameter_m(antenna: Transmitter | Receiver, frequency_ghz: float) -> float | None:
    """Returns the diameter of an antenna, given or by its gain; None if neither is known."""
    if antenna.diameter is not None:
        return float(antenna.diameter.amount)
    if antenna.gain is None:
        return None
    aperture = math.sqrt(from_db(antenna.gain) / antenna.efficiency)
    return aperture * LIGHT_M_PER_S / (math.pi * frequency_ghz * 1e9)


def _gain(antenna: Transmitter | Receiver, frequency_ghz: float, key: str) -> Row:
    if antenna.gain is not None:
        return Row("G", "gain of the antenna", antenna.gain, "dBi", f"{key}.gain")
    assert antenna.diameter is not None
    gain = gain_dbi(float(antenna.diameter.amount), antenna.efficiency, frequency_ghz)
    return Row("G", "gain of the antenna", gain, "dBi", _APERTURE)


def eirp(sends: Transmitter, frequency_ghz: float, key: str) -> tuple[float, list[Row]]:
    """Returns the EIRP in dBW, and the rows that lead to it.

    Args:
        sends: without faults.
        frequency_ghz: of the carrier.
        key: of the transmitter in the file.
    """
    if sends.eirp is not None:
        own = Row("EIRP", "power and gain of the transmitter", sends.eirp, "dBW", f"{key}.eirp")
        return sends.eirp, [own]
    assert sends.power is not None
    rows = [Row("P", "power of the amplifier", sends.power, "dBW", f"{key}.power")]
    losses = (
        ("Lf", "feeder loss", sends.feeder_loss, "feeder_loss"),
        ("BO", "output back-off", sends.back_off, "back_off"),
    )
    for symbol, name, loss, own_key in losses:
        if loss:
            rows.append(Row(symbol, name, loss, "dB", f"{key}.{own_key}"))
    gain = _gain(sends, frequency_ghz, key)
    assert isinstance(gain.value, float)
    level = sends.power - sends.feeder_loss - sends.back_off + gain.value
    total = Row("EIRP", "power and gain of the transmitter", level, "dBW", "P − Lf − BO + G")
    return level, [*rows, gain, total]


@dataclass(frozen=True)
class Noise:
    """How a receiver hears, whatever the weather.

    Attributes:
        receiver: of the file.
        gain: row of the antenna's gain; None if the file has G/T.
        adds: whether weather adds noise.
        key: of the receiver in the file.
    """

    receiver: Receiver
    gain: Row | None
    adds: bool
    key: str

    def temperature_k(self, attenuation_db: float) -> float | None:
        """Returns the noise temperature of the whole; None if the file has only G/T."""
        own = self.receiver
        through = from_db(-attenuation_db) if self.adds else 1.0
        added = float(own.medium_temperature.amount) * (1 - through)
        if own.system_temperature is not None:
            return _kelvin(own.system_temperature) + added
        if own.sky_temperature is None or own.receiver_temperature is None:
            return None
        return _kelvin(own.sky_temperature) * through + added + _kelvin(own.receiver_temperature)

    def g_t_db(self, attenuation_db: float) -> float:
        """Returns G/T in dB/K."""
        temperature, own = self.temperature_k(attenuation_db), self.receiver
        if own.g_t is not None:
            clear = self.temperature_k(0.0)
            return own.g_t - (db(temperature / clear) if temperature and clear else 0.0)
        assert self.gain is not None
        assert isinstance(self.gain.value, float)
        assert temperature is not None
        return self.gain.value - db(temperature)

    def rows(self, attenuation_db: float) -> list[Row]:
        """Returns the rows that lead to G/T."""
        rows = [] if self.gain is None else [self.gain]
        temperature, clear = self.temperature_k(attenuation_db), self.temperature_k(0.0)
        if temperature is not None and clear is not None:
            whole = self.receiver.system_temperature is not None
            stated = f"{self.key}.system_temperature" if whole else "Tc + T_LNB"
            rows.append(Row("T0", "noise temperature in clear sky", clear, "K", stated))
            formula = "Tm (1 − 10^(−A/10))" if whole else "(Tm − Tc) (1 − 10^(−A/10))"
            source = formula if self.adds else f"{self.key}.weather_noise = false"
            rows.append(Row("ΔT", "noise by weather", temperature - clear, "K", source))
        if self.receiver.g_t is None:
            source = "G − 10 lg(T0 + ΔT)"
        elif temperature is not None:
            source = f"{self.key}.g_t − 10 lg(1 + ΔT/T0)"
        else:
            source = f"{self.key}.g_t; no noise by weather without system_temperature"
        return [*rows, Row("G/T", "gain over noise", self.g_t_db(attenuation_db), "dB/K", source)]


def noise_of(receiver: Receiver, frequency_ghz: float, key: str, *, usual: bool) -> Noise:
    """Returns how a receiver hears.

    Args:
        receiver: without faults.
        frequency_ghz: of the carrier.
        key: of the receiver in the file.
        usual: whether weather adds noise if the file does not say it.
    """
    gain = None if receiver.g_t is not None else _gain(receiver, frequency_ghz, key)
    adds = usual if receiver.weather_noise is None else receiver.weather_noise
    return Noise(receiver, gain, adds, key)


def _kelvin(temperature: Quantity) -> float:
    return float(temperature.amount)
