"""ABR over satellites that switch on board: beside a chain of switches, and over a handover."""

from typing import Any

import pytest

import skycell
from tests.validation.test_onboard_switching import chain_of_switches, over

RING = {"constellation": "geo-ring", "from": "new_york", "to": "tokyo"}
SHELL = {"constellation": "jsac98-6x11", "from": "new_york", "to": "tokyo", "start": "80 s"}
ERICA = {"kind": "erica_plus", "interval": "5 ms"}
CONTROL = {"icr": "1000 cells/s", "rif": 1.0}


def with_abr(scenario: skycell.Scenario, vcs: list[str], **more: Any) -> skycell.Scenario:
    """The scenario with ABR VCs, and ERICA+ at the ports of its links between switches."""
    values = dict(scenario.values)
    topology = dict(values["topology"])
    if "bottleneck" in topology:
        topology["bottleneck"] = {**topology["bottleneck"], "rate_algorithm": ERICA}
    else:
        topology["link"] = [own for link in topology["link"] for own in _with_erica(link)]
    return skycell.parse({**values, "topology": topology, "abr": [{"vcs": vcs, **CONTROL}], **more})


def _with_erica(link: dict[str, Any]) -> list[dict[str, Any]]:
    """A link of a graph as a dumbbell has it, where the port for the way back has no algorithm."""
    if "buffer" not in link:
        return [link]
    if "switch2" not in (link["from"], link["to"]):
        return [{**link, "rate_algorithm": ERICA}]
    (other,) = {link["from"], link["to"]} - {"switch2"}
    down = {**link, "from": other, "to": "switch2", "one_way": True, "rate_algorithm": ERICA}
    up = {**link, "from": "switch2", "to": other, "one_way": True}
    return [down, up]


def test_rates_over_satellites_that_stand_still_are_those_over_a_chain_of_switches() -> None:
    vcs = ["flow1.forward", "flow2.forward"]
    boarded = with_abr(over({**RING, "onboard_switching": {}}), vcs)
    # FRTT of set-up is that of the whole path in the one, and of its links in the other: the same.
    chain = with_abr(chain_of_switches(), vcs)
    specs = [scenario.resolve() for scenario in (boarded, chain)]
    assert specs[0].vcs[0].abr == specs[1].vcs[0].abr
    results = [skycell.run(scenario) for scenario in (boarded, chain)]
    assert results[0].records["flows"] == results[1].records["flows"]
    assert [vc["abr"] for vc in results[0].records["vcs"]] == [
        vc["abr"] for vc in results[1].records["vcs"]
    ]
    assert results[0].records["vcs"][0]["abr"]["backward_received"] > 100


def test_after_a_handover_rates_are_those_of_the_new_satellites() -> None:
    # 6.9 s: 4-7 4-6 4-5 4-4 5-4, then 5-7 5-6 5-5 5-4.
    scenario = with_abr(
        over({**SHELL, "onboard_switching": {"buffer": "2000 cells"}}, duration="14 s"),
        ["flow1.forward", "flow2.forward"],
        records={"traces": ["acr", "rate_control"]},
    )
    results = [skycell.run(scenario, engine=engine) for engine in ("fast", "reference")]
    for key in ("flows", "vcs", "ports", "ledger"):
        assert results[0].records[key] == results[1].records[key]
    result = results[0]
    by_name = {port["name"]: port for port in result.records["ports"]}
    assert by_name["sat-4-6>sat-4-5"]["arrived"] > 0
    assert by_name["sat-5-6>sat-5-5"]["arrived"] > 0
    # No RM cell is lost; those that are not back are under way, or wait for their turn.
    for vc in result.records["vcs"]:
        assert sum(vc["cells_lost"].values()) + sum(vc["cells_discarded"].values()) == 0
        assert 0 <= vc["abr"]["forward_sent"] - vc["abr"]["backward_received"] < 300
    # Half of 20 Mbit/s each, 23 585 cells/s, of which ERICA+ keeps some to drain the queue.
    acr = [vc["abr"]["acr_millicells"] / 1e3 for vc in result.records["vcs"][:1]]
    assert acr[0] == pytest.approx(23_585, rel=0.1)


def test_switches_that_forget_a_vc_lose_its_rm_cells_and_rates_recover() -> None:
    scenario = with_abr(
        over({**SHELL, "onboard_switching": {}, "handover_loses_cells": True}, duration="14 s"),
        ["flow1.forward", "flow2.forward"],
    )
    vcs = skycell.run(scenario).records["vcs"]
    assert sum(vc["cells_lost"]["off_path"] for vc in vcs) > 0
    assert vcs[0]["abr"]["acr_millicells"] / 1e3 > 15_000


def test_mcrs_have_to_find_room_on_later_paths_too() -> None:
    own = {"buffer": "2000 cells", "rate": "4 Mbit/s", "framing": "none"}
    scenario = over({**SHELL, "onboard_switching": own}, duration="14 s")
    table = {"vcs": ["flow1.forward"], **CONTROL, "mcr": "10000 cells/s", "icr": "10000 cells/s"}
    faults = skycell.check({**scenario.values, "abr": [table]})
    # 9 433 cells/s on board; the second path begins over 5-7.
    assert any("sat-5-7>sat-5-6" in fault.got for fault in faults)
    assert skycell.check({**scenario.values, "abr": [{**table, "mcr": "9000 cells/s"}]}) == ()
