"""Groups of users in a scenario: where they go, what they are made of, what is refused."""

from typing import Any

import pytest

from skycell import _core
from skycell.scenario import check, parse
from skycell.scenario.presets.traffic import traffic_presets
from skycell.spec.declared.network import UsersSpec

BASE: dict[str, Any] = {
    "run": {"duration": "20 s"},
    "topology": {
        "kind": "dumbbell",
        "sources": 4,
        "access": {"delay": "1 ms"},
        "bottleneck": {"rate": "20 Mbit/s", "framing": "ip", "delay": "270 ms", "buffer": "1 BDP"},
    },
}


def users(*traffic: dict[str, Any], **more: Any) -> UsersSpec:
    spec = parse({**BASE, "traffic": list(traffic), **more}).resolve()
    _core.validate(spec.canonical_json())
    assert spec.flows == ()
    assert spec.users is not None
    return spec.users


def places(*traffic: dict[str, Any], **more: Any) -> list[str]:
    return [fault.path for fault in check({**BASE, "traffic": list(traffic), **more})]


def test_users_go_to_pairs_of_hosts_in_turn_group_after_group() -> None:
    found = users({"kind": "bulk", "users": 6}, {"kind": "video", "users": 1})
    assert len(found.routes) == 4
    assert [(group.count, group.first_route) for group in found.groups] == [(6, 0), (1, 2)]


def test_groups_are_named_by_their_kind_unless_they_have_a_name() -> None:
    tables = ({"kind": "bulk", "users": 1},) * 2
    found = users(*tables, {"kind": "bulk", "users": 1, "name": "x"})
    assert [group.name for group in found.groups] == ["bulk", "bulk2", "x"]


def test_connections_open_by_handshakes_and_have_tcp_parameters_of_their_own() -> None:
    own = {"kind": "bulk", "users": 1, "tcp": {"mss": "1000 B"}}
    found = users(own, {"kind": "bulk", "users": 1}, tcp={"preset": "linux"})
    assert [group.tcp.handshake for group in found.groups] == [True, True]
    assert [group.tcp.mss for group in found.groups] == [1000, 1448]


def test_users_begin_one_after_the_other_if_the_table_says_so() -> None:
    start = {"kind": "staggered", "first": "1 s", "every": "10 ms"}
    (group,) = users({"kind": "bulk", "users": 5, "start": start}).groups
    assert group.every_ps == 10**10


@pytest.mark.parametrize("name", traffic_presets())
def test_a_preset_of_traffic_makes_a_group_that_the_engine_takes(name: str) -> None:
    (group,) = users({"preset": name, "users": 3}).groups
    assert group.app.kind == traffic_presets()[name].values()["kind"]


def test_a_preset_has_the_defaults_of_its_kind() -> None:
    for kind, name in (("pages", "web_2025"), ("video", "hls_2025"), ("call", "g711")):
        preset, plain = users({"preset": name, "users": 1}, {"kind": kind, "users": 1}).groups
        assert preset.app == plain.app


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"kind": "video", "ladder": ["3 Mbit/s", "2 Mbit/s"]}, "ladder"),
        ({"kind": "video", "buffer": "11 s"}, "buffer"),
        ({"kind": "video", "bola_least": "30 s"}, "bola_least"),
        ({"kind": "pages", "requests": [1, 2, 3]}, "requests"),
        ({"kind": "asks", "repeats": 2}, "repeats"),
        ({"kind": "asks", "interval": "0 s"}, "interval"),
        ({"kind": "bulk", "preset": "web_2025"}, "kind"),
        ({"kind": "bulk", "preset": "web_2013"}, "preset"),
        ({"pairs": "all"}, "kind"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_key(table: dict[str, Any], key: str) -> None:
    own = table if "pairs" in table else {"users": 1, **table}
    assert places(own) == [f"traffic[0].{key}"]


def test_what_belongs_to_connections_of_flows_is_refused_beside_users() -> None:
    bulk = {"kind": "bulk", "users": 1}
    assert places(bulk, loss={"transmissions": [1]}) == ["loss"]
    records = {"traces": ["queue", "cwnd"], "flow_ports": ["router1>router2"]}
    assert places(bulk, records=records) == ["records.flow_ports", "records.traces[1]"]
    assert places(bulk, flow=[{"names": ["flow1"], "ipsec": True}]) == ["flow[0]"]


GRAPH: dict[str, Any] = {
    "kind": "graph",
    "hosts": ["server", "one", "two"],
    "routers": ["gateway"],
    "link": [
        {"from": name, "to": "gateway", "rate": "10 Mbit/s", "framing": "ip", "delay": "5 ms"}
        for name in ("server", "one", "two")
    ],
    "flow": [{"name": name, "source": "server", "destination": name} for name in ("one", "two")],
}


def test_a_classifier_puts_what_users_of_a_pair_send_and_get_on_a_vc() -> None:
    rule = {"vc": "gold", "source": "server", "destination": "two"}
    tables = {"topology": GRAPH, "classifier": [{"node": "gateway", "rule": [rule]}]}
    spec = parse({**BASE, "traffic": [{"kind": "bulk", "users": 2}], **tables}).resolve()
    assert spec.users is not None
    names = [[spec.vcs[vc].name for vc in route.forward] for route in spec.users.routes]
    assert [route[-1] == "gold" for route in names] == [False, True]


def test_a_rule_for_a_protocol_is_refused_beside_users() -> None:
    rule = {"vc": "gold", "protocol": "tcp"}
    tables = {"topology": GRAPH, "classifier": [{"node": "gateway", "rule": [rule]}]}
    found = places({"kind": "bulk", "users": 2}, **tables)
    assert found == ["classifier[0].rule[0].protocol"]


def behind_a_proxy(*traffic: dict[str, Any], **pep: Any) -> dict[str, Any]:
    table = {"node": "gateway", "buffer": "1 MB", **pep}
    return {**BASE, "topology": GRAPH, "traffic": list(traffic), "pep": [table]}


def test_a_proxy_splits_the_connections_of_users_of_all_pairs_or_those_it_names() -> None:
    def nodes(**pep: Any) -> list[list[str]]:
        scenario = behind_a_proxy({"kind": "bulk", "users": 2}, **pep)
        spec = parse(scenario).resolve()
        _core.validate(spec.canonical_json())
        assert spec.users is not None
        peps = [route.peps for route in spec.users.routes]
        assert all(pep.tcp.handshake and pep.buffer_octets == 10**6 for row in peps for pep in row)
        return [[spec.nodes[pep.node].name for pep in row] for row in peps]

    assert nodes() == [["gateway"], ["gateway"]]
    assert nodes(flows=["two"]) == [[], ["gateway"]]
    assert nodes(bypass=["two"]) == [["gateway"], []]


def test_a_route_without_a_proxy_has_no_key_for_proxies() -> None:
    spec = parse({**BASE, "traffic": [{"kind": "bulk", "users": 1}]}).resolve()
    assert '"peps"' not in spec.canonical_json()


@pytest.mark.parametrize(
    ("pep", "path"),
    [
        ({"node": "server"}, "pep[0].node"),
        ({"flows": ["three"]}, "pep[0].flows[0]"),
        ({"buffer": "31 kB", "flows": ["one"]}, None),
        ({"buffer": "31 kB", "flows": ["two"]}, "pep[0].buffer"),
        ({"tcp": {"recovery": "reno", "pacing": "on"}}, "pep[0].tcp.pacing"),
    ],
)
def test_a_proxy_that_does_not_fit_is_refused_at_its_key(
    pep: dict[str, Any], path: str | None
) -> None:
    # The first user goes to the pair "one", the second to "two".
    windows = [{"receiver_window": "30 kB"}, {"receiver_window": "40 kB"}]
    tables = [{"kind": "bulk", "users": 1, "tcp": window} for window in windows]
    found = [fault.path for fault in check(behind_a_proxy(*tables, **pep))]
    assert found == ([] if path is None else [path])


def test_users_over_a_constellation_are_refused() -> None:
    tables = [{"kind": "bulk", "users": 1}]
    scenario = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "constellation",
            "constellation": "iridium.toml",
            "ground": {"rate": "10 Mbit/s", "framing": "ip", "buffer": "100 packets"},
            "stations": ["Berlin", "Tokyo"],
        },
        "traffic": tables,
    }
    assert [fault.path for fault in check(scenario)] == ["traffic[0].kind"]


def test_an_empty_list_of_traffic_is_a_fault_with_or_without_a_list_of_stations() -> None:
    assert places() == ["traffic"]
