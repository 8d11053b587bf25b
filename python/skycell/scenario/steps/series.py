"""The file that drives a link: a table of steps, or what a measuring tool wrote."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.parameters import exact, meaning_of
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, Quantity, rounded, show_time
from skycell.input.text import csv_faults, read_text
from skycell.scenario.file.links import DELAY_MEANING
from skycell.scenario.file.schedule import MOST_STEPS, Schedule
from skycell.scenario.steps.delay_series import read_delays
from skycell.scenario.steps.link_rate import LinkRate
from skycell.scenario.steps.logs import Log, read_log
from skycell.scenario.steps.sampled import Rule, repeated, steps_of_log
from skycell.spec.steps import Steps

QUEUES_ARE_IN = (
    "The delays of {name} are measured round trips: the queues that the packets met are in them, "
    "and the run adds its own. schedule.minimum_over takes the least of each block of time instead."
)
"""A known trap of measured round trips."""


def read_series(
    folder: Path,
    schedule: Schedule,
    rate: LinkRate,
    own_delay_ps: int | None,
    until_ps: int = 0,
) -> Steps:
    """The steps of the file that a schedule names; with notes on what was taken for granted.

    Args:
        folder: of the scenario.
        schedule: with a series, and how it is read.
        rate: of the link.
        own_delay_ps: of the link, if it has one beside the series.
        until_ps: moment of the series up to which it is repeated, if it is.

    Raises:
        ScenarioFaults: of the file by line, and of keys of the schedule (without a file).
        OSError: the file cannot be read.
    """
    assert schedule.series is not None
    path = folder / schedule.series
    with csv_faults(str(path)):
        text = read_text(path)
        log = read_log(str(path), text, _ps(schedule.interval))
        _check_keys(schedule, log)
        _check_delay(schedule.series, log, own_delay_ps)
        if log is None:
            steps = read_delays(str(path), text, rate, own_delay_ps)
        else:
            steps = steps_of_log(str(path), log, rule_of(schedule), rate, own_delay_ps)
    wraps = log.wraps if log and schedule.repeat is None else bool(schedule.repeat)
    return repeated(steps, until_ps, MOST_STEPS) if wraps else steps


def series_notes(folder: Path, schedule: Schedule) -> tuple[str, ...]:
    """What to know of the file that a schedule names, which is known to be sound."""
    assert schedule.series is not None
    path = folder / schedule.series
    log = read_log(str(path), read_text(path), _ps(schedule.interval))
    if log is None:
        return ()
    trap: tuple[str, ...] = ()
    if log.has_round_trips and schedule.minimum_over is None:
        trap = (QUEUES_ARE_IN.format(name=schedule.series),)
    return (*(f"{schedule.series}: {note}" for note in log.notes), *trap)


def rule_of(schedule: Schedule) -> Rule:
    """How a schedule reads a log."""
    usual = Rule()
    return Rule(
        Fraction(exact(schedule.rtt_share)) if schedule.rtt_share else usual.rtt_share,
        _ps(schedule.minimum_over),
        schedule.lost == "outage",
        _ps(schedule.loss_over) or usual.loss_block_ps,
        _ps(schedule.rate_over) or usual.rate_block_ps,
    )


def _ps(time: Quantity | None) -> int | None:
    return None if time is None else rounded(time.amount)


def _check_keys(schedule: Schedule, log: Log | None) -> None:
    """Refuses a key that says nothing of this file."""
    applies = {
        "rtt_share": log is not None and log.has_round_trips,
        "minimum_over": log is not None and log.has_delays,
        "lost": log is not None and log.has_delays,
        "loss_over": log is not None and log.has_delays,
        "rate_over": log is not None and any(sample.octets for sample in log.samples),
        "interval": log is not None and log.has_round_trips,
    }
    what = "a table of steps" if log is None else log.form
    faults = [
        Fault(
            "",
            key,
            f"{getattr(schedule, key)} for {schedule.series}, {what}",
            "nothing: it has no effect on such a file",
            meaning_of(Schedule.model_fields[key]),
        )
        for key, has_effect in applies.items()
        if getattr(schedule, key) is not None and not has_effect
    ]
    if faults:
        raise ScenarioFaults(faults)


def _check_delay(name: str, log: Log | None, own_delay_ps: int | None) -> None:
    """Refuses a log with delays beside a delay of the link, and one without where it has none."""
    if log is None or log.has_delays != (own_delay_ps is not None):
        return
    if own_delay_ps is None:
        got = f"nothing, and {log.form} in {name}"
        allowed = 'a delay, such as "25 ms", beside schedule: the file has none'
    else:
        got = f"{show_time(own_delay_ps)}, and {log.form} in {name}"
        allowed = "no delay of the link: the file has them"
    raise ScenarioFaults([Fault("", "delay", got, allowed, DELAY_MEANING)])


@dataclass(frozen=True)
class Spread:
    """How a value is spread over time, each weighted by how long it holds."""

    least: float
    median: float
    mean: float
    p95: float
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


def understood(folder: Path, schedule: Schedule, rate: LinkRate) -> tuple[str, Steps]:
    """What the file of a schedule is, in words, and one round of its steps, with any delay.

    A file without delays gets one of 0.

    Raises:
        ScenarioFaults: as `read_series`.
        OSError: the file cannot be read.
    """
    assert schedule.series is not None
    path = folder / schedule.series
    with csv_faults(str(path)):
        log = read_log(str(path), read_text(path), _ps(schedule.interval))
    try:
        steps = read_series(folder, schedule, rate, None)
    except ScenarioFaults as faults:
        lacks_delay = all(one.path == "delay" and not one.file for one in faults.faults)
        if not lacks_delay:
            raise
        steps = read_series(folder, schedule, rate, 0)
    return (log.form if log else "table of steps"), steps


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
    held = sorted((value, weight) for value, weight in zip(values, weights, strict=True) if weight)
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
    return Spread(held[0][0], at(0.5), mean, at(0.95), held[-1][0])
