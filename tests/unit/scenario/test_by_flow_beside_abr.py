"""Where an ABR VC begins, no port counts flows: what it sends is held to the rate of the VC."""

import pytest

from skycell.scenario import check


@pytest.mark.parametrize("by_flow", [False, True])
def test_a_port_where_an_abr_vc_begins_cannot_count_flows(by_flow: bool) -> None:
    near = {"rate": "100000 cells/s", "framing": "none", "delay": "1 ms"}
    edge = {**near, "buffer": "1000 cells", "policy": "fair_buffer_allocation"}
    links = [
        {"from": "a", "to": "in", **near},
        {"from": "in", "to": "s", "by_flow": by_flow, **edge},
        {"from": "s", "to": "out", **edge},
        {"from": "out", "to": "b", **near},
    ]
    nodes = {"hosts": ["a", "b"], "routers": ["in", "out"], "switches": ["s"]}
    vcs = [
        {"name": "there", "path": ["in", "s", "out"]},
        {"name": "back", "path": ["out", "s", "in"]},
    ]
    flow = {"name": "f", "source": "a", "destination": "b"}
    values = {
        "run": {"duration": "1 s"},
        "topology": {"kind": "graph", **nodes, "link": links, "vc": vcs, "flow": [flow]},
        "abr": [{"vcs": ["there"]}],
    }
    own = [fault for fault in check(values) if "the ABR VC" in fault.allowed]
    assert [fault.path for fault in own] == ["topology.link[1].by_flow"] * by_flow
    assert by_flow or check(values) == ()
