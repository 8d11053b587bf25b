"""`schema`, `presets` and `policies`."""

import json

import pytest

from skycell.scenario.presets import presets
from tests.unit.cli.calling import skycell


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_the_schema_is_json(option: list[str]) -> None:
    told = skycell("schema", *option)
    assert (told.exit_code, told.stderr) == (0, "")
    assert json.loads(told.stdout)["title"] == "skycell scenario"


def test_keys_are_listed_all_or_by_their_beginning() -> None:
    assert "[tcp]" in skycell("schema", "--keys").stdout
    told = skycell("schema", "--keys", "topology.bottleneck.policy").stdout
    assert "drop_threshold (R) = 0.9" in told
    assert "[tcp]" not in told
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
    told = skycell("presets")
    assert [line.split()[0] for line in told.stdout.splitlines()] == list(presets())
    assert json.loads(skycell("presets", "--json").stdout).keys() == presets().keys()


def test_a_preset_is_shown_with_its_sources() -> None:
    told = skycell("presets", "icccn97-geo").stdout
    assert 'tcp.mss = "9180 B"\n    stated: section 8' in told
    assert 'tcp.rto_initial = "3 s"\n    chosen: unstated' in told
    values = json.loads(skycell("presets", "icccn97-geo", "--json").stdout)["values"]
    assert values["tcp.mss"] == {"value": "9180 B", "stated": True, "reason": "section 8"}


def test_an_unknown_preset_is_told_its_neighbour() -> None:
    told = skycell("presets", "icccn97-gro")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "Did you mean 'icccn97-geo'?" in told.stderr


def test_a_name_unlike_every_preset_is_told_them_all() -> None:
    told = skycell("presets", "xyz")
    assert told.exit_code == 2
    assert f"no preset is called 'xyz'. Available: {', '.join(presets())}." in told.stderr


def test_policies_are_listed_with_class_parameters_and_source() -> None:
    told = skycell("policies").stdout
    assert "dfba                    MA-MT  dynamic  probabilistic  sees tags" in told
    assert "parameters: low_threshold 0.5, high_threshold 0.9, alpha 0.5" in told
    rows = {row["kind"]: row for row in json.loads(skycell("policies", "--json").stdout)}
    assert rows["epd"]["class"] == "SA-ST"
    assert rows["single_drop"]["parameters"]["thresholds"] == ""  # must be given
    assert rows["pme_ered"]["sees_tags"]
    assert skycell("policies", "--json", "--markdown").exit_code == 2
