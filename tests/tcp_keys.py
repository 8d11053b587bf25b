"""What a test can set each key of [tcp] to, from its declaration."""

from collections.abc import Mapping
from typing import Any

from skycell.input.parameters import ValueType, whens_of
from skycell.scenario.declared.tcp import Tcp


def _few(key: str) -> tuple[Any, ...]:
    for value_type in Tcp.model_fields[key].metadata:
        if isinstance(value_type, ValueType) and value_type.schema.get("type") == "boolean":
            return (False, True)
        if isinstance(value_type, ValueType) and "enum" in value_type.schema:
            return tuple(value_type.schema["enum"])
    return ()


RULES: Mapping[str, tuple[Any, ...]] = {key: few for key in Tcp.model_fields if (few := _few(key))}
"""Keys with few values, words or true and false, and all of these."""

AMOUNTS: Mapping[str, Any] = {
    "mss": "1024 B",
    "receiver_window": "40000 B",
    "initial_cwnd": "2 segments",
    "initial_ssthresh": "9 segments",
    "max_cwnd": "30 segments",
    "dup_ack_threshold": 2,
    "tick": "10 ms",
    "tick_phase": "common",
    "rto_min": "4 ticks",
    "rto_initial": "5 s",
    "rto_max": "32 s",
    "sack_retransmit_delay": "3 segments",
    "sack_max_blocks": 2,
    "delayed_ack": "on",
}
"""The other keys, each with a value that is not its default."""


def values(key: str) -> list[Any]:
    """All values of a key, if it has few; else its default and one other."""
    return list(RULES.get(key) or (Tcp.model_fields[key].default, AMOUNTS[key]))


def beside(key: str) -> dict[str, Any]:
    """Values of other keys of [tcp] with which a key has an effect."""
    return {when.key: when.values[0] for when in whens_of(Tcp.model_fields[key])}
