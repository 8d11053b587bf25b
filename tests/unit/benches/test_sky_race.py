from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benches.peers import sky
from benches.peers.ns3 import network as ns3_network
from benches.peers.ns3 import peer
from benches.peers.ns3.network import Network, network_of
from benches.peers.sky import Case, Delays, Ns3, Run, Skycell
from skycell.scenario import parse

EUROPE = ("paris", "london", "madrid", "frankfurt", "moscow", "istanbul")
SMALL = Case(10, "datagrams", 0.2, stations=EUROPE)


@pytest.fixture
def ns3() -> Ns3:
    missing = peer.missing()
    if missing is not None:
        pytest.skip(missing)
    return Ns3()


def packet_ps(bps: int) -> int:
    """Time of a packet of the race with ns-3's octets beside it."""
    return 8 * (sky.PACKET_OCTETS + ns3_network.PPP_OCTETS) * 10**12 // bps if bps else 0


def walked_ps(network: Network, first: int, last: int) -> tuple[int, int]:
    """Delay of a lone packet by the routes, and links with a rate on its way."""
    node, delay_ps, hops = first, 0, 0
    while node != last:
        link = network.links[node, network.routes[node, last]]
        delay_ps += packet_ps(link[0]) + link[2]
        hops += link[0] > 0
        node = network.routes[node, last]
    return delay_ps, hops


def ends(line: str) -> tuple[int, int]:
    _, first, last, *_ = line.split()
    return int(first), int(last)


def test_host_routes_lead_a_packet_over_our_delays_to_the_picosecond() -> None:
    # A packet of each pair is delivered before the next pair begins.
    lone = replace(SMALL, load=0.001, stagger_us=30_000)
    network, ours = network_of(lone.spec), Skycell().run(lone)
    assert ours.delivered == (1,) * len(EUROPE)
    walks = [walked_ps(network, *ends(line)) for line in network.traffic]
    assert [delay_ps for delay_ps, _ in walks] == [delays.least for delays in ours.delays]
    assert [hops for _, hops in walks] == [network.hops[ends(line)] for line in network.traffic]


def test_a_port_with_several_links_is_a_node_with_links_that_take_no_time() -> None:
    network = network_of(SMALL.spec)
    wires = {ends: link for ends, link in network.links.items() if link[0] == 0}
    assert wires
    for node in {first for first, _ in wires}:
        (queue,) = [link for (_, last), link in network.links.items() if last == node]
        assert queue == (10_000_000, 99, 0)  # the packet under transmission is not in ns-3's queue
        assert len([first for first, _ in wires if first == node]) > 1
    assert {room for bps, room, _ in network.links.values() if bps} == {99}


def test_a_file_has_a_line_for_each_thing() -> None:
    network = network_of(SMALL.spec)
    lines = network.text().splitlines()
    assert len(lines) == len(network.links) + len(network.routes) + len(EUROPE)
    # 1500 octets at 3 Mbit/s, one source 40 us after the other.
    assert lines[-1].split()[0] == "datagrams"
    assert lines[-1].split()[3:] == [str(5 * 40_000_000), "4000000000", "1500"]
    connections = network_of(replace(SMALL, traffic="new_reno").spec).traffic
    assert [line.split()[3] for line in connections] == [str(i * 40_000_000) for i in range(6)]


@pytest.mark.parametrize(
    ("table", "changes", "fault"),
    [
        ("topology", {"frozen": False}, "epochs: write topology.frozen = true"),
        ("topology", {"hop_limit": 30}, "30 links a packet: ns-3 begins with 64"),
        ("inter_satellite", {"framing": "ip"}, "2 octets beside a packet"),
        ("ground", {"policy": "codel"}, "down|up: only tail drop"),
        ("ground", {"buffer": "1 packet"}, "2 or more packets"),
        ("inter_satellite", {"loss": "1 %"}, "without losses"),
        ("traffic", {"kind": "vbr", "peak_rate": "1 Mbit/s"}, "only datagrams at a constant rate"),
    ],
)
def test_what_ns3_is_not_given_is_a_fault(
    table: str, changes: dict[str, object], fault: str
) -> None:
    scenario = dict(SMALL.scenario())
    topology = dict(scenario["topology"])
    if table == "topology":
        topology |= changes
    elif table == "traffic":
        (traffic,) = scenario["traffic"]
        del traffic["rate"]
        times = {"on": "10 ms", "off": "10 ms"}
        scenario["traffic"] = [traffic | changes | times]
    else:
        topology[table] |= changes
    spec = parse(scenario | {"topology": topology}, "changed").resolve(seed=1)
    with pytest.raises(ValueError, match=fault):
        network_of(spec)


def test_ns3_delivers_what_we_do_and_when_if_packets_leave_before_others_arrive(ns3: Ns3) -> None:
    # At line rate ports are full, and packets tie with departures.
    case = Case(10, "datagrams", 0.5, load=1.0)
    ours, ordered = Skycell().run(case), replace(ns3, departures_first=True).run(case)
    found = sky.row(case, ours, ordered, ordered)
    assert ours.delivered == ordered.delivered
    assert ours.hops == ordered.hops
    assert found.delay_ps_per_hop <= sky.DELAY_PS_PER_HOP
    # The order is all that is between: as ns-3 comes, full ports take other packets.
    assert sky.differing(ours, ns3.run(case)) > 0
    slow = replace(case, load=0.1)
    assert sky.differing(Skycell().run(slow), ns3.run(slow)) == 0


def test_a_link_with_another_delay_is_seen(ns3: Ns3) -> None:
    network, ours = network_of(SMALL.spec), Skycell().run(SMALL)
    (way, *_) = [way for way, link in network.links.items() if link[0] == 0]
    bps, room, delay_ps = network.links[way]
    longer = replace(network, links={**network.links, way: (bps, room, delay_ps + 1_000)})
    apart = sky.row(SMALL, ours, ours, ns3.run_network(longer, SMALL)).delay_ps_per_hop
    assert apart > sky.DELAY_PS_PER_HOP
    same = sky.row(SMALL, ours, ours, ns3.run_network(network, SMALL))
    assert same.is_fair


def test_newreno_delivers_about_as_much_in_both(ns3: Ns3) -> None:
    case = Case(10, "new_reno", 1)
    ours, theirs = Skycell().run(case), ns3.run(case)
    assert sky.row(case, ours, theirs, None).is_fair


@dataclass
class Scripted:
    """A simulator that leaves some runs, one after the other."""

    name: str
    runs: list[Run]

    def run(self, case: Case) -> Run:
        return self.runs.pop(0)


RUN = Run((10, 20), (), 1_000, 0.001, 10**6)


def test_the_least_time_counts_and_tcp_may_differ_by_a_little() -> None:
    case = replace(SMALL, traffic="new_reno")
    ours = Scripted("ours", [replace(RUN, loop_s=s) for s in (0.002, 0.001)])
    theirs = Scripted("theirs", [replace(RUN, loop_s=s, delivered=(10, 21)) for s in (0.01, 0.02)])
    reported: list[str] = []
    (row,) = sky.race([case], (ours, theirs), Scripted("ordered", []), 2, reported.append)
    assert [line.split(": ")[-1] for line in reported] == ["ours", "theirs"] * 2
    assert row.ours.ns_per_hop == pytest.approx(1_000)
    assert row.peer.ns_per_hop == pytest.approx(10_000)
    assert row.more == pytest.approx(1 / 30)
    assert row.is_fair
    assert "not comparable" not in sky.table([row], "ours", "theirs")
    less = replace(row, peer=replace(RUN, delivered=(10, 22)))
    assert not less.is_fair
    assert "not comparable" in sky.table([less], "ours", "theirs")


def test_datagrams_are_compared_pair_by_pair_in_our_order() -> None:
    delays = tuple(Delays(100, 150.0, 200) for _ in EUROPE)
    run = replace(RUN, delivered=tuple(range(6)), delays=delays)
    ordered = [replace(run, delivered=(0, 2, 1, 3, 4, 5))]
    other = replace(run, delivered=(0, 1, 2, 3, 5, 4))
    simulators = Scripted("ours", [run]), Scripted("theirs", [other])
    (row,) = sky.race([SMALL], simulators, Scripted("ordered", ordered), 1, lambda _: None)
    assert not row.is_fair
    assert "  2, in our order 2" in sky.table([row], "ours", "theirs")
    assert replace(row, ordered=run).is_fair
    late = replace(run, delays=(Delays(100, 150.0, 300), *delays[1:]))
    assert not sky.row(SMALL, run, other, late).is_fair


def test_without_ns3_there_is_nothing_to_race_against(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sky.main([]) == 0
    shown = capsys.readouterr()
    assert "left out: ns-3: " in shown.err
    assert shown.out == "nothing to race against\n"


@pytest.mark.parametrize("arguments", [["--only", "moon"], ["--rounds", "0"], ["--starts", "0"]])
def test_a_race_of_nothing_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        sky.main(arguments)
    assert end.value.code == 2
    assert "datagrams 10 Mbit/s 2 s" in capsys.readouterr().err
