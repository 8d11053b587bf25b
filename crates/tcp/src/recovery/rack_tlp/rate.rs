//! Rates of delivery: how much was delivered from the sending of a segment to its acknowledgement, and how long that took
//! (Linux tcp_rate.c; draft-cheng-iccrg-delivery-rate-estimation).

use super::flight::Covered;
use crate::congestion::{Lost, RateSample};
use std::collections::VecDeque;

/// The state that is noted of a segment when it is sent (tcp_rate_skb_sent). Times in microseconds
/// of the host's clock.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    sent: u64,
    /// first_tx_mstamp: when the first segment of the window was sent that this one is the last of.
    first_sent: u64,
    /// delivered_mstamp; none once the segment has been delivered.
    delivered_at: Option<u64>,
    /// tp->delivered.
    delivered: u64,
    /// In flight, itself included, and ever found lost (tx_in_flight; P.lost of draft-ietf-ccwg-bbr-06 section 4.1.2.1.2).
    in_flight: u32,
    lost: u32,
    is_app_limited: bool,
}

/// The newest of the segments that an ACK is the first to cover: the one that was sent last counts.
#[derive(Clone, Copy, Debug)]
struct Latest {
    stamp: Stamp,
    delivered_at: u64,
    start: u64,
}

/// The state of the rate samples (struct tcp_sock).
#[derive(Clone, Debug)]
pub(super) struct Rates {
    /// Of the segments under way, and before those the first of them has, by the flight's count.
    stamps: VecDeque<Stamp>,
    gone: u64,
    first_sent: u64,
    delivered_at: u64,
    delivered: u64,
    /// app_limited: until more than so many are delivered the application limits; 0 where it does not.
    app_limited: u64,
    latest: Option<Latest>,
}

impl Rates {
    /// Before anything is sent. The SYN has been delivered.
    pub(super) fn new(now: u64) -> Self {
        Rates {
            stamps: VecDeque::new(),
            gone: 0,
            first_sent: now,
            delivered_at: now,
            delivered: 1,
            app_limited: 0,
            latest: None,
        }
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(super) fn delivered_at(&self) -> u64 {
        self.delivered_at
    }

    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// The application has no more than what is `in_flight` (tcp_rate_check_app_limited).
    pub(super) fn limit(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// A segment of the flight is sent, for the first time or again.
    pub(super) fn on_sent(
        &mut self,
        index: u64,
        is_only: bool,
        now: u64,
        in_flight: u64,
        lost: u64,
    ) {
        if is_only {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let stamp = Stamp {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: Some(self.delivered_at),
            delivered: self.delivered,
            in_flight: in_flight as u32,
            lost: lost as u32,
            is_app_limited: self.is_app_limited(),
        };
        match self.stamps.get_mut((index - self.gone) as usize) {
            Some(known) => *known = stamp,
            None => self.stamps.push_back(stamp),
        }
    }

    /// An ACK covers a segment, by a block or by number (tcp_rate_skb_delivered).
    pub(super) fn on_covered(&mut self, covered: &Covered) {
        if !covered.was_sacked {
            self.delivered += 1;
        }
        let Some(stamp) = self.stamps.get_mut((covered.index - self.gone) as usize) else {
            return;
        };
        let Some(delivered_at) = stamp.delivered_at.take() else {
            return;
        };
        // The later of two that were sent at one time is the one with the higher number.
        let order = |stamp: &Stamp, start| (stamp.sent, start);
        let is_later = self
            .latest
            .is_none_or(|last| order(stamp, covered.start) > order(&last.stamp, last.start));
        if is_later {
            self.first_sent = stamp.sent;
            self.latest = Some(Latest {
                stamp: *stamp,
                delivered_at,
                start: covered.start,
            });
        }
    }

    /// So many segments came twice: that is delivered too (tcp_count_delivered).
    pub(super) fn on_duplicates(&mut self, count: u64) {
        self.delivered += count;
    }

    /// Everything before the flight's segment `first` has been delivered.
    pub(super) fn forget_before(&mut self, first: u64) {
        while self.gone < first && self.stamps.pop_front().is_some() {
            self.gone += 1;
        }
    }

    /// The delivered segments of the sample that is under way, if it has any (rs->prior_delivered).
    pub(super) fn prior_delivered(&self) -> Option<u64> {
        self.latest.map(|latest| latest.stamp.delivered)
    }

    /// Returns what was noted of a segment that is found lost, with `ever_lost` losses including
    /// it.
    pub(super) fn lost(&self, index: u64, ever_lost: u64) -> Option<Lost> {
        let stamp = self.stamps.get(index.checked_sub(self.gone)? as usize)?;
        Some(Lost {
            index,
            sent_in_flight: stamp.in_flight.into(),
            lost: (ever_lost as u32).wrapping_sub(stamp.lost).into(),
            is_app_limited: stamp.is_app_limited,
        })
    }

    /// An ACK at `now` has covered `acked` segments, and so many were `ever_lost` (tcp_rate_gen). What was sent and what was acknowledged takes the longer
    /// of both times; less than the least round trip it cannot be.
    pub(super) fn sample(
        &mut self,
        acked: u64,
        ever_lost: u64,
        min_rtt: Option<u64>,
        now: u64,
    ) -> RateSample {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if acked > 0 {
            self.delivered_at = now;
        }
        let Some(latest) = self.latest.take() else {
            return RateSample {
                acked,
                ..RateSample::default()
            };
        };
        let (sending, arriving) = (
            latest.stamp.sent - latest.stamp.first_sent,
            now - latest.delivered_at,
        );
        let interval = sending.max(arriving);
        RateSample {
            prior_delivered: latest.stamp.delivered,
            delivered: Some(self.delivered - latest.stamp.delivered),
            interval: (interval >= min_rtt.unwrap_or(u64::MAX)).then_some(interval),
            is_app_limited: latest.stamp.is_app_limited,
            sent_in_flight: latest.stamp.in_flight.into(),
            lost: (ever_lost as u32).wrapping_sub(latest.stamp.lost).into(),
            acked,
            ..RateSample::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1 000 octets; times in milliseconds.
    struct Script(Rates);

    impl Script {
        fn new() -> Self {
            Script(Rates::new(0))
        }

        fn sent(&mut self, ms: u64, indices: std::ops::Range<u64>, is_first: bool) -> &mut Self {
            for index in indices.clone() {
                let is_only = is_first && index == indices.start;
                self.0.on_sent(index, is_only, ms * 1_000, 1, 0);
            }
            self
        }

        /// Segments, SACKed before or not, are covered at `ms`; the sample with a least round trip of 100 ms.
        fn covered(&mut self, ms: u64, indices: &[u64], was_sacked: bool) -> RateSample {
            for &index in indices {
                self.0.on_covered(&Covered {
                    index,
                    start: index * 1_000,
                    sent_at: (0, 0),
                    is_repeated: false,
                    was_sacked,
                });
            }
            let acked = if was_sacked { 0 } else { indices.len() as u64 };
            self.0.sample(acked, 0, Some(100_000), ms * 1_000)
        }
    }

    fn rate(sample: &RateSample) -> (Option<u64>, Option<u64>) {
        (sample.delivered, sample.interval.map(|us| us / 1_000))
    }

    #[test]
    fn a_rate_is_what_was_delivered_since_the_last_of_an_acks_segments_was_sent() {
        let mut s = Script::new();
        s.sent(0, 0..4, true);
        // Sent with nothing delivered, 100 ms ago: two in that time.
        assert_eq!(rate(&s.covered(100, &[0, 1], false)), (Some(2), Some(100)));
        s.0.forget_before(2);
        s.sent(100, 4..6, false);
        assert_eq!(rate(&s.covered(130, &[2, 3], false)), (Some(4), Some(130)));
        s.0.forget_before(4);
        // Sent at 100, as two had been delivered: since then four in 105 ms.
        let sample = s.covered(205, &[4, 5], false);
        assert_eq!(rate(&sample), (Some(4), Some(105)));
        assert_eq!(sample.prior_delivered, 3); // the SYN too
    }

    #[test]
    fn acknowledgements_that_come_together_do_not_make_a_rate_faster_than_what_was_sent() {
        let mut s = Script::new();
        for (index, ms) in [0, 50, 100, 150].into_iter().enumerate() {
            let index = index as u64;
            s.sent(ms, index..index + 1, index == 0);
        }
        assert_eq!(rate(&s.covered(160, &[0], false)), (Some(1), Some(160)));
        s.sent(160, 4..5, false);
        // 1, 2 and 3 at once at 261: sent over 150 ms after 0 was; 4 in 101 ms, as 0 alone was acknowledged at 160.
        assert_eq!(
            rate(&s.covered(261, &[1, 2, 3], false)),
            (Some(4), Some(261))
        );
        let sample = s.covered(262, &[4], false);
        // The last acknowledged of its window had been sent at 0, so 160 ms of sending beside 102 of ACKs.
        assert_eq!(rate(&sample), (Some(4), Some(160)));
    }

    #[test]
    fn a_segment_counts_once_and_what_was_sent_again_from_then_on() {
        let mut s = Script::new();
        s.sent(0, 0..3, true);
        assert_eq!(rate(&s.covered(100, &[1], false)), (Some(1), Some(100)));
        s.sent(110, 0..1, false); // again
        let sample = s.covered(215, &[0], false);
        assert_eq!(rate(&sample), (Some(1), Some(115))); // since 100
        // 1 has been delivered by its block: nothing to tell.
        assert_eq!(rate(&s.covered(216, &[1], true)), (None, None));
    }

    #[test]
    fn less_than_the_least_round_trip_is_no_interval() {
        let mut s = Script::new();
        s.sent(0, 0..1, true);
        assert_eq!(rate(&s.covered(99, &[0], false)), (Some(1), None));
    }

    #[test]
    fn the_application_limits_until_what_it_had_is_delivered() {
        let mut s = Script::new();
        s.0.limit(0); // one delivered: the SYN
        s.sent(0, 0..2, true);
        assert!(s.covered(100, &[0], false).is_app_limited);
        assert!(!s.0.is_app_limited());
        s.sent(100, 2..3, false);
        assert!(s.covered(101, &[1], false).is_app_limited);
        assert!(!s.covered(210, &[2], false).is_app_limited);
        s.0.limit(3);
        assert!(s.0.is_app_limited());
    }
}
