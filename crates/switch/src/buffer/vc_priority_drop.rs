//! A threshold for tagged frames, one for all others, and one for each VC above it.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Threshold, VcAllowances},
};

/// Discards tagged frames from one threshold on, from another all but those of short queues.
///
/// Takes in tagged frames (CLP = 1) while X < LBO, the others while X < HBO, and above HBO still those
/// of VCs with X_i < T_i.
///
/// Source: O. Bonaventure, "A simulation study of TCP with the GFR service category", section 3, the
/// buffer of the WFQ-based switch, after R. Guerin and J. Heinanen (ATM96-1598), who set T_i to the
/// VC's MBS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-MT",
    threshold = "static",
    discards = "deterministic",
    sees_tags = true,
    source = "Guerin, Heinanen: ATM Forum 96-1598, as described in Bonaventure: A simulation study of TCP \
              with the GFR service category (LBO, HBO, T_i)",
    label = "LBO/HBO/T_i"
)]
pub struct VcPriorityDropSpec {
    /// Occupancy from which tagged frames (CLP = 1) are discarded.
    #[param(
        key = "tagged_threshold",
        default = 0.75,
        symbol = "LBO",
        at_most = "threshold_cells",
        source = "choice: as for the FIFO switch of Bonaventure, A simulation study of TCP with the GFR service category, which \
                  leaves it open for WFQ"
    )]
    pub tagged_cells: Threshold,
    /// Occupancy from which frames are discarded if their VC has reached its own threshold; at least
    /// tagged_threshold.
    #[param(
        key = "drop_threshold",
        default = 0.875,
        symbol = "HBO",
        source = "choice: as for the FIFO switch of Bonaventure, A simulation study of TCP with the GFR service category, which \
                  leaves it open for WFQ"
    )]
    pub threshold_cells: Threshold,
    /// Occupancy of a VC with a GFR contract from which its frames are discarded above drop_threshold:
    /// cells, or the VC's MBS; 0 for a VC without a contract.
    #[param(
        key = "vc_threshold",
        default = "MBS",
        symbol = "T_i",
        source = "Guerin and Heinanen (ATM96-1598), as described by Bonaventure, section 3"
    )]
    pub vc_thresholds_cells: VcAllowances,
}

impl PolicyRule for VcPriorityDropSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }

    fn discards_when_empty(&self) -> bool {
        self.tagged_cells == 0
    }
}

impl BufferPolicy for VcPriorityDropSpec {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        if view.clp && view.queued >= self.tagged_cells {
            return Decision::Discard(DiscardReason::Tagged);
        }
        let own = self
            .vc_thresholds_cells
            .get(vc as usize)
            .copied()
            .unwrap_or(0);
        if view.queued < self.threshold_cells || view.vc_queued < own {
            Decision::Accept
        } else if own > 0 {
            Decision::Discard(DiscardReason::VcThreshold)
        } else {
            Decision::Discard(DiscardReason::AboveThreshold)
        }
    }

    fn looks_at_vcs(&self, queued: u32) -> bool {
        queued >= self.threshold_cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(vc: u32, queued: u32, vc_queued: u32, clp: bool) -> Decision {
        let view = BufferView {
            queued,
            vc_queued,
            clp,
            capacity: 100,
            ..BufferView::default()
        };
        let mut policy = VcPriorityDropSpec {
            tagged_cells: 40,
            threshold_cells: 80,
            vc_thresholds_cells: vec![20, 0],
        };
        policy.on_enqueue(vc, &view)
    }

    #[test]
    fn tagged_frames_are_taken_in_below_lbo() {
        assert_eq!(decide(0, 39, 0, true), Decision::Accept);
        assert_eq!(
            decide(0, 40, 0, true),
            Decision::Discard(DiscardReason::Tagged)
        );
    }

    #[test]
    fn above_hbo_frames_are_taken_in_of_vcs_below_their_threshold() {
        assert_eq!(decide(0, 79, 79, false), Decision::Accept);
        assert_eq!(decide(0, 80, 19, false), Decision::Accept);
        let own = Decision::Discard(DiscardReason::VcThreshold);
        assert_eq!(decide(0, 80, 20, false), own);
        let total = Decision::Discard(DiscardReason::AboveThreshold);
        assert_eq!(decide(1, 80, 0, false), total);
        assert_eq!(decide(2, 80, 0, false), total);
    }
}
