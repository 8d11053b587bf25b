"""What the engines refuse of links that move and VCs that are rerouted."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from skycell._core import SpecError, validate
from skycell.scenario import parse


@cache
def valid() -> str:
    """A run over satellites that switch on board, with a handover at its beginning."""
    schedule = {
        "constellation": "jsac98-6x11",
        "from": "new_york",
        "to": "tokyo",
        "onboard_switching": {},
    }
    bottleneck = {"rate": "10 Mbit/s", "framing": "none", "buffer": "9 cells"}
    spec = parse(
        {
            "run": {"duration": "10 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 1,
                "bottleneck": {**bottleneck, "schedule": {**schedule, "start": "80 s"}},
                "access": {"delay": "1 ms"},
            },
        }
    ).resolve()
    return spec.canonical_json()


def number(spec: dict[str, Any], name: str) -> int:
    return next(i for i, link in enumerate(spec["links"]) if link["name"] == name)


def up(spec: dict[str, Any]) -> dict[str, Any]:
    """The schedule of the link that turns."""
    schedule: dict[str, Any] = spec["links"][number(spec, "switch1>switch2")]["schedule"]
    return schedule


def rerouting(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec["vcs"][0]["rerouting"]
    return found


def set_to(part: dict[str, Any], key: str, value: Any) -> None:
    part[key] = value


UP = "links[2].schedule"

CASES: dict[str, Callable[[dict[str, Any]], None]] = {
    "vcs[0].rerouting.times_ps: must ascend from above 0": lambda spec: set_to(
        rerouting(spec), "times_ps", [0]
    ),
    "vcs[0].rerouting: needs as many times as paths, and at least one": lambda spec: set_to(
        rerouting(spec), "paths", []
    ),
    "vcs[0].rerouting.paths[0]: a VC needs at least one link": lambda spec: set_to(
        rerouting(spec), "paths", [[]]
    ),
    "vcs[0].rerouting.paths[0]: no such link": lambda spec: set_to(
        rerouting(spec), "paths", [[99]]
    ),
    "vcs[0].rerouting.paths[0]: link switch1>switch2 does not lead to link sat-5-4>switch2": (
        lambda spec: rerouting(spec)["paths"][0].__delitem__(slice(2, -2))
    ),
    "vcs[0].rerouting.paths: must begin with the VC's first link and end at its end": (
        lambda spec: rerouting(spec)["paths"][0].pop(0)
    ),
    f"{UP}.to: must be other nodes, the first of them the link's": lambda spec: set_to(
        up(spec), "to", up(spec)["to"][::-1]
    ),
    f"{UP}.to: needs one for each step, or none": lambda spec: up(spec)["to"].pop(),
    f"{UP}.losses_ppb: got 1000000001, allowed at most 1000000000": lambda spec: set_to(
        up(spec), "losses_ppb", [0] * (len(up(spec)["times_ps"]) - 1) + [1_000_000_001]
    ),
    f"{UP}.losses_ppb: needs a loss_ppb of 0 beside it": lambda spec: (
        up(spec).update(losses_ppb=[0] * len(up(spec)["times_ps"]))
        or spec["links"][2].update(loss_ppb=1)
    ),
    "links[2].loss_ppb: got 1000000001, allowed at most 1000000000": lambda spec: set_to(
        spec["links"][2], "loss_ppb", 1_000_000_001
    ),
    f"{UP}.losses_ppb: needs one for each step, or none": lambda spec: set_to(
        up(spec), "losses_ppb", [0]
    ),
    f"{UP}.cell_times_ps: got 42399999, allowed from the link's cell_time_ps to 1 s": (
        lambda spec: set_to(
            up(spec),
            "cell_times_ps",
            [42_400_000] * (len(up(spec)["times_ps"]) - 1) + [42_399_999],
        )
    ),
}


@pytest.mark.parametrize("message", CASES)
def test_a_faulty_schedule_or_rerouting_is_refused(message: str) -> None:
    spec = json.loads(valid())
    assert number(spec, "switch1>switch2") == 2
    validate(json.dumps(spec))
    CASES[message](spec)
    with pytest.raises(SpecError) as refused:
        validate(json.dumps(spec))
    assert str(refused.value) == message


def test_the_link_that_a_vc_begins_or_ends_with_does_not_turn() -> None:
    spec = json.loads(valid())
    last = spec["links"][spec["vcs"][0]["path"][-1]]
    first = up(spec)
    steps = len(first["times_ps"])
    last["schedule"] = {
        **first,
        "delays_ps": [last["delay_ps"]] * steps,
        "to": [last["to"]] * steps,
    }
    with pytest.raises(SpecError, match="the first and the last link of a VC lead to one node"):
        validate(json.dumps(spec))
