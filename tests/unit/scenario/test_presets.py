from typing import Any

import pytest

from skycell import _core
from skycell.input.presets import Preset
from skycell.scenario import parse
from skycell.scenario.presets import presets
from skycell.scenario.presets.uplinks import uplink_presets
from skycell.spec.declared.network import UplinkSpec
from skycell.spec.declared.parts import DamaSpec, HybridSpec

LINK = {"rate": "155.52 Mbit/s", "framing": "sts3c", "delay": "5 ms", "buffer": "1 RTT"}
TOPOLOGY = {"kind": "dumbbell", "sources": 2, "bottleneck": LINK, "access": {"delay": "5 ms"}}


@pytest.mark.parametrize("preset", presets().values(), ids=lambda preset: preset.name)
def test_a_preset_makes_a_scenario_that_the_engine_takes(preset: Preset) -> None:
    if preset.is_whole:
        scenario = parse({"preset": preset.name})
    else:
        run = {"duration": "1 s"}
        scenario = parse({"run": run, "topology": TOPOLOGY, "tcp": {"preset": preset.name}})
    _core.validate(scenario.resolve().canonical_json())


def uplink_of(**values: object) -> UplinkSpec:
    uplink = {"to": "switch1", **values}
    (found,) = parse({"preset": "icccn97-wan", "uplink": [uplink]}).resolve().uplinks
    return found


@pytest.mark.parametrize("name", uplink_presets())
def test_a_preset_of_an_uplink_makes_one_that_the_engine_takes(name: str) -> None:
    uplink = {"to": "switch1", "preset": name}
    scenario = parse({"preset": "icccn97-wan", "uplink": [uplink]})
    _core.validate(scenario.resolve().canonical_json())
    assert not set(uplink_presets()) & set(presets())


def test_keys_of_an_uplink_go_over_its_preset_one_by_one() -> None:
    plain, other = uplink_of(preset="dvb_rcs"), uplink_of(preset="dvb_rcs", controller="on_board")
    assert isinstance(plain.access, DamaSpec)
    assert (plain.access.request, plain.access.free_capacity) == ("volume", True)
    # The links to the switch are of 5 ms or less: four hops to the NCC and back, two on board.
    assert plain.response_ps == 2 * other.response_ps > 0
    for same in ("dama", {"constant_slots": 2}):
        access = uplink_of(preset="dvb_rcs", access=same).access
        assert isinstance(access, DamaSpec)
        assert access.free_capacity
    assert isinstance(uplink_of(preset="dvb_rcs", access="hybrid").access, HybridSpec)


@pytest.mark.parametrize(
    "preset", [*presets().values(), *uplink_presets().values()], ids=lambda preset: preset.name
)
def test_every_value_of_a_preset_says_where_it_stands_or_why_it_was_chosen(preset: Preset) -> None:
    assert preset.title
    assert preset.source
    assert preset.own
    assert all(len(value.reason) > 5 for value in preset.own)


def test_a_value_is_either_stated_or_chosen() -> None:
    for preset in (*presets().values(), *uplink_presets().values()):
        keys = [value.key for value in preset.own]
        assert len(set(keys)) == len(keys), preset.name


@pytest.mark.parametrize(
    ("name", "rtt_ms", "rwnd", "mss", "buffer", "flows", "seconds"),
    [
        # As each publication states it; the keys of the presets say where.
        ("atmf960518", 30, 600_000, 512, 4_096, 5, 2),
        ("icccn97-lan", 0.03, 65_535, 512, 1_000, 5, 10),
        ("icccn97-wan", 30, 600_000, 512, 12_000, 5, 20),
        ("icccn97-geo", 550.02, 8_704_000, 9_180, 200_000, 5, 40),
        ("ijsc-leo", 30, 600_000, 9_180, 12_000, 5, 40),
        ("atmf970616-leo", 30, 600_000, 9_180, 12_000, 15, 20),
        ("atmf970616-multi-leo", 120, 2_500_000, 9_180, 50_000, 5, 100),
        ("atmf970616-geo", 570, 8_704_000, 9_180, 200_000, 5, 100),
        ("compcom99", 30, 2_097_152, 1_024, 48_000, 15, 60),
    ],
)
def test_a_studys_preset_has_the_studys_numbers(
    name: str, rtt_ms: float, rwnd: int, mss: int, buffer: int, flows: int, seconds: int
) -> None:
    spec = parse({"preset": name}).resolve()
    flow = spec.flows[0]
    way = [*spec.vcs[flow.forward[0]].path, *spec.vcs[flow.reverse[0]].path]
    assert sum(spec.links[i].delay_ps for i in way) == rtt_ms * 10**9
    assert (flow.tcp.rwnd, flow.tcp.mss, len(spec.flows)) == (rwnd, mss, flows)
    limited = [link.port.capacity_cells for link in spec.links if link.port.capacity_cells]
    assert limited == [buffer]
    assert spec.duration_ps == seconds * 10**12


def test_a_preset_below_gives_what_the_one_above_does_not_say() -> None:
    values = presets()["icccn97-geo"].all_values()
    assert values["tcp.mss"].value == "9180 B"
    assert values["topology.sources"].value == 5
    assert values["tcp.tick"].value == "100 ms"


def test_linux_with_reno_is_linuxs_reno_wherever_it_is_chosen_and_own_tables_stand() -> None:
    link = {"from": "a", "to": "b", "rate": "1 Mbit/s", "framing": "ip", "delay": "1 ms"}
    ends = {"source": "a", "destination": "b"}

    def tcp_of(common: dict[str, Any], own: dict[str, Any] | None = None) -> Any:
        values: dict[str, Any] = {
            "run": {"duration": "1 s"},
            "topology": {
                "kind": "graph",
                "hosts": ["a", "b"],
                "link": [link],
                "flow": [{"name": "f", **ends}],
            },
            "tcp": {"preset": "linux", **common},
        }
        if own is not None:
            values["flow"] = [{"names": ["f"], "tcp": own}]
        return parse(values).resolve().flows[0].tcp

    explicit = tcp_of(
        {
            "congestion": {"kind": "reno", "growth": "segment_counting"},
            "slow_start": {"kind": "hystart", "detect": "none"},
        }
    )
    assert tcp_of({"congestion": "reno"}) == explicit
    assert tcp_of({}, {"congestion": "reno"}) == explicit
    assert tcp_of({"congestion": "reno", "slow_start": "hystart"}).slow_start.detect == "both"
    both = tcp_of({"slow_start": "standard"}, {"congestion": "reno"})
    assert (both.slow_start.kind, both.congestion) == ("standard", explicit.congestion)
