"""Named sets of parameters, each value with its source or the reason why it was chosen.

What a paper leaves open is marked as chosen. A preset is a TOML file beside this module: `title`,
`source`, an optional `builds_on` (another preset), and two tables by dotted key: `[stated]` with
`value` and `where` it stands in the source, `[chosen]` with `value` and `why`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
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
    builds_on: str | None
    own: tuple[PresetValue, ...]

    def all_values(self) -> dict[str, PresetValue]:
        """Every value by its key, those of the preset below included.

        Parameters of a rule of another kind go with it.
        """
        below = presets()[self.builds_on].all_values() if self.builds_on else {}
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


@cache
def presets() -> Mapping[str, Preset]:
    """All presets by name, in alphabetical order."""
    return {preset.name: preset for preset in read_presets(__package__ or __name__)}


def read_presets(package: str) -> Iterator[Preset]:
    """The presets that stand as TOML files in a package, in alphabetical order."""
    folder = resources.files(package)
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml"):
            yield _read(entry.name.removesuffix(".toml"), entry.read_text("utf-8"))


def _read(name: str, text: str) -> Preset:
    data = tomllib.loads(text)
    stated = [
        PresetValue(key, entry["value"], True, entry["where"])
        for key, entry in data.get("stated", {}).items()
    ]
    chosen = [
        PresetValue(key, entry["value"], False, entry["why"])
        for key, entry in data.get("chosen", {}).items()
    ]
    return Preset(name, data["title"], data["source"], data.get("builds_on"), (*stated, *chosen))
