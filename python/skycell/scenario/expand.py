"""Presets put into a file's values, and each flow's own TCP parameters over the common ones."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from skycell.scenario.declared.tcp import TCP
from skycell.scenario.faults import FaultCollector, Path, did_you_mean
from skycell.scenario.presets import Preset, presets
from skycell.scenario.rules import Kinds

#: Keys of [tcp] that are one of several rules.
_RULES = {one.key for one in TCP.parameters if isinstance(one, Kinds)}
_MEANING = "named set of values that this file builds on"


def expand(values: Mapping[str, Any], faults: FaultCollector) -> tuple[dict[str, Any], bool]:
    """The file's values over those of its presets.

    `preset` at the top of a file is a whole scenario to build on; `tcp.preset` is a set of TCP
    parameters, which goes before the scenario's.

    Returns:
        The values, and whether the preset at the top, if any, is known. One that is not is noted
        in `faults`, and gives nothing.
    """
    own: dict[str, Any] = copy.deepcopy(dict(values))
    base = base_of(own, presets(), faults)
    is_known = not faults.faults
    if isinstance(own.get("tcp"), dict):
        own["tcp"] = _expand_tcp(own["tcp"], ("tcp",), faults)
    merged = merge(base, own)
    flows = merged.get("flow")
    for i, flow in enumerate(flows if isinstance(flows, list) else []):
        if isinstance(flow, dict) and isinstance(flow.get("tcp"), dict):
            common = merged.get("tcp", {})
            tcp = _expand_tcp(flow["tcp"], ("flow", i, "tcp"), faults)
            flow["tcp"] = merge(common if isinstance(common, dict) else {}, tcp)
    return merged, is_known


def base_of(
    own: dict[str, Any], known: Mapping[str, Preset], faults: FaultCollector
) -> dict[str, Any]:
    """The values of the preset that a file names at its top, which is taken out of `own`."""
    if "preset" not in own:
        return {}
    chosen = _preset(own.pop("preset"), ("preset",), known, faults)
    return chosen.values() if chosen else {}


def _expand_tcp(tcp: dict[str, Any], path: Path, faults: FaultCollector) -> dict[str, Any]:
    # A rule by its name goes over one of the same kind as a table does.
    own = {
        key: {"kind": value} if key in _RULES and isinstance(value, str) else value
        for key, value in tcp.items()
    }
    if "preset" not in own:
        return own
    chosen = _preset(own.pop("preset"), (*path, "preset"), presets(), faults)
    base = chosen.values().get("tcp", {}) if chosen else {}
    return merge(base, own)


def _preset(
    name: object, path: Path, known: Mapping[str, Preset], faults: FaultCollector
) -> Preset | None:
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
