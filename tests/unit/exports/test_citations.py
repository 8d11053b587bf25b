"""What to cite of a run."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner

import skycell
from skycell.cli.main import main
from skycell.exports.citations import known, of_rules
from skycell.records.files import write_result
from skycell.scenario import parse
from skycell.scenario.declared.framings import FRAMINGS
from skycell.spec.declared import network, parts
from skycell.spec.part import SpecPart


def scenario(**bottleneck: Any) -> dict[str, Any]:
    link = {"rate": "10 Mbit/s", "delay": "20 ms", "framing": "ip", "buffer": "50 packets"}
    return {
        "run": {"duration": "100 ms"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "access": {"delay": "1 ms"},
            "bottleneck": {**link, **bottleneck},
        },
    }


def rules_of(values: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    found = parse(values)
    return {entry.key: entry.rules for entry in of_rules(found.resolve(), found.file)}


def test_every_kind_of_a_spec_says_what_it_rests_on() -> None:
    kinds = {
        name
        for module in (parts, network)
        for name, own in vars(module).items()
        if isinstance(own, type) and issubclass(own, SpecPart)
        if own.__struct_config__.tag is not None
    }
    sources = known()
    assert kinds - sources.parts.keys() == set()
    named = kinds | sources.words.keys()
    assert sources.parts.keys() - named == set()
    assert {name for name, keys in sources.parts.items() if keys} - kinds == set(sources.words)


def test_every_source_is_one_of_a_rule_and_every_rule_has_known_sources() -> None:
    sources = known()
    used = {key for keys in (*sources.parts.values(), *sources.framings.values()) for key in keys}
    assert used == sources.entries.keys()
    assert set(sources.framings) == set(FRAMINGS)


def test_entries_are_bibtex() -> None:
    for entry in known().entries.values():
        text = entry.bibtex()
        assert re.fullmatch(r"@[a-z]+\{[a-z0-9-]+,\n(  [a-z]+ = \{.*\},\n)+\}", text), text
        assert text.count("{") == text.count("}")


def test_a_run_cites_its_rules_and_no_others() -> None:
    found = rules_of(scenario(policy="fq_codel"))
    assert found["rfc8290"] == ("fq_codel",)
    assert "rfc8289" not in found
    gse = {"framing": {"kind": "gse", "modcod": "8PSK 3/4"}, "rate": "10 Mbaud"}
    assert rules_of(scenario(**gse))["ts-102-606-1"] == ("framing gse",)


def test_a_result_cites_as_its_scenario_does(tmp_path: Any) -> None:
    values = scenario(policy="pie")
    result = skycell.run(values)
    write_result(result, tmp_path / "run")
    done = CliRunner().invoke(main, ["cite", str(tmp_path / "run"), "--json"])
    assert done.exit_code == 0, done.output
    keys = [entry["key"] for entry in json.loads(done.output)["entries"]]
    assert keys[0] == "skycell"
    assert keys[1] == f"skycell-{result.spec.hash()[:12]}"
    assert set(keys[2:]) == set(rules_of(values))


@pytest.mark.parametrize("call", [["nowhere.toml"], ["--set", "tcp.recovery=reno"]])
def test_what_cannot_be_cited_is_a_fault(call: list[str]) -> None:
    assert CliRunner().invoke(main, ["cite", *call]).exit_code == 2
