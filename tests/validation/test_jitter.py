"""Processing times of senders: they break phases, and take no capacity.

Two of the networks are those in which a random wait of the ports before each frame, one cell of
the access link long, had broken no phase or had taken a third of a thin link's capacity.
"""

from statistics import mean
from typing import Any

import pytest

import skycell
from skycell.metrics import ceiling_bps
from skycell.scenario import Scenario, parse

PORT_GAP = {"kind": "port_gap", "up_to": "1 cell"}
"""The rule of the studies."""


def cubic_beside_reno(**access: Any) -> Scenario:
    """A bottleneck of 8 Mbit/s behind access links of 1 Gbit/s."""
    return parse(
        {
            "run": {"duration": "120 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "rate": "8 Mbit/s",
                    "framing": "none",
                    "delay": "5 ms",
                    "buffer": "20 ms",
                    "policy": "epd",
                },
                "access": {"rate": "1 Gbit/s", "framing": "none", "delay": "0 s", **access},
            },
            "tcp": {"preset": "rfc-modern", "delayed_ack": "off"},
            "flow": [{"names": ["flow2"], "tcp": {"congestion": "cubic"}}],
        }
    )


def share_of_cubic(scenario: Scenario) -> float:
    shares = []
    for seed in range(1, 17):
        reno, cubic = skycell.run(scenario, seed=seed).records["flows"]
        octets = cubic["octets_delivered"], reno["octets_delivered"]
        shares.append(float(octets[0] / sum(octets)))
    return mean(shares)


def test_cubic_beside_reno_gets_what_it_gets_without_phase_effects() -> None:
    # 0.53 in an independent model of packets whose senders draw their times, and between 0.52 and
    # 0.54 here with times of two to ten frames. One run's share has a standard deviation of 0.025:
    # 0.006 for the mean of sixteen. A frame leaves a little of the effect, about 0.01.
    assert share_of_cubic(cubic_beside_reno()) == pytest.approx(0.53, abs=0.03)
    # In step with the bottleneck, or nearly so.
    for in_step in ("0 s", PORT_GAP):
        assert share_of_cubic(cubic_beside_reno(frame_jitter=in_step)) > 0.58


def two_round_trips(offset_ms: float, jitter: str | None) -> float:
    """Share of the first of two connections whose round trips differ by twice an offset."""
    access = {"rate": "1 Gbit/s", "framing": "none"}
    own = {} if jitter is None else {"frame_jitter": jitter}
    ends = (("a", "r", 3.0), ("b", "r", 3 + offset_ms), ("s", "x", 0), ("s", "y", 0))
    links = [
        {"from": one, "to": other, "delay": f"{delay:.4f} ms", **access, **own}
        for one, other, delay in ends
    ]
    bottleneck = {"rate": "8 Mbit/s", "framing": "none", "delay": "15 ms", "buffer": "512 cells"}
    scenario = parse(
        {
            "run": {"duration": "150 s"},
            "topology": {
                "kind": "graph",
                "hosts": ["a", "b", "x", "y"],
                "routers": ["r", "s"],
                "link": [*links, {"from": "r", "to": "s", **bottleneck}],
                "flow": [
                    {"name": "one", "source": "a", "destination": "x"},
                    {"name": "other", "source": "b", "destination": "y"},
                ],
            },
            "tcp": {"preset": "rfc-modern", "delayed_ack": "off"},
        }
    )
    octets = [flow["octets_delivered"] for flow in skycell.run(scenario).records["flows"]]
    return float(octets[0] / sum(octets))


def test_a_share_hardly_depends_on_the_phase_of_two_round_trips() -> None:
    # Round trips of 36 ms and up to 7 % more, in eighths of the 1.7 ms that the bottleneck takes
    # for a packet. In step, one of the two gets next to nothing at some phases and more than half
    # at others (Floyd and Jacobson, 1992, figures of section 3 for packets of 8 ms).
    offsets = [1.696 * eighth / 8 for eighth in range(1, 12, 2)]
    in_step = [two_round_trips(offset, "0 s") for offset in offsets]
    assert max(in_step) - min(in_step) > 0.4
    drawn = [two_round_trips(offset, None) for offset in offsets]
    assert max(drawn) - min(drawn) < 0.2


def acknowledgements_over_a_slow_link(**jitter: Any) -> Scenario:
    """A download whose way back carries 1000 acknowledgements, of one cell each, a second."""
    fast = {"rate": "1 Gbit/s", "framing": "none", "delay": "0 s", **jitter}
    slow = {"delay": "50 ms", "one_way": True, **jitter}
    return parse(
        {
            "run": {"duration": "60 s"},
            "topology": {
                "kind": "graph",
                "hosts": ["server", "client"],
                "routers": ["gateway", "terminal"],
                "link": [
                    {"from": "server", "to": "gateway", **fast},
                    {"from": "client", "to": "terminal", **fast},
                    {
                        "from": "gateway",
                        "to": "terminal",
                        "rate": "100000 cells/s",
                        "buffer": "20000 cells",
                        **slow,
                    },
                    {
                        "from": "terminal",
                        "to": "gateway",
                        "rate": "1000 cells/s",
                        "buffer": "50 cells",
                        **slow,
                    },
                ],
                "flow": [{"name": "download", "source": "server", "destination": "client"}],
            },
            "tcp": {
                "recovery": "sack",
                "mss": "1460 B",
                "llc_snap": False,
                "delayed_ack": "off",
                "window_scaling": True,
                "receiver_window": "4 MiB",
            },
            "start": "together",
        }
    )


def download_and_busy(scenario: Scenario) -> tuple[float, float]:
    """Mbit/s of the download, and how busy the port of the thin link is."""
    records = skycell.run(scenario).records
    ports = {port["name"]: port for port in records["ports"]}
    busy = ports["terminal>gateway"]["busy_ps"] / records["duration_ps"]
    return records["flows"][0]["octets_delivered"] * 8 / 60e6, busy


def test_a_router_with_a_standing_queue_always_sends() -> None:
    # With nothing drawn anywhere.
    exact, busy = download_and_busy(acknowledgements_over_a_slow_link())
    assert exact == pytest.approx(15.2, rel=0.01)
    decimate = acknowledgements_over_a_slow_link()
    for link in (0, 1):
        decimate = decimate.with_values({f"topology.link[{link}].frame_jitter": "1 frame"})
    drawn, drawn_busy = download_and_busy(decimate)
    # Losses of acknowledgements come at other moments.
    assert drawn == pytest.approx(exact, rel=0.01)
    assert drawn_busy == pytest.approx(busy, abs=0.01)
    # The studies' rule waits half a cell before each, which is a third of the time.
    waiting, waiting_busy = download_and_busy(
        acknowledgements_over_a_slow_link(frame_jitter=PORT_GAP)
    )
    assert waiting < 0.8 * exact
    assert waiting_busy == pytest.approx(2 / 3, abs=0.05)


@pytest.mark.parametrize(
    ("jitter", "part"),
    [
        ("1 frame", 1),
        ("10 frames", 1),
        # 32 cells and half a cell's wait.
        (PORT_GAP, 32 / 32.5),
    ],
)
def test_a_saturated_host_link_carries_what_it_can(jitter: Any, part: float) -> None:
    # Packets of 1500 octets, in AAL5 without LLC/SNAP: 1508 octets, 32 cells.
    def octets(duration: str) -> int:
        link = {"from": "a", "to": "b", "rate": "10 Mbit/s", "framing": "none", "delay": "1 ms"}
        records = skycell.run(
            {
                "run": {"duration": duration},
                "topology": {
                    "kind": "graph",
                    "hosts": ["a", "b"],
                    "link": [{**link, "frame_jitter": jitter}],
                    "flow": [{"name": "f", "source": "a", "destination": "b"}],
                },
                "tcp": {"mss": "1460 B", "llc_snap": False, "receiver_window": "60 kB"},
            }
        ).records
        delivered: int = records["flows"][0]["octets_delivered"]
        return delivered

    # From 10 s on, after slow start.
    rate = (octets("30 s") - octets("10 s")) * 8 / 20
    assert rate == pytest.approx(part * ceiling_bps(1460, 10e6, llc_snap=False), rel=5e-4)
