"""Sources that do not adapt, on the VCs of TCP connections."""

from typing import Any

import pytest

from skycell import parse, run_spec

Values = dict[str, Any]


def scenario(**changes: Any) -> Values:
    """Two connections and 100000 cells/s of datagrams of twelve cells beside the first."""
    values: Values = {
        "run": {"duration": "2 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 2,
            "bottleneck": {"rate": "200000 cells/s", "delay": "2 ms", "buffer": "1000 cells"},
            "access": {"delay": "10 us", "frame_jitter": {"kind": "port_gap"}},
        },
        "tcp": {"preset": "icccn97-wan", "recovery": "sack"},
        "source": [
            {"kind": "cbr", "name": "udp", "rate": "100000 cells/s", "frame": 12, "beside": "flow1"}
        ],
    }
    values["topology"] |= changes
    return values


def records(values: Values, engine: str) -> dict[str, Any]:
    return dict(run_spec(parse(values, "test").resolve(1), engine).records)


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize("tcps_per_vc", [None, 2])
def test_datagrams_share_a_vc_with_tcp_and_do_not_give_way(
    engine: str, tcps_per_vc: int | None
) -> None:
    routed = {} if tcps_per_vc is None else {"tcps_per_vc": tcps_per_vc}
    found = records(scenario(**routed), engine)
    (udp,) = found["sources"]
    # One every 120 us from 0 on, whatever becomes of them: 2 s / 120 us = 16666.7.
    assert (udp["frames"], udp["cells"]) == (16_667, 12 * 16_667)
    vcs = {vc["name"]: vc for vc in found["vcs"]}
    first = vcs["flow1.forward" if tcps_per_vc is None else "flow1.in"]
    segments = found["flows"][0]["segments_sent"]
    assert first["frames_offered"] == 16_667 + segments
    if tcps_per_vc is not None:
        # Datagrams leave the trunk where the connection beside which they go leaves it.
        own = [vcs[f"flow{i}.out"]["frames_offered"] for i in (1, 2)]
        assert sum(own) == vcs["trunk1.forward"]["frames_delivered"]
        assert own[0] > 14_000
    # TCP shares what is left of the link: 48 octets of 100000 cells/s are 38.4 Mbit/s.
    delivered = sum(flow["octets_delivered"] for flow in found["flows"]) * 8 / 2
    assert 10e6 < delivered < 38.4e6


def test_a_burst_of_datagrams_ends_with_its_on_time() -> None:
    times = {"on": "120 us", "off": "880 us", "phase": "0 s"}
    values = scenario()
    values["source"] = [
        {
            "kind": "vbr",
            "name": "udp",
            "peak_rate": "100000 cells/s",
            "frame": 4,
            "beside": "flow2",
            **times,
        }
    ]
    (udp,) = records(values, "fast")["sources"]
    # Three datagrams of 40 us in each millisecond.
    assert udp["frames"] == 3 * 2_000
