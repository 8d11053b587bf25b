"""Scalable senders beside classic ones: what the coupling of DualPI2 is for."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

import skycell

FLOWS = 5
"""Of each kind."""
TARGET_MS = 15
"""Wait of classic packets that DualPI2 aims at."""

TCP: dict[str, Any] = {
    "recovery": "rack_tlp",
    "mss": "1460 B",
    "receiver_window": "4 MB",
    "window_scaling": True,
    "initial_cwnd": "10 segments",
    "tick": "10 us",
    "rto_min": "200 ms",
    "timestamps": True,
    "pacing": "on",
}
SCALABLE = {**TCP, "congestion": "prague", "ecn": "accurate"}
CLASSIC = {
    **TCP,
    "congestion": {"kind": "reno", "growth": "byte_counting"},
    "ecn": "classic",
}


def both(rtt_ms: float, coupling: int) -> tuple[list[Any], list[Any]]:
    """What Prague's flows and Reno's did that shared DualPI2 for a while."""
    link = {"framing": "ip", "delay": f"{rtt_ms / 2} ms", "buffer": "2000 packets"}
    policy = {"kind": "dual_pi2", "target": f"{TARGET_MS} ms", "coupling": coupling}
    scenario = {
        "run": {"duration": "40 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 2 * FLOWS,
            "bottleneck": {**link, "rate": "100 Mbit/s", "policy": policy},
            "access": {"rate": "1 Gbit/s", "framing": "ip", "delay": "0 s"},
        },
        "tcp": CLASSIC,
        "flow": [{"names": [f"flow{k + 1}" for k in range(FLOWS)], "tcp": SCALABLE}],
    }
    flows = skycell.run(scenario).records["flows"]
    return flows[:FLOWS], flows[FLOWS:]


def total(flows: list[Any], key: str) -> float:
    """Of all flows together."""
    return float(sum(flow[key] for flow in flows))


@pytest.mark.parametrize(("rtt_ms", "coupling"), [(40, 1), (40, 2), (40, 4), (10, 2)])
def test_the_coupling_sets_the_rates_of_scalable_and_classic_flows(
    rtt_ms: float, coupling: int
) -> None:
    # RFC 9332 section 2.1: p_C = (p_L / k)^2. Windows are W_L = m / p_L, with 2 to 3 marks a round
    # trip (docs/reference/tcp/scalable.md; 2.5 here), and W_C = sqrt(3 / 2 p_C) of losses at equal
    # distances; a round trip of classic flows has the target on top. With k = 2: 1.41 over 40 ms.
    scalable, classic = both(rtt_ms, coupling)
    expected = 2.5 / sqrt(1.5) / coupling * (rtt_ms + TARGET_MS) / rtt_ms
    found = total(scalable, "octets_delivered") / total(classic, "octets_delivered")
    assert found == pytest.approx(expected, rel=0.15)
    assert total(scalable, "segments_retransmitted") == 0


def test_classic_flows_are_marked_with_the_square_of_what_scalable_ones_are() -> None:
    scalable, classic = both(40, 2)
    p_l, p_c = (
        total(flows, "segments_marked") / total(flows, "segments_sent")
        for flows in (scalable, classic)
    )
    # The mean of a square is above the square of a mean.
    assert 1 < p_c / (p_l / 2) ** 2 < 1.3


STEPS: dict[str, dict[str, Any]] = {
    "queue": {
        "kind": "red_ecn",
        "min_threshold": "4 packets",
        "max_threshold": "5 packets",
        "weight": 1.0,
        "gentle": False,
        "mark_above": True,
    },
    "wait": {"kind": "codel", "ce_threshold": "1 ms"},
    "wait of a flow": {"kind": "fq_codel", "ce_threshold": "1 ms"},
    "wait of scalable packets": {"kind": "fq_codel", "ce_threshold_ect1": "1 ms"},
    "wait of the scalable queue": {"kind": "linux_dual_pi2"},
}
"""Marks above 1 ms of queue: 4 packets of 1500 octets at 50 Mbit/s are 0.96 ms."""


@pytest.mark.parametrize("step", STEPS)
def test_a_step_holds_the_queue_of_a_scalable_sender_near_it_and_loses_nothing(step: str) -> None:
    # RFC 8257, section 3.1: a step K keeps the queue near K. The link stays busy if K is above a
    # seventh of rate x round trip (section 3.4): 4 packets of 42 are not far below. A flow that is
    # marked goes on for a round trip, in which DCTCP adds one packet: 5 or 6 packets are 1.4 ms.
    prague = step in ("wait of scalable packets", "wait of the scalable queue")
    scenario = {
        "run": {"duration": "12 s", "measure_from": "2 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": {
                "rate": "50 Mbit/s",
                "framing": "ip",
                "delay": "5 ms",
                "buffer": "1000 packets",
                "policy": STEPS[step],
            },
            "access": {"rate": "1 Gbit/s", "framing": "ip", "delay": "0 s"},
        },
        "tcp": SCALABLE if prague else {**SCALABLE, "congestion": "dctcp"},
    }
    records = skycell.run(scenario).records
    (flow,) = records["flows"]
    (port,) = [port for port in records["ports"] if port["name"] == "router1>router2"]
    assert flow["segments_retransmitted"] == 0
    assert flow["segments_marked"] > 100
    assert flow["octets_delivered"] * 8 / 10 > 0.95 * 50e6 * 1448 / 1500
    assert port["octets"]["sojourn"]["p99_ps"] < 1.45e9
