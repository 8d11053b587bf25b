//! A token bucket: how much of what comes goes on at once.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{BitRate, BitRateOrNone, BurstOctets},
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
    /// Most that the bucket lets go within a burst: a packet no earlier than the one before would have gone at this rate.
    #[param(key = "peak", optional, source = "as fast as the line")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_millibps: BitRateOrNone,
}

/// The bucket at work. It is full as the run begins.
///
/// In any time T it lets go no more than rate x T and its burst, and with a peak rate no more than peak x T and a packet:
/// the `TOKEN_BUCKET_TSPEC` of RFC 2215, section 3.6.
///
/// Tokens are counted by the time in which they come, in picoseconds, so that nothing but the time of a packet is rounded.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate_millibps: u64,
    peak_millibps: Option<u64>,
    /// Time in which the empty bucket fills.
    full: u64,
    /// When it would be full if nothing were sent.
    full_at: SimTime,
    /// When the packet before has gone at the peak rate.
    spaced_at: SimTime,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(spec: &TokenBucketSpec) -> Self {
        TokenBucket {
            rate_millibps: spec.rate_millibps,
            peak_millibps: spec.peak_millibps,
            full: time(spec.burst_octets, spec.rate_millibps),
            full_at: SimTime::ZERO,
            spaced_at: SimTime::ZERO,
        }
    }

    /// Returns whether a packet of `octets` octets may be sent at `now`; if so, it is sent then.
    pub fn conforms(&mut self, now: SimTime, octets: u32) -> bool {
        let may_go = self.may_send_from(now, octets) <= now;
        if may_go {
            self.on_sending(now, octets);
        }
        may_go
    }
    /// From when on a packet of `octets` octets may go, not before `now`.
    pub fn may_send_from(&self, now: SimTime, octets: u32) -> SimTime {
        // It holds full - (full_at - t) at t, and the packet needs its own time of it.
        let missing = self.full - time(octets, self.rate_millibps).min(self.full);
        now.max(self.spaced_at)
            .max(SimTime(self.full_at.0.saturating_sub(missing)))
    }

    /// A packet of `octets` octets goes at `at`; the bucket is in debt if it is longer than that.
    pub fn on_sending(&mut self, at: SimTime, octets: u32) {
        self.full_at = self.full_at.max(at) + SimTime(time(octets, self.rate_millibps));
        if let Some(peak) = self.peak_millibps {
            self.spaced_at = at + SimTime(time(octets, peak));
        }
    }
}

/// Time in which so many tokens come at a rate, rounded up.
fn time(octets: u32, rate_millibps: u64) -> u64 {
    let bits = u128::from(octets) * 8 * 1_000_000_000_000_000;
    u64::try_from(bits.div_ceil(u128::from(rate_millibps))).unwrap_or(u64::MAX)
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
            peak_millibps: None,
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

    #[test]
    fn a_burst_goes_at_the_peak_rate_at_most() {
        // 2 octets a microsecond: 1500 octets in 750 us; of 3500 in the bucket, 750 have come by then, and 1500 by 1500 us.
        let mut bucket = TokenBucket {
            peak_millibps: Some(16_000_000_000),
            ..bucket(3_500)
        };
        let mut send = |now: u64| {
            let at = bucket.may_send_from(SimTime(now * US), 1_500);
            bucket.on_sending(at, 1_500);
            at.0 / US
        };
        // The third has 3500 - 3000 + 1500 at 1500 us, the fourth lacks 1000 - 750 at 2250 us, then it is a packet in 1500 us.
        assert_eq!(
            [send(0), send(0), send(0), send(0), send(0)],
            [0, 750, 1_500, 2_500, 4_000]
        );
        assert_eq!(send(9_000), 9_000);
    }

    #[test]
    fn what_comes_too_early_does_not_conform_and_takes_no_tokens() {
        let mut bucket = bucket(3_000);
        let mut comes = |now: u64| bucket.conforms(SimTime(now * US), 1_500);
        // Empty at 0; full packets' tokens are there at 1500 and, as none came in vain, at 3000 us.
        let came = [0, 0, 0, 1_499, 1_500, 2_999, 3_000].map(&mut comes);
        assert_eq!(came, [true, true, false, false, true, false, true]);
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
