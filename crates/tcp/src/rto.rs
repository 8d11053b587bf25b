//! Round-trip time and retransmission timeout, in ticks of the host clock.
//!
//! Jacobson's estimator in the scaled integers of 4.4BSD (tcp_xmit_timer, tcp_input.c):
//! srtt in eighths, rttvar in quarters of a tick, RTO = srtt + 4 rttvar, in whole ticks. Karn's rule
//! (RFC 6298 section 3 and 5.5) keeps the backed-off RTO until a fresh sample.

use crate::spec::{RtoMinBounds, TcpSpec};

/// Timeouts in a row that leave the estimate standing (4.4BSD tcp_timers: TCP_MAXRXTSHIFT / 4).
const TIMEOUTS_SURVIVED: u32 = 3;

/// The estimator of one connection. Its limits are lent by the caller: thousands of senders share them.
#[derive(Clone, Debug)]
pub(crate) struct RtoEstimator {
    /// Smoothed round-trip time, eighths of a tick; 0 where the next sample is a first one.
    srtt_eighths: i64,
    /// Mean deviation, quarters of a tick, so that it is the 4 rttvar of the formula.
    rttvar_quarters: i64,
    /// RTO without backoff, ticks.
    base: u32,
    /// Timeouts since the last sample.
    timeouts: u32,
}

impl RtoEstimator {
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        RtoEstimator {
            srtt_eighths: 0,
            rttvar_quarters: 0,
            base: tcp.rto_initial_ticks,
            timeouts: 0,
        }
    }

    /// Smoothed round-trip time, eighths of a tick; 0 before the first sample.
    pub(crate) fn srtt_eighths(&self) -> i64 {
        self.srtt_eighths
    }

    /// A segment was acknowledged `ticks` ticks after it was sent, and had been sent once.
    pub(crate) fn on_sample(&mut self, tcp: &TcpSpec, ticks: u64) {
        // 4.4BSD counts from 1: a segment acknowledged within its tick measures 1.
        let measured = ticks as i64 + 1;
        if self.srtt_eighths == 0 {
            self.srtt_eighths = measured << 3;
            self.rttvar_quarters = measured << 1;
        } else {
            let delta = measured - 1 - (self.srtt_eighths >> 3);
            // Neither comes down to 0, as an eighth or a quarter of it goes off at most: 4.4BSD's floor of 1
            // is never reached.
            self.srtt_eighths += delta;
            let deviation = delta.abs() - (self.rttvar_quarters >> 2);
            self.rttvar_quarters += deviation;
        }
        let least = match tcp.rto_min_bounds {
            RtoMinBounds::Rto => 0,
            RtoMinBounds::Deviation => i64::from(tcp.rto_min_ticks),
        };
        let rto = (self.srtt_eighths >> 3) + self.rttvar_quarters.max(least);
        let limits = (i64::from(tcp.rto_min_ticks), i64::from(tcp.rto_max_ticks));
        self.base = rto.clamp(limits.0, limits.1) as u32;
        self.timeouts = 0;
    }

    /// The timer ran out: the next one runs twice as long. So many in a row leave nothing of the
    /// estimate but RTO, which lasts until a sample comes, a first one then (4.4BSD tcp_timers; RFC 6298
    /// section 5).
    pub(crate) fn back_off(&mut self) {
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts > TIMEOUTS_SURVIVED {
            self.srtt_eighths = 0;
        }
    }

    /// RTO in ticks, backoff included.
    pub(crate) fn ticks(&self, tcp: &TcpSpec) -> u64 {
        let doubled = 1u64.checked_shl(self.timeouts).unwrap_or(u64::MAX);
        let backed_off = u64::from(self.base) * doubled.min(tcp.rto_max_backoff.into());
        backed_off.clamp(tcp.rto_min_ticks.into(), tcp.rto_max_ticks.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::tcp;

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut rto = RtoEstimator::new(&tcp());
        assert_eq!(rto.ticks(&tcp()), 30); // rto_initial_ticks
        rto.on_sample(&tcp(), 5); // counted as 6: srtt 6, 4 rttvar = 12
        assert_eq!(rto.ticks(&tcp()), 18);
    }

    #[test]
    fn a_steady_round_trip_brings_rto_down_to_srtt_and_the_least_deviation() {
        let mut rto = RtoEstimator::new(&tcp());
        (0..200).for_each(|_| rto.on_sample(&tcp(), 5));
        // srtt settles at 5 7/8 and then 5, 4 rttvar at 3 quarters and then 1..3: six to eight ticks.
        assert!(
            (6..=8).contains(&rto.ticks(&tcp())),
            "{}",
            rto.ticks(&tcp())
        );
    }

    #[test]
    fn backoff_doubles_up_to_its_limit_and_ends_with_a_sample() {
        let mut rto = RtoEstimator::new(&tcp());
        rto.on_sample(&tcp(), 0); // counted as 1: 1 + 2 = 3 ticks
        assert_eq!(rto.ticks(&tcp()), 3);
        rto.back_off();
        assert_eq!(rto.ticks(&tcp()), 6);
        (0..100).for_each(|_| rto.back_off());
        assert_eq!(rto.ticks(&tcp()), 3 * 64);
        rto.on_sample(&tcp(), 0);
        assert!(rto.ticks(&tcp()) <= 3);
    }

    #[test]
    fn the_sample_after_four_timeouts_in_a_row_is_a_first_one() {
        // 4.4BSD tcp_timers. srtt 5 7/8 and 4 rttvar 3/4 have settled to 6 to 8 ticks.
        let after_timeouts = |count| {
            let mut rto = RtoEstimator::new(&tcp());
            (0..200).for_each(|_| rto.on_sample(&tcp(), 5));
            let before = rto.ticks(&tcp());
            (0..count).for_each(|_| rto.back_off());
            assert_eq!(rto.ticks(&tcp()), before << count);
            rto.on_sample(&tcp(), 5);
            rto.ticks(&tcp())
        };
        assert!((6..=8).contains(&after_timeouts(3)));
        assert_eq!(after_timeouts(4), 18); // 3 * 6
        assert_eq!(after_timeouts(5), 18);
    }

    #[test]
    fn rto_stays_between_its_limits() {
        let tcp = TcpSpec {
            rto_min_ticks: 5,
            ..tcp()
        };
        let mut rto = RtoEstimator::new(&tcp);
        rto.on_sample(&tcp, 0); // counted as 1: 3 ticks
        assert_eq!(rto.ticks(&tcp), 5);
        rto.on_sample(&tcp, 10_000);
        assert_eq!(rto.ticks(&tcp), 640); // rto_max_ticks
    }

    #[test]
    fn the_smallest_rto_bounds_rto_or_the_deviation_beside_the_round_trip() {
        // A steady round trip of 60 ticks: srtt settles at 60 7/8 and the deviation at 3 quarters, so RTO is at
        // most 64; with a least deviation of 20 ticks 80. Of one below a tick, 1 + 20: rto_min bounds no more there.
        let settled = |rto_min_bounds, ticks| {
            let tcp = TcpSpec {
                rto_min_ticks: 20,
                rto_min_bounds,
                ..tcp()
            };
            let mut rto = RtoEstimator::new(&tcp);
            (0..200).for_each(|_| rto.on_sample(&tcp, ticks));
            rto.ticks(&tcp)
        };
        assert!((61..=64).contains(&settled(RtoMinBounds::Rto, 60)));
        assert_eq!(settled(RtoMinBounds::Rto, 0), 20);
        assert_eq!(settled(RtoMinBounds::Deviation, 60), 80);
        assert_eq!(settled(RtoMinBounds::Deviation, 0), 20);
    }

    #[test]
    fn the_scaled_integers_leave_three_ticks_to_a_round_trip_below_a_tick() {
        // 4.4BSD: srtt falls below one tick, the deviation sticks at 3 quarters as 3 >> 2 is 0.
        let mut rto = RtoEstimator::new(&tcp());
        (0..50).for_each(|_| rto.on_sample(&tcp(), 0));
        assert_eq!(rto.ticks(&tcp()), 3);
    }
}
