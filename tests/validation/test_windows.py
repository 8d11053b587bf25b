"""A sender's window against the path: throughput W / RTT, doubling, growth by a segment."""

import math

import pytest

from skycell.metrics import throughputs_bps
from tests.validation.network import FRAME_MS, MSS, RTT_MS, flow, run, sent_ms, windows


@pytest.mark.parametrize("window", [1, 2, 7, 64])
def test_a_window_below_the_pipe_gives_the_window_every_round_trip(window: int) -> None:
    # Exact, no tolerance: between two instants ten round trips apart, ten windows are delivered.
    fixed = {"tcp.max_cwnd": f"{window} segments"}
    begin = run(window, {**fixed, "run.duration": f"{3 * RTT_MS:.2f} ms"})
    end = run(window, {**fixed, "run.duration": f"{13 * RTT_MS:.2f} ms"})
    rate = throughputs_bps(end.records, since=begin.records)[0]
    assert rate == pytest.approx(window * MSS * 8 / (RTT_MS / 1e3), rel=1e-12)


def test_the_receivers_window_limits_as_cwnd_does() -> None:
    limited = run(64, {"tcp.receiver_window": "7000 B", "tcp.initial_ssthresh": "64000 B"})
    assert flow(limited)["octets_sent"] == flow(run(7, {"tcp.max_cwnd": "7000 B"}))["octets_sent"]


def test_a_window_above_the_pipe_gives_the_rate_of_the_link() -> None:
    # 600 segments of 0.22 ms are 132 ms, more than a round trip. The host sends twice as fast, so
    # the switch always has a queue: exactly one segment every 22 cell times.
    values = {"topology.access.rate": "200000 cells/s", "tcp.max_cwnd": "600 segments"}
    begin = run(600, {**values, "run.duration": "600 ms"})
    end = run(600, {**values, "run.duration": "820 ms"})
    assert flow(end)["octets_delivered"] - flow(begin)["octets_delivered"] == 1000 * MSS
    # The first burst's last segment waits for all the others: 5.005 ms to the switch, 600 frames,
    # 40 ms, and 5.005 ms from the second switch.
    assert flow(end)["delay_max_ps"] / 1e9 == pytest.approx(600 * FRAME_MS + 50.01, abs=1e-9)
    # Later a segment's round trip is the window's time on the link; one way, that is less the way
    # back of an acknowledgement: 10 us to leave the receiver, 50 ms, 15 us at the first switch (its
    # second cell waits for the first, which takes 10 us, and arrives 5 us later), 5 us at the next.
    sums = [flow(r)["delay_mean_ps"] * flow(r)["segments_received"] for r in (begin, end)]
    later_ms = (sums[1] - sums[0]) / 1000 / 1e9
    assert later_ms == pytest.approx(600 * FRAME_MS - 50.03, abs=1e-6)


def test_slow_start_doubles_what_is_sent_every_round_trip() -> None:
    # From one segment, with ssthresh far away: 1, 2, 4 ... 128 segments, a round trip of 100.28
    # ms after each other. A burst of 128 takes 28 ms, so bursts stay apart.
    result = run(
        1, {"tcp.initial_ssthresh": "500 segments", "run.duration": f"{8 * RTT_MS:.2f} ms"}
    )
    sent = sent_ms(result)
    rounds = [math.floor(time / RTT_MS + 1e-9) for time in sent]
    assert [rounds.count(k) for k in range(8)] == [2**k for k in range(8)]


def test_congestion_avoidance_adds_about_a_segment_every_round_trip() -> None:
    # A round trip brings floor(cwnd) ACKs, each worth 1 / cwnd segments at the cwnd it finds,
    # which itself grows by up to one segment: between floor(c) / (c + 1) and floor(c) / c.
    result = run(20, {"run.duration": f"{10 * RTT_MS:.2f} ms"})
    cwnd = 20.0
    for k in range(1, 9):
        arrived = [w[1] for w in windows(result) if w[0] < k * RTT_MS + RTT_MS / 2]
        grown = arrived[-1] - cwnd
        assert math.floor(cwnd) / (cwnd + 1) <= grown <= math.floor(cwnd) / cwnd
        cwnd = arrived[-1]
    assert 27 < cwnd < 28


@pytest.mark.parametrize("growth", ["float", "ack_counting"])
def test_growth_goes_on_above_the_square_of_the_segment_size(growth: str) -> None:
    assert _grown_at_mss_100(growth, segments=110) > 0


def test_growth_in_whole_octets_stops_above_the_square_of_the_segment_size() -> None:
    # ICCCN'97 section 7.2: MSS x MSS / cwnd is 0 in whole octets once cwnd > MSS x MSS; here
    # MSS = 100 octets, so at 10 000 octets = 100 segments. Below, growth goes on as it should.
    assert _grown_at_mss_100("integer", segments=110) == 0
    assert _grown_at_mss_100("integer", segments=90) > 0


def _grown_at_mss_100(growth: str, segments: int) -> float:
    """Octets by which cwnd grows in a second from `segments` segments of 100 octets."""
    values = {
        "tcp.mss": "100 B",
        "tcp.congestion.growth": growth,
        "run.duration": "1 s",
        "tcp.receiver_window": "65535 B",
    }
    cwnd = [w[1] * MSS for w in windows(run(segments, values))]
    return cwnd[-1] - cwnd[0]
