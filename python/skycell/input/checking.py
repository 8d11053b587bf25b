"""From plain data to a model, or to faults in the words of the file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim, did_you_mean, show_value
from skycell.input.forms import (
    annotated,
    by_tag,
    field_named,
    item_of,
    keys_of,
    kind_of,
    list_allowed,
    models_of,
    shorthand_of,
    takes_tables_only,
    value_type_of,
)
from skycell.input.other_names import RENAMED, Renamed, ours_of
from skycell.input.parameters import REFUSED, meaning_of
from skycell.input.spelling import nearest
from skycell.input.tables import Key, tables

FileModel = TypeVar("FileModel", bound=BaseModel)


#: What a preset would have given.
_FROM_A_PRESET = ("missing", "union_tag_not_found")


def check_against(
    model: type[FileModel],
    values: Mapping[str, Any],
    faults: FaultCollector,
    preset_is_known: bool = True,
) -> FileModel:
    """A file of any form as its model.

    Args:
        model: the form.
        values: the file, its presets filled in.
        faults: what is known to be wrong with it so far.
        preset_is_known: whether what is missing is the file's own fault.

    Raises:
        ScenarioFaults: with everything that is wrong with the file as it is written.
    """
    try:
        read = model.model_validate(values)
    except ValidationError as error:
        found = error.errors(include_url=False)
        below = {details["loc"][:-1] for details in found}
        for details in found:
            if details["type"] == "too_short" and details["loc"] in below:
                continue  # but for its faulty items the list would have been long enough
            if preset_is_known or details["type"] not in _FROM_A_PRESET:
                place = Place.at(model, details["loc"], values)
                _note(model, place, details, faults)
        faults.raise_if_any()
        raise  # unreachable: what is not noted hangs on a preset that is
    faults.raise_if_any()
    return read


def _note(root: type[BaseModel], place: Place, details: Any, faults: FaultCollector) -> None:
    """Notes what pydantic found at a place, in the words of the file."""
    kind = details["type"]
    meaning = place.meaning
    got: object = details["input"]
    if kind == REFUSED:
        allowed = details["ctx"]["allowed"]
    elif kind == "missing":
        got, allowed = NOTHING, place.allowed
    elif kind == "extra_forbidden":
        key = str(place.path[-1])
        now = _renamed(place.owner, key)
        if now is None:
            allowed, meaning = _known_keys(root, place, got), ""
            got = Verbatim(f"the unknown key {show_value(key)}")
        else:
            allowed = f"{now[0].key}, its name from version {now[0].since} on"
            allowed += f"; {now[0].remark}" if now[0].remark else ""
            meaning = meaning_of(now[1])
            got = Verbatim(f"{key}, a key of version 0.1")
    elif kind == "union_tag_not_found":
        place = Place((*place.path, "kind"), place.owner, place.annotation, "")
        got, allowed = NOTHING, _kinds(place.annotation)
    elif kind == "union_tag_invalid":
        got = _kind_written(details["input"])
        place = Place((*place.path, "kind"), place.owner, place.annotation, "")
        allowed = _kinds(place.annotation, got if isinstance(got, str) else None)
    elif kind in ("tuple_type", "list_type", "too_short") or shorthand_of(place.annotation):
        allowed = place.allowed
        if isinstance(got, Mapping) and models_of(item_of(place.annotation)):
            keys = (step for step in place.path if isinstance(step, str))
            allowed += f"; each begins with [[{'.'.join(keys)}]]"
    else:
        allowed = _SHAPES.get(kind, details["msg"])
    faults.add(place.path, got, allowed, meaning)


_SHAPES = {
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "string_type": "a text",
    "invalid_key": "keys that are texts",
}


def _kind_written(value: object) -> object:
    if isinstance(value, Mapping):
        return value.get("kind")
    return getattr(value, "kind", value)


class Place:
    """Where an error is: the path in the file, and the parameter that stands there."""

    def __init__(self, path: Path, owner: type[BaseModel] | None, annotation: Any, meaning: str):
        self.path = path
        self.owner = owner
        self.annotation = annotation
        self.meaning = meaning

    @classmethod
    def at(
        cls, root: type[BaseModel], location: tuple[str | int, ...], values: Mapping[str, Any]
    ) -> Place:
        """Follows a validation error's location, which also names the kinds of tagged tables.

        Where a file that holds `values` has a leaf for a table, its error is the leaf's own.
        """
        here: Any = values
        path: list[str | int] = []
        annotation: Any = root
        owner: type[BaseModel] | None = None
        meaning = ""
        for step in location:
            if (
                shorthand_of(annotation)
                and len(models_of(annotation)) == 1
                and path
                and not isinstance(here, Mapping)
            ):
                break
            shapes = by_tag(annotation)
            if step in shapes:
                annotation = shapes[step]
                continue
            models = models_of(annotation)
            chosen = [m for m in models if len(models) > 1 and kind_of(m) == step]
            if chosen and shorthand_of(annotation) and not isinstance(here, Mapping):
                break
            if chosen:
                annotation = chosen[0]
                continue
            path.append(step)
            here = _item_at(here, step)
            if isinstance(step, int):
                annotation = item_of(annotation)
                continue
            owner = models[0] if models else None
            found = field_named(owner, step) if owner else None
            annotation = annotated(found) if found else None
            meaning = meaning_of(found) if found else ""
        return cls(tuple(path), owner, annotation, meaning)

    @property
    def allowed(self) -> str:
        """What may stand here, in words."""
        value_type = value_type_of(self.annotation)
        if value_type is not None:
            return value_type.allowed
        models = models_of(self.annotation)
        if len(models) > 1:
            short = shorthand_of(self.annotation)
            table = f"a table with kind = {_kinds(self.annotation)}"
            return f"{short.allowed}, or {table}" if short else table
        if models:
            required = [key for key, f in keys_of(models[0]).items() if f.is_required()]
            return "a table" + (f" with {', '.join(required)}" if required else "")
        return list_allowed(self.annotation)


def _item_at(table: Any, key: str | int) -> Any:
    try:
        return table[key]
    except (KeyError, IndexError, TypeError):
        return None


def _kinds(annotation: Any, got: str | None = None) -> str:
    """The kinds that a tagged table may have."""
    kinds = [k for k in (kind_of(model) for model in models_of(annotation)) if k]
    return " or ".join(f'"{k}"' for k in kinds) + did_you_mean(got, kinds)


def _renamed(owner: type[BaseModel] | None, key: str) -> tuple[Renamed, FieldInfo] | None:
    """What a key of version 0.1 is called now, where its table has that."""
    now = RENAMED.get(key)
    found = field_named(owner, now.key.split(".")[0]) if owner and now else None
    return (now, found) if now and found else None


def _known_keys(root: type[BaseModel], place: Place, got: object) -> str:
    known = list(keys_of(place.owner)) if place.owner else []
    if place.owner is root:
        known = ["preset", *known]
    return ", ".join(known) + _meant(root, place, known, got)


def _meant(root: type[BaseModel], place: Place, known: list[str], got: object) -> str:
    """The end of a sentence about an unknown key: what it most likely stands for; or empty."""
    key = str(place.path[-1])
    ours = ours_of(key)
    for name in ours:
        table, _, inner = name.rpartition(".")
        found = field_named(place.owner, table or name) if place.owner else None
        if found and table:
            kinds = [kind_of(m) for m in models_of(annotated(found)) if field_named(m, inner)]
            shown = " or ".join(show_value(kind) for kind in kinds)
            return f"; did you mean {name}, with kind = {shown}?"
        if found and (_is_tables(got) or not takes_tables_only(annotated(found))):
            return f"; did you mean {name}?"
    is_key = False
    for name in (*ours, key):
        having = _having(root, name)
        reported = _elsewhere(having, got)
        if reported:
            return f"; {'it' if name == key else name} {reported}"
        is_key |= bool(having)
    near = nearest(key, known)
    # A key of other tables is no misspelling, unless of what it begins.
    return f"; did you mean {near}?" if near and (not is_key or near.startswith(key)) else ""


def _is_tables(got: object) -> bool:
    return isinstance(got, Mapping | list)


def _having(root: type[BaseModel], key: str) -> Mapping[str, Key]:
    """The tables of a form that have a key, by their heading."""
    return _keys_by_name(root).get(key, {})


@cache
def _keys_by_name(root: type[BaseModel]) -> dict[str, dict[str, Key]]:
    found: dict[str, dict[str, Key]] = {}
    for table in tables(root):
        for known in table.keys:
            found.setdefault(known.name, {})[table.heading] = known
    return found


def _elsewhere(having: Mapping[str, Key], got: object) -> str:
    """Where a key belongs that is of the top or of a single other table; else empty.

    Where a value stands, a table of the top is not meant if others have such a key.
    """
    top = having.get("")
    if top and (len(having) == 1 or _is_tables(got) or not top.is_table):
        return "belongs at the top of the file, before the first table"
    return f"is a key of [{next(iter(having))}]" if len(having) == 1 else ""
