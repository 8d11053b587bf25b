"""Faults of a scenario file: where, what stands there, what may stand there, what it means.

All faults of a stage (see `FaultCollector`) are told together, for people as text and for programs
as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any

from skycell.input.printable import printable
from skycell.input.quantities import counted, shortened, show_amount, with_short_numbers
from skycell.input.spelling import nearest

#: A path into a scenario: keys and list indices.
Path = tuple[str | int, ...]
#: Line and column (both from 1) of a value by its dotted path, as `skycell._core` gives them; none
#: of a value that does not come from the file.
Positions = Mapping[str, tuple[int, int] | None]

MOST_SHOWN = 20
"""Of what is wrong with one call: a screenful. The others are counted."""

_LONGEST_VALUE = 80
_IN_THE_FILE = (0, 0)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}")  # TOML 1.1: a key without quotes
#: What stands before the path of a flow's own TCP parameter.
_FLOWS_OWN = re.compile(r"^flow\[\d+\]\.(?=tcp\.)")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a scenario file."""

    file: str
    path: str
    got: str
    allowed: str
    meaning: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = (self.file, self.line, self.column)
        place = ":".join(str(part) for part in parts if part is not None)
        lines = [
            f"{place}: {self.path}" if self.path else place,
            f"  got      {self.got}",
            f"  allowed  {self.allowed}",
        ]
        if self.meaning:
            lines.append(f"  meaning  {self.meaning}")
        return "\n".join(map(printable, lines))

    def as_dict(self) -> dict[str, Any]:
        """The fault for a program."""
        return {
            "file": self.file,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "got": self.got,
            "allowed": self.allowed,
            "meaning": self.meaning,
        }


class ScenarioFaults(Exception):
    """A scenario cannot be run; carries every fault that was found, in the order of the file."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(
            sorted(set(faults), key=lambda f: (f.file, f.line or 0, f.column or 0, f.path, f.got))
        )
        super().__init__(self.faults)

    def __str__(self) -> str:
        return reported_together(self.faults)

    def to_json(self) -> str:
        """The faults as one JSON object, as `faults_as_dict` has them."""
        return json.dumps(faults_as_dict(self.faults), indent=2)


def reported_together(faults: Sequence[object]) -> str:
    """The first faults, and how many there are, for people."""
    count = len(faults)
    lines = [str(fault) for fault in faults[:MOST_SHOWN]]
    if count > MOST_SHOWN:
        lines.append(f"and {show_amount(count - MOST_SHOWN)} more faults")
    total = counted(1, "fault") if count == 1 else f"{show_amount(count)} faults"
    return "\n".join([*lines, f"{total}; nothing was run."])


def faults_as_dict(faults: Sequence[Fault]) -> dict[str, Any]:
    """The first faults, and how many there are, for a program."""
    shown = [fault.as_dict() for fault in faults[:MOST_SHOWN]]
    return {"faults": shown, "fault_count": len(faults)}


@dataclass
class FaultCollector:
    """Gathers the faults of one file.

    They are told in stages: all that is wrong with the file as it is written, then all that is
    wrong with its network, then all that does not fit that network. A stage builds on what the ones
    before found without fault.
    """

    file: str
    positions: Positions = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    meaning_at: Callable[[Path], str] = lambda path: ""
    """Returns the declared meaning of the key at a path, once the file has been read."""
    places: Mapping[Path, Path] = field(default_factory=dict)
    """Where in the file stands what another path begins with, if the file is short for it."""

    def add(self, path: Path, got: object, allowed: str, meaning: str | None = None) -> None:
        """Notes a fault.

        Args:
            path: where it is.
            got: what stands there, shown as it would stand in a file.
            allowed: what may stand there.
            meaning: of what is at fault, if that is not the key at the path.
        """
        path = self._in_file(path)
        if meaning is None:
            meaning = self.meaning_at(path)
        line, column = self._position(path) or (None, None)
        shown = got.text if isinstance(got, Verbatim) else show_value(got)
        self.faults.append(Fault(self.file, show_path(path), shown, allowed, meaning, line, column))

    def _in_file(self, path: Path) -> Path:
        """The path in the file, by the longest beginning that has a place of its own."""
        for end in range(len(path) if self.places else 0, 0, -1):
            if path[:end] in self.places:
                return (*self.places[path[:end]], *path[end:])
        return path

    def _position(self, path: Path) -> tuple[int, int] | None:
        # A missing key has no position: its table's is the nearest.
        for end in range(len(path), 0, -1):
            place = ".".join(map(str, path[:end]))
            if place in self.positions:
                return self.positions[place]
        return None

    def is_from_outside(self, path: Path) -> bool:
        """Whether what stands at `path` replaces what the file says, as `--set` does."""
        places = (".".join(map(str, path[:end])) for end in range(1, len(path) + 1))
        return any(self.positions.get(place, _IN_THE_FILE) is None for place in places)

    def raise_if_any(self) -> None:
        """Raises `ScenarioFaults` when at least one fault was noted."""
        if self.faults:
            raise ScenarioFaults(self._without_inherited())

    def _without_inherited(self) -> list[Fault]:
        """Leaves out what a flow's TCP parameters have only taken over from the common ones."""
        reported = {(f.file, f.path, f.got, f.allowed) for f in self.faults}
        return [
            fault
            for fault in self.faults
            if (fault.file, _FLOWS_OWN.sub("", fault.path), fault.got, fault.allowed)
            not in reported
            or not _FLOWS_OWN.match(fault.path)
        ]

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)


@dataclass(frozen=True)
class Verbatim:
    """A text to print in a fault as it is, instead of the value that stands in the file."""

    text: str


NOTHING = Verbatim("nothing")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A hint at the known name that an unknown one most likely stands for; empty when none is.

    >>> did_you_mean("swich1", ["switch1", "host"])
    '; did you mean "switch1"?'
    """
    near = nearest(name, known) if isinstance(name, str) else None
    return "" if near is None else f'; did you mean "{near}"?'


def show_path(path: Path) -> str:
    """A path as it would stand in a file.

    >>> print(show_path(("flow", 2, "a key", "mss")))
    flow[2]."a key".mss
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            key = show_key(step)
            text += f".{key}" if text else key
    return text


def show_key(key: str) -> str:
    """A key as it would stand in a file."""
    return key if _BARE_KEY.fullmatch(key) else show_value(key)


def show_value(value: object) -> str:
    """A value roughly as it would stand in the file, on one line and of bounded length."""
    text = " ".join(_written(value, depth=3).splitlines())
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def quoted(text: str) -> str:
    """A text as TOML has it; what would not be seen, or change how the line is seen, is escaped."""
    return printable(json.dumps(text, ensure_ascii=False))


def _written(value: object, depth: int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return shortened(value)
    if isinstance(value, str):
        return quoted(with_short_numbers(value)[:_LONGEST_VALUE])
    if isinstance(value, Mapping):
        if depth == 0:
            return "{…}"
        items = list(value.items())[:_LONGEST_VALUE]
        written = (f"{show_key(str(key))} = {_written(own, depth - 1)}" for key, own in items)
        return "{" + ", ".join(written) + "}"
    if isinstance(value, list | tuple):
        if depth == 0:
            return "[…]"
        return "[" + ", ".join(_written(v, depth - 1) for v in value[:_LONGEST_VALUE]) + "]"
    if value is None or isinstance(value, float | date | time):
        return str(value)
    return f"a Python {type(value).__name__}"
