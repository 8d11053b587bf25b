"""Values given on the command line as KEY=VALUE."""

from __future__ import annotations

from typing import Any

import click


def read_setting(text: str, option: str = "--set") -> tuple[str, Any]:
    """Key and value; a value that is no TOML, such as reno or 5 ms, is a text.

    Raises:
        click.BadParameter: there is no `=`, or nothing before it.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint=f"'{option}'")
    return key.strip(), read_value(value)


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
