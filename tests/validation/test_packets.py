"""Links of packets against closed forms: ceilings, windows, constant sources, waits."""

from typing import Any

import pytest

from skycell.experiment.run import run
from skycell.metrics import Network
from skycell.metrics.run_rows import sojourn_rows
from skycell.records.result import RunResult
from skycell.scenario import parse

BOTTLENECK = {"rate": "10 Mbit/s", "framing": "ip", "delay": "20 ms", "buffer": "200 packets"}
MODEM = {"kind": "custom", "overhead": "10 B", "unit": "48 B", "unit_on_line": "53 B"}


def simulated(
    bottleneck: dict[str, Any], *, flows: int = 1, duration: str = "20 s", **rest: Any
) -> RunResult:
    """A run of some flows of 1500-octet packets over 42 ms."""
    tcp = {"mss": "1460 B", "receiver_window": "60 kB", **rest.pop("tcp", {})}
    return run(
        parse(
            {
                "run": {"duration": duration},
                "topology": {
                    "kind": "dumbbell",
                    "sources": flows,
                    "bottleneck": {**BOTTLENECK, **bottleneck},
                    "access": {"rate": "1 Gbit/s", "delay": "0.5 ms"},
                },
                "tcp": tcp,
                "start": {"kind": "together"},
                **rest,
            }
        )
    )


@pytest.mark.parametrize(
    ("framing", "on_line"),
    # Octets of a packet of 1500 on the line; the last: 32 cells (1510 octets in 48 each).
    [("ip", 1500), ("ethernet", 1538), ("ppp", 1507), (MODEM, 32 * 53)],
)
def test_a_flow_alone_fills_the_line_but_for_headers(framing: Any, on_line: int) -> None:
    result = simulated({"framing": framing}, tcp={"receiver_window": "65535 B"})
    ceiling = 1460 / on_line * 10e6
    assert result.ceiling_bps == pytest.approx(ceiling)
    # 44 segments of window and 42 ms, that is 35 packets: the line is busy once slow start is over
    # (seven round trips, of which less than half is used).
    flow = result.records["flows"][0]
    assert 0.98 < flow["octets_delivered"] * 8 / 20 / ceiling <= 1


def test_a_flow_behind_a_shaper_gets_its_rate_but_for_headers() -> None:
    shaper = {"rate": "4 Mbit/s", "burst": "3 kB"}
    result = simulated({"framing": "ethernet", "shaper": shaper})
    # Tokens are octets of IP packets: 1460 of 1500 are TCP's, whatever Ethernet adds.
    ceiling = 1460 / 1500 * 4e6
    assert result.ceiling_bps == pytest.approx(ceiling)
    flow = result.records["flows"][0]
    # The window of 41 segments is more than the 14 that 42 ms hold; 0.5 % go with slow start.
    assert 0.99 < flow["octets_delivered"] * 8 / 20 / ceiling <= 1
    # The last bit of each leaves at the rate of the line, the tokens at that of the shaper; of two
    # packets the bucket holds the first.
    port = next(p for p in result.records["ports"] if p["name"] == "router1>router2")
    assert port["octets"]["departed"] * 8 <= 4e6 * 20 + 3_000 * 8


def test_a_window_that_is_too_small_gives_its_octets_in_each_round_trip() -> None:
    result = simulated({"rate": "100 Mbit/s"}, tcp={"receiver_window": "14600 B"})
    # 42 ms of delay; 1500 octets, and 40 on the way back, at 1 Gbit/s twice and 100 Mbit/s once.
    rtt = 0.042 + (1500 + 40) * 8 * (2 / 1e9 + 1 / 100e6)
    rate = result.records["flows"][0]["octets_delivered"] * 8 / 20
    # Slow start has 1, 2, 4 and 8 of 10 segments in the first four of 473 round trips.
    assert rate == pytest.approx(14_600 * 8 / rtt * (1 - 2.5 / 473), rel=0.003)


@pytest.mark.parametrize("framing", ["ip", "ethernet", MODEM])
def test_a_constant_source_arrives_at_its_rate_and_waits_for_nobody(framing: Any) -> None:
    voice = {"kind": "cbr", "name": "voice", "rate": "2 Mbit/s", "packet_size": "200 B"}
    result = simulated({"framing": framing}, flows=0, source=[voice])
    spec, records = result.spec, result.records
    last = records["vcs"][spec.sources[0].datagram_route[-1]]
    # 1250 packets a second; those of the last 21 ms are under way.
    assert last["frames_delivered"] == pytest.approx(25_000, abs=30)
    port = next(port for port in records["ports"] if port["name"] == "router1>router2")
    on_line = {"ip": 200, "ethernet": 238}.get(str(framing), 5 * 53)
    assert port["octets"]["sojourn"]["max_ps"] == on_line * 8 * 100_000  # at 10 Mbit/s, in ps
    assert port["busy_ps"] / records["duration_ps"] == pytest.approx(
        1250 * on_line * 8 / 10e6, 1e-3
    )
    # What it takes is not left to TCP: Ethernet's 38 octets beside each packet count.
    assert Network.of(spec, "left").left_bps[
        spec.vcs[spec.sources[0].datagram_route[1]].path[0]
    ] == (pytest.approx(10e6 - 1250 * on_line * 8))


def test_a_full_buffer_of_octets_delays_by_its_octets_over_the_rate() -> None:
    result = simulated({"buffer": "75 kB"}, flows=4, tcp={"receiver_window": "65535 B"})
    port = next(port for port in result.records["ports"] if port["name"] == "router1>router2")
    assert port["octets"]["max"] == 75_000  # fifty packets
    assert port["octets"]["sojourn"]["max_ps"] == pytest.approx(60e9, rel=1e-3)  # 60 ms
    assert sum(port["discarded"].values()) > 0


def test_octets_of_all_links_add_up_where_framings_mix() -> None:
    link = {"delay": "1 ms"}
    values = {
        "run": {"duration": "20 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "routers": ["r", "q"],
            "switches": ["s"],
            "link": [
                {"from": "a", "to": "r", "rate": "100 Mbit/s", "framing": "ethernet", **link},
                {"from": "r", "to": "s", "rate": "30 Mbit/s", "framing": "none", **link},
                {"from": "s", "to": "q", "rate": "30 Mbit/s", "framing": "none", **link},
                {
                    "from": "q",
                    "to": "b",
                    "rate": "10 Mbit/s",
                    "framing": "ppp",
                    "buffer": "100 packets",
                    **link,
                },
            ],
            "flow": [{"name": "f", "source": "a", "destination": "b"}],
        },
        "tcp": {"mss": "1460 B", "receiver_window": "65535 B"},
    }
    result = run(parse(values))
    # The slowest: 1460 of 1507 octets of 10 Mbit/s; in cells it would be 1460 of 32 x 53.
    assert result.ceiling_bps == pytest.approx(1460 / 1507 * 10e6)
    rate = result.records["flows"][0]["octets_delivered"] * 8 / 20
    assert 0.98 < rate / result.ceiling_bps <= 1
    names = [[result.spec.links[link].name for link in vc.path] for vc in result.spec.vcs][:3]
    assert names == [["a>r"], ["r>s", "s>q"], ["q>b"]]


@pytest.mark.parametrize(("buffer", "most"), [("5 packets", 5), ("7600 B", 5), ("0.6 ms", 5)])
def test_the_port_of_a_host_holds_what_the_file_says(buffer: str, most: int) -> None:
    # A window of 40 segments through a card of 100 Mbit/s, 120 us a packet, into 90 Mbit/s.
    values = {
        "run": {"duration": "5 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 2,
            "bottleneck": {**BOTTLENECK, "rate": "90 Mbit/s", "buffer": "1000 packets"},
            "access": {"rate": "100 Mbit/s", "delay": "0.5 ms", "host_buffer": buffer},
        },
        "tcp": {"mss": "1460 B", "receiver_window": "60 kB"},
    }
    found = [run(parse(values), engine=engine).records for engine in ("fast", "reference")]
    assert found[0]["flows"] == found[1]["flows"]
    assert found[0]["ports"] == found[1]["ports"]
    ports = {port["name"]: port for port in found[0]["ports"]}
    assert ports["source1>router1"]["queue"]["max"] == most
    assert sum(ports["source1>router1"]["discarded"].values()) > 0
    assert sum(ports["router1>source1"]["discarded"].values()) == 0


def test_stays_are_told_by_class_and_by_flow_and_agree_with_those_of_the_port() -> None:
    result = simulated(
        {
            "buffer": "unlimited",
            "class": [{"name": "cbr", "buffer": "50 packets"}],
            "policer": {"rate": "9 Mbit/s", "burst": "60 kB"},
        },
        flows=2,
        source=[{"kind": "cbr", "name": "voice", "rate": "64 kbit/s", "packet_size": "200 B"}],
        records={"flow_ports": ["router1>router2"], "traces": ["queue"]},
    )
    (row,) = (port for port in result.records["ports"] if port["name"] == "router1>router2")
    # Priority: of the voice packets each waits for the rest of one packet of 1.2 ms at most, and
    # takes 0.16 ms itself.
    voice, rest = (queue["octets"] for queue in row["queues"])
    assert voice["arrived"] == 200 * row["queues"][0]["arrived"]
    assert voice["sojourn"]["max_ps"] <= 1_360_000_000 < rest["sojourn"]["max_ps"]
    for part in ("arrived", "departed", "discarded", "queued"):
        assert voice[part] + rest[part] == row["octets"][part]
    # Both flows, each one way, and the source; together they are what the port has counted.
    flows = row["octets"]["flows"]
    assert [flow["flow"] for flow in flows] == [0, 2, 4]
    assert sum(flow["packets"] for flow in flows) == row["octets"]["sojourn"]["packets"]
    total = sum(flow["packets"] * flow["mean_ps"] for flow in flows)
    assert total / row["departed"] == pytest.approx(row["octets"]["sojourn"]["mean_ps"])
    assert flows[2]["max_ps"] == voice["sojourn"]["max_ps"]
    stays = [stay for stay in sojourn_rows(result.spec, result.records) if stay.largest]
    names = ["", "cbr", "rest", "flow1.forward", "flow2.forward", "voice"]
    assert [stay.part for stay in stays] == names
    # The policer lets 9 Mbit/s and a burst through, and TCP has as much of that as it can get.
    passed = (row["octets"]["arrived"] - row["octets"]["discarded"]) * 8
    assert row["discarded"]["policed"] > 0
    assert 0.9 < passed / (9e6 * 20 + 60_000 * 8) <= 1
    assert Network.of(result.spec).ceiling_bps == pytest.approx(1460 / 1500 * 9e6)
    # Samples of octets are of what packets hold.
    trace = result.traces["queue"]
    assert trace["octets"].max() <= row["octets"]["max"]
    assert (trace["octets"] <= 1_500 * trace["cells"]).all()


def test_over_a_long_round_trip_pie_discards_although_senders_know_ecn() -> None:
    # Marks are answered a round trip later. Over 604 ms the probability is above mark_below by
    # then, over 44 ms it is not.
    for delay, mark_below, discards in (
        ("300 ms", 0.1, True),
        ("300 ms", 1.0, False),
        ("20 ms", 0.1, False),
    ):
        result = simulated(
            {
                "rate": "50 Mbit/s",
                "delay": delay,
                "buffer": "1 BDP",
                "policy": {"kind": "pie", "mark_below": mark_below},
            },
            flows=10,
            duration="60 s",
            tcp={"preset": "rfc-modern", "receiver_window": "8 MB", "ecn": "classic"},
        )
        port = max(result.records["ports"], key=lambda port: port["queue"]["max"])
        assert port["octets"]["ecn"]["marked"] > 0
        assert (port["discarded"]["drawn"] > 0) == discards, (delay, mark_below)
