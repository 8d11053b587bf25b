"""Declared rules of a port resolved: each parameter by its type, then those that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skycell.input.faults import Verbatim
from skycell.input.parameters import Parameters
from skycell.input.quantities import Quantity, show_amount, show_time
from skycell.scenario.declared.rules import Declared, Declares, Nested, Parameter, Part
from skycell.scenario.resolve.parameters import RESOLVERS, Port
from skycell.spec.part import SpecPart

_TIMES = ("Interval", "StateTime", "TimeOrNone")
"""Types of parameters that are times."""


def resolve_rule(rule: Declared, written: Parameters, port: Port) -> SpecPart | None:
    """What an engine reads of a rule that a file has `written` for a port; none with a fault."""
    assert rule.spec is not None
    return _spec(rule.spec, rule.parameters, written, port)


def _spec(
    spec: type[SpecPart],
    parameters: tuple[Parameter, ...],
    written: Parameters,
    port: Port,
) -> SpecPart | None:
    values: dict[str, Any] = {}
    for one in parameters:
        assert not isinstance(one, Nested)  # no rule of a port has tables
        if isinstance(one, Part):
            values[one.field] = _spec(one.spec, one.parameters, written, port)
        elif one.field in spec.model_fields:
            setting = None if one.key is None else getattr(written, one.key)
            values[one.field] = _value(one, setting, written, port)
    for one in parameters:
        if isinstance(one, Declares) and (one.below or one.at_most):
            _check_order(one, values, parameters, written, port)
    return None if None in values.values() else spec(**values)


def _value(one: Declares, setting: Any, written: Parameters, port: Port) -> Any:
    resolve = RESOLVERS[one.type]
    if not one.is_list:
        return resolve(port, one, setting, written)
    values = tuple(resolve(port, one, item, written) for item in setting)
    if None in values:
        return None
    if one.is_ascending and list(values) != sorted(values):
        assert one.key is not None
        got = Verbatim(f"{', '.join(map(show_amount, values))} {port.unit.noun}")
        port.faults.add((*port.where, one.key), got, "from the least to the greatest")
    return values


def _check_order(
    one: Declares,
    values: Mapping[str, Any],
    parameters: tuple[Parameter, ...],
    written: Parameters,
    port: Port,
) -> None:
    """Refuses a parameter that is not below another; of a list the least is meant."""
    field = one.below or one.at_most
    (other,) = (p for p in parameters if isinstance(p, Declares) and p.field == field)
    value, limit = _least(values[one.field]), _least(values[field])
    if value is None or limit is None or value < limit or (one.at_most and value == limit):
        return
    assert one.key is not None
    assert other.key is not None
    setting = getattr(written, one.key)
    words = "up to" if one.at_most else "below"
    whose = f"the least of {other.key}" if isinstance(values[field], tuple) else other.key
    port.faults.add(
        (*port.where, one.key),
        str(setting) if isinstance(setting, Quantity) else setting,
        f"{words} {whose}, {_shown(one, limit, port)}",
    )


def _shown(one: Declares, limit: Any, port: Port) -> str:
    return show_time(limit) if one.type in _TIMES else port.unit.shown(limit)


def _least(value: Any) -> int | None:
    if isinstance(value, tuple):
        return min((n for n in value if n is not None), default=None)
    found: int | None = value
    return found
