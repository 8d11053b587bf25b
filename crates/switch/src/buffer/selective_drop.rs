//! Selective Drop.

use super::{BufferPolicy, BufferView};
use skycell_records::DiscardReason;

/// Discards the frames of VCs above their fair share of the buffer: X > R and Y_i * N_a / X > Z.
///
/// Source: NASA/CR-1999-209158, ICCCN'97 section 5.2.
#[derive(Clone, Debug)]
pub struct SelectiveDrop {
    /// R, cells.
    threshold: u32,
    /// Z, above 0, at most 1.
    fairness_threshold: f64,
}

impl SelectiveDrop {
    /// Selective Drop with R = `threshold` cells and Z = `fairness_threshold`.
    pub fn new(threshold: u32, fairness_threshold: f64) -> Self {
        SelectiveDrop {
            threshold,
            fairness_threshold,
        }
    }

    /// R, cells: up to it nothing is discarded.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }
}

impl BufferPolicy for SelectiveDrop {
    fn on_frame(&mut self, _vc: u32, view: &BufferView) -> Option<DiscardReason> {
        let load = f64::from(view.vc_queued) * f64::from(view.active_vcs);
        let is_over_share = load > self.fairness_threshold * f64::from(view.queued);
        (view.queued > self.threshold && is_over_share).then_some(DiscardReason::OverFairShare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_vc_over_its_share_is_discarded_and_only_above_the_threshold() {
        let mut sd = SelectiveDrop::new(80, 0.8);
        let view = |queued, vc_queued| BufferView {
            queued,
            vc_queued,
            active_vcs: 5,
            capacity: 100,
            ..BufferView::default()
        };
        // X = 90, N_a = 5: the fair share is 18 cells, Z times that 14.4.
        assert_eq!(sd.on_frame(0, &view(90, 14)), None);
        assert_eq!(
            sd.on_frame(0, &view(90, 15)),
            Some(DiscardReason::OverFairShare)
        );
        assert_eq!(sd.on_frame(0, &view(80, 80)), None);
    }

    #[test]
    fn a_vc_at_z_times_its_share_is_not_over_it() {
        // X = 100, N_a = 2 and Z = 1/2: 25 * 2 / 100 = Z.
        let mut sd = SelectiveDrop::new(80, 0.5);
        let view = |vc_queued| BufferView {
            queued: 100,
            vc_queued,
            active_vcs: 2,
            ..BufferView::default()
        };
        assert_eq!(sd.on_frame(0, &view(25)), None);
        let over = Some(DiscardReason::OverFairShare);
        assert_eq!(sd.on_frame(0, &view(26)), over);
    }
}
