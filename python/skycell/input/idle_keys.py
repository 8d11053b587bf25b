"""Keys that a file says and that have no effect beside what else it says, by their declarations.

What a preset or a default says is never such a key: it is there for the kinds that need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skycell.input.faults import Path, show_value
from skycell.input.forms import keys_of
from skycell.input.parameters import When, meaning_of, whens_of


@dataclass(frozen=True)
class IdleKey:
    """A key without effect.

    Attributes:
        path: where it stands.
        got: what the file says there.
        why: what may stand there, and why the key has no effect.
        meaning: what it would do.
        deciding: what else decides it: paths of other keys.
    """

    path: Path
    got: Any
    why: str
    meaning: str
    deciding: tuple[Path, ...]


def idle_below(written: Any, tables: Sequence[Any], path: Path) -> Iterator[IdleKey]:
    """The keys without effect in what a file says itself of some tables; with one if it has in one.

    Args:
        written: what the file says itself.
        tables: the same with presets and defaults filled in.
        path: where it stands.
    """
    if isinstance(written, list):
        for i, item in enumerate(written):
            lists = [table for table in tables if isinstance(table, tuple)]
            yield from idle_below(item, [each[i] for each in lists], (*path, i))
        return
    known = [table for table in tables if isinstance(table, BaseModel)]
    if not isinstance(written, Mapping) or not known:
        return
    for key, value in written.items():
        having = [table for table in known if key in keys_of(type(table))]
        if not having:  # a preset
            continue
        found = keys_of(type(having[0]))[key]
        why = [_why_idle(table, keys_of(type(table))[key]) for table in having]
        if all(why):
            deciding = tuple((*path, when.key) for when in whens_of(found))
            yield IdleKey((*path, key), value, str(why[0]), meaning_of(found), deciding)
        else:
            yield from idle_below(value, [_value(table, key) for table in having], (*path, key))


def _why_idle(table: BaseModel, found: FieldInfo) -> str:
    """Why a parameter of a table has no effect; empty where it has one."""
    whens = whens_of(found)
    if not whens or any(_holds(when, table) for when in whens):
        return ""
    now = " and ".join(dict.fromkeys(_now(when, table) for when in whens))
    values = " or ".join(when.text for when in whens if when.values)
    belongs = f"; it belongs to {values}" if values else ""
    return f"nothing: it has no effect {now}{belongs}"


def _holds(when: When, table: BaseModel) -> bool:
    value = _value(table, when.key)
    if when.values:
        return value in when.values
    return (value in (None, ())) == when.is_absent


def _now(when: When, table: BaseModel) -> str:
    if when.values:
        return f"with {when.key} = {show_value(_value(table, when.key))}"
    return f"{'with' if when.is_absent else 'without'} {when.key}"


def _value(table: BaseModel, key: str) -> Any:
    """What a table has under a key of the file."""
    named = ((found.alias or name, name) for name, found in type(table).model_fields.items())
    return getattr(table, next(name for alias, name in named if alias == key))
