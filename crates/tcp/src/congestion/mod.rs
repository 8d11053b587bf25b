//! Congestion control: how cwnd grows in congestion avoidance, and what a loss leaves of it.
//!
//! What is sent again, and when, is [loss recovery](crate::recovery)'s; how cwnd grows below ssthresh is
//! [slow start](crate::slow_start)'s. [`Window`](crate::window::Window) holds cwnd and ssthresh and asks.

mod bbr;
mod cubic;
mod linux_cubic;
mod reno;

pub(crate) use bbr::{Bbr, Path, RateSample, burst_size as bbr_burst_size};
pub(crate) use reno::{HALF, growth as reno_growth};

use crate::kinds::kinds;
use crate::spec::{SsthreshBasis, TcpSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal, Rule, Surroundings};
use skycell_units::Octets;

use bbr::BbrSpec;
use cubic::{Cubic, CubicSpec};
use linux_cubic::{LinuxCubic, LinuxCubicSpec};
use reno::{CountedAcks, CountedOctets, RenoCongestionSpec, RenoGrowth};

/// What a run's spec says of it.
pub mod specs {
    pub use super::CongestionSpec;
    pub use super::bbr::BbrSpec;
    pub use super::cubic::CubicSpec;
    pub use super::linux_cubic::LinuxCubicSpec;
    pub use super::reno::{RenoCongestionSpec, RenoGrowth};
}

kinds! {
    /// How cwnd grows in congestion avoidance and what a loss leaves of it.
    CongestionSpec {
        /// See [`RenoCongestionSpec`].
        Reno(RenoCongestionSpec),
        /// See [`CubicSpec`].
        Cubic(CubicSpec),
        /// See [`LinuxCubicSpec`].
        LinuxCubic(LinuxCubicSpec),
        /// See [`BbrSpec`].
        Bbr(BbrSpec),
    }
}

impl CongestionSpec {
    /// Whether cwnd is counted in whole octets.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, CongestionSpec::Reno(reno) if reno.growth != RenoGrowth::Float)
    }

    /// Whether a loss leaves whole segments.
    pub(crate) fn is_in_segments(&self) -> bool {
        matches!(self, CongestionSpec::LinuxCubic(_))
    }

    /// Whether cwnd follows a model of the path: no loss cuts it, and slow start has no part in it. It paces itself, and
    /// asks for a sender that knows what is in flight.
    pub fn has_model(&self) -> bool {
        matches!(self, CongestionSpec::Bbr(_))
    }

    /// What a loss takes a part of.
    pub(crate) fn ssthresh_basis(&self) -> SsthreshBasis {
        match self {
            CongestionSpec::Reno(reno) => reno.ssthresh_basis,
            CongestionSpec::Cubic(cubic) => cubic.ssthresh_basis,
            CongestionSpec::LinuxCubic(_) | CongestionSpec::Bbr(_) => SsthreshBasis::Cwnd,
        }
    }
}

/// What an ACK of new data finds, as the host sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ack {
    /// Ticks of the host's clock.
    pub(crate) ticks: u64,
    /// RTT, smoothed, in eighths of a tick; 0 before the first sample.
    pub(crate) srtt_eighths: i64,
    /// segments_acked.
    pub(crate) segments: f64,
    /// The same in octets.
    pub(crate) octets: Octets,
    /// Everything below is acknowledged now.
    pub(crate) reached: u64,
    /// The next octet to send.
    pub(crate) next: u64,
    /// Whether cwnd had no room for a segment more before it came.
    pub(crate) is_cwnd_limited: bool,
}

/// A round trip that an ACK has measured, before it makes cwnd grow. Times in picoseconds of the host's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The round trip.
    pub(crate) rtt_ps: u64,
    /// The same, smoothed.
    pub(crate) srtt_ps: u64,
    /// When the ACK came.
    pub(crate) now_ps: u64,
    /// Everything below is acknowledged now.
    pub(crate) reached: u64,
    /// The next octet to send.
    pub(crate) next: u64,
}

/// The rule of one kind, with what it keeps from one ACK to the next. Windows are in octets.
pub(crate) trait CongestionControl {
    /// What an ACK of new data adds to `cwnd` in congestion avoidance, outside recovery.
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64;

    /// An ACK has measured a round trip, and will make cwnd grow unless there is recovery.
    fn on_sample(&mut self, _sample: &Sample) {}

    /// What it adds in slow start, whose rule adds `growth`.
    fn on_ack_in_slow_start(&mut self, growth: f64, _ack: &Ack) -> f64 {
        growth
    }

    /// A loss, found in whichever way, with `cwnd`: the part that it leaves.
    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64;

    /// The retransmission timer has run out, and `on_loss` has been called.
    fn on_rto(&mut self) {}

    /// The application goes on after idling, as the host's clock has counted `ticks`.
    fn on_idle_end(&mut self, _tcp: &TcpSpec, _ticks: u64) {}
}

/// What congestion control keeps, of any kind that keeps something.
#[derive(Clone, Debug)]
pub(crate) enum Congestion {
    CountedAcks(CountedAcks),
    CountedOctets(CountedOctets),
    Cubic(Cubic),
    LinuxCubic(LinuxCubic),
}

impl Congestion {
    /// None for a kind that keeps nothing: what others keep costs Reno's senders neither room nor time.
    pub(crate) fn new(spec: &CongestionSpec) -> Option<Self> {
        match spec {
            CongestionSpec::Reno(reno) => match reno.growth {
                RenoGrowth::Float | RenoGrowth::Integer => None,
                RenoGrowth::AckCounting => Some(Congestion::CountedAcks(CountedAcks::default())),
                RenoGrowth::ByteCounting => {
                    Some(Congestion::CountedOctets(CountedOctets::default()))
                }
            },
            CongestionSpec::Cubic(cubic) => Some(Congestion::Cubic(Cubic::new(cubic))),
            CongestionSpec::LinuxCubic(spec) => Some(Congestion::LinuxCubic(LinuxCubic::new(spec))),
            CongestionSpec::Bbr(_) => None,
        }
    }
}

impl CongestionControl for Congestion {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        match self {
            Congestion::CountedAcks(rule) => rule.on_ack(tcp, cwnd, ack),
            Congestion::CountedOctets(rule) => rule.on_ack(tcp, cwnd, ack),
            Congestion::Cubic(rule) => rule.on_ack(tcp, cwnd, ack),
            Congestion::LinuxCubic(rule) => rule.on_ack(tcp, cwnd, ack),
        }
    }

    fn on_sample(&mut self, sample: &Sample) {
        match self {
            Congestion::CountedAcks(rule) => rule.on_sample(sample),
            Congestion::CountedOctets(rule) => rule.on_sample(sample),
            Congestion::Cubic(rule) => rule.on_sample(sample),
            Congestion::LinuxCubic(rule) => rule.on_sample(sample),
        }
    }

    fn on_ack_in_slow_start(&mut self, growth: f64, ack: &Ack) -> f64 {
        match self {
            Congestion::CountedAcks(rule) => rule.on_ack_in_slow_start(growth, ack),
            Congestion::CountedOctets(rule) => rule.on_ack_in_slow_start(growth, ack),
            Congestion::Cubic(rule) => rule.on_ack_in_slow_start(growth, ack),
            Congestion::LinuxCubic(rule) => rule.on_ack_in_slow_start(growth, ack),
        }
    }

    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        match self {
            Congestion::CountedAcks(rule) => rule.on_loss(tcp, cwnd),
            Congestion::CountedOctets(rule) => rule.on_loss(tcp, cwnd),
            Congestion::Cubic(rule) => rule.on_loss(tcp, cwnd),
            Congestion::LinuxCubic(rule) => rule.on_loss(tcp, cwnd),
        }
    }

    fn on_rto(&mut self) {
        match self {
            Congestion::CountedAcks(rule) => rule.on_rto(),
            Congestion::CountedOctets(rule) => rule.on_rto(),
            Congestion::Cubic(rule) => rule.on_rto(),
            Congestion::LinuxCubic(rule) => rule.on_rto(),
        }
    }

    fn on_idle_end(&mut self, tcp: &TcpSpec, ticks: u64) {
        match self {
            Congestion::CountedAcks(rule) => rule.on_idle_end(tcp, ticks),
            Congestion::CountedOctets(rule) => rule.on_idle_end(tcp, ticks),
            Congestion::Cubic(rule) => rule.on_idle_end(tcp, ticks),
            Congestion::LinuxCubic(rule) => rule.on_idle_end(tcp, ticks),
        }
    }
}
