"""Sources faster than a link, against what is left of them in closed form."""

from typing import Any

import pytest

import skycell
from skycell import RunResult

INTERVAL_S, SERVICE_S = 0.0006, 0.0012
"""Of packets of 1500 octets: at 20 Mbit/s, and over 10 Mbit/s."""


def ran(engine: str, *, host: str, buffer: str, **run: Any) -> RunResult:
    """20 Mbit/s of packets over a host's link, and 10 Mbit/s of a router."""
    ip = {"framing": "ip", "delay": "1 ms"}
    slow = {"rate": "10 Mbit/s", "policy": "tail_drop", "buffer": buffer}
    scenario = {
        "run": {"duration": "6 s", **run},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "routers": ["r"],
            "link": [
                ip | {"from": "a", "to": "r", "rate": host},
                ip | {"from": "r", "to": "b"} | slow,
            ],
        },
        "source": [
            {
                "kind": "cbr",
                "name": "udp",
                "rate": "20 Mbit/s",
                "packet_size": "1500 B",
                "source": "a",
                "destination": "b",
            }
        ],
    }
    return skycell.run_spec(skycell.parse(scenario).resolve(), engine=engine)


def port(result: RunResult, name: str) -> dict[str, Any]:
    return next(dict(port) for port in result.records["ports"] if port["name"] == name)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_twice_the_rate_of_a_link_loses_half_once_its_buffer_is_full(engine: str) -> None:
    whole = port(ran(engine, host="1 Gbit/s", buffer="100 packets"), "r>b")
    later = ran(engine, host="1 Gbit/s", buffer="100 packets", measure_from="1 s")
    full = port(later, "r>b")
    assert whole["arrived"] == pytest.approx(6 / INTERVAL_S, abs=2)
    assert whole["departed"] == pytest.approx(6 / SERVICE_S, abs=2)
    assert whole["arrived"] == whole["departed"] + whole["queued"] + whole["discarded"]["overflow"]
    assert whole["queued"] == pytest.approx(100, abs=1)
    assert full["discarded"]["overflow"] == pytest.approx(full["arrived"] / 2, abs=1)
    # A packet that finds room waits for the rest of a packet, then for 99, and is sent.
    assert full["octets"]["sojourn"]["mean_ps"] == pytest.approx(1e12 * 0.12, rel=0.01)
    assert later.notes


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_twice_the_rate_of_its_own_host_waits_there(engine: str) -> None:
    result = ran(engine, host="10 Mbit/s", buffer="100 packets")
    host, router = port(result, "a>r"), port(result, "r>b")
    assert host["queued"] == pytest.approx(6 / INTERVAL_S - 6 / SERVICE_S, abs=2)
    assert (router["queue"]["max"], sum(router["discarded"].values())) == (1, 0)
    (note,) = result.notes
    assert "5 000 packets at the end" in note


def test_both_engines_leave_the_same_of_it() -> None:
    for host in ("1 Gbit/s", "10 Mbit/s", "12 Mbit/s"):
        fast, reference = (dict(ran(e, host=host, buffer="7 packets").records) for e in ENGINES)
        for records in (fast, reference):
            del records["engine"], records["engine_stats"]
        assert fast == reference


ENGINES = ("fast", "reference")
