//! A token bucket that delays what a port sends.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{BitRate, BurstOctets},
};
use skycell_units::SimTime;

/// A token bucket before the link of a port of packets, which delays them.
///
/// Tokens are octets of IP packets. A packet goes once the bucket holds as many as it has, or is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketSpec {
    /// Rate of tokens, which are octets of IP packets without what the link adds.
    #[param(key = "rate")]
    pub rate_millibps: BitRate,
    /// Tokens that the bucket holds at most: what goes at once after a pause.
    #[param(key = "burst")]
    pub burst_octets: BurstOctets,
}

/// The bucket at work. It is full as the run begins.
///
/// Tokens are counted by the time in which they come, in picoseconds, so that nothing but the time of a packet is rounded.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate_millibps: u64,
    /// Time in which the empty bucket fills.
    full: u64,
    /// When it would be full if nothing were sent.
    full_at: SimTime,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(spec: &TokenBucketSpec) -> Self {
        let mut bucket = TokenBucket {
            rate_millibps: spec.rate_millibps,
            full: 0,
            full_at: SimTime::ZERO,
        };
        bucket.full = bucket.time(spec.burst_octets);
        bucket
    }

    /// From when on a packet of `octets` octets may go, not before `now`.
    pub fn may_send_from(&self, now: SimTime, octets: u32) -> SimTime {
        // It holds full - (full_at - t) at t, and the packet needs its own time of it.
        let missing = self.full - self.time(octets).min(self.full);
        now.max(SimTime(self.full_at.0.saturating_sub(missing)))
    }

    /// A packet of `octets` octets goes at `time`; the bucket is in debt if it is longer than that.
    pub fn on_sending(&mut self, time: SimTime, octets: u32) {
        self.full_at = self.full_at.max(time) + SimTime(self.time(octets));
    }

    /// Time in which so many tokens come, rounded up.
    fn time(&self, octets: u32) -> u64 {
        let bits = u128::from(octets) * 8 * 1_000_000_000_000_000;
        u64::try_from(bits.div_ceil(u128::from(self.rate_millibps))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 8 Mbit/s, an octet a microsecond.
    fn bucket(burst_octets: u32) -> TokenBucket {
        TokenBucket::new(&TokenBucketSpec {
            rate_millibps: 8_000_000_000,
            burst_octets,
        })
    }

    const US: u64 = 1_000_000;

    #[test]
    fn a_burst_goes_at_once_and_then_packets_at_the_rate() {
        let mut bucket = bucket(3_000);
        let mut send = |now: u64, octets| {
            let at = bucket.may_send_from(SimTime(now * US), octets);
            bucket.on_sending(at, octets);
            at.0 / US
        };
        assert_eq!(
            [send(0, 1_500), send(0, 1_500), send(0, 1_500)],
            [0, 0, 1_500]
        );
        // Empty at 1500; 1000 octets by 2500, of which 500 stay.
        assert_eq!(send(2_500, 500), 2_500);
        assert_eq!(send(2_500, 1_500), 3_500);
        // Longer than the bucket: goes when that is full, and owes the rest.
        assert_eq!(send(3_500, 4_000), 6_500);
        assert_eq!(send(6_500, 1), 7_501);
    }

    proptest! {
        #[test]
        fn no_interval_has_more_than_the_rate_and_a_burst(
            packets in prop::collection::vec((0u64..4_000, 40u32..1_501), 1..60),
        ) {
            let mut bucket = bucket(4_000);
            let (mut now, mut sent) = (0, Vec::new());
            for (gap, octets) in packets {
                now += gap * US;
                let at = bucket.may_send_from(SimTime(now), octets);
                bucket.on_sending(at, octets);
                now = at.0;
                sent.push((at.0, u64::from(octets)));
            }
            for first in 0..sent.len() {
                let mut octets = 0;
                for (at, own) in &sent[first..] {
                    octets += own;
                    prop_assert!(octets <= 4_000 + (at - sent[first].0) / US);
                }
            }
        }
    }
}
