"""Links that are drawn from a model: slots with levels of their own, noise, and outages.

A delay or rate is the level of its slot (Starlink assigns paths anew every 15 s) and the noise of
its sample. Both have the model's distribution, by its quantiles, and remember their last value as
an autoregressive process of first order does, in normal scores (Cario and Nelson, "Autoregressive
to anything", Operations Research Letters 19, 1996). A slot is a path of its own. Outages begin and
end by the quantiles of their lengths and of the times between. Delay, rate and outages do not
depend on each other.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import NormalDist

from skycell.coding.dvb_s2 import MODCODS
from skycell.input.checking import check_against
from skycell.input.faults import Fault, FaultCollector, ScenarioFaults, Verbatim
from skycell.input.forms import meaning_at
from skycell.input.parameters import exact
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, Quantity, rounded, show_amount
from skycell.input.text import read_text
from skycell.input.toml_text import read_toml
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.adaptive import (
    AdaptiveCoding,
    adapted,
    check_adaptive,
    es_n0_db,
    modcods_up_to,
)
from skycell.scenario.links.es_n0_series import read_es_n0
from skycell.scenario.links.framing import overhead_of
from skycell.scenario.links.keys import DELAY_MEANING
from skycell.scenario.links.link_model import LevelProcess, LinkModel
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.outages import check_outages, expected_outages, quantile, spans_off
from skycell.scenario.links.schedule import MOST_STEPS, Schedule
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

#: Returns Es/N0 in dB at each sample, of a budget that a model's file names: model, name, symbol
#: rate of the link, stream, picoseconds from one sample to the next, and number of samples.
OfBudget = Callable[[Path, str, Fraction, str, int, int], Iterator[float]]

_NORMAL = NormalDist()
_SMALLEST_PART = 1e-12
_MBPS = 1_000_000


def read_model(path: Path) -> LinkModel:
    """A model from its file.

    Raises:
        ScenarioFaults: with every fault of the file.
        OSError: the file cannot be read.
    """
    values, positions = read_toml(read_text(path), str(path))
    faults = FaultCollector(str(path), positions)
    model = check_against(LinkModel, values, faults)
    faults.meaning_at = partial(meaning_at, model)
    if model.slot is not None and model.slot.amount < model.step.amount:
        allowed = f"{model.step} or longer: a step is no longer than its slot"
        faults.add(("slot",), str(model.slot), allowed)
    for name in ("delay_ms", "rate_mbps"):
        process: LevelProcess | None = getattr(model, name)
        if process is not None and process.slots[-1] + process.noise[-1] <= 0:
            got = Verbatim(f"at most {show_amount(process.slots[-1] + process.noise[-1])}")
            faults.add((name,), got, "values above 0")
    if model.adaptive_coding is not None and model.rate_mbps is not None:
        allowed = "nothing with adaptive_coding, which gives the rate"
        faults.add(("rate_mbps",), Verbatim("a table"), allowed)
    if model.adaptive_coding is not None:
        check_adaptive(model.adaptive_coding, faults)
    if model.outages is not None:
        check_outages(model.outages, faults)
    faults.raise_if_any()
    return model


def drawn_steps(
    folder: Path,
    schedule: Schedule,
    rate: LinkRate,
    own_delay_ps: int | None,
    seed: str,
    end_ps: int,
    of_budget: OfBudget,
) -> Steps:
    """The course of a link that a schedule has drawn, from its beginning to a moment.

    Args:
        folder: of the scenario.
        schedule: with a model.
        rate: of the link, and the greatest that the model may have.
        own_delay_ps: of the link, if it has one beside the model.
        seed: the same text draws the same course, on every machine.
        end_ps: what the steps cover at least.
        of_budget: returns Es/N0 of a carrier's budget.

    Raises:
        ScenarioFaults: of the model's file, and of keys of the schedule (without a file).
        OSError: the file cannot be read.
    """
    assert schedule.model is not None
    path = folder / schedule.model
    model = read_model(path)
    if (model.delay_ms is None) != (own_delay_ps is not None):
        got = "nothing" if own_delay_ps is None else "a delay beside that of the model"
        allowed = (
            'a delay, such as "25 ms", beside schedule: the model has none'
            if own_delay_ps is None
            else "no delay of the link: the model has one"
        )
        raise ScenarioFaults([Fault("", "delay", got, allowed, DELAY_MEANING)])
    count = -(-end_ps // _ps(model.step)) + 1
    if count > MOST_STEPS:
        least = show_amount(MOST_STEPS)
        got = f"{show_amount(count)} steps of {model.step}"
        raise ScenarioFaults([Fault(str(path), "step", got, f"at most {least} in a run")])
    if model.outages is not None and 2 * expected_outages(model.outages, end_ps) > MOST_STEPS:
        least = show_amount(MOST_STEPS // 2)
        got = f"{show_amount(round(expected_outages(model.outages, end_ps)))} in a run"
        raise ScenarioFaults([Fault(str(path), "outages", got, f"at most {least} in the mean")])
    own = rate.payload
    if model.rate_mbps is not None:
        most = rate.payload_of(_bps(model.rate_mbps.slots[-1]))
        if most > own:
            got = f"up to {model.rate_mbps.slots[-1]:g} Mbit/s"
            allowed = f"at most the link's own rate, {rate.text}"
            raise ScenarioFaults([Fault(str(path), "rate_mbps.slots", got, allowed)])
    coded: list[Fraction] = []
    if model.adaptive_coding is not None:
        stream = f"{seed}/es_n0"
        coded = _coded(model.adaptive_coding, rate, path, _ps(model.step), stream, count, of_budget)
    return _steps(model, rate, own_delay_ps, seed, coded, count, end_ps)


def _coded(
    coding: AdaptiveCoding,
    rate: LinkRate,
    file: Path,
    step_ps: int,
    seed: str,
    count: int,
    of_budget: OfBudget,
) -> list[Fraction]:
    """Rate of the line of packets at each sample, bit/s; 0 in an outage."""
    _check_adaptive(coding, rate, str(file))
    assert isinstance(rate.framing, Gse)
    symbols = rate.payload / overhead_of(rate.framing).carried
    if coding.budget is not None:
        ratios = of_budget(file, coding.budget, symbols, seed, step_ps, count)
    elif coding.series is None:
        ratios = es_n0_db(coding, step_ps / PS_PER_SECOND, seed, count)
    else:
        ratios = iter(read_es_n0(file, coding, step_ps, count))
    found = adapted(coding, modcods_up_to(rate.framing, MODCODS), ratios)
    return [symbols * one.carried if one else Fraction(0) for one in found]


def _check_adaptive(coding: AdaptiveCoding, rate: LinkRate, file: str) -> None:
    """Refuses what has no MODCOD, or an Es/N0 that the lowest cannot do with in clear sky."""
    if not isinstance(rate.framing, Gse):
        allowed = 'a link with a symbol rate and framing = { kind = "gse", modcod = ... }'
        got = f"a link of {rate.text} with another framing"
        raise ScenarioFaults([Fault(file, "adaptive_coding", got, allowed)])
    lowest = modcods_up_to(rate.framing, MODCODS)[0]
    least = lowest.threshold_db + coding.margin
    if coding.es_n0 is not None and coding.es_n0 < least:
        got = f"{coding.es_n0:g} dB"
        allowed = (
            f"from {least:g} dB, which {lowest.name} needs with the margin: "
            "below it there is only outage"
        )
        raise ScenarioFaults([Fault(file, "adaptive_coding.es_n0", got, allowed)])


def _steps(
    model: LinkModel,
    rate: LinkRate,
    own_delay_ps: int | None,
    seed: str,
    coded: list[Fraction],
    count: int,
    end_ps: int,
) -> Steps:
    step_ps = _ps(model.step)
    delays = model.delay_ms and list(values_of(model, model.delay_ms, f"{seed}/delay", count))
    mbps = model.rate_mbps and list(values_of(model, model.rate_mbps, f"{seed}/rate", count))
    off = spans_off(model.outages, _ps(model.step), f"{seed}/outages", end_ps)
    begins = [begin for begin, _ in off]
    times = sorted({*range(0, count * step_ps, step_ps), *(edge for span in off for edge in span)})
    own = rate.measure(rate.payload)
    first = _slot(model, 0)
    kept: list[tuple[int, int | None, int, int]] = []
    for time in times:
        step = min(time // step_ps, count - 1)
        span = bisect_right(begins, time) - 1
        delay = rounded(exact(delays[step]) * PS_PER_MS) if delays else own_delay_ps
        payload = rate.payload_of(_bps(mbps[step])) if mbps else None
        payload = coded[step] if coded else payload
        if (span >= 0 and time < off[span][1]) or payload == 0:
            delay, payload = None, None
        measured = own if payload is None else rate.measure(min(payload, rate.payload))
        kept.append((time, delay, _slot(model, time) - first, measured))
    loss_ppb = rounded(exact(model.loss or 0.0) * WHOLE_PPB)
    return Steps(
        tuple(time for time, _, _, _ in kept),
        tuple(delay for _, delay, _, _ in kept),
        tuple(path for _, _, path, _ in kept),
        tuple(measured for _, _, _, measured in kept) if mbps or coded else (),
        (loss_ppb,) * len(kept) if loss_ppb else (),
    )


def values_of(model: LinkModel, process: LevelProcess, seed: str, count: int) -> Iterator[float]:
    """Samples of a course, 0 or more, within what the model says of slots and noise."""
    rng = random.Random(seed)
    levels, noises = _parts(rng, process.slot_memory), _parts(rng, process.noise_memory)
    step_ps = _ps(model.step)
    slot: int | None = None
    level = 0.0
    for step in range(count):
        number = _slot(model, step * step_ps)
        if number != slot:
            slot, level = number, quantile(process.slots, next(levels))
        yield max(0.0, level + quantile(process.noise, next(noises)))


def _slot(model: LinkModel, at_ps: int) -> int:
    """The number of the slot that a moment is in; the first whole one is 0."""
    if model.slot is None:
        return 0
    return (at_ps - _ps(model.phase)) // _ps(model.slot)


def _parts(rng: random.Random, memory: float) -> Iterator[float]:
    """Numbers from 0 to 1, evenly distributed, whose normal scores remember the one before."""
    fresh = (1 - memory * memory) ** 0.5
    score = _score(rng)
    while True:
        yield _NORMAL.cdf(score)
        score = memory * score + fresh * _score(rng)


def _score(rng: random.Random) -> float:
    return _NORMAL.inv_cdf(max(rng.random(), _SMALLEST_PART))


def _bps(mbps: float) -> Fraction:
    return exact(mbps) * _MBPS


def _ps(time: Quantity) -> int:
    return rounded(time.amount)
