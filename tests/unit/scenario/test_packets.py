"""Links that carry packets: framings, what buffers count, and who stands between such links."""

from typing import Any

import pytest

from skycell.scenario import Scenario, ScenarioFaults, parse
from skycell.spec.declared.network import LinkSpec, NetworkSpec, RedSpec
from skycell.spec.values import octets_on_line, packet_time_ps

PACKET = 1500  # of a segment of 1460 octets


def satellite(**changes: Any) -> Scenario:
    """Two sources, 604 ms around, 50 Mbit/s; `changes` by dotted key with `__` for the dot."""
    scenario = parse(
        {
            "run": {"duration": "10 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "rate": "50 Mbit/s",
                    "framing": "ip",
                    "delay": "300 ms",
                    "buffer": "1 MB",
                },
                "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
            },
            "tcp": {"mss": "1460 B"},
        },
        "satellite",
    )
    return scenario.with_values({key.replace("__", "."): value for key, value in changes.items()})


def link(spec: NetworkSpec, name: str = "router1>router2") -> LinkSpec:
    return next(link for link in spec.links if link.name == name)


@pytest.mark.parametrize(
    ("framing", "packets"),
    [
        ("ip", {40: 40, 1500: 1500}),
        # IEEE 802.3: 38 octets from preamble to gap, 64 at least from address to check sequence.
        ("ethernet", {40: 84, 46: 84, 47: 85, 1500: 1538}),
        # IEEE 802.1Q: 4 octets of tag, which count towards those 64.
        ({"kind": "ethernet", "vlan": True}, {40: 84, 42: 84, 43: 85, 1500: 1542}),
        # RFC 1662: a flag, address, control, two of protocol, two of check sequence.
        ("ppp", {40: 47, 1500: 1507}),
        ({"kind": "ppp", "check_sequence": "32 bit"}, {40: 49}),
        # RFC 1661 6.5, 6.6: no address and control, one octet of protocol.
        ({"kind": "ppp", "compressed": True}, {40: 44}),
        ({"kind": "custom", "overhead": "44 B"}, {40: 84}),
        ({"kind": "custom", "overhead": "18 B", "padded_to": "46 B"}, {40: 64, 50: 68}),
        # PPPoA over VC-MUX (RFC 2364): 2 of PPP, 8 of AAL5 trailer, in cells: one and 32 of them.
        (
            {"kind": "custom", "overhead": "10 B", "unit": "48 B", "unit_on_line": "53 B"},
            {38: 53, 39: 106, 1500: 32 * 53},
        ),
    ],
)
def test_a_framing_takes_its_octets_of_the_line(framing: Any, packets: dict[int, int]) -> None:
    spec = satellite(topology__bottleneck__framing=framing).resolve()
    found = link(spec).framing
    assert found is not None
    assert {packet: octets_on_line(found, packet) for packet in packets} == packets
    assert found.rate_millibps == 50_000_000_000
    assert link(spec).cell_time_ps == 0


@pytest.mark.parametrize(
    ("buffer", "framing", "amount", "octets"),
    [
        ("200 packets", "ip", 200, False),
        ("1 MB", "ip", 1_000_000, True),
        ("512 KiB", "ethernet", 524_288, True),
        # 50 Mbit/s are 6250 octets a millisecond.
        ("150 ms", "ip", 937_500, True),
        # Of full packets, 1500 of 1538 octets on the line are theirs.
        ("150 ms", "ethernet", 937_500 * 1500 // 1538, True),
        # 2 x (1 + 300 + 1) ms.
        ("0.5 RTT", "ip", 302 * 6250, True),
        ("0.5 BDP", "ip", 302 * 6250, True),
        ("unlimited", "ip", None, False),
    ],
)
def test_a_buffer_counts_packets_or_octets(
    buffer: str, framing: str, amount: int | None, octets: bool
) -> None:
    spec = satellite(
        topology__bottleneck__buffer=buffer, topology__bottleneck__framing=framing
    ).resolve()
    (queue,) = link(spec).port.queues
    assert (queue.capacity_cells, queue.counts_octets) == (amount, octets)


@pytest.mark.parametrize(
    ("buffer", "thresholds", "expected"),
    [
        ("1 MB", ("100 kB", 0.5), (100_000, 500_000)),
        ("1 MB", ("10 ms", "80 %"), (62_500, 800_000)),
        ("200 packets", ("10 packets", 0.5), (10, 100)),
        # A packet takes 240 us.
        ("200 packets", ("10 ms", "20 ms"), (41, 83)),
        ("400 ms", ("0.1 RTT", "0.2 BDP"), (377_500, 755_000)),
    ],
)
def test_thresholds_are_in_what_the_buffer_counts(
    buffer: str, thresholds: tuple[Any, Any], expected: tuple[int, int]
) -> None:
    policy = {"kind": "red", "min_threshold": thresholds[0], "max_threshold": thresholds[1]}
    spec = satellite(
        topology__bottleneck__buffer=buffer, topology__bottleneck__policy=policy
    ).resolve()
    red = link(spec).port.policy
    assert isinstance(red, RedSpec)
    assert (red.min_cells, red.max_cells) == expected
    assert red.frame_ps == 240_000_000  # a packet of 1500 octets at 50 Mbit/s


@pytest.mark.parametrize(
    ("policy", "scheduler", "by_flow"),
    [
        ("selective_drop", None, True),
        ("fred", None, True),
        ("fq_codel", None, True),
        ("tail_drop", "deficit_round_robin", True),
        ("red", None, False),
        ("codel", "fifo", False),
    ],
)
def test_a_port_counts_flows_where_something_looks_at_them(
    policy: str, scheduler: str | None, by_flow: bool
) -> None:
    # The policy is from outside, as in a sweep: one that looks at no VC is no fault then.
    changes = {"topology__bottleneck__by_flow": True, "topology__bottleneck__policy": policy}
    if scheduler is not None:
        changes["topology__bottleneck__scheduler"] = scheduler
    spec = satellite(**changes).resolve()
    queues = [one.port.queues[0].by_flow for one in spec.links]
    assert queues == [one.name == "router1>router2" and by_flow for one in spec.links]


def test_an_edge_router_counts_flows_in_what_it_sends_as_cells() -> None:
    edge = {"delay": "1 ms", "buffer": "900 cells", "policy": "selective_drop", "by_flow": True}
    cells = {"rate": "50 Mbit/s", "framing": "none", "delay": "1 ms", "buffer": "9000 cells"}
    spec = satellite(
        topology__tcps_per_vc=2,
        topology__edge=edge,
        topology__bottleneck=cells,
        topology__access={"delay": "1 ms"},
    ).resolve()
    of_flows = [one.name for one in spec.links if one.port.queues[0].by_flow]
    assert of_flows == ["ingress1>switch1"]


def test_a_shaper_counts_octets_of_packets() -> None:
    shaper = {"rate": "2.5 Mbit/s", "burst": "15 kB"}
    spec = satellite(topology__bottleneck__shaper=shaper).resolve()
    buckets = {one.name: one.port.shaper for one in spec.links if one.port.shaper is not None}
    (bucket,) = buckets.values()
    assert list(buckets) == ["router1>router2"]
    assert (bucket.rate_millibps, bucket.burst_octets) == (2_500_000_000, 15_000)


def test_routers_stand_between_links_of_packets() -> None:
    spec = satellite().resolve()
    kinds = {node.name: node.kind for node in spec.nodes}
    assert {kinds["router1"], kinds["router2"]} == {"router"}
    assert "switch" not in kinds.values()
    links = {link.name: link for link in spec.links}
    assert links["source1>router1"].framing is not None  # the bottleneck's, at its own rate
    assert links["source1>router1"].framing.rate_millibps == 10**12
    vcs = {vc.name: [spec.links[link].name for link in vc.path] for vc in spec.vcs}
    flow = spec.flows[1]
    names = [spec.vcs[vc].name for vc in flow.forward]
    assert [vcs[name] for name in names] == [
        ["source2>router1"],
        ["router1>router2"],
        ["router2>destination2"],
    ]


def test_cells_behind_a_link_of_packets_are_a_routers() -> None:
    cells = {"rate": "50 Mbit/s", "framing": "none", "delay": "300 ms", "buffer": "9000 cells"}
    spec = satellite(
        topology__bottleneck=cells, topology__access={"framing": "ethernet", "delay": "1 ms"}
    ).resolve()
    assert [node.kind for node in spec.nodes if node.name == "router1"] == ["router"]
    assert link(spec).framing is None
    assert link(spec, "source1>router1").framing is not None


def test_a_chain_of_packet_links_has_a_router_at_every_hop() -> None:
    spec = parse(
        {
            "run": {"duration": "1 s"},
            "topology": {
                "kind": "parking_lot",
                "hops": 2,
                "bottleneck": {
                    "rate": "9 Mbit/s",
                    "framing": "ppp",
                    "delay": "9 ms",
                    "buffer": "40 packets",
                },
                "access": {"delay": "1 ms"},
            },
        }
    ).resolve()
    assert [node.name for node in spec.nodes if node.kind == "router"] == [
        "router1",
        "router2",
        "router3",
    ]
    assert len(spec.flows[0].forward) == 4


def test_packets_of_a_source_go_over_routers_in_vcs_of_their_own() -> None:
    voice = {"kind": "cbr", "name": "voice", "rate": "64 kbit/s", "packet_size": "200 B"}
    (source,) = satellite(source=[voice]).resolve().sources
    # 1600 bits at 64 kbit/s: 25 ms.
    assert (source.cell_interval_ps, source.datagram_octets) == (25 * 10**9, 200)
    assert len(source.datagram_route) == 3


def test_round_trips_are_those_of_packet_sources_where_there_is_no_flow() -> None:
    voice = {"kind": "cbr", "name": "voice", "rate": "64 kbit/s", "packet_size": "200 B"}
    spec = satellite(
        source=[voice], topology__sources=0, topology__bottleneck__buffer="0.5 RTT"
    ).resolve()
    assert link(spec).port.capacity_cells == 302 * 6250
    assert spec.records.vc_sampled_ports == (spec.links.index(link(spec)),)


def test_a_part_of_a_link_is_that_of_its_packets() -> None:
    half = {"kind": "cbr", "name": "half", "rate": 0.5, "packet_size": "462 B"}
    scenario = satellite(source=[half], topology__bottleneck__framing="ethernet")
    (source,) = scenario.resolve().sources
    # 500 octets on the line at 50 Mbit/s take 80 us.
    assert source.cell_interval_ps == 160_000_000


def test_times_of_hosts_are_those_of_a_packet() -> None:
    spec = satellite().resolve()
    assert {flow.jitter.data_ps for flow in spec.flows} == {240_000_000}


def test_an_mtu_that_a_segment_keeps_changes_nothing() -> None:
    plain, limited = satellite(), satellite(topology__bottleneck__mtu="1500 B")
    assert limited.resolve() == plain.resolve()
    with pytest.raises(ScenarioFaults, match="whose segments are of 1 512 B"):
        limited.with_values({"tcp.timestamps": True})


def test_a_packet_takes_its_bits_over_its_rate_rounded_once() -> None:
    framing = link(satellite().resolve()).framing
    assert framing is not None
    assert packet_time_ps(framing, PACKET) == 240_000_000
    assert packet_time_ps(framing, 1, 3 * 10**9) == 2_666_667


def test_a_series_gives_the_rate_of_a_line_of_packets(tmp_path: Any) -> None:
    (tmp_path / "trace.csv").write_text(
        "time_s,delay_ms,rate_mbit_s\n0,300,50\n2,300,20\n4,300,\n20,300,50\n"
    )
    values = {
        "run": {"duration": "10 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": {
                "rate": "50 Mbit/s",
                "framing": "ip",
                "schedule": {"series": "trace.csv"},
                "buffer": "100 packets",
            },
            "access": {"delay": "1 ms"},
        },
    }
    schedule = link(parse(values, folder=tmp_path).resolve()).schedule
    assert schedule is not None
    assert schedule.rates_millibps == (50 * 10**9, 20 * 10**9, 20 * 10**9)
    assert schedule.delays_ps[2] is None
    assert schedule.cell_times_ps == ()
