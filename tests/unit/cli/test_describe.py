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


def test_the_page_is_markdown() -> None:
    assert skycell("schema", "--markdown").stdout.startswith("# The scenario file\n")


def test_forms_exclude_each_other() -> None:
    assert skycell("schema", "--json", "--markdown").exit_code == 2


def test_presets_are_listed() -> None:
    reported = skycell("presets")
    assert [line.split()[0] for line in reported.stdout.splitlines()] == NAMES
    assert json.loads(skycell("presets", "--json").stdout).keys() == set(NAMES)


def test_policies_are_listed_as_json() -> None:
    rows = {row["kind"]: row for row in json.loads(skycell("policies", "--json").stdout)}
    assert rows["epd"]["class"] == "SA-ST"
    assert rows["single_drop"]["parameters"]["thresholds"] == ""  # must be given
    assert rows["pme_ered"]["sees_tags"]
