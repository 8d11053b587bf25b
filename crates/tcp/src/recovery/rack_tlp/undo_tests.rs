//! Exchanges in which what was thought lost is late: cwnd and ssthresh, ACK by ACK. Segments 0 to 9 leave at 10 ms, a
//! clock of 1 ms that counts from one, cwnd and ssthresh of 10 segments before.

use super::super::RackTlpSpec;
use super::super::exchange_tests::tcp;
use crate::SegmentKind;
use crate::segment::Segment;
use crate::sender::tests::{MSS, RACK_TLP, Script, WINDOW};
use crate::spec::{RecoverySpec, TcpSpec};
use skycell_units::SimTime;

fn undoing(timestamps: bool) -> TcpSpec {
    TcpSpec {
        recovery: RecoverySpec::RackTlp(RackTlpSpec {
            undo: true,
            ..RACK_TLP
        }),
        timestamps,
        ..tcp()
    }
}

impl Script {
    /// An ACK that echoes what was sent at `ms`.
    fn acked_echoing(&mut self, segments: u64, blocks: &[(u64, u64)], ms: u64) -> &mut Self {
        let mut ack = Segment {
            acknowledgement: segments * MSS,
            window: WINDOW,
            timestamp: ms,
            ..Segment::bare(SegmentKind::Ack, 0)
        };
        blocks
            .iter()
            .for_each(|b| ack.sack.push((b.0 * MSS, b.1 * MSS)));
        let mut out = Vec::new();
        self.sender.on_segment(self.now, &ack, &mut out);
        self.keep(out);
        self
    }

    fn expect_undos(&mut self, undos: u32) -> &mut Self {
        assert_eq!(self.sender.counters().undos, undos);
        self
    }
}

/// 0 overtaken by 1 to 3: a recovery at 110 ms, which repeats 0 and halves ssthresh.
fn overtaken(undo: bool) -> Script {
    let mut s = match undo {
        true => Script::established(undoing(true), 10),
        false => Script::established(
            TcpSpec {
                timestamps: true,
                ..tcp()
            },
            10,
        ),
    };
    s.at_millis(110);
    for end in 2..=4 {
        s.acked_echoing(0, &[(1, end)], 10);
    }
    s.expect_sent(&[10, 11, 0]).expect_window(9.0, 5.0);
    s
}

#[test]
fn an_echo_from_before_the_repetition_ends_a_recovery_with_all_that_it_took() {
    // 12 segments had been sent as recovery began. The ACK of all of them echoes 10: 0 itself has filled the hole.
    for (undo, ssthresh, cwnd) in [(true, 10.0, 10.1), (false, 5.0, 5.0)] {
        let mut s = overtaken(undo);
        s.at_millis(112).acked_echoing(12, &[], 10);
        s.expect_undos(u32::from(undo));
        let mss = MSS as f64;
        assert_eq!(s.sender.ssthresh() / mss, ssthresh);
        assert!((s.sender.cwnd() / mss - cwnd).abs() <= 1.2, "{undo}");
    }
}

#[test]
fn an_echo_of_the_repetition_takes_nothing_back() {
    let mut s = overtaken(true);
    s.at_millis(210).acked_echoing(12, &[], 111);
    s.expect_undos(0);
    assert_eq!(s.sender.ssthresh(), 5.0 * MSS as f64);
}

#[test]
fn a_late_partial_ack_holds_what_is_lost_until_the_repetition_has_arrived() {
    let mut s = overtaken(true);
    s.sent.clear();
    // 0 arrives late and 4 is not there yet: 0's repetition is covered, none is under way, all is as before.
    s.at_millis(112).acked_echoing(4, &[], 10).expect_undos(1);
    assert_eq!(s.sender.ssthresh(), 10.0 * MSS as f64);
    assert!(s.sender.cwnd() >= 10.0 * MSS as f64);
    assert!(s.sent.iter().all(|&segment| segment >= 12), "{:?}", s.sent);
    // Recovery is over (tcp_try_keep_open): the next ACK lets cwnd grow.
    let cwnd = s.sender.cwnd();
    s.at_millis(113).acked_echoing(5, &[], 10).expect_undos(1);
    assert!(s.sender.cwnd() > cwnd);
}

/// All of 0 to 3 are late by more than RTO: the probe 4, then 0 again.
fn timed_out(tcp: TcpSpec) -> Script {
    let mut s = Script::established(tcp, 4);
    s.timeout().expect_sent(&[4]);
    s.timeout().expect_sent(&[0]).expect_window(1.0, 2.0);
    s
}

#[test]
fn an_echo_from_before_a_timeout_says_that_it_was_not_needed() {
    let mut s = timed_out(undoing(true));
    s.acked_echoing(1, &[], 10).expect_undos(1);
    assert_eq!(s.sender.ssthresh(), 4.0 * MSS as f64);
    assert!(s.sender.cwnd() >= 4.0 * MSS as f64);
    assert!(s.sent.iter().all(|&segment| segment > 4), "{:?}", s.sent);
}

#[test]
fn an_original_that_arrives_a_round_trip_after_its_repetition_shows_no_other_lost() {
    let mut s = Script::established(undoing(true), 6);
    s.at_millis(110).acked_echoing(2, &[], 10); // a round trip of 100 ms
    s.timeout().timeout(); // a probe, then 2 again
    assert_eq!(s.sent.last(), Some(&2));
    let highest = *s.sent.iter().max().expect("a probe was sent");
    s.sent.clear();
    let now = s.now.0 / SimTime::from_millis(1).0;
    s.at_millis(now + 150)
        .acked_echoing(3, &[], 10)
        .expect_undos(1);
    assert!(s.sent.iter().all(|&k| k > highest), "{:?}", s.sent);
}

#[test]
fn without_timestamps_new_data_find_out_whether_a_timeout_was_needed() {
    // RFC 5682 section 3.1: the ACK of the repetition sends new data (2.b), that of 1, sent once, says that nothing was
    // lost (3.b).
    let mut s = timed_out(undoing(false));
    s.acked(1).expect_sent(&[5, 6]).expect_window(2.0, 2.0);
    s.acked(2).expect_undos(1);
    assert_eq!(s.sender.ssthresh(), 4.0 * MSS as f64);
    assert!(s.sent.iter().all(|&segment| segment > 6), "{:?}", s.sent);
}

#[test]
fn after_a_timeout_that_was_needed_what_is_lost_is_repeated_a_round_trip_later() {
    // 0 to 4 are lost, the repetition of 0 arrives, and 5 and 6: 3.a.
    let mut s = timed_out(undoing(false));
    s.acked(1).expect_sent(&[5, 6]);
    s.acked_with(1, &[(5, 6)]).expect_undos(0);
    assert_eq!(s.sent.first(), Some(&1));
    s.expect_window(2.0, 2.0);
}

#[test]
fn a_repetition_that_arrives_above_a_hole_shows_an_earlier_one_lost_whatever_is_echoed() {
    let mut s = Script::established(undoing(true), 10); // 0 to 4 are lost
    s.at_millis(110);
    for end in 6..=10 {
        s.acked_echoing(0, &[(5, end)], 10);
    }
    s.expect_sent(&[10, 11, 0, 1, 2]);
    // 0 is lost again, 1 arrives. The receiver echoes nothing from above the hole (RFC 7323 section 4.3).
    s.at_millis(210)
        .acked_echoing(0, &[(1, 2), (5, 10)], 10)
        .expect_sent(&[0]);
}
