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
        "Doubt: codel at router1>router2",
    ):
        assert part in done.stdout, part


def test_it_is_also_had_as_json_and_as_latex() -> None:
    found = json.loads(skycell("explain", BUFFER, "--json").stdout)
    assert found["rtt_ps"] == 604 * 10**9
    assert [size["key"] for size in found["sizes"]] == ["buffer"]
    assert r"\toprule" in skycell("explain", BUFFER, "--latex").stdout


def test_a_faulty_file_is_told_as_by_check() -> None:
    done = skycell("explain", BUFFER, "--set", "topology.bottleneck.mtu=900 B")
    assert done.exit_code == 2
    assert "topology.bottleneck.mtu" in done.stderr
