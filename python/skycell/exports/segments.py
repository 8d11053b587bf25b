"""What a flow's sender put on the wire and read from it, segment by segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skycell.exports.named import NothingToExport

if TYPE_CHECKING:
    import polars as pl

    from skycell.records.result import RunResult

TRACE = "sequence"
"""The trace that has the segments."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment at its flow's sender.

    Attributes:
        flow: id.
        time_ps: when it was handed to the port, or had arrived; picoseconds.
        is_ack: whether it is an ACK that arrived; else data that was sent.
        is_repeated: whether the data had been sent before.
        sequence: first octet of the data from 0, or the octet acknowledged up to.
        length: octets of data.
    """

    flow: int
    time_ps: int
    is_ack: bool
    is_repeated: bool
    sequence: int
    length: int


def flows_of(result: RunResult, flows: Sequence[str]) -> list[int]:
    """Ids of the flows with these names, which there are; of all where none is named.

    Raises:
        NothingToExport: the run has no flows.
    """
    ids = {flow.name: number for number, flow in enumerate(result.spec.flows)}
    if not ids:
        raise NothingToExport("the run has no TCP flows, and only their senders are written so")
    return [ids[name] for name in flows] if flows else list(ids.values())


def trace_of(result: RunResult, name: str) -> pl.DataFrame:
    """A trace of a run; `NothingToExport` if the run did not keep it."""
    if name not in result.traces:
        kept = ", ".join(result.traces) or "none"
        raise NothingToExport(
            f"the run kept no trace {name}, which this takes; it kept {kept}. Run it again with "
            f"--trace {name}"
        )
    return result.traces[name]


def segments(
    result: RunResult, flows: Sequence[int], from_ps: int = 0, to_ps: int | None = None
) -> Iterator[Segment]:
    """The segments of some flows from one moment to another, both included, in order of time.

    Raises:
        NothingToExport: the run kept no trace of them.
    """
    import polars as pl

    last = result.spec.duration_ps if to_ps is None else to_ps
    trace = trace_of(result, TRACE).filter(
        pl.col("flow").is_in(list(flows)), pl.col("time_ps").is_between(from_ps, last)
    )
    columns = ("flow", "time_ps", "event", "sequence", "length")
    for flow, time_ps, event, sequence, length in trace.select(columns).iter_rows():
        yield Segment(flow, time_ps, event == 2, event == 1, sequence, length)
