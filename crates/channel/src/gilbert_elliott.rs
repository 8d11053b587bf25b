//! The channel of Gilbert and Elliott: a good and a bad state that change from frame to frame.
//!
//! Source: E. N. Gilbert, Capacity of a Burst-Noise Channel, Bell System Technical Journal 39 (1960); E. O.
//! Elliott, Estimates of Error Rates for Codes on Burst-Noise Channels, the same, 42 (1963), of bits; here of
//! frames, as Linux's netem (`loss gemodel`) has it.

use crate::happens;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{FromZeroToOne, PartOfOne},
};
use skycell_des::Stream;

/// Loses frames in bursts: a good and a bad state, which may change after each frame.
///
/// The bad state lasts 1 / bad_to_good frames in the mean, and good_to_bad / (good_to_bad + bad_to_good) of all
/// frames meet it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottSpec {
    /// Probability that the state is bad for the next frame after a good one.
    #[param(symbol = "p")]
    pub good_to_bad: PartOfOne,
    /// Probability that the state is good for the next frame after a bad one.
    #[param(symbol = "r")]
    pub bad_to_good: PartOfOne,
    /// Part of the frames that are lost in the good state.
    #[param(default = 0.0, symbol = "1 - k", source = "Gilbert 1960: none")]
    pub loss_in_good: FromZeroToOne,
    /// Part of the frames that are lost in the bad state.
    #[param(
        default = 1.0,
        symbol = "1 - h",
        source = "choice: all; Gilbert's half of the bits spoils any frame"
    )]
    pub loss_in_bad: FromZeroToOne,
}

/// See [`GilbertElliottSpec`].
#[derive(Debug)]
pub(crate) struct GilbertElliott {
    spec: GilbertElliottSpec,
    states: Stream,
    losses: Stream,
    is_bad: bool,
}

impl GilbertElliott {
    /// Begins in a state as it is met in the mean.
    pub(crate) fn new(spec: &GilbertElliottSpec, mut states: Stream, losses: Stream) -> Self {
        let bad = spec.good_to_bad / (spec.good_to_bad + spec.bad_to_good);
        let is_bad = happens(&mut states, bad);
        GilbertElliott {
            spec: *spec,
            states,
            losses,
            is_bad,
        }
    }

    /// Returns whether the next frame is lost; then the state may change.
    pub(crate) fn loses(&mut self) -> bool {
        let (loss, change) = match self.is_bad {
            false => (self.spec.loss_in_good, self.spec.good_to_bad),
            true => (self.spec.loss_in_bad, self.spec.bad_to_good),
        };
        let is_lost = happens(&mut self.losses, loss);
        self.is_bad ^= happens(&mut self.states, change);
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(spec: &GilbertElliottSpec, frames: usize) -> Vec<bool> {
        let mut channel = GilbertElliott::new(spec, Stream::new(1, "s"), Stream::new(1, "l"));
        (0..frames).map(|_| channel.loses()).collect()
    }

    #[test]
    fn the_mean_loss_and_the_length_of_bursts_are_the_closed_forms() {
        let spec = GilbertElliottSpec {
            good_to_bad: 0.02,
            bad_to_good: 0.25,
            loss_in_good: 0.0,
            loss_in_bad: 1.0,
        };
        let fates = fates(&spec, 400_000);
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // p / (p + r) = 0.0741; bursts of a geometric length with mean 1 / r = 4, about 7400 of them: standard errors
        // 0.0011 and 0.04.
        assert!((lost / 400_000.0 - 0.02 / 0.27).abs() < 0.005);
        assert!((lost / bursts - 4.0).abs() < 0.2);
    }

    #[test]
    fn losses_within_states_add_up() {
        let spec = GilbertElliottSpec {
            good_to_bad: 0.1,
            bad_to_good: 0.3,
            loss_in_good: 0.01,
            loss_in_bad: 0.5,
        };
        let lost = fates(&spec, 400_000).iter().filter(|&&lost| lost).count() as f64;
        // 3/4 x 0.01 + 1/4 x 0.5 = 0.1325
        assert!((lost / 400_000.0 - 0.1325).abs() < 0.004);
    }

    #[test]
    fn states_that_always_change_take_turns() {
        let spec = GilbertElliottSpec {
            good_to_bad: 1.0,
            bad_to_good: 1.0,
            loss_in_good: 0.0,
            loss_in_bad: 1.0,
        };
        let fates = fates(&spec, 100);
        assert!(fates.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
