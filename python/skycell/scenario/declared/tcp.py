"""The table [tcp] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, when, word
from skycell.scenario.declared.types import (
    AtLeastOne,
    Backoff,
    CubicC,
    Cwnd,
    Flag,
    InitialWindow,
    MaxCwnd,
    Mss,
    PartOfOne,
    ReceiverWindow,
    RtoInitial,
    RtoMax,
    RtoMin,
    SackBlocks,
    SegmentCount,
    Ssthresh,
    Tick,
    TimeOrNone,
)
from skycell.scenario.values.rule_specs import Choice, FieldSpec, RuleSpec, kind_or
from skycell.scenario.values.tcp_types import DelayedAck, RetransmitDelay, TickPhase
from skycell.spec.declared.network import (
    Bbr3Spec,
    BbrSpec,
    ByteCountingSlowStartSpec,
    CubicSpec,
    DctcpSpec,
    HighSpeedSpec,
    HyStartPlusPlusSpec,
    HyStartSpec,
    LimitedSlowStartSpec,
    LinuxCubicSpec,
    NewRenoSpec,
    NoPacingSpec,
    PacedSpec,
    PragueSpec,
    RackTlpSpec,
    RenoCongestionSpec,
    RenoRecoverySpec,
    SackSpec,
    StandardSlowStartSpec,
    TahoeSpec,
    TcpSpec,
    VanillaSpec,
    VegasSpec,
)


class Vanilla(Parameters):
    """Slow start and congestion avoidance alone: losses are found by timeout only."""

    kind: Literal["vanilla"] = param(..., "the recovery rule")


class Tahoe(Parameters):
    """Fast retransmit, from where slow start goes on as after a timeout."""

    kind: Literal["tahoe"] = param(..., "the recovery rule")
    dup_ack_threshold: SegmentCount = param(
        3,
        "duplicate ACKs that start fast retransmit",
        source="RFC 5681 section 3.2",
    )
    avoid_multiple_fast_retransmits: Flag = param(
        False,
        ("no second fast retransmit for data sent before the last one or the last timeout"),
        source="4.3BSD-Tahoe has no such rule; ns-2 has it as bugFix",
    )


class RenoRecovery(Parameters):
    """Fast retransmit and fast recovery, which the first ACK of new data ends."""

    kind: Literal["reno"] = param(..., "the recovery rule")
    dup_ack_threshold: SegmentCount = param(
        3,
        "duplicate ACKs that start fast retransmit",
        source="RFC 5681 section 3.2",
    )
    avoid_multiple_fast_retransmits: Flag = param(
        False,
        "no second fast retransmit for data sent before the last recovery or timeout",
        source=(
            "RFC 2001 section 4 has no such rule; ns-2 has it as bugFix, RFC 2582 in section 5"
        ),
    )


class NewReno(Parameters):
    """Fast retransmit and a recovery that lasts until everything sent before it is acknowledged."""

    kind: Literal["new_reno"] = param(..., "the recovery rule")
    dup_ack_threshold: SegmentCount = param(
        3,
        "duplicate ACKs that start fast retransmit",
        source="RFC 5681 section 3.2",
    )
    partial_ack_window: Annotated[str, word("keep", "ssthresh", "deflate")] = param(
        "keep",
        ("cwnd at a partial ACK: unchanged, set to ssthresh, or reduced by what was acknowledged"),
        source="ICCCN'97 section 2.3 mentions no change",
    )
    partial_ack_restarts: Annotated[str, word("every", "first", "none")] = param(
        "every",
        "which partial ACKs restart the retransmission timer",
        source="ATM Forum 98-0876R1 section 3.1",
    )
    flywheel: Flag = param(
        False,
        ("one new segment for every two duplicate ACKs, not what the inflated cwnd allows"),
        source="ICCCN'97 section 2.3 mentions none",
    )
    avoid_multiple_fast_retransmits: Flag = param(
        False,
        "no second fast retransmit for data sent before the last recovery or timeout",
        source="ATM Forum 98-0876R1 section 3.1: no extra rule",
    )


class Sack(Parameters):
    """Fast retransmit and a recovery guided by selective acknowledgements: the pipe algorithm."""

    kind: Literal["sack"] = param(..., "the recovery rule")
    dup_ack_threshold: SegmentCount = param(
        3,
        "duplicate ACKs that start fast retransmit",
        source="RFC 5681 section 3.2",
    )
    pipe_at_entry: Annotated[str, word("cwnd", "cwnd - 3")] = param(
        "cwnd",
        "pipe at the third duplicate ACK, in segments",
        source="ICCCN'97 section 3",
    )
    partial_ack: Annotated[str, word("pipe - 2", "pipe - 1", "resends two", "ends recovery")] = (
        param(
            "pipe - 2",
            (
                "effect of a partial ACK: it takes two segments off pipe, or one; resends two"
                " holes whatever the value of pipe; or ends the recovery"
            ),
            source="ICCCN'97 section 3; ATM Forum 98-0876R1 section 3.2",
        )
    )
    partial_ack_restarts: Annotated[str, word("every", "first", "none")] = param(
        "every",
        "which partial ACKs restart the retransmission timer",
        source="stated in no study; ATM Forum 98-0876R1 section 3.1 does so for its NewReno",
    )
    pipe_room: Annotated[str, word("segment", "any")] = param(
        "segment",
        (
            "how much room pipe must leave below cwnd before a segment goes out: that of "
            "a whole segment, or any"
        ),
        source="Fall and Floyd 1996; RFC 6675 section 5",
    )
    retransmit_delay: RetransmitDelay = param(
        "none",
        "segments above a hole that must be SACKed before it is resent",
        source="NASA/CR-1999-209158 part VII: no significant effect",
    )
    max_blocks: SackBlocks = param(
        3,
        "blocks in one ACK; four only without timestamps",
        source="RFC 2018 section 3",
    )
    avoid_multiple_fast_retransmits: Flag = param(
        False,
        "no second fast retransmit for data sent before the last recovery or timeout",
        source="ATM Forum 98-0876R1 section 3.1: no extra rule",
    )


class RackTlp(Parameters):
    """Losses by time of sending, a probe before any timeout, a scoreboard that outlives it."""

    kind: Literal["rack_tlp"] = param(..., "the recovery rule")
    dup_ack_threshold: SegmentCount = param(
        3,
        (
            "SACKed segments from which on nothing is waited for, as long as no "
            "reordering has been seen"
        ),
        source="RFC 8985 section 6.2 step 4; Linux tcp_reordering",
    )
    max_blocks: SackBlocks = param(
        3,
        "blocks in one ACK; four only without timestamps",
        source="RFC 2018 section 3",
    )
    undo: Flag = param(
        False,
        ("if true, reductions are undone when segments that seemed lost turn out to be late"),
        source="RFC 8985 asks for none; RFC 4015 and RFC 5682 are Linux's",
    )
    dsack: Flag = param(
        False,
        (
            "if true, the receiver reports which segments came twice, and the sender "
            "counts them: with undo, a reduction is undone if everything that was "
            "repeated came twice"
        ),
        source="RFC 8985 recommends it; RFC 2883 and RFC 3708 are Linux's",
    )
    tso_defer: Flag = param(
        False,
        (
            "if true, segments that an ACK releases wait for the next ACK, if that is "
            "near, until they make a burst: what TSO sends in 1 ms, at least two segments"
        ),
        source="no RFC has bursts; Linux's tcp_tso_should_defer",
    )


_AnyRecovery = Vanilla | Tahoe | RenoRecovery | NewReno | Sack | RackTlp
Recovery = Annotated[
    Annotated[_AnyRecovery, Field(discriminator="kind")],
    BeforeValidator(
        kind_or("sack"),
        json_schema_input_type=_AnyRecovery
        | Literal["vanilla", "tahoe", "reno", "new_reno", "sack", "rack_tlp"],
    ),
]
RECOVERY: dict[str, RuleSpec] = {
    "vanilla": RuleSpec(Vanilla, VanillaSpec, ()),
    "tahoe": RuleSpec(
        Tahoe,
        TahoeSpec,
        (
            FieldSpec("dup_ack_threshold", "dup_ack_threshold", "SegmentCount"),
            FieldSpec("avoid_multiple_fast_retransmits", "avoid_multiple_fast_retransmits", "Flag"),
        ),
    ),
    "reno": RuleSpec(
        RenoRecovery,
        RenoRecoverySpec,
        (
            FieldSpec("dup_ack_threshold", "dup_ack_threshold", "SegmentCount"),
            FieldSpec("avoid_multiple_fast_retransmits", "avoid_multiple_fast_retransmits", "Flag"),
        ),
    ),
    "new_reno": RuleSpec(
        NewReno,
        NewRenoSpec,
        (
            FieldSpec("dup_ack_threshold", "dup_ack_threshold", "SegmentCount"),
            FieldSpec("partial_ack_window", "partial_ack_window", "word"),
            FieldSpec("partial_ack_restarts", "partial_ack_restarts", "word"),
            FieldSpec("flywheel", "flywheel", "Flag"),
            FieldSpec("avoid_multiple_fast_retransmits", "avoid_multiple_fast_retransmits", "Flag"),
        ),
    ),
    "sack": RuleSpec(
        Sack,
        SackSpec,
        (
            FieldSpec("dup_ack_threshold", "dup_ack_threshold", "SegmentCount"),
            FieldSpec(
                "pipe_at_entry", "pipe_at_entry", "word", words={"cwnd - 3": "cwnd_less_three"}
            ),
            FieldSpec(
                "partial_ack",
                "partial_ack",
                "word",
                words={
                    "pipe - 2": "pipe_less_two",
                    "pipe - 1": "pipe_less_one",
                    "resends two": "resends_two",
                    "ends recovery": "ends_recovery",
                },
            ),
            FieldSpec("partial_ack_restarts", "partial_ack_restarts", "word"),
            FieldSpec("pipe_room", "pipe_room", "word"),
            FieldSpec("retransmit_delay", "retransmit_delay", "RetransmitDelay"),
            FieldSpec("max_blocks", "max_blocks", "SackBlocks"),
            FieldSpec("avoid_multiple_fast_retransmits", "avoid_multiple_fast_retransmits", "Flag"),
        ),
    ),
    "rack_tlp": RuleSpec(
        RackTlp,
        RackTlpSpec,
        (
            FieldSpec("dup_ack_threshold", "dup_ack_threshold", "SegmentCount"),
            FieldSpec("max_blocks", "max_blocks", "SackBlocks"),
            FieldSpec("undo", "undo", "Flag"),
            FieldSpec("dsack", "dsack", "Flag"),
            FieldSpec("tso_defer", "tso_defer", "Flag"),
        ),
    ),
}


class RenoCongestion(Parameters):
    """A segment each round trip, and half at a loss."""

    kind: Literal["reno"] = param(..., "the congestion rule")
    growth: Annotated[
        str, word("float", "integer", "ack_counting", "byte_counting", "segment_counting")
    ] = param(
        "float",
        (
            "arithmetic of congestion avoidance: with fractions, in whole octets (no "
            "growth above MSS x MSS), by counting ACKs, by counting the octets that they "
            "acknowledge, or in whole segments by counting segments"
        ),
        source="choice: ICCCN'97 section 7.2 mentions the first three as possible",
    )
    ssthresh_basis: Annotated[str, word("cwnd", "window")] = param(
        "cwnd",
        (
            "value that a loss halves: cwnd, or the smaller of cwnd and the advertised "
            "window, in whole segments"
        ),
        source="ICCCN'97 section 2.1: half of cwnd",
    )


class Cubic(Parameters):
    """A cubic function of the time since the last loss, and 0.7 at a loss."""

    kind: Literal["cubic"] = param(..., "the congestion rule")
    c: CubicC = param(
        0.4,
        "how steep the cubic function is, segments/s^3",
        symbol="C",
        source="RFC 9438 section 4.1.1",
    )
    fast_convergence: Flag = param(
        True,
        (
            "a loss at a smaller window than the last one lowers W_max further, for the "
            "sake of flows that begin"
        ),
        source="RFC 9438 section 4.7",
    )
    ssthresh_basis: Annotated[str, word("cwnd", "window")] = param(
        "cwnd",
        (
            "value that a loss multiplies by 0.7: cwnd, or the smaller of cwnd and the "
            "advertised window, in whole segments"
        ),
        source="RFC 9438 section 4.6, with cwnd for what is in flight",
    )


class LinuxCubic(Parameters):
    """CUBIC in whole segments, 5 % a round trip before the first loss."""

    kind: Literal["linux_cubic"] = param(..., "the congestion rule")
    fast_convergence: Flag = param(
        True,
        (
            "a loss at a smaller window than the last one lowers W_max further, for the "
            "sake of flows that begin"
        ),
        source="Linux tcp_cubic.c: fast_convergence",
    )
    tcp_friendliness: Flag = param(
        True,
        "growth is no slower than that of a Reno with the same average window",
        source="Linux tcp_cubic.c: tcp_friendliness",
    )


class Bbr(Parameters):
    """Paced by a model of the path: its bandwidth and its least round trip."""

    kind: Literal["bbr"] = param(..., "the congestion rule")


class Bbr3(Parameters):
    """Paced by a model of the path that losses bound: BBR version 3."""

    kind: Literal["bbr3"] = param(..., "the congestion rule")


class Dctcp(Parameters):
    """A segment each round trip; marks take half of their part of cwnd, a loss half of it all."""

    kind: Literal["dctcp"] = param(..., "the congestion rule")
    gain: PartOfOne = param(
        0.0625,
        "weight of the last window in the smoothed part of octets that were marked",
        symbol="g",
        source="RFC 8257 section 4.2: 1 / 16",
    )


class Prague(Parameters):
    """DCTCP's response in packets with ECT(1); what is not marked goes on to make cwnd grow."""

    kind: Literal["prague"] = param(..., "the congestion rule")
    gain: PartOfOne = param(
        0.0625,
        "weight of the last window in the smoothed part of octets that were marked",
        symbol="g",
        source="draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2: 1 / 16",
    )


class Vegas(Parameters):
    """By the length of round trips: a few segments of its own, alpha to beta, in the queue."""

    kind: Literal["vegas"] = param(..., "the congestion rule")
    alpha: SegmentCount = param(
        2,
        "segments in the queue below which cwnd grows",
        symbol="alpha",
        source="Linux tcp_vegas.c",
    )
    beta: SegmentCount = param(
        4,
        "segments in the queue above which it shrinks",
        symbol="beta",
        source="Linux tcp_vegas.c",
    )
    gamma: SegmentCount = param(
        1,
        "segments in the queue above which slow start ends",
        symbol="gamma",
        source="Linux tcp_vegas.c",
    )


class HighSpeed(Parameters):
    """Reno up to 38 segments; above, growth and cut depend on the window."""

    kind: Literal["high_speed"] = param(..., "the congestion rule")


_AnyCongestion = (
    RenoCongestion | Cubic | LinuxCubic | Bbr | Bbr3 | Dctcp | Prague | Vegas | HighSpeed
)
Congestion = Annotated[
    Annotated[_AnyCongestion, Field(discriminator="kind")],
    BeforeValidator(
        kind_or("reno"),
        json_schema_input_type=_AnyCongestion
        | Literal[
            "reno", "cubic", "linux_cubic", "bbr", "bbr3", "dctcp", "prague", "vegas", "high_speed"
        ],
    ),
]
CONGESTION: dict[str, RuleSpec] = {
    "reno": RuleSpec(
        RenoCongestion,
        RenoCongestionSpec,
        (
            FieldSpec("growth", "growth", "word"),
            FieldSpec("ssthresh_basis", "ssthresh_basis", "word"),
        ),
    ),
    "cubic": RuleSpec(
        Cubic,
        CubicSpec,
        (
            FieldSpec("c", "c", "CubicC"),
            FieldSpec("fast_convergence", "fast_convergence", "Flag"),
            FieldSpec("ssthresh_basis", "ssthresh_basis", "word"),
        ),
    ),
    "linux_cubic": RuleSpec(
        LinuxCubic,
        LinuxCubicSpec,
        (
            FieldSpec("fast_convergence", "fast_convergence", "Flag"),
            FieldSpec("tcp_friendliness", "tcp_friendliness", "Flag"),
        ),
    ),
    "bbr": RuleSpec(Bbr, BbrSpec, ()),
    "bbr3": RuleSpec(Bbr3, Bbr3Spec, ()),
    "dctcp": RuleSpec(Dctcp, DctcpSpec, (FieldSpec("gain", "gain", "PartOfOne"),)),
    "prague": RuleSpec(Prague, PragueSpec, (FieldSpec("gain", "gain", "PartOfOne"),)),
    "vegas": RuleSpec(
        Vegas,
        VegasSpec,
        (
            FieldSpec("alpha", "alpha", "SegmentCount", at_most="beta"),
            FieldSpec("beta", "beta", "SegmentCount"),
            FieldSpec("gamma", "gamma", "SegmentCount"),
        ),
    ),
    "high_speed": RuleSpec(HighSpeed, HighSpeedSpec, ()),
}


class StandardSlowStart(Parameters):
    """A segment for each ACK of new data."""

    kind: Literal["standard"] = param(..., "the slow start rule")
    at_ssthresh: Flag = param(
        False,
        ("slow start continues at cwnd = ssthresh, and with the ACK that ends a recovery"),
        source="ICCCN'97 section 2.1: congestion avoidance from ssthresh on",
    )


class LimitedSlowStart(Parameters):
    """A segment for each ACK up to max_ssthresh, from there on half of that each round trip."""

    kind: Literal["limited"] = param(..., "the slow start rule")
    max_ssthresh: SegmentCount = param(
        100,
        (
            "segments up to which limited slow start is slow start; above, cwnd grows by "
            "half of them each round trip"
        ),
        source="RFC 3742 section 2: the value of its experiments",
    )
    at_ssthresh: Flag = param(
        False,
        ("slow start continues at cwnd = ssthresh, and with the ACK that ends a recovery"),
        source="ICCCN'97 section 2.1: congestion avoidance from ssthresh on",
    )


class ByteCountingSlowStart(Parameters):
    """An ACK adds what it acknowledges, so that delayed or thinned ACKs slow nothing down."""

    kind: Literal["byte_counting"] = param(..., "the slow start rule")
    limit: SegmentCount = param(
        2,
        (
            "segments that an ACK makes cwnd grow by at most; one in a slow start that "
            "follows a timeout"
        ),
        symbol="L",
        source="RFC 3465 section 2.2",
    )


class HyStartPlusPlus(Parameters):
    """Slow start that slows down as round trips get longer, and ends five round trips later."""

    kind: Literal["hystart_plus_plus"] = param(..., "the slow start rule")
    limit: SegmentCount = param(
        8,
        "segments that an ACK makes cwnd grow by at most",
        symbol="L",
        source="RFC 9406 section 4.3: of senders that do not pace",
    )


class HyStart(Parameters):
    """An ACK adds what it acknowledges, until a long train of ACKs or longer round trips."""

    kind: Literal["hystart"] = param(..., "the slow start rule")
    detect: Annotated[str, word("both", "train", "delay", "none")] = param(
        "both",
        (
            "events that end slow start beside a loss: a long train of ACKs, longer round"
            " trips, either, or nothing"
        ),
        source="Linux tcp_cubic.c: hystart_detect = 3",
    )
    low_window: SegmentCount = param(
        16,
        "segments of cwnd from which on it looks",
        source="Linux tcp_cubic.c: hystart_low_window",
        when=when("detect", "both", "train", "delay"),
    )


_AnySlowStart = (
    StandardSlowStart | LimitedSlowStart | ByteCountingSlowStart | HyStartPlusPlus | HyStart
)
SlowStart = Annotated[
    Annotated[_AnySlowStart, Field(discriminator="kind")],
    BeforeValidator(
        kind_or("standard"),
        json_schema_input_type=_AnySlowStart
        | Literal["standard", "limited", "byte_counting", "hystart_plus_plus", "hystart"],
    ),
]
SLOW_START: dict[str, RuleSpec] = {
    "standard": RuleSpec(
        StandardSlowStart, StandardSlowStartSpec, (FieldSpec("at_ssthresh", "at_ssthresh", "Flag"),)
    ),
    "limited": RuleSpec(
        LimitedSlowStart,
        LimitedSlowStartSpec,
        (
            FieldSpec("max_ssthresh", "max_ssthresh", "SegmentCount"),
            FieldSpec("at_ssthresh", "at_ssthresh", "Flag"),
        ),
    ),
    "byte_counting": RuleSpec(
        ByteCountingSlowStart,
        ByteCountingSlowStartSpec,
        (FieldSpec("limit", "limit", "SegmentCount"),),
    ),
    "hystart_plus_plus": RuleSpec(
        HyStartPlusPlus, HyStartPlusPlusSpec, (FieldSpec("limit", "limit", "SegmentCount"),)
    ),
    "hystart": RuleSpec(
        HyStart,
        HyStartSpec,
        (
            FieldSpec("detect", "detect", "word"),
            FieldSpec("low_window", "low_window", "SegmentCount"),
        ),
    ),
}


class NoPacing(Parameters):
    """Segments leave as soon as the window lets them."""

    kind: Literal["off"] = param(..., "the pacing rule")


class Paced(Parameters):
    """Segments leave in bursts, at a rate that is a multiple of cwnd in a round trip."""

    kind: Literal["on"] = param(..., "the pacing rule")
    slow_start_ratio: AtLeastOne = param(
        2.0,
        "the multiple while cwnd is below half of ssthresh",
        source="Linux tcp_pacing_ss_ratio: 200 %",
    )
    avoidance_ratio: AtLeastOne = param(
        1.2,
        "the multiple otherwise",
        source="Linux tcp_pacing_ca_ratio: 120 %",
    )
    unpaced_segments: SegmentCount = param(
        10,
        "segments of data that leave at once at the begin of a connection",
        source="Linux tcp_update_skb_after_send: data_segs_out",
    )
    burst_segments: SegmentCount = param(
        2,
        "least segments of a burst, where there are so many to send",
        source="Linux tcp_min_tso_segs",
    )
    burst_time: TimeOrNone = param(
        "976.5625 us",
        (
            "a burst has what the rate sends in this time, if that is more; 64 KiB at "
            "most. TSO makes bursts so long"
        ),
        source="Linux sk_pacing_shift: 1 / 1024 s, tcp_tso_autosize",
    )


_AnyPacing = NoPacing | Paced
Pacing = Annotated[
    Annotated[_AnyPacing, Field(discriminator="kind")],
    BeforeValidator(
        kind_or("off"),
        json_schema_input_type=_AnyPacing | Literal["off", "on"],
    ),
]
PACING: dict[str, RuleSpec] = {
    "off": RuleSpec(NoPacing, NoPacingSpec, ()),
    "on": RuleSpec(
        Paced,
        PacedSpec,
        (
            FieldSpec("slow_start_ratio", "slow_start_ratio", "AtLeastOne"),
            FieldSpec("avoidance_ratio", "avoidance_ratio", "AtLeastOne"),
            FieldSpec("unpaced_segments", "unpaced_segments", "SegmentCount"),
            FieldSpec("burst_segments", "burst_segments", "SegmentCount"),
            FieldSpec("burst_time_ps", "burst_time", "TimeOrNone"),
        ),
    ),
}


class Tcp(Parameters):
    """Both endpoints of a TCP connection."""

    recovery: Recovery = param(
        "sack",
        (
            "handling of lost segments: vanilla detects losses only by timeout; tahoe "
            "adds fast retransmit, reno recovery, new_reno partial ACKs, sack selective "
            "acknowledgements; rack_tlp uses the time of sending, as Linux does"
        ),
        source="choice: the variant that ICCCN'97 recommends for long delays",
    )
    congestion: Congestion = param(
        "reno",
        (
            "how cwnd grows in congestion avoidance and how much of it a loss leaves: by "
            "a segment per round trip and half, or by a cubic function of the time since "
            "the loss and 0.7, as RFC 9438 or as Linux computes it; more and less of "
            "large windows with high_speed; with dctcp and prague half of the part that "
            "marks have; with vegas by the length of round trips; or, with bbr and bbr3, "
            "by a model of the path, without regard to losses or bounded by them"
        ),
        source="ICCCN'97 section 2.1; cubic is RFC 9438",
    )
    slow_start: SlowStart = param(
        "standard",
        (
            "how cwnd grows in slow start: by a segment for each ACK, less of a large "
            "window, or what was acknowledged, until a loss or until the path is found "
            "full"
        ),
        source="ICCCN'97 section 2.1; limited is RFC 3742",
    )
    pacing: Pacing = param(
        "off",
        (
            "off sends segments as acknowledgements release them, on spreads them over a "
            'round trip; on needs recovery = "rack_tlp"'
        ),
        source="none of the studies' TCPs paces; on is what Linux does with fq",
    )
    mss: Mss = param(
        "512 B",
        "largest TCP payload of a segment",
        symbol="MSS",
        source="ICCCN'97 section 6.1",
    )
    llc_snap: Flag = param(
        True,
        "frames carry 8 octets of LLC/SNAP",
        source="RFC 1483; ICCCN'97 section 6.1",
    )
    receiver_window: ReceiverWindow = param(
        "65535 B",
        "receiver window, at least one MSS; above 65 535 B only with window_scaling",
        symbol="RCVWND",
        source="ICCCN'97 section 7.1: the default maximum",
    )
    window_scaling: Flag = param(
        False,
        "RFC 7323 window scaling",
        source="RFC 793: a window field of 16 bits",
    )
    initial_cwnd: Cwnd = param(
        "1 segment",
        "cwnd at the start of a connection and after an idle restart; at least one MSS",
        source="RFC 2001; ICCCN'97 section 2.1",
    )
    initial_ssthresh: Ssthresh = param(
        "receiver window",
        "ssthresh at the start of a connection",
        source="RFC 5681 section 3.1: as high as the advertised window",
    )
    max_cwnd: MaxCwnd = param(
        "receiver window",
        (
            "largest cwnd that ACKs of new data can reach, at least one MSS; the window "
            "field is 65 535 B, shifted as much as the receiver window needs"
        ),
        source="ATM Forum 96-0518: the maximum window bounds the congestion window",
    )
    tick: Tick = param(
        "100 ms",
        "granularity of the host's clock",
        source="ATM Forum 97-0616, 98-0876R1",
    )
    tick_phase: TickPhase = param(
        "drawn",
        (
            "first tick of a sending host: drawn from the host's own stream, common to "
            "all hosts (time 0), or a given time below one tick"
        ),
        source="choice: the clocks of separate hosts are not in step",
    )
    tick_order: Annotated[str, word("clock_first", "timers_first")] = param(
        "clock_first",
        (
            "order within a tick: with timers_first, segments that an expiring timer "
            "sends are stamped with the tick before"
        ),
        source="choice: a segment is stamped with the time at which it is sent",
    )
    rto_min: RtoMin = param(
        "2 ticks",
        "smallest RTO",
        source="choice: below two ticks a coarse timer may run out at once",
    )
    rtt_estimator: Annotated[str, word("jacobson", "linux")] = param(
        "jacobson",
        (
            "how RTO follows from round trips: srtt + 4 rttvar with a mean deviation, and"
            " rto_min bounds the sum; or srtt and the largest deviation of the last round"
            " trips, which rto_min bounds"
        ),
        source="RFC 6298 section 2; linux is tcp_rtt_estimator",
    )
    rto_initial: RtoInitial = param(
        "3 s",
        "RTO before the first measurement; at least rto_min",
        source="RFC 1122 4.2.3.1",
    )
    rto_max: RtoMax = param(
        "64 s",
        "largest RTO, backoff included; at least the initial one",
        source="4.4BSD TCPTV_REXMTMAX",
    )
    rto_max_backoff: Backoff = param(
        64,
        "largest factor by which repeated timeouts lengthen the RTO",
        source="4.4BSD tcp_backoff",
    )
    rto_restart: Annotated[str, word("on_ack", "on_send")] = param(
        "on_ack",
        (
            "events that restart the running retransmission timer: only an ACK of new "
            "data, or also every segment sent"
        ),
        source="RFC 6298 section 5; 4.4BSD",
    )
    timestamps: Flag = param(
        False,
        (
            "RTT samples from every acknowledged segment (timestamps option) instead of "
            "one timed segment at a time"
        ),
        source="RFC 7323 is later than the studies' TCPs",
    )
    advertised_window: Annotated[str, word("constant", "free_buffer", "growing", "auto_tuned")] = (
        param(
            "constant",
            (
                "window that the receiver advertises: always receiver_window; the part of it "
                "that is free when the ACK goes out, before the application reads the data "
                "just acknowledged; 65 535 B at first and two segments more for each that "
                "arrives in order; or that up to a multiple of what was read in the last "
                "round trip"
            ),
            source=(
                "the studies' windows are constants; growing is Linux's tcp_grow_window, "
                "auto_tuned that with tcp_rcv_space_adjust"
            ),
        )
    )
    initial_receiver_window: InitialWindow = param(
        "64 KiB",
        ("window before anything has been read, at least one MSS, at most receiver_window"),
        source="Linux: half of tcp_rmem's second number, 131 072",
        when=when("advertised_window", "auto_tuned"),
    )
    delayed_ack: DelayedAck = param(
        "off",
        "when the receiver holds ACKs back",
        source="no delayed ACKs in any of the studies",
    )
    nagle: Flag = param(
        True,
        "no segment below MSS while data is unacknowledged",
        source="RFC 896; RFC 1122 4.2.3.4",
    )
    nagle_waits_for: Annotated[str, word("any_data", "short_segment")] = param(
        "any_data",
        (
            "condition for which a segment below MSS waits: until no data is "
            "unacknowledged, or until no other segment below MSS is (Minshall), so that "
            "the last one of a transfer is sent at once"
        ),
        source="RFC 896; short_segment is draft-minshall-nagle-01",
        when=when("nagle", True),
    )
    sws_avoidance: Flag = param(
        True,
        "the sender waits for a window of one MSS",
        source="RFC 1122 4.2.3.4",
    )
    idle_restart: Flag = param(
        True,
        (
            "cwnd falls back to initial_cwnd after one idle RTO, or by half for each "
            "where cwnd_validation is halving"
        ),
        source="RFC 5681 section 4.1",
        when=when("cwnd_validation", "off", "halving"),
    )
    cwnd_validation: Annotated[str, word("off", "halving", "pipe_ack")] = param(
        "off",
        (
            "treatment of a cwnd that the application does not use. off: it does not "
            "change, except for idle_restart. halving: the unused part is halved each "
            "RTO, and while idling all of it, down to initial_cwnd. pipe_ack: it stays "
            "for five minutes and does not grow while less than half of it is used, and a"
            " loss leaves half of the used part"
        ),
        source=(
            "none of the studies' TCPs has any; halving is Linux's and RFC 2861, pipe_ack RFC 7661"
        ),
    )
    limited_transmit: Flag = param(
        False,
        (
            "each of the first two duplicate ACKs sends a segment of new data, up to two "
            "beyond cwnd; with sack only if it SACKs something new"
        ),
        source="RFC 3042 is later than the studies' TCPs",
    )
    ecn: Annotated[str, word("off", "classic", "accurate")] = param(
        "off",
        (
            "explicit congestion notification between both ends: off; classic, a mark by "
            "a queue on the way halves the window as a loss does; or accurate, each ACK "
            "says whether what it acknowledges was marked, for dctcp and prague"
        ),
        source="the studies' networks mark nothing; classic is RFC 3168, accurate RFC 8257",
    )
    handshake: Flag = param(
        False,
        "SYN and FIN exchange; without it the connection is open from the start",
        source="choice: an exchange of bare headers is below 0.1 % of the studies' traffic",
    )


TCP = RuleSpec(
    Tcp,
    TcpSpec,
    (
        Choice("recovery", "recovery", RECOVERY),
        Choice("congestion", "congestion", CONGESTION),
        Choice("slow_start", "slow_start", SLOW_START),
        Choice("pacing", "pacing", PACING),
        FieldSpec("mss", "mss", "Mss"),
        FieldSpec("llc_snap", "llc_snap", "Flag"),
        FieldSpec("rwnd", "receiver_window", "ReceiverWindow"),
        FieldSpec("window_scaling", "window_scaling", "Flag"),
        FieldSpec("initial_cwnd", "initial_cwnd", "Cwnd"),
        FieldSpec("initial_ssthresh", "initial_ssthresh", "Ssthresh"),
        FieldSpec("max_cwnd", "max_cwnd", "MaxCwnd"),
        FieldSpec("tick_ps", "tick", "Tick"),
        FieldSpec("tick_phase", "tick_phase", "TickPhase"),
        FieldSpec("tick_order", "tick_order", "word"),
        FieldSpec("rto_min_ticks", "rto_min", "RtoMin"),
        FieldSpec("rtt_estimator", "rtt_estimator", "word"),
        FieldSpec("rto_initial_ticks", "rto_initial", "RtoInitial"),
        FieldSpec("rto_max_ticks", "rto_max", "RtoMax"),
        FieldSpec("rto_max_backoff", "rto_max_backoff", "Backoff"),
        FieldSpec("rto_restart", "rto_restart", "word"),
        FieldSpec("timestamps", "timestamps", "Flag"),
        FieldSpec("advertised_window", "advertised_window", "word"),
        FieldSpec("initial_rwnd", "initial_receiver_window", "InitialWindow"),
        FieldSpec("delayed_ack", "delayed_ack", "DelayedAck"),
        FieldSpec("nagle", "nagle", "Flag"),
        FieldSpec("nagle_waits_for", "nagle_waits_for", "word"),
        FieldSpec("sws_avoidance", "sws_avoidance", "Flag"),
        FieldSpec("idle_restart", "idle_restart", "Flag"),
        FieldSpec("cwnd_validation", "cwnd_validation", "word"),
        FieldSpec("limited_transmit", "limited_transmit", "Flag"),
        FieldSpec("ecn", "ecn", "word"),
        FieldSpec("handshake", "handshake", "Flag"),
    ),
)
