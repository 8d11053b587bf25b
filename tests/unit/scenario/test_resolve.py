from itertools import combinations
from typing import Any

import pytest

from skycell.scenario import ScenarioFaults
from skycell.spec.declared.network import (
    CubicSpec,
    DelayedAckSpec,
    DistributionExponential,
    DistributionUniform,
    EpdSpec,
    FairBufferAllocationSpec,
    NetworkSpec,
    NewRenoSpec,
    PolicySpec,
    RetransmitDelaySegments,
    SackSpec,
    SelectiveDropSpec,
    SingleDropSpec,
    StandardSlowStartSpec,
    StartAt,
    StartDrawn,
    TickPhaseAt,
    TrafficTransfers,
)
from tests.tcp_keys import KEYS, Key, suited
from tests.unit.scenario.wan import BOTTLENECK, wan


def congested(spec: NetworkSpec) -> int | None:
    """Capacity of the port that feeds the bottleneck."""
    return next(link.port.capacity_cells for link in spec.links if link.name == "switch1>switch2")


def policy(spec: NetworkSpec) -> PolicySpec:
    return next(link.port.policy for link in spec.links if link.name == "switch1>switch2")


@pytest.mark.parametrize(
    ("buffer", "cells"),
    [
        ("200000 cells", 200_000),
        # 30 ms / 2 726 337 ps = 11 003.8 cells, rounded down.
        ("1 RTT", 11_003),
        ("0.5 RTT", 5_501),
        ("3 RTT", 33_011),
        ("10 ms", 3_667),
        ("100 frames", 1_200),  # MSS 512 is 12 cells
        ("unlimited", None),
    ],
)
def test_a_buffer_is_a_whole_number_of_cells(buffer: str, cells: int | None) -> None:
    assert congested(wan(topology__bottleneck__buffer=buffer).resolve()) == cells


def test_a_frame_of_buffer_is_the_largest_segments_frame() -> None:
    spec = wan(
        topology__bottleneck__buffer="1 frame",
        tcp__timestamps=True,
        tcp__mss="512 B",
        flow=[{"names": ["flow2"], "tcp": {"mss": "1024 B"}}],
    ).resolve()
    # 1024 + 40 + 12 + 8 + 8 = 1092 octets fill 22.75 payloads.
    assert congested(spec) == 23


@pytest.mark.parametrize(
    ("key", "last", "beyond"),
    [
        ("run.duration", "1 ns", "0 s"),
        ("topology.bottleneck.delay", "24 h", "86400.000000001 s"),
        ("topology.bottleneck.policy.drop_threshold", 1.0, 1.000001),
        ("topology.bottleneck.policy.drop_threshold", "100 %", "100.001 %"),
        ("topology.bottleneck.policy.drop_threshold", 1e-4, 0.0),
        ("topology.bottleneck.policy.fairness_threshold", 1.0, 1.000001),
        ("topology.bottleneck.policy.fairness_threshold", 1e-9, 0.0),
        ("topology.bottleneck.policy.z", 0.0, -1e-9),
        ("topology.bottleneck.policy.z", 1.0, 1.000001),
        ("topology.bottleneck.policy.alpha", 0.0, -1e-9),
        ("topology.bottleneck.policy.alpha", 1.0, 1.000001),
        ("topology.access.frame_jitter", "1 h", "3600.000000001 s"),
        ("tcp.mss", "1 B", "0 B"),
        ("tcp.mss", "65443 B", "65444 B"),
        ("tcp.rto_min", "1 tick", "0 ticks"),
        ("tcp.tick", "1 ns", "0.999 ns"),
        ("tcp.tick", "1 h", "3600.000000001 s"),
        ("tcp.recovery.retransmit_delay", "1 segment", "0 segments"),
        ("tcp.recovery.max_blocks", 1, 0),
        ("tcp.recovery.max_blocks", 4, 5),
    ],
)
def test_the_last_value_of_a_range_is_in_it_and_the_next_is_not(
    key: str, last: object, beyond: object
) -> None:
    kind = "dfba" if key.endswith((".z", ".alpha")) else "selective_drop"
    policy = {"topology.bottleneck.policy": kind}

    def faults_there(value: object) -> list[str]:
        try:
            wan().with_values({**policy, key: value})
        except ScenarioFaults as found:
            return [fault.path for fault in found.faults if fault.path == key]
        return []

    assert faults_there(last) == []
    assert faults_there(beyond) == [key]


@pytest.mark.parametrize(
    ("mss", "llc_snap", "timestamps"), [(432, False, False), (424, True, False), (420, False, True)]
)
def test_a_segment_that_just_fits_its_cells_takes_no_cell_more(
    mss: int, llc_snap: bool, timestamps: bool
) -> None:
    # With headers of TCP and IP, 8 octets of LLC/SNAP or 12 of options, and the trailer: 480.
    for octets, cells in ((mss, 10), (mss + 1, 11)):
        tcp = {"mss": f"{octets} B", "llc_snap": llc_snap, "timestamps": timestamps}
        assert congested(wan(topology__bottleneck__buffer="1 frame", tcp=tcp).resolve()) == cells


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("epd", EpdSpec(threshold_cells=10_800, partial_discard=True)),
        (
            {"kind": "epd", "drop_threshold": "7168 cells"},
            EpdSpec(threshold_cells=7_168, partial_discard=True),
        ),
        # 0.8 x 12 000 is 9 600.000000000002 in binary; the file's number is decimal.
        (
            {"kind": "epd", "drop_threshold": 0.8},
            EpdSpec(threshold_cells=9_600, partial_discard=True),
        ),
        # 0.29 x 12 000 is 3 479.9999999999995 in binary.
        (
            {"kind": "epd", "drop_threshold": 0.29},
            EpdSpec(threshold_cells=3_480, partial_discard=True),
        ),
        (
            {"kind": "selective_drop", "drop_threshold": "80 %", "fairness_threshold": "75 %"},
            SelectiveDropSpec(threshold_cells=9_600, fairness_threshold=0.75, partial_discard=True),
        ),
        (
            "fair_buffer_allocation",
            FairBufferAllocationSpec(
                threshold_cells=10_800, fairness_threshold=0.8, partial_discard=True
            ),
        ),
    ],
)
def test_thresholds_become_cells_by_rounding_down(written: object, resolved: PolicySpec) -> None:
    assert policy(wan(topology__bottleneck__policy=written).resolve()) == resolved


def test_thresholds_of_single_drop_go_to_the_vcs_of_the_flows() -> None:
    listed = {"kind": "single_drop", "thresholds": ["305 cells", "611 cells"]}
    # VCs: flow1.forward, flow1.reverse, flow2.forward, flow2.reverse
    expected = SingleDropSpec(thresholds_cells=(305, None, 611, None), rearm_below_cells=0)
    assert policy(wan(topology__bottleneck__policy=listed).resolve()) == expected
    named = {
        "kind": "single_drop",
        "thresholds": {"flow2.forward": "611 cells"},
        "rearm_below": "12 cells",
    }
    expected = SingleDropSpec(thresholds_cells=(None, None, 611, None), rearm_below_cells=12)
    assert policy(wan(topology__bottleneck__policy=named).resolve()) == expected


def test_the_other_direction_has_a_buffer_of_its_own() -> None:
    spec = wan(topology__bottleneck__reverse={"buffer": "100 cells", "policy": "ppd"}).resolve()
    back = next(link.port for link in spec.links if link.name == "switch2>switch1")
    assert (back.capacity_cells, back.policy.kind) == (100, "ppd")
    assert congested(spec) == 12_000


def test_the_buffer_of_a_port_with_classes_is_that_of_all_without_a_queue_of_their_own() -> None:
    own = {"name": "cbr", "buffer": "20 cells", "policy": "ppd"}
    spec = wan(topology__bottleneck={**BOTTLENECK, "class": [own]}).resolve()
    assert congested(spec) == 12_000
    assert policy(spec).kind == "tail_drop"


def test_rtt_x_bandwidth_is_what_the_slowest_link_carries_in_a_round_trip() -> None:
    # ATM Forum 98-0876R1: 10 ms x 45 Mbit/s = 56 250 octets of initial ssthresh.
    spec = wan(
        topology__bottleneck__rate="45 Mbit/s",
        topology__access={"rate": "155.52 Mbit/s", "framing": "sts3c", "delay": "0 s"},
        tcp__initial_ssthresh="RTT x bandwidth",
        tcp__receiver_window="0.5 RTT",
    ).resolve()
    assert spec.flows[0].tcp.initial_ssthresh == 56_250
    assert spec.flows[0].tcp.rwnd == 28_125


def test_windows_may_be_counted_in_segments_or_follow_the_receivers() -> None:
    tcp = (
        wan(tcp__mss="1000 B", tcp__receiver_window="60 segments", tcp__initial_cwnd="2 segments")
        .resolve()
        .flows[0]
        .tcp
    )
    assert (tcp.rwnd, tcp.initial_cwnd) == (60_000, 2_000)
    assert (tcp.initial_ssthresh, tcp.max_cwnd) == (60_000, 60_000)


@pytest.mark.parametrize(
    ("window", "largest"),
    # 65 535 x 2^7 = 8 388 480 is below 34 000 x 2^8 = 8 704 000.
    [("65535 B", 65_535), ("65536 B", 131_070), ("8704000 B", 65_535 << 8)],
)
def test_the_window_field_is_shifted_as_the_receivers_window_needs(
    window: str, largest: int
) -> None:
    spec = wan(
        tcp__receiver_window=window, tcp__window_scaling=True, tcp__max_cwnd="window field"
    ).resolve()
    assert spec.flows[0].tcp.max_cwnd == largest


def test_timeouts_are_rounded_up_to_whole_ticks() -> None:
    tcp = (
        wan(
            tcp__tick="200 ms",
            tcp__rto_min="0.3 s",
            tcp__rto_initial="5 ticks",
            tcp__rto_max="64.1 s",
            tcp__tick_phase="30 ms",
        )
        .resolve()
        .flows[0]
        .tcp
    )
    assert (tcp.rto_min_ticks, tcp.rto_initial_ticks, tcp.rto_max_ticks) == (2, 5, 321)
    assert tcp.tick_phase == TickPhaseAt(offset_ps=30 * 10**9)
    common = wan(tcp__tick_phase="common").resolve().flows[0].tcp
    assert common.tick_phase == TickPhaseAt(offset_ps=0)


def test_every_word_of_a_tcp_reaches_the_spec() -> None:
    tcp = (
        wan(
            tcp={
                "recovery": {
                    "kind": "new_reno",
                    "dup_ack_threshold": 2,
                    "partial_ack_window": "deflate",
                    "partial_ack_restarts": "first",
                    "flywheel": True,
                    "avoid_multiple_fast_retransmits": True,
                },
                "congestion": {"kind": "cubic", "c": 4, "fast_convergence": False},
                "slow_start": {"kind": "standard", "at_ssthresh": True},
                "llc_snap": False,
                "rto_max_backoff": 16,
                "rto_restart": "on_send",
                "delayed_ack": {"timeout": "100 ms", "every_segments": 3},
                "nagle": False,
                "sws_avoidance": False,
                "idle_restart": False,
                "handshake": True,
            }
        )
        .resolve()
        .flows[0]
        .tcp
    )
    assert tcp.recovery == NewRenoSpec(
        dup_ack_threshold=2,
        partial_ack_window="deflate",
        partial_ack_restarts="first",
        flywheel=True,
        avoid_multiple_fast_retransmits=True,
    )
    assert tcp.congestion == CubicSpec(c=4.0, fast_convergence=False, ssthresh_basis="cwnd")
    assert tcp.slow_start == StandardSlowStartSpec(at_ssthresh=True)
    assert (tcp.llc_snap, tcp.rto_max_backoff, tcp.rto_restart) == (False, 16, "on_send")
    assert tcp.delayed_ack == DelayedAckSpec(timeout_ps=10**11, every_segments=3)
    assert (tcp.nagle, tcp.sws_avoidance, tcp.idle_restart) == (False, False, False)
    assert tcp.handshake


def test_every_word_of_sack_reaches_the_spec() -> None:
    words = {
        "kind": "sack",
        "pipe_at_entry": "cwnd - 3",
        "partial_ack": "ends recovery",
        "partial_ack_restarts": "none",
        "pipe_room": "any",
        "retransmit_delay": "4 segments",
        "max_blocks": 2,
    }
    assert wan(tcp={"recovery": words}).resolve().flows[0].tcp.recovery == SackSpec(
        dup_ack_threshold=3,
        pipe_at_entry="cwnd_less_three",
        partial_ack="ends_recovery",
        partial_ack_restarts="none",
        pipe_room="any",
        retransmit_delay=RetransmitDelaySegments(count=4),
        max_blocks=2,
        avoid_multiple_fast_retransmits=False,
    )


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_value_of_a_key_of_tcp_is_another_spec(key: Key) -> None:
    base: dict[str, Any] = {"receiver_window": "30000 B", "timestamps": True}
    if str(key).startswith(("congestion", "pacing")):
        base["recovery"] = "rack_tlp"  # which all of them go with
    written = [suited(key.over(base, value)) for value in key.values]
    specs = [wan(tcp=tcp).resolve().flows[0].tcp for tcp in written]
    assert all(one != other for one, other in combinations(specs, 2))


def test_a_delayed_ack_may_have_a_longest_wait_beside_its_shortest() -> None:
    held = {"timeout": "40 ms", "max_timeout": "200 ms"}
    tcp = wan(tcp__delayed_ack=held).resolve().flows[0].tcp
    assert tcp.delayed_ack == DelayedAckSpec(
        timeout_ps=40 * 10**9, max_timeout_ps=200 * 10**9, every_segments=2
    )


def test_delayed_acks_may_be_switched_on_by_a_word() -> None:
    tcp = wan(tcp__delayed_ack="on").resolve().flows[0].tcp
    assert tcp.delayed_ack == DelayedAckSpec(timeout_ps=200 * 10**9, every_segments=2)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("together", [StartAt(time_ps=0), StartAt(time_ps=0)]),
        ({"kind": "together", "at": "2 RTT"}, [StartAt(time_ps=60 * 10**9)] * 2),
        (
            {"kind": "staggered", "every": "10 ms", "first": "1 ms"},
            [StartAt(time_ps=10**9), StartAt(time_ps=11 * 10**9)],
        ),
        ("drawn", [StartDrawn(from_ps=0, to_ps=10**11)] * 2),
    ],
)
def test_flows_begin_as_the_start_says(start: object, expected: list[StartAt | StartDrawn]) -> None:
    assert [flow.start for flow in wan(start=start).resolve().flows] == expected


def test_a_flow_with_a_start_of_its_own_takes_no_turn_after_the_end() -> None:
    turns = {"kind": "staggered", "every": "20 s"}
    own = [{"names": ["flow2"], "start": {"kind": "together", "at": "1 s"}}]
    spec = wan(start=turns, flow=own).resolve()
    assert [flow.start for flow in spec.flows] == [StartAt(time_ps=0), StartAt(time_ps=10**12)]
    with pytest.raises(ScenarioFaults, match=r"start\.every\n  got      a start at 20 s"):
        wan(start=turns)


def test_a_range_of_starts_may_end_after_the_run() -> None:
    spec = wan(start={"kind": "drawn", "earliest": "1 s", "latest": "1 h"}).resolve()
    assert spec.flows[0].start == StartDrawn(from_ps=10**12, to_ps=3600 * 10**12)
    with pytest.raises(ScenarioFaults, match=r"start\.earliest\n  got      a start at 10 s"):
        wan(start={"kind": "drawn", "earliest": "10 s", "latest": "1 h"})


def test_transfers_keep_their_distribution() -> None:
    traffic = {"kind": "transfers", "size": "10 MB", "idle": "0.1 s", "count": 3}
    resolved = wan(traffic=traffic).resolve().flows[0].traffic
    assert isinstance(resolved, TrafficTransfers)
    assert (resolved.size_octets, resolved.count, resolved.new_connection) == (10**7, 3, True)
    traffic["idle"] = {"kind": "uniform", "low": "1 RTT", "high": "1 s"}
    uniform = wan(traffic=traffic).resolve().flows[0].traffic
    assert isinstance(uniform, TrafficTransfers)
    assert uniform.idle == DistributionUniform(low_ps=30 * 10**9, high_ps=10**12)
    traffic["idle"] = {"kind": "exponential", "mean": "100 ms"}
    exponential = wan(traffic=traffic).resolve().flows[0].traffic
    assert isinstance(exponential, TrafficTransfers)
    assert exponential.idle == DistributionExponential(mean_ps=10**11)


def test_prescribed_losses_are_in_octets_of_the_flows_own_segments() -> None:
    spec = wan(
        loss={"transmissions": [5, 6], "at_cwnd": "10 segments"},
        flow=[{"names": ["flow2"], "tcp": {"mss": "1024 B"}}],
    ).resolve()
    assert [flow.loss_script.at_cwnd_octets for flow in spec.flows] == [5_120, 10_240]
    assert spec.flows[0].loss_script.transmissions == (5, 6)


def test_ports_with_a_limited_buffer_are_sampled() -> None:
    spec = wan(records__traces=["queue", "cwnd"], records__sample_every="5 ms").resolve()
    assert [spec.links[i].name for i in spec.records.sampled_ports] == ["switch1>switch2"]
    assert spec.records.vc_sampled_ports == spec.records.sampled_ports
    assert spec.records.sample_every_ps == 5 * 10**9
    assert spec.records.traces == ("cwnd", "queue")


def test_sampled_ports_may_be_named() -> None:
    spec = wan(records__ports=["switch2>destination2", "source1>switch1"], records__vc_ports=[])
    resolved = spec.resolve().records
    assert [spec.resolve().links[i].name for i in resolved.sampled_ports] == [
        "source1>switch1",
        "switch2>destination2",
    ]
    assert resolved.vc_sampled_ports == ()


def test_a_seed_changes_the_seed_and_nothing_else() -> None:
    scenario = wan(run__seed=5)
    assert scenario.resolve().seed == 5
    other = scenario.resolve(seed=6)
    assert other.seed == 6
    assert other.with_seed(5) == scenario.resolve()
    assert other.hash() != scenario.resolve().hash()


def test_the_canonical_text_has_one_form() -> None:
    spec = wan().resolve()
    text = spec.canonical_json()
    assert " " not in text
    assert NetworkSpec.model_validate_json(text).canonical_json() == text
    assert wan().resolve().hash() == spec.hash()
    assert len(spec.hash()) == 64
