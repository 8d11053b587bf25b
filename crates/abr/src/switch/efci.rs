//! Binary feedback: EFCI.

use super::RateAlgorithm;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::Threshold};

/// Marks data cells while the queue is long; the destination makes CI of the mark.
///
/// A port is congested from the arrival that finds the high threshold until one that finds fewer cells
/// than the low one. A cell is marked as it comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    feedback = "one bit",
    source = "af-tm-0056 section 5.10.6, switch behaviour 1a",
    label = "EFCI"
)]
pub struct EfciSpec {
    /// ABR cells in the queue from which cells are marked.
    #[param(
        key = "high_threshold",
        default = 0.5,
        source = "choice: af-tm-0056 leaves to the switch when it is congested"
    )]
    pub high_cells: Threshold,
    /// ABR cells in the queue below which they no longer are, at most high_threshold.
    #[param(
        key = "low_threshold",
        default = 0.5,
        at_most = "high_cells",
        source = "choice: no hysteresis"
    )]
    pub low_cells: Threshold,
}

/// See [`EfciSpec`].
#[derive(Clone, Debug)]
pub struct Efci {
    high: u32,
    low: u32,
    is_congested: bool,
}

impl Efci {
    /// Not congested.
    pub fn new(spec: &EfciSpec) -> Self {
        Efci {
            high: spec.high_cells,
            low: spec.low_cells,
            is_congested: false,
        }
    }
}

impl RateAlgorithm for Efci {
    fn marks(&mut self, queued: u32) -> bool {
        if queued >= self.high {
            self.is_congested = true;
        } else if queued < self.low {
            self.is_congested = false;
        }
        self.is_congested
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_from_the_high_threshold_until_the_queue_is_below_the_low_one() {
        let mut efci = Efci::new(&EfciSpec {
            high_cells: 8,
            low_cells: 5,
        });
        let queues = [0, 7, 8, 7, 5, 4, 5, 7, 8];
        let marked = queues.map(|queued| efci.marks(queued));
        let expected = [0, 0, 1, 1, 1, 0, 0, 0, 1].map(|marked| marked == 1);
        assert_eq!(marked, expected);
    }
}
