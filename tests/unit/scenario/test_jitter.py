"""How long a sender takes, and where the studies' ports wait."""

from typing import Any

import pytest

from skycell import _core
from skycell.scenario import NetworkSpec, parse
from skycell.scenario.notes import notes_on
from skycell.spec.declared.network import JitterSpec
from tests.unit.scenario.wan import wan

MS = 10**9
NONE = JitterSpec(data_ps=0, acks_ps=0)


def graph(
    *jitters: Any, decimate: str = "100000 cells/s", flows: int = 1, uploads: int = 0
) -> NetworkSpec:
    """Two hosts and the routers between them; jitter of their links, rate of the way back."""
    ends = [("a", "b")] * flows + [("b", "a")] * uploads
    hosts = zip(("a", "b"), ("r", "s"), jitters or ({}, {}), strict=True)
    access = [
        {"from": host, "to": router, "rate": "1e6 cells/s", "delay": "0 s", **jitter}
        for host, router, jitter in hosts
    ]
    between = {"delay": "5 ms", "one_way": True}
    topology = {
        "kind": "graph",
        "hosts": ["a", "b"],
        "routers": ["r", "s"],
        "link": [
            *access,
            {"from": "r", "to": "s", "rate": "10000 cells/s", **between},
            {"from": "s", "to": "r", "rate": decimate, **between},
        ],
        "flow": [
            {"name": f"f{i}", "source": source, "destination": destination}
            for i, (source, destination) in enumerate(ends)
        ],
    }
    # 1460 + 40 + 8 octets fill 31.4 cells, and 40 + 8 octets of an acknowledgement one.
    tcp = {"mss": "1460 B", "llc_snap": False}
    return parse({"run": {"duration": "1 s"}, "topology": topology, "tcp": tcp}).resolve()


def jitter_of(spec: NetworkSpec) -> JitterSpec:
    (jitter,) = {flow.jitter for flow in spec.flows}
    return jitter


def test_a_sender_takes_up_to_the_time_of_a_frame_at_the_slowest_link_of_its_way() -> None:
    # 32 cells of 0.1 ms: both ends, as the bottleneck's phase is that of full segments.
    spec = graph(flows=2)
    assert jitter_of(spec) == JitterSpec(data_ps=3_200_000_000, acks_ps=3_200_000_000)
    # A thin way back changes nothing.
    assert jitter_of(graph(decimate="100 cells/s", flows=2)) == jitter_of(spec)


def test_a_download_beside_an_upload_takes_what_hosts_take_whatever_the_rates() -> None:
    # Each direction has the data of one connection and the acknowledgements of the other.
    for decimate in ("100000 cells/s", "100 cells/s"):
        spec = graph(decimate=decimate, flows=1, uploads=1)
        assert jitter_of(spec) == JitterSpec(data_ps=20_000_000, acks_ps=20_000_000)


def test_only_links_that_data_share_set_the_time_of_a_frame() -> None:
    # Two uploads share 1000 cells/s: 32 ms; the one download keeps what hosts take.
    spec = graph(decimate="1000 cells/s", flows=1, uploads=2)
    down, *up = (flow.jitter for flow in spec.flows)
    assert down == JitterSpec(data_ps=20_000_000, acks_ps=20_000_000)
    assert set(up) == {JitterSpec(data_ps=32 * MS, acks_ps=32 * MS)}


def test_a_sender_that_is_alone_on_its_way_takes_a_time_only_where_one_is_given() -> None:
    assert jitter_of(graph()) == NONE
    assert jitter_of(wan(topology__sources=1).resolve()) == NONE
    inputs = wan(topology__sources=1, topology__access__frame_jitter="1 frame").resolve()
    assert jitter_of(inputs).data_ps > 0


def test_a_long_time_where_data_meet_acknowledgements_is_noted() -> None:
    def noted(**flows: int) -> list[str]:
        notes = notes_on(graph(decimate="1000 cells/s", **flows))
        return [note for note in notes if "frame_jitter" in note]

    (note,) = noted(flows=1, uploads=2)
    assert "32 ms" in note
    assert "f1" in note
    assert "f0" not in note  # the lone download takes 20 us
    assert noted(flows=1, uploads=1) == []
    assert noted(flows=2) == []  # no acknowledgement meets their data


@pytest.mark.parametrize(
    "source",
    [
        {"name": "other", "class": "ubr"},
        {"name": "other", "beside": "flow1"},
    ],
)
def test_a_sender_beside_a_source_is_not_alone(source: dict[str, Any]) -> None:
    sends = {"kind": "cbr", "rate": "1000 cells/s"}
    spec = wan(topology__sources=1, source=[{**source, **sends}]).resolve()
    assert jitter_of(spec).data_ps > 0


@pytest.mark.parametrize(
    ("source", "destination", "expected"),
    [
        ("1.5 ms", "0 s", (1_500_000_000, 0)),
        ("0.5 frames", "2 frames", (1_600_000_000, 6_400_000_000)),
        ({"kind": "sender"}, {"kind": "sender", "up_to": "1 us"}, (3_200_000_000, 10**6)),
        ("0 s", {"kind": "port_gap"}, (0, 0)),
    ],
)
def test_each_host_has_the_time_of_its_own_link(
    source: Any, destination: Any, expected: tuple[int, int]
) -> None:
    spec = graph({"frame_jitter": source}, {"frame_jitter": destination})
    assert jitter_of(spec) == JitterSpec(data_ps=expected[0], acks_ps=expected[1])


def test_the_studies_rule_is_a_wait_of_hosts_and_routers_and_of_no_switch() -> None:
    gap = {"kind": "port_gap", "up_to": "10 cells"}
    spec = wan(topology__access__frame_jitter=gap, topology__tcps_per_vc=2).resolve()
    gaps = {link.name: link.port.frame_gap_ps for link in spec.links}
    waiting = {name for name, gap_ps in gaps.items() if gap_ps == 27_263_370}
    assert waiting == {name for name in gaps if not name.startswith("switch")}
    assert {gaps[name] for name in gaps.keys() - waiting} == {0}
    assert jitter_of(spec) == NONE


def test_ports_wait_under_the_studies_rule_only() -> None:
    assert {link.port.frame_gap_ps for link in wan(topology__tcps_per_vc=2).resolve().links} == {0}


def test_a_spec_says_nothing_of_a_jitter_that_there_is_not() -> None:
    without = wan(topology__access__frame_jitter="0 s").resolve()
    assert "jitter" not in without.canonical_json()
    gap = {"kind": "port_gap", "up_to": "0 s"}
    assert without.hash() == wan(topology__access__frame_jitter=gap).resolve().hash()


def test_the_studies_presets_name_their_rule() -> None:
    spec = parse({"preset": "icccn97-wan"}).resolve()
    assert jitter_of(spec) == NONE
    assert {link.port.frame_gap_ps for link in spec.links} == {0, 2_726_337}


def test_the_time_of_the_longest_frame_on_the_slowest_link_is_one_that_the_engine_takes() -> None:
    slow = {"rate": "1 cells/s", "delay": "0 s", "buffer": "unlimited"}
    spec = wan(topology__bottleneck=slow, tcp__mss="65443 B", tcp__receiver_window="65535 B")
    resolved = spec.resolve()
    # 65443 + 40 + 8 + 8 octets fill 1365 cells, each of which takes a second.
    assert jitter_of(resolved).data_ps == 1365 * 10**12
    _core.validate(resolved.canonical_json())
