"""Every spec that Python can write, Rust reads back the same; what is no spec is refused."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skycell._core import SpecError, reread, validate
from skycell.spec.declared.network import NetworkSpec
from skycell.spec.part import SpecPart, fields_of
from skycell.spec.reading import NoSpec
from tests.border.specs import network_specs
from tests.unit.scenario.wan import wan

LEFT_OUT = {
    key
    for part in SpecPart.__subclasses__()
    for key, found in fields_of(part).items()
    if found.is_left_out
}
"""Keys that the form does not have at their default."""

# A spec is large for hypothesis; what it finds matters here, not how fast it draws.
patient = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@patient
@given(network_specs())
def test_a_spec_comes_back_from_rust_as_python_wrote_it(spec: NetworkSpec) -> None:
    again = NetworkSpec.model_validate_json(reread(spec.canonical_json()))
    assert again == spec
    assert again.hash() == spec.hash()


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every object within a value."""
    if isinstance(value, dict):
        yield path
        for key, part in value.items():
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from places(part, (*path, index))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def refusal(spec: dict[str, Any]) -> str:
    with pytest.raises(SpecError) as caught:
        validate(json.dumps(spec))
    return str(caught.value)


@patient
@given(network_specs(), st.data())
def test_an_unknown_key_is_refused_wherever_it_stands(
    spec: NetworkSpec, data: st.DataObject
) -> None:
    faulty = json.loads(spec.canonical_json())
    path = data.draw(st.sampled_from(list(places(faulty))))
    at(faulty, path)["no_such_key"] = 1
    with pytest.raises(NoSpec):
        NetworkSpec.model_validate_json(json.dumps(faulty))
    message = refusal(faulty)
    assert "no_such_key: no such key" in message or "unknown field `no_such_key`" in message


@patient
@given(network_specs(), st.data())
def test_a_missing_key_is_refused_wherever_it_is_missing(
    spec: NetworkSpec, data: st.DataObject
) -> None:
    faulty = json.loads(spec.canonical_json())
    part = at(faulty, data.draw(st.sampled_from(list(places(faulty)))))
    key = data.draw(st.sampled_from([key for key in part if key not in LEFT_OUT]))
    del part[key]
    message = refusal(faulty)  # Python may fill in a key that has a usual value; Rust never does
    assert f"{key}: the key is missing" in message or f"missing field `{key}`" in message


def test_a_refusal_names_the_part_at_fault() -> None:
    spec = wan().resolve()
    validate(spec.canonical_json())
    faulty = json.loads(spec.canonical_json())
    faulty["links"][-1]["cell_time_ps"] = 0
    place = f"links[{len(spec.links) - 1}].cell_time_ps"
    assert refusal(faulty) == f"{place}: got 0, allowed above 0, at most 1 s"


def test_a_route_of_datagrams_is_one_from_host_to_host() -> None:
    beside = {"kind": "cbr", "name": "udp", "rate": "1000 cells/s", "frame": 3, "beside": "flow1"}
    text = wan(source=[beside], topology__tcps_per_vc=2).resolve().canonical_json()
    spec = json.loads(text)
    route = spec["sources"][0]["datagram_route"]
    names = [spec["vcs"][vc]["name"] for vc in route]
    assert names == ["flow1.in", "trunk1.forward", "flow1.out"]
    at = "sources[0].datagram_route"
    for faulty, reported in (
        ([route[0], 99], f"{at}: needs VCs that exist"),
        (route[1:], f"{at}: begins with the source's vc"),
        ([route[0], route[2]], f"{at}: VCs of a route are joined by routers"),
        (route[:2], f"{at}: ends at a host"),
    ):
        spec["sources"][0]["datagram_route"] = faulty
        assert refusal(spec) == reported
    spec["sources"][0] |= {"datagram_route": route, "cell_interval_ps": 86_400 * 10**12}
    place = "sources[0].cell_interval_ps"
    assert refusal(spec) == (
        f"{place}: got {86_400 * 10**12}, allowed at most 1 day for a datagram"
    )


def test_a_list_of_packets_is_one_that_can_be_sent() -> None:
    beside = {"kind": "cbr", "name": "udp", "rate": "9 cells/s", "frame": 3, "beside": "flow1"}
    spec = json.loads(wan(source=[beside]).resolve().canonical_json())
    packets = {
        "kind": "trace",
        "times_ps": [0, 5000, 5000],
        "octets": [40, 90, 1],
        "period_ps": 5000,
    }
    of_list = {"cell_interval_ps": 0, "datagram_octets": 90, "pattern": packets}
    sound = {**spec["sources"][0], **of_list}
    spec["sources"][0] = sound
    validate(json.dumps(spec))
    at, most = "sources[0].pattern", 8_640_000 * 10**12
    shortest = "allowed a nanosecond and more for each packet, "
    shortest += "and no less than the last of times_ps"
    for change, reported in (
        ({"times_ps": [], "octets": []}, f"{at}: needs at least one packet"),
        ({"times_ps": [0, 5000]}, f"{at}: needs as many times as octets"),
        ({"times_ps": [0, 5000, 4000]}, f"{at}.times_ps: must not descend"),
        (
            {"times_ps": [0, 5000, most + 1], "period_ps": None},
            f"{at}.times_ps: got {most + 1}, allowed at most 100 days",
        ),
        ({"octets": [0, 90, 1]}, f"{at}.octets: got 0, allowed 1 to 65535"),
        (
            {"octets": [40, 91, 1]},
            "sources[0].datagram_octets: got 90, allowed the longest of pattern.octets",
        ),
        (
            {"period_ps": 4000},
            f"{at}.period_ps: got 4000, {shortest}",
        ),
    ):
        spec["sources"][0] = {**sound, "pattern": {**packets, **change}}
        assert refusal(spec) == reported
    spec["sources"][0] = {**sound, "cell_interval_ps": 1}
    place = "sources[0].cell_interval_ps"
    assert refusal(spec) == f"{place}: got 1, allowed 0 with a list of packets"
    spec["sources"][0] = {**sound, "datagram_route": []}
    assert refusal(spec).startswith("sources[0].datagram_octets: needs a datagram_route")


def test_text_that_is_no_spec_is_refused_with_its_place() -> None:
    with pytest.raises(SpecError, match=r"^the spec cannot be read: .* at line 1 column 2$"):
        validate("{}")
