"""Python's classes of what Rust declares: the spec of a run, and the rules as files write them.

`crates/spec/src/bin/declarations.rs` says what there is; `tools/generate.py` writes it down.
"""

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

_MARK = "Written by `make generate` from the declarations in Rust; change those, not this file."
_WIDTH = 93

#: Hand-written methods of generated classes, in `skycell.spec.methods`.
METHODS = {"NetworkSpec": "NetworkMethods", "PortSpec": "PortMethods"}


def parts_module(declared: Json) -> str:
    """`skycell.spec.parts`: a class for every part of a spec that holds none with methods."""
    above = _with_methods(declared)
    own = [item for item in declared["spec"] if item["name"] not in above]
    doc = "Parts of a run's spec as in Rust, whose documentation says what each field means."
    return _spec_module(doc, declared, own, ())


def spec_module(declared: Json) -> str:
    """`skycell.spec.network`: the classes with methods or that hold these, beside all the parts."""
    above = _with_methods(declared)
    own = [item for item in declared["spec"] if item["name"] in above]
    parts = sorted(_names(item for item in declared["spec"] if item["name"] not in above))
    imports = [
        f"from skycell.spec.methods import {', '.join(sorted(METHODS.values()))}",
        f"from skycell.spec.parts import {', '.join(parts)}",
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


def _names(items: Iterable[Json]) -> set[str]:
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
        f'{_MARK}\n"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Annotated, Literal",
        "",
        "from pydantic import Field",
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
    for item in items:
        name, shape = item["name"], item["shape"]
        if "fields" in shape:
            if name in own and name not in tags:
                lines += _class(name, item["doc"], shape["fields"])
            else:
                lines += _class(name, item["doc"], shape["fields"], tags.get(name))
        elif "words" in shape:
            words = ", ".join(json.dumps(word["word"]) for word in shape["words"])
            lines += ["", f"{name} = Literal[{words}]"]
        else:
            lines += _tagged(item, tags)
    return "\n".join(lines) + "\n"


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
    yield f'{item["name"]} = Annotated[{" | ".join(names)}, Field(discriminator="kind")]'


def _class(
    name: str, doc: str, fields: Iterable[Json], kind: str | None = None, base: str = "SpecPart"
) -> Iterator[str]:
    bases = f"{METHODS[name]}, {base}" if name in METHODS else base
    yield ""
    yield ""
    yield f"class {name}({bases}):"
    yield from _docstring(first_paragraph(doc))
    if kind is not None:
        yield f'    kind: Literal["{kind}"] = "{kind}"'
    for field in fields:
        yield f"    {_field(field)}"


def _field(field: Json) -> str:
    key, form = field["name"], _type(field["type"])
    name = f"{key}_" if keyword.iskeyword(key) else key
    alias = f'alias="{key}"' if name != key else ""
    if field["fixed"] is not None:
        return f"{name}: Literal[{field['fixed']!r}] = {field['fixed']!r}"
    if field["is_left_out"]:
        return f"{name}: {form} = left_out({_default(field)})"
    default = "None" if _is_optional(field) else "()" if _is_list(field) else ""
    if alias:
        inner = f"default={default}, {alias}" if default else alias
        return f"{name}: {form} = Field({inner})"
    return f"{name}: {form} = {default}" if default else f"{name}: {form}"


def _default(field: Json) -> str:
    """The default of a type, a table's as an instance of its class."""
    default = field["default"]
    if isinstance(default, dict):
        values = ", ".join(f"{key}={value!r}" for key, value in default.items())
        return f"{_type(field['type'])}({values})"
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


def rules_module(family: str, noun: str, declared: Json) -> str:
    """`skycell.scenario.declared.<family>`: each rule as a file writes it, and how it resolves."""
    items = {item["name"]: item for item in (*declared["spec"], *declared["other"])}
    rules = [(kind, items[of["named"]]) for kind, of in declared["rules"][family]]
    classes, entries, types, specs, names = [], [], set(), set(), []
    for kind, item in rules:
        parameters = list(_parameters(item, items))
        name = _pascal(kind)
        names.append((kind, name, all(not is_required(p) for _, p in parameters if p["key"])))
        written = [(field, _with_words(p, items)) for field, p in parameters]
        classes += _rule_class(name, kind, item, written, noun)
        types |= {
            p["type"]
            for _, p in parameters
            if p["key"] and _python_type(p) != "Flag" and _words_of(p, items) is None
        }
        target = f"{_pascal(item['facts'].get('written_for', kind))}Spec"
        specs.add(target)
        specs |= {f["type"]["named"] for f in item["shape"]["fields"] if f["param"]["type"] is None}
        entries += _entry(kind, name, target, item, items)
    union = " | ".join(name for _, name, _ in names)
    short = ", ".join(f'"{kind}"' for kind, _, is_short in names if is_short)
    heading = family.capitalize().replace("_", " ")
    alias = _pascal(noun.replace(" ", "_"))
    return (
        "\n".join(
            [
                f'"""{heading} of a port as a scenario file writes them.',
                "",
                f'{_MARK}\n"""',
                "",
                "from __future__ import annotations",
                "",
                "from typing import Annotated, Literal",
                "",
                "from pydantic import BeforeValidator, Field",
                "",
                "from skycell.scenario.values.parameter_types import "
                + ", ".join(sorted({*types, *_flags(rules, items)})),
                "from skycell.input.parameters import Parameters, param, when, without, word",
                "from skycell.scenario.declared.rules import "
                + ", ".join(("Declared", "Declares", "Part", "kind_by_name")),
                f"from skycell.spec.network import {', '.join(sorted(specs))}",
                "",
                *classes,
                "",
                "",
                f"_Any = {union}",
                "#: Those that need no more than their name.",
                f"_Names = Literal[{short}]",
                f"{alias} = Annotated[",
                '    Annotated[_Any, Field(discriminator="kind")],',
                "    BeforeValidator(kind_by_name, json_schema_input_type=_Any | _Names),",
                "]",
                "",
                f"{family.upper()}: dict[str, Declared] = {{",
                *entries,
                "}",
                f'"""What each {noun} declares, by its kind."""',
            ]
        )
        + "\n"
    )


def table_module(name: str, declared: Json) -> str:
    """`skycell.scenario.declared.<name>`: a table of which there is one kind, such as [tcp]."""
    items = {item["name"]: item for item in declared["spec"]}
    item = items[declared["tables"][name]["named"]]
    table = "".join(part.capitalize() for part in name.split("_"))
    rules: list[str] = []
    types: set[str] = set()
    specs = {item["name"]}
    entries = []
    for field, parameter in _parameters(item, items):
        family = items.get(parameter["type"], {"shape": {}})
        if not _is_family(family):
            entries.append(f"{_declares(field, items)},")
            continue
        rules += _family(parameter, family, items, types)
        specs |= {kind["of"]["named"] for kind in kinds(family)}
        entries.append(
            f'Kinds("{field["name"]}", "{parameter["key"]}", {parameter["key"].upper()}),'
        )
    lines = [*rules, "", "", f"class {table}(Parameters):"]
    lines += _docstring(first_paragraph(item["doc"]))
    lines += _typed_parameters(item, items, types)
    return (
        "\n".join(
            [
                f'"""The table [{name}] as a scenario file writes it.',
                "",
                f'{_MARK}\n"""',
                "",
                "from __future__ import annotations",
                "",
                "from typing import Annotated, Literal",
                "",
                "from pydantic import BeforeValidator, Field",
                "",
                "from skycell.input.parameters import Parameters, param, when, without, word",
                "from skycell.scenario.declared.rules import "
                + ", ".join(("Declared", "Declares", "Kinds", "Table", "kind_or")),
                f"from skycell.scenario.values.{name}_types import {', '.join(sorted(types))}",
                f"from skycell.spec.network import {', '.join(sorted(specs))}",
                *lines,
                "",
                "",
                f"{name.upper()} = Table({table}, {item['name']}, (",
                *entries,
                "))",
            ]
        )
        + "\n"
    )


def _family(
    parameter: Json, family: Json, items: Mapping[str, Json], types: set[str]
) -> Iterator[str]:
    """The rules of a parameter: their classes, their union, and how they resolve."""
    key, default = parameter["key"], parameter["default"]
    rules = [(kind["kind"], items[kind["of"]["named"]]) for kind in kinds(family)]
    names = [item["name"].removesuffix("Spec") for _, item in rules]
    for (kind, item), name in zip(rules, names, strict=True):
        yield from ("", "", f"class {name}(Parameters):")
        yield from _docstring(first_paragraph(item["doc"]))
        yield f'    kind: Literal["{kind}"] = param(..., "the {key.replace("_", " ")} rule")'
        yield from _typed_parameters(item, items, types)
    pascal = _pascal(key)
    words = ", ".join(f'"{kind}"' for kind, _ in rules)
    yield from (
        "",
        "",
        f"_Any{pascal} = {' | '.join(names)}",
        f"{pascal} = Annotated[",
        f'    Annotated[_Any{pascal}, Field(discriminator="kind")],',
        "    BeforeValidator(",
        f'        kind_or("{default}"),',
        f"        json_schema_input_type=_Any{pascal} | Literal[{words}],",
        "    ),",
        "]",
        f"{key.upper()}: dict[str, Declared] = {{",
    )
    for (kind, item), name in zip(rules, names, strict=True):
        inner = "".join(f"{_declares(field, items)}," for field in item["shape"]["fields"])
        yield f'    "{kind}": Declared({name}, {item["name"]}, ({inner})),'
    yield "}"


def _is_family(family: Json) -> bool:
    """Whether a type is one of several rules, told apart by their kind."""
    return any(kind["of"] for kind in family["shape"].get("kinds", ()))


def _typed_parameters(item: Json, items: Mapping[str, Json], types: set[str]) -> Iterator[str]:
    """The parameters of a table, their words in their place; other types are added to `types`."""
    for field, parameter in _parameters(item, items):
        if not parameter["key"]:
            continue
        family = items.get(parameter["type"], {"shape": {}})
        typed = _with_words(parameter, items)
        if typed is parameter and _is_family(family):
            typed = {**parameter, "type": _pascal(parameter["key"])}
        elif typed is parameter:
            types.add(parameter["type"])
        yield from _parameter(field, typed)


def _words_of(parameter: Json, items: Mapping[str, Json]) -> list[Any] | None:
    """The words that a parameter may be; none for one of another type."""
    item = items.get(parameter["type"])
    words: list[Any] | None = item["shape"].get("words") if item else None
    return words


def _with_words(parameter: Json, items: Mapping[str, Json]) -> Json:
    """The parameter, of which one of some words is typed by these."""
    words = _words_of(parameter, items)
    if words is None:
        return parameter
    reported = ", ".join(json.dumps(word["written"] or word["word"]) for word in words)
    return {**parameter, "type": f"Annotated[str, word({reported})]"}


def _flags(rules: Iterable[tuple[str, Json]], items: Mapping[str, Json]) -> set[str]:
    flags = {p["type"] for _, item in rules for _, p in _parameters(item, items) if p["key"]}
    return flags & {"Flag"}


def _python_type(parameter: Json) -> str:
    return str(parameter["type"])


def _pascal(kind: str) -> str:
    return "".join(part.capitalize() for part in kind.split("_"))


def is_required(parameter: Json) -> bool:
    """Whether a file has to say it."""
    return parameter["default"] is None and not parameter["is_optional"]


def _parameters(item: Json, items: Mapping[str, Json]) -> Iterator[tuple[Json, Json]]:
    """The parameters of a rule with their fields, those of its parts in their place."""
    for field in item["shape"]["fields"]:
        if field["param"]["type"] is None:
            yield from _parameters(items[field["type"]["named"]], items)
        else:
            yield field, field["param"]


def _rule_class(
    name: str, kind: str, item: Json, parameters: Iterable[tuple[Json, Json]], noun: str
) -> Iterator[str]:
    yield ""
    yield ""
    yield f"class {name}(Parameters):"
    yield from _docstring(first_paragraph(item["doc"]))
    yield f'    kind: Literal["{kind}"] = param(..., "the {noun}")'
    for field, parameter in parameters:
        if parameter["key"]:
            yield from _parameter(field, parameter)


def _parameter(field: Json, parameter: Json) -> Iterator[str]:
    default = "..." if is_required(parameter) else repr(parameter["default"])
    form = parameter["type"]
    if parameter["is_list"]:
        form = f"Annotated[tuple[{form}, ...], Field(min_length=1)]"
    if parameter["is_optional"]:
        form = f"{form} | None"
    meaning = meaning_of(field["doc"])
    yield f"    {parameter['key']}: {form} = param("
    yield f"        {default},"
    yield f"        {_text(meaning)},"
    for key in ("symbol", "source"):
        if parameter[key] is not None:
            yield f"        {key}={_text(parameter[key])},"
    if parameter["when"] is not None:
        yield f"        when={_when(parameter['when'])},"
    yield "    )"


def _when(effect: Json) -> str:
    """What gives a parameter an effect: values of another key, or that this is not given."""
    parts = (effect["key"], *effect["values"])
    reported = ", ".join(_quoted(one) if isinstance(one, str) else repr(one) for one in parts)
    return f"when({reported})" if effect["values"] else f"without({reported})"


def _entry(
    kind: str, name: str, target: str, item: Json, items: Mapping[str, Json]
) -> Iterator[str]:
    yield f'    "{kind}": Declared('
    yield f"        {name},"
    yield f"        {target},"
    yield "        ("
    for field in item["shape"]["fields"]:
        yield f"            {_declares(field, items)},"
    yield "        ),"
    facts = {key: value for key, value in item["facts"].items() if key != "written_for"}
    yield "        facts={"
    for key, value in facts.items():
        reported = _text(value) if isinstance(value, str) else repr(value)
        yield f"            {json.dumps(key)}: {reported},"
    yield "        },"
    yield "    ),"


def _declares(field: Json, items: Mapping[str, Json]) -> str:
    parameter = field["param"]
    if parameter["type"] is None:
        name = field["type"]["named"]
        inner = "".join(f"{_declares(own, items)}," for own in items[name]["shape"]["fields"])
        return f'Part("{field["name"]}", {name}, ({inner}))'
    reported = [f'"{field["name"]}"', _quoted(parameter["key"]), f'"{parameter["type"]}"']
    relation = parameter["relation"]
    if relation is not None:
        reported.append(f'{"at_most" if relation["may_equal"] else "below"}="{relation["field"]}"')
    words = _words_of(parameter, items)
    if words is not None:
        reported[2] = '"word"'
        other = {word["written"]: word["word"] for word in words if word["written"]}
        reported += [f"words={other!r}"] if other else []
    reported += [f"{flag}=True" for flag in ("is_list", "is_ascending") if parameter[flag]]
    return f"Declares({', '.join(reported)})"


def _quoted(text: str | None) -> str:
    return "None" if text is None else json.dumps(text, ensure_ascii=False)


def plain(doc: str) -> str:
    """Documentation without what only Rust's pages can show.

    >>> plain("See [`Dfba`]; MCRs are given in `[[gfr]]`.")
    'See `Dfba`; MCRs are given in [[gfr]].'
    """
    return re.sub(r"\[(`[^`]*`)\](?:\([^)]*\))?", r"\1", doc).replace("`[[gfr]]`", "[[gfr]]")


def first_paragraph(doc: str) -> str:
    """The first paragraph as one line."""
    return " ".join(plain(doc).split("\n\n")[0].split())


def meaning_of(doc: str) -> str:
    r"""A field's documentation as the meaning of a parameter: no full stop, no capital.

    >>> meaning_of("Occupancy above which\nEPD discards.")
    'occupancy above which EPD discards'
    >>> meaning_of("RTT samples of both."), meaning_of("NewReno: cwnd.")
    ('RTT samples of both', 'NewReno: cwnd')
    """
    text = first_paragraph(doc).removesuffix(".")
    first = text.split()[0]
    is_word = len(first) == 1 or first[1:].islower()
    return text[0].lower() + text[1:] if is_word else text


def _docstring(text: str) -> Iterator[str]:
    paragraphs = [_wrapped(paragraph) for paragraph in text.split("\n\n")]
    lines = "\n\n".join(paragraphs).split("\n")
    if len(lines) == 1 and len(lines[0]) <= _WIDTH - 3:
        yield f'    """{lines[0]}"""'
        return
    lead, *rest = lines  # a closing mark has no room beside the longest
    yield f'    """{lead}'
    yield from (f"    {line}" if line else "" for line in rest)
    yield '    """'


def _wrapped(text: str) -> str:
    from textwrap import fill

    return fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _text(text: str) -> str:
    """A literal, in parts of a line each."""
    if len(text) < 78:
        return json.dumps(text, ensure_ascii=False)
    from textwrap import wrap

    parts = wrap(text, 76, drop_whitespace=False, break_long_words=False, break_on_hyphens=False)
    return "(" + "\n".join(json.dumps(part, ensure_ascii=False) for part in parts) + ")"
