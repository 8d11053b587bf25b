"""What the ports of a scenario are set to, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import Path, show_path
from skycell.input.forms import keys_of
from skycell.input.parameters import Parameters, meaning_of
from skycell.input.quantities import Quantity
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.links.keys import AnyLink, CongestedLink
from skycell.scenario.origins import origin_of, source_of
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.scenario import Scenario
from skycell.scenario.values.rule_specs import FieldSpec, Flattened
from skycell.spec.declared.network import QueueSpec

#: Types of parameters that are sizes of what a buffer holds.
_SIZES = {"Threshold", "ThresholdBelowCapacity", "AverageThreshold", "CellCount"}


@dataclass(frozen=True)
class Setting:
    """A key of a port.

    Attributes:
        key: its place in the file, dotted.
        value: as it stands there, or would.
        origin: `file`, `preset NAME` or `default`.
        source: where its default stands, or why it was chosen; empty for other origins.
        meaning: what it does.
    """

    key: str
    value: str
    origin: str
    source: str
    meaning: str


def port_settings(scenario: Scenario) -> tuple[Setting, ...]:
    """The keys of the ports with a limit or a rule of their own; of links of one table once."""
    found: dict[str, Setting] = {}
    for link in scenario.plan.links.values():
        if not link.takes_all_in:
            for setting in _of_link(scenario, link):
                found.setdefault(setting.key, setting)
    return tuple(found.values())


def thresholds_of(queue: QueueSpec) -> dict[str, int]:
    """The sizes that a queue's policy compares its length with, by key, as its buffer counts."""
    found = {}
    for key, parameter, spec in _parameters(POLICIES[queue.policy.kind].parameters, queue.policy):
        value = getattr(spec, parameter.field)
        if parameter.type in _SIZES and isinstance(value, int):
            found[key] = value
    return found


def _parameters(parameters: tuple[Any, ...], spec: Any) -> Iterator[tuple[str, FieldSpec, Any]]:
    for parameter in parameters:
        if isinstance(parameter, Flattened):
            yield from _parameters(parameter.parameters, getattr(spec, parameter.field))
        elif isinstance(parameter, FieldSpec) and parameter.key is not None:
            yield parameter.key, parameter, spec


def _of_link(scenario: Scenario, link: PlannedLink) -> Iterator[Setting]:
    fields = {**AnyLink.model_fields, **CongestedLink.model_fields}
    for key, name, value in (
        ("buffer", link.buffer_key, link.port.buffer),
        ("policy", link.policy_key, link.port.policy),
        ("scheduler", "scheduler", link.port.scheduler),
        ("by_flow", "by_flow", link.port.by_flow or None),
        ("shaper", "shaper", link.port.shaper),
        ("policer", "policer", link.port.policer),
        ("ack_filter", "ack_filter", link.ack_filter or None),
        ("rate_algorithm", "rate_algorithm", link.port.rate_algorithm),
    ):
        if value is not None:
            source, meaning = source_of(fields[key]), meaning_of(fields[key])
            yield from _of_key(scenario, (*link.path, name), value, source, meaning)
    for place, own in enumerate(link.port.classes):
        yield from _of_table(scenario, (*link.path, "class", place), own)


def _of_key(
    scenario: Scenario, path: Path, value: Any, source: str, meaning: str
) -> Iterator[Setting]:
    """A value, and what is in it where it is a table."""
    is_table = isinstance(value, Parameters)
    origin = origin_of(scenario, path)
    shown = getattr(value, "kind", "") if is_table else _shown(value)
    if shown:
        own = source if origin == "default" else ""
        yield Setting(show_path(path), shown, origin, own, meaning)
    if is_table:
        yield from _of_table(scenario, path, value)


def _of_table(scenario: Scenario, path: Path, table: Parameters) -> Iterator[Setting]:
    names = {id(field): name for name, field in type(table).model_fields.items()}
    for key, field in keys_of(type(table)).items():
        value = getattr(table, names[id(field)])
        if key not in ("kind", "name") and value is not None:
            place = (*path, key)
            yield from _of_key(scenario, place, value, source_of(field), meaning_of(field))


def _shown(value: Any) -> str:
    if isinstance(value, Quantity):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(own)}" for key, own in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return str(float(value)) if hasattr(value, "numerator") and value != int(value) else str(value)
