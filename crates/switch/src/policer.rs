//! A policer of packets: what comes to a port before its tokens is discarded or marked.

use crate::{Decision, DiscardReason, TokenBucket, TokenBucketSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{BitRate, BitRateOrNone, BurstOctets},
};
use skycell_units::{Ecn, SimTime};

/// A token bucket to which the packets that come to a port have to conform.
///
/// Tokens are octets of IP packets. A packet conforms if the bucket holds as many as it has, and only then does it take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PacketPolicerSpec {
    /// Rate of tokens, which are octets of IP packets without what the link adds.
    #[param(key = "rate")]
    pub rate_millibps: BitRate,
    /// Tokens that the bucket holds at most: what may come at once after a pause.
    #[param(key = "burst")]
    pub burst_octets: BurstOctets,
    /// Most that may come within a burst: a packet no earlier than the one before would have come at this rate.
    #[param(key = "peak", optional, source = "as fast as packets can come")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_millibps: BitRateOrNone,
    /// Action on a packet that does not conform: it is discarded, or marked with CE if its
    /// transport uses ECN.
    #[param(word, default = "discard", source = "choice: as most policers do")]
    pub excess: ExcessAction,
}

/// The action on a packet that does not conform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum ExcessAction {
    /// It is discarded.
    Discard,
    /// It goes on with CE if its transport knows ECN (RFC 3168), and is discarded if not.
    Mark,
}

/// The policer at work.
#[derive(Clone, Copy, Debug)]
pub struct PacketPolicer {
    bucket: TokenBucket,
    excess: ExcessAction,
}

impl PacketPolicer {
    /// With a full bucket.
    pub fn new(spec: &PacketPolicerSpec) -> Self {
        PacketPolicer {
            bucket: TokenBucket::new(&spec.bucket()),
            excess: spec.excess,
        }
    }

    /// Returns the decision on a packet of `octets` octets with `ecn` that comes at `now`.
    pub fn on_packet(&mut self, now: SimTime, octets: u32, ecn: Ecn) -> Decision {
        if self.bucket.conforms(now, octets) {
            return Decision::Accept;
        }
        match self.excess {
            ExcessAction::Mark if ecn.is_capable() => Decision::Mark,
            ExcessAction::Mark | ExcessAction::Discard => Decision::Discard(DiscardReason::Policed),
        }
    }
}

impl PacketPolicerSpec {
    /// Its bucket.
    pub fn bucket(&self) -> TokenBucketSpec {
        TokenBucketSpec {
            rate_millibps: self.rate_millibps,
            burst_octets: self.burst_octets,
            peak_millibps: self.peak_millibps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_is_discarded_or_marked_where_the_transport_knows_ecn() {
        let decisions = |excess| {
            // 1500 octets at 12 Mbit/s, a millisecond: the bucket has one packet.
            let mut policer = PacketPolicer::new(&PacketPolicerSpec {
                rate_millibps: 12_000_000_000,
                burst_octets: 1_500,
                peak_millibps: None,
                excess,
            });
            let mut comes = |us: u64, ecn| policer.on_packet(SimTime(us * 1_000_000), 1_500, ecn);
            [
                comes(0, Ecn::NotEct),
                comes(1, Ecn::NotEct),
                comes(2, Ecn::Ect0),
                comes(1_000, Ecn::Ect0),
                comes(1_001, Ecn::Ce),
            ]
        };
        let policed = Decision::Discard(DiscardReason::Policed);
        let (accept, mark) = (Decision::Accept, Decision::Mark);
        let discarded = [accept, policed, policed, accept, policed];
        assert_eq!(decisions(ExcessAction::Discard), discarded);
        let marked = [accept, policed, mark, accept, mark];
        assert_eq!(decisions(ExcessAction::Mark), marked);
    }
}
