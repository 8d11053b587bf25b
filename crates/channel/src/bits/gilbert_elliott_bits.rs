//! The channel of Gilbert and Elliott as they wrote it, of bits: a good and a bad state that may change after each.
//!
//! Source: E. N. Gilbert, Capacity of a Burst-Noise Channel, Bell System Technical Journal 39 (1960); E. O.
//! Elliott, Estimates of Error Rates for Codes on Burst-Noise Channels, the same, 42 (1963).

use super::bits_before;
use crate::happens;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{BitErrorRatio, BitErrorRatioOrNone, PartOfOne},
};
use skycell_des::Stream;

/// Bits are wrong in bursts: a good and a bad state, which may change after each bit.
///
/// The bad state lasts 1 / bad_to_good bits in the mean, and good_to_bad / (good_to_bad + bad_to_good) of all
/// bits meet it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottBitsSpec {
    /// Probability that the state is bad for the next bit after a good one.
    #[param(symbol = "p")]
    pub good_to_bad: PartOfOne,
    /// Probability that the state is good for the next bit after a bad one.
    #[param(symbol = "r")]
    pub bad_to_good: PartOfOne,
    /// Part of the bits that are wrong in the good state.
    #[param(default = 0.0, symbol = "1 - k", source = "Gilbert 1960: none")]
    pub errors_in_good: BitErrorRatioOrNone,
    /// Part of the bits that are wrong in the bad state.
    #[param(default = 0.5, symbol = "1 - h", source = "Gilbert 1960: half of them")]
    pub errors_in_bad: BitErrorRatio,
}

/// See [`GilbertElliottBitsSpec`].
#[derive(Debug)]
pub(super) struct GilbertElliottBits {
    spec: GilbertElliottBitsSpec,
    states: Stream,
    errors: Stream,
    is_bad: bool,
    /// The first bit of the next state.
    until: u64,
    /// The first wrong bit of this state, or what would be if it lasted.
    next: u64,
}

impl GilbertElliottBits {
    /// Begins in a state as it is met in the mean.
    pub(super) fn new(spec: &GilbertElliottBitsSpec, states: Stream, errors: Stream) -> Self {
        let mut channel = GilbertElliottBits {
            spec: *spec,
            states,
            errors,
            is_bad: false,
            until: 0,
            next: 0,
        };
        let bad_part = channel.bad_part();
        let is_bad = happens(&mut channel.states, bad_part);
        channel.enter(0, is_bad);
        channel
    }

    /// Part of all bits that meet the bad state.
    fn bad_part(&self) -> f64 {
        self.spec.good_to_bad / (self.spec.good_to_bad + self.spec.bad_to_good)
    }

    /// A state holds for `bit`; neither how long it does nor where its errors are has a memory.
    fn enter(&mut self, bit: u64, is_bad: bool) {
        self.is_bad = is_bad;
        let change = match is_bad {
            false => self.spec.good_to_bad,
            true => self.spec.bad_to_good,
        };
        let others = bits_before(&mut self.states, change);
        self.until = bit.saturating_add(others).saturating_add(1);
        self.draw_error(bit);
    }

    fn draw_error(&mut self, from: u64) {
        let part = match self.is_bad {
            false => self.spec.errors_in_good,
            true => self.spec.errors_in_bad,
        };
        self.next = from.saturating_add(bits_before(&mut self.errors, part));
    }

    pub(super) fn first_from(&mut self, bit: u64) -> u64 {
        if bit >= self.until {
            // Of bits that nobody asks for only the state after them counts, n bits on from one that is known: bad with
            // probability pi + (1 - pi) (1 - p - r)^n after a bad one, pi (1 - (1 - p - r)^n) after a good one.
            let kept = 1.0 - self.spec.good_to_bad - self.spec.bad_to_good;
            let kept = libm::pow(kept, (bit - self.until) as f64);
            let known = f64::from(u8::from(!self.is_bad));
            let bad = self.bad_part() + (known - self.bad_part()) * kept;
            let is_bad = happens(&mut self.states, bad);
            self.enter(bit, is_bad);
        } else if self.next < bit {
            self.draw_error(bit);
        }
        while self.next >= self.until && self.until < u64::MAX {
            self.enter(self.until, !self.is_bad);
        }
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: GilbertElliottBitsSpec = GilbertElliottBitsSpec {
        good_to_bad: 0.01,
        bad_to_good: 0.1,
        errors_in_good: 0.001,
        errors_in_bad: 0.3,
    };

    fn channel(seed: u64) -> GilbertElliottBits {
        GilbertElliottBits::new(&SPEC, Stream::new(seed, "s"), Stream::new(seed, "e"))
    }

    #[test]
    fn the_mean_and_the_likeness_of_neighbours_are_the_closed_forms() {
        let (mut channel, mut wrong, bits) = (channel(3), Vec::new(), 2_000_000);
        let mut bit = channel.first_from(0);
        while bit < bits {
            wrong.push(bit);
            bit = channel.first_from(bit + 1);
        }
        // pi = 1/11: (0.3 + 10 x 0.001) / 11 = 0.02818; states vary slowly: a standard error of about 0.0003.
        let mean = wrong.len() as f64 / bits as f64;
        assert!((mean - 0.31 / 11.0).abs() < 0.0012, "{mean}");
        // P(next wrong | this wrong) = b + pi (1 - pi) (0.299)^2 (1 - p - r) / b.
        let pairs = wrong.windows(2).filter(|pair| pair[0] + 1 == pair[1]);
        let again = pairs.count() as f64 / wrong.len() as f64;
        let b = 0.31 / 11.0;
        let expected = b + 10.0 / 121.0 * 0.299 * 0.299 * 0.89 / b;
        assert!((again - expected).abs() < 0.01, "{again} {expected}");
    }

    #[test]
    fn what_is_skipped_leaves_the_state_as_its_bits_would() {
        // Bit 0 wrong tells of the state; asked for bits 0 and n alone, the second is wrong as often as it should be.
        for n in [1, 5, 40] {
            let (mut first, mut both) = (0, 0);
            for seed in 0..60_000 {
                let mut channel = channel(seed);
                if channel.first_from(0) == 0 {
                    first += 1;
                    both += u32::from(channel.first_from(n) == n);
                }
            }
            let b = 0.31 / 11.0;
            let expected = b + 10.0 / 121.0 * 0.299 * 0.299 * libm::pow(0.89, n as f64) / b;
            let found = f64::from(both) / f64::from(first);
            // About 1690 of them: a standard error up to 0.011.
            assert!((found - expected).abs() < 0.04, "{n}: {found} {expected}");
        }
    }
}
