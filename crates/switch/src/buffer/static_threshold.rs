//! A static threshold for each VC.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Threshold, VcThresholds},
};

/// Discards the frames of VCs above a threshold of their own, which stays as it is.
///
/// X > L and X_i > T_i. Source: NASA/CR-1999-209158, "Buffer Management for TCP over the ATM GFR
/// Service", section 4.3, which has it as what DFBA is better than, without L and with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-MT",
    threshold = "static",
    discards = "deterministic",
    source = "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    label = "static thresholds"
)]
pub struct StaticThresholdSpec {
    /// Occupancy of each VC above which its frames are discarded; by name of the VC, or a list in the
    /// order of the flows; a VC that is not named has none.
    #[param(key = "thresholds", symbol = "T_i")]
    pub thresholds_cells: VcThresholds,
    /// Occupancy of the buffer up to which every frame is accepted.
    #[param(
        key = "low_threshold",
        default = "0 cells",
        symbol = "L",
        source = "Buffer Management for TCP over the ATM GFR Service, section 4.3: the first scheme has none"
    )]
    pub low_cells: Threshold,
}

impl PolicyRule for StaticThresholdSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }
}

impl BufferPolicy for StaticThresholdSpec {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        let Some(threshold) = self.thresholds_cells.get(vc as usize).copied().flatten() else {
            return Decision::Accept;
        };
        let is_above = view.queued > self.low_cells && view.vc_queued > threshold;
        is_above.then_some(DiscardReason::VcThreshold).into()
    }

    fn looks_at_vcs(&self, queued: u32) -> bool {
        queued > self.low_cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's thresholds for VCs of 1/2, 1/4 and 1/4 of 100 cells.
    fn decide(low_cells: u32, vc: u32, queued: u32, vc_queued: u32) -> Decision {
        let mut policy = StaticThresholdSpec {
            thresholds_cells: vec![Some(50), Some(25), Some(25)],
            low_cells,
        };
        let view = BufferView {
            queued,
            vc_queued,
            active_vcs: 3,
            capacity: 100,
            ..BufferView::default()
        };
        policy.on_enqueue(vc, &view)
    }

    const OWN: Decision = Decision::Discard(DiscardReason::VcThreshold);

    #[test]
    fn without_l_a_vc_is_held_down_in_a_buffer_that_is_almost_empty() {
        // Section 4.3: VC1 and VC2 have a cell each, and VC3 may have no more than 25.
        assert_eq!(decide(0, 2, 27, 25), Decision::Accept);
        assert_eq!(decide(0, 2, 28, 26), OWN);
    }

    #[test]
    fn with_l_who_comes_first_has_more_than_its_threshold() {
        // Section 4.3, L = 60: VC2 goes on beyond 25 while X <= L, and VC3 comes too late.
        assert_eq!(decide(60, 1, 60, 35), Decision::Accept);
        assert_eq!(decide(60, 2, 61, 26), OWN);
        assert_eq!(decide(60, 2, 61, 25), Decision::Accept);
    }

    #[test]
    fn a_vc_without_a_threshold_loses_nothing() {
        assert_eq!(decide(0, 3, 90, 90), Decision::Accept);
    }
}
