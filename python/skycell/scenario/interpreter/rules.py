"""Declared rules resolved: each parameter by its type, then those that are compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from skycell.input.faults import Verbatim
from skycell.input.parameters import Parameters
from skycell.input.quantities import Quantity, show_amount, show_time
from skycell.scenario.declared.rules import Declared, Declares, Kinds, Nested, Parameter, Part
from skycell.scenario.interpreter.parameters import RESOLVERS
from skycell.scenario.interpreter.place import Place, needed
from skycell.scenario.values.cells import MILLICELLS
from skycell.spec.part import SpecPart

_TIMES = ("Interval", "StateTime", "TimeOrNone")
"""Types of parameters that are times."""
_RATES = ("PeakCellRate", "RateUpToPeak", "CellRateOrNone")
"""Types of parameters that are rates of cells."""


def resolve(rule: Declared, written: Parameters, at: Place, **known: Any) -> Any:
    """The spec of a rule; none with a fault of a parameter for which no value can stand.

    Args:
        rule: its declaration.
        written: it as a file has it.
        at: where it stands.
        known: fields that follow from the rest of the scenario.
    """
    assert rule.spec is not None
    return _spec(rule.spec, rule.parameters, written, at, known)


def fields_of(rule: Declared, written: Parameters, at: Place) -> dict[str, Any]:
    """The fields of a rule that is no part of a run's spec."""
    return _fields(rule.parameters, written, at, {}, None)[0]


def _spec(
    spec: type[SpecPart],
    parameters: tuple[Parameter, ...],
    written: Parameters,
    at: Place,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> SpecPart | None:
    fields, is_whole = _fields(parameters, written, at, known, spec.model_fields)
    for one in parameters:
        if isinstance(one, Declares) and (one.below or one.at_most):
            _check_order(one, fields, parameters, written, at)
    return spec(**fields) if is_whole else None


def _fields(
    parameters: tuple[Parameter, ...],
    written: Parameters,
    at: Place,
    known: Mapping[str, Any],
    of_spec: Collection[str] | None,
) -> tuple[dict[str, Any], bool]:
    """The fields of a table, and whether each has a value: with a fault, none stands for it.

    What is only written, for other parameters, is no field: `of_spec` has those of the spec.
    """
    fields = dict(known)
    is_whole = True
    for one in parameters:
        if one.field in known or not (of_spec is None or one.field in of_spec):
            continue
        key = None if isinstance(one, Part) else one.key
        setting = None if key is None else getattr(written, key)
        fields[one.field] = value = _field(one, setting, written, at)
        is_whole &= value is not None or (setting is None and not isinstance(one, Part))
    return fields, is_whole


def _field(one: Parameter, setting: Any, written: Parameters, at: Place) -> Any:
    if isinstance(one, Part):
        return _spec(one.spec, one.parameters, written, at)
    if isinstance(one, Kinds):
        return resolve(one.rules[setting.kind], setting, at.inside(written, one.key))
    if isinstance(one, Nested):
        return _nested(one, setting, written, at)
    resolver = RESOLVERS[one.type]
    if not one.is_list:
        return resolver(at, one, setting, written)
    values = tuple(resolver(at, one, item, written) for item in setting)
    if None in values:
        return None
    if one.is_ascending and list(values) != sorted(values):
        got = Verbatim(f"{', '.join(map(show_amount, values))} {needed(at.buffer).unit.noun}")
        at.fault(one, got, "from the least to the greatest")
    return values


def _nested(one: Nested, setting: Any, written: Parameters, at: Place) -> Any:
    if not one.is_list:
        return _spec(one.spec, one.parameters, setting, at.inside(written, one.key))
    if not setting:
        at.fault(one, Verbatim("none"), "at least one")
    places = (at.inside(written, one.key, i) for i in range(len(setting)))
    tables = zip(setting, places, strict=True)
    return tuple(_spec(one.spec, one.parameters, table, place) for table, place in tables)


def _check_order(
    one: Declares,
    fields: Mapping[str, Any],
    parameters: tuple[Parameter, ...],
    written: Parameters,
    at: Place,
) -> None:
    """Refuses a parameter that is not below another; of a list the least is meant."""
    field = one.below or one.at_most
    (other,) = (p for p in parameters if isinstance(p, Declares) and p.field == field)
    value, limit = _least(fields[one.field]), _least(fields[field])
    if value is None or limit is None or value < limit or (one.at_most and value == limit):
        return
    setting = getattr(written, str(one.key))
    words = "up to" if one.at_most else "below"
    whose = f"the least of {other.key}" if isinstance(fields[field], tuple) else other.key
    got = str(setting) if isinstance(setting, Quantity) else setting
    at.fault(one, got, f"{words} {whose}, {_shown(one, limit, at)}")


def _shown(one: Declares, limit: int, at: Place) -> str:
    if one.type in _TIMES:
        return show_time(limit)
    if one.type in _RATES:
        return f"{show_amount(limit // MILLICELLS)} cells/s"
    return needed(at.buffer).unit.shown(limit)


def _least(value: Any) -> int | None:
    if isinstance(value, tuple):
        return min((n for n in value if n is not None), default=None)
    found: int | None = value
    return found
