"""Es/N0 of a carrier over time, with the distribution of its budget.

T. Maseng and P. M. Bakken, A stochastic dynamic model of rain attenuation, IEEE Transactions on
Communications 29 (1981): a memoryless function of a stationary Gauss-Markov process. Theirs is an
exponential, for a lognormal attenuation; here it is the attenuation that is exceeded for the per
cent of a year for which the process exceeds its value, which any distribution has.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from statistics import NormalDist

from skycell.link.budget import c_n_i_db, ratio_db
from skycell.link.carrier import Carrier, Way
from skycell.scenario.links.adaptive import DIGITS, gauss_markov

_NORMAL = NormalDist()
_LEAST_PART = 1e-9


def es_n0_series(carrier: Carrier, stream: str, step_ps: int, count: int) -> Iterator[float]:
    """Es/N0, or Eb/N0 of a bit rate, at so many samples, dB; the first is met as in the long run.

    Each hop has a process of its own, from a stream of its own.

    Args:
        carrier: without faults.
        stream: the same text draws the same series, on every machine.
        step_ps: time from one sample to the next.
        count: of samples.
    """
    own = carrier.file.carrier
    kept = exp(-step_ps / float(own.fade_time_constant.amount))
    hops = [
        _hop(carrier, way, gauss_markov(f"{stream}/{name}/fade", kept, count))
        for name, way in carrier.ways.items()
    ]
    for ratios in zip(*hops, strict=True):
        yield round(ratio_db(own, list(ratios)), DIGITS)


def _hop(carrier: Carrier, way: Way, scores: Iterator[float]) -> Iterator[float]:
    own, curve = carrier.file.carrier, way.fade.curve
    for score in scores:
        percent = 100 * max(_NORMAL.cdf(-score), _LEAST_PART)
        yield c_n_i_db(own, way, curve.at(percent))
