//! Exchanges of a sender that paces: what leaves, and when. Round trips of 100 ms, a clock of 1 ms.

use super::exchange_tests::tcp as unpaced;
use crate::sender::tests::{MSS, PACED, Script};
use crate::spec::{PacingSpec, TcpSpec};
use skycell_units::SimTime;

/// A sender that has sent `segments` at 10 ms, with a round trip of 100 ms measured at 110 ms by the ACK of the first one.
fn script(segments: u64, ssthresh: u64) -> Script {
    let tcp = TcpSpec {
        initial_ssthresh: ssthresh * MSS,
        pacing: PacingSpec::On(PACED),
        ..unpaced()
    };
    let mut s = Script::limited(tcp, segments, 1_000);
    s.expect_sent(&(0..segments).collect::<Vec<_>>());
    s.at_millis(110).acked(1);
    s
}

fn micros(time: Option<SimTime>) -> u64 {
    time.expect("the timer runs").0 / 1_000_000
}

#[test]
fn what_an_ack_lets_out_leaves_two_segments_at_a_time_at_twice_the_window_in_a_round_trip() {
    // cwnd = 21 after the first ACK, of 20; srtt = 100 ms. Ten have been sent, so the first 20 have left
    // at once. 2 * 21 000 octets in 100 ms: 420 000 octets a second.
    let mut s = script(20, 1_000);
    s.expect_sent(&[20, 21]);
    // The second burst waits for the first: 2 000 octets at that rate take 4 761 us, and half of it is taken off, as nothing
    // had left for 100 ms.
    s.acked(11).expect_sent(&[]);
    let first = micros(s.sender.deadline());
    assert_eq!(first, 110_000 + 2_380); // 4 761.9 / 2, cut off
    let mut last = first;
    for burst in 0..3 {
        s.timeout().expect_sent(&[22 + 2 * burst, 23 + 2 * burst]);
        // cwnd = 22: 440 000 octets a second, 4 545.5 us.
        let next = micros(s.sender.deadline());
        assert!((4_545..=4_546).contains(&(next - last)), "{}", next - last);
        last = next;
    }
    assert_eq!(s.sender.counters().timeouts, 0);
}

#[test]
fn above_half_of_ssthresh_the_rate_is_1_2_windows_in_a_round_trip() {
    let mut s = script(20, 40);
    // cwnd = 21 is above 20: 1.2 * 21 000 octets in 100 ms, 7 936.5 us for a burst, and half of it at first.
    s.expect_sent(&[20, 21]).acked(11);
    assert_eq!(micros(s.sender.deadline()), 110_000 + 3_968);
}

#[test]
fn the_retransmission_timer_counts_from_what_may_leave() {
    let mut s = script(20, 1_000);
    s.expect_sent(&[20, 21]);
    // Nothing waits: cwnd is full. RTO of 100 + 200 ms counts from the first segment, at 10 ms; it is before a probe,
    // 202 ms from now. A next burst could leave after 2.4 ms, in ticks 3: so much later.
    assert_eq!(micros(s.sender.deadline()), 10_000 + 300_000 + 3_000);
}

#[test]
fn what_is_lost_leaves_as_the_pace_allows_too() {
    let mut s = script(20, 1_000); // 1 to 4 are lost
    s.expect_sent(&[20, 21]);
    for end in 6..=11 {
        s.acked_with(1, &[(5, end)]);
    }
    // pipe = 22 - 1 - 6 - 4 = 11 and cwnd 10 to 12: some are lost, none has left.
    s.expect_sent(&[]);
    s.timeout().expect_sent(&[1, 2]);
    s.acked_with(1, &[(5, 16)]).expect_sent(&[]);
    s.timeout().expect_sent(&[3, 4]);
    assert_eq!(s.sender.counters().timeouts, 0);
}
