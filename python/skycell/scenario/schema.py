"""JSON Schema of the scenario file, for editors and for programs that write scenarios.

The schema admits a little more than `skycell check`: parts of a file that a preset fills are not
asked for, and what depends on several values together is left to the check.
"""

from __future__ import annotations

from typing import Any

from skycell.scenario.file.scenario_file import WrittenFile
from skycell.scenario.presets import presets
from skycell.scenario.presets.traffic import traffic_presets
from skycell.scenario.presets.uplinks import uplink_presets

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of a scenario file."""
    schema = _eased(WrittenFile.model_json_schema(by_alias=True))
    whole = [name for name, preset in presets().items() if preset.is_whole]
    schema["properties"]["preset"] = {
        "enum": whole,
        "description": "named set of values that this file builds on",
    }
    schema["$defs"]["Tcp"]["properties"]["preset"] = {
        "enum": list(presets()),
        "description": "named set of TCP parameters that this table builds on",
    }
    for form in ("Uplink", "UplinkKeys"):
        schema["$defs"][form]["properties"]["preset"] = {
            "enum": list(uplink_presets()),
            "description": "named set of values that this uplink builds on",
        }
    for kind in ("Asks", "Bulk", "Call", "Pages", "Video"):
        schema["$defs"][f"{kind}Users"]["properties"]["preset"] = {
            "enum": list(traffic_presets()),
            "description": "named set of values that this group builds on",
        }
    schema["anyOf"] = [{"required": ["preset"]}, {"required": ["run", "topology"]}]
    return {"$schema": _DIALECT, "title": "skycell scenario"} | {
        key: value for key, value in schema.items() if key != "title"
    }


def _eased(node: Any) -> Any:
    """The schema with what a preset may fill no longer required."""
    if isinstance(node, list):
        return [_eased(item) for item in node]
    if not isinstance(node, dict):
        return node
    eased: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            # The keys below are names of parameters, not words of JSON Schema.
            eased[key] = {name: _eased(parameter) for name, parameter in value.items()}
        elif key in ("required", "discriminator", "title"):
            continue
        elif key in ("default", "enum", "examples"):
            eased[key] = value
        elif key in ("symbol", "source", "effect"):
            eased[f"x-{key}"] = value
        else:
            eased["anyOf" if key == "oneOf" else key] = _eased(value)
    return eased
