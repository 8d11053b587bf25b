"""Where a value of a scenario comes from: its file, a preset, or a default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

from skycell.input.faults import FaultCollector, Path
from skycell.scenario.presets import presets
from skycell.scenario.presets.expand import expand
from skycell.scenario.scenario import Scenario

FILE = "file"
DEFAULT = "default"


def origin_of(scenario: Scenario, path: Path) -> str:
    """Where the value at a path comes from: `file`, `preset NAME`, or `default`.

    Args:
        scenario: one without faults.
        path: of the value in its file, such as `("tcp", "mss")`.

    >>> from skycell.scenario.scenario import parse
    >>> one = parse({"preset": "icccn97-wan", "tcp": {"preset": "rfc-modern", "mss": "536 B"}})
    >>> [origin_of(one, path) for path in (("tcp", "mss"), ("run", "seed"), ("run", "duration"))]
    ['file', 'default', 'preset icccn97-wan']
    """
    if _stands_at(scenario.values, path):
        return FILE
    merged, _ = expand(scenario.values, FaultCollector(""))
    if not _stands_at(merged, path):
        return DEFAULT
    tcp = scenario.values.get("tcp")
    own = tcp.get("preset") if isinstance(tcp, Mapping) else None
    if path[0] == "tcp" and own is not None and _stands_at(presets()[own].values(), path):
        return f"preset {own}"
    return f"preset {scenario.values['preset']}"


def source_of(found: FieldInfo) -> str:
    """Where a default stands, or why it was chosen; empty where nothing is told."""
    extra = found.json_schema_extra
    return str(extra.get("source", "")) if isinstance(extra, dict) else ""


def _stands_at(values: Any, path: Path) -> bool:
    for step in path:
        try:
            values = values[step]
        except (KeyError, IndexError, TypeError):  # of a table, a list, or what is neither
            return False
    return True
