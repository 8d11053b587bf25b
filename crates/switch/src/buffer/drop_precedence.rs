//! A threshold for each level of drop precedence.

use super::{BufferPolicy, BufferView, Draws, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Threshold, VcLevels},
};

/// Discards frames above a threshold that is the lower, the higher their drop precedence.
///
/// With thresholds R_1 <= ... <= R_n a frame of precedence p is discarded while X > R_(n + 1 - p). Its
/// precedence is that of its VC; a tagged frame (CLP = 1) has the highest, n.
///
/// Source: NASA/CR-1999-209158, "Buffer Management for TCP over the ATM GFR Service", section 7
/// (priority drop: the lowest level from the first threshold, the next from the next, until EPD on all;
/// levels are CLP or the TOS octet). Chosen by us: that levels are numbered as RFC 2597 numbers drop
/// precedences, from 1 for the frames that are kept longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-MT",
    threshold = "static",
    discards = "deterministic",
    sees_tags = true,
    source = "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999",
    chosen = "levels numbered as in RFC 2597, given for each VC",
    label = "drop precedence"
)]
pub struct DropPrecedenceSpec {
    /// Occupancies from the least to the greatest, one for each level: above the first, frames of the
    /// highest precedence are discarded, above the last every frame.
    #[param(key = "thresholds", ascending, symbol = "R_1 to R_n")]
    pub thresholds_cells: Vec<Threshold>,
    /// Drop precedence of each VC, from 1 for frames that are kept longest; 1 for a VC that is not named;
    /// tagged frames have the highest.
    #[param(
        empty,
        source = "RFC 2597 section 2: the lowest, as nobody has marked the VC"
    )]
    pub precedence: VcLevels,
}

impl DropPrecedenceSpec {
    /// The threshold of a level; of one beyond the last that of the last.
    fn threshold(&self, precedence: usize) -> u32 {
        let last = self.thresholds_cells.len();
        self.thresholds_cells[last - precedence.min(last)]
    }
}

impl PolicyRule for DropPrecedenceSpec {
    type Policy = Self;

    fn policy(&self, _draws: &Draws) -> Self {
        self.clone()
    }
}

impl BufferPolicy for DropPrecedenceSpec {
    fn on_enqueue(&mut self, vc: u32, view: &BufferView) -> Decision {
        let own = self.precedence.get(vc as usize).copied().unwrap_or(1);
        if view.queued > self.threshold(own as usize) {
            Decision::Discard(DiscardReason::AboveThreshold)
        } else if view.clp && view.queued > self.thresholds_cells[0] {
            Decision::Discard(DiscardReason::Tagged)
        } else {
            Decision::Accept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOVE: Decision = Decision::Discard(DiscardReason::AboveThreshold);

    fn decide(vc: u32, queued: u32, clp: bool) -> Decision {
        let mut policy = DropPrecedenceSpec {
            thresholds_cells: vec![40, 60, 90],
            precedence: vec![1, 2, 3, 9],
        };
        let view = BufferView {
            queued,
            clp,
            capacity: 100,
            ..BufferView::default()
        };
        policy.on_enqueue(vc, &view)
    }

    #[test]
    fn each_level_is_discarded_above_its_own_threshold_the_highest_first() {
        for (vc, threshold) in [(0, 90), (1, 60), (2, 40)] {
            assert_eq!(decide(vc, threshold, false), Decision::Accept);
            assert_eq!(decide(vc, threshold + 1, false), ABOVE);
        }
        assert_eq!(decide(3, 41, false), ABOVE, "a level beyond the last");
        assert_eq!(
            decide(4, 90, false),
            Decision::Accept,
            "a VC beyond the list"
        );
    }

    #[test]
    fn a_tagged_frame_has_the_highest_precedence_whatever_its_vc_has() {
        assert_eq!(decide(0, 40, true), Decision::Accept);
        assert_eq!(
            decide(0, 41, true),
            Decision::Discard(DiscardReason::Tagged)
        );
        assert_eq!(decide(1, 61, true), ABOVE);
    }
}
