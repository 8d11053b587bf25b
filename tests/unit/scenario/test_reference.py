"""What is generated from the declarations of the parameters."""

import json
import re
from pathlib import Path
from typing import Any

from skycell.input.tables import Key, tables
from skycell.scenario import parse
from skycell.scenario.documentation import listing, page
from skycell.scenario.file.scenario_file import WrittenFile
from skycell.scenario.schema import scenario_schema

ROOT = Path(__file__).parents[3]


def keys_named(name: str) -> list[Key]:
    return [key for table in tables(WrittenFile) for key in table.keys if key.name == name]


def test_every_parameter_has_a_meaning_and_every_default_a_source() -> None:
    silent = [
        f"{table.heading}.{key.name}"
        for table in tables(WrittenFile)
        for key in table.keys
        if not key.meaning or not (key.source or key.default in ("must be given", "none"))
    ]
    assert silent == []


def test_every_table_is_told_once() -> None:
    headings = [table.heading for table in tables(WrittenFile)]
    assert len(set(headings)) == len(headings)
    assert 'topology.bottleneck.policy with kind = "selective_drop"' in headings
    assert "flow[]" in headings


def test_words_that_stand_for_a_table_are_told() -> None:
    (reported,) = keys_named("delayed_ack")
    assert reported.allowed == '"off" or "on" or a table, see [tcp.delayed_ack]'


def test_names_that_generated_topologies_give_are_those_that_the_page_tells() -> None:
    link = {"rate": "10 Mbit/s", "framing": "none", "delay": "1 ms"}
    own = {"bottleneck": {**link, "buffer": "100 cells"}, "access": {"delay": "1 ms"}}
    here = {"link": [{"from": a, "to": b, **link} for a, b in ("ar", "rb")]}
    graph = {**here, "flow": [{"name": "NAME", "source": "a", "destination": "b"}]}
    inputs = set()
    for topology in (
        {"kind": "dumbbell", "sources": 1, **own},
        {"kind": "dumbbell", "sources": 1, "tcps_per_vc": 1, **own},
        {"kind": "parking_lot", "hops": 2, **own},
        {"kind": "graph", "hosts": ["a", "b"], "switches": ["r"], **graph},
    ):
        spec = parse({"run": {"duration": "1 s"}, "topology": topology}).resolve()
        for parts in (spec.nodes, spec.links, spec.vcs, spec.flows):
            inputs |= {part.name for part in parts}
    reported = page().partition("A generated topology")[2].partition("## Top")[0]
    names = set(re.findall(r"`([^`]+)`", reported)) - {"dumbbell", "tcps_per_vc", "parking_lot"}
    assert len(names) > 15
    assert names - inputs == set()


def test_the_listing_can_be_narrowed() -> None:
    text = listing("tcp.rto_m")
    assert "rto_min" in text
    assert "rto_max" in text
    assert "rto_initial" not in text
    assert listing("nowhere") == ""


def test_the_listing_tells_where_a_default_is_from_and_the_schema_too() -> None:
    (reported,) = keys_named("rto_min")
    assert reported.source
    assert f"      source: {reported.source}" in listing("tcp.rto_min").splitlines()
    assert scenario_schema()["$defs"]["Tcp"]["properties"]["rto_min"]["x-source"] == reported.source


def refs(node: Any) -> set[str]:
    if isinstance(node, list):
        return {ref for item in node for ref in refs(item)}
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own | {ref for item in node.values() for ref in refs(item)}
    return set()


def test_the_schema_is_json_and_complete() -> None:
    schema = scenario_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert refs(schema) <= {f"#/$defs/{name}" for name in schema["$defs"]}
    known = {key.name for table in tables(WrittenFile) for key in table.keys} | {"kind", "preset"}
    parts = [schema, *schema["$defs"].values()]
    assert {name for part in parts for name in part["properties"]} == known


def test_the_schema_refuses_unknown_keys_and_asks_for_nothing_that_a_preset_fills() -> None:
    schema = scenario_schema()
    tables_of_schema = [schema, *schema["$defs"].values()]
    assert all(table["additionalProperties"] is False for table in tables_of_schema)
    assert all("required" not in table for table in schema["$defs"].values())
    assert "icccn97-geo" in schema["properties"]["preset"]["enum"]
    assert "bsd44-1996" not in schema["properties"]["preset"]["enum"]
    assert "bsd44-1996" in schema["$defs"]["Tcp"]["properties"]["preset"]["enum"]
