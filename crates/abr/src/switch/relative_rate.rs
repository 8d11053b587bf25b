//! Relative rate marking: CI and NI set by the switch.

use super::becn::BECN;
use super::efci::Congestion;
use super::{Marks, RateAlgorithm};
use crate::rm::RmCell;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{CellRateOrNone, Threshold},
};

/// Sets NI in RM cells while the queue grows, and CI while it is long.
///
/// CI as EFCI here: from the arrival that finds the high threshold until one that finds fewer cells than the low
/// one. NI from an arrival that finds its threshold until one that does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    feedback = "two bits",
    source = "af-tm-0056 section 5.10.6, switch behaviour 1b",
    label = "relative rate"
)]
pub struct RelativeRateSpec {
    /// ABR cells in the queue from which CI is set.
    #[param(
        key = "high_threshold",
        default = 0.5,
        source = "choice: af-tm-0056 leaves to the switch when it is congested"
    )]
    pub high_cells: Threshold,
    /// ABR cells in the queue below which it no longer is, at most high_threshold.
    #[param(
        key = "low_threshold",
        default = 0.5,
        at_most = "high_cells",
        source = "choice: no hysteresis"
    )]
    pub low_cells: Threshold,
    /// ABR cells in the queue from which NI is set, at most high_threshold.
    #[param(
        key = "ni_threshold",
        default = 0.25,
        at_most = "high_cells",
        source = "choice: half of high_threshold"
    )]
    pub ni_cells: Threshold,
    /// RM cells that are marked: those that go back, those that go with the data, or both.
    #[param(
        word,
        default = "backward",
        source = "choice: the shortest way; af-tm-0056 allows each"
    )]
    pub rm_cells: MarkedRmCells,
    /// Backward RM cells a second that the port makes for a VC of which cells come while it is congested (BECN), at most;
    /// 0 for none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(key = "becn", default = "0 cells/s", source = BECN)]
    pub becn_millicells: CellRateOrNone,
}

/// RM cells that a switch marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum MarkedRmCells {
    /// Those that go back to the source.
    Backward,
    /// Those that go with the data.
    Forward,
    /// Both.
    Both,
}

/// See [`RelativeRateSpec`].
#[derive(Clone, Debug)]
pub struct RelativeRate {
    congestion: Congestion,
    ni_from: u32,
    /// True if the last arrival found as many cells.
    is_growing: bool,
    rm_cells: MarkedRmCells,
}

impl RelativeRate {
    /// Not congested.
    pub fn new(spec: &RelativeRateSpec) -> Self {
        RelativeRate {
            congestion: Congestion::new(spec.high_cells, spec.low_cells),
            ni_from: spec.ni_cells,
            is_growing: false,
            rm_cells: spec.rm_cells,
        }
    }
}

impl RateAlgorithm for RelativeRate {
    fn on_backward(&mut self, _vc: usize, cell: &mut RmCell) {
        if self.rm_cells != MarkedRmCells::Forward {
            cell.ci |= self.congestion.is_congested;
            cell.ni |= self.is_growing;
        }
    }

    fn marks(&mut self, queued: u32) -> Marks {
        self.congestion.on_arrival(queued);
        self.is_growing = queued >= self.ni_from;
        if self.rm_cells == MarkedRmCells::Backward {
            return Marks::default();
        }
        Marks {
            efci: false,
            ci: self.congestion.is_congested,
            ni: self.is_growing,
        }
    }

    fn warns(&mut self, _vc: usize, cell: &mut RmCell) -> bool {
        cell.ci |= self.congestion.is_congested;
        self.congestion.is_congested
    }
}

#[cfg(test)]
mod tests {
    use super::super::erica::tests::forward;
    use super::*;

    #[test]
    fn ni_is_set_before_ci_and_in_the_rm_cells_that_were_chosen() {
        for (rm_cells, marks_forward, marks_backward) in [
            (MarkedRmCells::Backward, false, true),
            (MarkedRmCells::Forward, true, false),
            (MarkedRmCells::Both, true, true),
        ] {
            let mut rule = RelativeRate::new(&RelativeRateSpec {
                high_cells: 8,
                low_cells: 5,
                ni_cells: 4,
                rm_cells,
                becn_millicells: 0,
            });
            // Queue, CI, NI: CI holds from 8 until below 5, NI goes by the last arrival alone.
            for (queued, ci, ni) in [
                (3, false, false),
                (4, false, true),
                (8, true, true),
                (5, true, true),
                (4, false, true),
                (3, false, false),
            ] {
                let marks = rule.marks(queued);
                let expected = Marks {
                    efci: false,
                    ci: ci && marks_forward,
                    ni: ni && marks_forward,
                };
                assert_eq!(marks, expected, "{rm_cells:?} {queued}");
                let mut cell = forward(1.0);
                rule.on_backward(0, &mut cell);
                let expected = (ci && marks_backward, ni && marks_backward);
                assert_eq!((cell.ci, cell.ni), expected, "{rm_cells:?} {queued}");
            }
        }
    }

    #[test]
    fn a_mark_that_a_cell_comes_with_stays() {
        let mut rule = RelativeRate::new(&RelativeRateSpec {
            high_cells: 8,
            low_cells: 8,
            ni_cells: 8,
            rm_cells: MarkedRmCells::Both,
            becn_millicells: 0,
        });
        rule.marks(0);
        let mut cell = RmCell {
            ci: true,
            ni: true,
            ..forward(1.0)
        };
        rule.on_backward(0, &mut cell);
        assert!(cell.ci && cell.ni);
    }
}
