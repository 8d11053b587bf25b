//! Windows that applications do not use: octets in thousands, a clock of 100 ms where nothing else is said.

use super::*;
use crate::sender::tests::{MSS, Script, tcp};

fn validating(cwnd_validation: CwndValidation) -> TcpSpec {
    TcpSpec {
        cwnd_validation,
        ..tcp()
    }
}

#[test]
fn idling_halves_the_window_for_each_rto_down_to_the_initial_one() {
    // tcp_cwnd_restart: while ((delta -= rto) > 0 && cwnd > restart_cwnd) cwnd >>= 1, RTO 10 ticks.
    for (now, left) in [
        (10, None),
        (11, Some(20)),
        (20, Some(20)),
        (21, Some(10)),
        (31, Some(5)),
        (1_000, Some(3)),
    ] {
        let mut halving = Halving::default();
        assert_eq!(halving.after_idling(now, 10, 40, 3), left, "{now}");
    }
    let mut halving = Halving::default();
    assert_eq!(halving.after_idling(1_000, 10, 2, 3), Some(2)); // what is smaller stays
}

#[test]
fn what_is_not_used_for_an_rto_is_halved() {
    // tcp_cwnd_application_limited: cwnd = (cwnd + used) / 2, used of the initial window at least, here 1 segment.
    let tcp = validating(CwndValidation::Halving);
    let mut halving = Halving::default();
    let mut sent =
        |now, outstanding| halving.on_sent(now, outstanding * MSS, 10, 20 * MSS, true, &tcp);
    assert_eq!(sent(0, 20), None); // all of it
    assert_eq!(sent(5, 4), None);
    assert_eq!(sent(9, 8), None); // the most
    assert_eq!(sent(10, 2), Some(14 * MSS));
    assert_eq!(sent(19, 6), None); // an RTO from there
    assert_eq!(sent(20, 6), Some(13 * MSS));
    assert_eq!(halving.on_sent(40, 0, 10, 20 * MSS, false, &tcp), None);
}

#[test]
fn pipe_ack_is_the_most_that_a_round_trip_acknowledged_in_the_last_three() {
    let mut pipe = PipeAck::new(&validating(CwndValidation::PipeAck));
    assert_eq!(pipe.pipe_ack(), None);
    // Rounds end with the acknowledgement of all that had been sent at their first acknowledgement; 3 round trips of 20 ticks.
    let mut expect = |now, acked, una, sent, most| {
        pipe.on_acked(now, acked, (una, sent), 20, 16);
        assert_eq!(pipe.pipe_ack(), Some(most), "{now}");
    };
    expect(0, 4, 4, 4, 4);
    expect(10, 4, 8, 12, 4);
    expect(20, 4, 12, 13, 8);
    expect(40, 3, 15, 15, 8);
    expect(60, 2, 17, 17, 8);
    expect(81, 1, 18, 18, 3); // 8 was 61 ticks ago
}

#[test]
fn a_window_that_is_half_used_grows_and_no_other() {
    // Slow start, an ACK of all that was sent: 4 of 4, 8, 9 and 16 segments.
    for (window, grown) in [(4, 5.0), (8, 9.0), (9, 9.0), (16, 16.0)] {
        let mut s = Script::limited(validating(CwndValidation::PipeAck), window, 4);
        s.at_millis(200).acked(4);
        assert_eq!(s.sender.cwnd(), grown * MSS as f64);
        let mut s = Script::limited(validating(CwndValidation::Off), window, 4);
        s.at_millis(200).acked(4);
        assert_eq!(s.sender.cwnd(), (window + 1) as f64 * MSS as f64);
    }
}

#[test]
fn a_loss_leaves_half_of_what_was_used_of_an_unvalidated_window() {
    // RFC 7661 section 4.4.1: 16 segments allowed, 4 used; three duplicates.
    for (validation, ssthresh) in [(CwndValidation::Off, 8.0), (CwndValidation::PipeAck, 2.0)] {
        let mut s = Script::limited(validating(validation), 16, 4);
        s.at_millis(200).acked(4);
        s.hand_over(4).at_millis(400).acked(8).hand_over(4);
        s.dup_acks(8, 3);
        let got = s.sender.ssthresh() / MSS as f64;
        assert!(got >= ssthresh && got < ssthresh + 2.0, "{got}");
    }
}

#[test]
fn after_five_minutes_half_of_an_unvalidated_window_is_left() {
    let mut s = Script::limited(validating(CwndValidation::PipeAck), 16, 4);
    s.at_millis(200).acked(4);
    let before = s.sender.cwnd();
    s.at_millis(310_000).hand_over(4);
    assert_eq!(s.sender.cwnd(), before); // 16 segments: the initial window is left at least
    let mut pipe = PipeAck::new(&validating(CwndValidation::PipeAck));
    pipe.on_acked(1, 4, (4, 4), 2, 8);
    assert!(pipe.may_grow());
    assert!(!pipe.is_over(3_001));
    assert!(pipe.is_over(3_002));
    assert!(!pipe.is_over(3_003)); // another five minutes
}

#[test]
fn slow_start_goes_on_as_long_as_each_round_trip_uses_what_the_one_before_gave() {
    let mut s = Script::limited(validating(CwndValidation::PipeAck), 2, 100);
    let mut acked = 0;
    for (round, cwnd) in [2, 4, 8, 16].into_iter().enumerate() {
        assert_eq!(s.sender.cwnd(), (cwnd * MSS) as f64);
        s.at_millis(200 * (round as u64 + 1));
        for _ in 0..cwnd {
            acked += 1;
            s.acked(acked);
        }
    }
}
