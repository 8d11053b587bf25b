"""Ports of a constellation that have a record: samples, percentiles, traces, figures and bounds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import skycell
from skycell.exports.named import named
from skycell.input.faults import ScenarioFaults
from skycell.metrics.recorded_ports import recorded_ports
from skycell.metrics.run_rows import queue_rows, sojourn_rows
from skycell.plots.run import run_figure
from skycell.records.result import RunResult
from skycell.scenario import parse
from skycell.tables.run import page_tables

STATIONS = ["new_york", "london", "tokyo", "paris"]


def network(**tables: Any) -> dict[str, Any]:
    """Four stations over Iridium's pattern, whose ports are shared."""
    port = {"rate": "1 Mbit/s", "framing": "ip", "buffer": "20 packets"}
    return {
        "run": {"duration": "2 s"},
        "topology": {
            "kind": "constellation",
            "constellation": "iridium-like",
            "stations": STATIONS,
            "inter_satellite": dict(port),
            "ground": dict(port),
        },
        "traffic": [{"pairs": "all"}],
        **tables,
    }


def port_of(result: RunResult, name: str) -> dict[str, Any]:
    """The record of a port."""
    return next(port for port in result.records["ports"] if port["name"] == name)


def test_a_named_port_has_the_record_that_other_topologies_give_and_both_engines_the_same() -> None:
    records = {
        "ports": ["paris>up", "london>up"],
        "flow_ports": ["tokyo>up"],
        "traces": ["queue"],
        "sample_every": "10 ms",
    }
    fast, reference = (
        skycell.run(network(records=records), engine=engine) for engine in ("fast", "reference")
    )
    assert fast.records["ports"] == reference.records["ports"]
    assert fast.traces["queue"].equals(reference.traces["queue"])
    nodes = [port["name"].partition(">")[0] for port in fast.records["ports"]]
    assert sorted(nodes) == ["london", "paris", "tokyo"]
    for link, port in zip(recorded_ports(fast.spec).values(), fast.records["ports"], strict=True):
        assert (link.name, link.framing is None) == (port["name"], False)
        assert port["queue"]["p99"] <= port["queue"]["max"] <= 20
        # What the table of all ports has of it.
        assert port["octets"]["sojourn"]["packets"] == port["departed"]
    assert fast.traces["queue"].group_by("port").len()["len"].to_list() == [199] * 3
    (with_flows,) = (port for port in fast.records["ports"] if port["octets"].get("flows"))
    assert with_flows["name"].startswith("tokyo>")


def test_the_record_of_a_port_is_its_row_among_all_ports() -> None:
    result = skycell.run(network(records={"ports": ["paris>up"]}))
    unnamed = skycell.run(network())
    (port,) = result.records["ports"]
    assert unnamed.records["ports"] == []
    assert result.traces["sky_ports"].equals(unnamed.traces["sky_ports"])
    rows = result.traces["sky_ports"].filter(
        pl.col("port") == next(iter(result.spec.records.sampled_ports))
    )
    (row,) = rows.to_dicts()
    assert row["arrived"] == port["arrived"]
    assert row["busy_ps"] == port["busy_ps"]
    assert row["queue_mean"] == port["queue"]["mean"]
    assert row["queue_max"] == port["queue"]["max"]
    assert row["discarded"] == sum(port["discarded"].values())


def test_a_link_names_the_port_that_feeds_it() -> None:
    links = skycell.run(network()).traces["sky_ports"]
    spec = parse(network()).resolve()
    names = [node.name for node in spec.nodes]
    between = links.filter(pl.col("kind") == 0).row(0, named=True)
    name = f"{names[between['from']]}>{names[between['to']]}"
    result = skycell.run(network(records={"ports": [name]}))
    assert [port["name"] for port in result.records["ports"]] == [name]


def test_tables_figures_and_exports_have_the_port() -> None:
    records = {"ports": ["paris>up"], "traces": ["queue"]}
    result = skycell.run(network(records=records))
    (port,) = result.records["ports"]
    assert [row.name for row in queue_rows(result.spec, result.records)] == [port["name"]]
    assert [row.port for row in sojourn_rows(result.spec, result.records)] == [port["name"]]
    for unit in ("", "ms", "octets"):
        figure = run_figure(result, "queue", port=port["name"], unit=unit)
        assert port["name"] in str(figure.datasets)
    assert named(result.traces["queue"], result.spec)["port"].unique().to_list() == [port["name"]]
    assert page_tables(result, "ports", "vcs", "ledger")


def test_bounds_hold_for_ports_pairs_and_datagrams() -> None:
    voice = {
        "kind": "cbr",
        "name": "voice",
        "rate": "16 kbit/s",
        "packet_size": "100 B",
        "source": "paris",
        "destination": "tokyo",
    }
    qos = [
        {"ports": ["paris>up"], "clr": 0.5, "ctd": "1 ms", "quantile": 0.95},
        {"ports": ["paris>up"], "flows": ["voice"], "ctd": "10 s", "quantile": 0.5},
        {"vcs": ["paris>tokyo"], "clr": 0.9},
        {"flows": ["voice"], "ctd": "20 ms", "quantile": 0.5},
    ]
    result = skycell.run(network(source=[voice], qos=qos))
    found = [
        (row.get("vc") or row.get("port"), row.get("flow"), row["what"], row["verdict"])
        for row in result.records["qos"]
    ]
    assert found == [
        ("paris>up", None, "clr", "met"),
        ("paris>up", None, "ctd_ps", "missed"),
        ("paris>up", "voice", "ctd_ps", "met"),
        ("paris>tokyo", None, "clr", "met"),
        (None, "voice", "ctd_ps", "missed"),
    ]
    # The port itself, whatever it is called.
    port = port_of(result, result.records["ports"][0]["name"])
    clr = result.records["qos"][0]
    assert clr["measured"] == pytest.approx(sum(port["discarded"].values()) / port["arrived"])


@pytest.mark.parametrize(
    ("tables", "path", "word"),
    [
        ({"records": {"ports": ["paris>upp"]}}, "records.ports[0]", "a port of the constellation"),
        ({"records": {"ports": ["nowhere>up"]}}, "records.ports[0]", "a port"),
        ({"records": {"flow_ports": ["up"]}}, "records.flow_ports[0]", "a port"),
        ({"records": {"vc_ports": ["paris>up"]}}, "records.vc_ports[0]", "nothing"),
        ({"records": {"traces": ["queue"]}}, "records.traces", "records.ports"),
        ({"qos": [{"ports": ["up"], "ctd": "1 ms"}]}, "qos[0].ports[0]", "a port"),
        ({"qos": [{"vcs": ["paris>tokyo"], "ctd": "1 ms"}]}, "qos[0].vcs[0]", "only a loss bound"),
        (
            {"qos": [{"ports": ["paris>up"], "flows": ["nobody"], "ctd": "1 ms"}]},
            "qos[0].flows[0]",
            "a flow one way",
        ),
    ],
)
def test_what_cannot_be_recorded_is_refused(tables: dict[str, Any], path: str, word: str) -> None:
    with pytest.raises(ScenarioFaults) as found:
        parse(network(**tables)).resolve()
    (allowed,) = (fault.allowed for fault in found.value.faults if fault.path == path)
    assert word in allowed
