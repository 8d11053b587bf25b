"""Stand-ins for the values of a file that are faulty, so that the rest of it can be looked at."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

from pydantic import ValidationError

from skycell.scenario.checking import (
    Place,
    errors_of,
    item_of,
    keys_of,
    leaf_of,
    note,
    shorthand_of,
)
from skycell.scenario.faults import FaultCollector, Path
from skycell.scenario.file import ScenarioFile
from skycell.scenario.parameters import NAME, Leaf
from skycell.scenario.quantities import Refused
from skycell.scenario.spelling import nearest

#: What a preset would have given.
_FROM_A_PRESET = ("missing", "union_tag_not_found")
#: What an example is multiplied with for the other stand-in: the first that is in range.
_FACTORS = (1000, 100, 10, 2, 0.5, 0.1)
_NUMBER_AND_UNIT = re.compile(r"([\d.]+)(.*)")
_NODES = (("topology", "hosts"), ("topology", "routers"), ("topology", "switches"))
#: So many more than the least of a whole number is the other stand-in for one.
_MANY = 100


def file_to_go_on_with(
    values: Mapping[str, Any], faults: FaultCollector, preset_is_known: bool = True
) -> ScenarioFile | None:
    """The file as a model, with stand-ins for its faulty values, which are noted in `faults`.

    Args:
        values: the file, its presets filled in.
        faults: where they go, and what says which of two stand-ins to take.
        preset_is_known: whether what is missing is the file's own fault.

    Returns:
        None where something has no stand-in, such as a topology of an unknown kind.
    """
    try:
        return ScenarioFile.model_validate(values)
    except ValidationError as error:
        found = errors_of(ScenarioFile, error, values)
    changed = copy.deepcopy(dict(values))
    replaced: list[Path] = []
    goes_on = preset_is_known
    for place, details in found:
        if not preset_is_known and details["type"] in _FROM_A_PRESET:
            continue
        note(ScenarioFile, place, details, faults)
        goes_on = goes_on and _replace(changed, place, details, faults.second)
        replaced.append(place.path)
        if _gives_a_name(place.path):
            faults.knows_not_all_names = True
    faults.replaced += replaced
    if not goes_on:
        return None
    try:
        return ScenarioFile.model_validate(changed)
    except ValidationError:
        return None


def _gives_a_name(path: Path) -> bool:
    """Whether what stands at a path is a name given, not one that is referred to."""
    named = (*_NODES, ("topology", "vc"), ("topology", "flow"), ("source",))
    return path[-1:] == ("name",) or path in named or path[:2] in _NODES


def _replace(values: dict[str, Any], place: Place, details: Any, second: bool) -> bool:
    """Puts a stand-in where an error is; says whether there is one."""
    table = _table_of(values, place.path)
    key = place.path[-1] if place.path else ""
    if isinstance(table, list) and isinstance(key, int) and key < len(table):
        stand_in = _stand_in(place, details["input"], second)
        table[key] = stand_in
        return stand_in is not None
    if not isinstance(table, dict):
        return False
    known = keys_of(place.owner) if place.owner else {}
    if details["type"] == "extra_forbidden":
        near = nearest(str(key), known)
        value = table.pop(key, None)
        if near and near not in table:
            table[near] = value  # what was meant
        return True
    stand_in = _stand_in(place, details["input"], second)
    if stand_in is not None:
        table[key] = stand_in
        return True
    found = known.get(str(key))
    if found is None or found.is_required():
        return False
    table.pop(key, None)
    return True


def _table_of(values: dict[str, Any], path: Path) -> Any:
    """The table or list that holds what is at `path`; a kind written as a word becomes a table."""
    here: Any = values
    for step in path[:-1]:
        if isinstance(here, dict) and isinstance(here.get(step), str):
            here[step] = {"kind": here[step]}
        try:
            here = here[step]
        except (KeyError, IndexError, TypeError):
            return None
    return here


def _stand_in(place: Place, got: object, second: bool) -> Any:
    """One of two values that could stand at a place, as they would stand in a file."""
    leaf = leaf_of(place.annotation) or shorthand_of(place.annotation)
    if leaf is None:
        item = item_of(place.annotation)
        if leaf_of(item) is None:
            return None
        one = _stand_in(Place(place.path, place.owner, item, place.meaning), got, second)
        return None if one is None else [one]
    if leaf == NAME:
        return f"stand-in-{int(second)}-{crc32(repr(got).encode())}"
    read = [value for value in _values_of(leaf.schema) if _is_read(leaf, value)]
    return read[-1 if second else 0] if read else None


def _values_of(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Values that a schema describes, as different as it is easy to have them."""
    for member in schema.get("anyOf", ()):
        yield from _values_of(member)
    if "enum" in schema:
        yield schema["enum"][0]
        yield schema["enum"][-1]
    elif schema.get("type") == "integer":
        least = max(schema["minimum"], 1)  # none of something would hide what is said of one
        yield least
        yield min(schema["maximum"], least + _MANY)
    elif schema.get("type") == "boolean":
        yield from (False, True)
    elif schema.get("type") == "number":
        yield from (0.5, 0.01)
    for example in schema.get("examples", ()):
        yield example
        parts = _NUMBER_AND_UNIT.fullmatch(example)
        if parts:
            yield from (f"{float(parts[1]) * factor:.6f}{parts[2]}" for factor in _FACTORS[::-1])


def _is_read(leaf: Leaf, value: Any) -> bool:
    try:
        leaf.read(value)
    except Refused:
        return False
    return True
