"""Adaptive coding and modulation of a link that is drawn: how Es/N0 goes, and what meets it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skycell.input.faults import NOTHING, FaultCollector, Verbatim
from skycell.input.parameters import Parameters, number, param, quantity
from skycell.input.quantities import DAY_PS, Dimension, Quantity
from skycell.scenario.file.coding import Ratio, decibels
from skycell.scenario.file.schedule import Text

_TimeConstant = Annotated[
    Quantity, quantity(Dimension.TIME, low=1_000_000_000, high=DAY_PS, example="20 min")
]


Decibels = Annotated[float, decibels(0, 20, "0.5 dB")]


class MasengBakken(Parameters):
    """Rain: attenuation in dB is lognormal, and its logarithm a Gauss-Markov process."""

    kind: Literal["maseng_bakken"] = param(..., "the fade")
    median: Decibels = param(..., "median of the attenuation", symbol="m")
    sigma: Annotated[float, number(above=0, high=5)] = param(
        ..., "standard deviation of its natural logarithm", symbol="σ"
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

    es_n0: Ratio | None = param(
        None,
        "energy of a symbol over the noise's density in clear sky",
        source="the series has Es/N0 itself",
    )
    fade: Annotated[MasengBakken | GaussMarkov, Field(discriminator="kind")] | None = param(
        None, "how Es/N0 departs from that", source="series says it"
    )
    series: Text | None = param(
        None,
        "a CSV file with time and es_n0_db or attenuation_db, relative to the model's folder; "
        "instead of fade",
        source="fade says it",
    )
    margin: Decibels = param(
        "0 dB", "Es/N0 above a threshold that a MODCOD needs", source="choice: Es/N0 is known"
    )
    hysteresis: Decibels = param(
        "0.5 dB",
        "further Es/N0 that a change to a higher MODCOD needs",
        source="choice: a few changes in a minute",
    )


def check_adaptive(coding: AdaptiveCoding, faults: FaultCollector) -> None:
    """Notes a fade and a series together, or neither, and a fade without an Es/N0 to start from."""
    said = [key for key in ("fade", "series") if getattr(coding, key) is not None]
    if len(said) != 1:
        got = Verbatim(" and ".join(said)) if said else NOTHING
        where = ("adaptive_coding", said[-1] if said else "fade")
        faults.add(where, got, "one of fade and series")
    elif coding.fade is not None and coding.es_n0 is None:
        allowed = 'a ratio, such as "14 dB", beside fade'
        faults.add(("adaptive_coding", "es_n0"), NOTHING, allowed)
