"""TOML text with the position of every value."""

from __future__ import annotations

from typing import Any

from skycell.input.faults import Fault, Positions, ScenarioFaults

_LONGEST_LINE = 80
_MOST_READ = 1000
"""Characters of a line that are looked at: one of megabytes may have a hundred thousand errors."""


def read_toml(text: str, name: str) -> tuple[dict[str, Any], Positions]:
    """The data of a TOML text, and line and column of each value by its dotted path.

    Raises:
        ScenarioFaults: with every syntax error of the text, or the first sign that is none.
    """
    from skycell import _core

    try:
        return _core.parse_toml(text)
    except UnicodeEncodeError as error:  # half of a sign, which no file in UTF-8 can have
        line = text.count("\n", 0, error.start) + 1
        column = error.start - text.rfind("\n", 0, error.start)
        fault = Fault(name, "", text[error.start], "UTF-8 text", line=line, column=column)
        raise ScenarioFaults([fault]) from None
    except _core.TomlError as error:
        lines = text.split("\n")
        raise ScenarioFaults(
            Fault(
                file=name,
                path="",
                got=_line(lines, line, column),
                allowed=f"TOML: {message}",
                line=line,
                column=column,
            )
            for line, column, message in error.errors
        ) from None


def _line(lines: list[str], number: int, column: int) -> str:
    """A line of the text, or what is about a column of it, short enough to print."""
    line = lines[number - 1] if number <= len(lines) else ""
    begin = 0 if column <= _LONGEST_LINE else column - _LONGEST_LINE // 2
    part = line[begin : begin + _MOST_READ].strip()
    part = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in part)
    part = part if len(part) <= _LONGEST_LINE else part[: _LONGEST_LINE - 1] + "…"
    return f"{'…' * (begin > 0)}{part}" or "the end of the text"
