//! A window that is tuned, by hand.

use super::*;
use crate::receiver::Receiver;
use crate::segment::SegmentKind;
use crate::sender::tests::{RACK_TLP, tcp};
use crate::spec::{AdvertisedWindow, DelayedAckSpec};

const MSS: u64 = 1_000;

fn tuned() -> TcpSpec {
    TcpSpec {
        recovery: RecoverySpec::RackTlp(RACK_TLP),
        advertised_window: AdvertisedWindow::AutoTuned,
        initial_rwnd: 40 * MSS,
        rwnd: 300 * MSS,
        timestamps: true,
        ..tcp()
    }
}

/// The window after each of the segments `of`, which come at `ms` and echo what was said at `echo_ms`.
fn windows(receiver: &mut Receiver, ms: u64, echo_ms: u64, of: std::ops::Range<u64>) -> Vec<u64> {
    let mut out = Vec::new();
    for k in of {
        let segment = Segment {
            sequence: k * MSS,
            length: MSS as u32,
            acknowledgement: echo_ms + 1,
            ..Segment::bare(SegmentKind::Data, 0)
        };
        receiver.on_segment(SimTime::from_millis(ms), &segment, &mut out);
    }
    out.iter().map(|ack| u64::from(ack.window) / MSS).collect()
}

#[test]
fn the_window_follows_what_was_read_in_the_last_round_trip() {
    let mut receiver = Receiver::new(tuned());
    let mut out = Vec::new();
    for (kind, ms) in [(SegmentKind::Syn, 0), (SegmentKind::ControlAck, 100)] {
        receiver.on_segment(SimTime::from_millis(ms), &Segment::bare(kind, 0), &mut out);
    }
    assert_eq!(out[0].sequence, 1); // its clock
    // Slow start from ten segments. The first shows that there is room for 50, a quarter more. The first round trip is that of
    // the handshake; ten segments were thought to be read in one.
    let first: Vec<_> = (42..=50).step_by(2).chain([50; 5]).collect();
    assert_eq!(windows(&mut receiver, 100, 0, 0..10), first);
    // At the first of the second round eleven have been: 22, and 22 / 10 twice, 26.4.
    assert_eq!(windows(&mut receiver, 200, 100, 10..30), [50; 20]);
    // As the first of the third is read, twenty have been, of 11 before: 40, and twice 40 * 9 / 11, so 105.4; from the next on
    // each gives two segments more.
    let third: Vec<_> = (50..=104).step_by(2).chain([105; 12]).collect();
    assert_eq!(windows(&mut receiver, 300, 200, 30..70), third);
    // At the first of the fourth 40 of 20 before: 80 and 160, 240.
    let fourth: Vec<_> = (0..68).map(|k| 105 + 2 * k).chain([240; 12]).collect();
    assert_eq!(windows(&mut receiver, 400, 300, 70..150), fourth);
    // 80 of 40 would be 480; the buffer has room for 300.
    let fifth: Vec<_> = (0..31).map(|k| 240 + 2 * k).chain([300; 9]).collect();
    assert_eq!(windows(&mut receiver, 500, 400, 150..190), fifth);
}

#[test]
fn no_more_read_than_before_leaves_the_window() {
    let mut receiver = Receiver::new(tuned());
    windows(&mut receiver, 100, 0, 0..10);
    for (round, of) in [(2, 10..19), (3, 19..28), (4, 28..37)] {
        let found = windows(&mut receiver, 100 * round, 100 * round - 100, of);
        assert_eq!(found, [50; 9]);
    }
}

#[test]
fn without_a_round_trip_nothing_is_learned_before_a_window_has_come() {
    let mut receiver = Receiver::new(TcpSpec {
        timestamps: false,
        ..tuned()
    });
    // The window that was offered first has come after 80 ms: 41 segments are 82, and twice 82 * 31 / 10 more.
    for k in 0..=40 {
        let window = (42 + 2 * k).min(50);
        assert_eq!(windows(&mut receiver, 2 * k, 0, k..k + 1), [window]);
    }
    assert_eq!(windows(&mut receiver, 82, 0, 41..42), [52]);
}

#[test]
fn early_octets_take_room_of_the_window_whose_end_stays() {
    let mut receiver = Receiver::new(TcpSpec {
        rwnd: 40 * MSS,
        ..tuned()
    });
    assert_eq!(windows(&mut receiver, 0, 0, 0..2), [40, 40]);
    // 2 and 5 are late: the end stays at 42, as room for it was advertised.
    assert_eq!(windows(&mut receiver, 1, 0, 3..5), [40, 40]);
    assert_eq!(windows(&mut receiver, 2, 0, 6..8), [40, 40]);
    // 2 comes: of 5 to 45 there is room up to 43.
    assert_eq!(windows(&mut receiver, 3, 0, 2..3), [38]);
    assert_eq!(windows(&mut receiver, 4, 0, 5..6), [40]);
}

#[test]
fn the_first_quick_acknowledgements_are_those_after_the_window_has_grown() {
    let mut receiver = Receiver::new(TcpSpec {
        rwnd: 50 * MSS,
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 200,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 4,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tuned()
    });
    // Five let it grow from 40 to 50, four are quick, and from then on every other is acknowledged.
    assert_eq!(windows(&mut receiver, 100, 0, 0..5), [42, 44, 46, 48, 50]);
    assert_eq!(windows(&mut receiver, 100, 0, 5..9), [50; 4]);
    assert!(windows(&mut receiver, 100, 0, 9..10).is_empty());
    assert_eq!(windows(&mut receiver, 100, 0, 10..12), [50]);
}

#[test]
fn a_round_trip_is_taken_at_once_if_less_and_by_an_eighth_if_more() {
    let mut round_trip = RoundTrip::default();
    let mut after = |ms, echo, is_whole| {
        round_trip.on_echo(SimTime::from_millis(ms), echo, is_whole);
        round_trip.us()
    };
    assert_eq!(after(90, 11, false), None); // said at 10; it may have waited
    assert_eq!(after(100, 21, true), Some(80_000));
    assert_eq!(after(101, 21, true), Some(80_000)); // once
    assert_eq!(after(190, 31, true), Some(90_000)); // 160: 70 + 20
    assert_eq!(after(231, 192, true), Some(40_000));
    assert_eq!(after(231, 232, true), Some(40_000)); // none in no time
    // What a window took is no more than a bound.
    round_trip.on_in_order(0, 1_000, 5_000);
    round_trip.on_in_order(30_000, 5_999, 5_000);
    assert_eq!(round_trip.us(), Some(40_000));
    round_trip.on_in_order(50_000, 6_000, 5_000);
    assert_eq!(round_trip.us(), Some(40_000));
    round_trip.on_in_order(85_000, 11_000, 5_000);
    assert_eq!(round_trip.us(), Some(35_000));
}

/// A line for each segment of a real transfer, up to the 1 500th: microseconds from the answer to the SYN, the number of the
/// segment, and the receiver's clock that it echoes, ms from the answer. And for some of the acknowledgements of Linux 6.18: when,
/// of how many segments, and the window, octets.
const RECORDED: &str = include_str!("auto_tuning_recorded.csv");

#[test]
fn windows_are_those_that_linux_advertised_for_the_same_segments() {
    let mss = 1_448;
    let mut receiver = Receiver::new(TcpSpec {
        mss,
        initial_rwnd: 65_536,
        rwnd: 3_840 << 10, // of tcp_rmem's 6 MiB, 160 of 256
        ..tuned()
    });
    let (mut out, mut compared) = (Vec::new(), 0);
    for line in RECORDED.lines() {
        let of: Vec<u64> = line[1..]
            .split(',')
            .map(|n| n.parse().expect("a number"))
            .collect();
        let now = SimTime(of[0] * PS_PER_MICROSECOND);
        if line.starts_with('s') {
            let segment = Segment {
                sequence: of[1] * mss,
                length: mss as u32,
                acknowledgement: of[2] + 1,
                ..Segment::bare(SegmentKind::Data, 0)
            };
            receiver.on_segment(now, &segment, &mut out);
            continue;
        }
        let ours = out
            .iter()
            .find(|ack| ack.acknowledgement >= of[1] * mss)
            .expect("so much has come");
        let part = f64::from(ours.window) / of[2] as f64;
        assert!((0.93..1.07).contains(&part), "{line}: {}", ours.window);
        compared += 1;
    }
    assert_eq!(compared, 29);
}
