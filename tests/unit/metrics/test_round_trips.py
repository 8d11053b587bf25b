"""Round-trip times of senders, as exchanges and against a slow count of every octet."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skycell
from skycell.metrics.round_trips import round_trips

SENT, AGAIN, ACK = 0, 1, 2
SCHEMA = {
    "flow": pl.UInt32,
    "time_ps": pl.UInt64,
    "event": pl.UInt8,
    "sequence": pl.UInt64,
    "length": pl.UInt32,
}


def trace_of(*rows: tuple[int, int, int, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def counted(trace: pl.DataFrame) -> list[tuple[int, int, int, int]]:
    """The same samples, octet by octet."""
    samples = []
    flows: dict[int, Any] = {}
    for flow, time, event, sequence, length in trace.iter_rows():
        acked, ends, again = flows.setdefault(flow, ([0], {}, set()))
        if event == SENT:
            ends[sequence + length] = time
        elif event == AGAIN:
            again.update(range(sequence, sequence + length))
        elif sequence > acked[0]:
            own = [end for end in ends if acked[0] < end <= sequence]
            if own and not again.intersection(range(acked[0], sequence)):
                samples.append((flow, time, sequence, time - ends[max(own)]))
            acked[0] = sequence
    return samples


def test_an_ack_measures_the_newest_segment_that_it_is_the_first_to_acknowledge() -> None:
    trace = trace_of(
        (0, 10, SENT, 0, 100),
        (0, 15, SENT, 100, 100),
        (1, 17, SENT, 0, 100),
        (0, 40, ACK, 200, 0),  # both; the newest was sent at 15
        (0, 45, ACK, 200, 0),  # a duplicate
        (1, 50, ACK, 100, 0),
    )
    assert round_trips(trace).rows() == [(0, 40, 200, 25), (1, 50, 100, 33)]


def test_an_ack_of_what_was_sent_again_measures_nothing() -> None:
    trace = trace_of(
        (0, 10, SENT, 0, 100),
        (0, 11, SENT, 100, 100),
        (0, 30, AGAIN, 0, 100),
        (0, 50, ACK, 200, 0),  # of the second segment, too, but it waited for the first
        (0, 51, SENT, 200, 100),
        (0, 91, ACK, 300, 0),
    )
    assert round_trips(trace).rows() == [(0, 91, 300, 40)]


@given(st.lists(st.tuples(st.sampled_from([SENT, AGAIN, ACK]), st.integers(0, 9)), max_size=40))
def test_samples_are_those_of_a_count_octet_by_octet(steps: list[tuple[int, int]]) -> None:
    rows, sent, acked = [], 0, 0
    for time, (event, amount) in enumerate(steps):
        if event == SENT:
            rows.append((0, time, SENT, sent * 10, 10))
            sent += 1
        elif event == AGAIN and acked < sent:
            rows.append((0, time, AGAIN, min(acked + amount, sent - 1) * 10, 10))
        elif event == ACK:
            acked = min(acked + amount, sent)
            rows.append((0, time, ACK, acked * 10, 0))
    trace = trace_of(*rows)
    assert round_trips(trace).rows() == counted(trace)


def test_the_first_round_trip_of_a_run_is_that_of_its_links() -> None:
    result = skycell.run(
        {
            "run": {"duration": "3 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "bottleneck": {
                    "rate": "1 Mbit/s",
                    "framing": "ip",
                    "delay": "100 ms",
                    "buffer": "4 packets",
                },
                "access": {
                    "rate": "1 Gbit/s",
                    "framing": "ip",
                    "delay": "1 ms",
                    "frame_jitter": {"kind": "port_gap", "up_to": "0 s"},
                },
            },
            "tcp": {"preset": "rfc", "mss": "960 B", "delayed_ack": "off", "timestamps": False},
            "records": {"traces": ["sequence"]},
        }
    )
    samples = round_trips(result.traces["sequence"])
    assert samples.rows() == counted(result.traces["sequence"])
    # A packet of 1000 octets and an ACK of 40 over both access links and the bottleneck.
    header = 40
    packet, ack = (960 + header) * 8, header * 8
    expected = 2 * (0.1 + 0.002) + (packet + ack) / 1e6 + 2 * (packet + ack) / 1e9
    # The ACK that ends the handshake goes first. It is on the bottleneck while data follow.
    expected += ack / 1e6 - packet / 1e9 + ack / 1e9
    times = [rtt / 1e12 for rtt in samples["rtt_ps"].to_list()]
    assert times[0] == pytest.approx(expected, abs=1e-9)
    # Four packets wait at most, each 8 ms, behind the one on its way.
    assert max(times) <= expected + 5 * packet / 1e6
