"""Presets put into a file's values, and each flow's own TCP parameters over the common ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from skycell.input.expand import base_of, chosen_preset, merge
from skycell.input.faults import FaultCollector, Path
from skycell.input.other_names import KINDS_OF_PAPERS
from skycell.input.presets import Preset
from skycell.scenario.declared.tcp import TCP
from skycell.scenario.presets import presets
from skycell.scenario.presets.traffic import traffic_presets
from skycell.scenario.presets.uplinks import uplink_presets
from skycell.scenario.values.rule_specs import Choice

#: Keys of [tcp] that are one of several rules.
_RULES = {parameter.key for parameter in TCP.parameters if isinstance(parameter, Choice)}


def expand(values: Mapping[str, Any], faults: FaultCollector) -> tuple[dict[str, Any], bool]:
    """The file's values over those of its presets.

    `preset` at the top of a file is a whole scenario to build on; `tcp.preset` is a set of TCP
    parameters, which goes before the scenario's, and `preset` of an uplink a set of its values.

    Returns:
        The values, and whether the presets at the top and of uplinks, if any, are known. One that
        is not is noted in `faults`, and gives nothing.
    """
    own: dict[str, Any] = copy.deepcopy(dict(values))
    base = base_of(own, presets(), faults)
    is_known = not faults.faults
    _call_by_our_names(own)
    of_file = dict(own["tcp"]) if isinstance(own.get("tcp"), dict) else {}
    common_preset = presets().get(str(of_file.get("preset")))
    if isinstance(own.get("tcp"), dict):
        own["tcp"] = _expand_tcp(own["tcp"], ("tcp",), faults)
    merged = merge(base, own)
    noted = len(faults.faults)
    uplinks = merged.get("uplink")
    if isinstance(uplinks, list):
        merged["uplink"] = [
            _expand_uplink(table, ("uplink", i), faults) if isinstance(table, dict) else table
            for i, table in enumerate(uplinks)
        ]
    topology = merged.get("topology")
    way_back = topology.get("return") if isinstance(topology, dict) else None
    if isinstance(way_back, dict) and isinstance(way_back.get("uplink"), dict):
        where: Path = ("topology", "return", "uplink")
        way_back["uplink"] = _expand_uplink(way_back["uplink"], where, faults)
    traffic = merged.get("traffic")
    if isinstance(traffic, list):
        merged["traffic"] = [
            _expand_traffic(table, ("traffic", i), faults) if isinstance(table, dict) else table
            for i, table in enumerate(traffic)
        ]
    is_known = is_known and len(faults.faults) == noted
    for path, table in _tables_with_tcp(merged):
        if isinstance(table, dict) and isinstance(table.get("tcp"), dict):
            common = merged.get("tcp", {})
            tcp = _expand_tcp(table["tcp"], (*path, "tcp"), faults)
            tcp = merge(_going_with(common_preset, tcp, {*tcp, *of_file}), tcp)
            table["tcp"] = merge(common if isinstance(common, dict) else {}, tcp)
    return merged, is_known


def _tables_with_tcp(values: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Tables that may have TCP parameters of their own, where the others are as in [tcp]."""
    for key in ("flow", "pep", "traffic"):
        tables = values.get(key)
        for i, table in enumerate(tables if isinstance(tables, list) else []):
            yield (key, i), table
    topology = values.get("topology")
    if isinstance(topology, dict):
        yield ("topology", "pep"), topology.get("pep")


def _call_by_our_names(own: dict[str, Any]) -> None:
    """A topology that the file calls as the papers do is one of ours."""
    topology = own.get("topology")
    if isinstance(topology, dict) and isinstance(topology.get("kind"), str):
        topology["kind"] = KINDS_OF_PAPERS.get(topology["kind"], topology["kind"])


def _expand_tcp(tcp: dict[str, Any], path: Path, faults: FaultCollector) -> dict[str, Any]:
    # A rule by its name goes over one of the same kind as a table does.
    own = {
        key: {"kind": value} if key in _RULES and isinstance(value, str) else value
        for key, value in tcp.items()
    }
    if "preset" not in own:
        return own
    chosen = chosen_preset(own.pop("preset"), (*path, "preset"), presets(), faults)
    if chosen is None:
        return own
    return merge(merge(chosen.values().get("tcp", {}), _going_with(chosen, own, own)), own)


def _going_with(chosen: Preset | None, own: dict[str, Any], written: Any) -> dict[str, Any]:
    """What a preset has for the choices of `own`, but for tables that the file has `written`."""
    if chosen is None:
        return {}
    values = chosen.values_with({"tcp": own}).get("tcp", {})
    choices = {key.split(".")[1] for key, _ in chosen.going_with}
    return {key: value for key, value in values.items() if key in choices or key not in written}


def _expand_traffic(own: dict[str, Any], path: Path, faults: FaultCollector) -> dict[str, Any]:
    """A table of users over its preset, unless it is of another kind."""
    if "preset" not in own:
        return own
    chosen = chosen_preset(own.pop("preset"), (*path, "preset"), traffic_presets(), faults)
    values = chosen.values() if chosen else {}
    if "kind" in own and "kind" in values and own["kind"] != values["kind"]:
        faults.add((*path, "kind"), own["kind"], f'"{values["kind"]}", the kind of the preset')
        return own
    # Distributions are replaced whole.
    return {**values, **own}


def _expand_uplink(own: dict[str, Any], path: Path, faults: FaultCollector) -> dict[str, Any]:
    if "preset" not in own:
        return own
    chosen = chosen_preset(own.pop("preset"), (*path, "preset"), uplink_presets(), faults)
    # A protocol by its name goes over one of the same kind as a table does.
    if isinstance(own.get("access"), str):
        own["access"] = {"kind": own["access"]}
    return merge(chosen.values() if chosen else {}, own)
