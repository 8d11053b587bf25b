"""The canonical text of a spec, and the same text with another seed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings

from skycell.spec.declared.network import DfbaZFixed, NetworkSpec
from skycell.spec.part import SpecPart, fields_of
from skycell.spec.text import SpecText, canonical_json
from tests.border.specs import network_specs
from tests.unit.scenario.wan import wan


@settings(max_examples=40, deadline=None)
@given(network_specs())
def test_the_canonical_text_is_json_with_sorted_keys_and_no_spaces(spec: NetworkSpec) -> None:
    data = as_data(spec)
    assert spec.canonical_json() == json.dumps(data, sort_keys=True, separators=(",", ":"))


def as_data(value: Any) -> Any:
    if isinstance(value, SpecPart):
        values = [(field, getattr(value, name)) for name, field in fields_of(type(value)).items()]
        written = (one for one in values if not one[0].is_left_out or one[1] != one[0].default)
        return {field.key: as_data(own) for field, own in written}
    return [as_data(own) for own in value] if isinstance(value, tuple) else value


def test_a_number_that_is_not_finite_has_no_canonical_text() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(DfbaZFixed(value=float("nan")))


@pytest.mark.parametrize("seed", [0, 1, 10, 2**64 - 1])
def test_a_text_with_another_seed_is_that_of_the_spec_with_this_seed(seed: int) -> None:
    spec = wan(run__seed=3).resolve()
    text = SpecText(spec.canonical_json(), spec.seed)
    other = spec.with_seed(seed)
    assert text.with_seed(seed) == other.canonical_json()
    assert text.hashes([seed, 3]) == [other.hash(), spec.hash()]
