"""Samples of a link over time, whatever tool measured them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from skycell.input.account import Assumed, LeftAside
from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.quantities import show_time
from skycell.scenario.links.limits import LONGEST_SPAN_PS

MOST_FAULTS = 20
"""Of a file that is wrong throughout."""
MEANING = "samples of a link"

Stamp = Literal["sent", "answered"]
Direction = Literal["up", "down"]


@dataclass(frozen=True)
class Asked:
    """What a user says of a file; none where the file decides.

    Attributes:
        interval_ps: time from one packet to the next of a file without times.
        stamp: what a time stamp is the moment of.
        direction: which direction is read of a file with both.
    """

    interval_ps: int | None = None
    stamp: Stamp | None = None
    direction: Direction | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured at one moment.

    Attributes:
        at_ps: when the packet was sent, or the interval began: since the beginning of the log.
        delay_ps: how long it took, one way or there and back as the log has it; None where nothing
            came back, and for a sample of a rate.
        rate_bps: of what arrived, bit/s; None for a sample of a delay.
        octets: that could leave at this moment.
        is_lost: whether the packet, or its answer, never came.
        loss: part of the packets that were lost from this moment to the next sample, 0 to 1; None
            where each sample is a packet, or nothing is known.
        line: of the file; None where the file has no line for it.
    """

    at_ps: int
    delay_ps: int | None = None
    rate_bps: Fraction | None = None
    octets: int = 0
    is_lost: bool = False
    loss: Fraction | None = None
    line: int | None = None


@dataclass(frozen=True)
class Log:
    """A file of samples as it was understood.

    Attributes:
        form: what it is, in words.
        samples: in order of time; at least one.
        end_ps: until when the last one holds.
        noun: what `count` counts, in the plural.
        count: how much of the file was read; none: as much as there are samples.
        has_round_trips: whether delays are those there and back.
        has_stamps: whether the moment that its stamps are can be chosen.
        may_lack_rows: whether it has answers alone, so that lost packets have no row.
        directions: those that the file has, where it says so.
        wraps: whether the tool that reads such a file begins anew at its end.
        left_aside: what its reader did not use.
        assumed: what the file does not say.
        warnings: what to know of all files of this form, a sentence each.
    """

    form: str
    samples: tuple[Sample, ...]
    end_ps: int = 0
    noun: str = "samples"
    count: int | None = None
    has_round_trips: bool = False
    has_stamps: bool = False
    may_lack_rows: bool = False
    directions: tuple[Direction, ...] = ()
    wraps: bool = False
    left_aside: tuple[LeftAside, ...] = field(default=())
    assumed: tuple[Assumed, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())

    @property
    def has_delays(self) -> bool:
        """Whether any sample has a delay."""
        return any(sample.delay_ps is not None for sample in self.samples)

    @property
    def has_rates(self) -> bool:
        """Whether any sample says a rate."""
        return any(sample.rate_bps is not None or sample.octets for sample in self.samples)

    @property
    def lost(self) -> int:
        """Samples whose packet never came back."""
        return sum(sample.is_lost for sample in self.samples)

    @property
    def has_losses(self) -> bool:
        """Whether a sample is an interval that says its loss."""
        return any(sample.loss is not None for sample in self.samples)


def refused(
    name: str, path: str, got: str, allowed: str, line: int | None = None
) -> ScenarioFaults:
    """One fault of a log."""
    return ScenarioFaults([Fault(name, path, got, allowed, MEANING, line=line)])


def in_order(name: str, log: Log, end_ps: int | None = None) -> Log:
    """The log with its samples in order, times from the first one's.

    Args:
        name: of the file, for faults.
        log: with times from any beginning.
        end_ps: until when the last sample holds; none: it ends the log.

    Raises:
        ScenarioFaults: two samples that follow each other are decades apart.
    """
    for before, after in zip(log.samples, log.samples[1:], strict=False):
        if abs(after.at_ps - before.at_ps) > LONGEST_SPAN_PS:
            way = "after" if after.at_ps > before.at_ps else "before"
            got = f"a sample {show_time(abs(after.at_ps - before.at_ps))} {way} the last one"
            allowed = f"samples within {show_time(LONGEST_SPAN_PS)}"
            raise refused(name, "time", got, allowed, after.line)
    first = min(sample.at_ps for sample in log.samples)
    moved = tuple(
        replace(sample, at_ps=sample.at_ps - first)
        for sample in sorted(log.samples, key=lambda sample: sample.at_ps)
    )
    end = moved[-1].at_ps if end_ps is None else max(end_ps - first, moved[-1].at_ps)
    if end > LONGEST_SPAN_PS:
        got = f"samples over {show_time(end)}"
        raise refused(name, "time", got, f"samples within {show_time(LONGEST_SPAN_PS)}")
    return replace(log, samples=moved, end_ps=end)
