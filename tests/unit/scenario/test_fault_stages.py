"""All that is wrong with a file as it is written is told together; what follows from it is not."""

import copy
import random
from dataclasses import replace
from typing import Any

import pytest

from skycell.input.faults import show_path
from skycell.scenario import Fault, ScenarioFaults, check, parse
from tests.unit.scenario.test_nonsense import SOUND, places

#: What is no value of any parameter: no unit, no word, no name, no table with such a key.
GARBAGE: tuple[Any, ...] = ("5 parsecs?", {"garbage": 1}, -1.5)

Place = tuple[str | int, ...]


def reported(scenario: dict[str, Any], *garbage: tuple[Place, Any]) -> tuple[Fault, ...]:
    changed = copy.deepcopy(scenario)
    for place, value in garbage:
        here: Any = changed
        for step in place[:-1]:
            here = here[step]
        here[place[-1]] = value
    return check(changed)


@pytest.mark.parametrize("scenario", SOUND, ids=range(len(SOUND)))
def test_one_faulty_value_is_all_that_is_told(scenario: dict[str, Any]) -> None:
    for place in places(scenario):
        for value in GARBAGE:
            for fault in reported(scenario, (place, value)):
                own = show_path(place)
                assert fault.path.startswith(own) or own.startswith(fault.path), fault


def _own(faults: set[Fault]) -> set[Fault]:
    """The faults, of a flow's TCP parameters those that are also common ones once."""
    return {replace(fault, path=fault.path.removeprefix("flow[0].")) for fault in faults}


@pytest.mark.parametrize("scenario", SOUND, ids=range(len(SOUND)))
def test_of_two_faulty_values_all_is_told_that_is_told_of_each(scenario: dict[str, Any]) -> None:
    draw = random.Random(1)
    pairs = 0
    while pairs < 40:
        one, other = ((draw.choice(places(scenario)), draw.choice(GARBAGE)) for _ in range(2))
        nested = one[0][: len(other[0])] == other[0] or other[0][: len(one[0])] == one[0]
        if nested:
            continue
        pairs += 1
        alone = {*reported(scenario, one), *reported(scenario, other)}
        together = set(reported(scenario, one, other))
        assert together <= alone
        # What else a table of an unknown kind, or over an unknown preset, says is not looked at.
        if not {"kind", "preset"} & {one[0][-1], other[0][-1]}:
            assert _own(together) == _own(alone)


def test_what_a_faulty_value_would_have_decided_is_not_told() -> None:
    scenario = {
        "preset": "icccn97-wan",
        "topology": {
            "bottleneck": {
                "buffer": "5 parsecs",
                "delay": "5 parsecs",
                "policy": {"kind": "epd", "drop_threshold": "900000 cells"},
            }
        },
        "tcp": {"receiver_window": "1 RTT", "window_scaling": False, "initial_ssthresh": "0 B"},
    }
    assert [fault.path for fault in check(scenario)] == [
        "tcp.initial_ssthresh",
        "topology.bottleneck.buffer",
        "topology.bottleneck.delay",
    ]


def test_what_an_unknown_key_may_be_meant_to_say_is_left_open() -> None:
    link = {"rate": "155.52 Mbit/s", "framng": "sts12c", "delay": "1 ms", "buffer": "9 cells"}
    scenario = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": link,
            "access": {"delay": "1 ms"},
        },
    }
    assert [(fault.path, fault.got) for fault in check(scenario)] == [
        ("topology.bottleneck.framng", 'the unknown key "framng"'),
    ]


def test_of_an_unknown_preset_only_what_it_cannot_give_is_told() -> None:
    scenario = {"preset": "icccn97-gee", "tcp": {"mss": 5}, "flow": [{"nam": []}]}
    assert [fault.path for fault in check(scenario)] == ["flow[0].nam", "preset", "tcp.mss"]


def test_values_from_outside_are_told_together_with_the_file_as_it_is_written() -> None:
    late = {"start": {"kind": "together", "at": "100 s"}}
    values = {"tcp.mss": 5, "": 1}
    with pytest.raises(ScenarioFaults) as faults:
        parse({"preset": "icccn97-wan", **late}, values=values)
    assert [fault.path for fault in faults.value.faults] == ['""', "tcp.mss"]
