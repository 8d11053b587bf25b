"""Packets that go in fragments, against arithmetic and closed forms."""

import math
from typing import Any

import pytest

import skycell
from skycell.metrics import Network
from skycell.metrics.resolved_links import longest_packet
from skycell.scenario import Scenario, ScenarioFaults, parse


def scenario(**tables: Any) -> Scenario:
    """Two hosts and two routers with a link of a small MTU between; packets of 1500 octets."""
    small = {
        "rate": "2 Mbit/s",
        "framing": "ip",
        "delay": "5 ms",
        "mtu": "576 B",
        "fragmentation": True,
    }
    edge = {"rate": "100 Mbit/s", "framing": "ip", "delay": "1 ms"}
    return parse(
        {
            "run": {"duration": "60 s"},
            "topology": {
                "kind": "graph",
                "hosts": ["a", "b"],
                "routers": ["r1", "r2"],
                "link": [
                    {"from": "a", "to": "r1", **edge},
                    {"from": "r1", "to": "r2", **small, **tables.pop("cut", {})},
                    {"from": "r2", "to": "b", **edge, **tables.pop("behind", {})},
                ],
                "flow": [{"name": "flow1", "source": "a", "destination": "b"}],
            },
            "tcp": {"preset": "linux", "mss": "1448 B", **tables.pop("tcp", {})},
            **tables,
        },
        "fragments",
    )


def line(result: skycell.RunResult) -> dict[str, int]:
    accounts = result.records["ledger"]["accounts"]
    (found,) = [account for account in accounts if account["name"] == "packets in fragments"]
    return {"cut": found["put_in"], **dict(found["found"])}


def vc(result: skycell.RunResult, name: str) -> dict[str, Any]:
    (found,) = [vc for vc in result.records["vcs"] if vc["name"] == name]
    return dict(found)


def test_a_segment_goes_in_three_fragments_and_the_ceiling_counts_their_headers() -> None:
    cut = scenario()
    result = skycell.run(cut)
    (flow,) = result.records["flows"]
    found = line(result)
    assert found["cut"] == found["put together"] + found["on their way"] > 5_000
    assert found["a fragment lost"] == 0
    whole = vc(result, "flow1.forward1")["frames_delivered"]
    assert vc(result, "flow1.forward2")["frames_offered"] == whole + 2 * found["cut"]
    # 572 + 572 + 396 octets on the line for 1448 of TCP.
    ceiling = 2e6 * 1448 / 1540
    assert Network.of(cut.resolve()).ceiling_bps == pytest.approx(ceiling)
    assert 8 * flow["octets_delivered"] / 60 == pytest.approx(ceiling, rel=0.005)
    assert result.records["engine_stats"]["stepped_ports"][0]["reason"] == "fragmentation"


def test_segments_are_lost_with_any_of_their_fragments() -> None:
    p = 0.01
    result = skycell.run(scenario(behind={"loss": p, "rate": "1 Gbit/s"}))
    found = line(result)
    expected = 1 - (1 - p) ** 3
    ended = found["cut"] - found["on their way"]
    deviation = math.sqrt(expected * (1 - expected) / ended)
    assert ended > 2_000
    assert found["a fragment lost"] / ended == pytest.approx(expected, abs=3 * deviation)


def test_fragments_are_cut_again_where_the_next_link_has_a_smaller_mtu() -> None:
    result = skycell.run(scenario(behind={"mtu": "296 B", "fragmentation": True}))
    found = line(result)
    # 572 octets go as 292, 292 and 28; 396 as 292 and 124.
    offered = vc(result, "flow1.forward3")["frames_offered"]
    assert abs(offered - 8 * found["put together"]) <= 8 * (found["on their way"] + 1)
    assert found["put together"] > 4_000


def test_fragments_go_into_cells_one_by_one() -> None:
    cut = scenario(behind={"rate": "2 Mbit/s", "framing": "none"}, cut={"rate": "100 Mbit/s"})
    result = skycell.run(cut)
    offered = vc(result, "flow1.forward3")
    # 572 + 16 octets are 13 cells, 396 + 16 are 9.
    assert offered["cells_offered"] / offered["frames_offered"] == pytest.approx(35 / 3, rel=0.01)
    assert Network.of(cut.resolve()).ceiling_bps == pytest.approx(2e6 * 1448 / (35 * 53))


def test_a_full_packet_of_the_link_is_the_longest_fragment() -> None:
    spec = scenario().resolve()
    names = [link.name for link in spec.links]
    assert longest_packet(spec, names.index("r1>r2")) == 572
    assert longest_packet(spec, names.index("a>r1")) == 1500


def test_a_mark_on_one_fragment_is_one_on_the_segment() -> None:
    codel = {"buffer": "200 packets", "policy": {"kind": "codel"}}
    result = skycell.run(scenario(cut=codel, tcp={"ecn": "classic"}))
    (flow,) = result.records["flows"]
    (port,) = [port for port in result.records["ports"] if port["name"] == "r1>r2"]
    assert port["octets"]["ecn"]["marked"] > 50
    assert 0 < flow["segments_marked"] <= port["octets"]["ecn"]["marked"]


@pytest.mark.parametrize(
    ("cut", "tcp", "reason"),
    [
        ({}, {}, "fragmentation"),
        # 1448 octets of data with timestamps are a packet of 1500.
        ({"mtu": "1500 B"}, {}, None),
        ({"mtu": "1499 B"}, {}, "fragmentation"),
        # An acknowledgement with timestamps and four blocks would have 88 octets, segments have 82.
        ({"mtu": "88 B"}, {"mss": "30 B"}, None),
        ({"mtu": "87 B"}, {"mss": "30 B"}, "fragmentation"),
    ],
)
def test_both_engines_leave_the_same_and_one_steps_where_a_packet_may_be_too_long(
    cut: dict[str, str], tcp: dict[str, str], reason: str | None
) -> None:
    short = scenario(cut=cut, tcp=tcp).with_values({"run.duration": "5 s"})
    runs = [skycell.run(short, engine=engine).records for engine in ("reference", "fast")]
    reasons = {port["reason"] for port in runs[1]["engine_stats"]["stepped_ports"]}
    assert reasons == ({reason} if reason else set())
    for records in runs:
        del records["engine"], records["engine_stats"]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("behind", "allowed"),
    [
        ({"fragmentation": True}, "with mtu"),
        ({"fragmentation": True, "mtu": "576 B", "framing": "none"}, "a link that carries packets"),
        ({"mtu": "500 B"}, "from 572 B"),
    ],
)
def test_what_cannot_be_cut_is_a_fault(behind: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ScenarioFaults, match=allowed):
        scenario(behind=behind)
