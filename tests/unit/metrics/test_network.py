"""What a network is able to give its flows, worked out by hand."""

from typing import Any

import pytest

import skycell
from skycell.metrics import Network, ceiling_of_all_bps, link_cell_bps
from tests.unit.parking_lot import PARKING_LOT


def test_fair_shares_are_worked_out_for_the_network_as_it_is() -> None:
    spec = skycell.parse(PARKING_LOT).resolve()
    network = Network.of(spec)
    rate = link_cell_bps(spec.links[0].cell_time_ps)
    # Three links of three flows each: everybody gets a third, of which 512 of 636 octets are TCP's.
    assert network.fair_bps() == pytest.approx([rate / 3 * 512 / 636] * 7)
    assert network.ceiling_bps == pytest.approx(rate * 512 / 636)
    assert len(network.congested) == 3


def test_fair_shares_are_of_what_cell_sources_leave() -> None:
    # Two links of 10 000 cells/s; video takes 8000 of the first half of the time and is silent for
    # the other. Of the 6000 that it leaves in the mean a and both have 3000, of the 10 000 of the
    # second b has the other 7000; of 1000 octets of payload are 1219 in cells.
    link = {"rate": "10000 cells/s", "delay": "1 ms"}
    scenario: dict[str, Any] = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["from", "middle", "to"],
            "switches": ["one", "two", "three"],
            "link": [
                link | {"from": "one", "to": "two", "buffer": "100 cells"},
                link | {"from": "two", "to": "three", "buffer": "100 cells"},
                link | {"from": "from", "to": "one", "rate": "100000 cells/s"},
                link | {"from": "middle", "to": "two", "rate": "100000 cells/s"},
                link | {"from": "to", "to": "three", "rate": "100000 cells/s"},
            ],
            "flow": [
                {"name": "both", "source": "from", "destination": "to"},
                {"name": "a", "source": "from", "destination": "middle"},
                {"name": "b", "source": "middle", "destination": "to"},
            ],
        },
        "tcp": {"mss": "1024 B"},
        "source": [
            {"kind": "vbr", "name": "video", "peak_rate": "8000 cells/s", "on": "10 ms"}
            | {"off": "10 ms", "source": "from", "destination": "middle"}
        ],
    }
    tcp_bps = 424 * 1024 / 1219
    fair = Network.of(skycell.parse(scenario).resolve()).fair_bps()
    assert fair == pytest.approx([3000 * tcp_bps, 3000 * tcp_bps, 7000 * tcp_bps])
    # Of a link that sources fill, all counts.
    scenario["source"][0] |= {"peak_rate": "10000 cells/s", "off": "0 s"}
    fair = Network.of(skycell.parse(scenario).resolve()).fair_bps()
    assert fair == pytest.approx([5000 * tcp_bps] * 3)


def test_the_ceiling_may_be_stated() -> None:
    spec = skycell.parse(PARKING_LOT).resolve()
    assert Network.of(spec, "63 Mbit/s").ceiling_bps == pytest.approx(63e6 * 512 / 636)


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ({"kind": "cbr", "rate": 0.25}, 0.75),
        ({"kind": "vbr", "peak_rate": 1.0, "on": "100 ms", "off": "300 ms"}, 0.75),
        ({"kind": "cbr", "rate": 1.0}, 0.0),
    ],
)
def test_the_ceiling_may_be_what_cell_sources_leave(source: dict[str, object], left: float) -> None:
    spec = skycell.parse({"preset": "icccn97-wan", "source": [{"name": "s", **source}]}).resolve()
    whole = Network.of(spec).ceiling_bps
    assert Network.of(spec, "left").ceiling_bps == pytest.approx(left * whole, rel=1e-6, abs=100)


def test_without_a_limited_buffer_the_slowest_link_on_the_way_is_the_ceiling() -> None:
    scenario = skycell.parse(PARKING_LOT).with_values(
        {"topology.bottleneck.buffer": "unlimited", "topology.bottleneck.policy": "tail_drop"}
    )
    network = Network.of(scenario.resolve())
    assert network.congested == ()
    assert network.ceiling_bps > 100e6


def test_of_several_congested_links_the_slowest_is_the_ceiling_and_the_first() -> None:
    spec = skycell.parse(PARKING_LOT).resolve()
    limited = [place for place, link in enumerate(spec.links) if link.port.is_limited]
    slowest = limited[1]
    assert slowest != limited[0]
    links = [
        # Cells take twice as long on the second of the three.
        link.model_copy(update={"cell_time_ps": 2 * link.cell_time_ps})
        if place == slowest
        else link
        for place, link in enumerate(spec.links)
    ]
    network = Network.of(spec.model_copy(update={"links": tuple(links)}))
    assert network.congested[0] == spec.links[slowest].name
    assert network.ceiling_bps == pytest.approx(Network.of(spec).ceiling_bps / 2)


def test_a_small_buffer_on_the_way_back_is_no_ceiling() -> None:
    host = {"rate": "100000 cells/s", "delay": "1 ms"}
    way = {"delay": "1 ms", "buffer": "100 cells", "one_way": True}
    scenario: dict[str, Any] = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["server", "client"],
            "routers": ["gateway", "terminal"],
            "link": [
                host | {"from": "server", "to": "gateway"},
                host | {"from": "client", "to": "terminal"},
                way | {"from": "gateway", "to": "terminal", "rate": "40000 cells/s"},
                way | {"from": "terminal", "to": "gateway", "rate": "2000 cells/s"},
            ],
            "flow": [{"name": "f", "source": "server", "destination": "client"}],
        },
    }
    spec = skycell.parse(scenario).resolve()
    network = Network.of(spec)
    # Acknowledgements wait at the slowest port, which data do not cross: 512 of 636 octets.
    assert network.congested == ("gateway>terminal",)
    assert network.ceiling_bps == pytest.approx(40_000 * 424 * 512 / 636)
    assert ceiling_of_all_bps(spec) == network.ceiling_bps


def test_without_a_limited_buffer_links_that_no_flow_crosses_do_not_count() -> None:
    scenario = skycell.parse(PARKING_LOT).with_values(
        {"topology.bottleneck.buffer": "unlimited", "topology.bottleneck.policy": "tail_drop"}
    )
    spec = scenario.resolve()
    crossed = {link for flow in spec.flows for vc in flow.forward for link in spec.vcs[vc].path}
    factors = {place: 2 if place in crossed else 10 for place in range(len(spec.links))}
    factors[max(crossed)] = 4
    links = tuple(
        link.model_copy(update={"cell_time_ps": factors[place] * spec.links[0].cell_time_ps})
        for place, link in enumerate(spec.links)
    )
    network = Network.of(spec.model_copy(update={"links": links}))
    assert network.ceiling_bps == pytest.approx(
        link_cell_bps(4 * spec.links[0].cell_time_ps) * 512 / 636
    )


def test_the_ceiling_is_of_the_largest_segments() -> None:
    spec = skycell.parse(PARKING_LOT).resolve()
    first, *others = spec.flows
    large = first.model_copy(update={"tcp": first.tcp.model_copy(update={"mss": 9180})})
    network = Network.of(spec.model_copy(update={"flows": (large, *others)}))
    # 9180 octets in 193 cells.
    rate = link_cell_bps(spec.links[0].cell_time_ps)
    assert network.ceiling_bps == pytest.approx(rate * 9180 / (193 * 53))


def test_without_flows_and_without_limited_ports_there_is_a_network() -> None:
    values = {
        "topology.long_flows": 0,
        "topology.cross_flows": 0,
        "topology.bottleneck.buffer": "unlimited",
        "topology.bottleneck.policy": "tail_drop",
        "source": [{"kind": "cbr", "name": "voice", "rate": 0.5}],
    }
    assert Network.of(skycell.parse(PARKING_LOT).with_values(values).resolve()).congested == ()
