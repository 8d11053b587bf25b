"""Gaps of a record: times in which nothing was measured, and what they are taken for."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Literal

from skycell.input.account import Added, Assumed
from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.quantities import PS_PER_SECOND, show_amount, show_time
from skycell.scenario.links.logs import Log, Sample

Gap = Literal["outage", "cut", "hold", "fault"]
DEFAULT_GAP: Gap = "outage"
"""Nothing was measured in a gap: no value is made up, and no packet leaves in it."""
MULTIPLE = 5
"""A gap is longer than this many times the spacing that 95 % of the samples stay within.

Samples at the moments of a Poisson process (RFC 2330, 11.1.1) have 95 % of their spacings within
3.0 times the mean, and one in three million above 15 times.
"""
_PART = 0.95
FEWEST = 10
"""Spacings from which the sampling is known."""


@dataclass(frozen=True)
class Gaps:
    """The gaps of a log.

    Attributes:
        least_ps: a longer time between two samples is a gap; none where the sampling is not known.
        usual_ps: the median time between two samples.
        spans: beginning and end of each: from a usual spacing behind the sample before it.
        before: the sample before each.
    """

    least_ps: int | None
    usual_ps: int
    spans: tuple[tuple[int, int], ...] = ()
    before: tuple[int, ...] = ()

    @property
    def total_ps(self) -> int:
        """How long they are together."""
        return sum(end - begin for begin, end in self.spans)


def gaps_of(samples: tuple[Sample, ...], least_ps: int | None = None) -> Gaps:
    """The gaps of samples, in order of time; `least_ps` is the longest time that is none."""
    times = [sample.at_ps for sample in samples]
    steps = [after - before for before, after in itertools.pairwise(times)]
    if not steps or (least_ps is None and len(steps) < FEWEST):
        return Gaps(least_ps, 0)
    ordered = sorted(steps)
    usual = ordered[(len(ordered) - 1) // 2]
    limit = least_ps
    if limit is None:
        limit = MULTIPLE * ordered[int(_PART * (len(ordered) - 1))]
        if limit <= 0:
            return Gaps(None, usual)
    long = [at for at, step in enumerate(steps) if step > limit]
    spans = tuple((times[at] + min(usual, limit), times[at + 1]) for at in long)
    return Gaps(limit, usual, spans, tuple(long))


def without_gaps(
    name: str, log: Log, gap: Gap | None, least_ps: int | None
) -> tuple[Log, tuple[tuple[int, int], ...], tuple[Assumed, ...], tuple[Added, ...]]:
    """The log with its gaps as they are taken, and what to say of them.

    Returns:
        The log, which is shorter where gaps are cut out; the times without a path; what was
        assumed; and what of the result is not the log's.

    Raises:
        ScenarioFaults: there is a gap, and gaps are faults.
    """
    found = gaps_of(log.samples, least_ps)
    if not found.spans or found.least_ps is None:
        return log, (), (), ()
    taken = gap or DEFAULT_GAP
    number, total = len(found.spans), show_time(found.total_ps)
    one = number == 1
    longest = show_time(max(end - begin for begin, end in found.spans))
    what = (
        f"{number} time{'' if one else 's'} without a sample, {total} in all, the longest {longest}"
    )
    if taken == "fault":
        line = log.samples[found.before[0] + 1].line
        limit, usual = show_time(found.least_ps), show_time(found.usual_ps)
        allowed = f'samples at most {limit} apart, as most are {usual}; or another gap than "fault"'
        raise ScenarioFaults([Fault(name, "", what, allowed, "the record has a gap", line=line)])
    words = {
        "outage": f"{'is an outage' if one else 'are outages'}",
        "cut": f"{'is' if one else 'are'} cut out",
        "hold": f"{'has' if one else 'have'} the values from before",
    }
    limit, usual = show_time(found.least_ps), show_time(found.usual_ps)
    sentence = (
        f"{what}, {words[taken]}. Most samples are {usual} apart, and more than {limit} is a gap."
    )
    other = 'gap = "cut"' if taken == "outage" else 'gap = "outage"'
    numbers = {
        "gaps": float(number),
        "seconds": found.total_ps / PS_PER_SECOND,
        "longer_than_s": found.least_ps / PS_PER_SECOND,
    }
    assumed = Assumed("gaps", sentence, "key" if gap else "default", other, numbers)
    if taken == "cut":
        return _cut(log, found), (), (assumed,), ()
    part = found.total_ps / log.end_ps
    held = (
        "hold values that nobody measured" if taken == "hold" else "are an outage that nobody saw"
    )
    percent = show_amount(round(100 * part, 1))
    seconds = found.total_ps / PS_PER_SECOND
    added = Added("gaps", f"{total}, {percent} % of the time, {held}.", seconds, part)
    return log, found.spans if taken == "outage" else (), (assumed,), (added,)


def _cut(log: Log, gaps: Gaps) -> Log:
    """The log with what follows a gap moved up to a usual spacing behind what is before it."""
    moved: list[Sample] = []
    shift = 0
    ends = {at + 1: end - begin for at, (begin, end) in zip(gaps.before, gaps.spans, strict=True)}
    for at, sample in enumerate(log.samples):
        shift += ends.get(at, 0)
        moved.append(replace(sample, at_ps=sample.at_ps - shift))
    return replace(log, samples=tuple(moved), end_ps=log.end_ps - shift)
