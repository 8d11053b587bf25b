"""From the samples of a log to the steps of a link: what is known holds until something else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, rounded, show_amount
from skycell.scenario.file.framing import only_bps
from skycell.scenario.steps.link_rate import LinkRate
from skycell.scenario.steps.logs import Log
from skycell.spec.steps import Steps
from skycell.spec.values import WHOLE_PPB

DEFAULT_LOSS_BLOCK_PS = 10 * PS_PER_SECOND
DEFAULT_RATE_BLOCK_PS = PS_PER_SECOND // 10


@dataclass(frozen=True)
class Rule:
    """How a log is read.

    Attributes:
        rtt_share: part of a round trip that is the delay one way, 0 to 1.
        minimum_over_ps: blocks of this length have the least delay measured in them; none: each
            sample has its own.
        lost_is_outage: whether a lost packet is an outage until the next answer; else it counts in
            the loss of its block.
        loss_block_ps: length of a block of losses.
        rate_block_ps: of a block in which opportunities are counted.
    """

    rtt_share: Fraction = Fraction(1, 2)
    minimum_over_ps: int | None = None
    lost_is_outage: bool = False
    loss_block_ps: int = DEFAULT_LOSS_BLOCK_PS
    rate_block_ps: int = DEFAULT_RATE_BLOCK_PS


@dataclass(frozen=True, slots=True)
class _Change:
    """What a step changes; none: it stays."""

    at_ps: int
    delay_ps: int | None = None
    rate_bps: Fraction | None = None
    loss_ppb: int | None = None
    is_up: bool | None = None


def steps_of_log(
    name: str, log: Log, rule: Rule, rate: LinkRate, own_delay_ps: int | None
) -> Steps:
    """The steps of a link that a log drives; the last one is at the log's end.

    Args:
        name: of the file, for faults.
        log: its samples.
        rule: how they are read.
        rate: of the link: the greatest that the log may have.
        own_delay_ps: of the link, where the log has no delays.

    Raises:
        ScenarioFaults: the log has a rate above the link's.
    """
    changes = sorted(_changes(log, rule), key=lambda change: change.at_ps)
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
    if times[-1] < log.end_ps:
        times.append(log.end_ps)
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


def _check_greatest(name: str, changes: list[_Change], rate: LinkRate) -> None:
    greatest = max((one.rate_bps for one in changes if one.rate_bps is not None), default=None)
    if greatest is None:
        return
    meaning = "the link's own rate is the highest that it ever has"
    if rate.framing is not None and only_bps(rate.framing) is not None:
        allowed = f'a log without rates: framing "{rate.framing.kind}" exists at one bit rate only'
        raise ScenarioFaults([Fault(name, "rate", "rates", allowed, meaning)])
    if rate.payload_of(greatest) <= rate.payload:
        return
    got = f"rates up to {show_amount(round(greatest / 10**6, 3))} Mbit/s"
    allowed = f"up to the rate of the link, {rate.text}: give the link the greatest rate of the log"
    raise ScenarioFaults([Fault(name, "rate", got, allowed, meaning)])


def _changes(log: Log, rule: Rule) -> Iterator[_Change]:
    yield _Change(0)
    yield from _delays(log, rule)
    yield from _losses(log, rule)
    yield from _rates(log, rule)


def _delays(log: Log, rule: Rule) -> Iterator[_Change]:
    share = rule.rtt_share if log.has_round_trips else Fraction(1)
    block_ps = rule.minimum_over_ps
    least: dict[int, int] = {}
    for sample in log.samples:
        if sample.delay_ps is None:
            continue
        delay_ps = rounded(sample.delay_ps * share)
        if block_ps is None:
            yield _Change(sample.at_ps, delay_ps)
        else:
            block = sample.at_ps // block_ps
            least[block] = min(delay_ps, least.get(block, delay_ps))
    for block, delay_ps in least.items():
        yield _Change(block * (block_ps or 0), delay_ps)


def _losses(log: Log, rule: Rule) -> Iterator[_Change]:
    if not log.lost:
        return
    if rule.lost_is_outage:
        for sample in log.samples:
            if sample.is_lost or sample.delay_ps is not None:
                yield _Change(sample.at_ps, is_up=not sample.is_lost)
        return
    sent: dict[int, int] = {}
    lost: dict[int, int] = {}
    for sample in log.samples:
        block = sample.at_ps // rule.loss_block_ps
        sent[block] = sent.get(block, 0) + 1
        lost[block] = lost.get(block, 0) + sample.is_lost
    for block, count in sent.items():
        loss_ppb = loss_one_way(lost[block], count) if log.has_round_trips else 0
        yield _Change(block * rule.loss_block_ps, loss_ppb=loss_ppb)


def _rates(log: Log, rule: Rule) -> Iterator[_Change]:
    octets: dict[int, int] = {}
    for sample in log.samples:
        if sample.rate_bps is not None:
            yield _Change(sample.at_ps, rate_bps=sample.rate_bps)
        if sample.octets:
            block = sample.at_ps // rule.rate_block_ps
            octets[block] = octets.get(block, 0) + sample.octets
    if octets:
        for block in range(-(-log.end_ps // rule.rate_block_ps)):
            begin = block * rule.rate_block_ps
            length = min(rule.rate_block_ps, log.end_ps - begin)
            bits = octets.get(block, 0) * 8
            yield _Change(begin, rate_bps=Fraction(bits * PS_PER_SECOND, length))
