"""Classifiers: which VC and class packets come to, by what their headers say."""

from typing import Any

import pytest

import skycell
from skycell.spec.declared.network import NetworkSpec

LINK = {"framing": "ip", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "100 kB"}


def scenario(classifier: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """Three connections over two routers, with a classifier at the first one."""
    access = {"framing": "ip", "delay": "1 ms"}
    topology = {"kind": "dumbbell", "sources": 3, "bottleneck": LINK, "access": access}
    return {
        "run": {"duration": "1 s"},
        "topology": topology,
        "classifier": [{"node": "router1", **classifier}],
        **tables,
    }


def taken(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Of each flow, the VC of its data from the first router, and its class."""
    spec = skycell.parse(values).resolve()
    vcs = [spec.vcs[flow.forward[1]] for flow in spec.flows]
    return [(vc.name, vc.class_) for vc in vcs]


def spec_of(values: dict[str, Any]) -> NetworkSpec:
    """The spec of a scenario."""
    return skycell.parse(values).resolve()


def test_the_first_rule_that_fits_holds_and_packets_of_one_rule_share_a_vc() -> None:
    rules = [
        {"vc": "web", "destination_port": 80, "class": "nrt_vbr"},
        {"vc": "two", "source": "source2"},
        {"vc": "rest"},
    ]
    ports = [{"names": ["flow1", "flow3"], "destination_port": 80}]
    found = taken(scenario({"rule": rules[:2]}, flow=ports))
    assert found == [("web", "nrt_vbr"), ("two", "ubr"), ("web", "nrt_vbr")]
    found = taken(scenario({"rule": rules[1:]}))
    assert found == [("rest", "ubr"), ("two", "ubr"), ("rest", "ubr")]
    # Of 18 VCs three have come to be two.
    assert len(spec_of(scenario({"rule": rules[:2]}, flow=ports)).vcs) == 17


def test_what_comes_back_is_seen_with_its_ends_exchanged() -> None:
    rules = [{"vc": "acks", "source_port": 80}]
    values = scenario(
        {"node": "router2", "rule": rules}, flow=[{"names": ["flow1"], "destination_port": 80}]
    )
    spec = spec_of(values)
    assert [spec.vcs[flow.reverse[1]].name == "acks" for flow in spec.flows] == [True, False, False]


def test_diffserv_puts_code_points_on_categories() -> None:
    points = [{"names": ["flow1"], "dscp": "EF"}, {"names": ["flow2"], "dscp": "AF23"}]
    found = taken(scenario({"preset": "diffserv"}, flow=points))
    assert found == [("ef", "cbr"), ("af2", "nrt_vbr"), ("rest", "ubr")]


def test_labels_and_protocols_are_headers_like_others() -> None:
    rules = [{"vc": "lsp", "label": 17}, {"vc": "datagrams", "protocol": "udp"}]
    voice = {"kind": "cbr", "name": "voice", "beside": "flow3"}
    values = scenario(
        {"rule": rules},
        flow=[{"names": ["flow1"], "label": 17}],
        source=[{**voice, "rate": "80 kbit/s", "packet_size": "200 B"}],
    )
    spec = spec_of(values)
    found = [spec.vcs[flow.forward[1]].name for flow in spec.flows]
    assert found == ["lsp", "flow2.forward2", "flow3.forward2"]
    assert spec.vcs[spec.sources[0].datagram_route[1]].name == "datagrams"


def test_levels_of_assured_forwarding_discard_in_their_order() -> None:
    # One VC for each drop precedence of AF1, whose thresholds are far apart.
    rules = [{"vc": f"af1{level}", "dscp": f"AF1{level}"} for level in (1, 2, 3)]
    points = [{"names": [f"flow{level}"], "dscp": f"AF1{level}"} for level in (1, 2, 3)]
    values = scenario({"rule": rules}, flow=points)
    values["topology"]["bottleneck"] = LINK | {
        "policy": {
            "kind": "drop_precedence",
            "thresholds": [0.2, 0.5, 0.9],
            "precedence": {"af11": 1, "af12": 2, "af13": 3},
        }
    }
    values["run"] = {"duration": "60 s"}
    result = skycell.run(values)
    got = [flow["octets_delivered"] for flow in result.records["flows"]]
    assert got[0] > 2 * got[1] > 2 * got[2] > 0


@pytest.mark.parametrize("key", ["source_port", "destination_port"])
def test_encryption_hides_ports_from_rules_that_ask_for_them(key: str) -> None:
    hidden = [{"names": ["flow1"], key: 80, "ipsec": True}]
    rules = [{"vc": "two", key: 80, "source": "source2"}, {"vc": "web", key: 80}]
    faults = skycell.check(scenario({"rule": rules}, flow=hidden))
    assert f"classifier[0].rule[1].{key}" in {fault.path for fault in faults}
    # A rule that another header keeps it from is none.
    open_flow = [{"names": ["flow1"], "ipsec": True}, {"names": ["flow2"], key: 80}]
    assert not skycell.check(scenario({"rule": rules[:1]}, flow=open_flow))
