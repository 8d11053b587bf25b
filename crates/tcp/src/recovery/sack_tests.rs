//! Exchanges of a SACK sender: pipe, holes, and what a timeout leaves of them.

use crate::segment::{Segment, SegmentKind};
use crate::sender::tests::{MSS, SACK, Script, WINDOW, tcp};
use crate::spec::{
    PartialAckRestarts, PipeAtEntry, PipeRoom, RecoverySpec, RetransmitDelay, SackPartialAck,
    SackSpec, TcpSpec,
};
use skycell_units::SimTime;

#[test]
fn sack_halves_sends_nothing_for_half_a_window_then_fills_holes_first() {
    let mut s = Script::established(tcp(), 8); // 0 and 3 are lost
    s.acked_with(0, &[(1, 2)]).acked_with(0, &[(1, 3)]);
    s.expect_sent(&[]);
    // pipe = 8 with the retransmission; cwnd = 4.
    s.acked_with(0, &[(4, 5), (1, 3)]).expect_sent(&[0]);
    s.expect_window(4.0, 4.0);
    s.acked_with(0, &[(4, 6), (1, 3)]).expect_sent(&[]); // pipe 7
    s.acked_with(0, &[(4, 7), (1, 3)]).expect_sent(&[]); // pipe 6
    s.acked_with(0, &[(4, 8), (1, 3)]).expect_sent(&[]); // pipe 5
    // The partial ACK takes two off: pipe 3, so the hole goes out.
    s.acked_with(3, &[(4, 8)]).expect_sent(&[3]);
    s.acked(8)
        .expect_window(4.0, 4.0)
        .expect_sent(&[8, 9, 10, 11]);
}

#[test]
fn sack_pipe_three_smaller_at_entry_sends_three_acks_earlier() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                pipe_at_entry: PipeAtEntry::CwndLessThree,
                ..SACK
            }),
            ..tcp()
        },
        8,
    );
    s.dup_acks(0, 2).acked_with(0, &[(4, 5), (1, 3)]);
    s.expect_sent(&[0]); // ICCCN'97 4.2: resends, then sets pipe: 8 - 3 = 5
    s.acked_with(0, &[(4, 6), (1, 3)]).expect_sent(&[]); // 4
    s.acked_with(0, &[(4, 7), (1, 3)]).expect_sent(&[3]); // 3 < 4
    s.acked_with(0, &[(4, 8), (1, 3)]).expect_sent(&[8]); // 3 again
}

#[test]
fn a_fraction_of_a_segment_that_cwnd_has_left_is_not_in_pipe() {
    // ICCCN'97 3: pipe is what is in the network. Its own equivalent, an inflated cwnd, says the same:
    // 4.06 + 3 and two duplicates more have room for the eight outstanding and one.
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                pipe_at_entry: PipeAtEntry::CwndLessThree,
                ..SACK
            }),
            ..tcp()
        },
        8,
    );
    s.acked(1).expect_sent(&[8]).expect_window(8.125, 8.0);
    s.dup_acks(1, 2).acked_with(1, &[(2, 5)]); // 1 is lost: pipe 8 - 3
    s.expect_sent(&[1]).expect_window(4.0625, 4.0625);
    s.acked_with(1, &[(2, 6)]).expect_sent(&[]); // 4
    s.acked_with(1, &[(2, 7)]).expect_sent(&[9]); // 3
}

#[test]
fn sack_sends_only_where_pipe_leaves_room_for_a_whole_segment() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                pipe_at_entry: PipeAtEntry::CwndLessThree,
                ..SACK
            }),
            ..tcp()
        },
        9,
    );
    s.dup_acks(0, 2).acked_with(0, &[(4, 5), (1, 3)]);
    s.expect_sent(&[0]).expect_window(4.5, 4.5); // pipe 6
    s.acked_with(0, &[(4, 6), (1, 3)]).expect_sent(&[]); // 5
    s.acked_with(0, &[(4, 7), (1, 3)]).expect_sent(&[]); // 4: half a segment of room
    s.acked_with(0, &[(4, 8), (1, 3)]).expect_sent(&[3]); // 3
}

#[test]
fn a_duplicate_counts_for_sack_whether_its_blocks_tell_anything_new_or_not() {
    // ICCCN'97 3: "for every subsequent duplicate ACK", as each is a segment that left.
    let third_hole_after = |last: [&[(u64, u64)]; 2]| {
        let mut s = Script::established(tcp(), 12);
        s.dup_acks(0, 2).acked_with(0, &[(2, 5)]); // 0, 1 lost; pipe 12, cwnd 6
        for high in 6..=10 {
            s.acked_with(0, &[(2, high)]);
        }
        s.expect_sent(&[0]); // pipe 7
        s.acked_with(0, last[0]).acked_with(0, last[1]);
        s.sent.clone()
    };
    assert_eq!(third_hole_after([&[(2, 11)], &[(2, 12)]]), [1]);
    assert_eq!(third_hole_after([&[(2, 10)], &[]]), [1]);
}

#[test]
fn sack_sends_a_hole_once_and_new_data_after_it() {
    let mut s = Script::established(tcp(), 12);
    s.dup_acks(0, 2).acked_with(0, &[(2, 5)]); // 0, 1 lost; pipe 12, cwnd 6
    s.expect_sent(&[0]);
    for high in 6..=11 {
        s.acked_with(0, &[(2, high)]);
    }
    s.expect_sent(&[]); // six more: pipe 6
    s.acked_with(0, &[(2, 12)]).expect_sent(&[1]); // pipe 5: the hole
    s.acked_with(0, &[(2, 12)]).expect_sent(&[12]); // then new data
    s.acked_with(1, &[(2, 12)]).expect_sent(&[13, 14]); // partial ACK: two
}

#[test]
fn what_is_handed_over_while_sack_recovers_waits_for_pipe() {
    // 98-0876R1 3.2. Five segments under way, cwnd 12: pipe 12, then cwnd 6.
    let mut s = Script::limited(tcp(), 12, 5);
    s.expect_sent(&[0, 1, 2, 3, 4]);
    s.dup_acks(0, 3).expect_sent(&[0]).expect_window(6.0, 6.0);
    s.hand_over(4).expect_sent(&[]);
    s.dup_acks(0, 6).expect_sent(&[]); // pipe 6
    s.dup_acks(0, 1).expect_sent(&[5]); // pipe 5, so one
    s.acked(6).hand_over(1).expect_sent(&[6, 7, 8, 9]);
}

#[test]
fn a_delayed_sack_retransmission_waits_for_segments_above_the_hole() {
    let with_delay = |sack_retransmit_delay| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::Sack(SackSpec {
                    retransmit_delay: sack_retransmit_delay,
                    ..SACK
                }),
                ..tcp()
            },
            12,
        );
        s.dup_acks(0, 2).acked_with(0, &[(1, 3)]);
        for _ in 0..6 {
            s.acked_with(0, &[(1, 3), (4, 5)]);
        }
        s.expect_sent(&[0]);
        // pipe 5 < cwnd 6: hole 3 has one segment above it.
        s.acked_with(0, &[(1, 3), (4, 5)]);
        s.sent.clone()
    };
    assert_eq!(with_delay(RetransmitDelay::None), [3]);
    assert_eq!(with_delay(RetransmitDelay::Segments { count: 1 }), [3]);
    assert_eq!(with_delay(RetransmitDelay::Segments { count: 2 }), [12]);
}

/// Twelve segments under way of which 0, 1, 2 and 3 are lost, up to the partial ACK of 0.
fn after_a_partial_ack(sack_partial_ack: SackPartialAck) -> Script {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                partial_ack: sack_partial_ack,
                ..SACK
            }),
            ..tcp()
        },
        12,
    );
    s.dup_acks(0, 2).acked_with(0, &[(4, 7)]).expect_sent(&[0]); // pipe 12, cwnd 6
    for high in 8..=12 {
        s.acked_with(0, &[(4, high)]);
    }
    s.expect_sent(&[]); // pipe 7
    s.acked_with(1, &[(4, 12)]);
    s
}

#[test]
fn a_partial_ack_takes_two_off_pipe_or_one_or_resends_two_holes() {
    use SackPartialAck::*;
    after_a_partial_ack(PipeLessTwo).expect_sent(&[1]); // pipe 5
    after_a_partial_ack(PipeLessOne).expect_sent(&[]); // pipe 6
    after_a_partial_ack(ResendsTwo).expect_sent(&[1, 2]); // pipe 5, then 7
}

#[test]
fn a_partial_ack_may_end_the_recovery_of_sack() {
    let mut s = after_a_partial_ack(SackPartialAck::EndsRecovery);
    // As Reno: cwnd = ssthresh, and what lies above snd_una counts against it.
    s.expect_window(6.0, 6.0).expect_sent(&[]);
    s.dup_acks(1, 3).expect_sent(&[1]).expect_window(3.0, 3.0); // a recovery of its own
}

#[test]
fn a_fraction_of_a_segment_below_cwnd_is_room_for_one_or_is_not() {
    let sends = |sack_pipe_room, sent_by_acks: [&[u64]; 3]| {
        let rule = TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                pipe_room: sack_pipe_room,
                ..SACK
            }),
            ..tcp()
        };
        let mut s = Script::established(rule, 11);
        s.dup_acks(0, 2).acked_with(0, &[(1, 4)]).expect_sent(&[0]); // pipe 11, cwnd 5.5
        for high in 5..=8 {
            s.acked_with(0, &[(1, high)]).expect_sent(&[]); // pipe 7
        }
        for (high, sent) in (9..).zip(sent_by_acks) {
            s.acked_with(0, &[(1, high)]).expect_sent(sent);
        }
    };
    sends(PipeRoom::Segment, [&[], &[], &[11]]); // pipe 6, 5, 4
    sends(PipeRoom::Any, [&[], &[11], &[12]]); // pipe 6, 5, 5
}

#[test]
fn every_partial_ack_restarts_the_timer_or_the_first_or_none() {
    let deadline = |sack_partial_ack_restarts| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::Sack(SackSpec {
                    partial_ack_restarts: sack_partial_ack_restarts,
                    ..SACK
                }),
                ..tcp()
            },
            12,
        );
        s.at_millis(1_000).dup_acks(0, 2); // 0, 1 and 2 are lost
        s.acked_with(0, &[(3, 6)]).expect_sent(&[0]);
        s.at_millis(1_700).acked_with(1, &[(3, 12)]);
        s.at_millis(2_400).acked_with(2, &[(3, 12)]);
        s.sender.deadline().unwrap()
    };
    let every = deadline(PartialAckRestarts::Every);
    let before = |millis| SimTime(every.0 - SimTime::from_millis(millis).0);
    assert_eq!(deadline(PartialAckRestarts::First), before(700));
    assert_eq!(deadline(PartialAckRestarts::None), before(1_400));
}

#[test]
fn a_recovery_amid_what_a_timeout_goes_back_to_goes_on_with_that_before_new_data() {
    // 0, 1, 2, 6 and all from 20 on are lost. Whether the application has more matters not.
    for more in [0, 9] {
        let mut s = Script::limited(tcp(), 32, 32 + more);
        s.sent.clear();
        s.timeout().acked(1).acked(2).expect_sent(&[0, 1, 2, 3, 4]);
        s.acked(6).expect_sent(&[6, 7, 8, 9]);
        s.dup_acks(6, 2).acked(20); // 3 and 4 were there, 6 was missing
        s.expect_sent(&[20, 21, 22, 23, 24]);
        s.dup_acks(20, 3).expect_sent(&[20]); // so were 7, 8 and 9: pipe 5, cwnd 2.5
        s.acked(21).acked(22).expect_sent(&[25]); // pipe 3, then 1
        s.acked(23).expect_sent(&[26, 27]); // pipe 0
        // 28 and 29 turn out to be there: first the hole below them, then what lies above.
        s.acked_with(24, &[(28, 30)]).expect_sent(&[24, 25]);
        s.acked_with(28, &[]).expect_sent(&[30, 31]);
    }
}

#[test]
fn a_recovery_that_has_reached_recover_forbids_none_for_what_was_sent_since() {
    // RFC 6675 5.1 and Fall and Floyd: only a timeout's `recover` outlives it.
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                avoid_multiple_fast_retransmits: true,
                ..SACK
            }),
            ..tcp()
        },
        8,
    );
    s.dup_acks(0, 2).acked_with(0, &[(1, 4)]); // 0 is lost; recover = 8, pipe 8, cwnd 4
    for high in 5..=8 {
        s.acked_with(0, &[(1, high)]);
    }
    s.expect_sent(&[0]); // pipe 4
    s.acked(8).expect_sent(&[8, 9, 10, 11]); // 8 is lost, too
    s.acked_with(8, &[(9, 10)]).acked_with(8, &[(9, 11)]);
    s.acked_with(8, &[(9, 12)]).expect_sent(&[8]);
    assert_eq!(s.sender.counters().fast_retransmits, 2);
}

#[test]
fn a_timeout_clears_the_scoreboard() {
    let mut s = Script::established(tcp(), 8);
    s.acked_with(0, &[(4, 8)]).timeout().expect_sent(&[0]);
    assert!(s.sender.tx.sacked.is_empty());
    s.acked(1).expect_sent(&[1, 2]); // SACKed segments are sent again, too
}

#[test]
fn the_block_of_the_last_segment_sent_shows_the_holes_below_it() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                pipe_at_entry: PipeAtEntry::CwndLessThree,
                ..SACK
            }),
            ..tcp()
        },
        4,
    );
    // 0, 1 and 2 are lost, and only what 3 caused tells: pipe 1, cwnd 2.
    s.dup_acks(0, 2).acked_with(0, &[(3, 4)]);
    s.expect_sent(&[0, 1]);
}

#[test]
fn what_sack_may_send_but_the_application_has_not_counts_in_pipe_once_it_is_sent() {
    // 98-0876R1 3.2. Five segments under way, cwnd 12: pipe 12, then cwnd 6.
    let mut s = Script::limited(tcp(), 12, 5);
    s.dup_acks(0, 3).dup_acks(0, 8); // pipe 4
    s.expect_sent(&[0, 1, 2, 3, 4, 0]);
    s.hand_over(4).expect_sent(&[5, 6]);
}

#[test]
fn a_hole_shorter_than_a_segment_is_resent_without_what_lies_above_it() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                pipe_at_entry: PipeAtEntry::CwndLessThree,
                ..SACK
            }),
            ..tcp()
        },
        4,
    );
    s.dup_acks(0, 2);
    let mut ack = Segment {
        window: WINDOW,
        ..Segment::bare(SegmentKind::Ack, 0)
    };
    ack.sack.push((MSS + 500, 4 * MSS));
    let mut out = Vec::new();
    s.sender.on_segment(s.now, &ack, &mut out);
    let sent: Vec<_> = out.iter().map(|s| (s.sequence, s.length)).collect();
    assert_eq!(sent, [(0, 1_000), (MSS, 500)]);
}

#[test]
fn a_partial_ack_that_ends_a_recovery_leaves_recover_where_it_was() {
    // RFC 6582 3.2 step 2: what was sent before it makes duplicates of its own.
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                partial_ack: SackPartialAck::EndsRecovery,
                avoid_multiple_fast_retransmits: true,
                ..SACK
            }),
            ..tcp()
        },
        12,
    );
    s.dup_acks(0, 3).acked(1).dup_acks(1, 3);
    assert_eq!(s.sender.counters().fast_retransmits, 1);
}

#[test]
fn a_recovery_that_finds_nothing_to_send_leaves_what_a_timeout_goes_back_to() {
    let mut s = Script::limited(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                partial_ack: SackPartialAck::EndsRecovery,
                ..SACK
            }),
            ..tcp()
        },
        8,
        8,
    );
    s.sent.clear();
    s.timeout().acked(1).expect_sent(&[0, 1, 2]);
    s.dup_acks(1, 2).acked_with(1, &[(7, 8)]); // 1 to 6 are lost: pipe 2, cwnd 2
    (0..7).for_each(|_| {
        s.acked_with(1, &[(7, 8)]);
    });
    s.expect_sent(&[1, 2, 3, 4, 5, 6]); // and nothing above the block
    s.acked(6).expect_sent(&[7]); // cwnd 2
}

#[test]
fn holes_that_a_recovery_has_resent_are_not_sent_again_where_a_partial_ack_ends_it() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                partial_ack: SackPartialAck::EndsRecovery,
                ..SACK
            }),
            ..tcp()
        },
        8,
    );
    s.timeout().acked(1).expect_sent(&[0, 1, 2]);
    s.dup_acks(1, 2).acked_with(1, &[(7, 8)]); // 1 to 6 are lost: pipe 2, cwnd 2
    (0..3).for_each(|_| {
        s.acked_with(1, &[(7, 8)]);
    });
    s.expect_sent(&[1, 2, 3, 4]);
    // As with NewReno: 3 and 4 are under way, and fill the window of 2.
    s.acked(3).expect_sent(&[]);
    s.acked(4).expect_sent(&[5]);
}
