"""The form of a file as its classes declare it: tables, kinds, lists, and what may stand there."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, Tag
from pydantic.fields import FieldInfo

from skycell.input.faults import Path
from skycell.input.parameters import ValueType, When, meaning_of


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


def meaning_at(file: BaseModel, path: Path) -> str:
    """Returns the meaning of the last declared key on a path; empty if the path has none.

    Args:
        file: the file as its form has read it.
        path: keys and list indices.
    """
    here: Any = file
    meaning = ""
    for step in path:
        if isinstance(here, tuple) and isinstance(step, int):
            here = here[step] if step < len(here) else None
            continue
        fields = _fields_of(here)
        names = {found.alias or name: name for name, found in fields.items()}
        if step not in names:
            break
        name = names[str(step)]
        meaning = meaning_of(fields[name])
        here = getattr(here, name) if isinstance(here, BaseModel) else None
        if here is None:  # not in the file; its form says its keys
            models = models_of(annotated(fields[name]))
            here = models[0] if len(models) == 1 else None
    return meaning


def _fields_of(table: Any) -> dict[str, FieldInfo]:
    """Returns the parameters of a table, or of the form of a table."""
    form = table if isinstance(table, type) else type(table)
    return form.model_fields if issubclass(form, BaseModel) else {}


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


def by_tag(annotation: Any) -> dict[str, Any]:
    """The annotations between which the shape of a value decides: a table, or a list of tables.

    Empty where there is one annotation.
    """
    metadata = getattr(annotation, "__metadata__", ())
    if not any(isinstance(part, Discriminator) for part in metadata):
        return {}
    found = {}
    for member in get_args(get_args(annotation)[0]):
        inner, *parts = get_args(member)
        tag = next(part.tag for part in parts if isinstance(part, Tag))
        rest = [part for part in parts if not isinstance(part, Tag)]
        found[tag] = Annotated[(inner, *rest)] if rest else inner
    return found


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
    """The leaf that may stand for a table, such as a time for a constant one."""
    if get_origin(annotation) is tuple:
        return None
    for member in (annotation, *get_args(annotation)):
        for metadata in getattr(member, "__metadata__", ()):
            value_type = value_type_of(getattr(metadata, "json_schema_input_type", None))
            if value_type is not None:
                return value_type
    return None


def takes_tables_only(annotation: Any) -> bool:
    """Whether a parameter takes a table or a list of tables, and no word or value for one."""
    models = models_of(annotation)
    # A kind may stand for its table, but not in a list.
    is_table = bool(models) and not any(kind_of(model) for model in models)
    are_tables = not models and bool(models_of(item_of(annotation)))
    return (
        value_type_of(annotation) is None and (is_table or are_tables) and not words_of(annotation)
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
    short = shorthand_of(item)
    if short is not None:
        return f"a list, each {short.allowed}, or a table"
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
