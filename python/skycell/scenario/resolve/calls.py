"""Calls decided on: each is put through if every link of its path has room for it when it comes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from typing import NamedTuple

from skycell.input.faults import Path, Verbatim
from skycell.input.quantities import CELL_BITS, PS_PER_SECOND, Quantity, rounded, show_amount
from skycell.scenario.file.calls import Calls
from skycell.scenario.plan.calls import MOST, draw, mean_of
from skycell.scenario.resolve.admission import Crossing, link_uses
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.effective_bandwidth import OnOff
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.resolution import Resolution, part
from skycell.scenario.resolve.sources import interval_ps, peak_of
from skycell.spec.declared.network import CallsSpec, SourcePatternBursts, SourceSpec, StartAt


class _Made(NamedTuple):
    """A call that was asked for, picoseconds, and the link without room for it, if there is one."""

    begin_ps: int
    length_ps: int
    blocked_at: int | None
    is_again: bool


@dataclass
class _Class:
    """Calls of a class, and what has become of them so far."""

    calls: Calls
    number: int
    crossing: Crossing
    interval_ps: int
    links: tuple[str, ...]
    #: VCs that no call holds, by their number; and the calls of each VC, begin and length.
    free: list[int]
    held: list[list[tuple[int, int]]]
    #: Calls as they came, those made again among them.
    made: list[_Made] = field(default_factory=list)


@part
def calls(net: Resolution) -> tuple[tuple[CallsSpec, ...], tuple[SourceSpec, ...]]:
    """Returns the calls of a run, and sources that send the cells of accepted calls.

    Calls are only decided on in a network without faults.
    """
    plan, classes = net.plan, []
    for i, table in enumerate(net.file.calls):
        planned = plan.calls[table.name]
        vc = plan.vcs[planned.vcs[0]]
        interval = interval_ps(net, table, vc.links, ("calls", i))
        peak = peak_of(net, table, vc.links)
        _refuse_faster_than_a_link(net, table, peak, vc.links, ("calls", i))
        crossing = Crossing(table.name, table.service, peak, _on_off(table, peak))
        links = (*vc.links, *sorted(vc.all_links - {*vc.links}))
        free = list(range(len(planned.vcs)))
        classes.append(_Class(table, i, crossing, interval, links, free, [[] for _ in free]))
    if net.faults.faults:
        return (), ()
    if (many := _decide(net, classes)) is not None:
        got = Verbatim(f"more than {show_amount(MOST)} calls, repeated calls included")
        net.faults.add(("calls", many, "redial_after"), got, "a longer time")
        return (), ()
    specs = [_spec(one) for one in classes]
    sources = [
        _source(one, name, net.vc_ids[name], number, net.seed)
        for one in classes
        for number, name in enumerate(plan.calls[one.calls.name].vcs)
    ]
    return tuple(specs), tuple(sources)


def _refuse_faster_than_a_link(
    net: Resolution, calls: Calls, peak: Fraction, links: Sequence[str], here: Path
) -> None:
    """Refuses calls that no link could ever have room for."""
    slowest = min(links, key=lambda link: lines(net)[link].rate)
    room = lines(net)[slowest].rate / CELL_BITS
    if peak > room:
        allowed = f"up to {show_amount(int(room))} cells/s, what {slowest} on its way carries"
        written = calls.rate.text if isinstance(calls.rate, Quantity) else calls.rate
        net.faults.add((*here, "rate"), written, allowed)


def _on_off(calls: Calls, peak: Fraction) -> OnOff:
    if calls.on is None or calls.off is None:
        return OnOff(float(peak), 1.0, 0.0)
    on, off = (float(mean_of(times) / PS_PER_SECOND) for times in (calls.on, calls.off))
    return OnOff(float(peak), on, off)


def _decide(net: Resolution, classes: Sequence[_Class]) -> int | None:
    """Goes through the calls as they come; of those of one moment in the order of the file.

    Whoever is blocked may call again: whether and when is drawn from the stream
    `calls/NAME/redial`. Returns the number of the class whose calls are more than a run may have,
    if that of one is.
    """
    seed, plan, duration_ps = net.seed, net.plan, context(net).duration_ps
    uses = link_uses(net) if net.file.admission.overbooking == "refuse" else {}
    redials = [random.Random(f"{seed}/calls/{one.calls.name}/redial") for one in classes]
    coming = sorted(
        (begin, one.number, length, False)
        for one in classes
        for begin, length in zip(
            plan.calls[one.calls.name].begins_ps, plan.calls[one.calls.name].lengths_ps, strict=True
        )
    )
    up = [0] * len(classes)
    sharing = {
        link: [other for other in classes if link in other.links]
        for one in classes
        for link in one.links
    }
    known: dict[tuple[str, tuple[int, ...]], bool] = {}
    ends: list[tuple[int, int, int]] = []
    while coming:
        begin, number, length, is_again = heappop(coming)
        while ends and ends[0][0] <= begin:
            _, ended, vc = heappop(ends)
            up[ended] -= 1
            heappush(classes[ended].free, vc)
        one = classes[number]
        up[number] += 1
        full = None
        for link in one.links if uses else ():
            here = tuple([up[other.number] for other in sharing[link]])
            if (link, here) not in known:
                crossing = [
                    other.crossing
                    for other, count in zip(sharing[link], here, strict=True)
                    for _ in range(count)
                ]
                known[link, here] = uses[link].has_room_for(crossing)
            if not known[link, here]:
                full = net.link_ids[link]
                break
        one.made.append(_Made(begin, length, full, is_again))
        if full is not None:
            up[number] -= 1
            after, redial = one.calls.redial_after, one.calls.redial or 0.0
            if after is None or redials[number].random() >= redial:
                continue
            again = begin + draw(after, redials[number])
            if again < duration_ps:
                heappush(coming, (again, number, length, True))
            if len(one.made) == MOST:
                return number
            continue
        vc = heappop(one.free)
        one.held[vc].append((begin, length))
        heappush(ends, (begin + length, number, vc))
    return None


def _spec(one: _Class) -> CallsSpec:
    return CallsSpec(
        name=one.calls.name,
        begins_ps=tuple(made.begin_ps for made in one.made),
        lengths_ps=tuple(made.length_ps for made in one.made),
        blocked_at=tuple(made.blocked_at for made in one.made),
        are_again=tuple(made.is_again for made in one.made) if one.calls.redial else (),
    )


def _source(one: _Class, name: str, vc: int, number: int, seed: int) -> SourceSpec:
    """What sends the cells of the calls that hold a VC one after another."""
    setup = rounded(one.calls.setup.amount)
    bursts = [(begin + setup, length - setup) for begin, length in one.held[number]]
    if one.calls.on is not None and one.calls.off is not None:
        rng = random.Random(f"{seed}/calls/{name}/bursts")
        bursts = [burst for call in bursts for burst in _bursts(one.calls, *call, rng)]
    return SourceSpec(
        name=name,
        vc=vc,
        cell_interval_ps=one.interval_ps,
        frame_cells=one.calls.frame,
        pattern=SourcePatternBursts(
            begins_ps=tuple(begin for begin, _ in bursts),
            lengths_ps=tuple(length for _, length in bursts),
        ),
        start=StartAt(time_ps=0),
    )


def _bursts(calls: Calls, begin: int, length: int, rng: random.Random) -> list[tuple[int, int]]:
    """The bursts of a call, the last of which may end with it."""
    assert calls.on is not None
    assert calls.off is not None
    found = []
    at, end = begin, begin + length
    while at < end:
        on = draw(calls.on, rng)
        found.append((at, min(on, end - at)))
        at += on + draw(calls.off, rng)
    return found
