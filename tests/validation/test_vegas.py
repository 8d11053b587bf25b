"""Vegas alone over a slow link: how many segments of its own it keeps in the queue, beside ns-2's.

What ns-2 did is stored; where ns-2 is installed it is also asked again.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from benches.peers.ns2.simulator import MISSING, program
from skycell import RunResult, run

FOLDER = Path(__file__).with_name("ns2")
STORED = FOLDER / "stored" / "vegas.txt"
BOUNDS = ((1, 3), (2, 4), (6, 8))
"""alpha and beta, segments."""

PACKET_S = 1000 * 8 / 2e6
"""Of a packet of 1000 octets on the slow link."""

EMPTY_RTT_S = 0.09 + 1000 * 8 / 20e6 + PACKET_S + 40 * 8 * (1 / 20e6 + 1 / 2e6)
"""Twice 45 ms, and a packet and its acknowledgement on both links."""


def ours(alpha: int, beta: int, **tcp: Any) -> RunResult:
    """What counts from 20 s on of a connection over the links of vegas.tcl.

    ACKs carry a timestamp there and have no octets.
    """
    link = {"framing": "ip"}
    return run(
        {
            "run": {"duration": "60 s", "measure_from": "20 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "bottleneck": {**link, "rate": "2 Mbit/s", "delay": "40 ms", "buffer": "unlimited"},
                "access": {**link, "rate": "20 Mbit/s", "delay": "2500 us", "frame_jitter": "0 s"},
            },
            "tcp": {
                "recovery": "new_reno",
                "congestion": {"kind": "vegas", "alpha": alpha, "beta": beta},
                "timestamps": True,
                "mss": "948 B",
                "receiver_window": "500 kB",
                "window_scaling": True,
                "initial_cwnd": "2 segments",
                "tick": "10 us",
                "rto_min": "200 ms",
                **tcp,
            },
            "records": {"traces": ["cwnd"]},
            "start": "together",
        }
    )


def window(result: RunResult) -> float:
    """cwnd at the end of a run, segments."""
    return float(result.traces["cwnd"]["cwnd"][-1]) / 948


def queued(cwnd: float) -> float:
    """Segments of a window that wait."""
    return cwnd - EMPTY_RTT_S / PACKET_S


def theirs(path: str, alpha: int, beta: int) -> str:
    """What ns-2 prints: time, cwnd and the segments acknowledged."""
    words = [path, str(FOLDER / "vegas.tcl"), str(alpha), str(beta)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def stored() -> dict[tuple[int, int], str]:
    """The same as it was stored, by alpha and beta."""
    sections = STORED.read_text(encoding="utf-8").split("[")[1:]
    heads = (section.split("]\n", 1) for section in sections)
    return {(int(head[0]), int(head[2])): text for head, text in heads}


@pytest.mark.parametrize(("alpha", "beta"), BOUNDS)
def test_the_queue_has_alpha_to_beta_segments_as_in_ns2(alpha: int, beta: int) -> None:
    result = ours(alpha, beta)
    lines = [[float(word) for word in row.split()] for row in stored()[alpha, beta].splitlines()]
    (begin_s, _, acked_before), (end_s, cwnd, acked) = lines[0], lines[-1]
    (flow,) = result.records["flows"]
    # Whole segments: a queue between two thresholds may be a part of one off each.
    for found in (window(result), cwnd):
        assert alpha - 1 < queued(found) < beta + 1
    assert window(result) == pytest.approx(cwnd, abs=beta - alpha)
    # Nothing is lost. Once slow start is over, in which ns-2 doubles cwnd only every second round
    # trip, the link is full.
    assert (begin_s, end_s) == (20, 60)
    assert flow["segments_retransmitted"] == 0
    assert acked - acked_before == 40 / PACKET_S
    assert flow["octets_acked"] / 948 == pytest.approx(acked - acked_before, abs=1)


def test_ns2_still_does_what_was_stored() -> None:
    path = program()
    if path is None:
        pytest.skip(MISSING)
    for bounds, text in stored().items():
        assert theirs(path, *bounds) == text
