"""Samples of a link over time, whatever tool measured them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.quantities import counted

MOST_FAULTS = 20
"""Of a file that is wrong throughout."""
MEANING = "samples of a link"


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
    """

    at_ps: int
    delay_ps: int | None = None
    rate_bps: Fraction | None = None
    octets: int = 0
    is_lost: bool = False


@dataclass(frozen=True)
class Log:
    """A file of samples as it was understood.

    Attributes:
        form: what wrote it, in words.
        samples: in order of time; at least one.
        end_ps: until when the last one holds.
        has_round_trips: whether delays are those there and back.
        wraps: whether the tool that reads such a file begins anew at its end.
        notes: what its reader took for granted, a sentence each.
    """

    form: str
    samples: tuple[Sample, ...]
    end_ps: int
    has_round_trips: bool = False
    wraps: bool = False
    notes: tuple[str, ...] = field(default=())

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


def refused(
    name: str, path: str, got: str, allowed: str, line: int | None = None
) -> ScenarioFaults:
    """One fault of a log."""
    return ScenarioFaults([Fault(name, path, got, allowed, MEANING, line=line)])


def in_order(log: Log) -> Log:
    """The log with its samples in order, times from the first one's."""
    first = min(sample.at_ps for sample in log.samples)
    late = sum(b.at_ps < a.at_ps for a, b in zip(log.samples, log.samples[1:], strict=False))
    moved = tuple(
        replace(sample, at_ps=sample.at_ps - first)
        for sample in sorted(log.samples, key=lambda sample: sample.at_ps)
    )
    note = f"{counted(late, 'row')} of the {log.form} out of order: sorted by time."
    notes = (*log.notes, note) if late and log.form.startswith("table") else log.notes
    end_ps = max(log.end_ps - first, moved[-1].at_ps)
    return replace(log, samples=moved, end_ps=end_ps, notes=notes)
