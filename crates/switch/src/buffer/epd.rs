//! Early Packet Discard.

use super::{BufferPolicy, BufferView, Draws, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, Threshold},
};

/// Early Packet Discard: discards frames that begin while the queue is above a threshold.
///
/// X > R. Source: NASA/CR-1999-209158, ICCCN'97 section 5.1; 98-0876R1 section 4.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "static",
    discards = "deterministic",
    fairness = "none",
    source = "Romanow, Floyd: Dynamics of TCP Traffic over ATM Networks, 1995",
    label = "EPD"
)]
pub struct EpdSpec {
    /// Occupancy above which EPD discards frames that begin.
    #[param(
        key = "drop_threshold",
        default = 0.9,
        symbol = "R",
        source = "Ka Band Utilization Conference 1997, section 3 (R = 0.9 for Selective Drop)"
    )]
    pub threshold_cells: Threshold,
    /// Once a cell of a frame has been lost to a full buffer, the rest of the frame is discarded.
    #[param(
        default = true,
        source = "choice: for EPD, as Romanow and Floyd do; ICCCN'97 section 5 does not say whether the \
                  rest of a packet that has begun is lost"
    )]
    pub partial_discard: Flag,
}

impl PolicyRule for EpdSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }

    fn has_partial_discard(&self) -> bool {
        self.partial_discard
    }
}

impl BufferPolicy for EpdSpec {
    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        (view.queued > self.threshold_cells)
            .then_some(DiscardReason::AboveThreshold)
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_discarded_above_the_threshold_and_not_at_it() {
        let mut epd = EpdSpec {
            threshold_cells: 90,
            partial_discard: true,
        };
        let view = |queued| BufferView {
            queued,
            vc_queued: 0,
            active_vcs: 1,
            capacity: 100,
            ..BufferView::default()
        };
        assert_eq!(epd.on_enqueue(0, &view(90)), Decision::Accept);
        assert_eq!(
            epd.on_enqueue(0, &view(91)),
            Decision::Discard(DiscardReason::AboveThreshold)
        );
    }
}
