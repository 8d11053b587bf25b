"""What the parts of a spec have in common: frozen, of known fields, numbers within bounds.

The engine checks the whole spec. So a part checks by itself only what other code cannot: the names
of its fields, and that a number fits into the integer that Rust has for it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import get_annotations
from typing import Annotated, Any, NamedTuple, Self, dataclass_transform

from msgspec import NODEFAULT, Struct, StructMeta, field, structs

U32 = Annotated[int, 2**32 - 1]
U64 = Annotated[int, 2**64 - 1]

_GREATEST = {"U32": 2**32 - 1, "U64": 2**64 - 1}

_Place = tuple[str | int, ...]


class Field(NamedTuple):
    """A field of a part: its key in the JSON form, and what it is without one.

    Attributes:
        key: the key in the JSON form.
        default: what the field is if it is not given; `NODEFAULT` if it has to be given.
        is_left_out: the key is younger than the form, which does not have it at the default.
    """

    key: str
    default: Any
    is_left_out: bool = False


class _LeftOut(NamedTuple):
    default: Any


def left_out(*, default: Any) -> Any:
    """A key younger than the form, left out of it at its default: older specs keep their hashes."""
    return _LeftOut(default)


class OutOfRange(ValueError):
    """Numbers that no integer of the spec holds.

    Attributes:
        found: of each number the keys that lead to it, itself, and the greatest one allowed.
    """

    def __init__(self, part: str, found: list[tuple[_Place, Any, int]]) -> None:
        self.found = found
        (place, got, greatest), *_ = found
        super().__init__(f"{part}.{'.'.join(map(str, place))} = {got!r}: from 0 to {greatest}")


class _PartType(StructMeta):
    """Has the key `kind` say the class, and keeps in mind which keys are left out."""

    def __new__(cls, name: str, bases: tuple[type, ...], own: dict[str, Any], **config: Any) -> Any:
        defaults = {key: value.default for key, value in own.items() if type(value) is _LeftOut}
        tag = {"tag_field": "kind", "tag": own["kind"]} if "kind" in own else {}
        config |= {"kw_only": True, **tag}
        own |= {**defaults, "own_left_out": (*defaults,)}
        return super().__new__(cls, name, bases, own, **config)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(left_out, field))
class SpecPart(Struct, metaclass=_PartType, frozen=True, forbid_unknown_fields=True, gc=False):
    """A part of a spec. What it has in common with a table of a file is called as it is there."""

    def __post_init__(self) -> None:
        found: list[tuple[_Place, Any, int]] = []
        for name, most in _integers(type(self)):
            value = getattr(self, name)
            if value is not None and not _is_within(value, most):
                found += _beyond(value, most, (name,))
        if found:
            raise OutOfRange(type(self).__name__, found)

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The part with other values of some fields."""
        return structs.replace(self, **update)


@cache
def fields_of(part: type[SpecPart]) -> Mapping[str, Field]:
    """The fields of a part by name, with the key `kind` of a part that is one of several."""
    names, keys = part.__struct_fields__, part.__struct_encode_fields__
    younger = {name for base in part.__mro__ for name in getattr(base, "own_left_out", ())}
    defaults = (*(NODEFAULT for _ in names), *part.__struct_defaults__)[-len(names) :]
    found = {
        name: Field(key, default, name in younger)
        for name, key, default in zip(names, keys, defaults, strict=True)
    }
    tag = part.__struct_config__.tag
    return found if tag is None else {"kind": Field("kind", tag), **found}


@cache
def _integers(part: type[SpecPart]) -> tuple[tuple[str, int], ...]:
    """The fields that hold whole numbers, each with the greatest that it may hold."""
    forms = ChainMap(*map(get_annotations, part.__mro__))
    return tuple(
        (name, most)
        for name in part.__struct_fields__
        for word, most in _GREATEST.items()
        if word in str(forms[name])
    )


def _is_within(value: Any, greatest: int) -> bool:
    return type(value) is int and 0 <= value <= greatest


def _beyond(value: Any, greatest: int, place: _Place) -> Iterator[tuple[_Place, Any, int]]:
    """The numbers of a value, however deep in lists, that are out of range, and what is none."""
    if _is_within(value, greatest):
        return
    if type(value) is tuple:
        for index, item in enumerate(value):
            if item is not None:
                yield from _beyond(item, greatest, (*place, index))
    else:
        yield place, value, greatest
