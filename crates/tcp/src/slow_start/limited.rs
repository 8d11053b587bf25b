//! Limited slow start: large windows grow by less.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, SegmentCount},
};

/// A segment for each ACK up to max_ssthresh, from there on half of that each round trip.
///
/// Source: RFC 3742 section 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct LimitedSlowStartSpec {
    /// Segments up to which limited slow start is slow start; above, cwnd grows by half of them each
    /// round trip.
    #[param(
        default = 100,
        source = "RFC 3742 section 2: the value of its experiments"
    )]
    pub max_ssthresh: SegmentCount,
    /// Slow start continues at cwnd = ssthresh, and with the ACK that ends a recovery.
    #[param(
        default = false,
        source = "ICCCN'97 section 2.1: congestion avoidance from ssthresh on"
    )]
    pub at_ssthresh: Flag,
}

impl LimitedSlowStartSpec {
    /// Returns the octets that an ACK adds to `cwnd` octets: K = int(cwnd / (0.5 max_ssthresh)),
    /// and int(MSS / K).
    #[cold]
    #[inline(never)]
    pub(super) fn growth(&self, mss: f64, cwnd: f64) -> f64 {
        let max_ssthresh = f64::from(self.max_ssthresh);
        if cwnd <= max_ssthresh * mss {
            return mss;
        }
        let k = (cwnd / (0.5 * max_ssthresh * mss)).floor();
        (mss / k).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limited_slow_start_adds_half_of_max_ssthresh_each_round_trip() {
        let grown = |max_ssthresh, segments: f64| {
            let at_ssthresh = false;
            let limited = LimitedSlowStartSpec {
                max_ssthresh,
                at_ssthresh,
            };
            limited.growth(1_000.0, segments * 1_000.0)
        };
        assert_eq!(grown(100, 100.0), 1_000.0);
        // K = int(101 / 50) = 2: half a segment; K = int(350 / 50) = 7: 142 octets.
        assert_eq!(grown(100, 101.0), 500.0);
        assert_eq!(grown(100, 350.0), 142.0);
        assert_eq!(grown(20, 30.0), 333.0); // K = int(30 / 10) = 3
    }
}
