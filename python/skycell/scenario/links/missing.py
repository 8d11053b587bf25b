"""Rows that a table of answers lacks: lost packets, where packets left at an even pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from skycell.input.account import Assumed
from skycell.input.quantities import counted, show_time
from skycell.scenario.links.gaps import FEWEST, gaps_of
from skycell.scenario.links.logs import Log, Sample
from skycell.scenario.links.schedule import MOST_STEPS

Missing = Literal["lost", "nothing"]
MOST_UNEVEN = 0.05
"""Mean deviation of the spacings, in parts of the usual one, up to which a pace is even."""


def with_missing(
    log: Log, missing: Missing | None, gap_ps: int | None
) -> tuple[Log, tuple[Assumed, ...]]:
    """A log with a lost packet for each row that is missing, if they are; and what to say of it.

    A tool that writes answers alone leaves out what was lost. Where packets left at an even pace,
    the number that are missing between two rows is known. Times that are gaps stay gaps. A table
    that has rows without an answer names its losses itself.
    """
    if not log.may_lack_rows or len(log.samples) <= FEWEST:
        return log, ()
    found = gaps_of(log.samples, gap_ps)
    gaps = set(found.before)
    spacings = [after.at_ps - before.at_ps for before, after in pairwise(log.samples)]
    usual = found.usual_ps
    if usual <= 0:
        return log, ()
    off = [
        abs(spacing - usual * _packets(spacing, usual)) / usual
        for at, spacing in enumerate(spacings)
        if at not in gaps
    ]
    uneven = sum(off) / max(len(off), 1)
    lacking = {
        at: _packets(spacing, usual) - 1
        for at, spacing in enumerate(spacings)
        if at not in gaps and _packets(spacing, usual) > 1
    }
    count = sum(lacking.values())
    is_even = uneven <= MOST_UNEVEN
    if not count or (missing is None and not is_even) or len(log.samples) + count > MOST_STEPS:
        return log, ()
    taken = missing or "lost"
    rows = counted(count, "row")
    sentence = (
        f"Packets left {show_time(usual)} apart, and {rows} {_is(count)} missing at that pace"
    )
    if taken == "lost":
        sentence += f": {'it is a lost packet' if count == 1 else 'they are lost packets'}."
    else:
        sentence += ". No packet is taken as lost for that."
    by = "key" if missing else "file"
    other = 'missing = "nothing"' if taken == "lost" else 'missing = "lost"'
    numbers = {"missing": float(count), "uneven": float(round(uneven, 6))}
    assumed = (Assumed("missing", sentence, by, other, numbers),)
    return (
        replace(log, samples=_filled(log.samples, lacking)) if taken == "lost" else log
    ), assumed


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _packets(spacing: int, usual: int) -> int:
    """How many usual spacings one is, at least one."""
    return max(1, (2 * spacing + usual) // (2 * usual))


def _filled(samples: Sequence[Sample], lacking: dict[int, int]) -> tuple[Sample, ...]:
    whole: list[Sample] = []
    for at, sample in enumerate(samples):
        whole.append(sample)
        if at in lacking:
            spacing = samples[at + 1].at_ps - sample.at_ps
            parts = lacking[at] + 1
            whole += [
                Sample(sample.at_ps + spacing * part // parts, is_lost=True)
                for part in range(1, parts)
            ]
    return tuple(whole)
