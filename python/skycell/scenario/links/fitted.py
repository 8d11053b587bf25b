"""From a measured link to a model of it, and how well what the model draws is like it.

The level of a slot is its mean, and its noise what is left. The slots' phase is that which leaves
the least noise. The check draws the measured time anew with several seeds: what was measured should
lie within what the draws have.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, show_amount, show_time
from skycell.scenario.links.drawn import values_of
from skycell.scenario.links.link_model import MOST_MEMORY, LevelProcess, LinkModel
from skycell.scenario.links.outages import Outages, spans_off
from skycell.scenario.links.phase import best_phase
from skycell.spec.steps import Steps

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

QUANTILES = 41
"""Of a fitted distribution: each 2.5 %."""
FEWEST_SLOTS = 8
"""Slots that a fit asks for: fewer say nothing of how levels are spread."""
MOST_SAMPLES = 2_000_000
"""Samples by which a phase is found; a longer series is sampled more coarsely."""
DRAWS = 20
"""Seeds that a check draws."""
_NORMAL = NormalDist()


class UnfitError(ValueError):
    """A series is too short or too long, or has too little in it, for a model."""


@dataclass(frozen=True)
class Checked:
    """One property of a measured series beside what a model draws.

    Attributes:
        value: what goes through time: `delay_ms`, `rate_mbps` or `outages`.
        what: the property.
        measured: of the series.
        low: the least of the draws.
        mean: their mean.
        high: their greatest.
    """

    value: str
    what: str
    measured: float
    low: float
    mean: float
    high: float

    @property
    def is_inside(self) -> bool:
        """Whether what was measured is within what is drawn."""
        return self.low <= self.measured <= self.high


def fit(
    steps: Steps, *, step_ps: int, slot_ps: int, phase_ps: int | None, has_delay: bool
) -> LinkModel:
    """The model of a measured link.

    Args:
        steps: what was measured, on a line of packets.
        step_ps: time from one sample of the model to the next.
        slot_ps: for which a level holds, at least a step.
        phase_ps: beginning of the first whole slot; that with the least noise if not given.
        has_delay: whether the delays were measured.

    Raises:
        UnfitError: fewer than 8 slots, or no path at any time.
    """
    import numpy as np

    span_ps = steps.times_ps[-1] - steps.times_ps[0]
    if span_ps < FEWEST_SLOTS * slot_ps:
        raise UnfitError(
            f"{show_time(span_ps)}, which is {span_ps // slot_ps} slots of {show_time(slot_ps)}: "
            f"a model needs {FEWEST_SLOTS} or more"
        )
    if span_ps > MOST_SAMPLES * step_ps:
        raise UnfitError(
            f"{show_time(span_ps)}, which is more than {show_amount(MOST_SAMPLES)} steps of "
            f"{show_time(step_ps)}: a model may have fewer, with a longer --step"
        )
    measured = sampled(steps, step_ps)
    if not np.isfinite(measured["delay_ms"]).any():
        raise UnfitError("no path at any time")
    if not has_delay:
        del measured["delay_ms"]
    if phase_ps is None:
        phase_ps = _phase_of(steps, slot_ps, step_ps, has_delay)
    slots = _slots(len(next(iter(measured.values()), ())), step_ps, slot_ps, phase_ps)
    losses = np.array(steps.losses_ppb or (0,), dtype=float)
    weights = np.diff(np.array(steps.times_ps, dtype=float)) if steps.losses_ppb else None
    loss = float(np.average(losses[:-1], weights=weights)) / 1e9 if steps.losses_ppb else 0.0
    return LinkModel(
        step=show_time(step_ps),
        slot=show_time(slot_ps),
        phase=show_time(phase_ps),
        loss=round(loss, 9) or None,
        outages=_outages(steps),
        **{name: _process(values, slots) for name, values in measured.items()},
    )


def sampled(steps: Steps, step_ps: int) -> dict[str, Samples]:
    """Delay in ms and, where it varies, rate in Mbit/s, sample by sample; NaN without a path."""
    import numpy as np

    times = np.array(steps.times_ps, dtype=np.int64)
    moments = np.arange(times[0], times[-1], step_ps)
    at = np.searchsorted(times, moments, side="right") - 1
    delays = np.array([np.nan if d is None else d / PS_PER_MS for d in steps.delays_ps])[at]
    found = {"delay_ms": delays}
    if steps.rates:
        rates = np.array(steps.rates, dtype=float)[at] / 1e9
        found["rate_mbps"] = np.where(np.isnan(delays), np.nan, rates)
    return found


def _slots(count: int, step_ps: int, slot_ps: int, phase_ps: int) -> NDArray[Any]:
    """The number of each sample's slot."""
    import numpy as np

    return (np.arange(count, dtype=np.int64) * step_ps - phase_ps) // slot_ps


def _levels(values: Samples, slots: NDArray[Any]) -> tuple[Samples, Samples]:
    """The mean of each slot in order, NaN where it has no path; and that of each sample's slot."""
    import numpy as np

    number = slots - slots[0]
    there = np.isfinite(values)
    sums = np.bincount(number, np.where(there, values, 0.0))
    counts = np.bincount(number, there.astype(float))
    with np.errstate(invalid="ignore", divide="ignore"):
        levels = sums / counts
    return levels, levels[number]


def _phase_of(steps: Steps, slot_ps: int, step_ps: int, has_delay: bool) -> int:
    """The phase of slots with the least noise, at the resolution of what was measured."""
    import numpy as np

    times = np.array(steps.times_ps, dtype=np.int64)
    usual = int(np.median(np.diff(times)))
    fine = max(min(step_ps, usual), int(times[-1] - times[0]) // MOST_SAMPLES, 1)
    measured = sampled(steps, fine)
    if not has_delay:
        del measured["delay_ms"]
    courses = list(measured.values())
    moments = np.arange(len(courses[0]) if courses else 1, dtype=np.int64) * fine
    return best_phase(moments, courses, slot_ps, fine).phase_ps


def _process(values: Samples, slots: NDArray[Any]) -> LevelProcess:
    import numpy as np

    levels, own = _levels(values, slots)
    noise = values - own
    inside = slots[1:] == slots[:-1]
    return LevelProcess(
        slots=_quantiles(levels),
        slot_memory=_memory(levels, np.ones(len(levels) - 1, dtype=bool)),
        noise=_quantiles(noise),
        noise_memory=_memory(noise, inside),
    )


def _quantiles(values: Samples) -> list[float]:
    import numpy as np

    found = values[np.isfinite(values)]
    if np.ptp(found) == 0:
        return [round(float(found[0]), 6)]
    parts = np.linspace(0, 1, QUANTILES)
    return [round(float(q), 6) for q in np.quantile(found, parts)]


def _memory(values: Samples, is_pair: NDArray[Any]) -> float:
    """Correlation of the normal scores of neighbours, of those pairs that are meant."""
    import numpy as np

    there = np.isfinite(values)
    ranks = np.full(len(values), np.nan)
    order = np.argsort(values[there], kind="stable")
    places = np.empty(len(order))
    places[order] = np.arange(len(order))
    _, inverse, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    places = (np.bincount(inverse, places) / counts)[inverse]  # equals share their mean rank
    ranks[there] = [_NORMAL.inv_cdf((place + 0.5) / len(places)) for place in places]
    pairs = is_pair & np.isfinite(ranks[1:]) & np.isfinite(ranks[:-1])
    before, after = ranks[:-1][pairs], ranks[1:][pairs]
    if len(before) < 3 or not before.std() or not after.std():
        return 0.0
    found = float(np.corrcoef(before, after)[0, 1])
    return round(max(-MOST_MEMORY, min(MOST_MEMORY, found)), 4)


def outages_of(steps: Steps) -> list[tuple[int, int]]:
    """Beginnings and ends of the times without a path."""
    spans: list[tuple[int, int]] = []
    ends = (*steps.times_ps[1:], steps.times_ps[-1])
    for begin, end, delay in zip(steps.times_ps, ends, steps.delays_ps, strict=True):
        if delay is None and end > begin:
            if spans and spans[-1][1] == begin:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((begin, end))
    return spans


def _outages(steps: Steps) -> Outages | None:
    import numpy as np

    spans = outages_of(steps)
    if not spans:
        return None
    lengths = np.array([end - begin for begin, end in spans]) / PS_PER_SECOND
    # A time before the first outage and one after the last are part of a gap each: together one.
    edges = [steps.times_ps[0], *(edge for span in spans for edge in span), steps.times_ps[-1]]
    gaps = np.array(
        [later - earlier for earlier, later in zip(edges[::2], edges[1::2], strict=True)]
    )
    inner = [*gaps[1:-1], gaps[0] + gaps[-1]]
    return Outages(
        lengths_s=_quantiles(lengths), gaps_s=_quantiles(np.array(inner) / PS_PER_SECOND)
    )


def check(model: LinkModel, steps: Steps) -> list[Checked]:
    """A measured series beside what its model draws over the same time with 20 seeds."""
    import numpy as np

    slot = model.slot or model.step
    step_ps, slot_ps = (int(time.amount) for time in (model.step, slot))
    measured = sampled(steps, step_ps)
    found: list[Checked] = []
    for name in ("delay_ms", "rate_mbps"):
        process: LevelProcess | None = getattr(model, name)
        if process is None:
            continue
        own = measured[name]
        drawn = [
            np.array(list(values_of(model, process, f"check/{seed}", len(own))))
            for seed in range(DRAWS)
        ]
        found += [
            _beside(name, what, of(own), [of(one) for one in drawn])
            for what, of in _properties(slot_ps // step_ps, step_ps).items()
        ]
    if model.outages is not None:
        span_ps = steps.times_ps[-1] - steps.times_ps[0]
        own_spans = outages_of(steps)
        spans = [
            spans_off(model.outages, step_ps, f"check/{seed}/outages", span_ps)
            for seed in range(DRAWS)
        ]

        def share(of: list[tuple[int, int]]) -> float:
            return sum(min(end, span_ps) - begin for begin, end in of) / span_ps

        shift = steps.times_ps[0]
        own_spans = [(begin - shift, end - shift) for begin, end in own_spans]
        found.append(
            _beside("outages", "number", len(own_spans), [float(len(span)) for span in spans])
        )
        found.append(
            _beside("outages", "part of the time", share(own_spans), [share(one) for one in spans])
        )
    return found


def _beside(value: str, what: str, measured: float, drawn: Sequence[float]) -> Checked:
    mean = sum(drawn) / len(drawn)
    return Checked(value, what, measured, min(drawn), mean, max(drawn))


def _properties(per_slot: int, step_ps: int) -> dict[str, Any]:
    import numpy as np

    def after(lag: int) -> Any:
        def correlation(values: Samples) -> float:
            pair = np.isfinite(values[lag:]) & np.isfinite(values[:-lag])
            before, later = values[:-lag][pair], values[lag:][pair]
            if not before.std() or not later.std():
                return 0.0
            return float(np.corrcoef(before, later)[0, 1])

        return correlation

    found: dict[str, Any] = {
        "mean": lambda values: float(np.nanmean(values)),
        "standard deviation": lambda values: float(np.nanstd(values)),
    }
    for percent in (5, 50, 95):
        found[f"{percent} %"] = lambda values, p=percent: float(np.nanpercentile(values, p))
    lags = sorted({1, max(1, per_slot // 2), per_slot, 2 * per_slot})
    for lag in lags:
        found[f"correlation after {show_time(lag * step_ps)}"] = after(lag)
    return found


def model_text(model: LinkModel, heading: str) -> str:
    """The model as its file, below a comment."""
    lines = [f"# {line}" for line in textwrap.wrap(heading, 98)]
    lines += [f'{name} = "{getattr(model, name)}"' for name in ("step", "slot", "phase")]
    if model.loss is not None:
        lines.append(f"loss = {model.loss!r}")
    for name in ("delay_ms", "rate_mbps", "outages"):
        table = getattr(model, name)
        if table is None:
            continue
        lines += ["", f"[{name}]"]
        for key in type(table).model_fields:
            value = getattr(table, key)
            if isinstance(value, tuple):
                numbers = ", ".join(
                    f"{number:g}" if number == 0 else repr(number) for number in value
                )
                wrapped = textwrap.wrap(numbers, 96, initial_indent="  ", subsequent_indent="  ")
                lines += [f"{key} = [", *wrapped, "]"]
            elif value is not None:
                lines.append(f"{key} = {value!r}")
    return "\n".join(lines) + "\n"
