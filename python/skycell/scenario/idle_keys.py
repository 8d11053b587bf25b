"""Keys that a file says and that have no effect beside what else it says, by their declarations.

What a preset or a default says is never such a key: it is there for the kinds that need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from skycell.scenario.checking import keys_of
from skycell.scenario.faults import FaultCollector, Path, show_value
from skycell.scenario.file import ScenarioFile
from skycell.scenario.parameters import When, meaning_of, whens_of


@dataclass(frozen=True)
class IdleKey:
    """A key without effect.

    Attributes:
        path: where it stands.
        got: what the file says there.
        why: what may stand there, and why the key has no effect.
        meaning: what it would do.
        others: keys of the same table that decide it.
    """

    path: Path
    got: Any
    why: str
    meaning: str
    others: tuple[str, ...]


def idle_keys(written: Mapping[str, Any], file: ScenarioFile) -> list[IdleKey]:
    """The keys without effect that a file says itself.

    Args:
        written: what the file says itself.
        file: the same with presets and defaults filled in.
    """
    own = {key: value for key, value in written.items() if key != "tcp"}
    # The common TCP parameters are also those of flows with some of their own.
    tcps = [file.tcp, *(flow.tcp for flow in file.flow if flow.tcp is not None)]
    return [*_below(own, [file], ()), *_below(written.get("tcp"), tcps, ("tcp",))]


def note_idle_keys(written: Mapping[str, Any], file: ScenarioFile, faults: FaultCollector) -> None:
    """Notes the keys without effect, but for those that a value from outside has put out of it.

    A file that is varied (`--set tcp.recovery=reno`) may say what it needs without that.
    """
    for idle in idle_keys(written, file):
        deciding = ((*idle.path[:-1], other) for other in idle.others)
        if faults.is_from_outside(idle.path) or not any(map(faults.is_from_outside, deciding)):
            faults.add(idle.path, idle.got, idle.why, idle.meaning)


def _below(written: Any, tables: Sequence[Any], path: Path) -> Iterator[IdleKey]:
    """The idle keys of what is written of some tables, which has an effect if it has in one."""
    if isinstance(written, list):
        for i, item in enumerate(written):
            yield from _below(item, [table[i] for table in tables], (*path, i))
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
            others = tuple(when.key for when in whens_of(found))
            yield IdleKey((*path, key), value, str(why[0]), meaning_of(found), others)
        else:
            yield from _below(value, [_value(table, key) for table in having], (*path, key))


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
