//! Selective Drop.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, Threshold, UpToEqualShare},
};

/// Above a threshold, discards the frames of VCs that hold more than their fair share.
///
/// X > R and Y_i * N_a / X > Z. Source: NASA/CR-1999-209158, ICCCN'97 section 5.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "MA-ST",
    threshold = "dynamic",
    discards = "deterministic",
    fairness = "equal allocation",
    source = "Goyal, Jain et al.: ICCCN'97",
    label = "Selective Drop"
)]
pub struct SelectiveDropSpec {
    /// Occupancy above which Selective Drop may discard frames.
    #[param(
        key = "drop_threshold",
        default = 0.9,
        symbol = "R",
        source = "Ka Band Utilization Conference 1997, section 3"
    )]
    pub threshold_cells: Threshold,
    /// Fraction of its fair share of the buffer above which a VC's frames are discarded.
    #[param(
        default = 0.8,
        symbol = "Z",
        source = "Ka Band Utilization Conference 1997, section 3; ATM Forum 98-0876R1"
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

impl PolicyRule for SelectiveDropSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }

    fn has_partial_discard(&self) -> bool {
        self.partial_discard
    }
}

impl BufferPolicy for SelectiveDropSpec {
    const NEEDS: Needs = Needs::VCS;

    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        let load = f64::from(view.vc_queued) * f64::from(view.active_vcs);
        let is_over_share = load > self.fairness_threshold * f64::from(view.queued);
        (view.queued > self.threshold_cells && is_over_share)
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

    fn selective_drop(threshold_cells: u32, fairness_threshold: f64) -> SelectiveDropSpec {
        SelectiveDropSpec {
            threshold_cells,
            fairness_threshold,
            partial_discard: true,
        }
    }

    #[test]
    fn only_a_vc_over_its_share_is_discarded_and_only_above_the_threshold() {
        let mut sd = selective_drop(80, 0.8);
        let view = |queued, vc_queued| BufferView {
            queued,
            vc_queued,
            active_vcs: 5,
            capacity: 100,
            ..BufferView::default()
        };
        // X = 90, N_a = 5: the fair share is 18 cells, Z times that 14.4.
        assert_eq!(sd.on_enqueue(0, &view(90, 14)), Decision::Accept);
        assert_eq!(
            sd.on_enqueue(0, &view(90, 15)),
            Decision::Discard(DiscardReason::OverFairShare)
        );
        assert_eq!(sd.on_enqueue(0, &view(80, 80)), Decision::Accept);
    }

    #[test]
    fn a_vc_at_z_times_its_share_is_not_over_it() {
        // X = 100, N_a = 2 and Z = 1/2: 25 * 2 / 100 = Z.
        let mut sd = selective_drop(80, 0.5);
        let view = |vc_queued| BufferView {
            queued: 100,
            vc_queued,
            active_vcs: 2,
            ..BufferView::default()
        };
        assert_eq!(sd.on_enqueue(0, &view(25)), Decision::Accept);
        let over = Decision::Discard(DiscardReason::OverFairShare);
        assert_eq!(sd.on_enqueue(0, &view(26)), over);
    }
}
