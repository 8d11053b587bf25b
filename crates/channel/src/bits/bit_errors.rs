//! Bit errors that are independent: the binary symmetric channel.

use super::bits_before;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::BitErrorRatio};
use skycell_des::Stream;

/// Bits are wrong at random, each with the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct BitErrorsSpec {
    /// Part of the bits that are wrong.
    #[param(symbol = "b")]
    pub ber: BitErrorRatio,
}

/// See [`BitErrorsSpec`].
#[derive(Debug)]
pub(super) struct BitErrors {
    ber: f64,
    errors: Stream,
    next: u64,
}

impl BitErrors {
    pub(super) fn new(spec: &BitErrorsSpec, mut errors: Stream) -> Self {
        BitErrors {
            ber: spec.ber,
            next: bits_before(&mut errors, spec.ber),
            errors,
        }
    }

    pub(super) fn first_from(&mut self, bit: u64) -> u64 {
        if self.next < bit {
            // Geometric distances have no memory.
            let before = bits_before(&mut self.errors, self.ber);
            self.next = bit.saturating_add(before);
        }
        self.next
    }
}
