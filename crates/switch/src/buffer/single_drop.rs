//! One frame discarded at each crossing of a VC's own threshold.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{CellCount, VcThresholds},
};

/// Discards one frame of a VC each time its occupancy crosses the VC's threshold from below.
///
/// The occupancy is looked at when a frame begins: at or above r_i counts as crossed, and the next
/// crossing counts once a frame has begun with the occupancy at least `rearm_below` cells under r_i.
///
/// Source: NASA/CR-1999-209158, "Buffer Management for TCP over the ATM GFR Service", section 3.
/// It does not say when the occupancy is looked at, nor what re-arms the drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-MT",
    threshold = "static",
    discards = "deterministic",
    source = "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    chosen = "occupancy looked at when a frame begins",
    label = "single drop"
)]
pub struct SingleDropSpec {
    /// Occupancy of each VC; when it is crossed, one of the VC's frames is discarded; by name of the VC, or a
    /// list in the order of the flows.
    #[param(key = "thresholds", symbol = "r_i")]
    pub thresholds_cells: VcThresholds,
    /// How many cells the occupancy must fall below the threshold before a crossing counts again.
    #[param(
        key = "rearm_below",
        default = "0 cells",
        below = "thresholds_cells",
        source = "choice: the journal version of the fifteen-TCP study counts every crossing"
    )]
    pub rearm_below_cells: CellCount,
}

impl PolicyRule for SingleDropSpec {
    type Policy = SingleDrop;

    fn policy(&self, _draws: &Draws) -> SingleDrop {
        SingleDrop::new(self.clone())
    }
}

/// See [`SingleDropSpec`].
#[derive(Clone, Debug)]
pub struct SingleDrop {
    spec: SingleDropSpec,
    /// By VC id: whether the occupancy has been below r_i since the last discard.
    armed: Vec<bool>,
}

impl SingleDrop {
    fn new(spec: SingleDropSpec) -> Self {
        SingleDrop {
            armed: vec![true; spec.thresholds_cells.len()],
            spec,
        }
    }
}

impl BufferPolicy for SingleDrop {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        let vc = vc as usize;
        let Some(threshold) = self.spec.thresholds_cells.get(vc).copied().flatten() else {
            return Decision::Accept;
        };
        if view.vc_queued >= threshold {
            return std::mem::take(&mut self.armed[vc])
                .then_some(DiscardReason::VcThreshold)
                .into();
        }
        if threshold - view.vc_queued >= self.spec.rearm_below_cells {
            self.armed[vc] = true;
        }
        Decision::Accept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single_drop(thresholds_cells: Vec<Option<u32>>, rearm_below_cells: u32) -> SingleDrop {
        SingleDrop::new(SingleDropSpec {
            thresholds_cells,
            rearm_below_cells,
        })
    }

    fn discards(policy: &mut SingleDrop, occupancies: &[u32]) -> Vec<bool> {
        let view = |vc_queued| BufferView {
            queued: 1_000,
            vc_queued,
            active_vcs: 3,
            capacity: 48_000,
            ..BufferView::default()
        };
        occupancies
            .iter()
            .map(|&o| policy.on_enqueue(1, &view(o)) != Decision::Accept)
            .collect()
    }

    #[test]
    fn one_frame_is_discarded_at_each_crossing_from_below() {
        let mut policy = single_drop(vec![None, Some(100)], 0);
        assert_eq!(
            discards(&mut policy, &[99, 100, 150, 101, 99, 100]),
            [false, true, false, false, false, true]
        );
    }

    #[test]
    fn with_hysteresis_a_small_dip_is_no_crossing() {
        let mut policy = single_drop(vec![None, Some(100)], 10);
        assert_eq!(
            discards(&mut policy, &[100, 91, 100, 90, 100]),
            [true, false, false, false, true]
        );
    }

    #[test]
    fn a_vc_without_a_threshold_loses_nothing() {
        let mut policy = single_drop(vec![Some(1), None], 0);
        assert_eq!(discards(&mut policy, &[1, 5_000]), [false, false]);
    }

    #[test]
    fn a_hysteresis_beyond_the_threshold_never_lets_the_next_crossing_count() {
        let mut policy = single_drop(vec![None, Some(100)], u32::MAX);
        assert_eq!(
            discards(&mut policy, &[100, 50, 0, 100]),
            [true, false, false, false]
        );
    }
}
