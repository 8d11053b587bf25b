"""A part of a run: some flows, from one moment to another; and how much it will be when written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skycell.exports.named import NothingToExport
from skycell.exports.segments import TRACE, flows_of, trace_of
from skycell.input.quantities import PS_PER_SECOND

if TYPE_CHECKING:
    import polars as pl

    from skycell.records.result import RunResult

MOST_OCTETS = 10**9
"""What is written without being asked for again: 1 GB."""

_MOMENTS = ("time_ps", "end_ps", "received_ps", "start_ps")
"""Columns that say when a row of a trace arose, the first of them that a trace has."""
_QLOG_OCTETS = {"sent": 225, "ack": 265, "window": 140}
"""What an event takes in a qlog, about; an ACK's are its arrival and what it changes."""
_SAMPLE_OCTETS = 85
_CSV_OCTETS = {"time": 17, "name": 8, "number": 6}
"""What a value takes in a table of text, about."""
_PARQUET_OCTETS = 3
"""What a value takes in a Parquet file, about."""


@dataclass(frozen=True)
class Selection:
    """What of a run is written.

    Attributes:
        flows: names; all flows where there are none.
        from_ps: first moment, picoseconds.
        to_ps: last moment, included; the end of the run when None.
    """

    flows: tuple[str, ...] = ()
    from_ps: int = 0
    to_ps: int | None = None

    @property
    def is_whole(self) -> bool:
        """True if it is all of a run."""
        return not self.flows and not self.from_ps and self.to_ps is None

    def end_ps(self, result: RunResult) -> int:
        """The last moment of the part of a run.

        Raises:
            NothingToExport: the run ends before the first moment, or that is after the last.
        """
        duration = result.spec.duration_ps
        end = duration if self.to_ps is None else min(self.to_ps, duration)
        if self.from_ps >= end:
            raise NothingToExport(
                f"nothing is from {self.from_ps / PS_PER_SECOND:g} s to {end / PS_PER_SECOND:g} s: "
                f"the run ends at {duration / PS_PER_SECOND:g} s"
            )
        return end

    def has(self, time_ps: int) -> bool:
        """True if a moment is in the part."""
        return self.from_ps <= time_ps and (self.to_ps is None or time_ps <= self.to_ps)

    def tables(self, result: RunResult) -> dict[str, pl.DataFrame]:
        """The rows of a run's traces that are of the part, by the trace.

        Traces without a column of flows have no part of a flow and are left out if flows are named;
        tables without a moment have all their rows.
        """
        import polars as pl

        self.end_ps(result)
        ids = flows_of(result, self.flows) if self.flows else None
        found = {}
        for name, trace in result.traces.items():
            if ids is not None and "flow" not in trace.columns:
                continue
            if ids is not None:
                trace = trace.filter(pl.col("flow").is_in(ids))
            moment = next((column for column in _MOMENTS if column in trace.columns), None)
            if moment is not None and not (self.from_ps == 0 and self.to_ps is None):
                last = result.spec.duration_ps if self.to_ps is None else self.to_ps
                trace = trace.filter(pl.col(moment).is_between(self.from_ps, last))
            found[name] = trace
        if not found:
            kept = ", ".join(result.traces)
            raise NothingToExport(f"no trace of the run is of flows, which --flow takes: {kept}")
        return found


def foreseen_octets(
    result: RunResult, form: str, selection: Selection, every_ps: int | None = None
) -> int:
    """About how many octets a part of a run will take in a format, from its numbers of rows.

    Args:
        result: the run.
        form: csv, parquet, pcapng, qlog or ss.
        selection: the part.
        every_ps: from one sample of ss to the next.

    Raises:
        NothingToExport: a trace is missing, or the part is none.
    """
    import polars as pl

    end_ps = selection.end_ps(result)
    if form in ("csv", "parquet"):
        return sum(_table_octets(table, form) for table in selection.tables(result).values())
    flows = flows_of(result, selection.flows)
    if form == "ss":
        assert every_ps is not None
        samples = end_ps // every_ps - max(selection.from_ps - 1, 0) // every_ps
        return samples * len(flows) * _SAMPLE_OCTETS
    inside = pl.col("flow").is_in(flows) & pl.col("time_ps").is_between(selection.from_ps, end_ps)
    rows = trace_of(result, TRACE).filter(inside)
    if form == "pcapng":
        # The block around a packet takes 32 octets, headers take 40 and options 12 more.
        with_options = any(result.spec.flows[flow].tcp.timestamps for flow in flows)
        return rows.height * (84 if with_options else 72)
    acks = rows.filter(pl.col("event") == 2).height
    windows = result.traces.get("cwnd")
    changes = 0 if windows is None else windows.filter(inside).height
    amounts = {"sent": rows.height - acks, "ack": acks, "window": changes}
    return sum(_QLOG_OCTETS[kind] * amount for kind, amount in amounts.items())


def _table_octets(table: pl.DataFrame, form: str) -> int:
    if form == "parquet":
        return table.height * len(table.columns) * _PARQUET_OCTETS
    widths = (
        _CSV_OCTETS[
            "time"
            if column.endswith("_ps")
            else "name"
            if column in ("flow", "vc", "port", "event", "reason")
            else "number"
        ]
        for column in table.columns
    )
    return table.height * sum(width + 1 for width in widths)


def refuse_large(octets: int, *, is_allowed: bool) -> None:
    """Refuses to write very much unless that was asked for.

    Raises:
        NothingToExport: it is above `MOST_OCTETS`.
    """
    if octets > MOST_OCTETS and not is_allowed:
        raise NothingToExport(
            f"about {octets / 1e9:.1f} GB would be written, above {MOST_OCTETS / 1e9:.0f} GB: "
            "--from, --to and --flow take a part of it, and --large writes it all"
        )


def refuse_without_traces(traces: Mapping[str, object] | Sequence[str]) -> None:
    """Refuses a run that kept no traces.

    Raises:
        NothingToExport: it kept none.
    """
    if not traces:
        raise NothingToExport(
            "the run kept no traces; run it again with --trace, such as --trace cwnd"
        )
