from contextlib import nullcontext
from itertools import combinations, product
from typing import Any

import pytest

import skycell
from benches.peers.ns2.translate import (
    ONLY,
    TRANSLATED,
    UNLIMITED_OCTETS,
    WITHOUT_EFFECT,
    Choices,
    Untranslatable,
    aal5_cells,
    parameter_file,
    sender_variables,
    sink_variables,
)
from skycell.scenario import ScenarioFaults
from skycell.spec.declared.network import NetworkSpec, StartAt, TcpSpec
from skycell.spec.part import SpecPart, fields_of
from tests.tcp_keys import KEYS, Key

TOGETHER = {"kind": "together", "at": "0 s"}


def spec(changes: dict[str, Any] | None = None) -> NetworkSpec:
    """Two connections over a bottleneck of 12 000 cells with EPD at 90 %."""
    scenario = skycell.parse(
        {
            "run": {"duration": "1 s"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "rate": "155.52 Mbit/s",
                    "framing": "none",
                    "delay": "5 ms",
                    "buffer": "12000 cells",
                    "policy": "epd",
                },
                "access": {"delay": "1 ms", "frame_jitter": "0 s"},
            },
            "tcp": {"recovery": {"kind": "sack", "pipe_at_entry": "cwnd - 3"}, "mss": "512 B"},
            "start": TOGETHER,
        }
    )
    return scenario.with_values(changes or {}).resolve()


def lines(text: str, variable: str) -> list[str]:
    """The items of a list of the parameter file."""
    block = text.split(f"set {variable} {{\n")[1].split("\n}")[0]
    return [line.strip().strip("{}") for line in block.splitlines()]


@pytest.mark.parametrize(
    ("payload", "cells"),
    [(512, 12), (1024, 23), (9180, 193), (0, 2)],  # STUDIES: cells of a segment, bare ACK 2
)
def test_a_packet_costs_what_its_frame_costs(payload: int, cells: int) -> None:
    assert aal5_cells(payload, spec().flows[0].tcp) == cells


def test_links_keep_rate_and_delay_and_epd_becomes_a_shorter_queue() -> None:
    links = [line.split() for line in lines(parameter_file(spec(), Choices()), "links")]
    found = {(int(a), int(b)): (float(bps), float(s), int(q)) for a, b, bps, s, q in links}
    names = {node.name: k for k, node in enumerate(spec().nodes)}
    bps, delay_s, limit = found[names["switch1"], names["switch2"]]
    assert bps == pytest.approx(155.52e6, rel=1e-6)
    assert delay_s == 0.005
    # Taken in while the queue holds at most R = 10 800 cells: R + 12 cells and less than one octet.
    assert limit == 53 * (10_800 + 12) + 1
    assert found[names["switch2"], names["switch1"]][2] == UNLIMITED_OCTETS


def test_tail_drop_becomes_a_queue_of_the_buffers_octets() -> None:
    text = parameter_file(spec({"topology.bottleneck.policy": "tail_drop"}), Choices())
    assert any(line.endswith(f" {53 * 12_000 + 1}") for line in lines(text, "links"))


PACKETS = {
    "topology.bottleneck.framing": "ip",
    "topology.bottleneck.buffer": "400 packets",
    "topology.bottleneck.policy": "tail_drop",
    "topology.access.framing": "ip",
    "topology.access.rate": "1 Gbit/s",
}


def test_packets_keep_their_size_and_their_places_in_the_buffer() -> None:
    run = spec(PACKETS)
    text = parameter_file(run, Choices())
    assert "set is_packets 1" in text
    links = [line.split() for line in lines(text, "links")]
    found = {(int(a), int(b)): (float(bps), float(s), int(q)) for a, b, bps, s, q in links}
    names = {node.name: k for k, node in enumerate(run.nodes)}
    assert found[names["router1"], names["router2"]] == (155.52e6, 0.005, 400)
    assert found[names["source1"], names["router1"]][0] == 1e9
    assert sender_variables(run, run.flows[0].tcp, Choices())["packetSize_"] == 552
    assert sink_variables(run, run.flows[0].tcp)["packetSize_"] == 40
    # The VCs of a flow, one a hop, are its way.
    assert "source 0 first_hop 2 destination 4" in lines(text, "flows")[0]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"topology.bottleneck.framing": "ethernet"}, "overhead_octets 38"),
        ({"topology.bottleneck.buffer": "1 MB"}, "counts_octets True"),
        ({"topology.bottleneck.policy": "codel"}, "policy codel"),
    ],
)
def test_of_links_of_packets_ns2_has_plain_ones_with_tail_drop(
    changes: dict[str, str], says: str
) -> None:
    with pytest.raises(Untranslatable, match=says):
        parameter_file(spec(PACKETS | changes), Choices())


def test_windows_are_whole_segments_and_timers_seconds() -> None:
    values = {"tcp.receiver_window": "600000 B", "tcp.window_scaling": True}
    run = spec(values | {"tcp.rto_initial": "3 s", "tcp.rto_min": "2 ticks"})
    tcp = run.flows[0].tcp
    variables = sender_variables(run, tcp, Choices(overhead_s=0.001))
    assert variables["window_"] == variables["maxcwnd_"] == 1171  # 600 000 / 512 = 1171.9
    assert (variables["windowInit_"], variables["packetSize_"]) == (1, 636)
    assert variables["tcpTick_"] == pytest.approx(0.1)
    assert variables["minrto_"] == pytest.approx(0.2)
    assert variables["rtxcur_init_"] == pytest.approx(3.0)
    assert variables["overhead_"] == 0.001
    assert sink_variables(run, tcp) == {"packetSize_": 106, "maxSackBlocks_": 3}


def test_variants_become_agents_with_their_rules() -> None:
    for kind, avoids in product(("tahoe", "reno"), (False, True)):
        rule = {"kind": kind, "avoid_multiple_fast_retransmits": avoids}
        run = spec({"tcp.recovery": rule})
        assert sender_variables(run, run.flows[0].tcp, Choices())["bugFix_"] is avoids
    vanilla = spec({"tcp.recovery": "vanilla"})
    variables = sender_variables(vanilla, vanilla.flows[0].tcp, Choices())
    assert variables["noFastRetrans_"] is True
    assert "sender Agent/TCP sender_variables" in parameter_file(vanilla, Choices())
    new_reno = {
        "tcp.recovery": "new_reno",
        "tcp.recovery.partial_ack_window": "deflate",
        "tcp.recovery.flywheel": True,
    }
    run = spec(new_reno)
    variables = sender_variables(run, run.flows[0].tcp, Choices())
    assert variables["partial_window_deflation_"] == variables["newreno_changes_"] == 1


CUBIC = {"tcp.congestion": "cubic"}


def test_cubic_becomes_linuxs_where_that_is_chosen() -> None:
    cubic = spec(CUBIC)
    text = parameter_file(cubic, Choices(linux_cubic=True))
    line = lines(text, "flows")[0]
    assert "sender Agent/TCP/Linux sender_variables" in line
    assert "{{select_ca cubic} {set_ca_default_param cubic beta 717}}" in line
    assert "timestamps_ true" in line
    for changes, why in (
        ({}, "another congestion control"),
        (CUBIC | {"tcp.recovery": "reno"}, "another recovery"),
        (CUBIC | {"tcp.initial_ssthresh": "9 segments"}, "ssthresh below"),
    ):
        with pytest.raises(Untranslatable, match=why):
            parameter_file(spec(changes), Choices(linux_cubic=True))


def test_losses_starts_and_choices_reach_the_file() -> None:
    values = {"loss.transmissions": [3, 5], "start": {"kind": "staggered", "every": "7 ms"}}
    choices = Choices(seed=4, scheduler="Heap", only_needed_headers=True)
    text = parameter_file(spec(values), choices, "a/trace")
    assert [line.split("start_s ")[1].split()[0] for line in lines(text, "flows")] == [
        "0.0",
        "0.007",
    ]
    assert all("losses {3 5" in line for line in lines(text, "flows"))
    for line in (
        "set seed 4",
        "set scheduler Heap",
        "set only_needed_headers 1",
        "set nodes 6",
        "set stop_s 1.0",
        "set trace_file {a/trace}",
    ):
        assert line in text.splitlines()


BOTTLENECK = "topology.bottleneck"
VOICE = {"kind": "cbr", "name": "voice", "rate": 0.1}
FORWARD = ["flow1.forward"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({f"{BOTTLENECK}.policy": "selective_drop"}, "policy selective_drop"),
        ({f"{BOTTLENECK}.policy": "red"}, "policy red"),
        ({f"{BOTTLENECK}.policy": {"kind": "epd", "partial_discard": False}}, "partial_discard"),
        ({f"{BOTTLENECK}.loss": 0.001}, "loss_ppb"),
        ({f"{BOTTLENECK}.scheduler": {"kind": "vc_round_robin"}}, "scheduler vc_round_robin"),
        ({"topology.access.frame_jitter": {"kind": "port_gap"}}, "frame_gap_ps"),
        ({"topology.access.frame_jitter": "1 us"}, "no counterpart in ns-2: jitter"),
        ({"topology.tcps_per_vc": 2}, "routers"),
        ({"source": [VOICE]}, "voice: .* class cbr"),
        ({"source": [{**VOICE, "class": "ubr"}]}, "the run: .* sources"),
        ({f"{BOTTLENECK}.class": [{"name": "cbr"}]}, "switch1>switch2: .* class cbr"),
        ({"topology.class": "nrt_vbr"}, "flow1.forward: .* class nrt_vbr"),
        ({"gfr": [{"vcs": FORWARD, "mcr": "9 cells/s"}]}, "flow1.forward: .* gfr"),
        ({"policer": [{"vcs": FORWARD, "pcr": "9 cells/s"}]}, "flow1.forward: .* policing"),
        ({"traffic": {"kind": "transfers", "size": "1 MB"}}, "traffic transfers"),
        ({"start": "drawn"}, "start drawn"),
        ({"loss.at_cwnd": "10000 B"}, "at_cwnd_octets 10000"),
        ({"tcp.congestion": "cubic"}, "congestion cubic"),
        ({"tcp.congestion.growth": "integer"}, "growth integer"),
        ({"tcp.rto_restart": "on_send"}, "rto_restart on_send"),
        ({"tcp.rto_max_backoff": 32}, "rto_max_backoff 32"),
        ({"tcp.recovery.pipe_at_entry": "cwnd"}, "pipe_at_entry cwnd"),
        ({"tcp.recovery.partial_ack": "ends recovery"}, "partial_ack ends_recovery"),
        ({"tcp.recovery.partial_ack_restarts": "none"}, "partial_ack_restarts none"),
        ({"tcp.recovery.pipe_room": "any"}, "pipe_room any"),
        ({"tcp.recovery.retransmit_delay": "3 segments"}, "retransmit_delay segments"),
        ({"tcp.recovery.max_blocks": 4}, "max_blocks 4"),
        ({"tcp.recovery": "new_reno"}, "partial_ack_window keep"),
        ({"tcp.delayed_ack": {}}, "delayed_ack"),
        ({"tcp.sws_avoidance": False}, "sws_avoidance False"),
        ({"tcp.timestamps": True}, "timestamps"),
        ({"tcp.handshake": True}, "handshake"),
    ],
)
def test_what_ns2_lacks_is_refused_by_name(values: dict[str, Any], says: str) -> None:
    with pytest.raises(Untranslatable, match=says):
        parameter_file(spec(values), Choices())


def by_way_of(links: str, route: str, flows: int = 1, **more: Any) -> NetworkSpec:
    """Connections from a to b over a route; links and nodes by their letters, "ax xb" and "axb"."""
    link = {"rate": "10 Mbit/s", "framing": "none", "delay": "1 ms"}
    scenario: dict[str, Any] = {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "switches": sorted(set(links) - set("ab ")),
            "link": [
                link
                | {"from": ends[0], "to": ends[1]}
                | ({"frame_jitter": "0 s"} if set(ends) & set("ab") else {})
                for ends in links.split()
            ],
            "vc": [{"name": "there", "path": list(route)}],
            "flow": [
                {"name": f"tcp{k}", "source": "a", "destination": "b", "forward": ["there"]}
                for k in range(flows)
            ],
        },
        "tcp": {"recovery": "reno"},
        "start": TOGETHER,
    }
    return skycell.parse(scenario | more).resolve()


@pytest.mark.parametrize(
    ("links", "route", "is_found"),
    [
        ("ax xb", "axb", True),
        ("ax xb xy yb", "axb", True),
        ("ax xb xy yb", "axyb", False),
        ("ax xy yb xz zb", "axyb", False),
    ],
)
def test_a_route_that_ns2_may_not_find_is_refused(links: str, route: str, is_found: bool) -> None:
    spec = by_way_of(links, route)
    with (
        nullcontext() if is_found else pytest.raises(Untranslatable, match=r"tcp0: .* another way")
    ):
        parameter_file(spec, Choices())


def test_losses_on_a_link_that_others_share_are_refused() -> None:
    parameter_file(by_way_of("ax xb", "axb", loss={"transmissions": [3]}), Choices())
    spec = by_way_of("ax xb", "axb", flows=2, loss={"transmissions": [3]})
    with pytest.raises(Untranslatable, match=r"tcp0: .* by link"):
        parameter_file(spec, Choices())


def test_epd_of_frames_of_two_sizes_is_refused() -> None:
    changes = {f"{BOTTLENECK}.reverse.policy": "epd", f"{BOTTLENECK}.reverse.buffer": "90 cells"}
    parameter_file(spec(changes), Choices())
    two = {"flow": [{"names": ["flow2"], "tcp": {"mss": "1024 B"}}]}
    with pytest.raises(Untranslatable, match=r"switch1>switch2: .* two sizes"):
        parameter_file(spec(two), Choices())


class YoungerStart(StartAt):
    """A start with a key that the translator has never heard of."""

    pace: int = 0


def with_a_younger_start(pace: int) -> NetworkSpec:
    """`spec()` whose first flow begins so."""
    old = spec()
    flow = old.flows[0].model_copy(update={"start": YoungerStart(time_ps=0, pace=pace)})
    return old.model_copy(update={"flows": (flow, *old.flows[1:])})


@pytest.mark.parametrize("pace", [0, 1])
def test_a_key_that_nobody_has_looked_at_is_refused_but_at_its_default(
    pace: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    part: type[SpecPart] = YoungerStart
    monkeypatch.setitem(TRANSLATED, part, TRANSLATED[StartAt])
    with pytest.raises(Untranslatable, match="pace 1") if pace else nullcontext():
        parameter_file(with_a_younger_start(pace), Choices())


def test_a_part_that_nobody_has_looked_at_is_refused() -> None:
    with pytest.raises(Untranslatable, match=r"flow1: .* start at$"):
        parameter_file(with_a_younger_start(0), Choices())


def test_the_lists_of_keys_name_keys_of_the_spec() -> None:
    for lists in (TRANSLATED, WITHOUT_EFFECT, ONLY):
        for part, keys in lists.items():
            assert set(keys) <= fields_of(part).keys()


def reported(tcp: dict[str, Any]) -> str:
    """What ns-2 is told; "" if it is refused."""
    changes = {f"tcp.{key}": value for key, value in tcp.items()}
    try:
        return parameter_file(spec(changes), Choices())
    except (Untranslatable, ScenarioFaults):
        return ""


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_two_values_of_a_tcp_rule_are_never_the_same_to_ns2(key: Key) -> None:
    recovery = {
        "new_reno": {"kind": "new_reno", "partial_ack_window": "deflate"},
        "sack": {"kind": "sack", "pipe_at_entry": "cwnd - 3"},
    }
    kinds = [kind for kind in recovery if key.rule != "recovery" or kind == key.kind]
    bases = [{"recovery": recovery[kind]} for kind in kinds] or [{}]
    alike = [
        (one, other)
        for one, other in combinations(key.values, 2)
        if all(
            reported(key.over(base, one)) == reported(key.over(base, other)) != "" for base in bases
        )
    ]
    assert bool(alike) == (key.name in WITHOUT_EFFECT[TcpSpec]), alike
