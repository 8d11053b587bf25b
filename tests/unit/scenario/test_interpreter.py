"""The interpreter of declared rules knows every type, and no other."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules

import skycell.scenario.declared
from skycell.scenario.declared.types import PLAIN
from skycell.scenario.interpreter.parameters import RESOLVERS
from skycell.scenario.values.rule_specs import Choice, FieldSpec, Parameter, RuleSpec

KNOWN_OTHERWISE = {"u32", "u64"}
"""Types of fields that a resolver of a table gives: the VC back, the fixed round-trip time."""


def rules() -> Iterator[RuleSpec]:
    """Every declared rule."""
    for module in iter_modules(skycell.scenario.declared.__path__):
        members = vars(import_module(f"skycell.scenario.declared.{module.name}"))
        for member in members.values():
            for rule in member.values() if isinstance(member, dict) else (member,):
                if isinstance(rule, RuleSpec):
                    yield rule


def types(parameters: Iterable[Parameter]) -> Iterator[str]:
    for parameter in parameters:
        if isinstance(parameter, FieldSpec):
            yield parameter.type
        elif not isinstance(parameter, Choice):
            yield from types(parameter.parameters)


def test_each_declared_type_has_a_resolver_and_each_resolver_a_type() -> None:
    declared = {name for rule in rules() for name in types(rule.parameters)}
    assert declared - KNOWN_OTHERWISE <= set(RESOLVERS)
    assert set(RESOLVERS) - set(PLAIN) <= declared
