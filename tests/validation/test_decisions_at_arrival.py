"""Policies of packets that decide on a packet as it comes: both engines leave the same records.

A run of the differential test is too short for PIE to discard anything.
"""

from typing import Any

import pytest

from skycell.experiment.run import run_spec
from skycell.scenario import parse

LINK = {"framing": "ip", "rate": "10 Mbit/s", "delay": "15 ms"}


def dumbbell(policy: str, ecn: str) -> dict[str, Any]:
    return {
        "run": {"duration": "20 s", "measure_from": "1 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 5,
            "bottleneck": {**LINK, "buffer": "300 packets", "policy": policy},
            "access": {**LINK, "rate": "100 Mbit/s", "delay": "1 ms"},
        },
        "tcp": {"recovery": "sack", "mss": "1448 B", "ecn": ecn},
        "records": {"traces": ["queue", "discards", "cwnd"]},
    }


@pytest.mark.parametrize("ecn", ["off", "classic"])
@pytest.mark.parametrize("policy", ["pie", "red_ecn"])
def test_engines_agree_on_what_is_discarded_and_marked(policy: str, ecn: str) -> None:
    spec = parse(dumbbell(policy, ecn)).resolve()
    fast, reference = (run_spec(spec, engine) for engine in ("fast", "reference"))
    found = [dict(run.records) for run in (fast, reference)]
    for records in found:
        del records["engine"], records["engine_stats"]
    assert found[0] == found[1]
    assert all(fast.traces[name].equals(reference.traces[name]) for name in reference.traces)
    assert fast.stepped_ports == {}
    (port,) = (own for own in fast.records["ports"] if own["name"] == "router1>router2")
    if ecn == "off":
        assert sum(port["discarded"].values()) > 10
    else:
        assert port["octets"]["ecn"]["marked"] > 10
