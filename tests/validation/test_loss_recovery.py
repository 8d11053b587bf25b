"""Loss recovery against the analysis of ICCCN'97 section 4.

A window of W segments leaves at time 0 and its first L segments are lost. The first arrival is
then a duplicate's cause, so cwnd is exactly W when the third duplicate arrives, and times count in
round trips from the first retransmission.
"""

import math

import polars as pl
import pytest

from skycell import RunResult
from tests.validation.network import FRAME_MS, MSS, RTT_MS, flow, resent_ms, run, windows


@pytest.mark.parametrize("lost", range(1, 13))
def test_newreno_recovers_from_n_losses_in_n_round_trips(lost: int) -> None:
    # Section 2.3: a partial ACK resends the next segment, so retransmissions are exactly one round
    # trip apart (they queue behind nothing), and the last one's ACK ends the n-th round trip.
    result = run(32, {"tcp.recovery": "new_reno", "loss.transmissions": list(range(lost))})
    resent = resent_ms(result)
    assert [time - resent[0] for time in resent] == pytest.approx(
        [k * RTT_MS for k in range(lost)], abs=1e-6
    )
    assert (flow(result)["timeouts"], flow(result)["fast_retransmits"]) == (0, 1)


@pytest.mark.parametrize("window", [32, 64])
def test_sack_recovers_within_the_round_trips_of_section_4(window: int) -> None:
    # ceil(log2(n / (n - 2))) for L = W / n, n > 2, with pipe = cwnd - 3, which is what section 4.2
    # counts with. A segment resent at time t is in round trip floor(t / RTT) + 1.
    for lost in range(1, window // 2):
        result = run(window, _sack(lost, "cwnd - 3"))
        resent = resent_ms(result)
        n = window / lost
        allowed = max(1, math.ceil(math.log2(n / (n - 2)) - 1e-9))
        used = math.floor((resent[-1] - resent[0]) / RTT_MS + 1e-9) + 1
        assert used <= allowed, f"{lost} of {window} lost"
        assert len(resent) == lost
        assert flow(result)["timeouts"] == 0


def test_the_two_cases_that_section_4_works_out() -> None:
    # "At most cwnd / 4": one round trip; "at most 3 cwnd / 8": two; one segment more takes longer.
    def round_trips(lost: int) -> int:
        resent = resent_ms(run(64, _sack(lost, "cwnd - 3")))
        return math.floor((resent[-1] - resent[0]) / RTT_MS + 1e-9) + 1

    assert [round_trips(lost) for lost in (16, 17, 24, 25)] == [1, 2, 2, 3]


def test_pipe_at_cwnd_recovers_more_slowly_than_section_4_says() -> None:
    # Section 3 sets pipe to cwnd at the third duplicate although three segments have left the
    # network. Duplicates bring it down to L + 3, so W / 2 - L - 3 segments go out in the first
    # round trip after the first: 15 of 64 lost are resent within it, the last two of 16 at its end.
    resent = resent_ms(run(64, _sack(16, "cwnd")))
    assert resent[-1] - resent[0] == pytest.approx(RTT_MS, abs=1e-6)
    resent = resent_ms(run(64, _sack(15, "cwnd")))
    assert resent[-1] - resent[0] < RTT_MS - FRAME_MS


@pytest.mark.parametrize("lost", [18, 24, 31])
def test_sack_with_more_than_half_the_window_lost_ends_in_a_timeout(lost: int) -> None:
    # Section 4.2 expects a recovery no slower than slow start here. By its own rule pipe is L when
    # the last duplicate has come (W - 3 at entry, - 1 for each of the W - L - 3 further ones) and
    # L - 2 after the partial ACK; from cwnd = W / 2 on nothing may go, and nothing is under way
    # that could bring an ACK. So the timer decides, and slow start follows.
    result = run(32, _sack(lost, "cwnd - 3"))
    assert flow(result)["timeouts"] == 1
    resent = resent_ms(result)
    assert resent[1] > 500  # the first retransmission is followed by the timeout's
    assert flow(result)["octets_delivered"] > 32 * MSS


def test_the_boundary_of_that_lies_one_segment_above_half_the_window() -> None:
    # L - 2 < W / 2 holds up to L = W / 2 + 1.
    assert flow(run(32, _sack(17, "cwnd - 3")))["timeouts"] == 0
    assert flow(run(32, _sack(18, "cwnd - 3")))["timeouts"] == 1


@pytest.mark.parametrize(("lost", "round_trips"), [(18, 5), (24, 5), (28, 5)])
def test_resending_two_holes_avoids_that_timeout(lost: int, round_trips: int) -> None:
    # Section 4.2: two for each partial ACK, so that what is resent doubles every round trip: 1, 2,
    # 4, 8 and 16 segments repair up to 31. From four losses fewer than the window on, so that
    # three duplicates come.
    result = run(32, _sack(lost, "cwnd - 3") | {"tcp.recovery.partial_ack": "resends two"})
    resent = resent_ms(result)
    assert flow(result)["timeouts"] == 0
    assert math.floor((resent[-1] - resent[0]) / RTT_MS + 1e-9) + 1 == round_trips


def test_one_off_pipe_repairs_one_hole_a_round_trip_up_to_half_the_window() -> None:
    # Duplicates bring pipe down to L (above). At L = W / 2 each partial ACK makes room for the one
    # segment that it is answered with; at L = W / 2 + 1 not even for that.
    def lose(lost: int) -> RunResult:
        return run(32, _sack(lost, "cwnd - 3") | {"tcp.recovery.partial_ack": "pipe - 1"})

    half = lose(16)
    assert [math.floor(time / RTT_MS + 1e-9) for time in resent_ms(half)] == list(range(1, 17))
    assert (flow(half)["timeouts"], flow(lose(17))["timeouts"]) == (0, 1)


@pytest.mark.parametrize("recovery", ["reno", "new_reno", "sack"])
def test_one_loss_is_repaired_one_round_trip_after_it_is_known(recovery: str) -> None:
    result = run(32, {"tcp.recovery": recovery, "loss.transmissions": [0]})
    (resent,) = resent_ms(result)
    # Known with the third duplicate: segment 3 is the third to leave, as the lost one never does.
    assert resent == pytest.approx(RTT_MS + 2 * FRAME_MS, abs=1e-6)
    # The ACK of the retransmission ends recovery: cwnd = ssthresh = W / 2.
    repaired = [w[0] for w in windows(result) if w[1:] == (16.0, 16.0)][-1]
    if recovery != "sack":  # whose cwnd stands at W / 2 from the third duplicate on
        assert repaired - resent == pytest.approx(RTT_MS, abs=1e-6)
    acked = result.traces["sequence"].filter(pl.col("event") == 2)
    moved = acked.filter(pl.col("sequence") > 0)["time_ps"][0] / 1e9
    assert moved - resent == pytest.approx(RTT_MS, abs=1e-6)
    assert flow(result)["timeouts"] == 0


def test_reno_with_three_losses_times_out_at_an_eighth_of_its_window() -> None:
    # Section 4.1: two fast retransmits, each halving, then a timeout that halves again.
    result = run(64, {"tcp.recovery": "reno", "loss.transmissions": [0, 1, 2]})
    assert (flow(result)["fast_retransmits"], flow(result)["timeouts"]) == (2, 1)
    timeout = next(w for w in windows(result) if w[1] == 1.0)
    assert timeout[2] == 64 / 8


@pytest.mark.parametrize("window", [8, 16, 32, 64])
@pytest.mark.parametrize("losses", ["one", "all"])
def test_vanilla_slow_starts_to_half_the_old_window(window: int, losses: str) -> None:
    # Section 4: a timeout, then log2(cwnd / 2) round trips of slow start from one segment.
    lost = [0] if losses == "one" else list(range(window))
    result = run(window, {"tcp.recovery": "vanilla", "loss.transmissions": lost})
    timeout = next(time for time, cwnd, _ in windows(result) if cwnd == 1.0)
    reached = next(t for t, cwnd, _ in windows(result) if t > timeout and cwnd >= window / 2)
    assert flow(result)["timeouts"] == 1
    round_trips = (reached - timeout) / RTT_MS
    # The last round trip's ACKs are spread over W / 4 frames; a frame is 0.0022 of a round trip.
    assert math.log2(window / 2) <= round_trips <= math.log2(window / 2) + window / 4 * 0.0022


def _sack(lost: int, pipe: str) -> dict[str, object]:
    return {
        "tcp.recovery": "sack",
        "tcp.recovery.pipe_at_entry": pipe,
        "loss.transmissions": list(range(lost)),
    }
