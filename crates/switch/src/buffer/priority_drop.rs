//! One queue, a threshold for tagged frames and one for all.

use super::{BufferPolicy, BufferView, Draws, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::Threshold};

/// Discards tagged frames above one threshold, and all frames above another.
///
/// Takes in tagged frames (CLP = 1) while X <= LBO, and the others while X <= HBO. With LBO = 0 it
/// takes in no tagged frame, also where the queue is empty.
///
/// Source: "Buffer Management for TCP over the ATM GFR Service", section 7 (priority drop: a threshold
/// for each level, EPD for all above the last); O. Bonaventure, "A simulation study of TCP with the
/// GFR service category", section 3 (FIFO switch with LBO and HBO) and section 5 (LBO set to 0: all
/// tagged frames are discarded). The CLP bit has two levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-MT",
    threshold = "static",
    discards = "deterministic",
    sees_tags = true,
    source = "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999; \
              Bonaventure: A simulation study of TCP with the GFR service category (LBO, HBO)",
    label = "LBO/HBO"
)]
pub struct PriorityDropSpec {
    /// Occupancy above which tagged frames (CLP = 1) are discarded.
    #[param(
        key = "tagged_threshold",
        default = 0.75,
        symbol = "LBO",
        at_most = "threshold_cells",
        source = "Bonaventure, A simulation study of TCP with the GFR service category: 6144 of 8192"
    )]
    pub tagged_cells: Threshold,
    /// Occupancy above which all frames are discarded; at least tagged_threshold.
    #[param(
        key = "drop_threshold",
        default = 0.875,
        symbol = "HBO",
        source = "Bonaventure, A simulation study of TCP with the GFR service category: 7168 of 8192"
    )]
    pub threshold_cells: Threshold,
}

impl PolicyRule for PriorityDropSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }

    fn discards_when_empty(&self) -> bool {
        self.tagged_cells == 0
    }
}

impl BufferPolicy for PriorityDropSpec {
    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        if view.queued > self.threshold_cells {
            Decision::Discard(DiscardReason::AboveThreshold)
        } else if view.clp && (view.queued > self.tagged_cells || self.tagged_cells == 0) {
            Decision::Discard(DiscardReason::Tagged)
        } else {
            Decision::Accept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tagged_frames_are_taken_in_up_to_lbo_and_the_others_up_to_hbo() {
        let mut policy = PriorityDropSpec {
            tagged_cells: 6_144,
            threshold_cells: 7_168,
        };
        let mut decide = |queued, clp| {
            let view = BufferView {
                queued,
                clp,
                capacity: 8_192,
                ..BufferView::default()
            };
            policy.on_enqueue(0, &view)
        };
        assert_eq!(decide(6_144, true), Decision::Accept);
        assert_eq!(
            decide(6_145, true),
            Decision::Discard(DiscardReason::Tagged)
        );
        assert_eq!(decide(7_168, false), Decision::Accept);
        let above = Decision::Discard(DiscardReason::AboveThreshold);
        assert_eq!(decide(7_169, false), above);
        assert_eq!(decide(7_169, true), above);
    }

    #[test]
    fn with_lbo_0_no_tagged_frame_is_taken_in() {
        let mut policy = PriorityDropSpec {
            tagged_cells: 0,
            threshold_cells: 7_168,
        };
        let mut decide = |clp| {
            let view = BufferView {
                clp,
                capacity: 8_192,
                ..BufferView::default()
            };
            policy.on_enqueue(0, &view)
        };
        assert_eq!(decide(true), Decision::Discard(DiscardReason::Tagged));
        assert_eq!(decide(false), Decision::Accept);
    }
}
