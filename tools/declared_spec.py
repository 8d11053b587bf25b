"""Python's classes of the spec of a run, as Rust declares it.

`crates/records/src/bin/declarations.rs` says what there is; `tools/generate.py` writes it down.
"""

import json
import keyword
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from declared_text import MARK, Json, docstring, first_paragraph, meaning_of

#: Hand-written methods of generated classes, in `skycell.spec.methods`.
METHODS = {"NetworkSpec": "NetworkMethods", "PortSpec": "PortMethods"}


def parts_module(declared: Json) -> str:
    """`skycell.spec.declared.parts`: a class for every part that holds none with methods."""
    above = _with_methods(declared)
    own = [item for item in declared["spec"] if item["name"] not in above]
    doc = "Parts of a run's spec as in Rust, whose documentation says what each field means."
    return _spec_module(doc, declared, own, ())


def spec_module(declared: Json) -> str:
    """`skycell.spec.declared.network`: classes with methods, or that hold these, and all parts."""
    above = _with_methods(declared)
    own = [item for item in declared["spec"] if item["name"] in above]
    parts = sorted(class_names(item for item in declared["spec"] if item["name"] not in above))
    imports = [
        f"from skycell.spec.methods import {', '.join(sorted(METHODS.values()))}",
        f"from skycell.spec.declared.parts import {', '.join(parts)}",
    ]
    doc = "A run's spec, field by field as in Rust, whose documentation says what each means."
    text = _spec_module(doc, declared, own, imports)
    return f"{text}\n\n__all__ = {sorted([*parts, *above])}\n"


def _with_methods(declared: Json) -> set[str]:
    """Classes that have methods or hold such a class, however deep."""
    found = set(METHODS)
    holders = {item["name"]: set(_held(item["shape"])) for item in declared["spec"]}
    while more := {name for name, held in holders.items() if held & found} - found:
        found |= more
    return found


def _held(shape: Any) -> Iterator[str]:
    """The types that a shape names, at any depth."""
    if isinstance(shape, Mapping):
        if isinstance(shape.get("named"), str):
            yield shape["named"]
        for inner in shape.values():
            yield from _held(inner)
    elif isinstance(shape, list):
        for inner in shape:
            yield from _held(inner)


def class_names(items: Iterable[Json]) -> set[str]:
    """Names of types, and of the classes of their kinds."""
    found = set()
    for item in items:
        found.add(str(item["name"]))
        if "kinds" in item["shape"]:
            found |= {_class_of(kind, item["name"]) for kind in kinds(item)}
    return found


def _spec_module(doc: str, declared: Json, items: Iterable[Json], imports: Iterable[str]) -> str:
    tagged = {item["name"]: kinds(item) for item in declared["spec"] if "kinds" in item["shape"]}
    own = {kind["of"]["named"] for found in tagged.values() for kind in found if kind["of"]}
    lines = [
        f'"""{doc}',
        "",
        f'{MARK}\n"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import ClassVar, Literal",
        "",
        "from msgspec import field",
        "",
        *imports,
        "from skycell.spec.part import U32, U64, SpecPart, left_out",
        "",
    ]
    tags = {
        kind["of"]["named"]: kind["kind"]
        for found in tagged.values()
        for kind in found
        if kind["of"] and _class_of(kind, "") == kind["of"]["named"]
    }
    of_kind = {
        (name, kind["kind"]): _class_of(kind, name)
        for name, found in tagged.items()
        for kind in found
    }
    for item in items:
        name, shape = item["name"], item["shape"]
        if "fields" in shape:
            fields = [_with_default_class(field, of_kind) for field in shape["fields"]]
            if name in own and name not in tags:
                lines += _class(name, item["doc"], fields)
            else:
                lines += _class(name, item["doc"], fields, tags.get(name))
        elif "words" in shape:
            words = ", ".join(json.dumps(word["word"]) for word in shape["words"])
            lines += ["", f"{name} = Literal[{words}]"]
        else:
            lines += _tagged(item, tags)
    return "\n".join(lines) + "\n"


def _with_default_class(field: Json, of_kind: Mapping[tuple[str, str], str]) -> Json:
    """A field, whose default says the class of its kind if it is of one."""
    default = field["default"]
    if not (field["is_left_out"] and isinstance(default, dict) and "kind" in default):
        return field
    own = {key: value for key, value in default.items() if key != "kind"}
    return {**field, "default": own, "class": of_kind[_type(field["type"]), default["kind"]]}


def kinds(item: Json) -> list[Any]:
    """The kinds of a type that is one of several tables."""
    found: list[Any] = item["shape"]["kinds"]
    return found


def _class_of(kind: Json, family: str) -> str:
    """The class of one kind: its type if that is a spec, or after the variant and the family."""
    if not kind["of"]:
        return f"{family.removesuffix('Spec')}{kind['variant']}"
    name: str = kind["of"]["named"]
    return name if name.endswith("Spec") else f"{kind['variant']}Spec"


def _tagged(item: Json, tags: Mapping[str, str]) -> Iterator[str]:
    names = []
    for kind in kinds(item):
        name = _class_of(kind, item["name"])
        names.append(name)
        if not kind["of"]:
            yield from _class(name, kind["doc"], kind["fields"], kind["kind"])
        elif kind["of"]["named"] not in tags:
            doc = f"`{kind['of']['named']}`, as a kind."
            yield from _class(name, doc, [], kind["kind"], base=kind["of"]["named"])
    yield ""
    yield ""
    yield f"{item['name']} = {' | '.join(names)}"


def _class(
    name: str, doc: str, fields: Iterable[Json], kind: str | None = None, base: str = "SpecPart"
) -> Iterator[str]:
    bases = f"{METHODS[name]}, {base}" if name in METHODS else base
    yield ""
    yield ""
    yield f"class {name}({bases}):"
    yield from docstring(first_paragraph(doc))
    if kind is not None:
        yield f'    kind: ClassVar[Literal["{kind}"]] = "{kind}"'
    for field in fields:
        yield f"    {_field(field)}"


def _field(field: Json) -> str:
    key, form = field["name"], _type(field["type"])
    name = f"{key}_" if keyword.iskeyword(key) else key
    if field["fixed"] is not None:
        return f"{name}: Literal[{field['fixed']!r}] = {field['fixed']!r}"
    if field["is_left_out"]:
        return f"{name}: {form} = left_out(default={_default(field)})"
    default = "None" if _is_optional(field) else "()" if _is_list(field) else ""
    if name != key:
        return f'{name}: {form} = field(name="{key}"{f", default={default}" if default else ""})'
    return f"{name}: {form} = {default}" if default else f"{name}: {form}"


def _default(field: Json) -> str:
    """The default of a type, a table's as an instance of its class."""
    default = field["default"]
    if isinstance(default, dict):
        values = ", ".join(f"{key}={value!r}" for key, value in default.items())
        return f"{field.get('class', _type(field['type']))}({values})"
    return repr(tuple(default) if isinstance(default, list) else default)


def _is_optional(field: Json) -> bool:
    return isinstance(field["type"], dict) and "optional" in field["type"]


def _is_list(field: Json) -> bool:
    return isinstance(field["type"], dict) and "list" in field["type"]


_PLAIN = {"u32": "U32", "u64": "U64", "f64": "float", "bool": "bool", "text": "str"}


def _type(form: Any) -> str:
    if isinstance(form, str):
        return _PLAIN[form]
    ((what, inner),) = form.items()
    if what == "optional":
        return f"{_type(inner)} | None"
    if what == "list":
        return f"tuple[{_type(inner)}, ...]"
    return str(inner)


def traces_module(declared: Json) -> str:
    """`skycell.spec.declared.traces`: the traces that a run can keep, with their columns."""
    columns = {name: tuple(key for key, _ in own) for name, own in declared["traces"]}
    return "\n".join(
        [
            '"""The traces that a run can keep.',
            "",
            f'{MARK}\n"""',
            "",
            "TRACE_COLUMNS: dict[str, tuple[str, ...]] = {",
            *(f'    "{name}": {own!r},' for name, own in columns.items()),
            "}",
            '"""Columns of each trace; `crates/records/src/traces.rs` says what stands there."""',
            "",
            "TRACES = tuple(TRACE_COLUMNS)",
            "",
        ]
    )


def traces_table(declared: Json) -> str:
    """The traces as Markdown: what a row of each is, and its columns."""
    kinds_ = next(item for item in declared["spec"] if item["name"] == "TraceKind")
    rows = {word["word"]: meaning_of(word["doc"]) for word in kinds_["shape"]["words"]}
    lines = ["| trace | a row is | columns |", "|---|---|---|"]
    for name, columns in declared["traces"]:
        keys = ", ".join(f"`{key}` ({meaning_of(doc)})" for key, doc in columns)
        lines.append(f"| `{name}` | {rows[name]} | {keys} |")
    return "\n".join(lines) + "\n"
