from skycell import _core
from skycell.scenario import parse
from tests.unit.scenario.wan import wan

LINK = {"rate": "353207 cells/s", "delay": "5 ms", "buffer": "1000 cells"}


def test_n_sources_share_the_link_between_two_switches() -> None:
    spec = wan(topology__sources=3).resolve()
    assert [node.name for node in spec.nodes] == [
        *("source1", "source2", "source3"),
        *("switch1", "switch2"),
        *("destination1", "destination2", "destination3"),
    ]
    names = [link.name for link in spec.links]
    forward = [names[i] for i in spec.vcs[spec.flows[1].forward[0]].path]
    assert forward == ["source2>switch1", "switch1>switch2", "switch2>destination2"]
    reverse = [names[i] for i in spec.vcs[spec.flows[1].reverse[0]].path]
    assert reverse == ["destination2>switch2", "switch2>switch1", "switch1>source2"]
    assert len(spec.vcs) == 6


def test_routers_put_their_connections_on_one_vc() -> None:
    spec = wan(topology__sources=5, topology__tcps_per_vc=2).resolve()
    _core.validate(spec.canonical_json())
    trunks = [[spec.vcs[vc].name for vc in flow.forward][1] for flow in spec.flows]
    assert trunks == ["trunk1.forward"] * 2 + ["trunk2.forward"] * 2 + ["trunk3.forward"]
    bottleneck = next(i for i, link in enumerate(spec.links) if link.name == "switch1>switch2")
    assert [vc.name for vc in spec.vcs if bottleneck in vc.path] == sorted(set(trunks))
    assert {node.name for node in spec.nodes if node.kind == "router"} == {
        f"{side}{k}" for side in ("ingress", "egress") for k in (1, 2, 3)
    }


def test_one_router_may_stand_further_away() -> None:
    further = [{"vc": 1, "delay": "20 ms"}]
    spec = wan(topology__tcps_per_vc=1, topology__extra_delay=further).resolve()
    delays = {link.name: link.delay_ps for link in spec.links}
    assert delays["ingress1>switch1"] == delays["switch1>ingress1"] == (5 + 20) * 10**9
    assert delays["ingress2>switch1"] == delays["switch2>egress1"] == 5 * 10**9


def test_the_link_of_a_router_may_differ_from_the_hosts() -> None:
    spec = wan(topology__tcps_per_vc=2, topology__edge={"delay": "1 ms"}).resolve()
    delays = {link.name: link.delay_ps for link in spec.links}
    assert delays["ingress1>switch1"] == 10**9
    assert delays["source1>ingress1"] == 5 * 10**9


def test_the_port_of_an_edge_router_has_its_own_buffer_and_policy() -> None:
    edge = {"delay": "1 ms", "buffer": "500 cells", "policy": "ppd"}
    further = [{"vc": 1, "delay": "24 ms"}]
    keys = {"topology__tcps_per_vc": 1, "topology__edge": edge, "topology__extra_delay": further}
    ports = {link.name: link.port for link in wan(**keys).resolve().links}
    for k in (1, 2):
        (queue,) = ports[f"ingress{k}>switch1"].queues
        assert (queue.capacity_cells, queue.policy.kind) == (500, "ppd")
        (queue,) = ports[f"egress{k}>switch2"].queues
        assert (queue.capacity_cells, queue.policy.kind) == (None, "tail_drop")


def test_a_parking_lot_has_a_congested_link_at_each_hop() -> None:
    spec = parse(
        {
            "run": {"duration": "1 s"},
            "topology": {
                "kind": "parking_lot",
                "hops": 3,
                "cross_flows": 2,
                "bottleneck": LINK,
                "access": {"delay": "1 km"},
            },
        }
    ).resolve()
    _core.validate(spec.canonical_json())
    limited = [link.name for link in spec.links if link.port.capacity_cells == 1_000]
    assert limited == ["switch1>switch2", "switch2>switch3", "switch3>switch4"]
    assert len(spec.flows) == 1 + 3 * 2
    names = [link.name for link in spec.links]
    crossing = {
        hop: sum(names.index(hop) in spec.vcs[flow.forward[0]].path for flow in spec.flows)
        for hop in limited
    }
    assert set(crossing.values()) == {3}  # the long flow and two others
