//! Slow start as the studies have it: a segment for each ACK.

use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::Flag};

/// A segment for each ACK of new data.
///
/// Source: ICCCN'97 section 2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct StandardSlowStartSpec {
    /// Slow start continues at cwnd = ssthresh, and with the ACK that ends a recovery.
    #[param(
        default = false,
        source = "ICCCN'97 section 2.1: congestion avoidance from ssthresh on"
    )]
    pub at_ssthresh: Flag,
}
