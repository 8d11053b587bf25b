"""Parts of a spec: frozen, of known fields, with numbers that Rust's integers hold."""

import copy
import pickle
from typing import Any

import pytest

from skycell.spec.declared.network import (
    NodeSpec,
    PacketFraming,
    StartAt,
    StartDrawn,
    VsVdSpec,
)
from skycell.spec.part import OutOfRange, SpecPart
from skycell.spec.reading import NoSpec, read_part
from skycell.spec.text import canonical_json

NODE = NodeSpec(
    name="s1", kind="switch", vs_vd=VsVdSpec(coupling="acr", target_ps=3, drain_limit=0.5)
)


def test_a_part_is_equal_to_another_with_the_same_values_and_only_to_such() -> None:
    again = NodeSpec(name="s1", kind="switch", vs_vd=NODE.vs_vd)
    assert (again, hash(again)) == (NODE, hash(NODE))
    assert again != again.model_copy(update={"vs_vd": None})
    drawn: SpecPart = StartDrawn(from_ps=0, to_ps=0)
    assert StartAt(time_ps=0) != drawn


def test_a_part_keeps_its_values_and_its_copy_has_other_ones() -> None:
    with pytest.raises(AttributeError):
        NODE.name = "s2"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del NODE.name
    assert (NODE.model_copy(update={"name": "s2"}).name, NODE.name) == ("s2", "s1")
    assert copy.deepcopy(NODE) == pickle.loads(pickle.dumps(NODE)) == NODE


@pytest.mark.parametrize("values", [{}, {"time_ps": 0, "pace": 1}])
def test_a_part_has_all_of_its_fields_and_no_others(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"time_ps|pace"):
        StartAt(**values)


@pytest.mark.parametrize("value", [-1, 2**32, 1.0, True])
def test_a_number_that_does_not_fit_is_found_with_its_place(value: Any) -> None:
    plain = PacketFraming(
        rate_millibps=1, overhead_octets=0, least_octets=0, unit_octets=1, line_octets=1
    )
    with pytest.raises(OutOfRange) as caught:
        plain.model_copy(update={"unit_octets": value, "fragment_octets": 2**32 - 1})
    assert caught.value.found == [(("unit_octets",), value, 2**32 - 1)]
    assert plain.model_copy(update={"rate_millibps": 2**64 - 1}).fragment_octets is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"kind": "switch"}',
        '{"kind": "bridge", "name": "s1"}',
        '{"kind": "switch", "name": 1}',
        '{"kind": "switch", "name": "s1", "color": 2}',
        '{"kind": "switch", "name": "s1", "vs_vd": []}',
        '{"kind": "switch", "name": "s1", "vs_vd": {"coupling": "acr", "target_ps": 3}}',
    ],
)
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(NoSpec):
        read_part(NodeSpec, text)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_a_number_that_does_not_fit_is_refused_with_its_place(value: int) -> None:
    text = canonical_json(NODE).replace('"target_ps":3', f'"target_ps":{value}')
    with pytest.raises(NoSpec, match=r"target_ps.*vs_vd"):
        read_part(NodeSpec, text)


def test_a_part_is_read_as_it_was_written() -> None:
    assert read_part(NodeSpec, canonical_json(NODE)) == NODE
    whole = canonical_json(NODE).replace("0.5", "1")
    read = read_part(NodeSpec, whole).vs_vd
    assert read is not None
    assert repr(read.drain_limit) == "1.0"
