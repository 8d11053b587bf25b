//! Errors in bursts of a given length and density, as a decoder leaves them.
//!
//! Source: R. L. Miller, L. J. Deutsch, S. A. Butman, On the Error Statistics of Viterbi Decoding and the Performance of
//! Concatenated Codes, JPL Publication 81-9 (1981): waiting times between bursts and lengths of bursts are close to
//! geometric, and within a burst about half of the bits are wrong.

use super::bits_before;
use crate::happens;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{BitCount, BitErrorRatio, ErrorDensity},
};
use skycell_des::Stream;

/// Bits are wrong in bursts of a length and density.
///
/// From the end of a burst to the beginning of the next it is a geometric number of bits, with the mean that makes
/// the part of the bits that are wrong what it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ErrorBurstsSpec {
    /// Part of all bits that are wrong.
    #[param(symbol = "b")]
    pub ber: BitErrorRatio,
    /// Length of a burst.
    #[param(key = "length", symbol = "L")]
    pub length_bits: BitCount,
    /// Part of a burst's bits that are wrong.
    #[param(
        default = 0.5,
        source = "JPL Publication 81-9: about half behind a Viterbi decoder"
    )]
    pub density: ErrorDensity,
    /// "fixed" if all bursts have the same length, "geometric" if `length` is their mean.
    #[param(word, default = "fixed", source = "choice: the same for all")]
    pub lengths: BurstLengths,
}

/// How long bursts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum BurstLengths {
    /// All the same.
    Fixed,
    /// Geometric, one bit at least.
    Geometric,
}

/// See [`ErrorBurstsSpec`].
#[derive(Debug)]
pub(super) struct ErrorBursts {
    spec: ErrorBurstsSpec,
    states: Stream,
    errors: Stream,
    /// Probability that a burst begins with a bit between bursts.
    begins: f64,
    /// The first bit behind the burst that is under way or comes next.
    until: u64,
    /// Its first wrong bit, or what would be if it went on.
    next: u64,
}

impl ErrorBursts {
    /// Begins within a burst or between two as that is met in the mean.
    pub(super) fn new(spec: &ErrorBurstsSpec, states: Stream, errors: Stream) -> Self {
        // b = density L / (L + gap)
        let length = spec.length_bits as f64;
        let gap = length * (spec.density / spec.ber - 1.0);
        let mut bursts = ErrorBursts {
            spec: *spec,
            states,
            errors,
            begins: 1.0 / (1.0 + gap),
            until: 0,
            next: 0,
        };
        if happens(&mut bursts.states, length / (length + gap)) {
            // Of a burst that is under way any part is as likely; what is left of a geometric one is as long as any.
            bursts.until = match spec.lengths {
                BurstLengths::Fixed => 1 + bursts.states.uniform(0, spec.length_bits),
                BurstLengths::Geometric => bursts.length(),
            };
            bursts.next = bits_before(&mut bursts.errors, spec.density);
        } else {
            bursts.begin();
        }
        bursts
    }

    fn length(&mut self) -> u64 {
        match self.spec.lengths {
            BurstLengths::Fixed => self.spec.length_bits,
            BurstLengths::Geometric => {
                1 + bits_before(&mut self.states, 1.0 / self.spec.length_bits as f64)
            }
        }
    }

    /// The next burst comes.
    fn begin(&mut self) {
        let wait = bits_before(&mut self.states, self.begins);
        let first = self.until.saturating_add(wait);
        self.until = first.saturating_add(self.length());
        self.next = first.saturating_add(bits_before(&mut self.errors, self.spec.density));
    }

    pub(super) fn first_from(&mut self, bit: u64) -> u64 {
        loop {
            if self.next < bit && bit < self.until {
                let before = bits_before(&mut self.errors, self.spec.density);
                self.next = bit.saturating_add(before);
            }
            if self.next >= bit && self.next < self.until || self.until == u64::MAX {
                return self.next;
            }
            self.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_as_many_as_the_ratio_says_and_come_as_bursts_do() {
        for (lengths, length_bits) in [
            (BurstLengths::Fixed, 20),
            (BurstLengths::Geometric, 20),
            (BurstLengths::Fixed, 1),
        ] {
            let spec = ErrorBurstsSpec {
                ber: 0.001,
                length_bits,
                density: 0.5,
                lengths,
            };
            let mut bursts = ErrorBursts::new(&spec, Stream::new(1, "s"), Stream::new(1, "e"));
            let (bits, mut wrong) = (40_000_000, Vec::new());
            let mut bit = bursts.first_from(0);
            while bit < bits {
                wrong.push(bit);
                bit = bursts.first_from(bit + 1);
            }
            // 40 000 errors in 4000 bursts: a standard error of 2.2 % with geometric lengths, less with fixed ones.
            let mean = wrong.len() as f64 / bits as f64;
            assert!((mean / 0.001 - 1.0).abs() < 0.07, "{lengths:?}: {mean}");
            // Bursts begin 500 times their length apart in the mean: within 10 times it 2 % of them run into the next.
            let far = wrong.windows(2);
            let far = far.filter(|pair| pair[1] - pair[0] > 10 * length_bits);
            let of_burst = wrong.len() as f64 / (far.count() as f64 + 1.0);
            let with_errors = 1.0 - libm::pow(0.5, length_bits as f64);
            let expected = 0.5 * length_bits as f64 / with_errors;
            if lengths == BurstLengths::Fixed {
                assert!((of_burst / expected - 1.0).abs() < 0.05, "{of_burst}");
            }
        }
    }

    #[test]
    fn what_is_skipped_changes_no_burst() {
        let spec = ErrorBurstsSpec {
            ber: 0.01,
            length_bits: 40,
            density: 1.0,
            lengths: BurstLengths::Geometric,
        };
        let new = || ErrorBursts::new(&spec, Stream::new(2, "s"), Stream::new(2, "e"));
        let (mut each, mut some) = (new(), new());
        for bit in 0..200_000 {
            let first = each.first_from(bit);
            assert!(bit % 131 != 0 || some.first_from(bit) == first);
        }
    }
}
