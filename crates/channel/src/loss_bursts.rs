//! Bursts of losses that last a time: the channel of Gilbert and Elliott in continuous time.
//!
//! Source: as for frames; sojourn times of the two states are exponential, as in the land mobile satellite
//! channel of E. Lutz et al., The Land Mobile Satellite Communication Channel, IEEE Trans. Vehicular Technology
//! 40 (1991), which is shadowed or not.

use crate::happens;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{PartOfOne, StateTime},
};
use skycell_des::Stream;
use skycell_units::SimTime;

/// Loses what comes in bursts that last a time, whatever is sent in it.
///
/// Length and gap are exponentially distributed: length / (length + gap) of the time is bad.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct LossBurstsSpec {
    /// Mean time from the end of a burst to the beginning of the next.
    #[param(key = "gap")]
    pub gap_ps: StateTime,
    /// Mean length of a burst.
    #[param(key = "length")]
    pub length_ps: StateTime,
    /// Part of the frames that are lost in a burst.
    #[param(default = 1.0, source = "choice: all")]
    pub loss: PartOfOne,
}

/// See [`LossBurstsSpec`].
#[derive(Debug)]
pub(crate) struct LossBursts {
    spec: LossBurstsSpec,
    states: Stream,
    losses: Stream,
    is_bad: bool,
    /// When the state changes.
    until_ps: u64,
}

impl LossBursts {
    /// Begins in a state as it is met in the mean, which lasts as long as any: exponential times have no memory.
    pub(crate) fn new(spec: &LossBurstsSpec, mut states: Stream, losses: Stream) -> Self {
        let whole = spec.length_ps as f64 + spec.gap_ps as f64;
        let is_bad = happens(&mut states, spec.length_ps as f64 / whole);
        let mut channel = LossBursts {
            spec: *spec,
            states,
            losses,
            is_bad,
            until_ps: 0,
        };
        channel.until_ps = channel.sojourn();
        channel
    }

    fn sojourn(&mut self) -> u64 {
        let mean = match self.is_bad {
            false => self.spec.gap_ps,
            true => self.spec.length_ps,
        };
        // A state lasts at least a picosecond: time goes on.
        self.states.exponential(mean).max(1)
    }

    /// Returns whether a frame that enters at `at` is lost.
    pub(crate) fn loses(&mut self, at: SimTime) -> bool {
        while self.until_ps <= at.0 {
            self.is_bad = !self.is_bad;
            self.until_ps = self.until_ps.saturating_add(self.sojourn());
        }
        self.is_bad && happens(&mut self.losses, self.spec.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_lost_and_the_length_of_bursts_are_the_means_given() {
        let spec = LossBurstsSpec {
            gap_ps: 900,
            length_ps: 100,
            loss: 1.0,
        };
        let mut channel = LossBursts::new(&spec, Stream::new(1, "s"), Stream::new(1, "l"));
        let fates: Vec<bool> = (0..4_000_000)
            .map(|at| channel.loses(SimTime(at)))
            .collect();
        let lost = fates.iter().filter(|&&lost| lost).count() as f64;
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // 4000 bursts of mean 100 +- 1.6, so 0.1 +- 0.002 of the time.
        assert!((lost / 4e6 - 0.1).abs() < 0.01);
        assert!((lost / bursts - 100.0).abs() < 8.0);
    }

    #[test]
    fn bursts_depend_on_time_alone() {
        let spec = LossBurstsSpec {
            gap_ps: 1_000,
            length_ps: 300,
            loss: 1.0,
        };
        let new = || LossBursts::new(&spec, Stream::new(7, "s"), Stream::new(7, "l"));
        let (mut often, mut seldom) = (new(), new());
        for at in 0..50_000 {
            let is_lost = often.loses(SimTime(at));
            assert!(at % 97 != 0 || seldom.loses(SimTime(at)) == is_lost);
        }
    }
}
