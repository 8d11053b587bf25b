//! One queue, a threshold for tagged frames and one for all.

use super::{BufferPolicy, BufferView};
use skycell_records::DiscardReason;

/// Takes in tagged frames (CLP = 1) while X <= LBO, and the others while X <= HBO. With LBO = 0 it
/// takes in no tagged frame, also where the queue is empty.
///
/// Source: "Buffer Management for TCP over the ATM GFR Service", section 7 (priority drop: a threshold
/// for each level, EPD for all above the last); O. Bonaventure, "A simulation study of TCP with the
/// GFR service category", section 3 (FIFO switch with LBO and HBO) and section 5 (LBO set to 0: all
/// tagged frames are discarded). The CLP bit has two levels.
#[derive(Clone, Debug)]
pub struct PriorityDrop {
    /// LBO, cells.
    tagged: u32,
    /// HBO, cells.
    threshold: u32,
}

impl PriorityDrop {
    /// With LBO and HBO in cells.
    pub fn new(tagged: u32, threshold: u32) -> Self {
        PriorityDrop { tagged, threshold }
    }
}

impl BufferPolicy for PriorityDrop {
    fn on_frame(&mut self, _vc: u32, view: &BufferView) -> Option<DiscardReason> {
        if view.queued > self.threshold {
            Some(DiscardReason::AboveThreshold)
        } else if view.is_tagged && (view.queued > self.tagged || self.tagged == 0) {
            Some(DiscardReason::Tagged)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tagged_frames_are_taken_in_up_to_lbo_and_the_others_up_to_hbo() {
        let mut policy = PriorityDrop::new(6_144, 7_168);
        let mut decide = |queued, is_tagged| {
            let view = BufferView {
                queued,
                is_tagged,
                capacity: 8_192,
                ..BufferView::default()
            };
            policy.on_frame(0, &view)
        };
        assert_eq!(decide(6_144, true), None);
        assert_eq!(decide(6_145, true), Some(DiscardReason::Tagged));
        assert_eq!(decide(7_168, false), None);
        let above = Some(DiscardReason::AboveThreshold);
        assert_eq!(decide(7_169, false), above);
        assert_eq!(decide(7_169, true), above);
    }

    #[test]
    fn with_lbo_0_no_tagged_frame_is_taken_in() {
        let mut policy = PriorityDrop::new(0, 7_168);
        let mut decide = |is_tagged| {
            let view = BufferView {
                is_tagged,
                capacity: 8_192,
                ..BufferView::default()
            };
            policy.on_frame(0, &view)
        };
        assert_eq!(decide(true), Some(DiscardReason::Tagged));
        assert_eq!(decide(false), None);
    }
}
