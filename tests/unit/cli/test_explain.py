"""`skycell explain`: tables for people, JSON and LaTeX."""

import json

from tests.unit.cli.calling import skycell

BUFFER = "examples/satellite-buffer.toml"


def test_a_scenario_is_explained_in_tables() -> None:
    done = skycell("explain", BUFFER, "--set", "topology.bottleneck.policy=codel")
    assert done.exit_code == 0
    for part in (
        "What an IP packet takes of a link",
        "Buffers and thresholds",
        "topology.bottleneck.policy.interval",
        "RTT through empty ports",
        "Ports that the fast engine steps",
        "Warning: codel at router1>router2",
    ):
        assert part in done.stdout, part


def test_uplinks_are_explained_with_what_access_adds_when_they_are_empty() -> None:
    scenario = """
preset = "icccn97-wan"
[[uplink]]
to = "switch1"
access = "fixed_assignment"
slot = "1 ms"
[[uplink]]
to = "switch2"
access = "tree"
"""
    shown = skycell("explain", "-", stdin=scenario).stdout
    assert "Shared uplinks" in shown
    # Five terminals: half a frame of five slots of 1 ms, at most a frame.
    for number in ("2.500", "5.000", "fixed_assignment", "terminals share an uplink"):
        assert number in shown, number
    first, second = json.loads(skycell("explain", "-", "--json", stdin=scenario).stdout)["uplinks"]
    assert first["lone"] == {"least_ps": 0, "mean_ps": 2.5e9, "most_ps": 5e9}
    assert second["lone"] is None


def test_it_is_also_had_as_json_and_as_latex() -> None:
    found = json.loads(skycell("explain", BUFFER, "--json").stdout)
    assert found["rtt_ps"] == 604 * 10**9
    assert [size["key"] for size in found["sizes"]] == ["buffer"]
    assert r"\toprule" in skycell("explain", BUFFER, "--latex").stdout


def test_a_faulty_file_is_told_as_by_check() -> None:
    done = skycell("explain", BUFFER, "--set", "topology.bottleneck.mtu=900 B")
    assert done.exit_code == 2
    assert "topology.bottleneck.mtu" in done.stderr
