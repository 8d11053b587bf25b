//! Fair Buffer Allocation.

use super::{BufferPolicy, BufferView};
use skycell_records::DiscardReason;

/// Selective Drop with a share that shrinks as the buffer fills:
/// X > R and Y_i * N_a / X > Z * (K - R) / (X - R).
///
/// Source: NASA/CR-1999-209158, ICCCN'97 section 5.2, after Heinanen and Kilkki.
#[derive(Clone, Debug)]
pub struct FairBufferAllocation {
    /// R, cells.
    threshold: u32,
    /// Z, above 0, at most 1.
    fairness_threshold: f64,
}

impl FairBufferAllocation {
    /// FBA with R = `threshold` cells and Z = `fairness_threshold`.
    pub fn new(threshold: u32, fairness_threshold: f64) -> Self {
        FairBufferAllocation {
            threshold,
            fairness_threshold,
        }
    }

    /// R, cells: up to it nothing is discarded.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }
}

impl BufferPolicy for FairBufferAllocation {
    fn on_frame(&mut self, _vc: u32, view: &BufferView) -> Option<DiscardReason> {
        if view.queued <= self.threshold {
            return None;
        }
        // Multiplied out by X (X - R), so that nothing is divided.
        let above = f64::from(view.queued - self.threshold);
        let load = f64::from(view.vc_queued) * f64::from(view.active_vcs) * above;
        let room = f64::from(view.capacity - self.threshold);
        let allowed = self.fairness_threshold * room * f64::from(view.queued);
        (load > allowed).then_some(DiscardReason::OverFairShare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowed_share_shrinks_as_the_buffer_fills() {
        let mut fba = FairBufferAllocation::new(50, 0.8);
        let view = |queued, vc_queued| BufferView {
            queued,
            vc_queued,
            active_vcs: 5,
            capacity: 100,
            ..BufferView::default()
        };
        // X = 75: 0.8 * 50 / 25 = 1.6 fair shares of 15 cells = 24 cells.
        assert_eq!(fba.on_frame(0, &view(75, 24)), None);
        assert_eq!(
            fba.on_frame(0, &view(75, 25)),
            Some(DiscardReason::OverFairShare)
        );
        // X = 100: 0.8 fair shares of 20 cells = 16 cells.
        assert_eq!(fba.on_frame(0, &view(100, 16)), None);
        assert!(fba.on_frame(0, &view(100, 17)).is_some());
        assert_eq!(fba.on_frame(0, &view(50, 50)), None);
    }
}
