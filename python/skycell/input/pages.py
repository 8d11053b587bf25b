"""The reference page of a file's form and of its presets."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from skycell.input.faults import show_value
from skycell.input.presets import Preset
from skycell.input.tables import Key, tables


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
    if known:
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
