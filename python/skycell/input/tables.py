"""The tables that files of a form may hold, and their keys, in words.

They come from the declarations of the parameters; nothing is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skycell.input.faults import show_value
from skycell.input.forms import (
    annotated,
    by_tag,
    item_of,
    keys_of,
    kind_of,
    list_allowed,
    models_of,
    shorthand_of,
    takes_tables_only,
    value_type_of,
    words_of,
)
from skycell.input.parameters import symbol_of


@dataclass(frozen=True)
class Key:
    """One key of a table, in words, and whether it takes a table or a list of tables only."""

    name: str
    is_table: bool
    allowed: str
    default: str
    meaning: str
    symbol: str
    source: str


@dataclass(frozen=True)
class Table:
    """One table of the file: its heading, what it is, its keys."""

    heading: str
    meaning: str
    keys: tuple[Key, ...]


def tables(root: type[BaseModel]) -> list[Table]:
    """Every table that a file of some form may hold, from the top down, each told once."""
    found: list[Table] = []
    seen: dict[type[BaseModel], str] = {}
    _collect(root, "", found, seen)
    return found


def _collect(
    model: type[BaseModel], path: str, found: list[Table], seen: dict[type[BaseModel], str]
) -> None:
    kind = kind_of(model)
    heading = f'{path} with kind = "{kind}"' if kind else path
    seen.setdefault(model, heading)
    below: list[tuple[type[BaseModel], str]] = []
    keys = []
    for name, found_field in keys_of(model).items():
        if name == "kind" and kind:
            continue
        annotation = annotated(found_field)
        shapes = list(by_tag(annotation).values()) or [annotation]
        allowed = []
        for shape in shapes:
            nested = models_of(shape) or models_of(item_of(shape))
            is_list = bool(nested) and not models_of(shape)
            inner = f"{path}.{name}".lstrip(".") + ("[]" if is_list else "")
            for nested_model in nested:
                if nested_model not in seen:
                    seen[nested_model] = inner
                    below.append((nested_model, inner))
            allowed.append(_allowed(shape, nested, seen))
        keys.append(_key(name, found_field, " or ".join(allowed)))
    found.append(Table(heading, _first_paragraph(model), tuple(keys)))
    for nested_model, inner in below:
        _collect(nested_model, inner, found, seen)


def _allowed(
    annotation: Any, nested: list[type[BaseModel]], seen: dict[type[BaseModel], str]
) -> str:
    """What may stand there, in words."""
    value_type = value_type_of(annotation)
    if value_type is not None:
        return value_type.allowed
    if nested:
        place = seen[nested[0]].split(" with ")[0]
        kinds = [kind for m in nested if (kind := kind_of(m))]
        tables_of = "a table" if models_of(annotation) else "a list of tables"
        words = [f'"{word}"' for word in words_of(annotation)]
        if kinds and models_of(annotation):
            short = shorthand_of(annotation)
            words = [f'"{k}"' for k in kinds]
            return " or ".join([short.allowed, *words] if short else words) + f", see [{place}]"
        item = shorthand_of(item_of(annotation))
        if item is not None:
            return f"a list, each {item.allowed}, or a table, see [{place}]"
        short = shorthand_of(annotation) if models_of(annotation) else None
        words = [short.allowed] if short else words
        return " or ".join([*words, f"{tables_of}, see [{place}]"])
    return list_allowed(annotation)


def _key(name: str, field: FieldInfo, allowed: str) -> Key:
    """A key of a table."""
    extra = field.json_schema_extra
    extra = extra if isinstance(extra, dict) else {}
    return Key(
        name=name,
        is_table=takes_tables_only(annotated(field)),
        allowed=allowed,
        default=_default(field),
        meaning=field.description or "",
        symbol=symbol_of(field),
        source=str(extra.get("source", "")),
    )


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    return "none" if field.default is None else show_value(field.default)


def _first_paragraph(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split("\n\n")[0].split())
