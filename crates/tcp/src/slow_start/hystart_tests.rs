//! Exchanges of a sender with HyStart: trains, delays, and what ends neither.

use super::*;
use crate::sender::tests::{MSS, Script, WINDOW, tcp};
use crate::spec::*;
use crate::{Segment, SegmentKind};

fn hystart(detect: HyStartDetect, low_window: u32) -> TcpSpec {
    TcpSpec {
        slow_start: SlowStartSpec::Hystart(HyStartSpec { detect, low_window }),
        timestamps: true,
        tick_ps: SimTime::from_millis(1).0,
        ..tcp()
    }
}

/// A sender whose segments are acknowledged at given times.
struct Acked {
    script: Script,
    acked: u64,
}

impl Acked {
    fn new(tcp: TcpSpec, window: u64) -> Self {
        let script = Script::limited(tcp, window, 100_000);
        Acked { script, acked: 0 }
    }

    /// An ACK of `segments` more at `at_ms`, whose round trip was `rtt_ms`; cwnd in segments after it.
    fn ack(&mut self, at_ms: u64, rtt_ms: u64, segments: u64) -> f64 {
        self.acked += segments;
        let ack = Segment {
            acknowledgement: self.acked * MSS,
            window: WINDOW,
            timestamp: at_ms + 1 - rtt_ms, // ticks: the first is at 0
            ..Segment::bare(SegmentKind::Ack, 0)
        };
        let now = SimTime::from_millis(at_ms);
        self.script.sender.on_segment(now, &ack, &mut Vec::new());
        self.script.sender.cwnd() / MSS as f64
    }

    /// `count` ACKs of a segment each, `gap_ms` apart.
    fn acks(&mut self, at_ms: u64, gap_ms: u64, rtt_ms: u64, count: u64) -> f64 {
        (0..count).for_each(|k| {
            self.ack(at_ms + k * gap_ms, rtt_ms, 1);
        });
        self.script.sender.cwnd() / MSS as f64
    }

    fn ssthresh(&self) -> f64 {
        self.script.sender.ssthresh() / MSS as f64
    }
}

#[test]
fn a_train_that_lasts_half_the_least_round_trip_ends_slow_start_before_its_ack_counts() {
    // 16 segments, acknowledged over 30 ms: less than (100 ms + 1 ms) / 2. The second round begins with the ACK of
    // the 17th at 210 ms; that at 262 ms, its 27th, is the first beyond 50.5 ms, with cwnd = 32 + 26 = 58.
    let mut s = Acked::new(hystart(HyStartDetect::Both, 16), 16);
    assert_eq!(s.acks(110, 2, 100, 16), 32.0);
    assert_eq!(s.acks(210, 2, 100, 26), 58.0);
    assert_eq!(s.ssthresh(), 1_000.0);
    assert!((s.ack(262, 100, 1) - (58.0 + 1.0 / 58.0)).abs() < 1e-9);
    assert_eq!(s.ssthresh(), 58.0);
}

#[test]
fn batches_are_allowed_for_by_less_than_a_millisecond_where_the_rate_is_high() {
    // cwnd = 1 000 segments of 1 000 octets over 10 ms: 262 144 octets at 2 x 100 MB/s are 1.31 ms, so 1 ms; over
    // 2 ms they are 0.262 ms. srtt counts a tick more (3 ms for 2): 0.393 ms. Trains of 0 to 5 and 0 to 1 ms are not
    // beyond (10 + 1) / 2 = 5.5 and (2 + 0.393) / 2 = 1.197 ms, those to 6 and 2 ms are.
    for (rtt_ms, last_ms) in [(10, 6), (2, 2)] {
        let tcp = TcpSpec {
            max_cwnd: 10_000_000,
            initial_ssthresh: 10_000_000,
            ..hystart(HyStartDetect::Train, 16)
        };
        let mut s = Acked::new(tcp, 1_000);
        let cwnd = s.acks(100, 1, rtt_ms, last_ms);
        assert_eq!((cwnd, s.ssthresh()), (1_000.0 + last_ms as f64, 10_000.0));
        s.ack(100 + last_ms, rtt_ms, 1);
        assert_eq!(s.ssthresh(), cwnd, "{rtt_ms} ms");
    }
}

#[test]
fn acks_more_than_two_milliseconds_apart_are_no_train() {
    let mut s = Acked::new(hystart(HyStartDetect::Both, 16), 16);
    assert_eq!(s.acks(110, 2, 100, 16), 32.0);
    // One gap of 3 ms, and no later ACK belongs to the round's train.
    assert_eq!(s.ack(210, 100, 1), 33.0);
    assert_eq!(s.acks(213, 2, 100, 31), 64.0);
    assert_eq!(s.ssthresh(), 1_000.0);
}

#[test]
fn the_ninth_of_eight_longer_round_trips_ends_slow_start() {
    for (first, second, is_longer) in [
        (20, 24, false),
        (20, 25, true), // 20 / 8 = 2.5 ms: 4
        (100, 112, false),
        (100, 113, true), // 100 / 8 = 12.5 ms
        (600, 616, false),
        (600, 617, true), // 600 / 8 = 75 ms: 16
    ] {
        let mut s = Acked::new(hystart(HyStartDetect::Both, 16), 16);
        assert_eq!(s.acks(1_000, 0, first, 16), 32.0);
        assert_eq!(s.acks(2_000, 0, second, 8), 40.0);
        let cwnd = s.ack(2_000, second, 1);
        let (grown, ssthresh) = if is_longer {
            (40.0 + 1.0 / 40.0, 40.0)
        } else {
            (41.0, 1_000.0)
        };
        assert_eq!((cwnd, s.ssthresh()), (grown, ssthresh), "{first} {second}");
    }
}

#[test]
fn one_short_round_trip_of_a_round_is_enough_to_go_on() {
    let mut s = Acked::new(hystart(HyStartDetect::Both, 16), 16);
    s.acks(1_000, 0, 100, 16);
    s.acks(2_000, 0, 300, 7);
    s.ack(2_000, 112, 1);
    assert_eq!(s.acks(2_000, 0, 300, 24), 64.0);
    assert_eq!(s.ssthresh(), 1_000.0);
}

#[test]
fn what_is_not_looked_for_does_not_end_it() {
    use HyStartDetect::{Delay, None, Train};
    // A train of 100 ms with a round trip of 100, then round trips of 300 ms.
    for (detect, after_train, after_delay) in [
        (Train, true, true),
        (Delay, false, true),
        (None, false, false),
    ] {
        let mut s = Acked::new(hystart(detect, 16), 60);
        s.acks(200, 2, 100, 60);
        assert_eq!(s.ssthresh() < 1_000.0, after_train);
        s.acks(2_000, 3, 300, 40);
        assert_eq!(s.ssthresh() < 1_000.0, after_delay);
    }
}

#[test]
fn a_window_below_the_least_is_not_looked_at_but_has_rounds() {
    let mut s = Acked::new(hystart(HyStartDetect::Both, 31), 10);
    s.acks(1_000, 2, 10, 10);
    assert_eq!(s.acks(2_000, 2, 100, 11), 31.0);
    // The round began at 2 s, and its train was not followed since. Of its round trips nine are to be seen from here on.
    assert_eq!(s.acks(2_022, 2, 100, 8), 39.0);
    assert_eq!(s.ssthresh(), 1_000.0);
    s.acks(2_038, 2, 100, 1);
    assert_eq!(s.ssthresh(), 39.0);
    // With a train from the round's begin on: 16 segments at 1 s, cwnd 32; those acknowledged from 2 s to 2.052 s.
    let mut s = Acked::new(hystart(HyStartDetect::Train, 32), 16);
    s.acks(1_000, 2, 100, 16);
    s.acks(2_000, 2, 100, 27);
    assert_eq!(s.ssthresh(), 58.0);
}

#[test]
fn slow_start_counts_what_is_acknowledged_up_to_ssthresh_and_leaves_the_rest_to_avoidance() {
    let counting = TcpSpec {
        initial_ssthresh: 20 * MSS,
        congestion: CongestionSpec::Reno(RenoCongestionSpec {
            growth: RenoGrowth::ByteCounting,
            ..crate::sender::tests::RENO_CONGESTION
        }),
        ..hystart(HyStartDetect::Both, 16)
    };
    let mut s = Acked::new(counting, 10);
    assert_eq!(s.ack(110, 100, 4), 14.0);
    // Six of eight to ssthresh; two of the twenty that make the next.
    assert_eq!(s.ack(112, 100, 6), 20.0);
    let mut s = Acked::new(s.script.sender.tx.tcp.as_ref().clone(), 12);
    assert_eq!(s.ack(110, 100, 12), 20.0); // four are left
    assert_eq!(s.ack(220, 100, 15), 20.0);
    assert_eq!(s.ack(221, 100, 1), 21.0);
}

#[test]
fn a_timeout_forgets_what_was_found_and_the_least_round_trip() {
    let mut s = Acked::new(hystart(HyStartDetect::Delay, 1), 64);
    s.acks(1_000, 0, 20, 64);
    s.acks(2_000, 0, 100, 9);
    assert_eq!(s.ssthresh(), 136.0);
    s.script.timeout();
    assert_eq!(s.script.sender.cwnd(), 1_000.0);
    // Rounds begin with the ACKs 1, 2, 4, 8, 16 and 32 after it. The least round trip is 100 ms now.
    let ssthresh = s.ssthresh();
    let at = s.script.now.0 / SimTime::from_millis(1).0 + 200;
    s.acks(at, 0, 100, 31);
    assert_eq!(s.acks(at + 200, 0, 113, 8), 40.0);
    assert_eq!(s.ssthresh(), ssthresh);
    s.ack(at + 200, 113, 1);
    assert_eq!(s.ssthresh(), 40.0);
}
