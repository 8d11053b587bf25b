//! One frame discarded at each crossing of a VC's own threshold.

use super::{BufferPolicy, BufferView};
use skycell_records::DiscardReason;

/// Discards one frame of a VC each time the VC's occupancy crosses its threshold from below, and
/// takes in everything else.
///
/// The occupancy is looked at when a frame begins: at or above r_i counts as crossed, and the next
/// crossing counts once a frame has begun with the occupancy at least `rearm_below` cells under r_i.
///
/// Source: NASA/CR-1999-209158, "Buffer Management for TCP over the ATM GFR Service", section 3.
/// It does not say when the occupancy is looked at, nor what re-arms the drop.
#[derive(Clone, Debug)]
pub struct SingleDrop {
    /// r_i in cells by VC id.
    thresholds: Vec<Option<u32>>,
    /// Cells under r_i at which the next crossing counts again.
    rearm_below: u32,
    /// By VC id: whether the occupancy has been below r_i since the last discard.
    armed: Vec<bool>,
}

impl SingleDrop {
    /// Thresholds by VC id and the hysteresis, in cells.
    pub fn new(thresholds: Vec<Option<u32>>, rearm_below: u32) -> Self {
        SingleDrop {
            armed: vec![true; thresholds.len()],
            thresholds,
            rearm_below,
        }
    }
}

impl BufferPolicy for SingleDrop {
    fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason> {
        let vc = vc as usize;
        let threshold = self.thresholds.get(vc).copied().flatten()?;
        if view.vc_queued >= threshold {
            return std::mem::take(&mut self.armed[vc]).then_some(DiscardReason::VcThreshold);
        }
        if threshold - view.vc_queued >= self.rearm_below {
            self.armed[vc] = true;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            .map(|&o| policy.on_frame(1, &view(o)).is_some())
            .collect()
    }

    #[test]
    fn one_frame_is_discarded_at_each_crossing_from_below() {
        let mut policy = SingleDrop::new(vec![None, Some(100)], 0);
        assert_eq!(
            discards(&mut policy, &[99, 100, 150, 101, 99, 100]),
            [false, true, false, false, false, true]
        );
    }

    #[test]
    fn with_hysteresis_a_small_dip_is_no_crossing() {
        let mut policy = SingleDrop::new(vec![None, Some(100)], 10);
        assert_eq!(
            discards(&mut policy, &[100, 91, 100, 90, 100]),
            [true, false, false, false, true]
        );
    }

    #[test]
    fn a_vc_without_a_threshold_loses_nothing() {
        let mut policy = SingleDrop::new(vec![Some(1), None], 0);
        assert_eq!(discards(&mut policy, &[1, 5_000]), [false, false]);
    }

    #[test]
    fn a_hysteresis_beyond_the_threshold_never_lets_the_next_crossing_count() {
        let mut policy = SingleDrop::new(vec![None, Some(100)], u32::MAX);
        assert_eq!(
            discards(&mut policy, &[100, 50, 0, 100]),
            [true, false, false, false]
        );
    }
}
