"""`schema`, `presets` and `policies`."""

import json

import pytest

from skycell.scenario.presets import presets
from skycell.scenario.presets.traffic import traffic_presets
from skycell.scenario.presets.uplinks import uplink_presets
from tests.unit.cli.calling import skycell

NAMES = [*presets(), *uplink_presets(), *traffic_presets()]


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


# NASA/CR-1999-209158, part I.A, Table 1, where `priority_drop` has a dash.
TABLE_1 = {
    "epd": ("SA-ST", "static", "deterministic", False, "none"),
    "ppd": ("SA-ST", "static", "deterministic", False, "none"),
    "red": ("SA-ST", "static", "probabilistic", False, "equal allocation in limited cases"),
    "fred": ("MA-ST", "dynamic", "probabilistic", False, "equal allocation"),
    "selective_drop": ("MA-ST", "dynamic", "deterministic", False, "equal allocation"),
    "fair_buffer_allocation": ("MA-ST", "dynamic", "deterministic", False, "equal allocation"),
    "dynamic_epd": ("MA-ST", "dynamic", "deterministic", False, "equal allocation"),
    "pme_ered": ("MA-MT", "static", "probabilistic", True, "MCR guarantee"),
    "dfba": ("MA-MT", "dynamic", "probabilistic", True, "MCR guarantee"),
    "mcr_scheduling": ("MA-MT", "dynamic", "deterministic", False, "MCR guarantee"),
    "priority_drop": ("SA-MT", "static", "deterministic", True, ""),
}


def test_policies_are_classed_as_the_paper_has_them() -> None:
    columns = ("class", "threshold", "drop", "sees_tags", "fairness")
    rows = {row["kind"]: row for row in json.loads(skycell("policies", "--json").stdout)}
    found = {kind: tuple(rows[kind][column] for column in columns) for kind in TABLE_1}
    assert found == TABLE_1
    assert not any(row["fairness"] for kind, row in rows.items() if kind not in TABLE_1)
