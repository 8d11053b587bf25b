"""TOML text with the position of every value."""

from __future__ import annotations

from typing import Any

from skycell.scenario.faults import Fault, Positions, ScenarioFaults


def read_toml(text: str, name: str) -> tuple[dict[str, Any], Positions]:
    """The data of a TOML text, and line and column of each value by its dotted path.

    Raises:
        ScenarioFaults: with every syntax error of the text.
    """
    from skycell import _core

    try:
        return _core.parse_toml(text)
    except _core.TomlError as error:
        lines = text.splitlines()
        raise ScenarioFaults(
            Fault(
                file=name,
                path="",
                got=_line(lines, line),
                allowed=f"TOML: {message}",
                line=line,
                column=column,
            )
            for line, column, message in error.errors
        ) from None


def _line(lines: list[str], number: int) -> str:
    """A line of the text, short enough to print."""
    line = lines[number - 1].strip() if number <= len(lines) else ""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return (line if len(line) <= 80 else line[:79] + "…") or "the end of the text"
