"""A constellation as a topology: whose stations talk to each other, and what their packets take."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell.input.faults import ScenarioFaults
from skycell.metrics.qos import qos_verdicts
from skycell.orbit import as_constellation, find_places, series
from skycell.records.files import write_result
from skycell.records.reading import NotAResult, read_result
from skycell.records.sky import COLUMNS_FILE, sky_links, sky_nodes, sky_seconds
from skycell.scenario import load, parse
from skycell.scenario.sky_paths import notes_on_series

STATIONS = ["new_york", "london", "tokyo", "paris"]


def network(**topology: Any) -> dict[str, Any]:
    """Four stations over Iridium's pattern for half a second."""
    port = {"rate": "10 Mbit/s", "framing": "ip", "buffer": "50 packets"}
    return {
        "run": {"duration": "500 ms"},
        "topology": {
            "kind": "constellation",
            "constellation": "iridium-like",
            "stations": STATIONS,
            "inter_satellite": dict(port),
            "ground": dict(port),
            **topology,
        },
        "traffic": [{"pairs": "reciprocal_permutation"}],
    }


def faults(values: dict[str, Any], folder: Path | None = None) -> dict[str, str]:
    """What is allowed at each faulty place."""
    with pytest.raises(ScenarioFaults) as found:
        parse(values, folder=folder or Path())
    return {fault.path: fault.allowed for fault in found.value.faults}


def test_a_lone_ping_takes_the_delays_of_the_series_and_its_packets_to_the_picosecond() -> None:
    values = network(
        stations=["new_york", "tokyo"],
        step="1 s",
        inter_satellite={"rate": "10 Gbit/s", "framing": "ip", "buffer": "50 packets"},
        ground={"rate": "10 Gbit/s", "framing": "ip", "buffer": "50 packets"},
    )
    values["traffic"] = "persistent"
    values["probe"] = [
        {"name": "ping", "source": "new_york", "destination": "tokyo", "interval": "10 s"}
    ]
    scenario = parse(values)
    result = skycell.run(scenario)
    rtt_ps = result.records["probes"][0]["rtt"]["min_ps"]
    places = find_places(["new_york", "tokyo"])
    found = series(as_constellation("iridium-like"), places, [(0, 1), (1, 0)], duration_ps=0)
    there, back = (int(found.delays_ps(pair)[0]) for pair in (0, 1))
    sent = result.traces["sky_ports"]
    hops = int(sent["departed"].sum())
    packet_ps = int(sent["busy_ps"].sum()) // hops
    assert rtt_ps == there + back + hops * packet_ps
    assert packet_ps == 84 * 8 * 100


def test_both_engines_leave_the_same_tables() -> None:
    values = network(step="50 ms")
    values["traffic"] = [
        {"pairs": "all"},
        {"pairs": {"to": "paris"}, "kind": "cbr", "rate": "4 Mbit/s", "count": 2},
        {"pairs": [["tokyo", "london"]], "kind": "transfers", "size": "20 kB"},
    ]
    fast, reference = (skycell.run(values, engine=engine) for engine in ("fast", "reference"))
    assert fast.flows.equals(reference.flows)
    for name in ("sky_ports", "sky_nodes", "sky_seconds"):
        assert fast.traces[name].equals(reference.traces[name]), name


def test_transfers_that_are_over_leave_what_those_with_a_state_to_the_end_leave(
    tmp_path: Path,
) -> None:
    rows = [f"paris,tokyo,{10 * i} ms,{1 + i % 3} kB" for i in range(30)]
    rows += [f"tokyo,london,{2900 + i} ms,50 kB" for i in range(3)]  # under way at the end
    (tmp_path / "matrix.csv").write_text("\n".join(["from,to,start,size", *rows]))
    for tcp in ({}, {"handshake": True}):
        values = {**network(), "traffic": [{"file": "matrix.csv"}], "tcp": tcp}
        values["run"] = {"duration": "3 s"}
        scenario = parse(values, folder=tmp_path)
        fast, reference = (skycell.run(scenario, engine=engine) for engine in ("fast", "reference"))
        assert fast.records["flows"] == reference.records["flows"]
        over = [flow for flow in fast.records["flows"] if flow["transfers"]]
        assert len(over) == 30
        assert all(flow["closings"] for flow in over)


def test_links_nodes_and_seconds_tell_of_the_same_packets() -> None:
    result = skycell.run(network())
    links = sky_links(result.spec, result.traces)
    nodes = sky_nodes(result.spec, result.traces)
    seconds = sky_seconds(result.spec, result.traces)
    assert links["packets"].sum() == seconds["packets"].sum()
    assert set(STATIONS) <= set(nodes["node"])
    of_stations = links.filter(links["from"].is_in(STATIONS))
    assert set(of_stations["kind"]) == {"up"}
    assert len(of_stations) == len(STATIONS)
    offered = sum(vc["cells_offered"] for vc in result.records["vcs"])
    at_stations = nodes.filter(nodes["node"].is_in(STATIONS))
    assert at_stations["handed_over"].sum() == offered


def test_pairs_of_each_kind() -> None:
    def ends(pairs: Any, **more: Any) -> list[tuple[str, str]]:
        values = network()
        values["traffic"] = [{"pairs": pairs, **more}]
        spec = parse(values).resolve()
        return [tuple(flow.name.partition("#")[0].split(">")) for flow in spec.flows]  # type: ignore[misc]

    permutation = ends("permutation")
    assert sorted(a for a, _ in permutation) == sorted(b for _, b in permutation)
    assert sorted(a for a, _ in permutation) == sorted(STATIONS)
    assert all(a != b for a, b in permutation)
    both = ends("reciprocal_permutation")
    assert {(b, a) for a, b in both} == set(both)
    assert len(both) == len(STATIONS)
    assert len(ends("all")) == 12
    assert ends({"to": "tokyo"}) == [(a, "tokyo") for a in STATIONS if a != "tokyo"]
    assert ends([["paris", "tokyo"]], count=2) == [("paris", "tokyo")] * 2
    others = {tuple(ends({"kind": "permutation", "seed": seed})) for seed in range(8)}
    assert len(others) > 1


def test_the_seed_of_the_run_changes_no_pair_and_no_route() -> None:
    scenario = parse(network())
    one, other = scenario.resolve(1), scenario.resolve(2)
    assert one.sky == other.sky
    assert [flow.name for flow in one.flows] == [flow.name for flow in other.flows]


def test_connections_have_names_tcp_and_starts_of_their_own() -> None:
    values = network()
    values["traffic"] = [
        {"pairs": [["paris", "tokyo"]], "count": 2},
        {
            "pairs": [["paris", "tokyo"], ["tokyo", "paris"]],
            "tcp": {"mss": "500 B"},
            "start": {"kind": "together", "at": "100 ms"},
        },
    ]
    spec = parse(values).resolve()
    names = [flow.name for flow in spec.flows]
    assert names == ["paris>tokyo", "paris>tokyo#2", "paris>tokyo#3", "tokyo>paris"]
    assert [flow.tcp.mss for flow in spec.flows[2:]] == [500, 500]
    assert spec.flows[0].tcp.mss != 500
    assert [getattr(flow.start, "time_ps", None) for flow in spec.flows[2:]] == [10**11] * 2


def test_a_result_keeps_its_columns_and_is_read_again(tmp_path: Path) -> None:
    result = skycell.run(network())
    write_result(result, tmp_path)
    again = read_result(tmp_path)
    assert again.traces["sky_ports"].equals(result.traces["sky_ports"])
    columns = tmp_path / COLUMNS_FILE
    columns.write_bytes(columns.read_bytes()[:-8])
    with pytest.raises(NotAResult, match="digest"):
        read_result(tmp_path)
    columns.unlink()
    with pytest.raises(NotAResult):
        read_result(tmp_path)


def test_a_frozen_sky_has_one_look_at_its_delays() -> None:
    moving, frozen = parse(network()), parse(network(frozen=True))
    assert moving.plan.sky is not None
    assert frozen.plan.sky is not None
    assert (moving.plan.sky.epochs, frozen.plan.sky.epochs) == (6, 1)


def test_a_port_for_each_station_is_more_ports() -> None:
    values = network(stations=["48.86,2.35", "48.9,2.4", "tokyo"])
    values["traffic"] = [
        {"pairs": {"to": "tokyo"}},
        {"pairs": [["tokyo", "48.86,2.35"], ["tokyo", "48.9,2.4"]]},
    ]
    shared = skycell.run(values)
    own = deepcopy(values)
    own["topology"]["ground"]["satellite_port"] = "per_station"
    links = [sky_links(each.spec, each.traces) for each in (shared, skycell.run(own))]
    down = [set(each.filter(each["kind"] == "down")["link"]) for each in links]
    # Two places a few kilometres apart are served by one satellite.
    assert any(name.endswith(">down") for name in down[0])
    assert all(not name.endswith(">down") for name in down[1])


def test_rtt_is_the_greatest_of_the_pairs() -> None:
    values = network()
    values["traffic"] = [{"pairs": [["paris", "tokyo"], ["paris", "london"]]}]
    values["topology"]["ground"]["buffer"] = "1 RTT"
    scenario = parse(values)
    spec = scenario.resolve()
    assert scenario.plan.sky is not None
    assert spec.sky is not None
    held = spec.sky.kinds[1].port.default_queue.capacity_cells
    assert held is not None
    assert spec.sky.kinds[1].port.default_queue.counts_octets
    assert held == pytest.approx(scenario.plan.sky.rtt_ps / 1e12 * 10e6 / 8, abs=1)


def test_faults_of_the_file_are_told_together() -> None:
    values = network(hop_limit=0, constellation="kuyper")
    values["traffic"][0]["pairs"] = "permutations"
    found = faults(values)
    assert "topology.hop_limit" in found
    assert "traffic[0].pairs.kind" in found


def test_faults_of_the_network() -> None:
    assert "topology.constellation" in faults(network(constellation="kuyper"))
    assert "topology.stations" in faults(network(stations=["new_york", "atlantis"]))
    assert "topology.stations" in faults(network(stations="nowhere.csv"))
    assert "topology.stations" in faults(network(stations=["paris", "paris"]))
    assert "topology.inter_satellite" in faults(network(inter_satellite=None))
    cells = {"rate": "10 Mbit/s", "framing": "none", "buffer": "50 cells"}
    assert "topology.inter_satellite.framing" in faults(network(ground=cells))
    rates = {"rate": "10 Mbit/s", "framing": "ip", "buffer": "50 packets", "rate_algorithm": "efci"}
    assert "topology.ground.rate_algorithm" in faults(network(ground=rates))
    long = network(step="1 us")
    long["run"]["duration"] = "10 s"
    assert "topology.step" in faults(long)


def test_faults_of_traffic() -> None:
    def of(*tables: dict[str, Any], **more: Any) -> dict[str, str]:
        return faults({**network(), "traffic": list(tables), **more})

    assert "traffic[0].pairs.to" in of({"pairs": {"to": "atlantis"}})
    assert "traffic[0].pairs[0]" in of({"pairs": [["paris", "paris"]]})
    assert "traffic[1].count" in of({"pairs": "all"}, {"pairs": "all", "count": 9000})
    assert "traffic[0].pairs" in of({"kind": "web"})
    assert "traffic[0].start.at" in of({"pairs": "all", "start": {"kind": "together", "at": "9 s"}})
    assert "traffic" in faults({**network(), "traffic": "persistent"})
    probe = {"name": "p", "source": "paris", "destination": "rome"}
    assert "probe[0].destination" in of({"pairs": "all"}, probe=[probe])
    calls = {"name": "c", "rate": "64 kbit/s", "mean_interval": "1 s", "holding": "1 s"}
    assert any(path.startswith("calls") for path in of({"pairs": "all"}, calls=[calls]))


def test_a_list_of_traffic_belongs_to_a_constellation() -> None:
    link = {"rate": "10 Mbit/s", "framing": "ip", "delay": "1 ms", "buffer": "50 packets"}
    access = {"delay": "1 ms"}
    dumbbell = {"kind": "dumbbell", "sources": 1, "bottleneck": link, "access": access}
    found = faults(
        {"run": {"duration": "1 s"}, "topology": dumbbell, "traffic": [{"pairs": "all"}]}
    )
    assert list(found) == ["traffic[0].kind"]


def test_values_of_traffic_are_set_by_key(tmp_path: Path) -> None:
    file = tmp_path / "net.toml"
    file.write_text(
        """
        run = { duration = "100 ms" }
        traffic = [{ pairs = "all" }]
        [topology]
        kind = "constellation"
        constellation = "iridium-like"
        stations = ["paris", "tokyo"]
        inter_satellite = { rate = "10 Mbit/s", framing = "ip", buffer = "50 packets" }
        ground = { rate = "10 Mbit/s", framing = "ip", buffer = "50 packets" }
        """
    )
    spec = load(file, {"traffic.0.count": 3, "topology.ground.loss": 0.01}).resolve()
    assert len(spec.flows) == 6
    assert spec.sky is not None
    assert [kind.loss_ppb for kind in spec.sky.kinds] == [0, 10**7, 10**7]


def test_routes_lead_around_what_is_out_of_order() -> None:
    whole = skycell.run(network())
    nodes = sky_nodes(whole.spec, whole.traces)
    serving = set(nodes["node"]) - set(STATIONS)
    busiest = nodes.filter(nodes["node"].is_in(list(serving))).sort("arrived")["node"][-1]
    values = network(outage=[{"satellite": busiest, "at": "100 ms", "lasts": "200 ms"}])
    result = skycell.run(values)
    seconds = sky_nodes(result.spec, result.traces)
    arrived = dict(zip(seconds["node"], seconds["arrived"], strict=True))
    before = dict(zip(nodes["node"], nodes["arrived"], strict=True))
    assert 0 < arrived[busiest] < before[busiest]
    all_of_it = network(outage=[{"satellite": busiest, "at": "0 s", "lasts": "10 s"}])
    without = skycell.run(all_of_it)
    assert busiest not in set(sky_nodes(without.spec, without.traces)["node"])


def test_a_station_that_is_out_of_order_gets_nothing() -> None:
    values = network(outage=[{"station": "paris", "at": "0 s", "lasts": "1 s"}])
    values["traffic"] = [{"pairs": {"to": "paris"}, "kind": "cbr", "rate": "1 Mbit/s"}]
    result = skycell.run(values)
    lost = [vc["cells_lost"].get("no_route", 0) for vc in result.records["vcs"]]
    offered = [vc["cells_offered"] for vc in result.records["vcs"]]
    assert lost == offered
    assert sum(lost) > 0


def test_outages_that_are_drawn_are_the_seeds_own() -> None:
    drawn = {"satellite": "*", "every": {"mean": "2 s", "lasts": "200 ms"}}
    scenario = parse(network(outage=[drawn]))
    specs = [scenario.resolve(seed).sky for seed in (1, 2, 1)]
    columns = [sky.columns for sky in specs if sky is not None]
    assert columns[0] == columns[2] != columns[1]
    assert scenario.is_drawn


def test_faults_of_outages() -> None:
    def of(outage: dict[str, Any], **more: Any) -> dict[str, str]:
        return faults(network(outage=[outage], **more))

    here = "topology.outage[0]"
    at = {"at": "0 s", "lasts": "200 ms"}
    assert here in of({"satellite": "1-1", "station": "paris", **at})
    assert f"{here}.satellite" in of({"satellite": "99-99", **at})
    assert f"{here}.link[1]" in of({"link": ["1-1", "rome"], **at})
    assert f"{here}.at" in of({"station": "paris"})
    assert f"{here}.at" in of({"station": "paris", **at, "at": "9 s"})
    assert f"{here}.lasts" in of({"station": "paris", "at": "0 s", "lasts": "1 ms"})
    assert "topology.outage" in of({"station": "paris", **at}, frozen=True)


def test_traffic_of_a_file_is_transfers_and_datagrams(tmp_path: Path) -> None:
    rows = "from,to,start,size,rate\nparis,tokyo,100 ms,20 kB,\nlondon,paris,,,2 Mbit/s\n"
    (tmp_path / "matrix.csv").write_text(rows)
    values = network()
    values["traffic"] = [{"file": "matrix.csv", "tcp": {"mss": "500 B"}}]
    spec = parse(values, folder=tmp_path).resolve()
    (flow,), (source,) = spec.flows, spec.sources
    assert (flow.name, flow.tcp.mss) == ("paris>tokyo", 500)
    assert (flow.traffic.kind, getattr(flow.traffic, "size_octets", 0)) == ("transfers", 20_000)
    assert getattr(flow.start, "time_ps", None) == 10**11
    assert source.name == "london>paris"
    assert source.cell_interval_ps == 1500 * 8 * 10**12 // 2_000_000
    (tmp_path / "matrix.csv").write_text("from,to,size\nparis,rome,1 MB\n")
    assert "to" in faults(values, tmp_path)
    (tmp_path / "matrix.csv").unlink()
    assert "traffic[0].file" in faults(values, tmp_path)


def test_pairs_by_gravity_need_populations() -> None:
    values = network()
    values["traffic"] = [{"pairs": {"kind": "gravity", "draws": 5}}]
    assert "traffic[0].pairs" in faults(values)
    values["topology"]["stations"] = "cities-100"
    flows = parse(values).resolve().flows
    assert len(flows) == 5


ROUTER = """
import numpy as np


def next_hops(step):
    nodes = len(step.satellites) + len(step.stations)
    hops = np.full((nodes, len(step.stations)), -1, dtype=np.int32)
    if step.time_s < step.options["until"]:
        for source, to in zip(step.links["from"], step.links["to"]):
            for label, station in enumerate(step.stations.values()):
                if to == station:
                    hops[source, label] = to
    return hops
"""


def test_routes_may_come_from_python_and_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(ROUTER)
    routing = {"python": "own.py:next_hops", "options": {"until": 0.3}}
    values = network(stations=["48.86,2.35", "48.9,2.4"], routing=routing)
    values["traffic"] = [{"pairs": "all", "kind": "cbr", "rate": "1 Mbit/s"}]
    result = skycell.run(parse(values, folder=tmp_path))
    # Stations have no next hop here: all packets are lost where they are handed over.
    assert all(vc["cells_lost"]["no_route"] for vc in result.records["vcs"])
    with_options = parse(values, folder=tmp_path).resolve()
    values["topology"]["routing"]["options"] = {"until": 0.1}
    other = parse(values, folder=tmp_path).resolve()
    assert with_options.sky != other.sky
    values["topology"]["routing"] = {"python": "own.py:missing"}
    assert "own.py" in str(faults(values, tmp_path)) or faults(values, tmp_path)
    values["topology"]["routing"] = {"python": "own.py"}
    assert "topology.routing.python" in faults(values, tmp_path)
    values["topology"]["routing"] = {"file": "routes.csv"}
    assert "topology.routing.file" in faults(values, tmp_path)
    (tmp_path / "routes.csv").write_text("time,node,destination,next\n0,1-1,atlantis,1-2\n")
    assert faults(values, tmp_path)


def test_a_run_that_no_machine_finishes_is_refused_and_a_long_one_has_a_note() -> None:
    fast = {"rate": "100 Gbit/s", "framing": "ip", "buffer": "50 packets"}
    values = network(step="10 s", inter_satellite=dict(fast), ground=dict(fast))
    values["run"]["duration"] = "20 s"
    noted = notes_on_series(parse(values))
    assert any("million packets" in note for note in noted)
    values["run"]["duration"] = "10000 s"
    assert "run.duration" in faults(values)
    assert notes_on_series(parse(network())) == ()


def test_sources_of_a_table_begin_one_after_the_other_if_it_says_so() -> None:
    values = network()
    staggered = {"kind": "staggered", "every": "2 ms", "first": "1 ms"}
    paced = {"kind": "cbr", "rate": "1 Mbit/s", "start": staggered}
    values["traffic"] = [{"pairs": {"to": "paris"}, "count": 2, **paced}]
    spec = parse(values).resolve()
    assert [source.start.time_ps for source in spec.sources] == [  # type: ignore[union-attr]
        10**9 * ms for ms in (1, 3, 5, 7, 9, 11)
    ]


def test_sources_begin_as_the_file_says_for_all_unless_their_table_does() -> None:
    values = network()
    paced = {"pairs": {"to": "paris"}, "kind": "cbr", "rate": "1 Mbit/s"}
    values["traffic"] = [paced, paced | {"start": {"kind": "together", "at": "7 ms"}}]
    values["start"] = {"kind": "staggered", "every": "2 ms"}
    starts = [source.start.time_ps for source in parse(values).resolve().sources]  # type: ignore[union-attr]
    assert starts == [0, 2 * 10**9, 4 * 10**9, 7 * 10**9, 7 * 10**9, 7 * 10**9]


def of_cells(**more: Any) -> dict[str, Any]:
    """Datagrams from Paris to Tokyo over satellites that are switches."""
    port = {"rate": "10 Mbit/s", "framing": "none", "buffer": "500 cells"}
    values = network(inter_satellite=dict(port), ground=dict(port), step="50 ms")
    values["traffic"] = [
        {"pairs": [["paris", "tokyo"]], "kind": "cbr", "rate": "2 Mbit/s", "packet_size": "500 B"}
    ]
    return {**values, **more}


def test_vcs_of_cells_are_policed_ordered_and_measured_by_name() -> None:
    own = ["paris>tokyo"]
    values = of_cells(
        policer=[{"vcs": own, "pcr": "3000 cells/s", "cdvt": "1 ms", "pcr_action": "discard"}],
        resequencer=[{"vcs": own, "hold": "20 ms"}],
        records={"delay_vcs": own},
        qos=[{"vcs": own, "ctd": "400 ms", "cdv": "50 ms", "quantile": 0.99}],
    )
    fast, reference = (skycell.run(values, engine=engine) for engine in ("fast", "reference"))
    for key in ("flows", "vcs", "cell_delays", "ledger"):
        assert fast.records[key] == reference.records[key]
    (vc,) = [vc for vc in fast.records["vcs"] if vc["name"] == own[0]]
    # 500 frames of 11 cells a second come at the peak of the link; 3 000 cells/s conform.
    assert vc["cells_policed"] == vc["cells_nonconforming"] > 0.3 * vc["cells_offered"]
    assert int(fast.traces["sky_nodes"]["policed"].sum()) == vc["cells_policed"]
    assert vc["resequencer"]["cells_held"] == 0
    (delay,) = fast.records["cell_delays"]
    assert (delay["fixed_ps"], delay["cells"]) == (0, vc["cells_delivered"])
    path = series(
        as_constellation("iridium-like"), find_places(own[0].split(">")), [(0, 1)], duration_ps=0
    )
    assert delay["min_ps"] > int(path.delays_ps(0)[0]) * 0.6
    rows = qos_verdicts(parse(values).file.qos, fast.spec, fast.records)
    assert [(row["what"], row["verdict"]) for row in rows] == [("ctd_ps", "met"), ("cdv_ps", "met")]
    least = next(row["measured"] for row in rows if row["what"] == "cdv_ps")
    assert least == delay["p99_ps"] - delay["min_ps"]


def test_policers_and_resequencers_are_of_cells_and_of_vcs_that_exist() -> None:
    own = ["paris>tokyo"]
    tables: dict[str, Any] = {
        "policer": [{"vcs": own, "pcr": "3000 cells/s", "cdvt": "1 ms"}],
        "resequencer": [{"vcs": own, "hold": "20 ms"}],
    }
    assert set(faults({**network(), **tables})) == {"policer[0]", "resequencer[0]"}
    tables["policer"][0]["vcs"] = tables["resequencer"][0]["vcs"] = ["paris>rome"]
    found = faults(of_cells(**tables, records={"delay_vcs": ["rome>paris"]}))
    assert set(found) == {"policer[0].vcs[0]", "resequencer[0].vcs[0]", "records.delay_vcs[0]"}
    assert "records.delay_vcs[0]" in faults(
        {**network(), "records": {"delay_vcs": ["paris>london"]}}
    )


def test_stations_may_turn_and_satellites_keep_what_waits() -> None:
    port = {"rate": "10 Mbit/s", "framing": "ip", "buffer": "50 packets"}
    values = network(
        ground={**port, "waiting": "turned", "no_route": "waits"},
        inter_satellite={**port, "waiting": "sent_if_routed"},
        step="50 ms",
    )
    kinds = {kind.name: kind for kind in parse(values).resolve().sky.kinds}  # type: ignore[union-attr]
    assert kinds["inter_satellite"].waiting == "sent_if_routed"
    assert (kinds["up"].waiting, kinds["up"].waits_for_route) == ("turned", True)
    fast, reference = (skycell.run(values, engine=engine) for engine in ("fast", "reference"))
    assert fast.records["vcs"] == reference.records["vcs"]
    assert sum(vc["cells_delivered"] for vc in fast.records["vcs"]) > 0
    values["topology"]["ground"]["waiting"] = "sent_if_routed"
    assert set(faults(values)) == {"topology.ground.waiting"}
