//! Slow start: how cwnd grows below ssthresh.

mod byte_counting;
mod limited;
mod standard;

pub(crate) use byte_counting::ByteCounting;
use byte_counting::ByteCountingSlowStartSpec;
use limited::LimitedSlowStartSpec;
use standard::StandardSlowStartSpec;

use crate::congestion::Ack;
use crate::kinds::kinds;
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal, Rule, Surroundings};

/// What a run's spec says of it.
pub mod specs {
    pub use super::SlowStartSpec;
    pub use super::byte_counting::ByteCountingSlowStartSpec;
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
    }
}

impl SlowStartSpec {
    /// Whether it goes on at cwnd = ssthresh, and with the ACK that ends a recovery.
    pub(crate) fn is_at_ssthresh_too(&self) -> bool {
        match self {
            SlowStartSpec::Standard(standard) => standard.at_ssthresh,
            SlowStartSpec::Limited(limited) => limited.at_ssthresh,
            SlowStartSpec::ByteCounting(_) => false,
        }
    }

    /// What an ACK adds to `cwnd` octets, octets, with a rule that keeps nothing.
    pub(crate) fn growth(&self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        match self {
            SlowStartSpec::Standard(_) => tcp.mss as f64,
            SlowStartSpec::Limited(limited) => limited.growth(tcp.mss as f64, cwnd),
            SlowStartSpec::ByteCounting(_) => unreachable!("{KEEPS}"),
        }
    }
}

const KEEPS: &str = "a rule that keeps something is asked itself";

/// The rule of a kind that keeps something from one ACK to the next.
pub(crate) trait SlowStart {
    /// What an ACK adds to cwnd, octets.
    fn on_ack(&mut self, tcp: &TcpSpec, ack: &Ack) -> f64;

    /// Slow start has ended: a loss, or cwnd has come to ssthresh.
    fn on_end(&mut self);

    /// The retransmission timer has run out, and slow start follows.
    fn on_rto(&mut self);
}

/// What slow start keeps; none for a kind that keeps nothing.
pub(crate) fn kept(spec: &SlowStartSpec) -> Option<ByteCounting> {
    match spec {
        SlowStartSpec::ByteCounting(spec) => Some(ByteCounting::new(spec)),
        SlowStartSpec::Standard(_) | SlowStartSpec::Limited(_) => None,
    }
}
