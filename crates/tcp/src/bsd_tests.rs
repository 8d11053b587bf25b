//! Rules of 4.4BSD's sender: windows that change, what a timer stamps, what recovery begins with.

use crate::segment::{Segment, SegmentKind};
use crate::sender::tests::{MSS, NEW_RENO, RENO, SACK, Script, WINDOW, recovering, tcp};
use crate::spec::{
    RecoverySpec, RenoRecoverySpec, SlowStartSpec, StandardSlowStartSpec, TcpSpec, TickOrder,
};
use skycell_units::SimTime;

fn reno() -> TcpSpec {
    recovering(RecoverySpec::Reno(RENO))
}

/// An acknowledgement of `segments` segments with a window of `window` segments.
fn ack_with_window(s: &mut Script, segments: u64, window: u64) {
    ack_octets(s, segments * MSS, window * MSS);
}

/// The same in octets.
fn ack_octets(s: &mut Script, octets: u64, window: u64) {
    let ack = Segment {
        acknowledgement: octets,
        window: window as u32,
        ..Segment::bare(SegmentKind::Ack, 0)
    };
    let mut out = Vec::new();
    s.sender.on_segment(s.now, &ack, &mut out);
    s.keep(out);
}

#[test]
fn a_duplicate_with_a_larger_window_is_an_update_and_ends_a_row_of_duplicates() {
    // 4.4BSD tcp_input: a duplicate has the window of the ACK before.
    let mut s = Script::established(reno(), 8);
    ack_with_window(&mut s, 1, 7);
    s.sent.clear();
    ack_with_window(&mut s, 1, 7);
    ack_with_window(&mut s, 1, 7);
    ack_with_window(&mut s, 1, 8); // the application has read: an update
    ack_with_window(&mut s, 1, 8);
    ack_with_window(&mut s, 1, 8);
    assert_eq!(s.sender.counters().fast_retransmits, 0);
    ack_with_window(&mut s, 1, 8);
    assert_eq!(s.sender.counters().fast_retransmits, 1);
    assert_eq!(s.sender.counters().dup_acks, 5);
    // The update let the ninth segment out (8), the third duplicate the second (1).
    assert_eq!(s.sent, [8, 1]);
}

#[test]
fn what_the_receiver_advertises_bounds_what_is_sent_but_for_one_segment() {
    let mut s = Script::established(reno(), 4);
    ack_with_window(&mut s, 1, 3);
    s.expect_sent(&[]);
    ack_with_window(&mut s, 4, 0); // nothing is under way: one segment goes into a closed window
    s.expect_sent(&[4]);
    ack_with_window(&mut s, 4, 3);
    s.expect_sent(&[5, 6]);
}

#[test]
fn what_went_into_a_closed_window_and_was_lost_is_sent_again() {
    // RFC 1122 4.2.2.17: the sender probes on until an acknowledgement tells of an open window.
    for sws_avoidance in [true, false] {
        let mut s = Script::established(
            TcpSpec {
                sws_avoidance,
                ..reno()
            },
            4,
        );
        ack_with_window(&mut s, 4, 0);
        s.expect_sent(&[4]);
        s.timeout().expect_sent(&[4]);
        s.timeout().expect_sent(&[4]);
        ack_with_window(&mut s, 5, 3);
        s.expect_sent(&[5, 6]);
    }
}

#[test]
fn a_piece_that_is_sent_again_takes_no_new_octets_into_a_closed_window() {
    let mut s = Script::established(
        TcpSpec {
            sws_avoidance: false,
            nagle: false,
            ..reno()
        },
        4,
    );
    ack_octets(&mut s, 3 * MSS, MSS + MSS / 2);
    s.sent.clear();
    ack_octets(&mut s, 4 * MSS, MSS / 2); // half a segment is under way, and fills the window
    s.expect_sent(&[]);
    let sent = s.sender.counters().octets_sent;
    s.timeout();
    assert_eq!(s.sender.counters().octets_sent, sent + MSS / 2);
}

#[test]
fn what_a_timer_sends_is_stamped_with_the_tick_before_where_timers_come_first() {
    let stamp = |tick_order| {
        let mut s = Script::established(
            TcpSpec {
                tick_order,
                ..reno()
            },
            2,
        );
        let deadline = s.sender.deadline().unwrap();
        let mut out = Vec::new();
        s.sender.on_timeout(deadline, &mut out);
        let first = out[0].timestamp;
        // What an acknowledgement sends in the same tick has the time of the clock.
        let ack = Segment {
            acknowledgement: MSS,
            window: WINDOW,
            ..Segment::bare(SegmentKind::Ack, 0)
        };
        out.clear();
        s.sender.on_segment(deadline, &ack, &mut out);
        (first, out[0].timestamp)
    };
    let (at, after) = stamp(TickOrder::ClockFirst);
    assert_eq!(at, after);
    assert_eq!(stamp(TickOrder::TimersFirst), (at - 1, at));
}

#[test]
fn recovery_begins_with_as_many_segments_on_top_as_duplicates_began_it() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Reno(RenoRecoverySpec {
                dup_ack_threshold: 2,
                ..RENO
            }),
            ..tcp()
        },
        8,
    );
    s.acked(0).acked(0);
    // Half of 8, and 2 (4.4BSD tcp_input: t_maxseg * t_dupacks).
    assert_eq!(s.sender.cwnd(), 6_000.0);
}

#[test]
fn after_four_timeouts_in_a_row_a_round_trip_sets_the_timer_as_the_first_did() {
    // tcp_timers: t_rxtshift > TCP_MAXRXTSHIFT / 4 clears t_srtt. One segment each 500 ms, 5 ticks.
    let round_trips = |s: &mut Script, count: u64| {
        for _ in 0..count {
            s.now.0 += SimTime::from_millis(500).0;
            let highest = s.sent.iter().max().unwrap() + 1;
            s.acked(highest);
        }
        s.sender.deadline().unwrap().0 - s.now.0
    };
    let ticks = |n: u64| SimTime::from_millis(100 * n - 10).0; // all is sent 10 ms after a tick
    let begun = || {
        let mut s = Script::established(
            TcpSpec {
                max_cwnd: MSS,
                ..reno()
            },
            1,
        );
        s.sent.push(0);
        s
    };
    assert_eq!(round_trips(&mut begun(), 1), ticks(18));
    for (timeouts, rto) in [(3, 8), (4, 18)] {
        let mut s = begun();
        assert_eq!(round_trips(&mut s, 100), ticks(8));
        (0..timeouts).for_each(|_| {
            s.timeout();
        });
        s.now.0 += SimTime::from_millis(10).0;
        round_trips(&mut s, 1); // of a segment sent again: no sample
        assert_eq!(round_trips(&mut s, 1), ticks(rto), "{timeouts} timeouts");
    }
}

#[test]
fn a_timeout_ends_a_row_of_duplicates() {
    // 4.4BSD tcp_timers: t_dupacks = 0.
    let mut s = Script::established(reno(), 8);
    s.dup_acks(0, 2).timeout().dup_acks(0, 2);
    s.expect_sent(&[0]).expect_window(1.0, 4.0);
    let counters = s.sender.counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits), (1, 0));
    assert_eq!(counters.dup_acks, 4);
}

#[test]
fn the_ack_that_ends_a_recovery_grows_the_window_where_slow_start_goes_on_at_ssthresh() {
    // 4.4BSD tcp_input: cwnd = ssthresh, then what every ACK of new data adds.
    for of in [
        RecoverySpec::Reno(RENO),
        RecoverySpec::NewReno(NEW_RENO),
        RecoverySpec::Sack(SACK),
    ] {
        let mut s = Script::established(
            TcpSpec {
                recovery: of,
                slow_start: SlowStartSpec::Standard(StandardSlowStartSpec { at_ssthresh: true }),
                ..tcp()
            },
            8,
        );
        s.dup_acks(0, 3).acked(8).expect_window(5.0, 4.0);
    }
}
