"""Rates of a DVB-S2 link whose MODCOD follows Es/N0: what a file says, and the MODCOD at each time.

Attenuation by rain is that of T. Maseng and P. M. Bakken, A stochastic dynamic model of rain
attenuation, IEEE Transactions on Communications 29 (1981): its logarithm is a stationary
Gauss-Markov process, which between samples dt apart keeps exp(-beta dt) of itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from statistics import NormalDist
from typing import Annotated, Literal

from pydantic import Field

from skycell.coding import threshold_db
from skycell.input.faults import NOTHING, FaultCollector, Verbatim
from skycell.input.parameters import Parameters, decibels, number, param, quantity
from skycell.input.quantities import DAY_PS, Dimension, Quantity
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.coding import Ratio
from skycell.scenario.links.framing import overhead_of, unfit_of
from skycell.scenario.links.schedule import Text

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
        source="the series or the budget has Es/N0 itself",
    )
    fade: Annotated[MasengBakken | GaussMarkov, Field(discriminator="kind")] | None = param(
        None, "departure of Es/N0 from clear sky", source="series or budget says it"
    )
    series: Text | None = param(
        None,
        "a CSV file with time and es_n0_db or attenuation_db, relative to the model's folder; "
        "instead of fade",
        source="fade or budget says it",
    )
    budget: Text | None = param(
        None,
        "a carrier file, whose weather gives Es/N0, relative to the model's folder; instead of "
        "fade",
        source="fade or series says it",
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
    """Notes several courses of Es/N0, or none, and an Es/N0 that is missing or has no use."""
    said = [key for key in ("fade", "series", "budget") if getattr(coding, key) is not None]
    if len(said) != 1:
        got = Verbatim(" and ".join(said)) if said else NOTHING
        where = ("adaptive_coding", said[-1] if said else "fade")
        faults.add(where, got, "one of fade, series and budget")
    elif coding.fade is not None and coding.es_n0 is None:
        allowed = 'a ratio, such as "14 dB", beside fade'
        faults.add(("adaptive_coding", "es_n0"), NOTHING, allowed)
    elif coding.budget is not None and coding.es_n0 is not None:
        allowed = "nothing: the budget has Es/N0 itself"
        faults.add(("adaptive_coding", "es_n0"), f"{coding.es_n0:g} dB", allowed)


_NORMAL = NormalDist()
_SMALLEST_PART = 1e-12
DIGITS = 4
"""Of Es/N0 in dB: machines may differ in the last ones of a logarithm."""


@dataclass(frozen=True)
class Modcod:
    """One that a link may use.

    Attributes:
        name: as in `threshold_db`.
        threshold_db: Es/N0 from which on it leaves next to no errors.
        carried: bits of the line of packets for a symbol.
    """

    name: str
    threshold_db: float
    carried: Fraction


def modcods_up_to(own: Gse, names: Iterable[str]) -> list[Modcod]:
    """Those that need less and carry less than a link's own, which is the last.

    None is left that needs more than another one that carries more.
    """
    found: list[Modcod] = []
    for name in names:
        framing = own.model_copy(update={"modcod": name})
        if unfit_of(framing) is None:
            threshold = threshold_db(name, own.frame)
            found.append(Modcod(name, threshold, overhead_of(framing).carried))
    most = overhead_of(own).carried
    kept: list[Modcod] = []
    for one in sorted(found, key=lambda one: (one.threshold_db, -one.carried)):
        if one.carried <= most and (not kept or one.carried > kept[-1].carried):
            kept.append(one)
    return kept


def es_n0_db(coding: AdaptiveCoding, step_s: float, seed: str, count: int) -> Iterator[float]:
    """Es/N0 of a fade at so many samples, dB; the first is met as in the long run."""
    fade, clear_db = coding.fade, coding.es_n0
    assert fade is not None
    assert clear_db is not None
    kept = exp(-step_s * 1e12 / float(fade.time_constant.amount))
    for score in gauss_markov(seed, kept, count):
        if isinstance(fade, MasengBakken):
            departs = -fade.median * exp(fade.sigma * score)
        else:
            departs = fade.deviation * score
        yield round(clear_db + departs, DIGITS)


def gauss_markov(seed: str, kept: float, count: int) -> Iterator[float]:
    """A stationary process of normal scores, each of which has so much of the one before."""
    rng = random.Random(seed)
    fresh = (1 - kept * kept) ** 0.5
    score = _score(rng)
    for _ in range(count):
        yield score
        score = kept * score + fresh * _score(rng)


def _score(rng: random.Random) -> float:
    return _NORMAL.inv_cdf(max(rng.random(), _SMALLEST_PART))


def adapted(
    coding: AdaptiveCoding, modcods: list[Modcod], ratios_db: Iterable[float]
) -> Iterator[Modcod | None]:
    """The MODCOD at each Es/N0; None, an outage, below the threshold of the lowest.

    A MODCOD is left when Es/N0 falls below its threshold and the margin, and a higher one is taken
    when Es/N0 is above its threshold, the margin and the hysteresis. The lowest is kept down to its
    threshold.
    """
    used: int | None = None  # the first sample needs no hysteresis
    for ratio in ratios_db:
        over = [ratio - coding.margin - modcod.threshold_db for modcod in modcods]
        can = max((i for i, left in enumerate(over) if left >= 0), default=0)
        if used is None or can < used:
            used = can
        else:
            better = (i for i, left in enumerate(over) if left >= coding.hysteresis)
            used = max(used, max(better, default=0))
        yield modcods[used] if ratio >= modcods[0].threshold_db else None
