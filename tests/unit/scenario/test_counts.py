"""Graphs written with counts and `*`, beside the same graphs written out."""

from typing import Any

import pytest

from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.scenario.sky_paths import sky_paths

FAST = {"rate": "1 Gbit/s", "framing": "ip", "delay": "2 ms"}
SLOW = {"rate": "10 Mbit/s", "framing": "ip", "delay": "250 ms", "buffer": "64 kB", "loss": 0.001}
CELLS = {"rate": "10 Mbit/s", "framing": "none"}


def graph(**topology: Any) -> Scenario:
    return parse({"run": {"duration": "1 s"}, "topology": {"kind": "graph", **topology}})


def link(source: str, target: str, keys: dict[str, Any] = FAST, **more: Any) -> dict[str, Any]:
    return {"from": source, "to": target, **keys, **more}


def flow(name: str, source: str, destination: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "source": source, "destination": destination, **more}


def names(scenario: Scenario) -> list[str]:
    return [one.name for one in scenario.resolve().flows]


def test_a_graph_written_short_is_the_graph_written_out() -> None:
    short = graph(
        hosts=[{"name": "server", "count": 2}, {"name": "user", "count": 5}],
        routers=["gateway", {"name": "terminal", "count": 5}],
        switches=[{"name": "switch", "count": 2}],
        link=[
            link("server*", "gateway"),
            link("gateway", "terminal*", SLOW, one_way=True),
            link("terminal*", "switch*", {**CELLS, "delay": "1 ms"}, one_way=True, in_turn=True),
            link("switch*", "gateway", {**CELLS, "delay": "1 ms"}, one_way=True),
            link("terminal*", "user*"),
        ],
        flow=[
            flow("call", "user*", "server1"),
            flow("browse", "server*", "user*", in_turn=True, count=2),
            flow("download", "server2", "user3", count=3),
            {**flow("upload", "user4", "server2"), "class": "gfr"},
        ],
    )
    users = range(1, 6)
    of_users = {k: 1 if k % 2 else 2 for k in users}  # in turn
    long = graph(
        hosts=["server1", "server2", "user1", "user2", "user3", "user4", "user5"],
        routers=["gateway", *(f"terminal{k}" for k in users)],
        switches=["switch1", "switch2"],
        link=[
            link("server1", "gateway"),
            link("server2", "gateway"),
            *(link("gateway", f"terminal{k}", SLOW, one_way=True) for k in users),
            *(
                link(f"terminal{k}", f"switch{own}", {**CELLS, "delay": "1 ms"}, one_way=True)
                for k, own in of_users.items()
            ),
            link("switch1", "gateway", {**CELLS, "delay": "1 ms"}, one_way=True),
            link("switch2", "gateway", {**CELLS, "delay": "1 ms"}, one_way=True),
            *(link(f"terminal{k}", f"user{k}") for k in users),
        ],
        flow=[
            *(flow(f"call{k}", f"user{k}", "server1") for k in users),
            *(
                flow(f"browse{k}.{i}", f"server{own}", f"user{k}")
                for k, own in of_users.items()
                for i in (1, 2)
            ),
            *(flow(f"download{i}", "server2", "user3") for i in (1, 2, 3)),
            {**flow("upload", "user4", "server2"), "class": "gfr"},
        ],
    )
    assert short.resolve().hash() == long.resolve().hash()


def test_names_of_a_list_have_numbers_too_and_go_by_them() -> None:
    hosts = ["user10", "user2", "username", "user02", "far"]
    links = [link(host, "hub") for host in hosts]
    scenario = graph(hosts=hosts, routers=["hub"], link=links, flow=[flow("f", "user*", "far")])
    assert names(scenario) == ["f2", "f10"]


def test_a_pattern_stands_for_a_single_node_without_a_number() -> None:
    """So that a sweep of the count may begin at one."""
    scenario = graph(
        hosts=[{"name": "user", "count": 2}, {"name": "server", "count": 2}],
        routers=["hub"],
        link=[link("user*", "hub"), link("server*", "hub")],
        flow=[flow("f", "user*", "server*", count=2)],
    )
    assert names(scenario) == ["f1.1", "f1.2", "f2.1", "f2.2"]
    one = {"topology.hosts.0.count": 1, "topology.hosts.1.count": 1}
    assert names(scenario.with_values(one)) == ["f1", "f2"]


@pytest.mark.parametrize(("sources", "sinks"), [(5, 2), (2, 5), (3, 3)])
def test_in_turn_each_of_the_more_numerous_has_a_flow(sources: int, sinks: int) -> None:
    scenario = graph(
        hosts=[{"name": "a", "count": sources}, {"name": "b", "count": sinks}],
        routers=["hub"],
        link=[link("a*", "hub"), link("hub", "b*")],
        flow=[flow("f", "a*", "b*", in_turn=True)],
    )
    plan = scenario.plan
    ends = [
        (plan.links_of(one.forward)[0].source, plan.links_of(one.forward)[-1].target)
        for one in plan.flows.values()
    ]
    most = max(sources, sinks)
    assert ends == [(f"a{k % sources + 1}", f"b{k % sinks + 1}") for k in range(most)]


def test_a_fault_of_a_table_of_many_flows_is_told_once() -> None:
    with pytest.raises(ScenarioFaults) as faults:
        graph(
            hosts=[{"name": "user", "count": 50}, "server"],
            routers=["hub"],
            link=[link("user*", "hub")],
            flow=[flow("f", "user*", "server")],
        )
    assert [fault.got for fault in faults.value.faults] == ["no path from user1 to server"]


def test_links_of_one_table_move_alike_and_are_all_named() -> None:
    schedule = {"constellation": "iridium-like", "from": "Tokyo", "to": "London"}
    scenario = graph(
        hosts=[{"name": "user", "count": 2}, "server"],
        switches=["hub"],
        link=[
            link("user*", "hub", {**CELLS, "schedule": schedule}),
            link("hub", "server", {**CELLS, "delay": "1 ms"}),
        ],
        flow=[flow("f", "user*", "server")],
    )
    (path,) = sky_paths(scenario)
    assert (path.forward, path.backward) == (("user1>hub", "user2>hub"), ("hub>user1", "hub>user2"))
    schedules = {one.name: one.schedule for one in scenario.resolve().links}
    assert schedules["user1>hub"] == schedules["hub>user2"] is not None
