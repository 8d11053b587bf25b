"""A key that a file says changes what is run, or is a fault: for every table, kind and key."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from pydantic import BaseModel

from skycell.experiment.run import run_spec
from skycell.input.forms import annotated, item_of, keys_of, kind_of, models_of, value_type_of
from skycell.input.parameters import ValueType
from skycell.input.quantities import Refused
from skycell.scenario import ScenarioFaults, check, parse
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.file.scenario_file import WrittenFile
from tests.conformance.vectors import names, scenario
from tests.tcp_keys import OF_RULES, OF_TCP, RULES, Key, suited

Place = tuple[str | int, ...]

OF_THE_BUDGET = {"roll_off"}
"""Keys that say what `skycell budget` shows of a carrier, and take nothing from what it carries."""

BASES = Path(__file__).parent / "every-table.toml"
_NUMBER_AND_UNIT = re.compile(r"([\d.]+)(.*)")


def bases() -> list[tuple[str, dict[str, Any]]]:
    """Sound scenarios, which have every table in every kind among them."""
    common = tomllib.loads(BASES.read_text(encoding="utf-8"))
    found = [(name, values) for name, values in common.items()]
    found += [(name, tomllib.loads(scenario(name).read_text("utf-8"))) for name in names()]
    return found


def tables_of(table: Any, path: Place = ()) -> Iterator[tuple[Place, BaseModel]]:
    """Every table of a file, with its place."""
    if isinstance(table, BaseModel):
        yield path, table
        for key, found in keys_of(type(table)).items():
            name = next(n for n, f in type(table).model_fields.items() if f is found)
            yield from tables_of(getattr(table, name), (*path, key))
    elif isinstance(table, tuple):
        for i, item in enumerate(table):
            yield from tables_of(item, (*path, i))


def with_value(values: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """A scenario with another value at a place; a kind written as a word becomes a table."""
    changed = copy.deepcopy(values)
    here: Any = changed
    for step, following in pairwise(place):
        if isinstance(here, dict):
            if isinstance(here.get(step), str):
                here[step] = {"kind": here[step]}
            here.setdefault(step, [] if isinstance(following, int) else {})
        here = here[step]
    here[place[-1]] = value
    return changed


def others(annotation: Any) -> list[Any]:
    """Some values that a parameter may have, as they would stand in a file."""
    value_type = value_type_of(annotation)
    if value_type is not None:
        return [value for value in _described(value_type.schema) if _is_read(value_type, value)]
    item = item_of(annotation)
    if item is not None and value_type_of(item) is not None:
        return [[value] for value in others(item)]
    models = models_of(annotation)
    if models:
        return [table for model in models if (table := smallest(model))]
    return [[smallest(model)] for model in models_of(item)] if item is not None else []


def smallest(model: type[BaseModel]) -> dict[str, Any]:
    """A table with what it must have; empty where some of that has no value by itself."""
    table: dict[str, Any] = {}
    for key, found in keys_of(model).items():
        if found.is_required():
            values = [kind_of(model)] if key == "kind" else others(annotated(found))
            if not values:
                return {}
            table[key] = values[0]
    return table


def _described(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Values that a schema describes, as different as it is easy to have them."""
    for member in schema.get("anyOf", ()):
        yield from _described(member)
    yield from schema.get("enum", ())
    if schema.get("type") == "integer":
        yield from {schema["minimum"], schema["minimum"] + 1, schema["minimum"] + 2}
    elif schema.get("type") == "boolean":
        yield from (False, True)
    elif schema.get("type") == "number":
        yield from (0.5, 0.25)
    elif schema.get("type") == "array":
        yield from ([value] for value in _described(schema["items"]))
    elif schema.get("type") == "object":
        for value in _described(schema["additionalProperties"]):
            yield from ({name: value} for name in ("cbr", "flow1.forward"))
    elif schema.get("type") == "string" and "examples" not in schema:
        yield "other"
    for example in schema.get("examples", ()):
        yield example
        parts = _NUMBER_AND_UNIT.fullmatch(example) if isinstance(example, str) else None
        if parts:
            yield from (f"{float(parts[1]) * factor:.6f}{parts[2]}" for factor in (0.5, 0.1))


def _is_read(value_type: ValueType, value: Any) -> bool:
    try:
        value_type.read(value)
    except Refused:
        return False
    return True


def spec_of(values: dict[str, Any]) -> str | None:
    """The run of a scenario as text, and its verdicts; none where it has a fault."""
    try:
        scenario = parse(values, folder=BASES.parent)
        text = scenario.resolve().canonical_json()
    except ScenarioFaults:
        return None
    bounds = [
        (one.ports, one.bounds, one.quantile if one.asks_for_delays else None)
        for one in scenario.file.qos
    ]
    return f"{text} {bounds}"


def siblings(table: BaseModel) -> Iterator[tuple[str, Any]]:
    """Values of keys of a table on which an effect of others may hang: words, and what is given."""
    for key, found in keys_of(type(table)).items():
        annotation = annotated(found)
        value_type = value_type_of(annotation)
        if key == "kind":
            continue
        if value_type is not None and (
            "enum" in value_type.schema or value_type.schema.get("type") == "boolean"
        ):
            for value in others(annotation):
                yield key, value
        elif found.default in (None, []):
            for value in others(annotation)[:1]:
                yield key, value


def silent(values: dict[str, Any], place: Place, table: BaseModel) -> list[str]:
    """Keys of a table whose values neither change the run nor are told."""
    found = []
    for sibling in (None, *siblings(table)):
        base = values if sibling is None else with_value(values, (*place, sibling[0]), sibling[1])
        before = spec_of(base)
        if before is None:
            continue
        for key, field in keys_of(type(table)).items():
            if key == "kind" or key in OF_THE_BUDGET or (sibling and key == sibling[0]):
                continue
            values_of_key = others(annotated(field))
            # The first value that changes the run settles it.
            if values_of_key and all(
                spec_of(with_value(base, (*place, key), value)) == before for value in values_of_key
            ):
                found.append(f"{place} {key} beside {sibling}")
    return found


def test_a_key_changes_the_run_or_is_told() -> None:
    seen = _all_tables(Tcp)  # these have tests of their own below
    found = []
    for name, values in bases():
        for place, table in tables_of(parse(values, folder=BASES.parent).written):
            if type(table) not in seen:
                seen.add(type(table))
                found += [f"{name}: {key}" for key in silent(values, place, table)]
    assert not found, "\n".join(found)
    assert _all_tables(WrittenFile) - seen == set()


def _all_tables(model: type[BaseModel]) -> set[type[BaseModel]]:
    found = {model}
    for field in model.model_fields.values():
        annotation = annotated(field)
        for inner in models_of(annotation) or models_of(item_of(annotation)):
            found |= _all_tables(inner)
    return found


TWO_WAYS: dict[str, Any] = {
    "run": {"duration": "10 s"},
    "topology": {
        "kind": "dumbbell",
        "sources": 3,
        "bottleneck": {"rate": "4000 cells/s", "delay": "20 ms", "buffer": "120 cells"},
        "access": {"delay": "1 ms"},
    },
}
WIDE = {"topology.bottleneck.rate": "90000 cells/s", "topology.bottleneck.buffer": "unlimited"}
LARGE = {"tcp.receiver_window": "300 kB", "tcp.window_scaling": True}
PAUSES = {"kind": "transfers", "size": "30 kB", "idle": "3 s", "new_connection": False}
PAGES = {"kind": "web", "page_interval": "3 s", "file_class": [{"share": 1, "step_kb": 0.5}]}
MARKS = {
    "topology.bottleneck.rate": "10 Mbit/s",
    "topology.bottleneck.framing": "ip",
    "topology.bottleneck.buffer": "200 packets",
    "topology.bottleneck.policy": "codel",
    "topology.access": {"rate": "100 Mbit/s", "framing": "ip", "delay": "1 ms"},
    "tcp.mss": "1000 B",
}
#: What TCP's rules make a difference to: full buffers, windows that fill, pauses, timeouts in a
#: row, pages that lose files, a floor that decides RTO, windows with a piece of a segment.
STRESSES: tuple[dict[str, Any], ...] = (
    {},
    {"traffic": {"kind": "transfers", "size": "30 kB", "idle": "1.3 s"}},
    {"traffic": PAUSES, "run.duration": "20 s"},
    {"topology.bottleneck.loss": 0.3, "run.duration": "300 s"},
    {"topology.bottleneck.loss": 0.02, "tcp.rto_min": "20 ticks", "run.duration": "100 s"},
    {"topology.bottleneck.loss": 0.01, "topology.bottleneck.rate": "20000 cells/s", **LARGE},
    {"tcp.receiver_window": "300 kB"},
    WIDE,
    {**WIDE, **LARGE, "tcp.initial_ssthresh": "2 segments", "run.duration": "20 s"},
    {"topology.bottleneck.loss": 0.02, "tcp.timestamps": True, "run.duration": "200 s"},
    {"tcp.timestamps": True, "tcp.delayed_ack": "on", **WIDE, **LARGE},
    {**WIDE, "tcp.max_cwnd": "60000 B", "tcp.receiver_window": "10100 B", "tcp.nagle": False},
    {
        "topology.bottleneck.loss": 0.1,
        "tcp.timestamps": True,
        "tcp.tick": "1 ms",
        "run.duration": "100 s",
        **LARGE,
    },
    {
        "tcp.timestamps": True,
        "tcp.tick": "1 ms",
        **WIDE,
        "topology.bottleneck.rate": "20000 cells/s",
        **LARGE,
    },
    {
        "topology.bottleneck.loss": 0.08,
        "traffic": {"kind": "transfers", "size": "300 kB"},
        "tcp.initial_cwnd": "90 segments",
        **WIDE,
        **LARGE,
    },
    MARKS,
    {
        "topology.bottleneck.loss": 0.05,
        "traffic": PAGES,
        "tcp.initial_cwnd": "90 segments",
        "tcp.delayed_ack": "on",
        "run.duration": "60 s",
    },
    {
        "topology.bottleneck.loss": 0.2,
        "tcp.tick": "1 ms",
        "tcp.rto_min": "200 ms",
        "tcp.timestamps": True,
        "run.duration": "60 s",
        **WIDE,
    },
    {
        "topology.bottleneck.loss": 0.05,
        "traffic": {"kind": "transfers", "size": "300 kB"},
        "tcp.initial_cwnd": "5500 B",
        "tcp.sws_avoidance": False,
        "tcp.nagle": False,
        **WIDE,
        **LARGE,
    },
    {"topology.bottleneck.loss": 0.8, "run.duration": "1000 s"},
    {
        "topology.bottleneck.loss": 0.05,
        "tcp.timestamps": True,
        "tcp.tick": "1 ms",
        "tcp.receiver_window": "5300 B",
        "tcp.nagle": False,
        "run.duration": "60 s",
    },
)


def _outcome(tcp: dict[str, Any], stress: dict[str, Any]) -> object:
    """What flows are told to have done; none where the parameters have a fault."""
    stated = {key: value for key, value in stress.items() if key.removeprefix("tcp.") not in tcp}
    try:
        scenario = parse({**TWO_WAYS, "tcp": suited(tcp)}, values=stated)
    except ScenarioFaults:
        return None
    return list(run_spec(scenario.resolve()).records["flows"])


#: Those that may stand together: BBR has to know what is in flight.
PAIRS = [
    (recovery, congestion)
    for recovery in RULES["recovery"]
    for congestion in RULES["congestion"]
    if congestion not in ("bbr", "bbr3") or recovery == "rack_tlp"
]


_SHOWN_BY: dict[str, int] = {}
"""The stress in which a key had its effect last, by key: that stress is tried first."""


def _has_effect(key: Key, own: dict[str, Any], before: Callable[[int], object]) -> bool:
    """Whether a value of a key changes what flows do in one of the stresses."""
    last = _SHOWN_BY.get(str(key), 0)
    for at in sorted(range(len(STRESSES)), key=lambda at: at != last):
        for value in key.values:
            if _outcome(key.over(own, value), STRESSES[at]) != before(at):
                _SHOWN_BY[str(key)] = at
                return True
    return False


@pytest.mark.parametrize(("recovery", "congestion"), PAIRS)
def test_a_tcp_key_changes_what_a_sender_does_or_is_told(recovery: str, congestion: str) -> None:
    own = {"recovery": recovery, "congestion": congestion}
    before = cache(lambda at: _outcome(own, STRESSES[at]))
    # ECN has its effect where a queue marks, and none of these does; see below.
    keys = [key for key in OF_TCP if key.name not in {*own, "ecn"}]
    keys += [key for of in own.items() for key in OF_RULES[of]]
    assert [str(key) for key in keys if not _has_effect(key, own, before)] == []


def test_ecn_replaces_losses_by_marks_where_a_queue_marks() -> None:
    link = {"rate": "10 Mbit/s", "framing": "ip", "delay": "20 ms", "buffer": "100 packets"}
    topology = {
        "kind": "dumbbell",
        "sources": 2,
        "bottleneck": {**link, "policy": "codel"},
        "access": {"delay": "1 ms"},
    }
    tcp = {"preset": "rfc-modern", "mss": "1460 B"}

    def flows(ecn: str) -> list[dict[str, Any]]:
        values = {"topology": topology, "tcp": {**tcp, "ecn": ecn}, "run": {"duration": "10 s"}}
        return list(run_spec(parse(values).resolve()).records["flows"])

    without, with_it = flows("off"), flows("classic")
    assert all(flow["segments_retransmitted"] > 0 for flow in without)
    assert all(flow["ecn_reductions"] > 0 for flow in with_it)
    assert all(flow["segments_retransmitted"] == 0 for flow in with_it)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [(rule, kind) for rule in ("slow_start", "pacing") for kind in RULES[rule]],
)
def test_a_key_of_a_kind_of_rule_changes_what_a_sender_does(rule: str, kind: str) -> None:
    beside = {"recovery": "rack_tlp"} if rule == "pacing" else {}
    for key in OF_RULES[rule, kind]:
        found = [
            {repr(_outcome(key.over(beside, value), stress)) for value in key.values}
            for stress in STRESSES
        ]
        assert any(len(outcomes) > 1 for outcomes in found), key


def test_a_key_of_another_kind_of_rule_is_a_fault_that_says_which_there_are() -> None:
    base = {"preset": "icccn97-wan"}
    assert check({**base, "tcp": {"recovery": "reno"}}) == ()
    recovery = {"kind": "reno", "flywheel": True}
    (reported,) = check({**base, "tcp": {"recovery": recovery}})
    assert (reported.path, reported.got) == (
        "tcp.recovery.flywheel",
        'the unknown key "flywheel"',
    )
    assert reported.allowed.startswith("kind, dup_ack_threshold, avoid_multiple_fast_retransmits")


def test_a_flows_own_rule_goes_over_the_common_one() -> None:
    common = {
        "preset": "icccn97-wan",
        "tcp": {"recovery": {"kind": "sack", "max_blocks": 2, "pipe_room": "any"}},
    }
    own = {"names": ["flow2"], "tcp": {"recovery": {"max_blocks": 1}}}
    other = {"names": ["flow3"], "tcp": {"recovery": "vanilla"}}
    flows = parse({**common, "flow": [own, other]}).resolve().flows
    found = [to_builtins(flow.tcp.recovery) for flow in flows[:3]]
    assert [one["kind"] for one in found] == ["sack", "sack", "vanilla"]
    assert [(one["max_blocks"], one["pipe_room"]) for one in found[:2]] == [(2, "any"), (1, "any")]
