//! The parameters of a TCP connection: every rule in which the sources differ has a name here.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{
        Backoff, Cwnd, FirstRestartsOnly, Flag, MaxCwnd, Mss, ReceiverWindow, RtoInitial, RtoMax,
        RtoMin, SackBlocks, SegmentCount, Ssthresh, Tick, unchecked,
    },
};

/// Both endpoints of a TCP connection.
///
/// Times in picoseconds, windows in octets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// Loss recovery: vanilla detects losses only by timeout; reno adds fast retransmit and
    /// recovery, newreno partial ACKs, sack selective acknowledgements; how cwnd grows (such
    /// as CUBIC) is set by congestion_control.
    #[param(
        word,
        default = "sack",
        source = "choice: the variant that ICCCN'97 recommends for long delays"
    )]
    pub variant: TcpVariant,
    /// Largest TCP payload of a segment.
    #[param(default = "512 B", symbol = "MSS", source = "ICCCN'97 section 6.1")]
    pub mss: Mss,
    /// Frames carry 8 octets of LLC/SNAP.
    #[param(default = true, source = "RFC 1483; ICCCN'97 section 6.1")]
    pub llc_snap: Flag,
    /// Receiver window, at least one MSS; above 65 535 B only with window_scaling.
    #[param(
        key = "receiver_window",
        default = "65535 B",
        symbol = "RCVWND",
        source = "ICCCN'97 section 7.1: the default maximum"
    )]
    pub rwnd: ReceiverWindow,
    /// RFC 7323 window scaling.
    #[param(default = false, source = "RFC 793: a window field of 16 bits")]
    pub window_scaling: Flag,
    /// Cwnd at the start of a connection and after an idle restart; at least one MSS.
    #[param(default = "1 segment", source = "RFC 2001; ICCCN'97 section 2.1")]
    pub initial_cwnd: Cwnd,
    /// Ssthresh at the start of a connection.
    #[param(
        default = "receiver window",
        source = "RFC 5681 section 3.1: as high as the advertised window"
    )]
    pub initial_ssthresh: Ssthresh,
    /// Largest cwnd that ACKs of new data can reach, at least one MSS; the window field is 65
    /// 535 B, shifted as much as the receiver window needs.
    #[param(
        default = "receiver window",
        source = "ATM Forum 96-0518: the maximum window bounds the congestion window"
    )]
    pub max_cwnd: MaxCwnd,
    /// How cwnd grows in congestion avoidance and how much of it a loss leaves: by a segment
    /// per round trip and half, or by a cubic function of the time since the loss and 0.7.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "reno",
        source = "ICCCN'97 section 2.1; cubic is RFC 9438"
    )]
    pub congestion_control: CongestionControl,
    /// Arithmetic of Reno's congestion avoidance: with fractions, in whole octets (no growth
    /// above MSS x MSS), or by counting ACKs.
    #[param(
        word,
        default = "float",
        source = "choice: ICCCN'97 section 7.2 mentions all three as possible",
        when(congestion_control = ["reno"])
    )]
    pub cwnd_growth: CwndGrowth,
    /// How cwnd grows in slow start: by a segment for each ACK, or from 100 segments on by 50 segments
    /// each round trip.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "full",
        source = "ICCCN'97 section 2.1; limited is RFC 3742"
    )]
    pub slow_start: SlowStart,
    /// Slow start continues at cwnd = ssthresh, and with the ACK that ends a recovery.
    #[param(
        default = false,
        source = "ICCCN'97 section 2.1: congestion avoidance from ssthresh on"
    )]
    pub slow_start_at_ssthresh: Flag,
    /// What a loss halves, or what CUBIC multiplies by 0.7: cwnd, or the smaller of cwnd and
    /// the advertised window, in whole segments.
    #[param(word, default = "cwnd", source = "ICCCN'97 section 2.1: half of cwnd")]
    pub ssthresh_basis: SsthreshBasis,
    /// Duplicate ACKs that start fast retransmit.
    #[param(
        default = 3,
        source = "RFC 5681 section 3.2",
        when(variant = ["reno", "newreno", "sack"])
    )]
    pub dup_ack_threshold: SegmentCount,
    /// Granularity of the host's clock.
    #[param(
        key = "tick",
        default = "100 ms",
        source = "ATM Forum 97-0616, 98-0876R1"
    )]
    pub tick_ps: Tick,
    /// First tick of a sending host: drawn from the host's own stream, common to all hosts
    /// (time 0), or a given time below one tick.
    #[param(check = unchecked, default = "drawn", source = "choice: the clocks of separate hosts are not in step")]
    pub tick_phase: TickPhase,
    /// What a tick does first: with timers_first, segments that an expiring timer sends are
    /// stamped with the tick before.
    #[param(
        word,
        default = "clock_first",
        source = "choice: a segment is stamped with the time at which it is sent"
    )]
    pub tick_order: TickOrder,
    /// Smallest RTO.
    #[param(
        key = "rto_min",
        default = "2 ticks",
        source = "choice: below two ticks a coarse timer may run out at once"
    )]
    pub rto_min_ticks: RtoMin,
    /// RTO before the first measurement; at least rto_min.
    #[param(key = "rto_initial", default = "3 s", source = "RFC 1122 4.2.3.1")]
    pub rto_initial_ticks: RtoInitial,
    /// Largest RTO, backoff included; at least the initial one.
    #[param(key = "rto_max", default = "64 s", source = "4.4BSD TCPTV_REXMTMAX")]
    pub rto_max_ticks: RtoMax,
    /// Largest factor by which repeated timeouts lengthen the RTO.
    #[param(default = 64, source = "4.4BSD tcp_backoff")]
    pub rto_max_backoff: Backoff,
    /// What restarts the running retransmission timer: only an ACK of new data, or also every
    /// segment sent.
    #[param(word, default = "on_ack", source = "RFC 6298 section 5; 4.4BSD")]
    pub rto_restart: RtoRestart,
    /// RTT samples from every acknowledged segment (timestamps option) instead of one timed
    /// segment at a time.
    #[param(default = false, source = "RFC 7323 is later than the studies' TCPs")]
    pub timestamps: Flag,
    /// SACK: pipe at the third duplicate ACK, in segments.
    #[param(
        word,
        default = "cwnd",
        source = "ICCCN'97 section 3",
        when(variant = ["sack"])
    )]
    pub pipe_at_entry: PipeAtEntry,
    /// SACK: what a partial ACK does: takes two segments off pipe, or one; resends two holes
    /// whatever the value of pipe; or ends the recovery.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "pipe - 2",
        source = "ICCCN'97 section 3; ATM Forum 98-0876R1 section 3.2",
        when(variant = ["sack"])
    )]
    pub sack_partial_ack: SackPartialAck,
    /// SACK: which partial ACKs restart the retransmission timer.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "every",
        source = "stated in no study; ATM Forum 98-0876R1 section 3.1 does so for its NewReno",
        when(variant = ["sack"])
    )]
    pub sack_partial_ack_restarts: PartialAckRestarts,
    /// SACK: how much room pipe must leave below cwnd before a segment goes out: that of a
    /// whole segment, or any.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "segment",
        source = "Fall and Floyd 1996; RFC 6675 section 5",
        when(variant = ["sack"])
    )]
    pub sack_pipe_room: SackPipeRoom,
    /// SACK: segments above a hole that must be SACKed before it is resent.
    #[param(
        check = unchecked,
        default = "none",
        source = "NASA/CR-1999-209158 part VII: no significant effect",
        when(variant = ["sack"])
    )]
    pub sack_retransmit_delay: SackRetransmitDelay,
    /// SACK: blocks in one ACK; four only without timestamps.
    #[param(
        default = 3,
        source = "RFC 2018 section 3",
        when(variant = ["sack"])
    )]
    pub sack_max_blocks: SackBlocks,
    /// NewReno: cwnd at a partial ACK: unchanged, set to ssthresh, or reduced by what was
    /// acknowledged.
    #[param(
        word,
        default = "keep",
        source = "ICCCN'97 section 2.3 mentions no change",
        when(variant = ["newreno"])
    )]
    pub partial_ack_window: PartialAckWindow,
    /// NewReno: which partial ACKs restart the retransmission timer.
    #[param(
        key = "partial_ack_restarts",
        default = "every",
        source = "ATM Forum 98-0876R1 section 3.1",
        when(variant = ["newreno"])
    )]
    pub partial_ack_first_restarts_only: FirstRestartsOnly,
    /// NewReno: one new segment for every two duplicate ACKs, not what the inflated cwnd
    /// allows.
    #[param(
        default = false,
        source = "ICCCN'97 section 2.3 mentions none",
        when(variant = ["newreno"])
    )]
    pub flywheel: Flag,
    /// NewReno and SACK: no second fast retransmit for data sent before the last recovery or
    /// timeout.
    #[param(
        default = false,
        source = "ATM Forum 98-0876R1 section 3.1: no extra rule",
        when(variant = ["newreno", "sack"])
    )]
    pub avoid_multiple_fast_retransmits: Flag,
    /// Window that the receiver advertises: always receiver_window, or the part of it that is
    /// free when the ACK goes out, before the application reads the data just acknowledged.
    #[param(
        word,
        default = "constant",
        source = "the studies' windows are constants"
    )]
    pub advertised_window: AdvertisedWindow,
    /// When the receiver holds ACKs back.
    #[param(check = unchecked, default = "off", source = "no delayed ACKs in any of the studies")]
    pub delayed_ack: DelayedAck,
    /// No segment below MSS while data is unacknowledged.
    #[param(default = true, source = "RFC 896; RFC 1122 4.2.3.4")]
    pub nagle: Flag,
    /// The sender waits for a window of one MSS.
    #[param(default = true, source = "RFC 1122 4.2.3.4")]
    pub sws_avoidance: Flag,
    /// Cwnd falls back to initial_cwnd after one idle RTO.
    #[param(default = true, source = "RFC 5681 section 4.1")]
    pub idle_restart: Flag,
    /// SYN and FIN exchange; without it the connection is open from the start.
    #[param(
        default = false,
        source = "choice: an exchange of bare headers is below 0.1 % of the studies' traffic"
    )]
    pub handshake: Flag,
}

/// Loss recovery of the sender (ICCCN'97 sections 2 and 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum TcpVariant {
    /// Slow start and congestion avoidance; losses are found by timeout only.
    Vanilla,
    /// And fast retransmit and recovery.
    Reno,
    /// And partial ACKs that keep recovery going up to `recover`.
    #[written("newreno")]
    NewReno,
    /// Selective acknowledgements with the pipe algorithm.
    Sack,
}

/// How cwnd grows in congestion avoidance and what a loss leaves of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// A segment each round trip, and half (ICCCN'97 section 2.1).
    #[default]
    Reno,
    /// A cubic function of the time since the last loss, and 0.7 (RFC 9438).
    Cubic,
}

/// Arithmetic of Reno's congestion avoidance (ICCCN'97 section 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum CwndGrowth {
    /// MSS * MSS / cwnd per ACK, with fractions.
    Float,
    /// MSS * MSS / cwnd per ACK, in whole octets: nothing once cwnd > MSS * MSS.
    Integer,
    /// Waits for N ACKs with N * MSS * MSS > cwnd, then adds N * MSS * MSS / cwnd.
    AckCounting,
}

/// How cwnd grows in slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SlowStart {
    /// By a segment for each ACK of new data (ICCCN'97 section 2.1).
    #[default]
    Full,
    /// From 100 segments on by less, 50 segments each round trip (RFC 3742).
    Limited,
}

/// What ssthresh is half of after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SsthreshBasis {
    /// cwnd (ICCCN'97 section 2.1).
    Cwnd,
    /// The lesser of cwnd and the advertised window, in whole segments (4.4BSD tcp_input, tcp_timers).
    Window,
}

/// What a tick does first: the time that a segment sent by an expiring timer is stamped with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum TickOrder {
    /// The clock moves on, then timers run out.
    ClockFirst,
    /// Timers run out, then the clock moves on: what they send is stamped with the tick before
    /// (4.4BSD tcp_slowtimo).
    TimersFirst,
}

/// The window that the receiver advertises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum AdvertisedWindow {
    /// Always the same.
    Constant,
    /// What is free in the socket buffer as the ACK goes out, before the application reads what has
    /// just come (4.4BSD tcp_output).
    FreeBuffer,
}

/// Phase of the host clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TickPhase {
    /// The first tick falls at this time; picoseconds, below the tick.
    At {
        /// Picoseconds.
        offset_ps: u64,
    },
    /// Uniform over one tick, drawn from the stream `host/<name>/tick` of the sending host.
    Drawn,
}

/// What starts the retransmission timer anew while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum RtoRestart {
    /// An acknowledgement of new data (RFC 6298 5.3, 4.4BSD).
    OnAck,
    /// That, and every segment sent ("for the last unacknowledged packet", ICCCN'97 2.1).
    OnSend,
}

/// SACK: the value of pipe when the third duplicate ACK arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PipeAtEntry {
    /// cwnd (ICCCN'97 section 3).
    Cwnd,
    /// cwnd less three segments (ICCCN'97 4.2, 98-0876R1 3.2).
    #[written("cwnd - 3")]
    CwndLessThree,
}

/// SACK: what an ACK of new data below `recover` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SackPartialAck {
    /// Takes two segments off pipe (ICCCN'97 section 3, 98-0876R1 3.2).
    #[default]
    #[written("pipe - 2")]
    PipeLessTwo,
    /// Takes one segment off pipe.
    #[written("pipe - 1")]
    PipeLessOne,
    /// Takes two off and resends two holes, whatever pipe is (the expectation of ICCCN'97 4.2).
    #[written("resends two")]
    ResendsTwo,
    /// Ends the recovery, as Reno's first ACK of new data (SACK without NewReno).
    #[written("ends recovery")]
    EndsRecovery,
}

/// Which partial ACKs of a recovery restart the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PartialAckRestarts {
    /// Every one (98-0876R1 3.1, of NewReno).
    #[default]
    Every,
    /// The first (RFC 6582 3.2 step 3, of NewReno).
    First,
    /// None: the timer is that of the retransmission which began the recovery.
    None,
}

/// SACK: the room that pipe has to leave below cwnd before a segment goes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SackPipeRoom {
    /// A whole segment's (Fall and Floyd, who count both in segments; RFC 6675 section 5).
    #[default]
    Segment,
    /// Any (ICCCN'97 section 3, 98-0876R1 3.2, to the letter).
    Any,
}

/// SACK: when a hole may be resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SackRetransmitDelay {
    /// As soon as pipe allows.
    None,
    /// Only once this many segments above the hole have been SACKed.
    Segments {
        /// Segments, above zero.
        count: u32,
    },
}

/// NewReno: cwnd when a partial ACK arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PartialAckWindow {
    /// Unchanged (ICCCN'97 2.3 does not mention one).
    Keep,
    /// Set to ssthresh (98-0876R1 3.1).
    Ssthresh,
    /// Less the octets acknowledged, plus one MSS (RFC 6582 3.2 step 3).
    Deflate,
}

/// When the receiver holds acknowledgements back; none for never.
pub type DelayedAck = Option<DelayedAckSpec>;

/// When the receiver holds acknowledgements back (RFC 1122 4.2.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckSpec {
    /// Longest wait, picoseconds, above zero.
    pub timeout_ps: u64,
    /// Segments after which an ACK is sent at once, at least 1.
    pub every_segments: u32,
}
