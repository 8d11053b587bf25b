"""TCP parameters as a scenario file writes them; a preset names a whole set of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from skycell.scenario.network_spec import SackPartialAck
from skycell.scenario.parameters import (
    REFUSED,
    Flag,
    Leaf,
    Parameters,
    param,
    quantity,
    when,
    whole_number,
    word,
)
from skycell.scenario.quantities import PS_PER_SECOND, Dimension, Quantity, Refused

_HOUR_PS = 3600 * PS_PER_SECOND
# RFC 7323 section 2.2: the window field's 65 535 octets shifted by at most 14 bits.
LARGEST_WINDOW = 65_535 << 14
#: What a partial ACK does to a SACK sender: the word of a scenario, and that of the spec.
SACK_PARTIAL_ACKS: dict[str, SackPartialAck] = {
    "pipe - 2": "pipe_less_two",
    "pipe - 1": "pipe_less_one",
    "resends two": "resends_two",
    "ends recovery": "ends_recovery",
}
#: Largest window without window scaling (RFC 793: 16 bits).
WINDOW_FIELD = 65_535
# An IP datagram holds 65 535 octets (RFC 791); 92 are kept for the largest headers and LLC/SNAP.
LARGEST_MSS = 65_535 - 92

Mss = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=LARGEST_MSS, example="9180 B")]
_WINDOW = (Dimension.SIZE, Dimension.SEGMENTS, Dimension.RTT)
Window = Annotated[Quantity, quantity(*_WINDOW, low=1, high=LARGEST_WINDOW, example="64 KiB")]
RTT_X_BANDWIDTH = "RTT x bandwidth"
RECEIVER_WINDOW = "receiver window"
ReceiverWindow = Annotated[
    Quantity | str,
    quantity(*_WINDOW, low=1, high=LARGEST_WINDOW, words=[RTT_X_BANDWIDTH], example="64 KiB"),
]
Ssthresh = Annotated[
    Quantity | str,
    quantity(
        *_WINDOW,
        low=1,
        high=LARGEST_WINDOW,
        words=[RECEIVER_WINDOW, RTT_X_BANDWIDTH],
        example="64 KiB",
    ),
]
MaxCwnd = Annotated[
    Quantity | str,
    quantity(
        *_WINDOW,
        low=1,
        high=LARGEST_WINDOW,
        words=[RECEIVER_WINDOW, "window field"],
        example="64 KiB",
    ),
]
Tick = Annotated[Quantity, quantity(Dimension.TIME, low=1000, high=_HOUR_PS, example="100 ms")]
TickPhase = Annotated[
    Quantity | str,
    quantity(Dimension.TIME, high=_HOUR_PS, words=["drawn", "common"], example="30 ms"),
]
Rto = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.TICKS,
        above=0,
        high=24 * _HOUR_PS,
        what="rounded up to whole ticks",
        example="1 s",
    ),
]
AckWait = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=_HOUR_PS, example="200 ms")]
RetransmitDelay = Annotated[
    Quantity | str,
    quantity(Dimension.SEGMENTS, low=1, high=10**6, words=["none"], example="3 segments"),
]


def _read_backoff(value: Any) -> int:
    if isinstance(value, bool) or value not in _BACKOFFS:
        raise Refused("")
    return int(value)


_BACKOFFS = [2**k for k in range(17)]
_BACKOFF = Leaf("a power of two from 1 to 65 536", _read_backoff, {"enum": _BACKOFFS})
Backoff = Annotated[int, _BACKOFF]


class DelayedAck(Parameters):
    """A receiver that holds acknowledgements back."""

    timeout: AckWait = param(
        "200 ms", "longest wait before an ACK", source="4.4BSD: the 200 ms fast timer"
    )
    every_segments: Annotated[int, whole_number(1, 1000)] = param(
        2, "segments after which an ACK is sent at once", source="RFC 1122 4.2.3.2"
    )


def _delayed_ack_by_word(value: Any) -> Any:
    if value is None or isinstance(value, Mapping | DelayedAck):
        return value
    if value not in ("off", "on"):
        allowed = '"off" or "on" or a table with timeout and every_segments'
        raise PydanticCustomError(REFUSED, "{allowed}", {"allowed": allowed})
    return None if value == "off" else {}


DelayedAckOrOff = Annotated[
    DelayedAck | None,
    BeforeValidator(_delayed_ack_by_word, json_schema_input_type=DelayedAck | Literal["off", "on"]),
]


_NEWRENO = when("variant", "newreno")
_SACK = when("variant", "sack")


class Tcp(Parameters):
    """Both endpoints of a TCP connection."""

    variant: Annotated[str, word("vanilla", "reno", "newreno", "sack")] = param(
        "sack",
        "loss recovery: vanilla detects losses only by timeout; reno adds fast retransmit "
        "and recovery, newreno partial ACKs, sack selective acknowledgements; how cwnd grows "
        "(such as CUBIC) is set by congestion_control",
        source="choice: the variant that ICCCN'97 recommends for long delays",
    )
    mss: Mss = param(
        "512 B", "largest TCP payload of a segment", symbol="MSS", source="ICCCN'97 section 6.1"
    )
    llc_snap: Flag = param(
        True, "frames carry 8 octets of LLC/SNAP", source="RFC 1483; ICCCN'97 section 6.1"
    )
    receiver_window: ReceiverWindow = param(
        "65535 B",
        "receiver window, at least one MSS; above 65 535 B only with window_scaling",
        symbol="RCVWND",
        source="ICCCN'97 section 7.1: the default maximum",
    )
    window_scaling: Flag = param(
        False, "RFC 7323 window scaling", source="RFC 793: a window field of 16 bits"
    )
    initial_cwnd: Window = param(
        "1 segment",
        "cwnd at the start of a connection and after an idle restart; at least one MSS",
        source="RFC 2001; ICCCN'97 section 2.1",
    )
    initial_ssthresh: Ssthresh = param(
        RECEIVER_WINDOW,
        "ssthresh at the start of a connection",
        source="RFC 5681 section 3.1: as high as the advertised window",
    )
    max_cwnd: MaxCwnd = param(
        RECEIVER_WINDOW,
        "largest cwnd that ACKs of new data can reach, at least one MSS; the window field is "
        "65 535 B, shifted as much as the receiver window needs",
        source="ATM Forum 96-0518: the maximum window bounds the congestion window",
    )
    congestion_control: Annotated[str, word("reno", "cubic")] = param(
        "reno",
        "how cwnd grows in congestion avoidance and how much of it a loss leaves: by a "
        "segment per round trip and half, or by a cubic function of the time since the loss "
        "and 0.7",
        source="ICCCN'97 section 2.1; cubic is RFC 9438",
    )
    cwnd_growth: Annotated[str, word("float", "integer", "ack_counting")] = param(
        "float",
        "arithmetic of Reno's congestion avoidance: with fractions, in whole octets (no growth "
        "above MSS x MSS), or by counting ACKs",
        source="choice: ICCCN'97 section 7.2 mentions all three as possible",
        when=when("congestion_control", "reno"),
    )
    slow_start_at_ssthresh: Flag = param(
        False,
        "slow start continues at cwnd = ssthresh, and with the ACK that ends a recovery",
        source="ICCCN'97 section 2.1: congestion avoidance from ssthresh on",
    )
    ssthresh_basis: Annotated[str, word("cwnd", "window")] = param(
        "cwnd",
        "what a loss halves, or what CUBIC multiplies by 0.7: cwnd, or the smaller of cwnd "
        "and the advertised window, in whole segments",
        source="ICCCN'97 section 2.1: half of cwnd",
    )
    dup_ack_threshold: Annotated[int, whole_number(1, 1000)] = param(
        3,
        "duplicate ACKs that start fast retransmit",
        source="RFC 5681 section 3.2",
        when=when("variant", "reno", "newreno", "sack"),
    )
    tick: Tick = param(
        "100 ms", "granularity of the host's clock", source="ATM Forum 97-0616, 98-0876R1"
    )
    tick_phase: TickPhase = param(
        "drawn",
        "first tick of a sending host: drawn from the host's own stream, common to all hosts "
        "(time 0), or a given time below one tick",
        source="choice: the clocks of separate hosts are not in step",
    )
    tick_order: Annotated[str, word("clock_first", "timers_first")] = param(
        "clock_first",
        "what a tick does first: with timers_first, segments that an expiring timer sends are "
        "stamped with the tick before",
        source="choice: a segment is stamped with the time at which it is sent",
    )
    rto_min: Rto = param(
        "2 ticks",
        "smallest RTO",
        source="choice: below two ticks a coarse timer may run out at once",
    )
    rto_initial: Rto = param(
        "3 s", "RTO before the first measurement; at least rto_min", source="RFC 1122 4.2.3.1"
    )
    rto_max: Rto = param(
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
        "what restarts the running retransmission timer: only an ACK of new data, or also "
        "every segment sent",
        source="RFC 6298 section 5; 4.4BSD",
    )
    timestamps: Flag = param(
        False,
        "RTT samples from every acknowledged segment (timestamps option) instead of one timed "
        "segment at a time",
        source="RFC 7323 is later than the studies' TCPs",
    )
    pipe_at_entry: Annotated[str, word("cwnd", "cwnd - 3")] = param(
        "cwnd",
        "SACK: pipe at the third duplicate ACK, in segments",
        source="ICCCN'97 section 3",
        when=_SACK,
    )
    sack_partial_ack: Annotated[str, word(*SACK_PARTIAL_ACKS)] = param(
        "pipe - 2",
        "SACK: what a partial ACK does: takes two segments off pipe, or one; resends two "
        "holes whatever the value of pipe; or ends the recovery",
        source="ICCCN'97 section 3; ATM Forum 98-0876R1 section 3.2",
        when=_SACK,
    )
    sack_partial_ack_restarts: Annotated[str, word("every", "first", "none")] = param(
        "every",
        "SACK: which partial ACKs restart the retransmission timer",
        source="stated in no study; ATM Forum 98-0876R1 section 3.1 does so for its NewReno",
        when=_SACK,
    )
    sack_pipe_room: Annotated[str, word("segment", "any")] = param(
        "segment",
        "SACK: how much room pipe must leave below cwnd before a segment goes out: that of a "
        "whole segment, or any",
        source="Fall and Floyd 1996; RFC 6675 section 5",
        when=_SACK,
    )
    sack_retransmit_delay: RetransmitDelay = param(
        "none",
        "SACK: segments above a hole that must be SACKed before it is resent",
        source="NASA/CR-1999-209158 part VII: no significant effect",
        when=_SACK,
    )
    sack_max_blocks: Annotated[int, whole_number(1, 4)] = param(
        3,
        "SACK: blocks in one ACK; four only without timestamps",
        source="RFC 2018 section 3",
        when=_SACK,
    )
    partial_ack_window: Annotated[str, word("keep", "ssthresh", "deflate")] = param(
        "keep",
        "NewReno: cwnd at a partial ACK: unchanged, set to ssthresh, or reduced by what was "
        "acknowledged",
        source="ICCCN'97 section 2.3 mentions no change",
        when=_NEWRENO,
    )
    partial_ack_restarts: Annotated[str, word("first", "every")] = param(
        "every",
        "NewReno: which partial ACKs restart the retransmission timer",
        source="ATM Forum 98-0876R1 section 3.1",
        when=_NEWRENO,
    )
    flywheel: Flag = param(
        False,
        "NewReno: one new segment for every two duplicate ACKs, not what the inflated cwnd allows",
        source="ICCCN'97 section 2.3 mentions none",
        when=_NEWRENO,
    )
    avoid_multiple_fast_retransmits: Flag = param(
        False,
        "NewReno and SACK: no second fast retransmit for data sent before the last recovery or "
        "timeout",
        source="ATM Forum 98-0876R1 section 3.1: no extra rule",
        when=when("variant", "newreno", "sack"),
    )
    advertised_window: Annotated[str, word("constant", "free_buffer")] = param(
        "constant",
        "window that the receiver advertises: always receiver_window, or the part of it that "
        "is free when the ACK goes out, before the application reads the data just "
        "acknowledged",
        source="the studies' windows are constants",
    )
    delayed_ack: DelayedAckOrOff = param(
        "off",
        "when the receiver holds ACKs back",
        source="no delayed ACKs in any of the studies",
    )
    nagle: Flag = param(
        True,
        "no segment below MSS while data is unacknowledged",
        source="RFC 896; RFC 1122 4.2.3.4",
    )
    sws_avoidance: Flag = param(
        True, "the sender waits for a window of one MSS", source="RFC 1122 4.2.3.4"
    )
    idle_restart: Flag = param(
        True, "cwnd falls back to initial_cwnd after one idle RTO", source="RFC 5681 section 4.1"
    )
    handshake: Flag = param(
        False,
        "SYN and FIN exchange; without it the connection is open from the start",
        source="choice: an exchange of bare headers is below 0.1 % of the studies' traffic",
    )
