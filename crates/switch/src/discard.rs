//! Why a cell is discarded.

use serde::Serialize;

/// Why a port discarded a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum DiscardReason {
    /// The buffer was full.
    Overflow = 0,
    /// An earlier cell of the frame had found the buffer full.
    RestOfFrame = 1,
    /// The frame began while the queue was above the policy's threshold.
    AboveThreshold = 2,
    /// The frame began while its VC held more than its fair share.
    OverFairShare = 3,
    /// The frame began just after its VC's occupancy had crossed the VC's own threshold.
    VcThreshold = 4,
    /// A draw went against the frame, which its policy discards with some probability.
    Drawn = 5,
    /// The frame was tagged (CLP = 1), and the policy had no room left for such frames.
    Tagged = 6,
}

impl DiscardReason {
    /// All reasons, by their number.
    pub const ALL: [DiscardReason; 7] = [
        DiscardReason::Overflow,
        DiscardReason::RestOfFrame,
        DiscardReason::AboveThreshold,
        DiscardReason::OverFairShare,
        DiscardReason::VcThreshold,
        DiscardReason::Drawn,
        DiscardReason::Tagged,
    ];
}
