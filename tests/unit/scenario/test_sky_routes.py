"""Routes over a constellation: bent pipes, places that forward, looks at changes, several paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import skycell
from skycell.experiment.sky import sky_tables
from skycell.input.faults import ScenarioFaults
from skycell.input.quantities import PS_PER_KM
from skycell.orbit import as_constellation, find_places, series
from skycell.orbit.columns import Columns
from skycell.orbit.ground import Ground
from skycell.orbit.pairs import surface_km
from skycell.orbit.routes import Routes, routes
from skycell.records.sky import sky_links
from skycell.scenario import parse
from skycell.scenario.plan.sky_spread import path_of
from skycell.scenario.scenario import Scenario

SLOW = {"rate": "10 Mbit/s", "framing": "ip", "buffer": "50 packets"}
FAST = {"rate": "10 Gbit/s", "framing": "ip", "buffer": "50 packets"}
TABLES = ("sky_ports", "sky_nodes", "sky_seconds")
RELAYS = ["berlin", "52.2,21.0", "vienna", "54.7,25.3"]


def network(**topology: Any) -> dict[str, Any]:
    """A bent pipe between two cities that no satellite sees at once."""
    return {
        "run": {"duration": "300 ms"},
        "topology": {
            "kind": "constellation",
            "constellation": "starlink-like",
            "stations": ["paris", "moscow"],
            "bent_pipe": True,
            "ground": dict(SLOW),
            **topology,
        },
        "traffic": [{"pairs": "permutation"}],
    }


def gateways(**keys: Any) -> dict[str, Any]:
    """Two gateways in front of London, and users who send there."""
    own = {"places": ["brussels", "50.0,8.0"], "to": "london", "delay": "4 ms", **SLOW, **keys}
    values = network(stations=["paris", "vienna"], gateways=own)
    values["traffic"] = [{"pairs": {"to": "london"}}]
    return values


def found_of(scenario: Scenario) -> Routes:
    assert scenario.plan.sky is not None
    return scenario.plan.sky.routes


def columns_of(scenario: Scenario) -> Columns:
    file = found_of(scenario).file
    assert file is not None
    return Columns(file)


def faults(values: dict[str, Any], folder: Path | None = None) -> set[str]:
    """The faulty places."""
    with pytest.raises(ScenarioFaults) as found:
        parse(values, folder=folder or Path())
    return {fault.path for fault in found.value.faults}


def engines_agree(values: dict[str, Any]) -> skycell.RunResult:
    """The run of `fast`, which `reference` leaves the same tables as."""
    fast, reference = (skycell.run(values, engine=engine) for engine in ("fast", "reference"))
    assert fast.flows.equals(reference.flows)
    for name in TABLES:
        assert fast.traces[name].equals(reference.traces[name]), name
    return fast


def shortest(columns: Columns, forwards: NDArray[np.bool_], epoch: int = 0) -> NDArray[np.float64]:
    """Floyd and Warshall: the least delay from node to node over nodes that forward."""
    nodes = columns.nodes
    least = np.full((nodes, nodes), np.inf)
    links = columns.links(epoch)
    least[links.source, links.to] = links.delay_ps
    np.fill_diagonal(least, 0)
    for middle in np.nonzero(forwards)[0]:
        least = np.minimum(least, least[:, [middle]] + least[[middle], :])
    return least


def next_nodes(columns: Columns, forwards: NDArray[np.bool_], epoch: int = 0) -> NDArray[np.int32]:
    """Next nodes by Hypatia's rule (`calculate_fstate_shortest_path_with_gs_relaying`).

    Of its neighbours a node takes that of the least sum of the link and the rest.
    """
    least = shortest(columns, forwards, epoch)
    links = columns.links(epoch)
    found = np.full((columns.nodes, columns.labels), -1, np.int32)
    for label, end in enumerate(columns.label_node.tolist()):
        best = np.full(columns.nodes, np.inf)
        for node, to, delay in zip(
            links.source.tolist(), links.to.tolist(), links.delay_ps.tolist(), strict=True
        ):
            whole = delay + least[to, end]
            if node != end and (forwards[to] or to == end) and whole < best[node]:
                best[node], found[node, label] = whole, to
    return found


def test_a_bent_pipe_takes_the_satellite_that_makes_the_way_shortest() -> None:
    scenario = parse(network(stations=["paris", "berlin"]))
    columns, found = columns_of(scenario), found_of(scenario)
    assert set(columns.port_kind) == {1, 2}
    links = columns.links(0)
    up = links.source == columns.label_node[0]
    down = links.to == columns.label_node[1]
    ways = {
        int(delay) + int(links.delay_ps[down & (links.source == satellite)][0])
        for satellite, delay in zip(links.to[up], links.delay_ps[up], strict=True)
        if (down & (links.source == satellite)).any()
    }
    assert len(ways) > 1
    assert found.delays_ps(0)[0] == min(ways)
    assert len(found.spans[0].nodes) == 3


def test_links_between_satellites_are_asked_for_or_left_out_in_words() -> None:
    assert "topology.inter_satellite" in faults(network(bent_pipe=False))
    assert "topology.bent_pipe" in faults(network(inter_satellite=dict(SLOW)))
    # A constellation without such links needs no word, and may have it.
    columns = [
        columns_of(parse(network(constellation="o3b-like", bent_pipe=word))).epochs
        for word in (True, False)
    ]
    assert columns[0] == columns[1]


def test_relays_are_on_the_paths_and_nobody_talks_to_them() -> None:
    without, with_relays = parse(network()), parse(network(relays=RELAYS))
    assert {span.missing for span in found_of(without).spans} == {"no route"}
    spans = found_of(with_relays).spans
    assert all(span.missing == "" and set(span.nodes) & set(RELAYS) for span in spans)
    spec = with_relays.resolve()
    assert {flow.name for flow in spec.flows} == {"paris>moscow", "moscow>paris"}
    kinds = {node.name: node.kind for node in spec.nodes}
    assert [kinds[name] for name in ("paris", "moscow", *RELAYS)] == ["host"] * 2 + ["router"] * 4
    values = network(relays=RELAYS)
    values["traffic"] = [{"pairs": {"to": "berlin"}}]
    assert "traffic[0].pairs.to" in faults(values)
    result = engines_agree(network(relays=RELAYS))
    forwarded = set(sky_links(result.spec, result.traces)["from"]) & set(RELAYS)
    assert forwarded


def test_stations_that_relay_have_hypatias_routes_over_the_ground() -> None:
    sky = as_constellation("starlink-like").bent_pipe()
    names = ["paris", "berlin", "warsaw", "moscow", "vienna", "istanbul"]
    places = find_places(names)
    for relays in (True, False):
        ground = Ground(len(places), stations_relay=relays)
        found = routes(sky, places, ground=ground, with_file=True)
        assert found.file is not None
        columns = Columns(found.file)
        forwards = np.arange(columns.nodes) < len(sky.satellites)
        forwards |= relays
        assert np.array_equal(columns.next_hops(0), next_nodes(columns, forwards))


def test_stations_relay_only_if_asked() -> None:
    own = {"stations": ["paris", "berlin", "52.2,21.0", "moscow"]}
    traffic = [{"pairs": [["paris", "moscow"]]}]
    for relays in (False, True):
        values = network(**own, stations_relay=relays) | {"traffic": traffic}
        spans = found_of(parse(values)).spans
        assert {span.missing for span in spans} == {"" if relays else "no route"}
    engines_agree(values)


def test_a_ping_over_a_gateway_takes_the_delays_of_its_links_to_the_picosecond() -> None:
    values = gateways(**FAST, delay="distance")
    values["topology"]["ground"] = dict(FAST)
    values["traffic"] = "persistent"
    values["probe"] = [
        {"name": "ping", "source": "paris", "destination": "london", "interval": "10 s"}
    ]
    result = engines_agree(values)
    found = found_of(parse(values))
    there, back = (found.delays_ps(pair)[0] for pair in (0, 1))
    assert there is not None
    assert back is not None
    sent = result.traces["sky_ports"]
    hops = int(sent["departed"].sum())
    assert hops == 6
    assert result.records["probes"][0]["rtt"]["min_ps"] == there + back + hops * 84 * 8 * 100
    # The last link is a fibre along the surface.
    gateway, point = find_places([found.spans[0].nodes[-2], "london"])
    assert found.first_links_ps[0][-1] == round(surface_km(gateway, point) * PS_PER_KM)


def test_users_reach_the_point_and_the_point_reaches_them() -> None:
    values = gateways()
    values["traffic"].append({"pairs": [["london", "paris"]]})
    result = engines_agree(values)
    spec = result.spec
    assert spec.sky is not None
    assert [kind.name for kind in spec.sky.kinds][3:] == ["terrestrial"]
    used = sky_links(spec, result.traces)
    assert {"brussels>london", "london>brussels"} <= set(used["link"])
    assert [flow.name for flow in spec.flows] == ["paris>london", "vienna>london", "london>paris"]
    assert all(
        span.nodes[-2] in ("brussels", "50.0,8.0") for span in found_of(parse(values)).spans[:2]
    )


def test_drawn_pairs_are_pairs_of_stations() -> None:
    values = gateways()
    values["traffic"] = [{"pairs": "all"}]
    assert {flow.name for flow in parse(values).resolve().flows} == {"paris>vienna", "vienna>paris"}


def test_links_of_gateways_have_ports_of_their_own() -> None:
    values = gateways(rate="2 Mbit/s", loss=0.25, policy="codel", frame_jitter="1 ms")
    sky = parse(values).resolve().sky
    assert sky is not None
    own = sky.kinds[3]
    assert own.loss_ppb == 250_000_000
    assert own.port.default_queue.policy.kind == "codel"
    assert own.framing is not None
    assert own.framing.rate_millibps == 2_000_000_000
    engines_agree(values)


def test_the_point_sends_after_its_own_processing_time() -> None:
    values = gateways(frame_jitter="1 ms")
    values["topology"]["ground"]["frame_jitter"] = "2 ms"
    flow = parse(values).resolve().flows[0]
    assert flow.jitter is not None
    assert (flow.jitter.data_ps, flow.jitter.acks_ps) == (2 * 10**9, 10**9)


def test_access_is_for_stations_and_relays_use_what_they_see(tmp_path: Path) -> None:
    file = tmp_path / "sky.toml"
    file.write_text(
        'preset = "starlink-like"\n[ground]\naccess = "least_used"\nreassign = "15 s"\n'
        'phase = "7 s"\n'
    )
    values = network(constellation="sky.toml", relays=RELAYS, step="500 ms")
    values["run"]["duration"] = "40 s"
    columns = columns_of(parse(values, folder=tmp_path))
    used, seen = [], []
    for epoch in range(columns.epochs):
        links = columns.links(epoch)
        stations = columns.label_node.tolist()
        used.append([set(links.to[links.source == node].tolist()) for node in stations])
        seen.append([int((links.source == stations[-1] + 1 + i).sum()) for i in range(len(RELAYS))])
    assert all(len(own) == 1 for epoch in used for own in epoch)
    assert min(min(epoch) for epoch in seen) > 1
    changes = {epoch / 2 for epoch in range(1, columns.epochs) if used[epoch] != used[epoch - 1]}
    assert changes
    assert changes <= {7.0, 22.0, 37.0}


def test_a_lone_pair_is_looked_at_when_its_path_changes_as_in_a_series() -> None:
    names = ["paris", "tokyo"]
    values = network(
        constellation="iridium-like",
        stations=names,
        bent_pipe=False,
        inter_satellite=dict(SLOW),
        step={"every": "5 s", "changes": "1 ms"},
    )
    values["run"]["duration"] = "1000 s"
    values["traffic"] = [{"pairs": [names]}]
    scenario = parse(values)
    found = found_of(scenario)
    expected = series(
        as_constellation("iridium-like"),
        find_places(names),
        [(0, 1), (1, 0)],
        duration_ps=10**15,
        step_ps=5 * 10**12,
        precision_ps=10**9,
    )
    assert len(expected.changes) > 10
    steps = {step * 5 * 10**12 for step in range(201)}
    assert set(found.epoch_ps) == steps | {change.at_ps for change in expected.changes}
    for change in expected.changes:
        epoch = found.epoch_ps.index(change.at_ps)
        delay = found.delays_ps(change.pair)[epoch]
        assert delay == sum(change.route.links_ps)
    tables = sky_tables(scenario)
    starts = set(tables["sky_paths"]["start_ps"].to_list())
    assert {change.at_ps for change in expected.changes} | {0} == starts


def test_looks_at_changes_run_alike_in_both_engines() -> None:
    values = network(
        constellation="iridium-like",
        stations=["paris", "tokyo", "new_york"],
        bent_pipe=False,
        inter_satellite=dict(SLOW),
        step="change",
        start="40 s",
    )
    values["run"]["duration"] = "20 s"
    values["traffic"] = [{"pairs": "all", "kind": "cbr", "rate": "300 kbit/s"}]
    scenario = parse(values)
    assert scenario.plan.sky is not None
    assert scenario.plan.sky.epochs > 201
    engines_agree(values)


def test_faults_of_looks(tmp_path: Path) -> None:
    (tmp_path / "routes.csv").write_text("time,node,destination,next\n0,paris,moscow,\n")
    here = "topology.step.changes"
    assert here in faults(network(step="change", frozen=True))
    assert here in faults(network(step="change", routing={"file": "routes.csv"}), tmp_path)
    assert here in faults(network(step={"every": "1 ms", "changes": "1 ms"}))
    assert here in faults(network(step={"changes": "1 ps"}))
    assert "topology.step" in faults(network(step="never"))


def spread(**routing: Any) -> dict[str, Any]:
    """Connections between four cities over several paths."""
    values = network(
        stations=["paris", "tokyo", "new_york", "sydney"],
        bent_pipe=False,
        inter_satellite=dict(SLOW),
        routing=routing,
    )
    values["traffic"] = [{"pairs": "all", "count": 3}]
    return values


def test_flows_take_paths_by_their_names_in_each_direction() -> None:
    spec = parse(spread(paths=4, detour=0.2)).resolve()
    ways = [(spec.vcs[flow.forward[0]], spec.vcs[flow.reverse[0]]) for flow in spec.flows]
    for flow, vcs in zip(spec.flows, ways, strict=True):
        for vc, user in zip(vcs, (flow.name, f"{flow.name}, back"), strict=True):
            assert vc.by_label is not None
            assert vc.by_label.label // 4 == path_of(user, 4)
    numbers = {vc.by_label.label // 4 for vcs in ways for vc in vcs if vc.by_label}
    assert numbers == {0, 1, 2, 3}
    # Another flow beside it moves no flow.
    values = spread(paths=4, detour=0.2)
    values["traffic"][0]["count"] = 1
    fewer = parse(values).resolve()
    names = {flow.name: fewer.vcs[flow.forward[0]].name for flow in fewer.flows}
    more = {flow.name: spec.vcs[flow.forward[0]].name for flow in spec.flows}
    assert names.items() <= more.items()


def test_sources_and_probes_take_paths_too() -> None:
    values = spread(paths=4, detour=0.2)
    cbr = {"kind": "cbr", "rate": "100 kbit/s", "packet_size": "500 B"}
    values["source"] = [
        {"name": f"voice{i}", "source": "paris", "destination": "tokyo", **cbr} for i in range(16)
    ]
    values["probe"] = [{"name": "ping", "source": "paris", "destination": "tokyo"}]
    spec = parse(values).resolve()
    labels = {
        source.name: spec.vcs[source.vc].by_label.label // 4  # type: ignore[union-attr]
        for source in spec.sources
    }
    assert labels["voice3"] == path_of("voice3", 4)
    assert labels["ping"] == path_of("ping", 4)
    assert len(set(labels.values())) == 4
    engines_agree(values)


@pytest.mark.parametrize("by", ["delay", "hops"])
def test_paths_are_within_their_bound_and_differ(by: str) -> None:
    detour = {"detour": 0.2} if by == "delay" else {}
    found = found_of(parse(spread(by=by, paths=4, **detour)))
    first = [span for span in found.spans if span.first_epoch == 0]
    assert len(first) == len(found.pairs) == 12 * 4
    different = 0
    for pair in range(0, len(first), 4):
        own = first[pair : pair + 4]
        delays = [found.delays_ps(pair + k)[0] for k in range(4)]
        assert all(delay is not None for delay in delays)
        if by == "delay":
            assert max(delays) <= 1.2 * delays[0]  # type: ignore[operator, type-var]
        else:
            assert len({len(span.nodes) for span in own}) == 1
        different += len({span.nodes for span in own}) - 1
    assert different > 12
    assert sum(found.different_paths) == different + 12
    one = found_of(parse(spread(by=by)))
    plain = [span.nodes for span in one.spans if span.first_epoch == 0]
    assert [span.nodes for span in first[::4]] == plain


def test_a_note_counts_the_different_paths_of_pairs() -> None:
    scenario = parse(spread(paths=4, detour=0.2))
    assert scenario.plan.sky is not None
    (note,) = scenario.plan.sky.notes
    mean = sum(found_of(scenario).different_paths) / 12
    assert f" {mean:.1f} " in note
    one = parse(spread()).plan.sky
    assert one is not None
    assert not one.notes


def test_several_paths_run_alike_in_both_engines() -> None:
    engines_agree(spread(paths=3, detour=0.3))


def test_faults_of_paths(tmp_path: Path) -> None:
    (tmp_path / "routes.csv").write_text("time,node,destination,next\n0,paris,tokyo,\n")
    here = "topology.routing"
    assert f"{here}.detour" in faults(spread(paths=4))
    assert f"{here}.detour" in faults(spread(detour=0.1))
    assert f"{here}.detour" in faults(spread(by="hops", paths=2, detour=0.1))
    assert f"{here}.detour" in faults(spread(paths=2, detour=0))
    assert f"{here}.paths" in faults(spread(paths=0))
    assert f"{here}.paths" in faults(spread(paths=2, file="routes.csv"), tmp_path)
    many = spread(paths=64, detour=0.1)
    many["topology"]["stations"] = "cities-1000"
    many["traffic"] = [{"pairs": [["paris", "tokyo"]]}]
    assert 64 * 1000 < 65_535
    many["topology"]["gateways"] = {
        "places": "cities-1000",
        "to": "0.5,0.5",
        "delay": "1 ms",
    } | SLOW
    assert "topology.gateways.places" in faults(many)


def test_faults_of_places_that_forward(tmp_path: Path) -> None:
    (tmp_path / "routes.csv").write_text("time,node,destination,next\n0,paris,moscow,\n")
    assert "topology.relays" in faults(network(relays=["atlantis"]))
    assert "topology.relays" in faults(network(relays=["paris"]))
    assert "topology.relays" in faults(network(relays=["berlin", "berlin"]))
    assert "topology.relays" in faults(network(relays=[]))
    assert "topology.relays" in faults(network(relays="nowhere.csv"))
    own = {"file": "routes.csv"}
    assert "topology.routing.file" in faults(network(relays=RELAYS, routing=own), tmp_path)
    assert "topology.stations_relay" in faults(network(stations_relay=True, routing=own), tmp_path)
    here = "topology.gateways"
    assert f"{here}.to" in faults(gateways(to="paris"))
    assert f"{here}.to" in faults(gateways(to="brussels"))
    assert f"{here}.to" in faults(gateways(to="atlantis"))
    assert f"{here}.places" in faults(gateways(places=["vienna"]))
    assert f"{here}.delay" in faults(gateways(delay="far"))
    assert f"{here}.framing" in faults(gateways(framing="none", buffer="50 cells"))
    values = gateways()
    del values["topology"]["gateways"]["buffer"]
    assert f"{here}.buffer" in faults(values)


def test_one_user_and_the_point_are_a_network() -> None:
    values = gateways()
    values["topology"]["stations"] = ["paris"]
    assert [flow.name for flow in parse(values).resolve().flows] == ["paris>london"]
    assert "topology.stations" in faults(network(stations=["paris"]))
    values["traffic"] = [{"pairs": "all"}]
    assert "traffic[0].pairs" in faults(values)


def test_what_forwards_may_be_out_of_order() -> None:
    relay = found_of(parse(network(relays=RELAYS))).spans[0].nodes[2]
    outage = [{"station": relay, "at": "100 ms", "lasts": "100 ms"}]
    spans = found_of(parse(network(relays=RELAYS, outage=outage))).spans
    own = [span for span in spans if span.pair == 0]
    assert [relay in span.nodes for span in own] == [True, False, True]
    first = found_of(parse(gateways())).spans[0].nodes[-2]
    values = gateways()
    values["topology"]["outage"] = [{"link": [first, "london"], "at": "0 s", "lasts": "100 ms"}]
    nodes = [span.nodes[-2] for span in found_of(parse(values)).spans if span.pair == 0]
    assert nodes[0] != first == nodes[-1]
    every = [{"station": "*", "at": "0 s", "lasts": "1 s"}]
    values["topology"]["outage"] = every
    spans = found_of(parse(values)).spans
    assert {span.missing for span in spans} == {"no route"}


ROUTER = '''
import numpy as np


def over_one(step):
    """From paris to the relay and on, whatever satellites there are."""
    hops = np.full((len(step.satellites) + len(step.stations) + len(step.relays), 2), -1, np.int32)
    nodes = {**step.stations, **step.relays}
    for here, there in (("paris", "52.2,21.0"), ("52.2,21.0", "moscow")):
        up = step.links["to"][step.links["from"] == nodes[here]]
        down = step.links["from"][step.links["to"] == nodes[there]]
        over = sorted(set(up.tolist()) & set(down.tolist()))[0]
        hops[nodes[here], 1], hops[over, 1] = over, nodes[there]
    return hops
'''


def test_a_router_of_the_users_may_use_relays(tmp_path: Path) -> None:
    (tmp_path / "router.py").write_text(ROUTER)
    values = network(relays=RELAYS, routing={"python": "router.py:over_one"})
    spans = found_of(parse(values, folder=tmp_path)).spans
    assert spans[0].missing == ""
    assert spans[0].nodes[2] == "52.2,21.0"


def test_the_same_routes_whatever_the_order_of_relays() -> None:
    paths = [
        [span.nodes for span in found_of(parse(network(relays=own))).spans]
        for own in (RELAYS, RELAYS[::-1])
    ]
    assert paths[0] == paths[1]
