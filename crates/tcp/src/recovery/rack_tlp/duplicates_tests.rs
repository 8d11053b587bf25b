//! Exchanges with a receiver that says what came twice. No timestamps: nothing else tells a late segment from a repeated one.
//! Segments 0 to 9 leave at 10 ms, a clock of 1 ms, cwnd and ssthresh of 10 segments before.

use super::super::RackTlpSpec;
use super::super::exchange_tests::tcp;
use crate::sender::tests::{MSS, RACK_TLP, Script};
use crate::spec::{RecoverySpec, TcpSpec};

fn saying(dsack: bool) -> TcpSpec {
    let recovery = RecoverySpec::RackTlp(RackTlpSpec {
        undo: true,
        dsack,
        ..RACK_TLP
    });
    TcpSpec { recovery, ..tcp() }
}

/// 0 overtaken by 1 to 3: a recovery at 110 ms, which repeats 0 and halves ssthresh; all arrives, and ends it.
fn overtaken(dsack: bool) -> Script {
    let mut s = Script::established(saying(dsack), 10);
    s.at_millis(110);
    for end in 2..=4 {
        s.acked_with(0, &[(1, end)]);
    }
    s.expect_sent(&[10, 11, 0]).expect_window(9.0, 5.0);
    s.at_millis(112).acked(12);
    expect(&s, 0, (5.2, 5.0));
    s
}

/// Cuts taken back, cwnd and ssthresh in segments, to a hundredth of a segment.
fn expect(s: &Script, undos: u32, window: (f64, f64)) {
    assert_eq!(s.sender.counters().undos, undos);
    let in_segments = |octets: f64| (octets / MSS as f64 * 100.0).round() / 100.0;
    let got = (
        in_segments(s.sender.cwnd()),
        in_segments(s.sender.ssthresh()),
    );
    assert_eq!(got, window);
}

#[test]
fn a_recovery_is_taken_back_once_all_that_it_repeated_has_come_twice() {
    // RFC 3708 section 2: the repetition of 0 arrives a round trip later than 0 did.
    for (dsack, undos, window) in [(true, 1, (10.0, 10.0)), (false, 0, (5.2, 5.0))] {
        let mut s = overtaken(dsack);
        s.at_millis(210).acked_with(12, &[(0, 1)]);
        expect(&s, undos, window);
    }
}

#[test]
fn one_of_two_repetitions_that_came_twice_takes_nothing_back() {
    let mut s = Script::established(saying(true), 10);
    s.at_millis(110);
    for end in 3..=10 {
        s.acked_with(0, &[(2, end)]);
    }
    assert!(s.sent.contains(&0) && s.sent.contains(&1), "{:?}", s.sent);
    let end = 10 + s.sent.iter().filter(|&&segment| segment >= 10).count() as u64;
    s.at_millis(112).acked(end);
    s.at_millis(210).acked_with(end, &[(0, 1)]);
    expect(&s, 0, (5.2, 5.0));
    s.acked_with(end, &[(1, 2)]);
    expect(&s, 1, (10.0, 10.0));
}

#[test]
fn what_the_network_has_doubled_takes_nothing_back() {
    // 4 was sent once: the receiver has had 0 to 4 and 4 again, and a repetition of 0 is to come.
    let mut s = Script::established(saying(true), 10);
    s.at_millis(110).acked_with(5, &[(4, 5)]);
    expect(&s, 0, (10.1, 10.0));
    for end in 7..=9 {
        s.acked_with(5, &[(6, end)]);
    }
    s.at_millis(112).acked(12).at_millis(210);
    // One segment has been repeated, and two are said to have come twice.
    s.acked_with(12, &[(5, 6)]);
    expect(&s, 0, (5.0, 5.05));
}

#[test]
fn a_timeout_whose_repetition_came_twice_waits_for_what_was_sent_once() {
    // RFC 5682 section 3.1, the enhanced version: without the block the repetition's answer is a duplicate, and what is
    // lost is repeated.
    for (dsack, undos) in [(true, 1), (false, 0)] {
        let mut s = Script::established(saying(dsack), 4);
        s.timeout().expect_sent(&[4]);
        s.timeout().expect_sent(&[0]).expect_window(1.0, 2.0);
        s.acked(1).expect_sent(&[5, 6]);
        let blocks: &[(u64, u64)] = if dsack { &[(0, 1)] } else { &[] };
        s.acked_with(1, blocks);
        s.acked(2);
        assert_eq!(s.sender.counters().undos, undos);
    }
}

#[test]
fn a_probe_that_came_twice_has_repaired_nothing() {
    // The last of four is sent again, and the ACK of a fifth is the first that comes: without the block the probe has
    // repaired a loss (RFC 8985 section 7.4.2).
    for (dsack, ssthresh) in [(true, 10.0), (false, 5.0)] {
        let tcp = TcpSpec {
            initial_ssthresh: 10 * MSS,
            ..saying(dsack)
        };
        let mut s = Script::limited(tcp, 10, 4);
        s.timeout().expect_sent(&[0, 1, 2, 3, 3]);
        s.hand_over(1).expect_sent(&[4]);
        let blocks: &[(u64, u64)] = if dsack { &[(3, 4)] } else { &[] };
        s.acked_with(5, blocks);
        assert_eq!(s.sender.ssthresh(), ssthresh * MSS as f64);
    }
}
