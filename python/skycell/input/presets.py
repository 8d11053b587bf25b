"""Named sets of parameters, each value with its source or the reason why it was chosen.

What a paper leaves open is marked as chosen. A preset is a TOML file in a package: `title`,
`source`, an optional `builds_on` (another preset), and two tables by dotted key: `[stated]` with
`value` and `where` it stands in the source, `[chosen]` with `value` and `why`. A table
`[with."KEY"."VALUE"]`, in the form of `[stated]`, has what goes with a file's own choice of KEY.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
    going_with: Mapping[tuple[str, str], tuple[PresetValue, ...]] = field(default_factory=dict)
    """Values that go with a choice, by its key and value."""

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
        return _tree(self.all_values().values())

    def values_with(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The values that go with what a file chooses, and these choices, as it would hold them.

        Args:
            chosen: values of the file.
        """
        values = [
            value
            for (key, choice), going_with in self.going_with.items()
            if _value_at(chosen, key) == choice
            for value in (PresetValue(key, choice, True, ""), *going_with)
        ]
        return _tree(values)

    @property
    def is_whole(self) -> bool:
        """Whether it can stand at the top of a file, not only in [tcp]."""
        return any(not key.startswith("tcp.") for key in self.all_values())


def _tree(values: Iterable[PresetValue]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for value in values:
        *tables, last = value.key.split(".")
        here = tree
        for table in tables:
            here = here.setdefault(table, {})
        here[last] = value.value
    return tree


def _value_at(values: Any, key: str) -> Any:
    for part in key.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


class Presets(Mapping[str, Preset]):
    """The presets that stand as TOML files in a package, by name, in alphabetical order.

    A preset is read when it is asked for.
    """

    def __init__(self, package: str) -> None:
        self._files = {
            entry.name.removesuffix(".toml"): entry
            for entry in sorted(resources.files(package).iterdir(), key=lambda e: e.name)
            if entry.name.endswith(".toml")
        }
        self._read: dict[str, Preset] = {}

    def __getitem__(self, name: str) -> Preset:
        if name not in self._read:
            data = tomllib.loads(self._files[name].read_text("utf-8"))
            base = self[data["builds_on"]] if "builds_on" in data else None
            self._read[name] = _preset(name, data, base)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _preset(name: str, data: Mapping[str, Any], base: Preset | None) -> Preset:
    """A preset of a file and of the preset that it builds on."""
    stated = [
        PresetValue(key, entry["value"], True, entry["where"])
        for key, entry in data.get("stated", {}).items()
    ]
    chosen = [
        PresetValue(key, entry["value"], False, entry["why"])
        for key, entry in data.get("chosen", {}).items()
    ]
    going_with = {
        (key, choice): tuple(
            PresetValue(own, entry["value"], True, entry["where"]) for own, entry in entries.items()
        )
        for key, choices in data.get("with", {}).items()
        for choice, entries in choices.items()
    }
    own = (*stated, *chosen)
    return Preset(name, data["title"], data["source"], base, own, going_with)
