"""Values over values: presets, flows of their own, and changes from outside."""

import pytest
from msgspec import to_builtins

from skycell.input.expand import merge
from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.spec.declared.network import RenoCongestionSpec
from tests.unit.scenario.wan import wan


def test_a_file_goes_over_its_preset() -> None:
    spec = parse({"preset": "icccn97-geo", "tcp": {"recovery": "reno"}}).resolve()
    assert spec.flows[0].tcp.recovery.kind == "reno"
    assert spec.flows[0].tcp.mss == 9_180
    assert spec.duration_ps == 40 * 10**12


def test_a_files_tcp_preset_goes_over_the_scenarios() -> None:
    spec = parse({"preset": "icccn97-geo", "tcp": {"preset": "rfc-modern", "mss": "1000 B"}})
    tcp = spec.resolve().flows[0].tcp
    assert (tcp.initial_cwnd, tcp.mss, tcp.tick_ps) == (10_000, 1_000, 10**9)


def test_a_policy_of_another_kind_takes_nothing_from_the_presets() -> None:
    policy = {"kind": "fair_buffer_allocation", "drop_threshold": 0.5}
    spec = parse({"preset": "icccn97-wan", "topology": {"bottleneck": {"policy": policy}}})
    kinds = {link.port.policy.kind for link in spec.resolve().links if link.port.capacity_cells}
    assert kinds == {"fair_buffer_allocation"}


def test_a_policy_of_the_same_kind_keeps_what_it_does_not_say() -> None:
    changed = {"topology": {"bottleneck": {"policy": {"drop_threshold": 0.5}}}}
    spec = parse({"preset": "icccn97-wan"} | changed).resolve()
    policy = next(link.port.policy for link in spec.links if link.port.capacity_cells)
    assert to_builtins(policy) == {
        "kind": "selective_drop",
        "threshold_cells": 6_000,
        "fairness_threshold": 0.8,
        "partial_discard": True,
    }


def test_the_name_of_a_rule_leaves_its_parameters_and_another_takes_its_own() -> None:
    def recovery(tcp: dict[str, object]) -> dict[str, object]:
        spec = parse({"preset": "icccn97-geo", "tcp": {"preset": "bonaventure-fast", **tcp}})
        found: dict[str, object] = to_builtins(spec.resolve().flows[0].tcp.recovery)
        return found

    assert recovery({})["dup_ack_threshold"] == 2
    assert recovery({"recovery": "reno"}) == recovery({})
    other = recovery({"recovery": "new_reno"})
    assert (other["kind"], other["dup_ack_threshold"]) == ("new_reno", 3)


def test_a_rule_without_a_kind_is_of_the_default_kind() -> None:
    tcp = wan(tcp={"congestion": {"growth": "integer"}}).resolve().flows[0].tcp
    assert tcp.congestion == RenoCongestionSpec(growth="integer", ssthresh_basis="cwnd")


def test_merging_changes_neither_side() -> None:
    below, above = {"a": {"b": [1]}}, {"a": {"c": 2}}
    merged = merge(below, above)
    merged["a"]["b"].append(2)
    assert (below, above) == ({"a": {"b": [1]}}, {"a": {"c": 2}})


def test_a_flows_own_parameters_go_over_the_common_ones() -> None:
    spec = wan(
        tcp={"recovery": "reno", "mss": "1024 B"},
        flow=[
            {
                "names": ["flow2"],
                "tcp": {"recovery": "vanilla"},
                "start": {"kind": "together", "at": "1 s"},
                "loss": {"transmissions": [0]},
                "traffic": {"kind": "transfers", "size": "1 MB"},
            }
        ],
    ).resolve()
    first, second = spec.flows
    assert (first.tcp.recovery.kind, second.tcp.recovery.kind) == ("reno", "vanilla")
    assert second.tcp.mss == 1_024
    assert (first.start.kind, second.start.kind) == ("drawn", "at")
    assert (first.traffic.kind, second.traffic.kind) == ("persistent", "transfers")
    assert (first.loss_script.transmissions, second.loss_script.transmissions) == ((), (0,))


def test_a_fault_of_the_common_parameters_is_told_once() -> None:
    with pytest.raises(ScenarioFaults) as faults:
        wan(tcp={"mss": "0 B"}, flow=[{"names": ["flow2"], "tcp": {"nagle": 3}}])
    paths = [fault.path for fault in faults.value.faults]
    assert paths == ["flow[0].tcp.nagle", "tcp.mss"]
    with pytest.raises(ScenarioFaults) as faults:
        wan(tcp={"rto_min": "9 s"}, flow=[{"names": ["flow2"], "tcp": {"nagle": False}}])
    assert [fault.path for fault in faults.value.faults] == ["tcp.rto_initial"]


def test_values_are_set_by_dotted_key_and_leave_the_scenario_as_it_was() -> None:
    before = wan(flow=[{"names": ["flow1"], "tcp": {"recovery": "sack"}}])
    identity = before.resolve().hash()
    after = before.with_values(
        {
            "tcp.recovery": "vanilla",
            "flow.0.tcp.recovery": "reno",
            "flow[0].names": ["flow2"],
            "topology.bottleneck.policy": "selective_drop",
            "topology.bottleneck.policy.drop_threshold": 0.5,
        }
    ).resolve()
    assert [flow.tcp.recovery.kind for flow in after.flows] == ["vanilla", "reno"]
    policy = next(link.port.policy for link in after.links if link.port.capacity_cells)
    assert to_builtins(policy)["threshold_cells"] == 6_000
    assert before.resolve().hash() == identity


@pytest.mark.parametrize(
    ("key", "reported"),
    [
        ("tcp.recovry", "did you mean recovery?"),
        (
            "flow.3.tcp.mss",
            "an index of flow: 0 (the first entry) to 1 (the last); written flow[0]",
        ),
        ("flow[2].start", "got      the index 2"),
        ("flow.first.start", "got      the index first"),
        ("flow[-1].start", "an index of flow: 0"),
        (f"flow.{'1' * 5000}.start", "an index of flow: 0"),
        ("policer.0.rate", "an index of policer: none, since the file has no [[policer]]"),
        ("run.duration.unit", "allowed  a time"),
        ("run.seed.high", "a table, to set one of its keys"),
        ("", "a dotted key such as tcp.recovery"),
    ],
)
def test_a_key_that_leads_nowhere_is_a_fault(key: str, reported: str) -> None:
    flows = [{"names": ["flow1"]}, {"names": ["flow2"]}]
    with pytest.raises(ScenarioFaults) as faults:
        wan(flow=flows, run__seed=1).with_values({key: "1 s"})
    assert reported in str(faults.value)


def test_a_set_value_is_not_blamed_on_a_line_of_the_file() -> None:
    scenario = parse('preset = "icccn97-wan"\n[tcp]\nrecovery = "reno"\n', "a.toml")
    with pytest.raises(ScenarioFaults) as faults:
        scenario.with_values({"tcp.recovery": "westwood"})
    (fault,) = faults.value.faults
    assert (fault.file, fault.path, fault.got) == ("a.toml", "tcp.recovery.kind", '"westwood"')


def test_a_mapping_handed_in_is_not_kept() -> None:
    values = {"preset": "icccn97-wan", "run": {"duration": "1 s"}}
    scenario: Scenario = parse(values)
    values["run"]["duration"] = "2 s"  # type: ignore[index]
    assert scenario.resolve().duration_ps == 10**12
