"""Queue lengths and waits against exact counts and against the M/D/1 queue."""

from typing import Any

import pytest

import skycell
from skycell import RunResult


def port(result: RunResult, name: str = "switch1>switch2") -> dict[str, Any]:
    """The record of a port by the name of its link."""
    records = {record["name"]: record for record in result.records["ports"]}
    found: dict[str, Any] = records[name]
    return found


def bursts(sources: int, segments: int, **bottleneck: object) -> RunResult:
    """`sources` hosts that each send `segments` segments of 22 cells at time 0, once."""
    return skycell.run(
        {
            "run": {"duration": "1 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": sources,
                "bottleneck": {"rate": "100000 cells/s", "delay": "40 ms", "buffer": "100000 cells"}
                | bottleneck,
                "access": {"delay": "5 ms", "frame_jitter": "0 s"},
            },
            "tcp": {
                "mss": "1000 B",
                "initial_cwnd": f"{segments} segments",
                "initial_ssthresh": f"{segments} segments",
                "tick_phase": "common",
            },
            "traffic": {
                "kind": "transfers",
                "size": f"{1000 * segments} B",
                "count": 1,
                "new_connection": False,
            },
            "start": "together",
        }
    )


@pytest.mark.parametrize("sources", [1, 2, 3, 5])
@pytest.mark.parametrize("segments", [1, 3, 10])
def test_the_queue_of_synchronised_bursts_is_exact(sources: int, segments: int) -> None:
    # M cells of each of N sources arrive in step, N every cell time; one leaves. Just after the
    # k-th arrivals (k = 0 ... M - 1) there are N (k + 1) - k in the port.
    cells = 22 * segments
    queue = port(bursts(sources, segments))["queue"]
    assert queue["max"] == (sources - 1) * cells + 1
    # Departures at 1, 2 ... N M cell times after the first arrival, arrivals at 0 ... M - 1, N
    # each: the difference of the sums is the integral of the queue; the port is idle otherwise.
    departures = sources * cells * (sources * cells + 1) // 2
    arrivals = sources * cells * (cells - 1) // 2
    assert queue["mean"] == (departures - arrivals) * 10_000_000 / 10**12


@pytest.mark.parametrize("missing", [0, 1, 7, 100])
def test_as_many_cells_overflow_as_the_buffer_lacks(missing: int) -> None:
    # Without a policy that knows frames, two bursts of 220 cells need 221 places; each place less
    # costs one cell, since the queue then stays full until the bursts end.
    result = bursts(2, 10, buffer=f"{221 - missing} cells")
    discarded = port(result)["discarded"]
    first_burst = {"overflow": missing, "rest_of_frame": 0}
    # What is sent again comes alone and meets an empty queue.
    assert {key: discarded[key] for key in first_burst} == first_burst


def test_the_port_is_busy_one_cell_time_for_each_cell() -> None:
    result = bursts(3, 10)
    record = port(result)
    assert record["departed"] == 3 * 220
    assert record["busy_ps"] == 3 * 220 * 10_000_000


@pytest.mark.parametrize("load", [0.3, 0.5, 0.6])
def test_the_wait_behind_many_sources_is_that_of_md1(load: float) -> None:
    # 400 sources each send a frame of two cells (40 + 40 + 8 + 8 octets), wait for its ACK and an
    # exponential time, and send the next: close to Poisson. Access links are a hundred times
    # faster, so a frame comes at once; its service lasts S = 20 us. The mean wait of M/D/1 is
    # load S / (2 (1 - load)) (Pollaczek and Khinchine).
    # Tolerance 4 %: three standard errors of 100 000 waits are about 2 % (spread of five seeds),
    # and a source that waits sends nothing, which shortens waits by up to 2 % at load 0.6
    # (measured; a quarter of that with 1600 sources, as 1 / N should be).
    begin, end = (_poisson_like(load, frames) for frames in (0, 100_000))
    frames, delays_ps, busy_ps = (after - before for before, after in zip(begin, end, strict=True))
    offered = busy_ps / (100_000 * _SERVICE_PS / load)
    wait_ps = delays_ps / frames - _EMPTY_DELAY_PS
    assert offered == pytest.approx(load, rel=0.02)
    assert wait_ps == pytest.approx(offered * _SERVICE_PS / (2 * (1 - offered)), rel=0.04)


_SOURCES = 400
_SERVICE_PS = 20_000_000
# 0.2 us to leave the host, 0.5 ms, 20 us through the first switch less the 0.1 us by which the
# second cell arrives later, 0.5 ms, 0.1 us at the second switch, 0.5 ms.
_EMPTY_DELAY_PS = 200_000 + 19_900_000 + 100_000 + 3 * 500_000_000


def _poisson_like(load: float, frames: int) -> tuple[float, float, float]:
    """Frames that arrived, the sum of their delays and the port's busy time, ps, after a warm-up.

    The warm-up lasts 20 cycles of a source. Sources begin one by one in its first half, as all of
    them beginning within a cycle would overload the port.
    """
    cycle_ms = _SOURCES * _SERVICE_PS / load / 1e9
    round_trip_ms = 3.1  # three links both ways, the frame, the ACK and some waiting
    result = skycell.run(
        {
            "run": {"duration": f"{20 * cycle_ms + frames * _SERVICE_PS / load / 1e9:.3f} ms"},
            "topology": {
                "kind": "dumbbell",
                "sources": _SOURCES,
                "bottleneck": {"rate": "100000 cells/s", "delay": "0.5 ms", "buffer": "unlimited"},
                "access": {"rate": "10000000 cells/s", "delay": "0.5 ms", "frame_jitter": "0 s"},
            },
            "tcp": {"mss": "40 B"},
            "traffic": {
                "kind": "transfers",
                "size": "40 B",
                "idle": {"kind": "exponential", "mean": f"{cycle_ms - round_trip_ms:.6f} ms"},
                "new_connection": False,
            },
            "start": {"kind": "drawn", "latest": f"{10 * cycle_ms:.6f} ms"},
        }
    )
    flows = result.records["flows"]
    arrived = [flow["segments_received"] for flow in flows]
    delays = [flow["delay_mean_ps"] * flow["segments_received"] for flow in flows]
    assert min(flow["delay_min_ps"] for flow in flows) == _EMPTY_DELAY_PS
    return sum(arrived), sum(delays), float(port(result)["busy_ps"])


def test_each_vc_holds_the_part_of_a_fifo_that_it_has_of_the_throughput() -> None:
    # Little's law: in a FIFO all cells wait alike, so what a VC has in it is its rate times that
    # wait, whatever windows decide the rates. Tolerance 3 %: the start, and 2000 samples of a queue
    # that moves by whole frames, leave 1.1 % for the smallest window.
    windows = {"flow1": 8_000, "flow2": 16_000, "flow3": 32_000, "flow4": 64_000}
    result = skycell.run(
        {
            "run": {"duration": "20 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": len(windows),
                "bottleneck": {"rate": "20000 cells/s", "delay": "5 ms", "buffer": "10000 cells"},
                "access": {"delay": "1 ms"},
            },
            "flow": [
                {"names": [name], "tcp": {"receiver_window": f"{window} B"}}
                for name, window in windows.items()
            ],
            "tcp": {"mss": "1000 B"},
            "start": {"kind": "drawn", "latest": "100 ms"},
        }
    )
    queues = result.vc_queues["mean"].to_list()
    delivered = result.flows["octets_delivered"].to_list()
    assert port(result)["discarded"]["overflow"] == 0
    parts = [
        (queue / sum(queues)) / (octets / sum(delivered))
        for queue, octets in zip(queues, delivered, strict=True)
    ]
    assert parts == pytest.approx([1.0] * len(windows), abs=0.03)
    assert delivered[3] > 4 * delivered[0]
