"""Python's classes of the rules that Rust declares, as files write them, and how they resolve."""

import json
import keyword
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from declared_spec import class_names, kinds
from declared_text import MARK, Json, docstring, first_paragraph, literal, meaning_of, quoted
from declared_types import types_imports


def _by_name(alias: str, short: str) -> list[str]:
    """The type of a rule that may be written by its name, if there are such rules."""
    if not short:
        return []
    return [
        "#: Those that need no more than their name.",
        f"_Names = Literal[{short}]",
        f"{alias} = Annotated[",
        f'    Annotated[Any{alias}, Field(discriminator="kind")],',
        f"    BeforeValidator(kind_by_name, json_schema_input_type=Any{alias} | _Names),",
        "]",
    ]


def rules_module(family: str, noun: str, declared: Json) -> str:
    """`skycell.scenario.declared.<family>`: each rule as a file writes it, and how it resolves."""
    items = {item["name"]: item for item in (*declared["spec"], *declared["other"])}
    rules = [
        (kind, {**of["own"], "is_own": True} if "own" in of else items[of["named"]])
        for kind, of in declared["rules"][family]
    ]
    known = class_names(declared["spec"])
    classes, entries, types, specs, names = [], [], set(), set(), []
    for kind, item in rules:
        parameters = list(_parameters(item, items))
        name = _rule_name(kind, item)
        names.append((kind, name, all(not is_required(p) for _, p in parameters if p["key"])))
        for table in _tables(item, items, specs, types):
            classes += [] if table[2] in classes else table
        written = [(field, _with_words(p, items)) for field, p in parameters]
        classes += _rule_class(name, kind, item, written, noun)
        types |= {
            p["type"]
            for _, p in parameters
            if p["key"] and not p["is_table"] and _words_of(p, items) is None
        }
        target = f"{_rule_name(item['facts'].get('written_for', kind), item)}Spec"
        target = item["name"] if item.get("is_own") else target
        if target in known:
            specs.add(target)
        else:
            target = "None"
        specs |= {f["type"]["named"] for f in item["shape"]["fields"] if f["param"]["type"] is None}
        entries += _entry(kind, name, target, item, items)
    union = " | ".join(name for _, name, _ in names)
    short = ", ".join(f'"{kind}"' for kind, _, is_short in names if is_short)
    heading = family.capitalize().replace("_", " ")
    alias = _pascal(noun.replace(" ", "_"))
    return (
        "\n".join(
            [
                f'"""{heading} in a scenario file.',
                "",
                f'{MARK}\n"""',
                "",
                "from __future__ import annotations",
                "",
                "from typing import Annotated, Literal",
                "",
                "from pydantic import BeforeValidator, Field",
                "",
                *types_imports(types, declared),
                "from skycell.input.parameters import Parameters, param, when, without, word",
                "from skycell.scenario.values.rule_specs import "
                + ", ".join(("RuleSpec", "FieldSpec", "SubTable", "Flattened", "kind_by_name")),
                *(
                    [f"from skycell.spec.declared.network import {', '.join(sorted(specs))}"]
                    if specs
                    else []
                ),
                "",
                *classes,
                "",
                "",
                f"Any{alias} = {union}",
                *_by_name(alias, short),
                "",
                f"{family.upper()}: dict[str, RuleSpec] = {{",
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
    table = _pascal(name)
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
            f'Choice("{field["name"]}", "{parameter["key"]}", {parameter["key"].upper()}),'
        )
    lines = [*rules, "", "", f"class {table}(Parameters):"]
    lines += docstring(first_paragraph(item["doc"]))
    lines += _typed_parameters(item, items, types)
    return (
        "\n".join(
            [
                f'"""The table [{name}] as a scenario file writes it.',
                "",
                f'{MARK}\n"""',
                "",
                "from __future__ import annotations",
                "",
                "from typing import Annotated, Literal",
                "",
                "from pydantic import BeforeValidator, Field",
                "",
                "from skycell.input.parameters import Parameters, param, when, without, word",
                "from skycell.scenario.values.rule_specs import "
                + ", ".join(("RuleSpec", "FieldSpec", "Choice", "kind_or")),
                *types_imports(types, declared),
                f"from skycell.spec.declared.network import {', '.join(sorted(specs))}",
                *lines,
                "",
                "",
                f"{name.upper()} = RuleSpec({table}, {item['name']}, (",
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
        yield from docstring(first_paragraph(item["doc"]))
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
        f"{key.upper()}: dict[str, RuleSpec] = {{",
    )
    for (kind, item), name in zip(rules, names, strict=True):
        inner = "".join(f"{_declares(field, items)}," for field in item["shape"]["fields"])
        yield f'    "{kind}": RuleSpec({name}, {item["name"]}, ({inner})),'
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


def _tables(
    item: Json, items: Mapping[str, Json], specs: set[str], types: set[str]
) -> Iterator[list[str]]:
    """The tables that are parameters of a rule, each as a class."""
    for _, parameter in _parameters(item, items):
        if parameter["is_table"]:
            table = items[parameter["type"]]
            specs.add(table["name"])
            lines = ["", "", f"class {table['name'].removesuffix('Spec')}(Parameters):"]
            lines += docstring(first_paragraph(table["doc"]))
            yield [*lines, *_typed_parameters(table, items, types)]


def _rule_name(kind: str, item: Json) -> str:
    """The class of a rule: after its kind, unless Python has that name itself."""
    name = _pascal(kind)
    return str(item["name"]).removesuffix("Spec") if keyword.iskeyword(name) else name


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
    yield from docstring(first_paragraph(item["doc"]))
    yield f'    kind: Literal["{kind}"] = param(..., "the {noun}")'
    for field, parameter in parameters:
        if parameter["key"]:
            yield from _parameter(field, parameter)


def _parameter(field: Json, parameter: Json) -> Iterator[str]:
    default = "..." if is_required(parameter) else repr(_kind_first(parameter["default"]))
    form = parameter["type"]
    if parameter["is_table"]:
        form = form.removesuffix("Spec")
    if parameter["is_table"] and parameter["is_list"]:
        form = f"tuple[{form}, ...]"
    elif parameter["is_list"]:
        form = f"Annotated[tuple[{form}, ...], Field(min_length=1)]"
    if parameter["is_optional"]:
        form = f"{form} | None"
    meaning = meaning_of(field["doc"])
    yield f"    {parameter['key']}: {form} = param("
    yield f"        {default},"
    yield f"        {literal(meaning)},"
    for key in ("symbol", "source"):
        if parameter[key] is not None:
            yield f"        {key}={literal(parameter[key])},"
    if parameter["when"] is not None:
        yield f"        when={_when(parameter['when'])},"
    yield "    )"


def _kind_first(default: Any) -> Any:
    """A default as a file would have it: of a table its kind first."""
    if isinstance(default, dict) and "kind" in default:
        return {"kind": default["kind"], **default}
    return default


def _when(effect: Json) -> str:
    """What gives a parameter an effect: values of another key, or that this is not given."""
    parts = (effect["key"], *effect["values"])
    reported = ", ".join(quoted(one) if isinstance(one, str) else repr(one) for one in parts)
    return f"when({reported})" if effect["values"] else f"without({reported})"


def _entry(
    kind: str, name: str, target: str, item: Json, items: Mapping[str, Json]
) -> Iterator[str]:
    yield f'    "{kind}": RuleSpec('
    yield f"        {name},"
    yield f"        {target},"
    yield "        ("
    for field in item["shape"]["fields"]:
        yield f"            {_declares(field, items)},"
    yield "        ),"
    facts = {key: value for key, value in item["facts"].items() if key != "written_for"}
    yield "        facts={"
    for key, value in facts.items():
        reported = literal(value) if isinstance(value, str) else repr(value)
        yield f"            {json.dumps(key)}: {reported},"
    yield "        },"
    yield "    ),"


def _declares(field: Json, items: Mapping[str, Json]) -> str:
    parameter = field["param"]
    if parameter["type"] is None:
        name = field["type"]["named"]
        inner = "".join(f"{_declares(own, items)}," for own in items[name]["shape"]["fields"])
        return f'Flattened("{field["name"]}", {name}, ({inner}))'
    if parameter["is_table"]:
        name = parameter["type"]
        inner = "".join(f"{_declares(own, items)}," for own in items[name]["shape"]["fields"])
        is_list = ", is_list=True" if parameter["is_list"] else ""
        return f'SubTable("{field["name"]}", "{parameter["key"]}", {name}, ({inner}){is_list})'
    reported = [f'"{field["name"]}"', quoted(parameter["key"]), f'"{parameter["type"]}"']
    relation = parameter["relation"]
    if relation is not None:
        reported.append(f'{"at_most" if relation["may_equal"] else "below"}="{relation["field"]}"')
    words = _words_of(parameter, items)
    if words is not None:
        reported[2] = '"word"'
        other = {word["written"]: word["word"] for word in words if word["written"]}
        reported += [f"words={other!r}"] if other else []
    reported += [f"{flag}=True" for flag in ("is_list", "is_ascending") if parameter[flag]]
    return f"FieldSpec({', '.join(reported)})"
