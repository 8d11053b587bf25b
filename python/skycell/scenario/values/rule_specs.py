"""A declared rule: how a file writes it, what an engine reads, and which parameter becomes what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as field_
from typing import Any

from skycell.input.parameters import Parameters
from skycell.spec.part import SpecPart


@dataclass(frozen=True)
class FieldSpec:
    """A parameter of a rule."""

    field: str
    """Of the spec."""
    key: str | None
    """Of the file; none for what follows from the rest of the scenario."""
    type: str
    """A type of `crates/declare`, which says how the key becomes the field."""
    below: str = ""
    """The field that it must be below."""
    at_most: str = ""
    """The field that it must not be above."""
    words: Mapping[str, str] = field_(default_factory=dict)
    """Of a word, those that the spec has another word for."""
    is_list: bool = False
    """Whether it is a list of values of the type."""
    is_ascending: bool = False
    """Whether such a list ascends."""


@dataclass(frozen=True)
class Flattened:
    """A part of a rule's spec whose parameters are the rule's own in a file."""

    field: str
    spec: type[SpecPart]
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class SubTable:
    """A parameter of a rule that is a table, or a list of tables, with parameters of its own."""

    field: str
    key: str
    spec: type[SpecPart]
    parameters: tuple[Parameter, ...]
    is_list: bool = False


@dataclass(frozen=True)
class Choice:
    """A parameter of a table that is one of several rules."""

    field: str
    key: str
    rules: Mapping[str, RuleSpec]
    """By their kind."""


Parameter = FieldSpec | Flattened | SubTable | Choice


@dataclass(frozen=True)
class RuleSpec:
    """A rule, or a table of which there is one form."""

    written: type[Parameters]
    spec: type[SpecPart] | None
    """None for one that is not in a run's spec, but in what is asked of Rust."""
    parameters: tuple[Parameter, ...]
    facts: Mapping[str, Any] = field_(default_factory=dict)
    """What tables and pages tell of it, by `#[rule(...)]` of its declaration."""


def kind_by_name(value: Any) -> Any:
    """A rule that needs no more than its name, as a table."""
    return {"kind": value} if isinstance(value, str) else value


def kind_or(default: str) -> Callable[[Any], Any]:
    """Makes a rule a table: of its name, or of parameters alone, which are the default's."""

    def table(value: Any) -> Any:
        if isinstance(value, Mapping) and "kind" not in value:
            return {"kind": default, **value}
        return kind_by_name(value)

    return table
