//! The parameters of a TCP connection: every rule in which the sources differ has a name here.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{
        Backoff, Cwnd, Flag, InitialWindow, MaxCwnd, Mss, ReceiverWindow, RtoInitial, RtoMax,
        RtoMin, Ssthresh, Tick, unchecked,
    },
};

pub use crate::congestion::specs::*;
pub use crate::ecn::EcnUse;
pub use crate::pacing::specs::*;
pub use crate::recovery::specs::*;
pub use crate::slow_start::specs::*;

/// Both endpoints of a TCP connection.
///
/// Times in picoseconds, windows in octets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// Handling of lost segments: vanilla detects losses only by timeout; tahoe adds fast
    /// retransmit, reno recovery, new_reno partial ACKs, sack selective acknowledgements; rack_tlp
    /// uses the time of sending, as Linux does.
    #[param(
        kinds,
        default = "sack",
        source = "choice: the variant that ICCCN'97 recommends for long delays"
    )]
    pub recovery: RecoverySpec,
    /// How cwnd grows in congestion avoidance and how much of it a loss leaves: by a segment
    /// per round trip and half, or by a cubic function of the time since the loss and 0.7, as
    /// RFC 9438 or as Linux computes it; more and less of large windows with high_speed; with dctcp and prague half of the
    /// part that marks have; with vegas by the length of round trips; or, with bbr and bbr3, by a model of the path, without
    /// regard to losses or bounded by them.
    #[param(
        kinds,
        default = "reno",
        source = "ICCCN'97 section 2.1; cubic is RFC 9438"
    )]
    pub congestion: CongestionSpec,
    /// How cwnd grows in slow start: by a segment for each ACK, less of a large window, or what was
    /// acknowledged, until a loss or until the path is found full.
    #[param(
        kinds,
        default = "standard",
        source = "ICCCN'97 section 2.1; limited is RFC 3742"
    )]
    pub slow_start: SlowStartSpec,
    /// off sends segments as acknowledgements release them, on spreads them over a round trip; on
    /// needs recovery = "rack_tlp".
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        kinds,
        default = "off",
        source = "none of the studies' TCPs paces; on is what Linux does with fq"
    )]
    pub pacing: PacingSpec,
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
    /// Order within a tick: with timers_first, segments that an expiring timer sends are stamped
    /// with the tick before.
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
    /// How RTO follows from round trips: srtt + 4 rttvar with a mean deviation, and rto_min bounds the sum; or srtt and the
    /// largest deviation of the last round trips, which rto_min bounds.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "jacobson",
        source = "RFC 6298 section 2; linux is tcp_rtt_estimator"
    )]
    pub rtt_estimator: RttEstimator,
    /// RTO before the first measurement; at least rto_min.
    #[param(key = "rto_initial", default = "3 s", source = "RFC 1122 4.2.3.1")]
    pub rto_initial_ticks: RtoInitial,
    /// Largest RTO, backoff included; at least the initial one.
    #[param(key = "rto_max", default = "64 s", source = "4.4BSD TCPTV_REXMTMAX")]
    pub rto_max_ticks: RtoMax,
    /// Largest factor by which repeated timeouts lengthen the RTO.
    #[param(default = 64, source = "4.4BSD tcp_backoff")]
    pub rto_max_backoff: Backoff,
    /// Events that restart the running retransmission timer: only an ACK of new data, or also every
    /// segment sent.
    #[param(word, default = "on_ack", source = "RFC 6298 section 5; 4.4BSD")]
    pub rto_restart: RtoRestart,
    /// RTT samples from every acknowledged segment (timestamps option) instead of one timed
    /// segment at a time.
    #[param(default = false, source = "RFC 7323 is later than the studies' TCPs")]
    pub timestamps: Flag,
    /// Window that the receiver advertises: always receiver_window; the part of it that is
    /// free when the ACK goes out, before the application reads the data just acknowledged; 65 535 B
    /// at first and two segments more for each that arrives in order; or that up to a multiple of what was read in the last
    /// round trip.
    #[param(
        word,
        default = "constant",
        source = "the studies' windows are constants; growing is Linux's tcp_grow_window, auto_tuned that with tcp_rcv_space_adjust"
    )]
    pub advertised_window: AdvertisedWindow,
    /// Window before anything has been read, at least one MSS, at most receiver_window.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        key = "initial_receiver_window",
        when(advertised_window = ["auto_tuned"]),
        default = "64 KiB",
        source = "Linux: half of tcp_rmem's second number, 131 072"
    )]
    pub initial_rwnd: InitialWindow,
    /// When the receiver holds ACKs back.
    #[param(check = unchecked, default = "off", source = "no delayed ACKs in any of the studies")]
    pub delayed_ack: DelayedAck,
    /// No segment below MSS while data is unacknowledged.
    #[param(default = true, source = "RFC 896; RFC 1122 4.2.3.4")]
    pub nagle: Flag,
    /// Condition for which a segment below MSS waits: until no data is unacknowledged, or until no
    /// other segment below MSS is (Minshall), so that the last one of a transfer is sent at once.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        when(nagle = [true]),
        default = "any_data",
        source = "RFC 896; short_segment is draft-minshall-nagle-01"
    )]
    pub nagle_waits_for: NagleWaitsFor,
    /// The sender waits for a window of one MSS.
    #[param(default = true, source = "RFC 1122 4.2.3.4")]
    pub sws_avoidance: Flag,
    /// Cwnd falls back to initial_cwnd after one idle RTO, or by half for each where cwnd_validation is halving.
    #[param(
        when(cwnd_validation = ["off", "halving"]),
        default = true,
        source = "RFC 5681 section 4.1"
    )]
    pub idle_restart: Flag,
    /// Treatment of a cwnd that the application does not use. off: it does not change, except for
    /// idle_restart. halving: the unused part is halved each RTO, and while idling all of it, down
    /// to initial_cwnd. pipe_ack: it stays for five minutes and does not grow while less than half
    /// of it is used, and a loss leaves half of the used part.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "off",
        source = "none of the studies' TCPs has any; halving is Linux's and RFC 2861, pipe_ack RFC 7661"
    )]
    pub cwnd_validation: CwndValidation,
    /// Each of the first two duplicate ACKs sends a segment of new data, up to two beyond cwnd; with sack
    /// only if it SACKs something new.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(default = false, source = "RFC 3042 is later than the studies' TCPs")]
    pub limited_transmit: Flag,
    /// Explicit congestion notification between both ends: off; classic, a mark by a queue on the way
    /// halves the window as a loss does; or accurate, each ACK says whether what it acknowledges was marked, for dctcp
    /// and prague.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(
        word,
        default = "off",
        source = "the studies' networks mark nothing; classic is RFC 3168, accurate RFC 8257"
    )]
    pub ecn: EcnUse,
    /// SYN and FIN exchange; without it the connection is open from the start.
    #[param(
        default = false,
        source = "choice: an exchange of bare headers is below 0.1 % of the studies' traffic"
    )]
    pub handshake: Flag,
}

/// The value that ssthresh is half of after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SsthreshBasis {
    /// cwnd (ICCCN'97 section 2.1).
    Cwnd,
    /// The lesser of cwnd and the advertised window, in whole segments (4.4BSD tcp_input, tcp_timers).
    Window,
}

/// How RTO follows from round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum RttEstimator {
    /// srtt + 4 rttvar, the sum at least rto_min (RFC 6298 section 2).
    #[default]
    Jacobson,
    /// srtt + the largest deviation of the last round trips, at least rto_min (Linux's tcp_rtt_estimator).
    Linux,
}

/// The condition for which a segment below MSS waits with Nagle's rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum NagleWaitsFor {
    /// The acknowledgement of all data (RFC 896).
    #[default]
    AnyData,
    /// That of the last segment below MSS (draft-minshall-nagle-01).
    ShortSegment,
}

/// The treatment of a congestion window that the application does not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum CwndValidation {
    /// It stays.
    #[default]
    Off,
    /// It is halved (RFC 2861; Linux tcp_cwnd_validate, tcp_cwnd_restart).
    Halving,
    /// It stays, and what was acknowledged in a round trip says whether it is used (RFC 7661).
    PipeAck,
}

/// The order within a tick: the time stamp of a segment that an expiring timer sends.
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
    /// The free room in the socket buffer when the ACK is sent, before the application reads what
    /// has just come (4.4BSD tcp_output).
    FreeBuffer,
    /// 65 535 octets at first, and twice what arrives in order more, up to all; while it grows, each segment is
    /// acknowledged at once (Linux tcp_grow_window, rcv_ssthresh).
    Growing,
    /// The same, but from initial_rwnd, and up to a multiple of what was read in the last round trip (Linux
    /// tcp_rcv_space_adjust).
    AutoTuned,
}

impl TcpSpec {
    /// Window that the receiver advertises as the connection begins, octets.
    pub(crate) fn first_window(&self) -> u64 {
        match self.advertised_window {
            AdvertisedWindow::Growing => self.rwnd.min(65_535),
            AdvertisedWindow::AutoTuned => self.rwnd.min(self.initial_rwnd),
            AdvertisedWindow::Constant | AdvertisedWindow::FreeBuffer => self.rwnd,
        }
    }
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

/// The events that restart the retransmission timer while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum RtoRestart {
    /// An acknowledgement of new data (RFC 6298 5.3, 4.4BSD).
    OnAck,
    /// That, and every segment sent ("for the last unacknowledged packet", ICCCN'97 2.1).
    OnSend,
}

/// Which partial ACKs of a recovery restart the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PartialAckRestarts {
    /// Every one (98-0876R1 3.1, of NewReno).
    Every,
    /// The first (RFC 6582 3.2 step 3, of NewReno).
    First,
    /// None: the timer is that of the retransmission which began the recovery.
    None,
}

/// When the receiver holds acknowledgements back; none for never.
pub type DelayedAck = Option<DelayedAckSpec>;

/// When the receiver holds acknowledgements back (RFC 1122 4.2.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckSpec {
    /// Longest wait, picoseconds, above zero; with max_timeout_ps the shortest one.
    pub timeout_ps: u64,
    /// Longest wait where segments come at intervals of more than half of timeout_ps, picoseconds; 0 where that is timeout_ps
    /// (Linux: icsk_ack.ato, TCP_DELACK_MAX).
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_timeout_ps: u64,
    /// Segments after which an ACK is sent at once, at least 1.
    pub every_segments: u32,
    /// Data segments that are acknowledged at once, each: the first of a connection, and those from one on that came twice or
    /// after a gap longer than the receiver's retransmission timeout; 65 535 at most (Linux's quick ACKs:
    /// tcp_enter_quickack_mode, tcp_event_data_recv).
    #[serde(default, skip_serializing_if = "is_default")]
    pub quick_segments: u32,
    /// Longest wait of the ACK of an early segment, picoseconds; 0 where none waits (Linux: tcp_comp_sack_delay_ns).
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_timeout_ps: u64,
    /// Early segments whose ACKs wait at most, above 0 where any does (Linux: tcp_comp_sack_nr).
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_segments: u32,
}

impl DelayedAckSpec {
    /// Returns whether ACKs of early segments are held back.
    pub(crate) fn holds_sacks(&self) -> bool {
        self.sack_timeout_ps > 0
    }
}
