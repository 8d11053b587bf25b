"""Tables and figures of runs over gateways, relays and several paths."""

from __future__ import annotations

from functools import cache

import polars as pl

import skycell
from skycell.plots.run import run_figure
from skycell.plots.sky_map import sky_map
from skycell.records.result import RunResult
from skycell.records.sky import links_at, satellites_of
from skycell.records.sky_pairs import pair_of_flow, sky_pairs, way_back, ways_of_flow
from skycell.tables.sky import nodes

PORT = {"rate": "10 Mbit/s", "framing": "ip", "buffer": "50 packets"}


@cache
def over_gateways() -> RunResult:
    return skycell.run(
        {
            "run": {"duration": "500 ms"},
            "topology": {
                "kind": "constellation",
                "constellation": "starlink-like",
                "bent_pipe": True,
                "stations": ["paris", "vienna"],
                "relays": ["berlin"],
                "ground": PORT,
                "gateways": {"places": ["brussels"], "to": "london", "delay": "4 ms", **PORT},
            },
            "traffic": [{"pairs": {"to": "london"}}],
        }
    )


@cache
def over_paths() -> RunResult:
    return skycell.run(
        {
            "run": {"duration": "500 ms"},
            "topology": {
                "kind": "constellation",
                "constellation": "starlink-like",
                "stations": ["paris", "tokyo", "new_york"],
                "inter_satellite": PORT,
                "ground": PORT,
                "routing": {"paths": 4, "detour": 0.2},
            },
            "traffic": [{"pairs": "all", "count": 2}],
        }
    )


def test_places_that_forward_are_on_the_ground_of_a_map() -> None:
    result = over_gateways()
    drawn = sky_map(result, 0)
    assert set(drawn.stations) == {"paris", "vienna", "berlin", "brussels", "london"}
    assert set(drawn.satellites) == set(satellites_of(result.spec))
    ends = {frozenset(line.ends) for line in drawn.lines}
    assert frozenset(("brussels", "london")) in ends
    assert any("brussels" in pair and pair & set(drawn.satellites) for pair in ends)


def test_links_of_a_second_go_where_their_kind_leads() -> None:
    result = over_gateways()
    links = links_at(result.spec, result.traces, 0)
    satellites = satellites_of(result.spec)
    leads_up = pl.col("to").is_in(satellites)
    assert links.filter((pl.col("kind") == "up") != leads_up).is_empty()
    assert set(links["kind"]) == {"up", "down", "terrestrial"}


def test_a_table_of_nodes_calls_places_nodes() -> None:
    table = nodes(over_gateways())
    assert table is not None
    assert table.columns[0].title == "node"
    of_satellites = nodes(over_paths())
    assert of_satellites is not None
    assert of_satellites.columns[0].title == "satellite"


def test_each_path_of_a_pair_has_its_own_row() -> None:
    result = over_paths()
    table = sky_pairs(result.spec, result.records, result.traces)
    used = {pair_of_flow(result.spec, flow.name) for flow in result.spec.flows}
    assert set(table["pair"]) == used
    assert any(", path " in pair for pair in used)
    assert table["least_delay_ms"].null_count() == 0


def test_a_round_trip_is_over_the_path_there_and_the_path_back() -> None:
    result = over_paths()
    for flow in result.spec.flows:
        there, back = ways_of_flow(result.spec, flow.name)
        assert there.split(", path")[0].split(">") == back.split(", path")[0].split(">")[::-1]
    first = result.spec.flows[0].name
    assert (
        way_back(result.spec, pair_of_flow(result.spec, first))
        == ways_of_flow(result.spec, first)[1]
    )
    figure = run_figure(result, "path")
    assert figure.datasets
