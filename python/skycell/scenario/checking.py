"""From plain data to a model, or to faults in the words of the file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from skycell.scenario.faults import (
    NOTHING,
    FaultCollector,
    Path,
    Verbatim,
    did_you_mean,
    show_value,
)
from skycell.scenario.other_names import ours_of
from skycell.scenario.parameters import REFUSED, ValueType, When, meaning_of
from skycell.scenario.spelling import nearest

if TYPE_CHECKING:
    from skycell.scenario.documentation import Key

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
        allowed, meaning = _known_keys(root, place, got), ""
        got = Verbatim(f"the unknown key {show_value(str(place.path[-1]))}")
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
            models = models_of(annotation)
            chosen = [m for m in models if len(models) > 1 and kind_of(m) == step]
            if chosen and shorthand_of(annotation) and isinstance(here, str):
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
    from skycell.scenario.documentation import tables

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


def annotated(found: FieldInfo) -> Any:
    """A field's annotation with the metadata of its type put back."""
    metadata = [part for part in found.metadata if not isinstance(part, When)]
    return Annotated[(found.annotation, *metadata)] if metadata else found.annotation


def keys_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The parameters of a table, by their key in the file."""
    return {found.alias or name: found for name, found in model.model_fields.items()}


def field_named(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The parameter with a given key."""
    return keys_of(model).get(key)


def kind_of(model: type[BaseModel]) -> str | None:
    """The `kind` that a tagged table must have."""
    found = model.model_fields.get("kind")
    words = get_args(found.annotation) if found else ()
    return str(words[0]) if words else None


def models_of(annotation: Any) -> list[type[BaseModel]]:
    """The tables that an annotation admits."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    origin = get_origin(annotation)
    if origin is Annotated:
        return models_of(get_args(annotation)[0])
    if origin is Union or type(annotation).__name__ == "UnionType":
        return [model for member in get_args(annotation) for model in models_of(member)]
    return []


def value_type_of(annotation: Any) -> ValueType | None:
    """The leaf type of a parameter, if it is one."""
    if get_origin(annotation) is tuple:
        return None
    for member in (annotation, *get_args(annotation)):
        for metadata in getattr(member, "__metadata__", ()):
            if isinstance(metadata, ValueType):
                return metadata
    return None


def shorthand_of(annotation: Any) -> ValueType | None:
    """The leaf that may stand for a table of several kinds, such as a time for a constant one."""
    for metadata in getattr(annotation, "__metadata__", ()):
        value_type = value_type_of(getattr(metadata, "json_schema_input_type", None))
        if value_type is not None:
            return value_type
    return None


def takes_tables_only(annotation: Any) -> bool:
    """Whether a parameter takes a table or a list of tables, and no word or value for one."""
    models = models_of(annotation) or models_of(item_of(annotation))
    return (
        value_type_of(annotation) is None
        and bool(models)
        and not any(kind_of(model) for model in models)
        and not words_of(annotation)
    )


def words_of(annotation: Any) -> list[str]:
    """The words that may stand for a table of one kind, such as `off` for none."""
    if len(models_of(annotation)) != 1:
        return []
    written = (
        getattr(metadata, "json_schema_input_type", None)
        for metadata in getattr(annotation, "__metadata__", ())
    )
    forms = (form for union in written for form in get_args(union))
    return [word for form in forms if get_origin(form) is Literal for word in get_args(form)]


def list_allowed(annotation: Any) -> str:
    """What a list may hold, in words."""
    item = item_of(annotation)
    value_type = value_type_of(item)
    if value_type is not None:
        least = " of at least one" if _needs_one(annotation) else ""
        return f"a list{least}, each {value_type.allowed}"
    return "a list of tables" if models_of(item) else "a list of texts"


def _needs_one(annotation: Any) -> bool:
    """Whether a list may not be empty."""
    metadata = getattr(annotation, "__metadata__", ())
    return any(getattr(part, "min_length", None) for part in metadata)


def item_of(annotation: Any) -> Any:
    """The annotation of a list's items."""
    if get_origin(annotation) is Annotated:
        return item_of(get_args(annotation)[0])
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0]
    for member in get_args(annotation):
        if get_origin(member) is tuple:
            return get_args(member)[0]
    return None
