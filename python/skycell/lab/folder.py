"""The files of a workbench: scenarios of one folder, and nothing outside of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}\.toml")
MOST_OCTETS = 1_000_000
"""Longest scenario that is saved or run."""


class OutsideError(ValueError):
    """A name, or a text that names a file, leads out of the folder."""


class LabFolder:
    """The folder that a workbench reads and writes.

    Args:
        path: an existing folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def names(self) -> list[str]:
        """The scenarios in it, by name."""
        found = (file for file in self.path.glob("*.toml") if file.is_file())
        own = (file.name for file in found if file.resolve().is_relative_to(self.path))
        return sorted(name for name in own if _NAME.fullmatch(name))

    def read(self, name: str) -> str:
        """The text of a scenario.

        Raises:
            OutsideError: no name of a scenario in the folder.
            OSError: it cannot be read.
        """
        return self._file(name).read_text("utf-8")

    def save(self, name: str, text: str) -> None:
        """Writes a scenario; one with this name is replaced.

        Raises:
            OutsideError: the name, or a file that the text names, leads out of the folder.
            OSError: it cannot be written.
        """
        self.refuse_outside(text)
        file = self._file(name)
        staged = file.with_suffix(".toml.part")
        staged.write_text(text, "utf-8")
        staged.replace(file)

    def refuse_outside(self, text: str) -> None:
        """Refuses a scenario that names a file outside the folder; raises `OutsideError`.

        A text that is no TOML names none: it is refused where it is checked.
        """
        try:
            values = tomllib.loads(text)
        except (ValueError, RecursionError):  # a number of thousands of digits among them
            return
        for word in _texts(values):
            if self._leads_out(word):
                raise OutsideError(f"{word!r}: files of a workbench are in its own folder")

    def _leads_out(self, word: str) -> bool:
        if word.startswith(("/", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", word):
            return True
        parts = re.split(r"[\\/]", word)
        if ".." in parts:
            return True
        try:
            there = self.path / word
            return there.exists() and not there.resolve().is_relative_to(self.path)
        except (OSError, ValueError):  # too long a name, or one with a null: no file
            return False

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise OutsideError(
                f"{name!r}: a name ends with .toml, and has letters, digits, spaces, '.', '_', '-'"
            )
        file = self.path / name
        if file.exists() and not file.resolve().is_relative_to(self.path):
            raise OutsideError(f"{name!r} is a link out of the folder")
        return file


def _texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from _texts(value)
    elif isinstance(values, list):
        for value in values:
            yield from _texts(value)
