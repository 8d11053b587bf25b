"""Transfers with pauses: what is left of cwnd after one, and how long the next transfer takes."""

from typing import Any

import pytest

from skycell.experiment.run import run_spec
from skycell.scenario import parse

SIZE = 208 * 1448
"""Octets: 10, 20, 40, 80 and 58 segments in five round trips; in one if cwnd allows all."""


def transfer_times(idle: str, **tcp: Any) -> list[float]:
    """Seconds that each transfer of the stack `linux` took over 101 ms, by either engine."""
    values = {
        "run": {"duration": "20 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "access": {"delay": "500 us", "rate": "1 Gbit/s"},
            "bottleneck": {
                "rate": "100 Mbit/s",
                "framing": "ip",
                "delay": "50 ms",
                "buffer": "1000 packets",
            },
        },
        "traffic": {
            "kind": "transfers",
            "size": f"{SIZE} B",
            "idle": idle,
            "new_connection": False,
        },
        "tcp": {
            "preset": "linux",
            "slow_start": {"kind": "hystart", "detect": "none"},
            # A longer hold of the last ACK, up to a round trip, would look like one more.
            "delayed_ack": {"max_timeout": "40 ms"},
            **tcp,
        },
        "records": {"traces": ["transfers"]},
    }
    spec = parse(values).resolve()
    run = run_spec(spec)
    other = run_spec(spec, engine="reference")
    assert run.records["flows"] == other.records["flows"]
    trace = run.traces["transfers"]
    return [
        (end - start) / 1e12 for start, end in zip(trace["start_ps"], trace["end_ps"], strict=True)
    ]


@pytest.mark.parametrize(
    ("idle", "validation", "round_trips"),
    [
        # An RTO is 302 ms and more. After 3 s all of them have brought cwnd to the first ten.
        ("3 s", "off", 5),
        ("3 s", "halving", 5),
        ("3 s", "pipe_ack", 1),
        # One RTO of 302 ms or more leaves half of 218 segments, where `off` begins anew.
        ("450 ms", "off", 5),
        ("450 ms", "halving", 2),
        ("450 ms", "pipe_ack", 1),
    ],
)
def test_a_pause_leaves_what_validation_says(idle: str, validation: str, round_trips: int) -> None:
    times = transfer_times(idle, cwnd_validation=validation)
    sending, held = SIZE / 1448 * 1500 * 8 / 100e6, 0.04  # the last ACK's hold
    for time in times[1:]:
        assert 0 < time - round_trips * 0.101 < sending + held + 0.01, times
