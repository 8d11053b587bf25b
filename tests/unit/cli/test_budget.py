"""`skycell budget`: tables for people, and JSON."""

import json
from pathlib import Path

from tests.unit.cli.calling import refused, skycell

CARRIERS = "examples/dvb-s2.toml"


def test_a_carrier_is_shown_layer_by_layer_with_what_its_errors_cost() -> None:
    done = skycell("budget", CARRIERS)
    assert done.exit_code == 0
    for part in (
        "Carrier of hub>terminal: 30 Mbaud",
        "BBFRAME header",
        "30 Mbaud, which occupy 36 MHz.",
        "convolutional code 1/2",
        "What errors cost",
    ):
        assert part in done.stdout, part
    one = skycell("budget", CARRIERS, "terminal>hub").stdout
    assert "hub>terminal" not in one
    assert "Carrier of terminal>hub" in one
    assert r"\toprule" in skycell("budget", CARRIERS, "--latex").stdout


def test_it_is_also_had_as_json() -> None:
    found = json.loads(skycell("budget", CARRIERS, "hub>terminal", "--json").stdout)
    [link] = found["links"]
    assert (link["carrier_bps"], link["bandwidth_hz"]) == (90e6, 36e6)
    assert link["errors"]["kind"] == "dvb_s2"


def test_codes_are_drawn_of_one_link(tmp_path: Path) -> None:
    target = tmp_path / "codes.svg"
    done = skycell("budget", CARRIERS, "terminal>hub", "--plot", str(target))
    assert done.exit_code == 0, done.stderr
    assert "What errors cost" in done.stdout
    assert "Reed-Solomon over 1/2" in target.read_text()
    assert "--force" in refused(skycell("budget", CARRIERS, "hub>terminal", "--plot", str(target)))
    for link, file, named in (([], "all.svg", "LINK"), (["hub>terminal"], "codes.txt", ".txt")):
        done = skycell("budget", CARRIERS, *link, "--plot", str(tmp_path / file))
        assert done.exit_code == 2
        assert named in done.stderr
        assert not (tmp_path / file).exists()
