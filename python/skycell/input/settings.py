"""Values as `--set KEY=VALUE` has them: TOML, or a text as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.input.faults import quoted, show_key


def read_value(text: str) -> Any:
    """A value as TOML has it, or the text itself.

    >>> read_value("0.8"), read_value("true"), read_value("on_send"), read_value("500 ms")
    (0.8, True, 'on_send', '500 ms')
    """
    from skycell._core import TomlError, parse_toml

    try:
        read, _ = parse_toml(f"value = {text}")
    except TomlError:
        return text.strip()
    return read["value"] if set(read) == {"value"} else text.strip()


def read_values(text: str) -> list[Any]:
    """Values with commas between them; a comma within a table or a list is the value's own.

    >>> read_values('100 ms,{kind = "uniform", low = "1 s"}')
    ['100 ms', {'kind': 'uniform', 'low': '1 s'}]
    """
    values, depth = [""], 0
    for sign in text:
        depth += (sign in "{[") - (sign in "}]")
        if sign == "," and depth <= 0:
            values.append("")
        else:
            values[-1] += sign
    return [read_value(value) for value in values]


def write_value(value: Any) -> str:
    """The text that `read_value` reads as this value; of a text that would do, the text itself.

    >>> print(write_value("500 ms"), write_value({"kind": "constant", "time": "1 s"}))
    500 ms {kind = "constant", time = "1 s"}
    """
    if isinstance(value, str) and read_value(value) == value:
        return value
    return _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{show_key(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)
