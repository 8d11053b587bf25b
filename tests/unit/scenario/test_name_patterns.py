"""Names with `*` in [[flow]], [[pep]] and [[uplink]], which stand for names with a number."""

from typing import Any

import pytest

from skycell.scenario import Scenario, ScenarioFaults, parse

LINK = {"rate": "10 Mbit/s", "framing": "ip", "delay": "10 ms", "buffer": "1 BDP"}
GRAPH: dict[str, Any] = {
    "run": {"duration": "1 s"},
    "tcp": {"preset": "linux"},
    "topology": {
        "kind": "graph",
        "hosts": [{"name": "user", "count": 12}, "server"],
        "routers": ["gate", "hub"],
        "link": [
            {"from": "user*", "to": "gate", **LINK},
            {"from": "gate", "to": "hub", **LINK},
            {"from": "hub", "to": "server", **LINK},
        ],
        "flow": [
            {"name": "web", "source": "server", "destination": "user*"},
            {"name": "bulk", "source": "server", "destination": "user1"},
        ],
    },
}


def with_tables(**tables: Any) -> Scenario:
    return parse({**GRAPH, **tables})


def faults_of(**tables: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(ScenarioFaults) as raised:
        with_tables(**tables)
    return [(str(fault.path), fault.got, fault.allowed) for fault in raised.value.faults]


def names_of_flows() -> list[str]:
    return [flow.name for flow in with_tables().resolve().flows]


def test_a_pattern_is_the_list_of_what_it_stands_for() -> None:
    web = [name for name in names_of_flows() if name.startswith("web")]
    assert len(web) == 12
    changed = {"tcp": {"congestion": "reno"}, "traffic": {"kind": "transfers", "size": "10 kB"}}
    changed |= {"start": {"kind": "together", "at": "100 ms"}}
    specs = [with_tables(flow=[{"names": names, **changed}]).resolve() for names in (["web*"], web)]
    assert specs[0] == specs[1]
    assert specs[0] != with_tables().resolve()


def test_a_pattern_of_nothing_is_a_fault_with_the_pattern_that_was_meant() -> None:
    ((path, got, allowed),) = faults_of(flow=[{"names": ["bulk", "weeb*"], "start": "together"}])
    assert (path, got) == ("flow[0].names[1]", '"weeb*"')
    assert allowed.endswith('; did you mean "web*"?')
    ((path, got, allowed),) = faults_of(
        flow=[
            {"names": ["web3"], "start": "together"},
            {"names": ["bulk", "web*"], "start": "together"},
        ]
    )
    assert (path, got) == ("flow[1].names[1]", '"web3"')
    assert "flow[0] names it already" in allowed
    ((path, got, _),) = faults_of(flow=[{"names": ["*"], "start": "together"}])
    assert (path, got) == ("flow[0].names[0]", '"*"')


def test_several_flows_of_a_pair_are_all_meant() -> None:
    topology = {**GRAPH["topology"]}
    topology["flow"] = [{**topology["flow"][0], "count": 2}, topology["flow"][1]]
    spec = with_tables(
        topology=topology, flow=[{"names": ["web*"], "tcp": {"congestion": "reno"}}]
    ).resolve()
    reno = [flow.name for flow in spec.flows if flow.tcp.congestion.kind == "reno"]
    assert reno == [f"web{user}.{number}" for user in range(1, 13) for number in (1, 2)]


def test_a_proxy_splits_the_flows_of_a_pattern() -> None:
    web = [name for name in names_of_flows() if name.startswith("web")]
    for key in ("flows", "bypass"):
        specs = [
            with_tables(pep=[{"node": "hub", "buffer": "32 MB", key: names}]).resolve()
            for names in (["web*"], web)
        ]
        assert specs[0] == specs[1]
        hidden = with_tables(
            flow=[{"names": ["web*"], "ipsec": True}], pep=[{"node": "hub", "buffer": "32 MB"}]
        )
        assert {flow.name for flow in hidden.resolve().flows if flow.peps} == {"bulk"}
        split = {flow.name for flow in specs[0].flows if flow.peps}
        assert split == (set(web) if key == "flows" else {"bulk"})
    ((path, got, allowed),) = faults_of(pep=[{"node": "hub", "buffer": "32 MB", "flows": ["wep*"]}])
    assert (path, got) == ("pep[0].flows[0]", '"wep*"')
    assert allowed.endswith('; did you mean "web*"?')


def test_terminals_of_an_uplink_may_be_a_pattern() -> None:
    cells = {"rate": "2000 cells/s", "delay": "10 ms", "buffer": "1000 cells"}
    network: dict[str, Any] = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": [{"name": "user", "count": 3}, "other", "server"],
            "switches": ["hub"],
            "link": [
                {"from": "user*", "to": "hub", **cells},
                {"from": "other", "to": "hub", **cells},
                {"from": "hub", "to": "server", **cells},
            ],
            "flow": [
                {"name": "up", "source": "user*", "destination": "server"},
                {"name": "more", "source": "other", "destination": "server"},
            ],
        },
    }
    access = {"kind": "slotted_aloha"}

    def of(*terminals: str) -> Scenario:
        uplink = {"to": "hub", "terminals": list(terminals), "access": access}
        return parse({**network, "uplink": [uplink]})

    assert of("user*").resolve() == of("user1", "user2", "user3").resolve()
    assert of("user*").resolve() != of("user*", "other").resolve()
    with pytest.raises(ScenarioFaults) as raised:
        of("other", "usr*")
    (fault,) = raised.value.faults
    assert (str(fault.path), fault.got) == ("uplink[0].terminals[1]", '"usr*"')
    assert fault.allowed.endswith('; did you mean "user*"?')
