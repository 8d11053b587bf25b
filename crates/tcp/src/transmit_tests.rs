//! Exchanges: what window, Nagle and limited transmit let out.

use crate::sender::tests::{MSS, NEW_RENO, RENO, Script, VANILLA, WINDOW, draws, recovering, tcp};
use crate::spec::*;
use crate::{Segment, SegmentKind, Sender, TickClock};
use skycell_units::SimTime;

/// A sender with one short transfer of `octets` at the given cwnd; lengths of the segments sent.
fn lengths(tcp: TcpSpec, cwnd: u64, transfers: &[u64]) -> Vec<u32> {
    let tcp = TcpSpec {
        initial_cwnd: cwnd,
        ..tcp
    };
    let mut sender = Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0), draws);
    let mut out = Vec::new();
    sender.open(SimTime::ZERO, 0, &mut out);
    for &octets in transfers {
        sender.hand_over(SimTime::ZERO, octets, &mut out);
    }
    out.iter().map(|s| s.length).collect()
}

#[test]
fn nagle_holds_a_short_segment_while_data_is_unacknowledged() {
    let nagle = |nagle| TcpSpec { nagle, ..tcp() };
    assert_eq!(
        lengths(nagle(false), 9 * MSS, &[1_500, 200]),
        [1_000, 500, 200]
    );
    assert_eq!(lengths(nagle(true), 9 * MSS, &[1_500, 200]), [1_000]);
    assert_eq!(lengths(nagle(true), 9 * MSS, &[300]), [300]);
}

#[test]
fn minshalls_rule_holds_a_short_segment_only_behind_another_short_one() {
    let minshall = TcpSpec {
        nagle: true,
        nagle_waits_for: NagleWaitsFor::ShortSegment,
        ..tcp()
    };
    let lengths = |transfers| lengths(minshall.clone(), 9 * MSS, transfers);
    assert_eq!(lengths(&[2_500]), [1_000, 1_000, 500]); // RFC 896 would hold the 500
    assert_eq!(lengths(&[1_500, 200]), [1_000, 500]);
    assert_eq!(lengths(&[1_500, 200, 800]), [1_000, 500, 1_000]); // whole ones go
    assert_eq!(lengths(&[300, 300]), [300]);
    // The ACK of the short segment frees the next one, with whole segments still under way.
    let mut s = Script::limited(minshall.clone(), 9, 0);
    let mut out = Vec::new();
    for octets in [1_500, 2_200] {
        s.sender.hand_over(s.now, octets, &mut out);
    }
    let sent: Vec<u32> = out.drain(..).map(|segment| segment.length).collect();
    assert_eq!(sent, [1_000, 500, 1_000, 1_000]); // 200 left
    let ack = |octets| Segment {
        acknowledgement: octets,
        window: WINDOW,
        ..Segment::bare(SegmentKind::Ack, 0)
    };
    s.sender.on_segment(s.now, &ack(1_000), &mut out);
    assert!(out.is_empty());
    s.sender.on_segment(s.now, &ack(1_500), &mut out);
    assert_eq!(out[0].length, 200);
}

#[test]
fn limited_transmit_sends_a_new_segment_for_each_of_the_first_two_duplicates() {
    // RFC 3042 section 2: two segments beyond cwnd; the third duplicate begins recovery; cwnd stays.
    let limited = |recovery| TcpSpec {
        limited_transmit: true,
        ..recovering(recovery)
    };
    for recovery in [RecoverySpec::Reno(RENO), RecoverySpec::NewReno(NEW_RENO)] {
        let mut s = Script::established(limited(recovery), 4);
        s.acked(0).expect_sent(&[4]);
        s.acked(0).expect_sent(&[5]).expect_window(4.0, 4.0);
        s.acked(0).expect_sent(&[0]); // half of 4, plus 3: 5 allow no new one
        s.acked(0).expect_sent(&[]); // 6 are out
    }
    let mut s = Script::established(limited(RecoverySpec::Vanilla(VANILLA)), 4);
    s.dup_acks(0, 5).expect_sent(&[4, 5]);
    // Duplicates after a timeout repeat what it went back to, and send nothing new.
    s.timeout().expect_sent(&[0]);
    s.dup_acks(0, 2).expect_sent(&[]);
}

#[test]
fn limited_transmit_asks_for_news_in_the_blocks_and_for_room_in_the_receivers_window() {
    let sack = TcpSpec {
        limited_transmit: true,
        ..tcp()
    };
    let mut s = Script::established(sack.clone(), 4);
    s.acked(0).expect_sent(&[]); // no block
    s.acked_with(0, &[(1, 2)]).expect_sent(&[4]);
    let mut s = Script::established(sack.clone(), 4);
    s.acked_with(0, &[(1, 2)]).expect_sent(&[4]);
    s.acked_with(0, &[(1, 2)]).expect_sent(&[]); // nothing new
    let mut narrow = Script::established(
        TcpSpec {
            rwnd: 5 * MSS,
            ..sack
        },
        4,
    );
    let ack = |from: u64| {
        let mut ack = Segment {
            window: 5 * MSS as u32,
            ..Segment::bare(SegmentKind::Ack, 0)
        };
        ack.sack.push((from * MSS, (from + 1) * MSS));
        ack
    };
    let mut out = Vec::new();
    narrow.sender.on_segment(narrow.now, &ack(1), &mut out);
    narrow.sender.on_segment(narrow.now, &ack(2), &mut out);
    assert_eq!(out.len(), 1); // the fifth; the window has no room for the sixth
}

#[test]
fn silly_window_avoidance_sends_no_piece_of_a_segment() {
    let sws = |sws_avoidance| TcpSpec {
        sws_avoidance,
        ..tcp()
    };
    assert_eq!(lengths(sws(true), 2_500, &[9_000]), [1_000, 1_000]);
    assert_eq!(lengths(sws(false), 2_500, &[9_000]), [1_000, 1_000, 500]);
}
