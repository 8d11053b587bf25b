"""Keys of TCP without effect beside rules of other keys: which, beside which, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import Path
from skycell.input.forms import keys_of
from skycell.input.idle_keys import IdleKey
from skycell.input.parameters import meaning_of
from skycell.scenario.declared.tcp import Tcp


@dataclass(frozen=True)
class _Idle:
    """A key without effect."""

    key: Path
    """Below [tcp]."""
    rules: Mapping[str, tuple[str, ...]]
    """The rules beside which it has none, by key."""
    why: str

    def is_of(self, tcp: Tcp) -> bool:
        return all(getattr(tcp, key).kind in kinds for key, kinds in self.rules.items())


_BBR = {"congestion": ("bbr", "bbr3")}

_IDLE = (
    _Idle(("slow_start",), _BBR, "which has a startup of its own"),
    _Idle(("initial_ssthresh",), _BBR, "which has a startup of its own"),
    _Idle(("idle_restart",), _BBR, "which paces what comes after idling"),
    _Idle(("cwnd_validation",), _BBR, "whose model knows what the application leaves unused"),
    _Idle(
        ("recovery", "pipe_room"),
        {"recovery": ("sack",), "congestion": ("linux_cubic",)},
        "whose windows are whole segments",
    ),
    _Idle(
        ("congestion", "fast_convergence"),
        {"congestion": ("cubic", "linux_cubic"), "recovery": ("vanilla",)},
        "whose timeouts leave no window to converge from",
    ),
)


def idle_beside_rules(written: Any, tcps: Sequence[Tcp], path: Path) -> Iterator[IdleKey]:
    """The keys without effect in what a file says itself of TCP.

    Args:
        written: a table of TCP, as the file has it.
        tcps: what it becomes with presets and defaults, of each connection that it is for; a key
            has an effect if it has in one.
        path: where the table stands.
    """
    for idle in _IDLE:
        has, got = _at(written, idle.key)
        if has and all(idle.is_of(tcp) for tcp in tcps):
            rules = " and ".join(f'{key} = "{getattr(tcps[0], key).kind}"' for key in idle.rules)
            deciding = tuple((*path, key) for key in idle.rules)
            why = f"nothing: it has no effect with {rules}, {idle.why}"
            yield IdleKey((*path, *idle.key), got, why, _meaning(tcps[0], idle.key), deciding)


def _at(written: Any, key: Path) -> tuple[bool, Any]:
    for step in key:
        if not isinstance(written, Mapping) or step not in written:
            return False, None
        written = written[step]
    return True, written


def _meaning(tcp: Tcp, key: Path) -> str:
    table: Any = tcp
    for step in key[:-1]:
        table = getattr(table, str(step))
    return meaning_of(keys_of(type(table))[str(key[-1])])
