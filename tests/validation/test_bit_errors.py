"""Bit errors: frames against their closed form, and TCP under isolated and burst losses."""

from statistics import fmean
from typing import Any

import pytest

import skycell
from skycell.metrics import throughputs_bps
from skycell.records import RunResult

#: Bits of the payload of a cell, and cells of a segment of 1460 octets with LLC/SNAP.
PAYLOAD, CELLS = 384, 32


def over(loss: dict[str, Any], recovery: str = "sack", seed: int = 1) -> RunResult:
    """A download over 10 Mbit/s and 100 ms, whose data meets these errors and whose ACKs none."""
    link = {"rate": "10 Mbit/s", "framing": "none", "one_way": True, "delay": "49 ms"}
    access = {"rate": "100 Mbit/s", "framing": "none", "delay": "0.5 ms"}
    scenario = skycell.parse(
        {
            "topology": {
                "kind": "graph",
                "hosts": ["a", "b"],
                "switches": ["west", "east"],
                "link": [
                    {"from": "a", "to": "west", **access},
                    {"from": "west", "to": "east", **link, "buffer": "unlimited", "loss": loss},
                    {"from": "east", "to": "west", **link, "buffer": "unlimited"},
                    {"from": "east", "to": "b", **access},
                ],
                "flow": [{"name": "download", "source": "a", "destination": "b"}],
            },
            "tcp": {
                "mss": "1460 B",
                "recovery": recovery,
                "receiver_window": "256 kB",
                "window_scaling": True,
                "tick": "1 ms",
                "rto_min": "200 ms",
            },
            "run": {"duration": "150 s"},
        }
    )
    return skycell.run(scenario, seed=seed)


def lost_frames(result: RunResult) -> float:
    """Part of the data's frames that did not arrive whole."""
    vc = result.records["vcs"][0]
    return 1 - float(vc["frames_delivered"] / vc["frames_offered"])


def test_frames_fail_their_crc_as_the_closed_form_says() -> None:
    ber = 1e-6
    result = over({"kind": "bit_errors", "ber": ber})
    vc = result.records["vcs"][0]
    # 1 - (1 - b)^(384 n) = 0.0122; headers lose 2380 b^2 of the cells, which is nothing here.
    expected = 1 - (1 - ber) ** (PAYLOAD * CELLS)
    deviation = (expected / vc["frames_offered"]) ** 0.5
    assert vc["frames_crc"] / vc["frames_offered"] == pytest.approx(expected, abs=4 * deviation)
    assert vc["frames_crc"] > 20
    # Single wrong bits of headers are corrected: 40 b of the cells have one.
    (errors,) = (port["errors"] for port in result.records["ports"] if "errors" in port)
    corrected = errors["headers_corrected"]
    assert corrected == pytest.approx(40 * ber * vc["cells_offered"], rel=1.0)
    assert corrected > 0
    assert "header" not in vc["cells_lost"]


def test_reno_stands_isolated_losses_and_not_bursts_of_as_many() -> None:
    # Bursts of 60 000 bits spoil some five frames each; as many frames are lost one by one at a
    # ratio of 1 - (1 - b)^12 288.
    isolated = {"kind": "bit_errors", "ber": 1.6e-7}
    bursts = {"kind": "error_bursts", "ber": 8e-4, "length": 60_000}
    seeds = range(1, 4)
    rate, lost = {}, {}
    for name, loss in (("isolated", isolated), ("bursts", bursts)):
        for recovery in ("reno", "sack"):
            runs = [over(loss, recovery, seed) for seed in seeds]
            rate[name, recovery] = fmean(throughputs_bps(run.records)[0] for run in runs)
            lost[name, recovery] = fmean(map(lost_frames, runs))
    for share in lost.values():
        assert share == pytest.approx(2e-3, rel=0.5)
    one_by_one = rate["isolated", "reno"] / rate["isolated", "sack"]
    together = rate["bursts", "reno"] / rate["bursts", "sack"]
    assert one_by_one > 0.85
    assert together < 0.85 * one_by_one
