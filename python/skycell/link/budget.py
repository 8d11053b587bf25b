"""The budget of a carrier: rows from EIRP to C/(N + I) of each hop, then Es/N0, MODCOD and rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from skycell.coding.dvb_s2 import MODCODS
from skycell.input.faults import NOTHING, Verbatim
from skycell.input.quantities import Dimension
from skycell.link.antenna import BOLTZMANN_DBW, db, from_db
from skycell.link.carrier import Carrier, Way, framing_of
from skycell.link.file import AVAILABILITY, CarrierTable
from skycell.link.rain import PARTS, Attenuation
from skycell.link.row import Row
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.adaptive import AdaptiveCoding, Modcod, adapted, modcods_up_to
from skycell.scenario.links.framing import overhead_of
from skycell.spec.values import octets_on_line

_PARTS_IN_WORDS = {
    "gases": ("A_G", "attenuation by gases"),
    "clouds": ("A_C", "attenuation by clouds"),
    "rain": ("A_R", "attenuation by rain"),
    "scintillation": ("A_S", "fading by scintillation"),
}
_HALF_OF_A_YEAR = 50.0
Weather = TypeVar("Weather")


@dataclass(frozen=True)
class HopBudget:
    """A hop of a budget.

    Attributes:
        name: `up` or `down`.
        rows: from its elevation to C/(N + I).
        c_n0_dbhz: carrier over the noise's density, dB Hz.
        c_n_db: carrier over noise in the carrier's bandwidth.
        c_n_i_db: carrier over noise and interference.
    """

    name: str
    rows: tuple[Row, ...]
    c_n0_dbhz: float
    c_n_db: float
    c_n_i_db: float


@dataclass(frozen=True)
class CarrierBudget:
    """A budget at one part of a year.

    Attributes:
        title: of the file.
        availability: per cent of a year; None where no weather depends on it.
        hops: one or two.
        rows: from the hops to the rate of IP.
        ratio_db: Es/N0 of a symbol rate, Eb/N0 of a bit rate, at the decider.
        modcod: highest that may be used; None in an outage, and for a bit rate.
        margin_db: over the threshold of that MODCOD, or over the required Eb/N0; None for none.
        ip_bps: IP packets in bit/s; 0 in an outage, None for a bit rate.
    """

    title: str
    availability: float | None
    hops: tuple[HopBudget, ...]
    rows: tuple[Row, ...]
    ratio_db: float
    modcod: str | None
    margin_db: float | None
    ip_bps: float | None

    def as_dict(self) -> dict[str, Any]:
        """All of it for a program."""
        return asdict(self)


def budget_of(carrier: Carrier, availability: float | None = None) -> CarrierBudget:
    """The budget at a part of a year.

    Args:
        carrier: without faults.
        availability: per cent, instead of the file's.

    Raises:
        ScenarioFaults: the file has no availability, or weather is not known for it.
    """
    stated = carrier.file.carrier.availability if availability is None else availability
    chosen = stated if carrier.varies else None
    if carrier.varies:
        _check_availability(carrier, stated)
    percent = _HALF_OF_A_YEAR if chosen is None else 100 - chosen
    found = [_budget(carrier, chosen, weather) for weather in _weathers(carrier, percent)]
    return min(found, key=lambda one: one.ratio_db)


def _check_availability(carrier: Carrier, availability: float | None) -> None:
    faults = carrier.collector()
    where = ("carrier", "availability")
    if availability is None:
        faults.add(where, NOTHING, AVAILABILITY.allowed)
    else:
        for name, way in carrier.ways.items():
            least, most = way.fade.range_percent
            if not least <= 100 - availability + 1e-9 or not 100 - availability - 1e-9 <= most:
                allowed = (
                    f"from {100 - most:g} % to {100 - least:g} %: more is not known of the "
                    f"weather of {name}"
                )
                faults.add(where, Verbatim(f"{availability:g} %"), allowed)
    faults.raise_if_any()


def _weathers(carrier: Carrier, percent: float) -> list[dict[str, Attenuation]]:
    """Returns what may be the weather of all hops at a per cent of a year."""
    bad = {name: way.fade.at(percent) for name, way in carrier.ways.items()}
    return cases(carrier, bad, {name: usual_weather(way) for name, way in carrier.ways.items()})


def cases(
    carrier: Carrier, bad: Mapping[str, Weather], usual: Mapping[str, Weather]
) -> list[dict[str, Weather]]:
    """Returns what `carrier.faded` has of bad and usual weather of the hops; the worst case counts.

    Args:
        carrier: without faults.
        bad: by hop, at the availability.
        usual: by hop, of half of a year.
    """
    faded = carrier.file.carrier.faded
    if faded == "both" or len(bad) == 1:
        return [dict(bad)]
    names = list(bad) if faded == "worse" else [faded]
    return [{**usual, name: bad[name]} for name in names]


def usual_weather(way: Way) -> Attenuation:
    """Returns the weather of half of a year, in which it does not rain."""
    weather = way.fade.at(min(_HALF_OF_A_YEAR, way.fade.range_percent[1]))
    return Attenuation(weather.gases, weather.clouds, 0.0, weather.scintillation)


def _budget(
    carrier: Carrier, availability: float | None, weathers: Mapping[str, Attenuation]
) -> CarrierBudget:
    own = carrier.file.carrier
    hops = tuple(hop_budget(own, way, weathers[name]) for name, way in carrier.ways.items())
    is_symbols = own.rate.dimension is Dimension.SYMBOL_RATE
    ratio = ratio_db(own, [hop.c_n_i_db for hop in hops])
    rows = []
    if len(hops) > 1:
        whole = together([hop.c_n_i_db for hop in hops])
        rows.append(Row("C/(N+I)", "of both hops", whole, "dB", "1/x = Σ 1/x_i"))
    if own.implementation_loss:
        key = "carrier.implementation_loss"
        rows.append(Row("Li", "implementation loss", own.implementation_loss, "dB", key))
    symbol, what = ("Es/N0", "of a symbol") if is_symbols else ("Eb/N0", "of a bit")
    rows.append(Row(symbol, f"{what} at the decider", ratio, "dB", "C/(N+I) − Li"))
    if not is_symbols:
        margin = None if own.required is None else ratio - own.required
        if margin is not None:
            key = "carrier.required"
            rows.append(Row("Eb/N0", "that the modem needs", own.required, "dB", key))
            rows.append(Row("M", "margin", margin, "dB", "Eb/N0 less what is needed"))
        return CarrierBudget(
            carrier.title, availability, hops, tuple(rows), ratio, None, margin, None
        )
    modcod = modcod_at(own, ratio)
    rate = 0.0 if modcod is None else ip_bps(own, modcod)
    margin = None if modcod is None else ratio - modcod.threshold_db
    name = "none: outage" if modcod is None else modcod.name
    threshold = None if modcod is None else modcod.threshold_db
    table = "EN 302 307-1 table 13"
    rows += [
        Row("MODCOD", "highest with the margin", name, "", f"{table} and carrier.margin"),
        Row("Es/N0", "that the MODCOD needs", threshold, "dB", table),
        Row("M", "margin", margin, "dB", "Es/N0 less what is needed"),
        Row("R", f"rate of IP packets of {own.packet} B", rate / 1e6, "Mbit/s", "DVB-S2 and GSE"),
    ]
    return CarrierBudget(
        carrier.title,
        availability,
        hops,
        tuple(rows),
        ratio,
        None if modcod is None else modcod.name,
        margin,
        rate,
    )


def hop_budget(own: CarrierTable, way: Way, weather: Attenuation) -> HopBudget:
    """Returns the budget of a hop in some weather."""
    geometry = way.geometry
    rows = []
    if geometry.elevation_deg is not None:
        source = geometry.elevation_source
        rows.append(Row("el", "elevation", geometry.elevation_deg, "deg", source))
    rows.append(Row("d", "slant range", geometry.range_km, "km", geometry.range_source))
    rows += [*way.eirp_rows, *way.losses]
    rows += [
        Row(*_PARTS_IN_WORDS[part], value, "dB", way.fade.sources[part])
        for part in PARTS
        if (value := getattr(weather, part)) or part == "rain"
    ]
    if len([part for part in PARTS if getattr(weather, part)]) > 1:
        rule = "ITU-R P.618-13 2.5: A_G + √((A_R + A_C)² + A_S²)"
        rows.append(Row("A", "attenuation by all of them", weather.total, "dB", rule))
    rows += way.noise.rows(weather.total)
    c_n0 = c_n0_dbhz(way, weather.total)
    bandwidth = db(float(own.rate.amount))
    c_n = c_n0 - bandwidth
    c_n_i = c_n_i_db(own, way, weather.total)
    unit = "dB Hz"
    rows += [
        Row("C/N0", "carrier over density of noise", c_n0, unit, "EIRP − L − A + G/T − k"),
        Row("B", "noise bandwidth", bandwidth, unit, "carrier.rate"),
        Row("C/N", "carrier over noise", c_n, "dB", "C/N0 − B"),
    ]
    if way.c_i:
        rows += [*way.c_i, Row("C/(N+I)", "of the hop", c_n_i, "dB", "1/x = Σ 1/x_i")]
    return HopBudget(way.name, tuple(rows), c_n0, c_n, c_n_i)


def c_n0_dbhz(way: Way, attenuation_db: float) -> float:
    """Returns carrier over the noise's density of a hop, dB Hz."""
    received = way.eirp_dbw - way.loss_db - attenuation_db
    return received + way.noise.g_t_db(attenuation_db) - BOLTZMANN_DBW


def c_n_i_db(own: CarrierTable, way: Way, attenuation_db: float) -> float:
    """Returns carrier over noise and interference of a hop, dB."""
    c_n = c_n0_dbhz(way, attenuation_db) - db(float(own.rate.amount))
    return -db(from_db(-c_n) + way.interference)


def together(ratios_db: list[float]) -> float:
    """Returns the ratio of several that follow on each other.

    >>> round(together([10.0, 10.0]), 2)
    6.99
    """
    return -db(sum(from_db(-ratio) for ratio in ratios_db))


def ratio_db(own: CarrierTable, c_n_i: list[float]) -> float:
    """Returns Es/N0, or Eb/N0, of the hops' carrier over noise and interference."""
    return together(c_n_i) - own.implementation_loss


def modcod_at(own: CarrierTable, es_n0_db: float) -> Modcod | None:
    """Returns the highest MODCOD with the margin, as `[adaptive_coding]` chooses it.

    The lowest one is kept down to its threshold; None below.
    """
    coding = AdaptiveCoding.model_validate({"margin": f"{own.margin:.9f} dB"})
    return next(adapted(coding, _modcods(framing_of(own)), [es_n0_db]))


@lru_cache(maxsize=64)
def _modcods(framing: Gse) -> list[Modcod]:
    return modcods_up_to(framing, MODCODS)


def ip_bps(own: CarrierTable, modcod: Modcod) -> float:
    """Returns the rate of IP packets of the file's length, bit/s."""
    framing = framing_of(own).model_copy(update={"modcod": modcod.name})
    line = own.rate.amount * modcod.carried
    on_line = octets_on_line(overhead_of(framing).on_line(line), own.packet)
    return float(line * Fraction(own.packet, on_line))
