//! Binary feedback: EFCI.

use super::becn::BECN;
use super::{Marks, RateAlgorithm};
use crate::rm::RmCell;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{CellRateOrNone, Threshold},
};

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
    /// Backward RM cells a second that the port makes for a VC of which cells come while it is congested (BECN), at most;
    /// 0 for none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(key = "becn", default = "0 cells/s", source = BECN)]
    pub becn_millicells: CellRateOrNone,
}

/// Detects a long queue, with hysteresis.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    high: u32,
    low: u32,
    pub(super) is_congested: bool,
}

impl Congestion {
    /// Not congested.
    pub(super) fn new(high: u32, low: u32) -> Self {
        Congestion {
            high,
            low,
            is_congested: false,
        }
    }

    /// A cell comes before which there are `queued`.
    pub(super) fn on_arrival(&mut self, queued: u32) {
        if queued >= self.high {
            self.is_congested = true;
        } else if queued < self.low {
            self.is_congested = false;
        }
    }
}

/// See [`EfciSpec`].
#[derive(Clone, Debug)]
pub struct Efci {
    congestion: Congestion,
}

impl Efci {
    /// Not congested.
    pub fn new(spec: &EfciSpec) -> Self {
        Efci {
            congestion: Congestion::new(spec.high_cells, spec.low_cells),
        }
    }
}

impl RateAlgorithm for Efci {
    fn marks(&mut self, queued: u32) -> Marks {
        self.congestion.on_arrival(queued);
        Marks {
            efci: self.congestion.is_congested,
            ..Marks::default()
        }
    }

    fn warns(&mut self, _vc: usize, cell: &mut RmCell) -> bool {
        cell.ci |= self.congestion.is_congested;
        self.congestion.is_congested
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
            becn_millicells: 0,
        });
        let queues = [0, 7, 8, 7, 5, 4, 5, 7, 8];
        let marked = queues.map(|queued| efci.marks(queued).efci);
        let expected = [0, 0, 1, 1, 1, 0, 0, 0, 1].map(|marked| marked == 1);
        assert_eq!(marked, expected);
    }
}
