"""What a link is like over time, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND
from skycell.scenario.links.link_rate import LinkRate
from skycell.spec.steps import Steps


@dataclass(frozen=True)
class Spread:
    """How a value is spread over time, each weighted by how long it holds."""

    least: float
    median: float
    mean: float
    p90: float
    p95: float
    p99: float
    most: float


@dataclass(frozen=True)
class LinkSummary:
    """What a file makes of a link.

    Attributes:
        form: what the file is.
        steps: in which the link changes.
        span_s: from the first to the last.
        longest_step_s: the longest time without anything new.
        delay_ms: one way, while there is a path; None where the file says none.
        rate_mbps: while there is a path; None where the file says none.
        loss_percent: of frames, while there is a path; None where there is none.
        outages: times without a path.
        outage_s: how long they are together.
        longest_outage_s: the longest of them.
    """

    form: str
    steps: int
    span_s: float
    longest_step_s: float
    delay_ms: Spread | None
    rate_mbps: Spread | None
    loss_percent: Spread | None
    outages: int
    outage_s: float
    longest_outage_s: float


def summary_of(form: str, steps: Steps, rate: LinkRate) -> LinkSummary:
    """What steps are like; `rate` is that of the line of packets that they were read for."""
    ends = (*steps.times_ps[1:], steps.times_ps[-1])
    spans = [end - begin for begin, end in zip(steps.times_ps, ends, strict=True)]
    weights = [
        0 if delay is None else span for delay, span in zip(steps.delays_ps, spans, strict=True)
    ]
    outages: list[int] = []
    was_up = True
    for delay, span in zip(steps.delays_ps, spans, strict=True):
        if delay is None:
            if was_up:
                outages.append(0)
            outages[-1] += span
        was_up = delay is not None
    own = rate.measure(rate.payload)
    has_rates = any(one != own for one in steps.rates)
    return LinkSummary(
        form,
        len(steps.times_ps),
        steps.times_ps[-1] / PS_PER_SECOND,
        max(spans) / PS_PER_SECOND,
        _spread([(delay or 0) / PS_PER_MS for delay in steps.delays_ps], weights)
        if any(steps.delays_ps)
        else None,
        _spread([one / 1e9 for one in steps.rates], weights) if has_rates else None,
        _spread([one / 1e7 for one in steps.losses_ppb], weights) if steps.losses_ppb else None,
        len(outages),
        sum(outages) / PS_PER_SECOND,
        max(outages, default=0) / PS_PER_SECOND,
    )


def _spread(values: list[float], weights: list[int]) -> Spread | None:
    """Spread of values by time; None if none holds for any time."""
    import numpy as np

    # Not `sorted`, which takes the longest of all steps, and hears of no signal meanwhile.
    order: list[int] = np.argsort(np.array(values)).tolist()
    held = [(values[at], weights[at]) for at in order if weights[at]]
    total = sum(weight for _, weight in held)
    if not total:
        return None

    def at(part: float) -> float:
        seen = 0
        for value, weight in held:
            seen += weight
            if seen >= part * total:
                return value
        return held[-1][0]

    mean = sum(value * weight for value, weight in held) / total
    return Spread(held[0][0], at(0.5), mean, at(0.9), at(0.95), at(0.99), held[-1][0])
