"""A file's values over those of a preset that it names."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from skycell.input.faults import FaultCollector, Path, did_you_mean
from skycell.input.presets import Preset

_MEANING = "named set of values that this file builds on"


def base_of(
    own: dict[str, Any], known: Mapping[str, Preset], faults: FaultCollector
) -> dict[str, Any]:
    """The values of the preset that a file names at its top, which is taken out of `own`."""
    if "preset" not in own:
        return {}
    chosen = chosen_preset(own.pop("preset"), ("preset",), known, faults)
    return chosen.values() if chosen else {}


def chosen_preset(
    name: object, path: Path, known: Mapping[str, Preset], faults: FaultCollector
) -> Preset | None:
    """The preset of a name, if one of those that are known has it; else a fault."""
    if isinstance(name, str) and name in known:
        return known[name]
    allowed = " or ".join(f'"{k}"' for k in known) + did_you_mean(name, known)
    faults.add(path, name, allowed, _MEANING)
    return None


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid over `base`; a table of another kind replaces the one below it.

    >>> merge({"a": {"kind": "x", "b": 1}}, {"a": {"c": 2}})
    {'a': {'kind': 'x', 'b': 1, 'c': 2}}
    >>> merge({"a": {"kind": "x", "b": 1}}, {"a": {"kind": "y"}})
    {'a': {'kind': 'y'}}
    """
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            same_kind = value.get("kind", below.get("kind")) == below.get("kind")
            merged[key] = merge(below, value) if same_kind else dict(value)
        else:
            merged[key] = value
    return copy.deepcopy(merged)
