//! Decisions of a policy, and reasons of discards.

use serde::Serialize;

/// The fate of a frame that comes to a buffer, or of a packet that is about to leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is taken in, or sent.
    Accept,
    /// The same, with its ECN field set to CE; only of a packet whose transport knows ECN.
    Mark,
    /// It is discarded.
    Discard(DiscardReason),
}

impl Decision {
    /// Why it is discarded, if it is.
    pub fn refusal(self) -> Option<DiscardReason> {
        match self {
            Decision::Discard(reason) => Some(reason),
            Decision::Accept | Decision::Mark => None,
        }
    }
}

impl From<Option<DiscardReason>> for Decision {
    fn from(reason: Option<DiscardReason>) -> Self {
        reason.map_or(Decision::Accept, Decision::Discard)
    }
}

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
    /// The packet, about to be sent, had waited for longer than its policy allows for the time being.
    Delayed = 7,
    /// The buffer was full, and a packet that came gets the place of this one, which had waited longest.
    PushedOut = 8,
    /// The packet had come before its tokens, at a port that polices them.
    Policed = 9,
    /// A newer acknowledgement of the same connection came, and got the place of this one.
    Filtered = 10,
}

impl DiscardReason {
    /// All reasons, by their number.
    pub const ALL: [DiscardReason; 11] = [
        DiscardReason::Overflow,
        DiscardReason::RestOfFrame,
        DiscardReason::AboveThreshold,
        DiscardReason::OverFairShare,
        DiscardReason::VcThreshold,
        DiscardReason::Drawn,
        DiscardReason::Tagged,
        DiscardReason::Delayed,
        DiscardReason::PushedOut,
        DiscardReason::Policed,
        DiscardReason::Filtered,
    ];
}
