"""A spec read from its JSON form, by the types that its classes declare."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from skycell.spec.part import Field, SpecPart

P = TypeVar("P", bound=SpecPart)

_Reader = Callable[[Any], Any]


class NoSpec(ValueError):
    """A text is not the JSON form of a spec; says where and why."""


def read_part(part: type[P], text: str) -> P:
    """Reads a part of a spec from its JSON form.

    Raises:
        NoSpec: with the key that is missing, unknown or of another type.
    """
    try:
        read: P = _reader_of(part)(json.loads(text))
    except json.JSONDecodeError as error:
        raise NoSpec(str(error)) from None
    return read


@cache
def _reader_of(part: type[SpecPart]) -> _Reader:
    """Reads a table of a part; readers of its fields are made when the first one comes."""
    forms: dict[str, tuple[str, Field, _Reader]] = {}

    def read(table: Any) -> SpecPart:
        if not forms:
            hints = get_type_hints(part, include_extras=True)
            for name, field in part.model_fields.items():
                forms[field.key] = name, field, _reader(hints[name])
        if not isinstance(table, dict):
            raise NoSpec(f"{part.__name__} is a table, not {table!r}")
        values = {}
        for key, value in table.items():
            if key not in forms:
                raise NoSpec(f"{part.__name__} has no key {key}")
            name, _, reader = forms[key]
            try:
                values[name] = reader(value)
            except _Mismatch as error:
                raise NoSpec(f"{part.__name__}.{key}: {error}") from None
        for key, (name, field, _) in forms.items():
            if name not in values and field.is_needed:
                raise NoSpec(f"{part.__name__}.{key} is missing")
        return part(**values)

    return read


class _Mismatch(ValueError):
    pass


def _reader(form: Any) -> _Reader:
    """Reads a value of a type."""
    origin, inner = get_origin(form), get_args(form)
    if origin is Annotated:
        return _plain(int)
    if origin is Literal:
        return _one_of(inner)
    if origin is tuple:
        return _list_of(_reader(inner[0]))
    if origin in (Union, UnionType):
        rest = [own for own in inner if own is not NoneType]
        read = _reader(rest[0]) if len(rest) == 1 else _by_kind(rest)
        return (
            read
            if len(rest) == len(inner)
            else lambda value: None if value is None else read(value)
        )
    if issubclass(form, SpecPart):
        return _reader_of(form)
    return _number if form is float else _plain(form)


def _plain(kind: type) -> _Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _Mismatch(f"{value!r} is no {kind.__name__}")
        return value

    return read


def _none_or(read: _Reader) -> _Reader:
    return lambda value: None if value is None else read(value)


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise _Mismatch(f"{value!r} is no number")
    return float(value)


def _one_of(words: tuple[Any, ...]) -> _Reader:
    def read(value: Any) -> Any:
        if value not in words:
            raise _Mismatch(f"{value!r} is none of {', '.join(map(str, words))}")
        return value

    return read


def _list_of(one: _Reader) -> _Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _Mismatch(f"{value!r} is no list")
        return tuple(map(one, value))

    return read


def _by_kind(parts: list[type[SpecPart]]) -> _Reader:
    """Reads a table of one of several kinds, by its key `kind`."""
    by_kind = {part.model_fields["kind"].default: _reader_of(part) for part in parts}

    def read(value: Any) -> SpecPart:
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind not in by_kind:
            raise _Mismatch(f"kind {kind!r} is none of {', '.join(by_kind)}")
        found: SpecPart = by_kind[kind](value)
        return found

    return read
