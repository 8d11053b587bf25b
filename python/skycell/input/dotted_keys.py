"""Values of a file set by dotted keys, such as `tcp.recovery` or `flow.0.start`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic import BaseModel

from skycell.input.faults import NOTHING, FaultCollector, Verbatim, show_path
from skycell.input.forms import annotated, item_of, keys_of

_INDEX = re.compile(r"\[(-?\d+)\]")


def steps_of(key: str) -> list[str]:
    """The keys and list indices that a dotted key goes through."""
    return [step for step in _INDEX.sub(r".\1", key).split(".") if step]


@cache
def _lists(root: type[BaseModel]) -> frozenset[str]:
    """Keys at the top of a form below which there are tables one after the other."""
    return frozenset(key for key, found in keys_of(root).items() if item_of(annotated(found)))


def _index_of(step: str, count: int) -> int | None:
    """The index that a step of a key is into a list of `count` entries; none if it is none."""
    # A longer number is too large, and one of thousands of digits Python does not read.
    index = int(step) if step.isdecimal() and len(step.lstrip("0")) < 20 else count
    return index if index < count else None


def _indices(name: str, count: int) -> str:
    """The indices of a list of that name, and how one is written."""
    if count == 0:
        return f"an index of {name}: none, since the file has no [[{name}]]"
    some = "0, the only entry" if count == 1 else f"0 (the first entry) to {count - 1} (the last)"
    return f"an index of {name}: {some}; written {name}[0] or {name}.0"


def set_value(
    values: dict[str, Any], key: str, value: Any, faults: FaultCollector, root: type[BaseModel]
) -> None:
    """Sets a dotted key, making tables on the way; a kind written as a word becomes a table.

    Args:
        values: of a file; changed.
        key: such as `tcp.recovery` or `flow.0.start`.
        value: what to set it to.
        faults: takes a key that leads nowhere.
        root: the form of the file.
    """
    steps = steps_of(key)
    if not steps:
        faults.add((key,), value, "a dotted key such as tcp.recovery")
        return
    here: Any = values
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        if isinstance(here, list):
            found = _index_of(step, len(here))
            if found is None:
                allowed = _indices(show_path(tuple(steps[:depth])), len(here))
                faults.add(tuple(steps[: depth + 1]), Verbatim(f"the index {step[:80]}"), allowed)
                return
            index: Any = found
        elif isinstance(here, dict):
            index = step
            if depth == 0 and not last and step not in here and step in _lists(root):
                faults.add(tuple(steps[:2]), NOTHING, _indices(step, 0))
                return
            if not last and index not in here:
                here[index] = {}
            elif not last and isinstance(here[index], str):
                here[index] = {"kind": here[index]}
        else:
            faults.add(tuple(steps[:depth]), here, "a table, to set one of its keys")
            return
        if last:
            here[index] = value
        else:
            here = here[index]
