//! Reno's congestion avoidance: a segment each round trip, and half of cwnd at a loss.

use super::{Ack, Congestion, CongestionControl, CongestionRule};
use crate::spec::{SsthreshBasis, TcpSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// A segment each round trip, and half at a loss.
///
/// Source: ICCCN'97 section 2.1; RFC 5681 section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct RenoCongestionSpec {
    /// Arithmetic of congestion avoidance: with fractions, in whole octets (no growth above MSS x MSS), by
    /// counting ACKs, by counting the octets that they acknowledge, or in whole segments by counting segments.
    #[param(
        word,
        default = "float",
        source = "choice: ICCCN'97 section 7.2 mentions the first three as possible"
    )]
    pub growth: RenoGrowth,
    /// Value that a loss halves: cwnd, or the smaller of cwnd and the advertised window, in whole
    /// segments.
    #[param(word, default = "cwnd", source = "ICCCN'97 section 2.1: half of cwnd")]
    pub ssthresh_basis: SsthreshBasis,
}

/// Arithmetic of Reno's congestion avoidance (ICCCN'97 section 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum RenoGrowth {
    /// MSS * MSS / cwnd per ACK, with fractions.
    Float,
    /// MSS * MSS / cwnd per ACK, in whole octets: nothing once cwnd > MSS * MSS.
    Integer,
    /// Waits for N ACKs with N * MSS * MSS > cwnd, then adds N * MSS * MSS / cwnd.
    AckCounting,
    /// Waits until cwnd octets have been acknowledged, then adds MSS (RFC 3465 section 2.1; RFC 5681 section
    /// 3.1).
    ByteCounting,
    /// Waits until cwnd segments have been acknowledged, then adds one, where cwnd limits the sender; a loss leaves whole
    /// segments (Linux tcp_reno_cong_avoid, tcp_reno_ssthresh).
    SegmentCounting,
}

impl CongestionRule for RenoCongestionSpec {
    fn state(&self) -> Option<Congestion> {
        match self.growth {
            RenoGrowth::Float | RenoGrowth::Integer => None,
            RenoGrowth::AckCounting => Some(Congestion::CountedAcks(CountedAcks::default())),
            RenoGrowth::ByteCounting => Some(Congestion::CountedOctets(CountedOctets::default())),
            RenoGrowth::SegmentCounting => {
                Some(Congestion::CountedSegments(CountedSegments::default()))
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.growth != RenoGrowth::Float
    }

    fn is_in_segments(&self) -> bool {
        self.growth == RenoGrowth::SegmentCounting
    }

    fn ssthresh_basis(&self) -> SsthreshBasis {
        self.ssthresh_basis
    }
}

/// The part of cwnd that a loss leaves.
pub(crate) const HALF: f64 = 0.5;

/// Returns the amount that an ACK adds to `cwnd` octets without counting.
pub(crate) fn growth(tcp: &TcpSpec, cwnd: f64) -> f64 {
    let mss = tcp.mss as f64;
    mss * mss / cwnd
}

/// Returns the amount that acknowledged octets add to `cwnd` octets at once: a segment each window
/// (RFC 5681 equation 3, by octets).
pub(super) fn growth_by_octets(tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
    tcp.mss as f64 * ack.octets as f64 / cwnd
}

/// Reno where growth waits for several ACKs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedAcks {
    /// ACKs since cwnd last grew.
    acks: f64,
}

impl CongestionControl for CountedAcks {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, _ack: &Ack) -> f64 {
        let mss = tcp.mss as f64;
        let mss_squared = mss * mss;
        self.acks += 1.0;
        if self.acks * mss_squared > cwnd {
            std::mem::take(&mut self.acks) * mss_squared / cwnd
        } else {
            0.0
        }
    }

    fn on_loss(&mut self, _tcp: &TcpSpec, _cwnd: f64) -> f64 {
        self.acks = 0.0;
        HALF
    }
}

/// Reno where growth waits for a window of octets.
///
/// Source: RFC 3465 section 2.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedOctets {
    /// bytes_acked: octets acknowledged and not yet answered by growth.
    octets: f64,
}

/// Segments acknowledged and not yet answered by growth: snd_cwnd_cnt of Linux, which counts cwnd in whole segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Credit(u64);

impl Credit {
    /// tcp_cong_avoid_ai: segments that cwnd grows by, one for every `cnt` that are acknowledged.
    pub(super) fn grow(&mut self, acked: u64, cnt: u64) -> u64 {
        let mut growth = 0;
        if self.0 >= cnt {
            // What was earned at a larger cnt is worth one.
            self.0 = 0;
            growth = 1;
        }
        self.0 += acked;
        growth += self.0 / cnt;
        self.0 %= cnt;
        growth
    }

    /// A loss (tcp_init_cwnd_reduction, tcp_enter_loss).
    pub(super) fn forget(&mut self) {
        self.0 = 0;
    }
}

/// Reno in whole segments.
///
/// Source: Linux tcp_cong.c, `tcp_reno_cong_avoid`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedSegments {
    credit: Credit,
}

impl CongestionControl for CountedSegments {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        if !ack.is_cwnd_limited {
            return 0.0;
        }
        let cnt = (cwnd as u64 / tcp.mss).max(1);
        (self.credit.grow(ack.segments.ceil() as u64, cnt) * tcp.mss) as f64
    }

    fn on_ack_in_slow_start(&mut self, _tcp: &TcpSpec, _cwnd: f64, growth: f64, ack: &Ack) -> f64 {
        if ack.is_cwnd_limited { growth } else { 0.0 }
    }

    fn on_loss(&mut self, _tcp: &TcpSpec, _cwnd: f64) -> f64 {
        self.credit.forget();
        HALF
    }
}

impl CongestionControl for CountedOctets {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        self.octets += ack.octets as f64;
        if self.octets < cwnd {
            return 0.0;
        }
        self.octets -= cwnd;
        tcp.mss as f64
    }

    fn on_loss(&mut self, _tcp: &TcpSpec, _cwnd: f64) -> f64 {
        self.octets = 0.0;
        HALF
    }
}
