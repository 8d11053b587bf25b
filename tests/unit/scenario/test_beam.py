"""A beam: the graph that it is short for, receivers at rates of their own, and its faults."""

import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from skycell import _core
from skycell.input.faults import ScenarioFaults
from skycell.scenario import check, parse

BEAM: dict[str, Any] = {
    "run": {"duration": "5 s"},
    "topology": {
        "kind": "beam",
        "terminals": 6,
        "delay": "260 ms",
        "servers": {"count": 2, "delay": "20 ms"},
        "service": {"shaper": {"rate": "10 Mbit/s", "burst": "20 kB"}, "buffer": "100 kB"},
        "forward": {
            "rate": "30 Mbaud",
            "framing": {"kind": "gse", "modcod": "16APSK 3/4"},
            "buffer": "200 ms",
            "policy": "fq_codel",
            "receivers": [
                {"terminals": 1, "modcod": "QPSK 1/2"},
                {"terminals": 2, "modcod": "8PSK 2/3"},
            ],
        },
        "return": {
            "rate": "8 Mbit/s",
            "framing": "none",
            "buffer": "2000 cells",
            "uplink": {"preset": "dvb_rcs"},
        },
        "pep": {"at": ["gateway", "terminal"], "buffer": "2 MB"},
    },
}


def _way(k: int) -> tuple[str, ...]:
    server = f"server{(k - 1) % 2 + 1}"
    return (server, "gateway", f"service{k}", "modulator", "satellite", f"terminal{k}", f"user{k}")


GRAPH: dict[str, Any] = {
    "run": {"duration": "5 s"},
    "topology": {
        "kind": "graph",
        "hosts": [{"name": "server", "count": 2}, {"name": "user", "count": 6}],
        "routers": [
            "gateway",
            "satellite",
            {"name": "terminal", "count": 6},
            {"name": "service", "count": 6},
            "modulator",
        ],
        "link": [
            {
                "from": "server*",
                "to": "gateway",
                "rate": "10 Gbit/s",
                "framing": "ip",
                "delay": "20 ms",
            },
            {
                "from": "gateway",
                "to": "service*",
                "one_way": True,
                "rate": "100 Gbit/s",
                "framing": "ip",
                "delay": "0 s",
                "shaper": {"rate": "10 Mbit/s", "burst": "20 kB"},
                "buffer": "100 kB",
            },
            {
                "from": "service*",
                "to": "modulator",
                "one_way": True,
                "rate": "100 Gbit/s",
                "framing": "ip",
                "delay": "0 s",
            },
            {
                "from": "modulator",
                "to": "satellite",
                "one_way": True,
                "rate": "30 Mbaud",
                "framing": {"kind": "gse", "modcod": "16APSK 3/4"},
                "delay": "260 ms",
                "buffer": "200 ms",
                "policy": "fq_codel",
                "receivers": [
                    {"nodes": ["terminal1"], "modcod": "QPSK 1/2"},
                    {"nodes": ["terminal2", "terminal3"], "modcod": "8PSK 2/3"},
                ],
            },
            {
                "from": "satellite",
                "to": "terminal*",
                "one_way": True,
                "rate": "100 Gbit/s",
                "framing": "ip",
                "delay": "0 s",
            },
            {
                "from": "terminal*",
                "to": "gateway",
                "one_way": True,
                "rate": "8 Mbit/s",
                "framing": "none",
                "delay": "260 ms",
                "buffer": "2000 cells",
            },
            {
                "from": "terminal*",
                "to": "user*",
                "rate": "1 Gbit/s",
                "framing": "ip",
                "delay": "0 s",
            },
        ],
        "vc": [
            {"name": f"flow{k}.forward{hop}", "path": list(nodes)}
            for k in range(1, 7)
            for hop, nodes in enumerate(pairwise(_way(k)), 1)
        ],
        "flow": [
            {
                "name": f"flow{k}",
                "source": _way(k)[0],
                "destination": f"user{k}",
                "forward": [f"flow{k}.forward{hop}" for hop in range(1, 7)],
            }
            for k in range(1, 7)
        ],
    },
    "uplink": [
        {
            "to": "gateway",
            "terminals": [f"terminal{k}" for k in range(1, 7)],
            "preset": "dvb_rcs",
            "hop": "130 ms",
        }
    ],
    "pep": [
        {"node": node, "buffer": "2 MB"}
        for node in ["gateway", *(f"terminal{k}" for k in range(1, 7))]
    ],
}


def with_value(key: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(BEAM)
    table = changed["topology"]
    *tables, last = key.split(".")
    for name in tables:
        table = table[name]
    table[last] = value
    return changed


def places(scenario: dict[str, Any]) -> list[str]:
    return [fault.path for fault in check(scenario)]


def test_a_beam_is_the_graph_written_out() -> None:
    spec = parse(BEAM).resolve()
    _core.validate(spec.canonical_json())
    assert spec.canonical_json() == parse(GRAPH).resolve().canonical_json()


def test_a_terminal_receives_at_the_rate_of_its_modcod() -> None:
    (carrier,) = (link for link in parse(BEAM).resolve().links if link.receivers)
    names = [vc.name for vc in parse(BEAM).resolve().vcs]
    received = {
        names[vc]: receiver.rates_millibps for receiver in carrier.receivers for vc in receiver.vcs
    }
    low, middle = (receiver.rates_millibps for receiver in carrier.receivers)
    assert len(received) == 3
    assert [rate for name, rate in sorted(received.items())] == [low, middle, middle]
    assert carrier.framing is not None
    own = carrier.framing.rate_millibps
    assert low[0] is not None
    assert middle[0] is not None
    # EN 302 307-1, table 13: bits a symbol; frames have headers besides.
    assert low[0] / own == pytest.approx(0.988858 / 2.966728, rel=0.002)
    assert middle[0] / own == pytest.approx(1.980636 / 2.966728, rel=0.002)


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        (
            "forward.receivers",
            [{"terminals": 7, "modcod": "QPSK 1/2"}],
            "topology.forward.receivers[0].terminals",
        ),
        ("forward.receivers", [{"terminals": 1}], "topology.forward.receivers[0].modcod"),
        (
            "forward.receivers",
            [{"terminals": 1, "modcod": "32APSK 3/4"}],
            "topology.forward.receivers[0].modcod",
        ),
        (
            "forward.receivers",
            [{"terminals": 1, "rate": "31 Mbaud"}],
            "topology.forward.receivers[0].rate",
        ),
        ("forward.rate", "30 Mbit/s", "topology.forward.rate"),
        ("return.framing", "ip", "topology.return.framing"),
        ("return.uplink.preset", "dvb", "topology.return.uplink.preset"),
        ("pep.buffer", "1 B", "topology.pep.buffer"),
        ("delay", "300 days", "topology.delay"),
        ("terminals", 0, "topology.terminals"),
        ("service", {}, "topology.service"),
        ("servers.count", 7, "topology.servers.count"),
        ("delay", "30 s", "topology.return.uplink.response"),
        ("pep.tcp", {"preset": "linuks"}, "topology.pep.tcp.preset"),
    ],
)
def test_a_fault_of_the_graph_stands_where_the_file_says_it(
    key: str, value: Any, place: str
) -> None:
    assert place in places(with_value(key, value))


def test_proxies_have_the_tcp_of_the_file_but_for_what_differs() -> None:
    changed = with_value("pep.tcp", {"mss": "1000 B"}) | {"tcp": {"delayed_ack": "on"}}
    flow = parse(changed).resolve().flows[0]
    assert [pep.tcp.mss for pep in flow.peps] == [1000, 1000]
    assert all(pep.tcp.delayed_ack == flow.tcp.delayed_ack is not None for pep in flow.peps)


def test_one_terminal_and_one_server_have_no_numbers() -> None:
    changed = with_value("terminals", 1)
    del changed["topology"]["forward"]["receivers"]
    changed["topology"]["servers"]["count"] = 1
    names = {node.name for node in parse(changed).resolve().nodes}
    assert {"server", "user", "terminal", "service"} < names


def test_receivers_belong_to_links_of_packets_with_nodes_behind_them() -> None:
    def with_receivers(link: int, *receivers: dict[str, Any]) -> list[str]:
        changed = copy.deepcopy(GRAPH)
        changed["topology"]["link"][link]["receivers"] = list(receivers)
        return places(changed)

    rate = {"rate": "1 Mbit/s"}
    assert with_receivers(5, {"nodes": ["server1"], **rate}) == ["topology.link[5].receivers[0]"]
    assert with_receivers(0, {"nodes": ["nobody"], **rate})[0].endswith("receivers[0].nodes[0]")
    assert with_receivers(2, {"nodes": ["server1"], **rate}) == [
        "topology.link[2].receivers[0].nodes"
    ]
    twice = {"nodes": ["terminal*"], **rate}
    assert with_receivers(2, twice, twice)[0] == "topology.link[2].receivers[1].nodes"


def test_each_terminal_has_a_course_of_its_own_drawn_from_a_model(tmp_path: Path) -> None:
    model = 'step = "1 s"\n[adaptive_coding]\nes_n0 = "9 dB"\n'
    fade = '{ kind = "maseng_bakken", median = "3 dB", sigma = 0.9, time_constant = "1 min" }'
    (tmp_path / "rain.toml").write_text(f"{model}fade = {fade}\n")
    rain = with_value("forward.receivers", [{"terminals": 3, "model": "rain.toml"}])
    rain["run"]["duration"] = "600 s"
    scenario = parse(rain, folder=tmp_path)
    spec = scenario.resolve()
    _core.validate(spec.canonical_json())
    (carrier,) = (link for link in spec.links if link.receivers)
    assert carrier.framing is not None
    assert [len(receiver.vcs) for receiver in carrier.receivers] == [1, 1, 1]
    assert len({receiver.rates_millibps for receiver in carrier.receivers}) == 3
    for receiver in carrier.receivers:
        assert receiver.times_ps[0] == 0
        rates = [rate for rate in receiver.rates_millibps if rate is not None]
        assert max(rates) < carrier.framing.rate_millibps  # 16APSK 3/4 needs 10.2 dB
        assert all(a != b for a, b in pairwise(receiver.rates_millibps))
    assert scenario.resolve(seed=2).links != spec.links


@pytest.mark.parametrize(
    "model",
    ['step = "1 s"\nloss = 0.1', 'step = "1 s"\ndelay_ms = { slots = [1] }', "nonsense = 1", None],
)
def test_a_model_that_gives_no_rate_alone_is_a_fault(tmp_path: Path, model: str | None) -> None:
    if model is not None:
        (tmp_path / "rain.toml").write_text(model)
    changed = with_value("forward.receivers", [{"terminals": 1, "model": "rain.toml"}])
    with pytest.raises(ScenarioFaults) as found:
        parse(changed, folder=tmp_path)
    place = "topology.forward.receivers[0].model"
    assert all(
        fault.file.endswith("rain.toml") or fault.path == place for fault in found.value.faults
    )
