"""Adaptive coding and modulation of a link that is drawn: how Es/N0 goes, and what meets it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from skycell.input.parameters import Parameters, ValueType, param, quantity
from skycell.input.quantities import DAY_PS, Dimension, Quantity, Refused, parse_quantity
from skycell.scenario.file.coding import Ratio

_TimeConstant = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000_000, high=DAY_PS, example="20 min")
]


def _read_decibels(value: Any) -> float:
    if not isinstance(value, str):
        raise Refused("the unit is missing" if isinstance(value, int | float) else "")
    amount = parse_quantity(value)
    if amount.dimension is not Dimension.DECIBEL or not 0 <= amount.amount <= 20:
        raise Refused("")
    return float(amount.amount)


Decibels = Annotated[
    float, ValueType('from 0 dB to 20 dB, such as "0.5 dB"', _read_decibels, {"type": "string"})
]


def _read_sigma(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 5:
        raise Refused("")
    return float(value)


class MasengBakken(Parameters):
    """Rain: attenuation in dB is lognormal, and its logarithm a Gauss-Markov process."""

    kind: Literal["maseng_bakken"] = param(..., "the fade")
    median: Decibels = param(..., "median of the attenuation", symbol="m")
    sigma: Annotated[float, ValueType("above 0, at most 5", _read_sigma, {"type": "number"})] = (
        param(..., "standard deviation of its natural logarithm", symbol="σ")
    )
    time_constant: _TimeConstant = param(
        ..., "time in which the correlation falls to 1/e", symbol="1/β"
    )


class GaussMarkov(Parameters):
    """Scintillation: Es/N0 in dB is a Gauss-Markov process about that of clear sky."""

    kind: Literal["gauss_markov"] = param(..., "the fade")
    deviation: Decibels = param(..., "standard deviation", symbol="σ")
    time_constant: _TimeConstant = param(..., "time in which the correlation falls to 1/e")


class AdaptiveCoding(Parameters):
    """A rate that follows Es/N0 through the MODCODs up to the link's own."""

    es_n0: Ratio = param(..., "energy of a symbol over the noise's density in clear sky")
    fade: Annotated[MasengBakken | GaussMarkov, Field(discriminator="kind")] = param(
        ..., "how Es/N0 departs from that"
    )
    margin: Decibels = param(
        "0 dB", "Es/N0 above a threshold that a MODCOD needs", source="choice: Es/N0 is known"
    )
    hysteresis: Decibels = param(
        "0.5 dB",
        "further Es/N0 that a change to a higher MODCOD needs",
        source="choice: a few changes in a minute",
    )
