"""From the samples of a log to the steps of a link: what is known holds until something else is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal

from skycell.input.account import Account, Assumed
from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.quantities import (
    CELL_BITS,
    PS_PER_SECOND,
    counted,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.links.framing import only_bps
from skycell.scenario.links.gaps import FEWEST, Gap, without_gaps
from skycell.scenario.links.limits import LATEST_PS
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.logs import Log, Sample
from skycell.scenario.links.losses import Burst, Pattern, pattern_of
from skycell.scenario.links.missing import Missing, with_missing
from skycell.scenario.links.phase import best_phase
from skycell.scenario.links.schedule import MOST_STEPS
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

DEFAULT_LOSS_BLOCK_PS = 10 * PS_PER_SECOND
DEFAULT_RATE_BLOCK_PS = PS_PER_SECOND // 10
_HALF = Fraction(1, 2)
_TINY = 1e-9
_LESS_NOISE = 0.8
"""Part of the noise from which on another phase of the blocks is worth a word."""


@dataclass(frozen=True)
class Rule:
    """How a log is read.

    Attributes:
        rtt_share: part of a round trip that is the delay one way, 0 to 1.
        minimum_over_ps: blocks of this length have the least delay measured in them; none: each
            sample has its own.
        phase_ps: beginning of the first whole block of `minimum_over_ps`; none: the first sample.
        lost: what lost packets are: a loss of their block, an outage until the next answer, or,
            with none, what their order says.
        loss_block_ps: length of a block of losses; none: 10 s, but for losses in bursts.
        rate_block_ps: of a block in which opportunities are counted.
        missing: whether rows that a table lacks at its pace are lost packets; none: where the
            pace is even.
        gap: what a time without samples is; none: an outage.
        gap_over_ps: longest time between two samples that is no gap; none: by the sampling.
    """

    rtt_share: Fraction | None = None
    minimum_over_ps: int | None = None
    phase_ps: int | None = None
    lost: Literal["loss", "outage"] | None = None
    loss_block_ps: int | None = None
    rate_block_ps: int | None = None
    missing: Missing | None = None
    gap: Gap | None = None
    gap_over_ps: int | None = None


@dataclass(frozen=True, slots=True)
class _Change:
    """What a step changes; none: it stays."""

    at_ps: int
    delay_ps: int | None = None
    rate_bps: Fraction | None = None
    loss_ppb: int | None = None
    is_up: bool | None = None


@dataclass(frozen=True)
class Interpreted:
    """A log as a rule reads it: what changes and when, whatever the rate of the link is.

    Attributes:
        changes: of the link, in order.
        end_ps: of the log, less what is cut out.
        account: what was made of the file.
    """

    changes: tuple[_Change, ...]
    end_ps: int
    account: Account


def interpreted(name: str, shown: str, log: Log, rule: Rule) -> Interpreted:
    """What a log says of a link by a rule, and what to know of it.

    Args:
        name: of the file, for faults.
        shown: its name as the user gave it.
        log: its samples.
        rule: how they are read.

    Raises:
        ScenarioFaults: it has a gap that is a fault, or is longer than a series may be.
    """
    count = len(log.samples) if log.count is None else log.count
    account = Account(
        shown,
        log.form,
        {log.noun: count},
        (log.end_ps - log.samples[0].at_ps) / PS_PER_SECOND,
        log.left_aside,
        log.assumed,
    )
    log, of_missing = with_missing(log, rule.missing, rule.gap_over_ps)
    account = account.and_also(assumed=of_missing)
    if not log.wraps:
        log, off, assumed, added = without_gaps(name, log, rule.gap, rule.gap_over_ps)
        account = account.and_also(assumed=assumed, added=added)
    else:
        off = ()
    if log.end_ps > LATEST_PS:
        got = f"a series of {show_time(log.end_ps)}"
        allowed = f'up to {show_time(LATEST_PS)}; gap = "cut" takes out times without samples'
        raise ScenarioFaults([Fault(name, "time", got, allowed, "samples of a link")])
    losses, lost_off, of_losses = _losses(log, rule)
    changes = [
        _Change(0),
        *_delays(log, rule),
        *losses,
        *_ups((*off, *lost_off)),
        *_rates(name, log, rule),
    ]
    changes.sort(key=lambda change: change.at_ps)
    assumed = (*_of_shares(log, rule), *_of_phase(log, rule), *of_losses)
    return Interpreted(tuple(changes), log.end_ps, account.and_also(assumed=assumed))


def steps_of_log(name: str, found: Interpreted, rate: LinkRate, own_delay_ps: int | None) -> Steps:
    """The steps of a link that a log drives; the last one is at the log's end.

    Args:
        name: of the file, for faults.
        found: what the log says.
        rate: of the link: the greatest that the log may have.
        own_delay_ps: of the link, where the log has no delays.

    Raises:
        ScenarioFaults: the log has a rate above the link's.
    """
    changes = found.changes
    delay_ps = next((one.delay_ps for one in changes if one.delay_ps is not None), own_delay_ps)
    bps = next((one.rate_bps for one in changes if one.rate_bps is not None), None)
    _check_greatest(name, changes, rate)
    loss_ppb, is_up = 0, True
    times: list[int] = []
    delays: list[int | None] = []
    rates: list[int] = []
    losses: list[int] = []
    link_rate = rate.measure(rate.payload)
    for at, change in enumerate(changes):
        delay_ps = change.delay_ps if change.delay_ps is not None else delay_ps
        bps = change.rate_bps if change.rate_bps is not None else bps
        loss_ppb = change.loss_ppb if change.loss_ppb is not None else loss_ppb
        is_up = change.is_up if change.is_up is not None else is_up
        if at + 1 < len(changes) and changes[at + 1].at_ps == change.at_ps:
            continue
        payload = None if bps is None else rate.payload_of(bps)
        carries = payload is None or payload >= CELL_BITS
        times.append(change.at_ps)
        delays.append(delay_ps if is_up and carries else None)
        before = rates[-1] if rates else link_rate
        measured = link_rate if payload is None else before
        rates.append(rate.measure(payload) if payload is not None and carries else measured)
        losses.append(loss_ppb)
    if times[-1] < found.end_ps:
        times.append(found.end_ps)
        delays.append(delays[-1])
        rates.append(rates[-1])
        losses.append(losses[-1])
    return Steps(
        tuple(times),
        tuple(delays),
        (0,) * len(times),
        tuple(rates) if any(one != link_rate for one in rates) else (),
        tuple(losses) if any(losses) else (),
    )


def loss_one_way(lost: int, sent: int) -> int:
    """Loss each way where a part of the round trips is lost and both ways are alike, in 1e-9.

    A round trip comes back with the chance (1 - p)^2.

    >>> loss_one_way(19, 100)
    100000000
    """
    return WHOLE_PPB - isqrt(WHOLE_PPB * WHOLE_PPB * (sent - lost) // sent)


def repeated(steps: Steps, until_ps: int, most: int) -> Steps:
    """Steps over and over, each round as long as the time of the last one, until a moment.

    At most `most` steps and what is left of a round.
    """
    period_ps = steps.times_ps[-1]
    if period_ps <= 0:
        return steps
    rounds = min(until_ps // period_ps + 1, most // max(len(steps.times_ps) - 1, 1) + 1)
    times = [time + turn * period_ps for turn in range(rounds) for time in steps.times_ps[:-1]] + [
        rounds * period_ps
    ]

    def over(values: tuple[int, ...]) -> tuple[int, ...]:
        return values[:-1] * rounds + values[-1:]

    delays = steps.delays_ps[:-1] * rounds + steps.delays_ps[-1:]
    # A round that ends on another path than it began on is a handover at its end.
    paths = tuple(
        path + turn * (steps.paths[-1] - steps.paths[0])
        for turn in range(rounds)
        for path in steps.paths[:-1]
    )
    last = steps.paths[-1] + (rounds - 1) * (steps.paths[-1] - steps.paths[0])
    return Steps(
        tuple(times),
        delays,
        (*paths, last),
        over(steps.rates),
        over(steps.losses_ppb),
        steps.hops,
        steps.notes,
    )


def _check_greatest(name: str, changes: Sequence[_Change], rate: LinkRate) -> None:
    greatest = max(
        (change.rate_bps for change in changes if change.rate_bps is not None), default=None
    )
    if greatest is None:
        return
    meaning = "the link's own rate is its highest rate"
    if rate.framing is not None and only_bps(rate.framing) is not None:
        allowed = f'a log without rates: framing "{rate.framing.kind}" exists at one bit rate only'
        raise ScenarioFaults([Fault(name, "rate", "rates", allowed, meaning)])
    if rate.payload_of(greatest) <= rate.payload:
        return
    got = f"rates up to {show_amount(round(greatest / 10**6, 3))} Mbit/s"
    allowed = f"up to the rate of the link, {rate.text}: give the link the greatest rate of the log"
    raise ScenarioFaults([Fault(name, "rate", got, allowed, meaning)])


def _delays(log: Log, rule: Rule) -> Iterator[_Change]:
    share = (rule.rtt_share or _HALF) if log.has_round_trips else Fraction(1)
    block_ps = rule.minimum_over_ps
    phase_ps = (rule.phase_ps or 0) % block_ps if block_ps else 0
    least: dict[int, int] = {}
    for sample in log.samples:
        if sample.delay_ps is None:
            continue
        delay_ps = rounded(sample.delay_ps * share)
        if block_ps is None:
            yield _Change(sample.at_ps, delay_ps)
        else:
            block = (sample.at_ps - phase_ps) // block_ps
            least[block] = min(delay_ps, least.get(block, delay_ps))
    for block, delay_ps in least.items():
        yield _Change(max(block * (block_ps or 0) + phase_ps, 0), delay_ps)


def _of_shares(log: Log, rule: Rule) -> Iterator[Assumed]:
    if log.has_round_trips:
        share = show_amount(rule.rtt_share or _HALF)
        by = "key" if rule.rtt_share else "default"
        other = "" if rule.rtt_share else "rtt_share"
        yield Assumed("shares", f"The delay one way is {share} of a round trip.", by, other)


def _of_phase(log: Log, rule: Rule) -> Iterator[Assumed]:
    """Where the blocks of least delays begin, and whether others would part the samples better."""
    block_ps = rule.minimum_over_ps
    if block_ps is None:
        return
    if rule.phase_ps is not None:
        phase = show_time(rule.phase_ps % block_ps)
        yield Assumed("phase", f"Blocks of {show_time(block_ps)} begin {phase} in.", "key")
        return
    import numpy as np

    answered = [sample for sample in log.samples if sample.delay_ps is not None]
    sentence = f"Blocks of {show_time(block_ps)} begin at the first sample."
    if len(answered) < FEWEST or log.end_ps < 2 * block_ps:
        yield Assumed("phase", sentence, "default", "phase")
        return
    times = np.array([sample.at_ps for sample in answered], dtype=np.int64)
    delays = np.array([float(sample.delay_ps or 0) for sample in answered])
    usual = int(np.median(np.diff(times)))
    found = best_phase(times, [delays], block_ps, usual)
    other = "phase"
    if found.noise < _LESS_NOISE * found.noise_at_zero:
        less = show_amount(round(100 * (1 - found.noise / found.noise_at_zero)))
        best = show_time(found.phase_ps)
        sentence += f" From {best} on, blocks have {less} % less variance within them."
        other = f'phase = "{best}"'
    numbers = {"best_phase_s": found.phase_ps / PS_PER_SECOND}
    yield Assumed("phase", sentence, "default", other, numbers)


def _ups(off: Sequence[tuple[int, int]]) -> Iterator[_Change]:
    """The changes between a path and none."""
    end = -1
    for begin, until in sorted(off):
        if begin > end:
            if end >= 0:
                yield _Change(end, is_up=True)
            yield _Change(begin, is_up=False)
        end = max(end, until)
    if end >= 0:
        yield _Change(end, is_up=True)


def _losses(
    log: Log, rule: Rule
) -> tuple[list[_Change], list[tuple[int, int]], tuple[Assumed, ...]]:
    """The losses of a log, the times without a path, and what to say of them."""
    if log.has_losses:
        return *_of_intervals(log), ()
    sent = [sample for sample in log.samples if sample.is_lost or sample.delay_ps is not None]
    pattern = pattern_of([sample.is_lost for sample in sent])
    if not pattern.lost:
        return [], [], ()
    times = [sample.at_ps for sample in sent] + [log.end_ps]
    is_by_log = rule.lost is None and rule.loss_block_ps is None
    block_ps = rule.loss_block_ps or DEFAULT_LOSS_BLOCK_PS
    if rule.lost == "outage":
        off = _lost_spans(sent, times)
        return [], off, (_said(pattern, rule, off, block_ps, is_by_log),)
    outages = pattern.outages if is_by_log else ()
    bursts = pattern.bursts if is_by_log else ()
    off = [(times[begin], times[end]) for begin, end in outages]
    alone = [True] * len(sent)
    for begin, end in (*outages, *((burst.begin, burst.end) for burst in bursts)):
        alone[begin:end] = [False] * (end - begin)
    rest = [sample for sample, is_alone in zip(sent, alone, strict=True) if is_alone]
    level = _block_losses(rest, block_ps, log.has_round_trips)
    changes = _with_bursts(level, bursts, times, log.has_round_trips)
    return changes, off, (_said(pattern, rule, off, block_ps, is_by_log),)


def _of_intervals(log: Log) -> tuple[list[_Change], list[tuple[int, int]]]:
    """The losses that intervals say, and those that lost all: there was no path."""
    changes, off = [], []
    ends = [*(sample.at_ps for sample in log.samples[1:]), log.end_ps]
    for sample, end_ps in zip(log.samples, ends, strict=True):
        if sample.loss == 1:
            off.append((sample.at_ps, end_ps))
        elif sample.loss is not None:
            loss_ppb = loss_one_way(sample.loss.numerator, sample.loss.denominator)
            changes.append(_Change(sample.at_ps, loss_ppb=loss_ppb))
    return changes, off


def _lost_spans(sent: Sequence[Sample], times: Sequence[int]) -> list[tuple[int, int]]:
    return [(times[at], times[at + 1]) for at, sample in enumerate(sent) if sample.is_lost]


def _block_losses(
    samples: Sequence[Sample], block_ps: int, has_round_trips: bool
) -> list[tuple[int, int]]:
    """Beginning and loss of each block of time, in 1e-9; none where nothing is lost."""
    sent: dict[int, int] = {}
    lost: dict[int, int] = {}
    for sample in samples:
        block = sample.at_ps // block_ps
        sent[block] = sent.get(block, 0) + 1
        lost[block] = lost.get(block, 0) + sample.is_lost
    if not any(lost.values()):
        return [(0, 0)]
    return [
        (block * block_ps, loss_one_way(lost[block], count) if has_round_trips else 0)
        for block, count in sorted(sent.items())
    ]


def _with_bursts(
    level: list[tuple[int, int]],
    bursts: Sequence[Burst],
    times: Sequence[int],
    has_round_trips: bool,
) -> list[_Change]:
    """The losses of blocks, and within bursts those of the bursts."""
    begins = [begin for begin, _ in level]
    spans = [(times[burst.begin], times[burst.end]) for burst in bursts]
    starts = [begin for begin, _ in spans]
    changes = []
    for begin, loss in level:
        at = bisect_right(starts, begin) - 1
        if at < 0 or begin >= spans[at][1]:
            changes.append(_Change(begin, loss_ppb=loss))
    for burst, (begin, end) in zip(bursts, spans, strict=True):
        loss = loss_one_way(burst.lost, burst.sent) if has_round_trips else 0
        after = level[max(bisect_right(begins, end) - 1, 0)][1]
        changes += [_Change(begin, loss_ppb=loss), _Change(end, loss_ppb=after)]
    return sorted(changes, key=lambda change: change.at_ps)


def _said(
    pattern: Pattern, rule: Rule, off: Sequence[tuple[int, int]], block_ps: int, is_by_log: bool
) -> Assumed:
    """What lost packets were taken for, and by which numbers."""
    blocks = f"the loss of blocks of {show_time(block_ps)}"
    shape = (
        f"{show_amount(pattern.lost)} of {counted(pattern.sent, 'packet')} "
        f"{'is' if pattern.lost == 1 else 'are'} lost, in {counted(pattern.runs, 'run')}, where "
        f"independent losses have {show_amount(round(pattern.runs_expected, 1))}"
    )
    chance = f"chance {pattern.chance:.1g}" if pattern.chance > _TINY else f"chance below {_TINY}"
    kind = "come in bursts" if pattern.is_in_bursts else "are independent"
    shape += f" ({chance}): losses {kind}."
    if pattern.lost == 1:
        shape = f"1 packet of {pattern.sent} is lost."
    total = show_time(sum(end - begin for begin, end in off))
    outages = counted(len(off), "outage")
    numbers = {
        "sent": float(pattern.sent),
        "lost": float(pattern.lost),
        "lost_in_runs": float(pattern.in_runs),
        "runs": float(pattern.runs),
        "runs_expected": pattern.runs_expected,
        "chance": pattern.chance,
    }
    if rule.lost == "outage":
        text = f"All of them are outages until the next answer, {total} in all."
        return Assumed("losses", f"{shape} {text}", "key", 'lost = "loss"', numbers)
    if not is_by_log:
        text = f"All of them are {blocks}; {pattern.in_runs} have a lost neighbour."
        return Assumed("losses", f"{shape} {text}", "key", 'lost = "outage"', numbers)
    alone = pattern.lost - pattern.in_outages - pattern.in_bursts
    parts = []
    if pattern.outages:
        parts.append(f"{pattern.in_outages} are {outages}, {total} in all")
    if pattern.bursts:
        bursts = counted(len(pattern.bursts), "burst")
        parts.append(f"{pattern.in_bursts} are the loss of {bursts}, each over its own time")
    if alone:
        parts.append(f"{alone} {'is' if alone == 1 else 'are'} {blocks}")
    other = 'lost = "loss"' if pattern.is_in_bursts else 'lost = "outage"'
    numbers |= {
        "lost_in_outages": float(pattern.in_outages),
        "lost_in_bursts": float(pattern.in_bursts),
    }
    return Assumed("losses", f"{shape} {'; '.join(parts)}.", "file", other, numbers)


def _rates(name: str, log: Log, rule: Rule) -> Iterator[_Change]:
    octets: dict[int, int] = {}
    block_ps = rule.rate_block_ps or DEFAULT_RATE_BLOCK_PS
    for sample in log.samples:
        if sample.rate_bps is not None:
            yield _Change(sample.at_ps, rate_bps=sample.rate_bps)
        if sample.octets:
            block = sample.at_ps // block_ps
            octets[block] = octets.get(block, 0) + sample.octets
    if octets:
        blocks = -(-log.end_ps // block_ps)
        if blocks > MOST_STEPS:
            got = f"{show_amount(blocks)} blocks of {show_time(block_ps)}"
            allowed = f"up to {show_amount(MOST_STEPS)}: a longer rate_over has fewer"
            meaning = "blocks of time in which opportunities are counted"
            raise ScenarioFaults([Fault(name, "", got, allowed, meaning)])
        before = None
        for block in range(blocks):
            begin = block * block_ps
            now = octets.get(block, 0) * 8, min(block_ps, log.end_ps - begin)
            if now != before:
                yield _Change(begin, rate_bps=Fraction(now[0] * PS_PER_SECOND, now[1]))
            before = now
