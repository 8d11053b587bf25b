"""Named sets of parameters, each value with its source or the reason why it was chosen.

What a paper leaves open is marked as chosen. A preset is a TOML file in a package: `title`,
`source`, an optional `builds_on` (another preset), and two tables by dotted key: `[stated]` with
`value` and `where` it stands in the source, `[chosen]` with `value` and `why`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class PresetValue:
    """One value of a preset: its dotted key, and where it stands or why it was chosen."""

    key: str
    value: Any
    is_stated: bool
    reason: str


@dataclass(frozen=True)
class Preset:
    """A named set of values with their sources."""

    name: str
    title: str
    source: str
    base: Preset | None
    own: tuple[PresetValue, ...]

    @property
    def builds_on(self) -> str | None:
        """Name of the preset below."""
        return self.base.name if self.base else None

    def all_values(self) -> dict[str, PresetValue]:
        """Every value by its key, those of the preset below included.

        Parameters of a rule of another kind go with it.
        """
        below = self.base.all_values() if self.base else {}
        for value in self.own:
            table, _, last = value.key.rpartition(".")
            if last == "kind" and value.key in below and below[value.key].value != value.value:
                below = {k: v for k, v in below.items() if not k.startswith(f"{table}.")}
        return below | {value.key: value for value in self.own}

    def values(self) -> dict[str, Any]:
        """The values as a scenario file would hold them."""
        tree: dict[str, Any] = {}
        for key, value in self.all_values().items():
            *tables, last = key.split(".")
            here = tree
            for table in tables:
                here = here.setdefault(table, {})
            here[last] = value.value
        return tree

    @property
    def is_whole(self) -> bool:
        """Whether it can stand at the top of a file, not only in [tcp]."""
        return any(not key.startswith("tcp.") for key in self.all_values())


def read_presets(package: str) -> Mapping[str, Preset]:
    """The presets that stand as TOML files in a package, by name, in alphabetical order."""
    texts = {
        entry.name.removesuffix(".toml"): entry.read_text("utf-8")
        for entry in sorted(resources.files(package).iterdir(), key=lambda e: e.name)
        if entry.name.endswith(".toml")
    }
    known: dict[str, Preset] = {}
    for name in texts:
        _read(name, texts, known)
    return {name: known[name] for name in texts}


def _read(name: str, texts: Mapping[str, str], known: dict[str, Preset]) -> Preset:
    """A preset and, before it, the one that it builds on, put into `known`."""
    if name not in known:
        data = tomllib.loads(texts[name])
        base = _read(data["builds_on"], texts, known) if "builds_on" in data else None
        stated = [
            PresetValue(key, entry["value"], True, entry["where"])
            for key, entry in data.get("stated", {}).items()
        ]
        chosen = [
            PresetValue(key, entry["value"], False, entry["why"])
            for key, entry in data.get("chosen", {}).items()
        ]
        known[name] = Preset(name, data["title"], data["source"], base, (*stated, *chosen))
    return known[name]
