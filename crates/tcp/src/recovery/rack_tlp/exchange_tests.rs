//! Exchanges of a sender that recovers by time: what it sends, ACK by ACK. Round trips of 100 ms, a clock of 1 ms.

use super::*;
use crate::sender::tests::{MSS, RACK_TLP, Script, tcp as with_sack};
use crate::spec::{RecoverySpec, RttEstimator, TcpSpec};
use skycell_units::SimTime;

pub(super) fn tcp() -> TcpSpec {
    TcpSpec {
        recovery: RecoverySpec::RackTlp(RACK_TLP),
        tick_ps: SimTime::from_millis(1).0,
        rto_min_ticks: 200,
        rtt_estimator: RttEstimator::Linux,
        rto_initial_ticks: 1_000,
        rto_max_ticks: 120_000,
        ..with_sack()
    }
}

impl Script {
    /// The timer runs out at `ms`.
    fn expect_timer(&mut self, ms: u64) -> &mut Self {
        assert_eq!(self.sender.deadline(), Some(SimTime::from_millis(ms)));
        self
    }

    fn expect_counts(&mut self, fast_retransmits: u64, timeouts: u64) -> &mut Self {
        let counted = self.sender.counters();
        assert_eq!(
            (counted.fast_retransmits, counted.timeouts),
            (fast_retransmits, timeouts)
        );
        self
    }
}

#[test]
fn one_loss_halves_the_window_a_segment_for_every_two_that_arrive() {
    let mut s = Script::established(tcp(), 10); // 0 is lost
    // Two SACKs each take a segment off the pipe: limited transmit.
    s.at_millis(110).acked_with(0, &[(1, 2)]).expect_sent(&[10]);
    s.acked_with(0, &[(1, 3)]).expect_sent(&[11]);
    // Lost: pipe = 12 - 3 - 1, ssthresh 5; ceil(5 * 1 / 10) = 1 goes out.
    s.acked_with(0, &[(1, 4)]).expect_sent(&[0]);
    s.expect_window(9.0, 5.0).expect_counts(1, 0);
    // ceil(5 d / 10) less those sent, for d = 2, 3, 4, 5, 6.
    for (end, sent) in [
        (5, None),
        (6, Some(12)),
        (7, None),
        (8, Some(13)),
        (9, None),
    ] {
        s.acked_with(0, &[(1, end)]);
        s.expect_sent(sent.as_slice());
    }
    // pipe = 14 - 9 = 5: at ssthresh.
    s.acked_with(0, &[(1, 10)])
        .expect_sent(&[])
        .expect_window(5.0, 5.0);
    s.at_millis(210)
        .acked_with(0, &[(1, 11)])
        .expect_sent(&[14]);
    s.acked_with(0, &[(1, 12)]).expect_sent(&[15]);
    // All up to 12, where recovery began: cwnd = ssthresh, and the ACK counts for congestion avoidance.
    s.acked(12).expect_window(5.2, 5.0).expect_sent(&[16]);
    s.expect_counts(1, 0);
}

#[test]
fn lost_segments_leave_the_pipe_and_go_out_as_others_arrive() {
    let mut s = Script::established(tcp(), 10); // 0 to 4 are lost
    s.at_millis(110)
        .acked_with(0, &[(5, 6)])
        .acked_with(0, &[(5, 7)]);
    s.expect_sent(&[10, 11]);
    // pipe = 12 - 3 - 5 = 4, below ssthresh: as many as arrive.
    for (end, sent) in [(8, 0), (9, 1), (10, 2)] {
        s.acked_with(0, &[(5, end)]).expect_sent(&[sent]);
    }
    s.at_millis(210).acked_with(0, &[(5, 11)]).expect_sent(&[3]);
    s.acked_with(0, &[(5, 12)]).expect_sent(&[4]);
    // An ACK of new data that finds no further loss may send one more than arrived, up to ssthresh.
    s.acked_with(1, &[(5, 12)]).expect_sent(&[12]);
    s.expect_counts(1, 0).expect_window(5.0, 5.0);
}

#[test]
fn a_retransmission_that_is_lost_is_sent_again_as_what_was_sent_after_it_arrives() {
    let mut s = Script::established(tcp(), 10);
    s.at_millis(110);
    for end in 2..=6 {
        s.acked_with(0, &[(1, end)]);
    }
    s.expect_sent(&[10, 11, 0, 12]); // 12 after 0, at the same time
    s.at_millis(210)
        .acked_with(0, &[(1, 7)])
        .acked_with(0, &[(1, 12)]);
    s.sent.clear();
    s.acked_with(0, &[(1, 13)]);
    assert_eq!(s.sent[0], 0);
    s.expect_counts(1, 0);
    assert_eq!(s.sender.counters().segments_retransmitted, 2);
}

#[test]
fn what_may_only_be_late_is_waited_for_a_quarter_of_the_least_round_trip() {
    let mut s = Script::established(tcp(), 10);
    s.at_millis(110).acked_with(0, &[(1, 2)]);
    // 100 / 4 ms and two of slack.
    s.expect_sent(&[10]).expect_timer(137);
    s.timeout().expect_sent(&[0]).expect_counts(1, 0);
    s.expect_window(10.0, 5.0); // pipe 9 with the retransmission, one goes out

    let mut s = Script::established(tcp(), 10);
    s.at_millis(110).acked_with(0, &[(1, 2)]).at_millis(120);
    s.acked(2).expect_counts(0, 0);
    s.sent.clear();
    // It has reordered: three SACKs are no proof from now on.
    s.at_millis(121);
    for end in 4..=6 {
        s.acked_with(2, &[(3, end)]);
    }
    s.expect_counts(0, 0);
    s.timeout().expect_counts(1, 0);
    assert!(s.sent.ends_with(&[2]), "{:?}", s.sent);
}

#[test]
fn the_last_segments_loss_is_probed_for_before_any_timeout() {
    let mut s = Script::limited(tcp(), 10, 3);
    // srtt = 100 ms: 2 srtt + 2 from now, before RTO of 100 + 200.
    s.at_millis(110).acked(1).expect_timer(110 + 202);
    s.sent.clear();
    s.timeout().expect_sent(&[2]).expect_counts(0, 0);
    // RTO counts from the probe.
    let rto = s.sender.tx.rto.ticks(&s.sender.tx.tcp);
    s.expect_timer(312 + rto);
    // 1 had arrived, 2 had not: the probe repairs it. The next ACK shows so, and costs what a loss does.
    s.at_millis(414).acked(3).expect_window(12.0, 1_000.0);
    s.hand_over(1).at_millis(514).acked(4);
    s.expect_window(6.0 + 1.0 / 6.0, 6.0).expect_counts(0, 0);
}

#[test]
fn a_probe_that_was_not_needed_costs_nothing() {
    let mut s = Script::limited(tcp(), 10, 2);
    s.at_millis(110).acked(1).timeout();
    s.acked(2).acked(2); // both arrived, one after the other
    s.hand_over(1).at_millis(900).acked(3);
    s.expect_window(13.0, 1_000.0).expect_counts(0, 0);
}

#[test]
fn a_probe_is_new_data_where_there_is_some() {
    let mut s = Script::established(tcp(), 4);
    s.timeout().expect_sent(&[4]).expect_counts(0, 0);
    s.acked(5).expect_counts(0, 0);
    s.expect_window(4.25, 4.0); // nothing was lost
}

#[test]
fn a_timeout_leaves_the_scoreboard_standing() {
    let mut s = Script::established(tcp(), 4);
    s.timeout().expect_sent(&[4]); // the probe
    s.timeout()
        .expect_sent(&[0])
        .expect_window(1.0, 2.0)
        .expect_counts(0, 1);
    s.acked_with(0, &[(4, 5)]).expect_sent(&[]);
    s.acked_with(1, &[(4, 5)])
        .expect_sent(&[1, 2])
        .expect_window(2.0, 2.0);
    // 4 is not sent again.
    s.acked_with(3, &[(4, 5)]).expect_sent(&[3, 5]);
    s.expect_counts(0, 1);
}

#[test]
fn a_second_timeout_cuts_no_further_unless_something_was_acknowledged() {
    let mut s = Script::established(tcp(), 20);
    s.timeout().timeout().expect_window(1.0, 10.0);
    s.timeout().expect_window(1.0, 10.0).expect_counts(0, 2);
    s.acked(1).expect_window(2.0, 10.0);
    s.timeout().expect_window(1.0, 2.0);
}

#[test]
fn a_window_of_which_half_is_used_grows_in_slow_start_only() {
    for (ssthresh, segments, cwnd) in [
        (1_000, 6, 11.0),
        (1_000, 5, 10.0),
        (10, 9, 10.0),
        (10, 10, 10.1),
    ] {
        let cubic = crate::spec::CongestionSpec::Cubic(crate::sender::tests::CUBIC);
        let limited = TcpSpec {
            congestion: cubic,
            initial_ssthresh: ssthresh * MSS,
            ..tcp()
        };
        let mut s = Script::limited(limited, 10, segments);
        s.at_millis(110).acked(1);
        assert!(
            (s.sender.cwnd() / MSS as f64 - cwnd).abs() < 1e-9,
            "{ssthresh} {segments}"
        );
    }
}

#[test]
fn a_mark_brings_the_window_down_as_segments_arrive() {
    let marked = TcpSpec {
        ecn: crate::spec::EcnUse::Classic,
        ..tcp()
    };
    let mut s = Script::established(marked, 10);
    let ack = |segments: u64, ece| Segment {
        acknowledgement: segments * MSS,
        window: crate::sender::tests::WINDOW,
        ece,
        ..Segment::bare(crate::SegmentKind::Ack, 0)
    };
    let mut sent = Vec::new();
    for segment in 1..=10 {
        let mut out = Vec::new();
        s.sender.on_segment(
            SimTime::from_millis(110),
            &ack(segment, segment < 4),
            &mut out,
        );
        sent.push(out.len());
    }
    assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 0, 1]); // pipe is at ssthresh with the ninth
    s.expect_window(5.0, 5.0);
    assert_eq!(s.sender.ecn_reductions(), 1);
    // Held until more than all of then is acknowledged.
    s.at_millis(210).acked(11).expect_window(5.2, 5.0);
}
