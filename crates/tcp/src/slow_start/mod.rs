//! Slow start: how cwnd grows below ssthresh.

mod limited;
mod standard;

use limited::LimitedSlowStartSpec;
use standard::StandardSlowStartSpec;

use crate::kinds::kinds;
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal, Rule, Surroundings};

/// What a run's spec says of it.
pub mod specs {
    pub use super::SlowStartSpec;
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
    }
}

impl SlowStartSpec {
    /// Whether it goes on at cwnd = ssthresh, and with the ACK that ends a recovery.
    pub(crate) fn is_at_ssthresh_too(&self) -> bool {
        match self {
            SlowStartSpec::Standard(standard) => standard.at_ssthresh,
            SlowStartSpec::Limited(limited) => limited.at_ssthresh,
        }
    }

    /// What an ACK adds to `cwnd` octets, octets.
    pub(crate) fn growth(&self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        match self {
            SlowStartSpec::Standard(_) => tcp.mss as f64,
            SlowStartSpec::Limited(limited) => limited.growth(tcp.mss as f64, cwnd),
        }
    }
}
