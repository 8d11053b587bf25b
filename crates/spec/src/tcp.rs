//! The parameters of a TCP connection: every rule in which the sources differ has a name here.

use crate::is_default;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_units::Octets;

/// Both end points of a TCP connection. Times in picoseconds, windows in octets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// Loss recovery.
    pub variant: TcpVariant,
    /// Largest TCP payload of a segment, octets, above zero.
    pub mss: Octets,
    /// Whether frames carry 8 octets of LLC/SNAP.
    pub llc_snap: bool,
    /// Receiver window, octets; above 65 535 only with `window_scaling`.
    pub rwnd: Octets,
    /// RFC 7323 window scaling.
    pub window_scaling: bool,
    /// cwnd at the start of a connection and after an idle restart, octets.
    pub initial_cwnd: Octets,
    /// ssthresh at the start of a connection, octets.
    pub initial_ssthresh: Octets,
    /// Largest cwnd, octets.
    pub max_cwnd: Octets,
    /// How cwnd grows in congestion avoidance and what a loss leaves of it; the key is left out for Reno's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub congestion_control: CongestionControl,
    /// Arithmetic of Reno's congestion avoidance.
    pub cwnd_growth: CwndGrowth,
    /// Whether slow start goes on at cwnd = ssthresh, and with the ACK that ends a recovery.
    pub slow_start_at_ssthresh: bool,
    /// What a loss halves, or CUBIC takes 0.7 of.
    pub ssthresh_basis: SsthreshBasis,
    /// Duplicate ACKs that start fast retransmit.
    pub dup_ack_threshold: u32,
    /// Granularity of the host's clock, picoseconds, above zero.
    pub tick_ps: u64,
    /// Where in the first tick the sending host's clock stands at time 0.
    pub tick_phase: TickPhase,
    /// What comes first as the clock ticks.
    pub tick_order: TickOrder,
    /// Smallest RTO, ticks, at least 1.
    pub rto_min_ticks: u32,
    /// RTO before the first measurement, ticks.
    pub rto_initial_ticks: u32,
    /// Largest RTO, backoff included, ticks.
    pub rto_max_ticks: u32,
    /// Largest backoff factor, a power of two.
    pub rto_max_backoff: u32,
    /// What starts the retransmission timer anew.
    pub rto_restart: RtoRestart,
    /// Whether a sample is taken from every acknowledged segment (timestamps) or from one timed
    /// segment at a time (Karn).
    pub timestamps: bool,
    /// SACK: pipe at the third duplicate ACK.
    pub pipe_at_entry: PipeAtEntry,
    /// SACK: what a partial ACK does; the key is left out for what the studies state.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_partial_ack: SackPartialAck,
    /// SACK: which partial ACKs restart the retransmission timer; the key is left out for every one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_partial_ack_restarts: PartialAckRestarts,
    /// SACK: what room pipe leaves below cwnd before a segment goes out; the key is left out for a whole segment's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_pipe_room: SackPipeRoom,
    /// SACK: when a hole may be resent.
    pub sack_retransmit_delay: SackRetransmitDelay,
    /// SACK: blocks in one acknowledgement.
    pub sack_max_blocks: u32,
    /// NewReno: cwnd at a partial ACK.
    pub partial_ack_window: PartialAckWindow,
    /// NewReno: whether only the first partial ACK restarts the retransmission timer.
    pub partial_ack_first_restarts_only: bool,
    /// NewReno: one new segment beyond `recover` for every two duplicate ACKs (flywheel) instead of what
    /// the inflated cwnd has room for.
    pub flywheel: bool,
    /// NewReno and SACK: no second fast retransmit for data sent before the last timeout or recovery.
    pub avoid_multiple_fast_retransmits: bool,
    /// The window that the receiver advertises.
    pub advertised_window: AdvertisedWindow,
    /// When the receiver holds acknowledgements back.
    pub delayed_ack: Option<DelayedAckSpec>,
    /// RFC 896: no segment below MSS while data is unacknowledged.
    pub nagle: bool,
    /// RFC 1122 4.2.3.4: sender's silly-window avoidance (a window below one MSS sends nothing while
    /// data is unacknowledged).
    pub sws_avoidance: bool,
    /// cwnd falls back to `initial_cwnd` after an idle time of one RTO.
    pub idle_restart: bool,
    /// SYN and FIN exchange; without it the connection is open from the start.
    pub handshake: bool,
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
    CwndLessThree,
}

/// SACK: what an ACK of new data below `recover` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SackPartialAck {
    /// Takes two segments off pipe (ICCCN'97 section 3, 98-0876R1 3.2).
    #[default]
    PipeLessTwo,
    /// Takes one segment off pipe.
    PipeLessOne,
    /// Takes two off and resends two holes, whatever pipe is (the expectation of ICCCN'97 4.2).
    ResendsTwo,
    /// Ends the recovery, as Reno's first ACK of new data (SACK without NewReno).
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

/// When the receiver holds acknowledgements back (RFC 1122 4.2.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckSpec {
    /// Longest wait, picoseconds, above zero.
    pub timeout_ps: u64,
    /// Segments after which an ACK is sent at once, at least 1.
    pub every_segments: u32,
}
