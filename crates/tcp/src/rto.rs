//! Round-trip time and retransmission timeout, in ticks of the host clock.
//!
//! Jacobson's estimator in the scaled integers of 4.4BSD (tcp_xmit_timer, tcp_input.c): srtt in eighths, rttvar in
//! quarters of a tick, RTO = srtt + 4 rttvar, in whole ticks. Linux (tcp_rtt_estimator, tcp_input.c) replaces 4 rttvar by
//! the largest deviation of the last round trips. Karn's rule (RFC 6298 section 3 and 5.5) keeps the backed-off RTO until
//! a fresh sample.

use crate::spec::{RttEstimator, TcpSpec};

/// Timeouts in a row that leave the estimate standing (4.4BSD tcp_timers: TCP_MAXRXTSHIFT / 4).
const TIMEOUTS_SURVIVED: u32 = 3;

/// The estimator of one connection. Its limits are lent by the caller: thousands of senders share them.
#[derive(Clone, Debug)]
pub(crate) struct RtoEstimator {
    /// Smoothed round-trip time, eighths of a tick; 0 where the next sample is a first one.
    srtt_eighths: i64,
    /// Mean deviation, quarters of a tick, so that it is the 4 rttvar of the formula.
    rttvar_quarters: i64,
    /// The largest deviation, which Linux's RTO has; none with Jacobson's estimator.
    largest: Option<Box<LargestDeviation>>,
    /// RTO without backoff, ticks.
    base: u32,
    /// Timeouts since the last sample.
    timeouts: u32,
}

/// The largest deviation of the last round trips (Linux), quarters of a tick.
#[derive(Clone, Debug, Default)]
struct LargestDeviation {
    /// Part of RTO beside the smoothed round-trip time (rttvar_us).
    in_rto: i64,
    /// The largest of this round trip (mdev_max_us).
    in_round: i64,
    /// Sequence number at which this round trip ends (rtt_seq).
    round_end: u64,
}

impl LargestDeviation {
    /// Takes over `deviation`, the first where `is_first`, with `snd_una` and `snd_max` as the acknowledgement leaves
    /// them: growth counts at once, and a round trip with a smaller largest one takes a quarter of the difference off.
    fn note(&mut self, deviation: i64, least: i64, is_first: bool, snd_una: u64, snd_max: u64) {
        if is_first {
            self.in_rto = deviation.max(least);
            self.in_round = self.in_rto;
            self.round_end = snd_max;
            return;
        }
        self.in_round = self.in_round.max(deviation);
        self.in_rto = self.in_rto.max(self.in_round);
        if snd_una > self.round_end {
            self.in_rto -= (self.in_rto - self.in_round) >> 2;
            self.round_end = snd_max;
            self.in_round = least;
        }
    }
}

impl RtoEstimator {
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        RtoEstimator {
            srtt_eighths: 0,
            rttvar_quarters: 0,
            largest: (tcp.rtt_estimator == RttEstimator::Linux).then(Box::default),
            base: tcp.rto_initial_ticks,
            timeouts: 0,
        }
    }

    /// Smoothed round-trip time, eighths of a tick; 0 before the first sample.
    pub(crate) fn srtt_eighths(&self) -> i64 {
        self.srtt_eighths
    }

    /// A segment was acknowledged `ticks` ticks after it was sent, and had been sent once; the acknowledgement leaves
    /// `snd_una` and `snd_max`.
    pub(crate) fn on_sample(&mut self, tcp: &TcpSpec, ticks: u64, snd_una: u64, snd_max: u64) {
        let least = i64::from(tcp.rto_min_ticks);
        let is_first = self.srtt_eighths == 0;
        let ticks = ticks as i64;
        let delta = ticks - (self.srtt_eighths >> 3);
        // 4.4BSD counts from 1: a segment acknowledged within its tick measures 1. With Linux a shorter round trip raises
        // the deviation by an eighth as much.
        let (first, rise) = match (&self.largest, delta < 0) {
            (None, _) => (ticks + 1, 0),
            (Some(_), false) => (ticks.max(1), 0),
            (Some(_), true) => (ticks.max(1), 3),
        };
        self.smooth(first, delta, rise);
        let deviation = match &mut self.largest {
            None => self.rttvar_quarters,
            Some(largest) => {
                largest.note(self.rttvar_quarters, least, is_first, snd_una, snd_max);
                largest.in_rto
            }
        };
        let rto = (self.srtt_eighths >> 3) + deviation;
        self.base = rto.clamp(least, i64::from(tcp.rto_max_ticks)) as u32;
        self.timeouts = 0;
    }

    /// Begins with the sample `first`; or moves srtt by an eighth of `delta`, and the deviation by a quarter of
    /// its distance from `delta`, `rise` times halved if that is growth.
    fn smooth(&mut self, first: i64, delta: i64, rise: u32) {
        if self.srtt_eighths == 0 {
            self.srtt_eighths = first << 3;
            self.rttvar_quarters = first << 1;
            return;
        }
        // Neither comes down to 0, as an eighth or a quarter of it goes off at most: 4.4BSD's floor of 1 is never
        // reached.
        self.srtt_eighths += delta;
        let deviation = delta.abs() - (self.rttvar_quarters >> 2);
        self.rttvar_quarters += if deviation > 0 {
            deviation >> rise
        } else {
            deviation
        };
    }

    /// The timer ran out: the next one runs twice as long. With Jacobson's estimator so many in a row leave nothing of
    /// the estimate but RTO, which lasts until a sample comes, a first one then (4.4BSD tcp_timers; RFC 6298 section 5).
    pub(crate) fn back_off(&mut self) {
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts > TIMEOUTS_SURVIVED && self.largest.is_none() {
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
        rto.on_sample(&tcp(), 5, 0, 0); // counted as 6: srtt 6, 4 rttvar = 12
        assert_eq!(rto.ticks(&tcp()), 18);
    }

    #[test]
    fn a_steady_round_trip_brings_rto_down_to_srtt_and_the_least_deviation() {
        let mut rto = RtoEstimator::new(&tcp());
        (0..200).for_each(|_| rto.on_sample(&tcp(), 5, 0, 0));
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
        rto.on_sample(&tcp(), 0, 0, 0); // counted as 1: 1 + 2 = 3 ticks
        assert_eq!(rto.ticks(&tcp()), 3);
        rto.back_off();
        assert_eq!(rto.ticks(&tcp()), 6);
        (0..100).for_each(|_| rto.back_off());
        assert_eq!(rto.ticks(&tcp()), 3 * 64);
        rto.on_sample(&tcp(), 0, 0, 0);
        assert!(rto.ticks(&tcp()) <= 3);
    }

    #[test]
    fn the_sample_after_four_timeouts_in_a_row_is_a_first_one() {
        // 4.4BSD tcp_timers. srtt 5 7/8 and 4 rttvar 3/4 have settled to 6 to 8 ticks.
        let after_timeouts = |count| {
            let mut rto = RtoEstimator::new(&tcp());
            (0..200).for_each(|_| rto.on_sample(&tcp(), 5, 0, 0));
            let before = rto.ticks(&tcp());
            (0..count).for_each(|_| rto.back_off());
            assert_eq!(rto.ticks(&tcp()), before << count);
            rto.on_sample(&tcp(), 5, 0, 0);
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
        rto.on_sample(&tcp, 0, 0, 0); // counted as 1: 3 ticks
        assert_eq!(rto.ticks(&tcp), 5);
        rto.on_sample(&tcp, 10_000, 0, 0);
        assert_eq!(rto.ticks(&tcp), 640); // rto_max_ticks
    }

    /// Linux's estimator with a least RTO of 20 ticks.
    fn linux() -> TcpSpec {
        TcpSpec {
            rto_min_ticks: 20,
            rto_max_ticks: 100_000,
            rtt_estimator: RttEstimator::Linux,
            ..tcp()
        }
    }

    #[test]
    fn linux_adds_the_least_deviation_to_a_steady_round_trip() {
        let mut rto = RtoEstimator::new(&linux());
        (0..200).for_each(|n| rto.on_sample(&linux(), 60, n + 1, n + 1));
        // A quarter of what is above it goes off, in whole ticks: up to 3 stay.
        assert!((80..=83).contains(&rto.ticks(&linux())));
        let mut jacobson = RtoEstimator::new(&tcp());
        (0..200).for_each(|n| jacobson.on_sample(&tcp(), 60, n + 1, n + 1));
        assert!((61..=64).contains(&jacobson.ticks(&tcp())));
    }

    #[test]
    fn linux_keeps_the_largest_deviation_and_takes_a_quarter_off_each_round_trip() {
        // By hand, tcp_rtt_estimator: 80 first, srtt 80, mdev 160 (in quarters), rttvar 160, so RTO 240, until 10.
        let tcp = linux();
        let mut rto = RtoEstimator::new(&tcp);
        rto.on_sample(&tcp, 80, 0, 10);
        assert_eq!(rto.ticks(&tcp), 240);
        // 88: delta 8, srtt 648 eighths, mdev 160 + 8 - 40 = 128; the round trip is not over.
        rto.on_sample(&tcp, 88, 10, 20);
        assert_eq!(rto.ticks(&tcp), 81 + 160);
        // 161: delta 80, srtt 728 eighths, mdev 128 + 80 - 32 = 176, beyond the largest; the round trip is over and its
        // largest is in RTO, so that nothing goes off. The next one ends at 30.
        rto.on_sample(&tcp, 161, 11, 30);
        assert_eq!(rto.ticks(&tcp), 91 + 176);
        // 91: delta 0, mdev 176 - 44 = 132, the largest of this round trip; it ends: 176 - (176 - 132) / 4 = 165.
        rto.on_sample(&tcp, 91, 31, 40);
        assert_eq!(rto.ticks(&tcp), 91 + 165);
        // 21: delta -70, shorter: srtt 658 eighths, mdev 132 + (70 - 33) / 8 = 136; the round trip is not over.
        rto.on_sample(&tcp, 21, 40, 50);
        assert_eq!(rto.ticks(&tcp), 82 + 165);
    }

    #[test]
    fn linux_keeps_its_estimate_over_any_number_of_timeouts() {
        let tcp = linux();
        let mut rto = RtoEstimator::new(&tcp);
        (0..200).for_each(|n| rto.on_sample(&tcp, 60, n + 1, n + 1));
        let before = rto.ticks(&tcp);
        (0..6).for_each(|_| rto.back_off());
        assert_eq!(rto.ticks(&tcp), before * 64);
        rto.on_sample(&tcp, 60, 300, 300);
        assert_eq!(rto.ticks(&tcp), before);
    }

    #[test]
    fn the_scaled_integers_leave_three_ticks_to_a_round_trip_below_a_tick() {
        // 4.4BSD: srtt falls below one tick, the deviation sticks at 3 quarters as 3 >> 2 is 0.
        let mut rto = RtoEstimator::new(&tcp());
        (0..50).for_each(|_| rto.on_sample(&tcp(), 0, 0, 0));
        assert_eq!(rto.ticks(&tcp()), 3);
    }
}
