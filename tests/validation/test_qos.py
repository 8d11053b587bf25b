"""Voice over one and over two satellites against ITU-T class 1, beside its delay by hand."""

from fractions import Fraction

import pytest

import skycell
from tests.structure.tree import ROOT


def test_two_geostationary_hops_miss_the_delay_of_class_1_and_one_keeps_it() -> None:
    scenario = skycell.load(ROOT / "examples/voice-over-two-hops.toml")
    records = skycell.run(scenario).records
    found = {(row["vc"], row["what"]): row for row in records["qos"]}
    verdicts = {key: row["verdict"] for key, row in found.items() if key[1] != "clr"}
    assert verdicts == {
        ("one_hop", "ctd_ps"): "met",
        ("one_hop", "cdv_ps"): "met",
        ("two_hops", "ctd_ps"): "missed",
        ("two_hops", "cdv_ps"): "met",
    }
    # 250 ms a hop and 1 ms at either end; a cell of 424 bits at 2 Mbit/s at each hop, and one at
    # the payload rate of an STS-3c at the last; the first link counts from its departure.
    hop_ps = Fraction(424 * 10**12, 2 * 10**6)
    last_ps = Fraction(424 * 10**12, 149_760_000)
    for vc, hops in (("one_hop", 1), ("two_hops", 2)):
        fixed_ps = (250 * hops + 2) * 10**9 + hops * hop_ps + last_ps
        row = found[vc, "ctd_ps"]
        assert row["measured"] - found[vc, "cdv_ps"]["measured"] == round(fixed_ps)
        assert row["measured"] - round(fixed_ps) < 3 * 10**9


def test_a_packet_stays_in_a_port_for_its_own_time_and_for_those_before_it() -> None:
    """Of 125 octets at 1 Mbit/s each takes 1 ms: one alone stays that, one behind another's two.

    From end to end they take 2.01 ms more.
    """
    link = {"framing": "ip", "delay": "1 ms", "buffer": "9 packets"}
    source = {"kind": "cbr", "rate": "10 kbit/s", "packet_size": "125 B", "start": "together"}
    hosts = [("a", "r"), ("b", "r")]
    scenario = {
        "run": {"duration": "2.05 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b", "c"],
            "routers": ["r"],
            "link": [
                *({"from": x, "to": y, "rate": "100 Mbit/s", **link} for x, y in hosts),
                {"from": "r", "to": "c", "rate": "1 Mbit/s", **link},
            ],
        },
        "source": [{"name": name, "source": name, "destination": "c", **source} for name in "ab"],
        "qos": [
            {"ports": ["r>c"], "flows": [*"ab"], "ctd": "1.5 ms", "cdv": "0.1 ms", "quantile": 0.5},
            {"ports": ["r>c"], "ctd": "1.5 ms", "cdv": "1.1 ms", "quantile": "95 %", "clr": 0},
            {"flows": [*"ab"], "ctd": "3.5 ms", "quantile": "95 %"},
        ],
    }
    rows = skycell.run(scenario).records["qos"]
    ms = 10**9
    assert [(row["flow"], row["what"], row["measured"], row["verdict"]) for row in rows] == [
        ("a", "ctd_ps", pytest.approx(ms, rel=1 / 128), "met"),
        ("a", "cdv_ps", pytest.approx(0, abs=ms / 128), "met"),
        ("b", "ctd_ps", pytest.approx(2 * ms, rel=1 / 128), "missed"),
        ("b", "cdv_ps", pytest.approx(0, abs=2 * ms / 128), "met"),
        (None, "clr", 0, "met"),
        (None, "ctd_ps", pytest.approx(2 * ms, rel=1 / 128), "missed"),
        (None, "cdv_ps", pytest.approx(ms, rel=1 / 64), "met"),
        # 10 us on the first link, 2 ms on the way.
        ("a", "ctd_ps", 3 * ms + ms // 100, "met"),
        ("b", "ctd_ps", pytest.approx(4 * ms + ms // 100, rel=1 / 256), "missed"),
    ]
    assert {row["packets"] for row in rows} == {21, 42}


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_cell_stays_in_a_port_for_its_own_time_and_for_those_before_it(engine: str) -> None:
    """Of 424 bits at 424 kbit/s each takes 1 ms: one alone stays that, one behind another's two."""
    link = {"framing": "none", "delay": "1 ms", "buffer": "9 cells"}
    source = {"kind": "cbr", "rate": "20 cells/s", "start": "together", "destination": "c"}
    scenario = {
        "run": {"duration": "1.02 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b", "c"],
            "switches": ["s"],
            "link": [
                *({"from": x, "to": "s", "rate": "42.4 Mbit/s", **link} for x in "ab"),
                {"from": "s", "to": "c", "rate": "424 kbit/s", **link},
            ],
        },
        "source": [{"name": name, "source": name, **source} for name in "ab"],
        "qos": [{"vcs": [*"ab"], "ports": ["s>c"], "ctd": "1.5 ms", "cdv": "1 us", "quantile": 1}],
    }
    rows = skycell.run(scenario, engine=engine).records["qos"]
    ms = 10**9
    assert [
        (row["port"], row["vc"], row["what"], row["measured"], row["cells"]) for row in rows
    ] == [
        ("s>c", "a", "ctd_ps", ms, 21),
        ("s>c", "a", "cdv_ps", 0, 21),
        ("s>c", "b", "ctd_ps", 2 * ms, 21),
        ("s>c", "b", "cdv_ps", 0, 21),
    ]
    assert [row["verdict"] for row in rows] == ["met", "met", "missed", "met"]
