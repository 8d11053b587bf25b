//! Fair Buffer Allocation.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, ThresholdBelowCapacity, UpToEqualShare},
};

/// Like Selective Drop, with a share that shrinks as the buffer fills.
///
/// X > R and Y_i * N_a / X > Z * (K - R) / (X - R).
/// Source: NASA/CR-1999-209158, ICCCN'97 section 5.2, after Heinanen and Kilkki.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-ST",
    threshold = "dynamic",
    discards = "deterministic",
    fairness = "equal allocation",
    source = "Heinanen, Kilkki, as described in Goyal, Jain et al.: ICCCN'97",
    label = "FBA"
)]
pub struct FairBufferAllocationSpec {
    /// Occupancy above which Fair Buffer Allocation may discard frames; below the capacity.
    #[param(
        key = "drop_threshold",
        default = 0.9,
        symbol = "R",
        source = "as for Selective Drop: Ka Band Utilization Conference 1997, section 3"
    )]
    pub threshold_cells: ThresholdBelowCapacity,
    /// Scales the fraction of the fair share above which a VC's frames are discarded.
    #[param(
        default = 0.8,
        symbol = "Z",
        source = "as for Selective Drop: Ka Band Utilization Conference 1997, section 3"
    )]
    pub fairness_threshold: UpToEqualShare,
    /// Once a cell of a frame has been lost to a full buffer, the rest of the frame is discarded.
    #[param(
        default = true,
        source = "choice: for EPD, as Romanow and Floyd do; ICCCN'97 section 5 does not say whether the \
                  rest of a packet that has begun is lost"
    )]
    pub partial_discard: Flag,
}

impl PolicyRule for FairBufferAllocationSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }

    fn has_partial_discard(&self) -> bool {
        self.partial_discard
    }
}

impl BufferPolicy for FairBufferAllocationSpec {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        let threshold = self.threshold_cells;
        if view.queued <= threshold {
            return Decision::Accept;
        }
        // Multiplied out by X (X - R), so that nothing is divided.
        let above = f64::from(view.queued - threshold);
        let load = f64::from(view.vc_queued) * f64::from(view.active_vcs) * above;
        let room = f64::from(view.capacity - threshold);
        let allowed = self.fairness_threshold * room * f64::from(view.queued);
        (load > allowed)
            .then_some(DiscardReason::OverFairShare)
            .into()
    }

    fn looks_at_vcs(&self, queued: u32) -> bool {
        queued > self.threshold_cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fba(threshold_cells: u32, fairness_threshold: f64) -> FairBufferAllocationSpec {
        FairBufferAllocationSpec {
            threshold_cells,
            fairness_threshold,
            partial_discard: true,
        }
    }

    #[test]
    fn the_allowed_share_shrinks_as_the_buffer_fills() {
        let mut policy = fba(50, 0.8);
        let view = |queued, vc_queued| BufferView {
            queued,
            vc_queued,
            active_vcs: 5,
            capacity: 100,
            ..BufferView::default()
        };
        // X = 75: 0.8 * 50 / 25 = 1.6 fair shares of 15 cells = 24 cells.
        assert_eq!(policy.on_enqueue(0, &view(75, 24)), Decision::Accept);
        assert_eq!(
            policy.on_enqueue(0, &view(75, 25)),
            Decision::Discard(DiscardReason::OverFairShare)
        );
        // X = 100: 0.8 fair shares of 20 cells = 16 cells.
        assert_eq!(policy.on_enqueue(0, &view(100, 16)), Decision::Accept);
        assert!(policy.on_enqueue(0, &view(100, 17)) != Decision::Accept);
        assert_eq!(policy.on_enqueue(0, &view(50, 50)), Decision::Accept);
    }
}
