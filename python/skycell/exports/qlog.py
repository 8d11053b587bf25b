"""Traced flows as qlog (draft-ietf-quic-qlog-main-schema), which `qvis` and its like open.

A log is that of each flow's sender. qlog's events are of QUIC, so a segment is a packet of its own
number, counted in the order of sending, and an ACK is a received packet whose ranges are the
packets that it acknowledges: the last ones sent with those octets. SACK blocks are not traced, so a
packet counts as acknowledged when the cumulative ACK passes it. A packet is logged as lost when its
octets are sent again, which is when the sender took it to be.

Version 0.3 in one JSON text is written: the one that all viewers read. Later drafts rename events.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from skycell.exports.segments import TRACE, Segment, flows_of, segments, trace_of
from skycell.exports.selection import Selection
from skycell.metrics.round_trips import round_trips

if TYPE_CHECKING:
    from skycell.records.result import RunResult

_PS_PER_MS = 10**9
_CWND = "cwnd"

Event = dict[str, Any]
"""One event as the schema has it: `time` in ms from the start of the run, `name`, `data`."""


def write_qlog(result: RunResult, selection: Selection, file: IO[str]) -> int:
    """Writes the logs of some flows; returns how many events they have.

    Args:
        result: a run with the trace ``sequence``; with ``cwnd`` there are windows in the log too.
        selection: flows, which there are, and times. What came before counts: packets keep their
            numbers, and times are from the start of the run.
        file: open for text.

    Raises:
        NothingToExport: the run has no flows, or kept no such trace.
    """
    wanted = flows_of(result, selection.flows)
    end_ps = selection.end_ps(result)
    samples = round_trips(trace_of(result, TRACE)).select("flow", "sequence", "rtt_ps")
    trips: dict[int, dict[int, int]] = {flow: {} for flow in wanted}
    for flow, sequence, rtt_ps in samples.iter_rows():
        if flow in trips:
            trips[flow][sequence] = rtt_ps
    senders = {flow: _Sender(trips[flow]) for flow in wanted}
    windows = _windows(result, wanted)
    events: dict[int, list[Event]] = {flow: [] for flow in wanted}
    from_ms = selection.from_ps / _PS_PER_MS

    def keep(flow: int, found: Iterator[Event]) -> None:
        events[flow] += (event for event in found if event["time"] >= from_ms)

    for segment in segments(result, wanted, to_ps=end_ps):
        sender = senders[segment.flow]
        keep(segment.flow, windows[segment.flow].until(segment.time_ps, sender.in_flight))
        keep(segment.flow, sender.acked(segment) if segment.is_ack else sender.sent(segment))
    for flow in wanted:
        keep(flow, windows[flow].until(end_ps, senders[flow].in_flight))
    log = {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": f"skycell {result.version}, spec {result.spec_hash}",
        "traces": [
            {
                "title": result.spec.flows[flow].name,
                "vantage_point": {"name": result.spec.flows[flow].name, "type": "server"},
                "common_fields": {
                    "time_format": "relative",
                    "reference_time": 0,
                    "protocol_type": ["TCP"],
                },
                "events": events[flow],
            }
            for flow in wanted
        ],
    }
    json.dump(log, file, separators=(",", ":"))
    return sum(len(of_flow) for of_flow in events.values())


class _Sender:
    """What one sender has sent and is waiting for."""

    def __init__(self, trips: dict[int, int]) -> None:
        """A sender with the round-trip times of ACKs, by the octet they first acknowledge up to."""
        self._trips = trips
        self._number = 0
        self._received = 0
        self._acked = 0
        self._highest = 0
        #: First octets of what is outstanding, in order; and of each the packet that has them:
        #: number and end.
        self._starts: list[int] = []
        self._outstanding: dict[int, tuple[int, int]] = {}

    @property
    def in_flight(self) -> int:
        """Octets sent and not acknowledged."""
        return self._highest - self._acked

    def sent(self, segment: Segment) -> Iterator[Event]:
        """A segment on its way, and the loss of the packet that had its octets before."""
        start, end = segment.sequence, segment.sequence + segment.length
        if (earlier := self._outstanding.get(start)) is not None:
            yield _event(segment.time_ps, "recovery:packet_lost", header=_header(earlier[0]))
        else:
            insort(self._starts, start)
        self._outstanding[start] = (self._number, end)
        self._highest = max(self._highest, end)
        frame = {"frame_type": "stream", "stream_id": 0, "offset": start, "length": segment.length}
        yield _event(
            segment.time_ps,
            "transport:packet_sent",
            header=_header(self._number),
            raw={"length": segment.length},
            frames=[frame],
        )
        self._number += 1

    def acked(self, segment: Segment) -> Iterator[Event]:
        """An ACK, what it acknowledges, and a round trip where it measures one (Karn's rule)."""
        is_new = segment.sequence > self._acked
        self._acked = max(self._acked, segment.sequence)
        numbers: list[int] = []
        while self._starts:
            number, end = self._outstanding[self._starts[0]]
            if end > segment.sequence:
                break
            del self._outstanding[self._starts.pop(0)]
            numbers.append(number)
        frame = {"frame_type": "ack", "ack_delay": 0, "acked_ranges": _ranges(numbers)}
        yield _event(
            segment.time_ps,
            "transport:packet_received",
            header=_header(self._received),
            frames=[frame],
        )
        self._received += 1
        metrics: dict[str, float] = {"bytes_in_flight": self.in_flight}
        round_trip = self._trips.get(segment.sequence)
        if is_new and round_trip is not None:
            metrics["latest_rtt"] = round_trip / _PS_PER_MS
        yield _event(segment.time_ps, "recovery:metrics_updated", **metrics)


class _Windows:
    """The changes of one flow's window, in order of time."""

    def __init__(self, rows: Sequence[tuple[int, float, float]]) -> None:
        self._rows = rows
        self._next = 0

    def until(self, time_ps: int, in_flight: int) -> Iterator[Event]:
        """Those up to a moment."""
        while self._next < len(self._rows):
            at_ps, cwnd, ssthresh = self._rows[self._next]
            if at_ps > time_ps:
                return
            self._next += 1
            yield _event(
                at_ps,
                "recovery:metrics_updated",
                congestion_window=int(cwnd),
                ssthresh=int(ssthresh),
                bytes_in_flight=in_flight,
            )


def _windows(result: RunResult, flows: Sequence[int]) -> dict[int, _Windows]:
    rows: dict[int, list[tuple[int, float, float]]] = {flow: [] for flow in flows}
    if _CWND in result.traces:
        trace = result.traces[_CWND].select("flow", "time_ps", "cwnd", "ssthresh")
        for flow, time_ps, cwnd, ssthresh in trace.iter_rows():
            if flow in rows:
                rows[flow].append((time_ps, cwnd, ssthresh))
    return {flow: _Windows(of_flow) for flow, of_flow in rows.items()}


def _event(time_ps: int, name: str, **data: Any) -> Event:
    return {"time": time_ps / _PS_PER_MS, "name": name, "data": data}


def _header(number: int) -> dict[str, Any]:
    return {"packet_type": "1RTT", "packet_number": number}


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers as ranges, both ends included, the newest first as in QUIC's ACK frames."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges[::-1]
