"""What the parts of a spec have in common: frozen, of known fields, numbers within bounds.

The engine checks the whole spec. So a part checks by itself only what other code cannot: the names
of its fields, and that a number fits into the integer that Rust has for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, Self, dataclass_transform

U32 = Annotated[int, 2**32 - 1]
U64 = Annotated[int, 2**64 - 1]

_GREATEST = {"U32": 2**32 - 1, "U64": 2**64 - 1}
_MISSING = object()


class Field(NamedTuple):
    """A field of a part: its key in the JSON form, and what it is without one.

    Attributes:
        key: the key in the JSON form.
        default: what the field is if it is not given; `is_needed` says that there is none.
        is_left_out: the key is younger than the form, which does not have it at the default.
        greatest: the greatest whole number that it may hold; none for a field of another type.
    """

    key: str
    default: Any = _MISSING
    is_left_out: bool = False
    greatest: int | None = None

    @property
    def is_needed(self) -> bool:
        """True if it has to be given."""
        return self.default is _MISSING


def left_out(*, default: Any) -> Any:
    """A key younger than the form, left out of it at its default: older specs keep their hashes."""
    return Field("", default, is_left_out=True)


def keyed(key: str, *, default: Any = _MISSING) -> Any:
    """A field whose key cannot be a name in Python."""
    return Field(key, default)


class OutOfRange(ValueError):
    """Numbers that no integer of the spec holds.

    Attributes:
        found: of each number the keys that lead to it, itself, and the greatest one allowed.
    """

    def __init__(self, part: str, found: list[tuple[tuple[str | int, ...], Any, int]]) -> None:
        self.found = found
        (place, got, greatest), *_ = found
        super().__init__(f"{part}.{_dotted(place)} = {got!r}: from 0 to {greatest}")


def _dotted(place: tuple[str | int, ...]) -> str:
    return ".".join(map(str, place))


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(left_out, keyed))
class _PartType(type):
    """Makes fields of what a class declares, each in a slot."""

    model_fields: Mapping[str, Field]

    def __new__(cls, name: str, bases: tuple[type, ...], own: dict[str, Any]) -> _PartType:
        inherited = {key: field for base in bases for key, field in _fields_of(base)}
        declared = {
            key: _field(key, str(form), own.pop(key, _MISSING))
            for key, form in own.get("__annotations__", {}).items()
            if not str(form).startswith("ClassVar")
        }
        own["__slots__"] = tuple(key for key in declared if key not in inherited)
        own["model_fields"] = inherited | declared
        return super().__new__(cls, name, bases, own)


def _fields_of(base: type) -> Iterator[tuple[str, Field]]:
    yield from getattr(base, "model_fields", {}).items()


def _field(name: str, form: str, default: Any) -> Field:
    greatest = next((most for word, most in _GREATEST.items() if word in form), None)
    field = default if isinstance(default, Field) else Field("", default)
    return field._replace(key=field.key or name, greatest=greatest)


class SpecPart(metaclass=_PartType):
    """A part of a spec. What it has in common with a table of a file is called as it is there."""

    model_fields: ClassVar[Mapping[str, Field]]

    def __init__(self, **values: Any) -> None:
        out_of_range: list[tuple[tuple[str | int, ...], Any, int]] = []
        put = object.__setattr__
        for name, field in type(self).model_fields.items():
            value = values.pop(name, field.default)
            if value is _MISSING:
                raise TypeError(f"{type(self).__name__} needs {name}")
            most = field.greatest
            if most is not None and value is not None and not _is_within(value, most):
                out_of_range += _beyond(value, most, (name,))
            put(self, name, value)
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")
        if out_of_range:
            raise OutOfRange(type(self).__name__, out_of_range)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: model_copy makes another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._values() == other._values())

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        values = zip(type(self).model_fields, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._values())

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in type(self).model_fields)

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The part with other values of some fields."""
        own = dict(zip(type(self).model_fields, self._values(), strict=True))
        return type(self)(**{**own, **update})

    def model_dump(self) -> dict[str, Any]:
        """The values of the fields by name, parts as such tables too."""
        return {name: _plain(getattr(self, name)) for name in type(self).model_fields}


def _plain(value: Any) -> Any:
    if isinstance(value, SpecPart):
        return value.model_dump()
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _restored(part: type[SpecPart], values: tuple[Any, ...]) -> SpecPart:
    return part(**dict(zip(part.model_fields, values, strict=True)))


def _is_within(value: Any, greatest: int) -> bool:
    return type(value) is int and 0 <= value <= greatest


def _beyond(
    value: Any, greatest: int, place: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, int]]:
    """The numbers of a value, however deep in lists, that are out of range, and what is none."""
    if _is_within(value, greatest):
        return
    if type(value) is tuple:
        for index, item in enumerate(value):
            if item is not None:
                yield from _beyond(item, greatest, (*place, index))
    else:
        yield place, value, greatest
