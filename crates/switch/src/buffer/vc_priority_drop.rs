//! A threshold for tagged frames, one for all others, and one for each VC above it.

use super::{BufferPolicy, BufferView};
use skycell_records::DiscardReason;

/// Takes in tagged frames (CLP = 1) while X < LBO, the others while X < HBO, and above HBO still those
/// of VCs with X_i < T_i.
///
/// Source: O. Bonaventure, "A simulation study of TCP with the GFR service category", section 3, the
/// buffer of the WFQ-based switch, after R. Guerin and J. Heinanen (ATM96-1598), who set T_i to the
/// VC's MBS.
#[derive(Clone, Debug)]
pub struct VcPriorityDrop {
    /// LBO, cells.
    tagged: u32,
    /// HBO, cells.
    threshold: u32,
    /// T_i by VC id, cells.
    vc_thresholds: Vec<u32>,
}

impl VcPriorityDrop {
    /// With LBO, HBO, and T_i by VC id; a VC beyond the list has 0.
    pub fn new(tagged: u32, threshold: u32, vc_thresholds: Vec<u32>) -> Self {
        VcPriorityDrop {
            tagged,
            threshold,
            vc_thresholds,
        }
    }

    /// HBO, cells.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }
}

impl BufferPolicy for VcPriorityDrop {
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason> {
        if view.is_tagged && view.queued >= self.tagged {
            return Some(DiscardReason::Tagged);
        }
        let own = self.vc_thresholds.get(vc as usize).copied().unwrap_or(0);
        if view.queued < self.threshold || view.vc_queued < own {
            None
        } else if own > 0 {
            Some(DiscardReason::VcThreshold)
        } else {
            Some(DiscardReason::AboveThreshold)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(vc: u32, queued: u32, vc_queued: u32, is_tagged: bool) -> Option<DiscardReason> {
        let view = BufferView {
            queued,
            vc_queued,
            is_tagged,
            capacity: 100,
            ..BufferView::default()
        };
        VcPriorityDrop::new(40, 80, vec![20, 0]).on_frame(vc, &view)
    }

    #[test]
    fn tagged_frames_are_taken_in_below_lbo() {
        assert_eq!(decide(0, 39, 0, true), None);
        assert_eq!(decide(0, 40, 0, true), Some(DiscardReason::Tagged));
    }

    #[test]
    fn above_hbo_frames_are_taken_in_of_vcs_below_their_threshold() {
        assert_eq!(decide(0, 79, 79, false), None);
        assert_eq!(decide(0, 80, 19, false), None);
        let own = Some(DiscardReason::VcThreshold);
        assert_eq!(decide(0, 80, 20, false), own);
        let total = Some(DiscardReason::AboveThreshold);
        assert_eq!(decide(1, 80, 0, false), total);
        assert_eq!(decide(2, 80, 0, false), total);
    }
}
