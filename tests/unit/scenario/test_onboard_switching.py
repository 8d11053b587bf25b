"""Satellites that switch on board: the nodes, links and ways that a scenario resolves to."""

from pathlib import Path
from typing import Any

import pytest

from skycell.orbit import as_constellation, find_places, series
from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.spec.declared.network import LinkSpec, NetworkSpec

MS = 10**9
SECOND = 10**12
PATH = {"constellation": "jsac98-6x11", "from": "new_york", "to": "tokyo"}


def boarded(duration: str = "10 s", **schedule: Any) -> Scenario:
    return parse(
        {
            "run": {"duration": duration},
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "bottleneck": {
                    "rate": "10 Mbit/s",
                    "framing": "none",
                    "buffer": "300 cells",
                    "schedule": {**PATH, "start": "80 s", "onboard_switching": {}, **schedule},
                },
                "access": {"delay": "1 ms"},
            },
        }
    )


def names(spec: NetworkSpec, path: tuple[int, ...]) -> list[str]:
    return [spec.links[link].name for link in path]


def link(spec: NetworkSpec, name: str) -> LinkSpec:
    return next(link for link in spec.links if link.name == name)


def test_every_satellite_of_a_path_is_a_switch_with_a_port_to_the_next() -> None:
    spec = boarded().resolve()
    # 4-7 4-6 4-5 4-4 5-4 until 6.88 s of the run, then 5-7 5-6 5-5 5-4.
    kinds = {node.name: node.kind for node in spec.nodes}
    satellites = {name: kind for name, kind in kinds.items() if name.startswith("sat-")}
    assert set(satellites) == {
        *(f"sat-4-{n}" for n in (7, 6, 5, 4)),
        *(f"sat-5-{n}" for n in (7, 6, 5, 4)),
    }
    assert set(satellites.values()) == {"switch"}
    forward, reverse = spec.vcs
    there = ["sat-4-7>sat-4-6", "sat-4-6>sat-4-5", "sat-4-5>sat-4-4", "sat-4-4>sat-5-4"]
    assert names(spec, forward.path) == [
        "source1>switch1",
        "switch1>switch2",
        *there,
        "sat-5-4>switch2",
        "switch2>destination1",
    ]
    assert forward.rerouting is not None
    assert reverse.rerouting is not None
    (second,) = forward.rerouting.paths
    later = ["sat-5-7>sat-5-6", "sat-5-6>sat-5-5", "sat-5-5>sat-5-4"]
    assert names(spec, second)[2:-1] == [*later, "sat-5-4>switch2"]
    assert names(spec, reverse.rerouting.paths[0])[1:-1] == [
        "switch2>switch1",
        "sat-5-4>sat-5-5",
        "sat-5-5>sat-5-6",
        "sat-5-6>sat-5-7",
        "sat-5-7>switch1",
    ]
    assert forward.rerouting.times_ps == reverse.rerouting.times_ps
    assert abs(forward.rerouting.times_ps[0] - 6_882_946_563_000) < 10_000


def test_delays_of_the_links_are_those_of_the_constellation_and_add_up() -> None:
    spec = boarded().resolve()
    found = series(
        as_constellation("jsac98-6x11"),
        find_places(["new_york", "tokyo"]),
        [(0, 1)],
        start_ps=80 * SECOND,
        duration_ps=9_900 * MS,
        step_ps=100 * MS,
    )
    forward = spec.vcs[0]
    assert forward.rerouting is not None
    for time, delay in zip(found.times_ps.tolist(), found.delays_ps(0).tolist(), strict=True):
        at = time - 80 * SECOND
        is_later = at >= forward.rerouting.times_ps[0]
        path = forward.rerouting.paths[0] if is_later else forward.path
        assert sum(delay_at(spec.links[link], at) for link in path[1:-1]) == delay


def delay_at(link: LinkSpec, time: int) -> int:
    if link.schedule is None:
        return link.delay_ps
    held = [
        d for t, d in zip(link.schedule.times_ps, link.schedule.delays_ps, strict=True) if t <= time
    ]
    assert held[-1] is not None
    return held[-1]


def test_the_grounds_port_turns_from_satellite_to_satellite() -> None:
    spec = boarded(interruption="3 ms", handover_loses_cells=True).resolve()
    nodes = [node.name for node in spec.nodes]
    up = link(spec, "switch1>switch2")
    assert up.schedule is not None
    assert list(dict.fromkeys(nodes[to] for to in up.schedule.to)) == ["sat-4-7", "sat-5-7"]
    assert nodes[up.to] == "sat-4-7"
    turns = [to != before for before, to in zip(up.schedule.to, up.schedule.to[1:], strict=False)]
    assert list(up.schedule.paths) == [0] * (1 + turns.index(True)) + [1] * (
        len(turns) - turns.index(True)
    )
    assert (up.schedule.interruption_ps, up.schedule.handover_loses_cells) == (3 * MS, True)
    # The other end keeps its satellite.
    back = link(spec, "switch2>switch1")
    assert back.schedule is not None
    assert (back.schedule.to, set(back.schedule.paths)) == ((), {0})
    assert spec.vcs[0].rerouting is not None
    assert spec.vcs[0].rerouting.loses_cells


def test_ports_on_board_are_the_grounds_unless_told_otherwise() -> None:
    like = boarded().resolve()
    for name in ("sat-4-7>sat-4-6", "sat-4-6>sat-4-7", "sat-5-4>switch2"):
        assert link(like, name).port.capacity_cells == 300
        assert link(like, name).cell_time_ps == link(like, "switch1>switch2").cell_time_ps
    own = {"rate": "2 Mbit/s", "framing": "none", "buffer": "70 cells", "policy": "ppd"}
    other = boarded(onboard_switching=own).resolve()
    port = link(other, "sat-4-6>sat-4-5")
    assert (port.port.capacity_cells, port.port.policy.kind) == (70, "ppd")
    assert port.cell_time_ps == 212_000_000
    assert link(other, "switch1>switch2").port.capacity_cells == 300


def test_links_up_between_satellites_and_down_have_losses_of_their_own() -> None:
    burst = {"kind": "loss_bursts", "gap": "1 s", "length": "10 ms"}
    lossy = boarded(onboard_switching={"loss": 0.01, "down_loss": burst})
    spec = lossy.with_values({"topology.bottleneck.loss": "2 %"}).resolve()
    for one in spec.links:
        kind = None if one.channel is None else one.channel.kind
        if one.name.count("sat-") == 2:
            assert (one.loss_ppb, kind) == (10_000_000, None)
        elif one.name.startswith("sat-"):
            assert (one.loss_ppb, kind) == (0, "loss_bursts")
        else:
            is_up = one.name in ("switch1>switch2", "switch2>switch1")
            assert (one.loss_ppb, kind) == (20_000_000 * is_up, None)


def test_rtts_are_measured_as_over_a_path_that_is_one_link() -> None:
    whole = boarded().with_values({"topology.bottleneck.buffer": "1 RTT"})
    schedule = {**PATH, "start": "80 s"}
    one_link = whole.with_values({"topology.bottleneck.schedule": schedule})
    capacities = [
        link(scenario.resolve(), "switch1>switch2").port.capacity_cells
        for scenario in (whole, one_link)
    ]
    assert capacities[0] == capacities[1]


def test_a_path_that_never_changes_needs_no_rerouting_and_no_motion() -> None:
    spec = boarded(constellation="geo-ring", start="0 s").resolve()
    assert all(link.schedule is None for link in spec.links)
    assert all(vc.rerouting is None for vc in spec.vcs)
    assert "rerouting" not in spec.canonical_json()


def test_the_form_reads_back() -> None:
    spec = boarded().resolve()
    assert NetworkSpec.model_validate_json(spec.canonical_json()) == spec


def faults(scenario_values: dict[str, Any]) -> list[tuple[str, str, str]]:
    with pytest.raises(ScenarioFaults) as found:
        parse(scenario_values)
    return [(fault.path, fault.got, fault.allowed) for fault in found.value.faults]


def test_a_series_has_no_satellites(tmp_path: Path) -> None:
    values = dict(boarded().values)
    (tmp_path / "still.csv").write_text("time_s,delay_ms\n0,5\n100000,5\n")
    schedule = {"series": str(tmp_path / "still.csv"), "onboard_switching": {}}
    values["topology"] = {
        **values["topology"],
        "bottleneck": {**values["topology"]["bottleneck"], "schedule": schedule},
    }
    assert faults(values) == [
        (
            "topology.bottleneck.schedule.onboard_switching",
            "{}",
            "nothing: it has no effect without constellation",
        )
    ]


def test_a_framing_on_board_goes_with_a_rate() -> None:
    values = boarded().values
    bottleneck = values["topology"]["bottleneck"]
    schedule = {**bottleneck["schedule"], "onboard_switching": {"framing": "none"}}
    bottleneck = {**bottleneck, "schedule": schedule}
    reported = faults({**values, "topology": {**values["topology"], "bottleneck": bottleneck}})
    assert reported == [
        (
            "topology.bottleneck.schedule.onboard_switching.framing",
            '"none"',
            "nothing: it has no effect without rate",
        )
    ]


def test_a_parking_lot_has_none_on_board() -> None:
    values = boarded().values
    topology = {**values["topology"], "kind": "parking_lot", "hops": 2}
    del topology["sources"]
    reported = faults({**values, "topology": topology})
    assert reported == [
        (
            "topology.bottleneck.schedule.onboard_switching",
            "a parking_lot",
            "dumbbell or graph: in a parking_lot all hops would share the satellites",
        )
    ]


def two_links(first: dict[str, Any], second: dict[str, Any], **nodes: Any) -> dict[str, Any]:
    """Two pairs of hosts in New York and Tokyo, and in Toronto and Seoul."""
    ends = [("new_york", "tokyo"), ("toronto", "seoul")]
    links = [
        {
            "from": f"sw_{a}",
            "to": f"sw_{b}",
            "rate": "10 Mbit/s",
            "framing": "none",
            "buffer": "300 cells",
            "schedule": {**PATH, "from": a, "to": b, "onboard_switching": {}, **own},
        }
        for (a, b), own in zip(ends, (first, second), strict=True)
    ]
    names = [name for pair in ends for name in pair]
    access = {"rate": "10 Mbit/s", "framing": "none", "delay": "1 ms"}
    links += [{"from": name, "to": f"sw_{name}", **access} for name in names]
    return {
        "run": {"duration": "20 s"},
        "topology": {
            "kind": "graph",
            "hosts": names,
            "switches": [f"sw_{name}" for name in names],
            "link": links,
            "flow": [{"name": a, "source": a, "destination": b} for a, b in ends],
            **nodes,
        },
    }


def test_links_over_one_constellation_share_its_satellites() -> None:
    spec = parse(two_links({"start": "30 s"}, {"start": "30 s"})).resolve()
    used = [
        {spec.links[link].name for path in (vc.path,) for link in path}
        for vc in spec.vcs
        if vc.name.endswith("forward")
    ]
    shared = {name for name in used[0] & used[1] if name.startswith("sat-")}
    assert shared
    assert len({link.name for link in spec.links}) == len(spec.links)


def test_links_that_share_satellites_agree_about_them() -> None:
    reported = faults(two_links({"start": "30 s"}, {"start": "31 s", "handover_loses_cells": True}))
    assert sorted(reported, reverse=True) == [
        (
            "topology.link[1].schedule.start",
            '"31 s"',
            '"30 s", as the first link with satellites on board has',
        ),
        (
            "topology.link[1].schedule.handover_loses_cells",
            "true",
            "false, as the first link with satellites on board has",
        ),
    ]
    for other in ({"buffer": "7 cells"}, {"loss": 0.1}, {"down_loss": 0.1}):
        ((path, got, _),) = faults(two_links({}, {"onboard_switching": other}))
        assert path == "topology.link[1].schedule.onboard_switching"
        assert got == "another rate, framing, buffer, policy or loss"


def test_a_terminal_of_an_uplink_does_not_send_to_satellites_that_switch() -> None:
    uplink = {"to": "sw_tokyo", "terminals": ["sw_new_york"], "access": {"kind": "dama"}}
    ((path, got, allowed),) = faults({**two_links({}, {}), "uplink": [uplink]})
    assert (path, got) == ("uplink[0].terminals[0]", '"sw_new_york"')
    assert allowed.startswith("a node whose link leads to one node")


def test_a_node_may_not_be_called_as_a_satellite_is() -> None:
    values = two_links({}, {}, routers=["sat-4-6"])
    ((path, got, allowed),) = faults(values)
    assert (path, got) == ("topology", '"sat-4-6"')
    assert allowed == "other names: the satellites are nodes too"
