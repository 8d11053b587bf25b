"""Declared rules resolved: each parameter by its type, then those that are compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from skycell.input.faults import Verbatim
from skycell.input.parameters import Parameters
from skycell.input.quantities import Dimension, Quantity, show_amount, show_time
from skycell.scenario.declared.types import PLAIN
from skycell.scenario.interpreter.parameters import RESOLVERS
from skycell.scenario.interpreter.place import Place, needed
from skycell.scenario.values.cells import MILLICELLS
from skycell.scenario.values.rule_specs import (
    Choice,
    FieldSpec,
    Flattened,
    Parameter,
    RuleSpec,
    SubTable,
)
from skycell.spec.part import SpecPart

_RATES = ("PeakCellRate", "RateUpToPeak", "CellRateOrNone")
"""Types of parameters that are rates of cells."""


def resolve(rule: RuleSpec, written: Parameters, at: Place, **known: Any) -> Any:
    """Returns the spec of a rule, or none if a parameter with a fault has no value.

    Args:
        rule: the declaration.
        written: the rule as a file has it.
        at: the place of the rule.
        known: fields that follow from the rest of the scenario.
    """
    assert rule.spec is not None
    return _spec(rule.spec, rule.parameters, written, at, known)


def fields_of(rule: RuleSpec, written: Parameters, at: Place) -> dict[str, Any]:
    """Returns the fields of a rule that is no part of a run's spec."""
    return _fields(rule.parameters, written, at, {}, None)[0]


def _spec(
    spec: type[SpecPart],
    parameters: tuple[Parameter, ...],
    written: Parameters,
    at: Place,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> SpecPart | None:
    fields, is_whole = _fields(parameters, written, at, known, spec.__struct_fields__)
    for parameter in parameters:
        if isinstance(parameter, FieldSpec) and (parameter.below or parameter.at_most):
            _check_order(parameter, fields, parameters, written, at)
    return spec(**fields) if is_whole else None


def _fields(
    parameters: tuple[Parameter, ...],
    written: Parameters,
    at: Place,
    known: Mapping[str, Any],
    of_spec: Collection[str] | None,
) -> tuple[dict[str, Any], bool]:
    """Returns the fields of a table, and whether each of them has a value.

    `of_spec` names the fields of the spec. Other parameters are written only for these fields.
    """
    fields = dict(known)
    is_whole = True
    for parameter in parameters:
        if parameter.field in known or not (of_spec is None or parameter.field in of_spec):
            continue
        key = None if isinstance(parameter, Flattened) else parameter.key
        setting = None if key is None else getattr(written, key)
        fields[parameter.field] = value = _field(parameter, setting, written, at)
        is_whole &= value is not None or (setting is None and not isinstance(parameter, Flattened))
    return fields, is_whole


def _field(parameter: Parameter, setting: Any, written: Parameters, at: Place) -> Any:
    if isinstance(parameter, Flattened):
        return _spec(parameter.spec, parameter.parameters, written, at)
    if isinstance(parameter, Choice):
        return resolve(parameter.rules[setting.kind], setting, at.inside(written, parameter.key))
    if isinstance(parameter, SubTable):
        return _nested(parameter, setting, written, at)
    resolver = RESOLVERS[parameter.type]
    if not parameter.is_list:
        return resolver(at, parameter, setting, written)
    values = tuple(resolver(at, parameter, item, written) for item in setting)
    if None in values:
        return None
    if parameter.is_ascending and list(values) != sorted(values):
        got = Verbatim(f"{', '.join(map(show_amount, values))} {needed(at.buffer).unit.noun}")
        at.fault(parameter, got, "from the least to the greatest")
    return values


def _nested(parameter: SubTable, setting: Any, written: Parameters, at: Place) -> Any:
    if not parameter.is_list:
        return _spec(
            parameter.spec, parameter.parameters, setting, at.inside(written, parameter.key)
        )
    if not setting:
        at.fault(parameter, Verbatim("none"), "at least one")
    places = (at.inside(written, parameter.key, i) for i in range(len(setting)))
    tables = zip(setting, places, strict=True)
    return tuple(
        _spec(parameter.spec, parameter.parameters, table, place) for table, place in tables
    )


def _check_order(
    parameter: FieldSpec,
    fields: Mapping[str, Any],
    parameters: tuple[Parameter, ...],
    written: Parameters,
    at: Place,
) -> None:
    """Refuses a parameter that is not below another. The least value of a list counts."""
    field = parameter.below or parameter.at_most
    (other,) = (p for p in parameters if isinstance(p, FieldSpec) and p.field == field)
    value, limit = _least(fields[parameter.field]), _least(fields[field])
    if value is None or limit is None or value < limit or (parameter.at_most and value == limit):
        return
    setting = getattr(written, str(parameter.key))
    words = "up to" if parameter.at_most else "below"
    whose = f"the least of {other.key}" if isinstance(fields[field], tuple) else other.key
    got = str(setting) if isinstance(setting, Quantity) else setting
    at.fault(parameter, got, f"{words} {whose}, {_shown(parameter, limit, at)}")


def _shown(parameter: FieldSpec, limit: int, at: Place) -> str:
    if PLAIN.get(parameter.type) is Dimension.TIME:
        return show_time(limit)
    if parameter.type in _RATES:
        return f"{show_amount(limit // MILLICELLS)} cells/s"
    return needed(at.buffer).unit.shown(limit)


def _least(value: Any) -> int | None:
    if isinstance(value, tuple):
        return min((n for n in value if n is not None), default=None)
    found: int | None = value
    return found
