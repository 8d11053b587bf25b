//! Exchanges of a NewReno sender: partial acknowledgements, the flywheel, when a recovery may begin.

use crate::segment::{Segment, SegmentKind};
use crate::sender::tests::{MSS, NEW_RENO, Script, WINDOW, recovering, tcp};
use crate::spec::{NewRenoSpec, PartialAckRestarts, PartialAckWindow, RecoverySpec, TcpSpec};
use skycell_units::SimTime;

#[test]
fn new_reno_resends_a_hole_at_each_partial_ack_until_recover() {
    // ICCCN'97 2.3: N losses in N round trips, one fast retransmit.
    let mut s = Script::established(recovering(RecoverySpec::NewReno(NEW_RENO)), 8);
    s.dup_acks(0, 5).expect_sent(&[0, 8]); // 0, 3 and 5 are lost
    s.acked(3).expect_sent(&[3, 9, 10, 11]); // window kept inflated at 9: up to 12
    s.acked(5).expect_sent(&[5, 12, 13]);
    s.acked(8).expect_window(4.0, 4.0).expect_sent(&[]); // recover is reached
    assert_eq!(s.sender.counters().fast_retransmits, 1);
    assert_eq!(s.sender.counters().segments_retransmitted, 3);
}

#[test]
fn a_partial_ack_amid_what_a_timeout_goes_back_to_resends_a_segment_once() {
    // RFC 6582 3.2 step 3: the first unacknowledged segment, then what comes after it.
    let mut s = Script::established(recovering(RecoverySpec::NewReno(NEW_RENO)), 8);
    s.timeout().acked(1).expect_sent(&[0, 1, 2]); // 1 and 6 are lost, 2 to 5 and 7 arrived
    s.dup_acks(1, 3).expect_sent(&[1]); // cwnd 2 + 3
    s.acked(6).expect_sent(&[6, 7, 8, 9, 10]);
}

#[test]
fn new_reno_partial_ack_sets_or_deflates_the_window_where_told() {
    let with = |partial_ack_window| TcpSpec {
        recovery: RecoverySpec::NewReno(NewRenoSpec {
            partial_ack_window,
            ..NEW_RENO
        }),
        ..tcp()
    };
    // 98-0876R1 3.1: cwnd = ssthresh.
    let mut s = Script::established(with(PartialAckWindow::Ssthresh), 8);
    s.dup_acks(0, 5).acked(3).expect_window(4.0, 4.0);
    s.expect_sent(&[0, 8, 3]);
    // RFC 6582 3.2: 9 - 3 acknowledged + 1.
    let mut s = Script::established(with(PartialAckWindow::Deflate), 8);
    s.dup_acks(0, 5).acked(3).expect_window(7.0, 4.0);
    s.expect_sent(&[0, 8, 3, 9]);
}

#[test]
fn a_partial_ack_of_less_than_a_segment_adds_none_back() {
    // RFC 6582 3.2 step 3: only where it acknowledges at least one SMSS.
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::NewReno(NewRenoSpec {
                partial_ack_window: PartialAckWindow::Deflate,
                ..NEW_RENO
            }),
            ..tcp()
        },
        8,
    );
    s.dup_acks(0, 5).expect_window(9.0, 4.0);
    let half = Segment {
        acknowledgement: MSS / 2,
        window: WINDOW,
        ..Segment::bare(SegmentKind::Ack, 0)
    };
    s.sender.on_segment(s.now, &half, &mut Vec::new());
    s.expect_window(8.5, 4.0);
    let whole = Segment {
        acknowledgement: half.acknowledgement + MSS,
        ..half
    };
    s.sender.on_segment(s.now, &whole, &mut Vec::new());
    s.expect_window(8.5, 4.0);
}

#[test]
fn the_flywheel_sends_one_new_segment_for_two_duplicates() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::NewReno(NewRenoSpec {
                flywheel: true,
                ..NEW_RENO
            }),
            ..tcp()
        },
        8,
    );
    s.dup_acks(0, 3).expect_sent(&[0]);
    // The window grows to 11 and would let out 8, 9 and 10.
    s.dup_acks(0, 4)
        .expect_sent(&[8, 9])
        .expect_window(11.0, 4.0);
}

#[test]
fn what_is_handed_over_in_a_recovery_with_the_flywheel_goes_as_far_as_the_inflated_window() {
    // 98-0876R1 3.1: cwnd grows by a segment for each duplicate.
    let mut s = Script::limited(
        TcpSpec {
            recovery: RecoverySpec::NewReno(NewRenoSpec {
                flywheel: true,
                partial_ack_window: PartialAckWindow::Ssthresh,
                ..NEW_RENO
            }),
            ..tcp()
        },
        8,
        8,
    );
    s.expect_sent(&[0, 1, 2, 3, 4, 5, 6, 7]);
    s.dup_acks(0, 7).expect_sent(&[0]).expect_window(11.0, 4.0);
    s.hand_over(5).expect_sent(&[8, 9, 10]);
    s.acked(3).expect_sent(&[3]).expect_window(4.0, 4.0);
}

#[test]
fn with_the_flywheel_a_partial_ack_sends_its_one_segment_and_nothing_new() {
    // 98-0876R1 3.1. At the partial ACK 3 segments are under way and cwnd is 4.
    let after_a_partial_ack = |flywheel| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::NewReno(NewRenoSpec {
                    flywheel,
                    partial_ack_window: PartialAckWindow::Ssthresh,
                    ..NEW_RENO
                }),
                ..tcp()
            },
            8,
        );
        s.dup_acks(0, 3).expect_sent(&[0]);
        s.acked(5).expect_window(4.0, 4.0);
        s.sent.clone()
    };
    assert_eq!(after_a_partial_ack(false), [5, 8]);
    assert_eq!(after_a_partial_ack(true), [5]);
}

#[test]
fn only_the_first_partial_ack_restarts_the_timer_where_told() {
    let deadline_after_two_partial_acks = |partial_ack_restarts| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::NewReno(NewRenoSpec {
                    partial_ack_restarts,
                    ..NEW_RENO
                }),
                ..tcp()
            },
            8,
        );
        s.dup_acks(0, 5).at_millis(1_010).acked(2);
        s.at_millis(2_010).acked(4);
        s.sender.deadline().unwrap()
    };
    let difference = deadline_after_two_partial_acks(PartialAckRestarts::Every).0
        - deadline_after_two_partial_acks(PartialAckRestarts::First).0;
    assert_eq!(SimTime(difference), SimTime::from_millis(1_000));
}

#[test]
fn the_first_partial_ack_of_every_recovery_restarts_the_timer() {
    // RFC 6582 3.2 step 3: the first one that arrives during fast recovery.
    let deadline = |partial_ack_restarts| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::NewReno(NewRenoSpec {
                    partial_ack_restarts,
                    ..NEW_RENO
                }),
                ..tcp()
            },
            8,
        );
        s.dup_acks(0, 5).acked(2).acked(10); // one partial ACK, then all that was sent
        s.dup_acks(10, 3).at_millis(1_010).acked(11);
        assert_eq!(s.sender.counters().fast_retransmits, 2);
        s.sender.deadline().unwrap()
    };
    assert_eq!(
        deadline(PartialAckRestarts::First),
        deadline(PartialAckRestarts::Every)
    );
}

#[test]
fn the_flywheel_counts_the_duplicates_of_each_recovery_for_itself() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::NewReno(NewRenoSpec {
                flywheel: true,
                ..NEW_RENO
            }),
            ..tcp()
        },
        8,
    );
    s.dup_acks(0, 4).acked(8).expect_sent(&[0, 8, 9, 10, 11]); // one duplicate beyond the third
    s.dup_acks(8, 4).expect_sent(&[8]);
    s.dup_acks(8, 1).expect_sent(&[12]);
}
