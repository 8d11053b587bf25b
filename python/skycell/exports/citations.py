"""What to cite of a run: skycell, the run itself, and the sources of the rules that it used."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from skycell.input.parameters import Parameters
from skycell.spec.declared.network import NetworkSpec
from skycell.spec.part import SpecPart

_PLAIN_ESCAPES = {"&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$"}


@dataclass(frozen=True)
class Entry:
    """An entry of BibTeX.

    Attributes:
        key: what a text cites it by.
        type: the type of the entry.
        fields: as BibTeX prints them.
        rules: what of the run rests on it, in the words of its spec.
    """

    key: str
    type: str
    fields: Mapping[str, str]
    rules: tuple[str, ...] = ()

    def bibtex(self) -> str:
        """The entry as text; what rests on it stands above it as a comment."""
        lines = [f"% {', '.join(self.rules)}"] if self.rules else []
        lines.append(f"@{self.type}{{{self.key},")
        lines += [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([*lines, "}"])

    def as_dict(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {
            "key": self.key,
            "type": self.type,
            "fields": dict(self.fields),
            "rules": list(self.rules),
        }


@dataclass(frozen=True)
class _Known:
    """The sources that there are, and what rests on each."""

    entries: Mapping[str, Entry]
    parts: Mapping[str, tuple[str, ...]]
    framings: Mapping[str, tuple[str, ...]]
    words: Mapping[str, str]


@cache
def known() -> _Known:
    """The sources of all rules."""
    text = files("skycell.exports").joinpath("citations.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    entries = {}
    for key, own in read["sources"].items():
        fields = {name: str(value) for name, value in own.items() if name != "type"}
        entries[key] = Entry(key, own["type"], fields)
    for number, (author, title, year) in read["rfcs"].items():
        fields = {
            "author": author,
            "title": f"{{{title}}}",
            "institution": "IETF",
            "number": f"RFC {number}",
            "year": str(year),
            "doi": f"10.17487/RFC{int(number):04}",
        }
        entries[f"rfc{number}"] = Entry(f"rfc{number}", "techreport", fields)
    by_part, by_framing = (
        {name: tuple(keys) for name, keys in read[table].items()} for table in ("parts", "framings")
    )
    return _Known(entries, by_part, by_framing, read["words"])


def of_program(version: str) -> Entry:
    """The entry of skycell in a version, such as `0.3.0+3f9a12cd77aa`."""
    fields = {
        "author": "{The skycell authors}",
        "title": (
            "{skycell}: exact simulation of {TCP/IP} over satellite and cell-switched networks"
        ),
        "version": version,
        "note": f"Version {version}",
    }
    return Entry("skycell", "misc", fields)


def of_run(name: str, spec: NetworkSpec, version: str) -> Entry:
    """The entry of a run: the hash of its spec and its seed say which it is."""
    spec_hash = spec.hash()
    escaped = "".join(_PLAIN_ESCAPES.get(letter, letter) for letter in name)
    fields = {
        "author": "{The skycell authors}",
        "title": f"Simulation of {{{escaped}}}",
        "howpublished": f"skycell {version}",
        "note": f"Spec {spec_hash}, seed {spec.seed}",
    }
    return Entry(f"skycell-{spec_hash[:12]}", "misc", fields)


@dataclass
class _Found:
    """Rules by the source that they rest on, in the order in which they were met."""

    rules: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, rule: str, keys: tuple[str, ...]) -> None:
        for key in keys:
            self.rules.setdefault(key, {})[rule] = None


def of_rules(spec: NetworkSpec, file: Parameters | None = None) -> list[Entry]:
    """The sources of the rules of a spec, and of the framings of the file that it comes from."""
    sources, found = known(), _Found()
    for part in _parts(spec):
        name = type(part).__name__
        keys = sources.parts.get(name, ())
        if keys:
            found.add(sources.words.get(name) or part.kind, keys)  # type: ignore[attr-defined]
    for kind in () if file is None else _framings(file):
        found.add(f"framing {kind}", sources.framings[kind])
    entries = []
    for key, rules in sorted(found.rules.items()):
        own = sources.entries[key]
        entries.append(Entry(key, own.type, own.fields, tuple(rules)))
    return entries


def _parts(value: Any) -> Iterator[SpecPart]:
    """Every part of a spec; each of many that are one object once."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        own = stack.pop()
        if isinstance(own, SpecPart):
            if id(own) in seen:
                continue
            seen.add(id(own))
            yield own
            stack += [getattr(own, name) for name in own.__struct_fields__]
        elif isinstance(own, tuple | list):
            stack += [one for one in own if isinstance(one, SpecPart | tuple | list)]
        elif isinstance(own, dict):
            stack += own.values()


def _framings(value: Any) -> Iterator[str]:
    """The kinds of framings that a file names."""
    stack = [value]
    while stack:
        own = stack.pop()
        if isinstance(own, Parameters):
            for name in type(own).model_fields:
                below = getattr(own, name)
                if name == "framing" and below is not None:
                    yield below.kind
                stack.append(below)
        elif isinstance(own, tuple | list):
            stack += own
        elif isinstance(own, dict):
            stack += own.values()
