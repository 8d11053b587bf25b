"""`schema`, `presets` and `policies`."""

import json

import pytest

from skycell.scenario.presets import presets
from skycell.scenario.presets.uplinks import uplink_presets
from tests.unit.cli.calling import skycell

NAMES = [*presets(), *uplink_presets()]


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_schema_is_json(option: list[str]) -> None:
    reported = skycell("schema", *option)
    assert (reported.exit_code, reported.stderr) == (0, "")
    assert json.loads(reported.stdout)["title"] == "skycell scenario"


def test_keys_are_listed_all_or_by_their_beginning() -> None:
    assert "[tcp]" in skycell("schema", "--keys").stdout
    reported = skycell("schema", "--keys", "topology.bottleneck.policy").stdout
    assert "drop_threshold (R) = 0.9" in reported
    assert "[tcp]" not in reported
    unknown = skycell("schema", "--keys", "tpc")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert unknown.stderr.endswith("no key begins with 'tpc'\n")
    below = skycell("schema", "--keys", "buffer")
    assert (
        "no key begins with 'buffer'; keys with that name: topology.bottleneck.buffer, "
        in below.stderr
    )


def test_the_page_is_markdown() -> None:
    assert skycell("schema", "--markdown").stdout.startswith("# The scenario file\n")


def test_forms_exclude_each_other() -> None:
    assert skycell("schema", "--json", "--markdown").exit_code == 2


def test_presets_are_listed() -> None:
    reported = skycell("presets")
    assert [line.split()[0] for line in reported.stdout.splitlines()] == NAMES
    assert json.loads(skycell("presets", "--json").stdout).keys() == set(NAMES)


def test_a_preset_is_shown_with_its_sources() -> None:
    reported = skycell("presets", "icccn97-geo").stdout
    assert 'tcp.mss = "9180 B"\n    stated: section 8' in reported
    assert 'tcp.rto_initial = "3 s"\n    chosen: unstated' in reported
    values = json.loads(skycell("presets", "icccn97-geo", "--json").stdout)["values"]
    assert values["tcp.mss"] == {"value": "9180 B", "stated": True, "reason": "section 8"}


def test_an_unknown_preset_is_told_its_neighbour() -> None:
    reported = skycell("presets", "icccn97-gro")
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert "Did you mean 'icccn97-geo'?" in reported.stderr


def test_a_name_unlike_every_preset_is_told_them_all() -> None:
    reported = skycell("presets", "xyz")
    assert reported.exit_code == 2
    assert f"no preset is called 'xyz'. Available: {', '.join(NAMES)}." in reported.stderr


def test_policies_are_listed_with_class_parameters_and_source() -> None:
    reported = skycell("policies").stdout
    assert "dfba                    MA-MT  dynamic  probabilistic  sees tags" in reported
    assert "parameters: low_threshold 0.5, high_threshold 0.9, alpha 0.5" in reported
    rows = {row["kind"]: row for row in json.loads(skycell("policies", "--json").stdout)}
    assert rows["epd"]["class"] == "SA-ST"
    assert rows["single_drop"]["parameters"]["thresholds"] == ""  # must be given
    assert rows["pme_ered"]["sees_tags"]
    assert skycell("policies", "--json", "--markdown").exit_code == 2
