//! Exchanges with marks.

use super::*;
use crate::receiver::Receiver;
use crate::segment::{Segment, SegmentKind};
use crate::sender::tests::{CUBIC, MSS, NEW_RENO, RENO, SACK, Script, VANILLA, WINDOW, tcp};
use crate::spec::{CongestionSpec, RecoverySpec, TcpSpec};
use skycell_units::SimTime;

fn with_ecn(recovery: RecoverySpec) -> TcpSpec {
    TcpSpec {
        recovery,
        ecn: EcnUse::Classic,
        ..tcp()
    }
}

/// An acknowledgement of `segments` segments that echoes a mark; the segments that it lets out.
fn echo(s: &mut Script, segments: u64) -> Vec<Segment> {
    let ack = Segment {
        acknowledgement: segments * MSS,
        window: WINDOW,
        ece: true,
        ..Segment::bare(SegmentKind::Ack, 0)
    };
    let mut out = Vec::new();
    s.sender.on_segment(s.now, &ack, &mut out);
    out
}

#[test]
fn an_echo_halves_the_window_once_for_each_window_of_data() {
    for recovery in [
        RecoverySpec::Vanilla(VANILLA),
        RecoverySpec::Reno(RENO),
        RecoverySpec::NewReno(NEW_RENO),
        RecoverySpec::Sack(SACK),
    ] {
        let mut s = Script::established(with_ecn(recovery), 8);
        assert_eq!(echo(&mut s, 1), []); // 7 outstanding, cwnd 4: 0 to 7 were sent before
        s.expect_window(4.0, 4.0);
        (2..=4).for_each(|k| assert_eq!(echo(&mut s, k), []));
        let sent: Vec<_> = (5..=8).flat_map(|k| echo(&mut s, k)).collect();
        // Up to recover = 8 no echo reduces, and none grows. 4 and what goes out say that it was heard, once.
        s.expect_window(4.0, 4.0);
        let flags: Vec<_> = sent
            .iter()
            .map(|segment| (segment.sequence / MSS, segment.ecn, segment.cwr))
            .collect();
        let data = |k, cwr| (k, Ecn::Ect0, cwr);
        assert_eq!(
            flags,
            [
                data(8, true),
                data(9, false),
                data(10, false),
                data(11, false)
            ]
        );
        echo(&mut s, 9);
        s.expect_window(2.0, 2.0);
        assert_eq!(s.sender.ecn_reductions(), 2);
        assert_eq!(s.sender.counters().fast_retransmits, 0);
    }
}

#[test]
fn a_window_that_a_loss_has_reduced_is_not_reduced_for_a_mark_before_it() {
    let mut s = Script::established(with_ecn(RecoverySpec::Sack(SACK)), 8);
    s.dup_acks(0, 3).expect_window(4.0, 4.0).expect_sent(&[0]);
    echo(&mut s, 8); // recover: ends the recovery
    s.expect_window(4.0, 4.0);
    echo(&mut s, 9);
    s.expect_window(2.0, 2.0);
}

#[test]
fn what_is_sent_again_is_not_marked() {
    let mut s = Script::established(with_ecn(RecoverySpec::Reno(RENO)), 4);
    let deadline = s.sender.deadline().expect("the timer runs");
    let mut out = Vec::new();
    s.sender.on_timeout(deadline, &mut out);
    assert_eq!(
        (out.len(), out[0].sequence, out[0].ecn, out[0].cwr),
        (1, 0, Ecn::NotEct, false)
    );
}

#[test]
fn cubic_leaves_seven_tenths_at_a_mark() {
    let cubic = TcpSpec {
        congestion: CongestionSpec::Cubic(CUBIC),
        ..with_ecn(RecoverySpec::Sack(SACK))
    };
    let mut s = Script::established(cubic, 10);
    echo(&mut s, 1);
    s.expect_window(7.0, 7.0);
}

#[test]
fn a_sender_without_ecn_does_not_ask_for_marks_and_hears_of_none() {
    let mut s = Script::established(tcp(), 8);
    let sent = echo(&mut s, 1);
    assert!(sent.iter().all(|segment| segment.ecn == Ecn::NotEct));
    s.expect_window(8.0, 8.0); // no growth with an echo, but no reduction either
}

#[test]
fn a_mark_is_echoed_until_the_sender_says_that_it_slowed_down() {
    let mut receiver = Receiver::new(with_ecn(RecoverySpec::Sack(SACK)));
    let mut out = Vec::new();
    // (ECN field, CWR) of each segment.
    for (k, (ecn, cwr)) in [
        (Ecn::Ect0, false),
        (Ecn::Ce, false),
        (Ecn::Ect0, false),
        (Ecn::Ect0, true),
        (Ecn::Ce, true),
        (Ecn::NotEct, false),
    ]
    .into_iter()
    .enumerate()
    {
        let segment = Segment {
            sequence: k as u64 * MSS,
            length: MSS as u32,
            ecn,
            cwr,
            ..Segment::bare(SegmentKind::Data, 0)
        };
        receiver.on_segment(SimTime::ZERO, &segment, &mut out);
    }
    let echoed: Vec<_> = out.iter().map(|ack| ack.ece).collect();
    assert_eq!(echoed, [false, true, true, false, true, true]);
    assert!(out.iter().all(|ack| ack.ecn == Ecn::NotEct));
    assert_eq!(receiver.counters().marked, 2);
}
