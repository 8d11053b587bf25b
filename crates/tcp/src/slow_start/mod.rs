//! Slow start: how cwnd grows below ssthresh.

mod byte_counting;
mod hystart;
mod hystart_plus_plus;
mod limited;
mod standard;

use byte_counting::{ByteCounting, ByteCountingSlowStartSpec};
use hystart::{HyStart, HyStartSpec};
use hystart_plus_plus::{HyStartPlusPlus, HyStartPlusPlusSpec};
use limited::LimitedSlowStartSpec;
use standard::StandardSlowStartSpec;

use crate::congestion::{Ack, Sample};
use crate::kinds::kinds;
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};

/// The specs of slow starts.
pub mod specs {
    pub use super::SlowStartSpec;
    pub use super::byte_counting::ByteCountingSlowStartSpec;
    pub use super::hystart::{HyStartDetect, HyStartSpec};
    pub use super::hystart_plus_plus::HyStartPlusPlusSpec;
    pub use super::limited::*;
    pub use super::standard::*;
}

kinds! {
    /// How cwnd grows in slow start.
    SlowStartSpec {
        /// See [`StandardSlowStartSpec`].
        Standard(StandardSlowStartSpec),
        /// See [`LimitedSlowStartSpec`].
        Limited(LimitedSlowStartSpec),
        /// See [`ByteCountingSlowStartSpec`].
        ByteCounting(ByteCountingSlowStartSpec),
        /// See [`HyStartPlusPlusSpec`].
        HystartPlusPlus(HyStartPlusPlusSpec),
        /// See [`HyStartSpec`].
        Hystart(HyStartSpec),
    }
}

impl SlowStartSpec {
    /// Returns whether it continues at cwnd = ssthresh, and with the ACK that ends a recovery.
    pub(crate) fn is_at_ssthresh_too(&self) -> bool {
        match self {
            SlowStartSpec::Standard(standard) => standard.at_ssthresh,
            SlowStartSpec::Limited(limited) => limited.at_ssthresh,
            SlowStartSpec::ByteCounting(_)
            | SlowStartSpec::HystartPlusPlus(_)
            | SlowStartSpec::Hystart(_) => false,
        }
    }

    /// Returns the octets that an ACK adds to `cwnd` octets, with a rule without state.
    pub(crate) fn growth(&self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        match self {
            SlowStartSpec::Standard(_) => tcp.mss as f64,
            SlowStartSpec::Limited(limited) => limited.growth(tcp.mss as f64, cwnd),
            SlowStartSpec::ByteCounting(_)
            | SlowStartSpec::HystartPlusPlus(_)
            | SlowStartSpec::Hystart(_) => unreachable!("{KEEPS}"),
        }
    }
}

const KEEPS: &str = "a rule that keeps something is asked itself";

/// The rule of a kind that keeps something from one ACK to the next.
pub(crate) trait SlowStart {
    /// An ACK has measured a round trip with `cwnd` octets, in slow start if it `is_running`: whether that ends it
    /// there and then, with ssthresh at cwnd.
    fn on_sample(
        &mut self,
        _tcp: &TcpSpec,
        _cwnd: f64,
        _is_running: bool,
        _sample: &Sample,
    ) -> bool {
        false
    }

    /// Returns the octets that an ACK adds to cwnd.
    fn on_ack(&mut self, tcp: &TcpSpec, ack: &Ack) -> f64;

    /// Returns whether the last ACK ends slow start: ssthresh is cwnd then.
    fn is_leaving(&mut self) -> bool {
        false
    }

    /// Returns whether cwnd grows only up to ssthresh, and the rest of an ACK grows it by
    /// congestion avoidance.
    fn stops_at_ssthresh(&self) -> bool {
        false
    }

    /// Slow start has ended: a loss, or cwnd has come to ssthresh.
    fn on_end(&mut self);

    /// The retransmission timer has run out, and slow start follows.
    fn on_rto(&mut self);
}

/// The state of slow start, of any kind with state.
#[derive(Clone, Debug)]
pub(crate) enum SlowStartState {
    ByteCounting(ByteCounting),
    HyStartPlusPlus(HyStartPlusPlus),
    HyStart(HyStart),
}

impl SlowStartState {
    /// None for a kind that keeps nothing.
    pub(crate) fn new(spec: &SlowStartSpec) -> Option<Self> {
        match spec {
            SlowStartSpec::Standard(_) | SlowStartSpec::Limited(_) => None,
            SlowStartSpec::ByteCounting(spec) => {
                Some(SlowStartState::ByteCounting(ByteCounting::new(spec)))
            }
            SlowStartSpec::HystartPlusPlus(spec) => {
                Some(SlowStartState::HyStartPlusPlus(HyStartPlusPlus::new(spec)))
            }
            SlowStartSpec::Hystart(spec) => Some(SlowStartState::HyStart(HyStart::new(spec))),
        }
    }
}

impl SlowStart for SlowStartState {
    fn on_sample(&mut self, tcp: &TcpSpec, cwnd: f64, is_running: bool, sample: &Sample) -> bool {
        match self {
            SlowStartState::ByteCounting(rule) => rule.on_sample(tcp, cwnd, is_running, sample),
            SlowStartState::HyStartPlusPlus(rule) => rule.on_sample(tcp, cwnd, is_running, sample),
            SlowStartState::HyStart(rule) => rule.on_sample(tcp, cwnd, is_running, sample),
        }
    }

    fn on_ack(&mut self, tcp: &TcpSpec, ack: &Ack) -> f64 {
        match self {
            SlowStartState::ByteCounting(rule) => rule.on_ack(tcp, ack),
            SlowStartState::HyStartPlusPlus(rule) => rule.on_ack(tcp, ack),
            SlowStartState::HyStart(rule) => rule.on_ack(tcp, ack),
        }
    }

    fn is_leaving(&mut self) -> bool {
        match self {
            SlowStartState::ByteCounting(rule) => rule.is_leaving(),
            SlowStartState::HyStartPlusPlus(rule) => rule.is_leaving(),
            SlowStartState::HyStart(rule) => rule.is_leaving(),
        }
    }

    fn stops_at_ssthresh(&self) -> bool {
        match self {
            SlowStartState::ByteCounting(rule) => rule.stops_at_ssthresh(),
            SlowStartState::HyStartPlusPlus(rule) => rule.stops_at_ssthresh(),
            SlowStartState::HyStart(rule) => rule.stops_at_ssthresh(),
        }
    }

    fn on_end(&mut self) {
        match self {
            SlowStartState::ByteCounting(rule) => rule.on_end(),
            SlowStartState::HyStartPlusPlus(rule) => rule.on_end(),
            SlowStartState::HyStart(rule) => rule.on_end(),
        }
    }

    fn on_rto(&mut self) {
        match self {
            SlowStartState::ByteCounting(rule) => rule.on_rto(),
            SlowStartState::HyStartPlusPlus(rule) => rule.on_rto(),
            SlowStartState::HyStart(rule) => rule.on_rto(),
        }
    }
}
