//! Exchanges with marks.

use super::*;
use crate::receiver::Receiver;
use crate::segment::{Segment, SegmentKind};
use crate::sender::tests::{
    CUBIC, DCTCP, MSS, NEW_RENO, PRAGUE, RACK_TLP, RENO, SACK, Script, VANILLA, WINDOW, tcp,
};
use crate::spec::{CongestionSpec, DelayedAckSpec, RecoverySpec, TcpSpec};
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

fn scalable(congestion: CongestionSpec) -> TcpSpec {
    TcpSpec {
        congestion,
        ecn: EcnUse::Accurate,
        ..tcp()
    }
}

#[test]
fn dctcp_cuts_by_half_of_the_part_that_is_marked() {
    let mut s = Script::established(scalable(CongestionSpec::Dctcp(DCTCP)), 8);
    // RFC 8257 3.3. The first ACK ends an empty window: alpha = 15/16, and WindowEnd = 8. The ninth is the first beyond
    // it, and the only one marked of the eight since: alpha = (15/16)^2 + 1/16 x 1/8.
    (1..=8).for_each(|k| {
        s.acked(k);
    });
    let grown = s.sender.cwnd();
    echo(&mut s, 9);
    let alpha = 0.9375 * 0.9375 + 0.0625 / 8.0;
    let left = grown * (1.0 - alpha / 2.0);
    s.expect_window(left / 1_000.0, left / 1_000.0);
    // Once for a window of data, whatever is marked in it, and a marked ACK does not make it grow.
    echo(&mut s, 10);
    s.expect_window(left / 1_000.0, left / 1_000.0);
    assert_eq!(s.sender.ecn_reductions(), 1);
}

#[test]
fn prague_holds_alpha_until_the_first_mark_and_sends_ect1() {
    let mut s = Script::established(scalable(CongestionSpec::Prague(PRAGUE)), 8);
    (1..=8).for_each(|k| {
        s.acked(k);
    });
    let grown = s.sender.cwnd();
    let sent = echo(&mut s, 9);
    s.expect_window(grown / 2_000.0, grown / 2_000.0);
    assert!(sent.is_empty());
    let sent: Vec<_> = (10..=15).flat_map(|k| echo(&mut s, k)).collect();
    assert!(sent.iter().all(|segment| segment.ecn == Ecn::Ect1) && !sent.is_empty());
}

#[test]
fn a_loss_halves_the_window_of_scalable_senders() {
    for congestion in [CongestionSpec::Dctcp(DCTCP), CongestionSpec::Prague(PRAGUE)] {
        let mut s = Script::established(scalable(congestion), 8);
        (1..=20).for_each(|k| {
            s.acked(k);
        });
        let grown = s.sender.cwnd();
        s.dup_acks(20, 3);
        s.expect_window(grown / 2_000.0, grown / 2_000.0);
    }
}

/// Returns the answers of a receiver that holds ACKs back for two segments, up to which segment and
/// whether marked.
fn answers(fields: &[Ecn]) -> Vec<(u64, bool)> {
    let mut receiver = Receiver::new(TcpSpec {
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 1_000,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 0,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..scalable(CongestionSpec::Dctcp(DCTCP))
    });
    let mut out = Vec::new();
    for (k, &ecn) in fields.iter().enumerate() {
        let segment = Segment {
            sequence: k as u64 * MSS,
            length: MSS as u32,
            ecn,
            ..Segment::bare(SegmentKind::Data, 0)
        };
        receiver.on_segment(SimTime::ZERO, &segment, &mut out);
    }
    out.iter()
        .map(|ack| (ack.acknowledgement / MSS, ack.ece))
        .collect()
}

#[test]
fn a_change_of_marks_is_reported_at_once_and_what_was_held_apart() {
    use Ecn::{Ce, Ect0};
    // RFC 8257 3.2: the third segment is held as the fourth comes with a mark, which so is not said of it.
    let reported = answers(&[Ect0, Ect0, Ect0, Ce, Ce, Ce, Ect0, Ect0]);
    let expected = [(2, false), (3, false), (4, true), (6, true), (7, false)];
    assert_eq!(reported, expected);
}

/// Mean window, segments, of a sender with a mark on every `spacing`-th segment, over rounds in the second half of many.
fn mean_window(congestion: CongestionSpec, recovery: RecoverySpec, spacing: u64) -> f64 {
    let tcp = TcpSpec {
        recovery,
        tick_ps: SimTime::from_millis(1).0,
        ..scalable(congestion)
    };
    let mut s = Script::established(tcp, 20);
    let (mut sum, mut count, total) = (0.0, 0, 400 * spacing);
    for k in 1..=total {
        s.now = SimTime::from_millis(10 + k);
        if k % spacing == 0 {
            echo(&mut s, k);
        } else {
            s.acked(k);
        }
        if 2 * k > total {
            sum += s.sender.cwnd() / MSS as f64;
            count += 1;
        }
    }
    sum / f64::from(count)
}

#[test]
fn two_to_three_marks_in_a_window_hold_it_whatever_its_size() {
    // A segment's growth against alpha / 2 of the window: with a cut for each round trip W = 2 / p. The cut waits for the
    // first mark after a window, at most a spacing more, in which it grows on: W up to 3 / p.
    for spacing in [10, 25, 50] {
        for congestion in [CongestionSpec::Dctcp(DCTCP), CongestionSpec::Prague(PRAGUE)] {
            let marks = mean_window(congestion, RecoverySpec::Sack(SACK), spacing) / spacing as f64;
            assert!((1.7..3.0).contains(&marks), "{marks} of {spacing}");
        }
        let prague = CongestionSpec::Prague(PRAGUE);
        let marks = mean_window(prague, RecoverySpec::RackTlp(RACK_TLP), spacing) / spacing as f64;
        assert!((1.7..3.0).contains(&marks), "{marks} of {spacing}, RACK");
    }
}
