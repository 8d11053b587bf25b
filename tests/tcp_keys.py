"""What a test can set each key of [tcp] to, those of its rules included, from its declaration."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from skycell.input.forms import annotated, keys_of, kind_of, models_of, value_type_of
from skycell.scenario.declared.tcp import TCP, Tcp
from skycell.scenario.values.rule_specs import Choice

AMOUNTS: Mapping[str, Any] = {
    "mss": "1024 B",
    "receiver_window": "40000 B",
    "initial_receiver_window": "4000 B",
    "initial_cwnd": "2 segments",
    "initial_ssthresh": "9 segments",
    "max_cwnd": "30 segments",
    "dup_ack_threshold": 2,
    "tick": "10 ms",
    "tick_phase": "common",
    "rto_min": "4 ticks",
    "rto_initial": "5 s",
    "rto_max": "32 s",
    "retransmit_delay": "3 segments",
    "max_blocks": 1,
    "delayed_ack": "on",
    "c": 2.5,
    "max_ssthresh": 5,
    "gain": 0.25,
    "alpha": 1,
    "beta": 7,
    "gamma": 30,
    "limit": 1,
    "low_window": 60,
    "slow_start_ratio": 1.5,
    "avoidance_ratio": 2,
    "unpaced_segments": 1,
    "burst_segments": 4,
    "burst_time": "20 ms",
}
"""Keys with many values, each with one that is not its default."""


@dataclass(frozen=True)
class Key:
    """A key of [tcp], or of a rule in it."""

    rule: str
    """The key of the rule; "" for a key of [tcp] itself."""
    kind: str
    """Of the rule."""
    name: str
    values: tuple[Any, ...]
    """All that it may be, if that is few; else its default and one other."""

    def __str__(self) -> str:
        return f"{self.rule}.{self.kind}.{self.name}" if self.rule else self.name

    def over(self, tcp: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """Parameters of TCP with another value of this key."""
        if not self.rule:
            return {**tcp, self.name: value}
        written = tcp.get(self.rule)
        rule = written if isinstance(written, Mapping) else {}
        kept = rule if rule.get("kind") == self.kind else {}
        return {**tcp, self.rule: {**kept, "kind": self.kind, self.name: value}}


def _few(table: type[BaseModel], name: str) -> tuple[Any, ...]:
    annotation = annotated(keys_of(table)[name])
    models = models_of(annotation)
    if len(models) > 1:
        return tuple(kind_of(model) for model in models)
    value_type = value_type_of(annotation)
    schema = value_type.schema if value_type else {}
    return (False, True) if schema.get("type") == "boolean" else tuple(schema.get("enum", ()))


def _keys(table: type[BaseModel], rule: str = "", kind: str = "") -> Iterator[Key]:
    for name, found in keys_of(table).items():
        if name != "kind":
            values = _few(table, name) or (found.default, AMOUNTS[name])
            yield Key(rule, kind, name, values)


def suited(tcp: dict[str, Any]) -> dict[str, Any]:
    """The same with what its congestion control or window needs, and with one that ECN is for."""
    if "initial_receiver_window" in tcp:
        tcp = {"advertised_window": "auto_tuned", **tcp}
    congestion = tcp.get("congestion", "reno")
    kind = congestion["kind"] if isinstance(congestion, Mapping) else congestion
    if kind in SCALABLE:
        return {**tcp, "ecn": "accurate"}
    if kind == "vegas" and tcp.get("recovery") != "rack_tlp":
        return {"timestamps": True, **tcp}
    return {**tcp, "congestion": "dctcp"} if tcp.get("ecn") == "accurate" else tcp


SCALABLE = ("dctcp", "prague")
"""Congestion controls that count marks."""

RULES: Mapping[str, tuple[str, ...]] = {
    one.key: tuple(one.rules) for one in TCP.parameters if isinstance(one, Choice)
}
"""Keys that are one of several kinds, and these."""

OF_RULES: Mapping[tuple[str, str], tuple[Key, ...]] = {
    (one.key, kind): tuple(_keys(rule.written, one.key, kind))
    for one in TCP.parameters
    if isinstance(one, Choice)
    for kind, rule in one.rules.items()
}
"""The keys of each rule, by the key of [tcp] and the kind."""

OF_TCP = tuple(_keys(Tcp))
"""The keys of [tcp] itself."""

KEYS = (*OF_TCP, *(key for keys in OF_RULES.values() for key in keys))


def has_few(key: Key) -> bool:
    """Whether `values` are all that it may be."""
    return key.name not in AMOUNTS
