//! Losses that come back at fixed times, such as at each reassignment of a terminal to a satellite.

use crate::happens;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Interval, PartOfOne, TimeOrNone},
};
use skycell_des::Stream;
use skycell_units::SimTime;

/// Loses what comes in the same part of each period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PeriodicLossesSpec {
    /// Time from the beginning of one burst to that of the next.
    #[param(key = "period")]
    pub period_ps: Interval,
    /// Length of a burst, at most the period.
    #[param(key = "length", at_most = "period_ps")]
    pub length_ps: Interval,
    /// When the first burst begins.
    #[param(key = "phase", default = "0 s", source = "choice: with the run")]
    pub phase_ps: TimeOrNone,
    /// Part of the frames that are lost in a burst.
    #[param(default = 1.0, source = "choice: all")]
    pub loss: PartOfOne,
}

/// See [`PeriodicLossesSpec`].
#[derive(Debug)]
pub(crate) struct PeriodicLosses {
    spec: PeriodicLossesSpec,
    losses: Stream,
}

impl PeriodicLosses {
    pub(crate) fn new(spec: &PeriodicLossesSpec, losses: Stream) -> Self {
        PeriodicLosses {
            spec: *spec,
            losses,
        }
    }

    /// Returns whether a frame that enters at `at` is lost.
    pub(crate) fn loses(&mut self, at: SimTime) -> bool {
        let since = at.0.checked_sub(self.spec.phase_ps);
        let is_in_burst = since.is_some_and(|ps| ps % self.spec.period_ps < self.spec.length_ps);
        is_in_burst && happens(&mut self.losses, self.spec.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_comes_with_each_period_from_its_phase_on() {
        let spec = PeriodicLossesSpec {
            period_ps: 100,
            length_ps: 3,
            phase_ps: 12,
            loss: 1.0,
        };
        let mut channel = PeriodicLosses::new(&spec, Stream::new(1, "l"));
        let lost: Vec<u64> = (0..300).filter(|&at| channel.loses(SimTime(at))).collect();
        assert_eq!(lost, [12, 13, 14, 112, 113, 114, 212, 213, 214]);
    }
}
