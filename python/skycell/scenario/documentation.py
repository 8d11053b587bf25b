"""The scenario file's keys as a listing for the terminal and as a reference page.

Both come from the declarations of the parameters; nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skycell.scenario.checking import (
    annotated,
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
from skycell.scenario.faults import show_value
from skycell.scenario.file import ScenarioFile
from skycell.scenario.parameters import symbol_of
from skycell.scenario.presets import Preset, presets

_WIDTH = 96

_PREAMBLE = """# The scenario file

Written by `make generate` from the declarations of the parameters; change those, not this page.

A scenario is a TOML file. Values carry their unit (`"275 ms"`); the tables say what each parameter
may be. RTT is the two-way propagation delay of the flow with the longest route; RTT x bandwidth
is what the slowest link on that route carries in that time, including cell headers. A frame is that
of a full segment. If there are cell sources and no flow, RTT is twice the propagation delay of the
source with the longest route, and a frame is the longest of a source. `preset` at the top of the
file names a whole scenario to build on, `preset` in `[tcp]` a set of TCP parameters.

A generated topology names its parts. In `n_source` the VCs of `flow1` are `flow1.forward`, from
`source1` over `switch1` and `switch2` to `destination1`, and `flow1.reverse`. With `tcps_per_vc`
those between the routers `ingress1` and `egress1` are `trunk1.forward` and `trunk1.reverse`, and
`flow1.in`, `flow1.out`, `flow1.back_in` and `flow1.back_out` lead from hosts to routers and from
routers to hosts. In `parking_lot` `long1` crosses all switches and `cross2.1` is the first flow
from `switch2` to `switch3`, each between its own hosts, `long1.source` and `long1.destination`.
In a graph, the VCs of a flow that names none are called as in `n_source`, followed by a number if
routers split one into several. A link and the port that feeds it are called `switch1>switch2`.
"""


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


def tables(root: type[BaseModel] = ScenarioFile) -> list[Table]:
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
        nested = models_of(annotation) or models_of(item_of(annotation))
        is_list = bool(nested) and not models_of(annotation)
        inner = f"{path}.{name}".lstrip(".") + ("[]" if is_list else "")
        for nested_model in nested:
            if nested_model not in seen:
                seen[nested_model] = inner
                below.append((nested_model, inner))
        keys.append(_key(name, found_field, annotation, nested, seen))
    found.append(Table(heading, _first_paragraph(model), tuple(keys)))
    for nested_model, inner in below:
        _collect(nested_model, inner, found, seen)


def _key(
    name: str,
    field: FieldInfo,
    annotation: Any,
    nested: list[type[BaseModel]],
    seen: dict[type[BaseModel], str],
) -> Key:
    value_type = value_type_of(annotation)
    if value_type is not None:
        allowed = value_type.allowed
    elif nested:
        place = seen[nested[0]].split(" with ")[0]
        kinds = [kind for m in nested if (kind := kind_of(m))]
        tables_of = "a table" if models_of(annotation) else "a list of tables"
        words = [f'"{word}"' for word in words_of(annotation)]
        allowed = " or ".join([*words, f"{tables_of}, see [{place}]"])
        if kinds:
            short = shorthand_of(annotation)
            words = [f'"{k}"' for k in kinds]
            allowed = " or ".join([short.allowed, *words] if short else words) + f", see [{place}]"
    else:
        allowed = list_allowed(annotation)
    extra = field.json_schema_extra
    extra = extra if isinstance(extra, dict) else {}
    return Key(
        name=name,
        is_table=takes_tables_only(annotation),
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


def listing(prefix: str = "") -> str:
    """The keys whose dotted name begins with `prefix`, for the terminal."""
    lines: list[str] = []
    for table in tables():
        path = table.heading.split(" with ")[0]
        keys = [k for k in table.keys if f"{path}.{k.name}".lstrip(".").startswith(prefix)]
        if not keys:
            continue
        lines.append(f"[{table.heading}]" if table.heading else "(top of the file)")
        lines += [f"  {line}" for line in _wrapped(table.meaning, _WIDTH - 2)]
        for key in keys:
            symbol = f" ({key.symbol})" if key.symbol else ""
            lines.append(f"  {key.name}{symbol} = {key.default}")
            lines += [f"      {line}" for line in _wrapped(key.meaning, _WIDTH - 6)]
            lines += [f"      {line}" for line in _wrapped(f"allowed: {key.allowed}", _WIDTH - 6)]
            if key.source:
                lines += [f"      {line}" for line in _wrapped(f"source: {key.source}", _WIDTH - 6)]
        lines.append("")
    return "\n".join(lines).rstrip()


def paths_with(word: str) -> list[str]:
    """Dotted names of keys with a part of this name, each once.

    >>> paths_with("sources"), paths_with("tpc")
    (['topology.sources'], [])
    """
    found = [
        f"{table.heading.split(' with ')[0]}.{key.name}".lstrip(".")
        for table in tables()
        for key in table.keys
        if key.name == word
    ]
    return list(dict.fromkeys(found))


def _wrapped(text: str, width: int) -> Iterator[str]:
    from textwrap import wrap

    yield from wrap(text, width, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The reference page of the scenario file, in Markdown."""
    return page_of(ScenarioFile, _PREAMBLE, presets())


def page_of(root: type[BaseModel], preamble: str, known: Mapping[str, Preset]) -> str:
    """The reference page of a file's form and of its presets, in Markdown."""
    lines = [preamble]
    for table in tables(root):
        lines += [f"## `[{table.heading}]`" if table.heading else "## Top of the file", ""]
        lines += [f"{table.meaning}", ""]
        if not table.keys:
            lines += ["No further keys.", ""]
            continue
        lines += ["| key | default | meaning | allowed | source of the default |"]
        lines += ["|---|---|---|---|---|"]
        lines += [_row(key) for key in table.keys]
        lines.append("")
    lines += ["## Presets", ""]
    for preset in known.values():
        lines += _preset_lines(preset)
    return "\n".join(lines).rstrip() + "\n"


def _row(key: Key) -> str:
    name = f"`{key.name}`" + (f" ({key.symbol})" if key.symbol else "")
    default = key.default if key.default == "must be given" else f"`{key.default}`"
    cells = (name, default, key.meaning, key.allowed, key.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _preset_lines(preset: Preset) -> list[str]:
    lines = [f"### `{preset.name}`", "", f"{preset.title}. Source: {preset.source}.", ""]
    if preset.builds_on:
        lines += [f"Builds on `{preset.builds_on}`.", ""]
    lines += ["| key | value | stated or chosen |", "|---|---|---|"]
    for value in preset.own:
        how = f"stated: {value.reason}" if value.is_stated else f"chosen: {value.reason}"
        lines.append(f"| `{value.key}` | `{show_value(value.value)}` | {how} |")
    return [*lines, ""]
