//! The answers of a receiver, segment by segment.

use super::*;
use crate::sender::tests::{RACK_TLP, tcp};
use crate::spec::{AdvertisedWindow, DelayedAckSpec, RackTlpSpec, RecoverySpec, RttEstimator};

const MSS: u64 = 1_000;

fn receiver() -> Receiver {
    Receiver::new(tcp())
}

/// The `k`-th segment of 1 000 octets.
fn data(k: u64) -> Segment {
    Segment {
        sequence: k * MSS,
        length: MSS as u32,
        ..Segment::bare(SegmentKind::Data, 0)
    }
}

/// (acknowledgement, SACK blocks) in segments, for each segment that arrives.
fn answers(receiver: &mut Receiver, arrivals: &[u64]) -> Vec<(u64, Vec<(u64, u64)>)> {
    let mut out = Vec::new();
    for &k in arrivals {
        receiver.on_segment(SimTime::ZERO, &data(k), &mut out);
    }
    let blocks = |ack: &Segment| {
        let scale = |b: &(u64, u64)| (b.0 / MSS, b.1 / MSS);
        ack.sack.as_slice().iter().map(scale).collect()
    };
    out.iter()
        .map(|ack| (ack.acknowledgement / MSS, blocks(ack)))
        .collect()
}

#[test]
fn each_segment_in_order_is_acknowledged() {
    assert_eq!(
        answers(&mut receiver(), &[0, 1]),
        [(1, vec![]), (2, vec![])]
    );
}

#[test]
fn the_first_block_holds_the_segment_that_just_came() {
    // RFC 2018 section 4; segments 0, 3, 5 and 7 are late.
    let expected = [
        (0, vec![(1, 2)]),
        (0, vec![(1, 3)]),
        (0, vec![(4, 5), (1, 3)]),
        (0, vec![(6, 7), (4, 5), (1, 3)]),
        (0, vec![(8, 9), (6, 7), (4, 5)]), // three blocks at most
        (0, vec![(4, 7), (8, 9), (1, 3)]), // 5 joins two blocks
        (3, vec![(4, 7), (8, 9)]),         // 0 fills the first hole
    ];
    assert_eq!(answers(&mut receiver(), &[1, 2, 4, 6, 8, 5, 0]), expected);
}

#[test]
fn the_first_block_says_which_segment_came_twice() {
    let telling = |max_blocks| {
        Receiver::new(TcpSpec {
            recovery: RecoverySpec::RackTlp(RackTlpSpec {
                dsack: true,
                max_blocks,
                ..RACK_TLP
            }),
            ..tcp()
        })
    };
    // RFC 2883 section 4.1.1, segments of 500 octets as segments here: the ACK of 1 is lost, 0 comes again.
    let expected = [(1, vec![]), (2, vec![]), (2, vec![(0, 1)])];
    assert_eq!(answers(&mut telling(3), &[0, 1, 0]), expected);
    // 4.1.2: 2 is lost, 3 arrives, 0 comes again.
    let expected = [
        (1, vec![]),
        (2, vec![]),
        (2, vec![(3, 4)]),
        (2, vec![(0, 1), (3, 4)]),
        (2, vec![(3, 5)]), // once is enough
    ];
    assert_eq!(answers(&mut telling(3), &[0, 1, 3, 0, 4]), expected);
    // 4.1.3: 1 is lost, 2 and 3 arrive, 3 again.
    let expected = [
        (1, vec![]),
        (1, vec![(2, 3)]),
        (1, vec![(2, 4)]),
        (1, vec![(3, 4), (2, 4)]),
    ];
    assert_eq!(answers(&mut telling(3), &[0, 2, 3, 3]), expected);
    // It takes the place of the last.
    let last = answers(&mut telling(2), &[0, 2, 4, 6, 0]).pop();
    assert_eq!(last, Some((1, vec![(0, 1), (6, 7)])));
    let last = answers(&mut telling(1), &[0, 2, 4, 6, 0]).pop();
    assert_eq!(last, Some((1, vec![(0, 1)])));
}

#[test]
fn a_segment_cut_anew_over_several_early_ones_delivers_what_follows_them() {
    let mut receiver = receiver();
    assert_eq!(
        answers(&mut receiver, &[1, 3, 4]),
        [
            (0, vec![(1, 2)]),
            (0, vec![(3, 4), (1, 2)]),
            (0, vec![(3, 5), (1, 2)])
        ]
    );
    // Octets 0 to 2 999, of which 1 000 to 1 999 are there; 3 000 to 4 999 follow.
    let segment = Segment {
        length: 3 * MSS as u32,
        ..data(0)
    };
    let mut out = Vec::new();
    receiver.on_segment(SimTime::ZERO, &segment, &mut out);
    assert_eq!(out[0].acknowledgement, 5 * MSS);
    assert_eq!(receiver.waiting(), 0);
    assert_eq!(receiver.counters().octets_delivered, 5 * MSS);
    assert_eq!(receiver.counters().octets_received, 5 * MSS);
}

#[test]
fn a_segment_that_fills_the_hole_delivers_all_that_waited() {
    let mut receiver = receiver();
    answers(&mut receiver, &[1, 2, 0, 2]);
    let counters = receiver.counters();
    assert_eq!(counters.octets_delivered, 3 * MSS);
    assert_eq!(counters.octets_received, 3 * MSS);
    assert_eq!((counters.segments, counters.duplicates), (4, 1));
}

#[test]
fn an_acknowledgement_is_held_for_a_second_segment_or_until_its_time() {
    let mut receiver = Receiver::new(TcpSpec {
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 200,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 0,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tcp()
    });
    let mut out = Vec::new();
    receiver.on_segment(SimTime(10), &data(0), &mut out);
    assert_eq!((out.len(), receiver.deadline()), (0, Some(SimTime(210))));
    receiver.on_segment(SimTime(20), &data(1), &mut out);
    assert_eq!((out.len(), receiver.deadline()), (1, None));
    receiver.on_segment(SimTime(30), &data(2), &mut out);
    receiver.on_deadline(&mut out);
    assert_eq!((out.len(), out[1].acknowledgement), (2, 3 * MSS));
    // Out of order: at once (RFC 5681 4.2), and so is the one that fills the gap.
    receiver.on_segment(SimTime(40), &data(4), &mut out);
    receiver.on_segment(SimTime(50), &data(3), &mut out);
    assert_eq!((out.len(), out[3].acknowledgement), (4, 5 * MSS));
}

#[test]
fn an_acknowledgement_is_held_from_the_first_segment_that_waits_for_it() {
    // RFC 5681 4.2: within the limit from the first segment that is not acknowledged.
    let mut receiver = Receiver::new(TcpSpec {
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 200,
            every_segments: 3,
            max_timeout_ps: 0,
            quick_segments: 0,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tcp()
    });
    receiver.on_segment(SimTime(10), &data(0), &mut Vec::new());
    receiver.on_segment(SimTime(20), &data(1), &mut Vec::new());
    assert_eq!(receiver.deadline(), Some(SimTime(210)));
}

#[test]
fn of_segments_whose_acknowledgement_was_held_the_earliest_is_echoed() {
    // RFC 7323 4.3, its three cases: delayed ACKs, a hole, the hole filled.
    let mut receiver = Receiver::new(TcpSpec {
        timestamps: true,
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 200,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 0,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tcp()
    });
    let mut out = Vec::new();
    for (k, timestamp) in [(0, 1), (1, 2), (2, 3), (4, 5), (3, 6), (5, 7)] {
        let segment = Segment {
            timestamp,
            ..data(k)
        };
        receiver.on_segment(SimTime::ZERO, &segment, &mut out);
    }
    receiver.on_deadline(&mut out);
    let echoed: Vec<_> = out
        .iter()
        .map(|ack| (ack.acknowledgement / MSS, ack.timestamp))
        .collect();
    // 0 and 1 together; 2 was held when 4 came early; 3 fills the hole; 5 is held.
    assert_eq!(echoed, [(2, 1), (3, 3), (5, 6), (6, 7)]);
}

#[test]
fn an_ack_advertises_what_is_free_before_the_application_reads_what_has_just_come() {
    // (acknowledgement, window) in segments; the buffer holds ten.
    let windows = |advertised_window, arrivals: &[u64]| -> Vec<(u64, u64)> {
        let mut receiver = Receiver::new(TcpSpec {
            rwnd: 10 * MSS,
            advertised_window,
            ..tcp()
        });
        let mut out = Vec::new();
        for &k in arrivals {
            receiver.on_segment(SimTime::ZERO, &data(k), &mut out);
        }
        let reported = |ack: &Segment| (ack.acknowledgement / MSS, u64::from(ack.window) / MSS);
        out.iter().map(reported).collect()
    };
    let arrivals = [0, 1, 3, 4, 2, 5];
    let constant: Vec<_> = [1, 2, 2, 2, 5, 6].map(|ack| (ack, 10)).into();
    assert_eq!(windows(AdvertisedWindow::Constant, &arrivals), constant);
    let expected = [
        (1, 9),
        (2, 9),
        (2, 10), // 3 is early: the application has read all before
        (2, 10),
        (5, 7),  // 2 to 4 at once; the end of the window stays where it was
        (5, 10), // they are read: more than two segments, so the sender is told
        (6, 9),
    ];
    assert_eq!(windows(AdvertisedWindow::FreeBuffer, &arrivals), expected);
}

#[test]
fn the_sender_is_told_of_room_for_two_segments_or_half_the_buffer() {
    // 4.4BSD tcp_output: adv >= 2 * t_maxseg, 2 * adv >= sb_hiwat.
    let windows = |rwnd, arrivals: &[u64]| -> Vec<(u64, u32)> {
        let mut receiver = Receiver::new(TcpSpec {
            rwnd,
            advertised_window: AdvertisedWindow::FreeBuffer,
            ..tcp()
        });
        let mut out = Vec::new();
        for &k in arrivals {
            receiver.on_segment(SimTime::ZERO, &data(k), &mut out);
        }
        let reported = |ack: &Segment| (ack.acknowledgement / MSS, ack.window);
        out.iter().map(reported).collect()
    };
    // One segment read is nothing yet; the two that 1 delivers with 2 are.
    let expected = [(1, 9_000), (1, 10_000), (3, 8_000), (3, 10_000)];
    assert_eq!(windows(10 * MSS, &[0, 2, 1]), expected);
    // One segment is half of two, but not of two and a half.
    assert_eq!(windows(2 * MSS, &[0]), [(1, 1_000), (1, 2_000)]);
    assert_eq!(windows(2 * MSS + 500, &[0]), [(1, 1_500)]);
}

#[test]
fn the_first_segments_are_acknowledged_at_once_each() {
    let mut receiver = Receiver::new(TcpSpec {
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 200,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 3,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tcp()
    });
    let mut acks = |segment: Segment| {
        let mut out = Vec::new();
        receiver.on_segment(SimTime::ZERO, &segment, &mut out);
        out.len()
    };
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 6].map(|k| acks(data(k))),
        [1, 1, 1, 0, 1, 0, 1]
    );
    // So are those after one that came twice, which is the first of them.
    assert_eq!([3, 7, 8, 9, 10].map(|k| acks(data(k))), [1, 1, 1, 0, 1]);
    // And those of the next connection.
    assert_eq!([0, 1, 2, 3].map(|k| acks(of_the_second(k))), [1, 1, 1, 0]);
}

#[test]
fn a_window_that_grows_has_room_for_two_more_with_each_segment_which_is_acknowledged_at_once() {
    let mut receiver = Receiver::new(TcpSpec {
        rwnd: 70_000,
        advertised_window: AdvertisedWindow::Growing,
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: 200,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 0,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tcp()
    });
    let mut windows = |k| {
        let mut out = Vec::new();
        receiver.on_segment(SimTime::ZERO, &data(k), &mut out);
        out.first().map(|ack| ack.window)
    };
    // What comes early makes it no larger; 65 535 + 2 * 1 000, then what fills the gap delivers two.
    assert_eq!(windows(1), Some(65_535));
    assert_eq!(windows(0), Some(69_535));
    assert_eq!(windows(2), Some(70_000));
    assert_eq!([3, 4].map(windows), [None, Some(70_000)]);
}

#[test]
fn a_new_connection_starts_afresh_and_old_segments_are_ignored() {
    let mut receiver = receiver();
    answers(&mut receiver, &[0, 1, 3]);
    let mut out = Vec::new();
    let next = Segment {
        connection: 1,
        ..data(0)
    };
    receiver.on_segment(SimTime::ZERO, &next, &mut out);
    receiver.on_segment(SimTime::ZERO, &data(2), &mut out);
    assert_eq!(out.len(), 1);
    assert_eq!(
        (out[0].acknowledgement, out[0].sack.as_slice().len()),
        (MSS, 0)
    );
    assert_eq!(receiver.counters().octets_delivered, 3 * MSS);
}

/// The `k`-th segment of the flow's second connection.
fn of_the_second(k: u64) -> Segment {
    Segment {
        connection: 1,
        ..data(k)
    }
}

#[test]
fn what_waited_in_an_earlier_connection_is_counted_and_told_of_no_more() {
    let mut receiver = receiver();
    answers(&mut receiver, &[0, 1, 3]);
    let mut out = Vec::new();
    receiver.on_segment(SimTime::ZERO, &of_the_second(0), &mut out);
    // The highest of the first connection is 4; 2 were delivered, and 1 is of the second.
    assert_eq!(receiver.counters().octets_highest, 4 * MSS);
    assert_eq!(receiver.waiting(), 0);
    receiver.on_segment(SimTime::ZERO, &of_the_second(2), &mut out);
    assert_eq!(out[1].acknowledgement, MSS);
    assert_eq!(out[1].sack.as_slice(), [(2 * MSS, 3 * MSS)]);
    let counters = receiver.counters();
    assert_eq!(counters.octets_delivered, 3 * MSS);
    assert_eq!(counters.octets_received, (3 + 2) * MSS);
    assert_eq!(counters.octets_highest, (2 + 3) * MSS);
}

#[test]
fn a_new_connection_holds_and_echoes_and_advertises_as_the_first_did() {
    // After one segment, whose acknowledgement is held still, and after six.
    for segments in [1, 6] {
        let mut receiver = Receiver::new(TcpSpec {
            rwnd: 10 * MSS,
            advertised_window: AdvertisedWindow::FreeBuffer,
            timestamps: true,
            delayed_ack: Some(DelayedAckSpec {
                timeout_ps: 200,
                every_segments: 2,
                max_timeout_ps: 0,
                quick_segments: 0,
                sack_timeout_ps: 0,
                sack_segments: 0,
            }),
            ..tcp()
        });
        for k in 0..segments {
            receiver.on_segment(SimTime(10), &data(k), &mut Vec::new());
        }
        let mut out = Vec::new();
        let first = Segment {
            timestamp: 5,
            ..of_the_second(0)
        };
        receiver.on_segment(SimTime(110), &first, &mut out);
        assert_eq!((out.len(), receiver.deadline()), (0, Some(SimTime(310))));
        let second = Segment {
            timestamp: 6,
            ..of_the_second(1)
        };
        receiver.on_segment(SimTime(120), &second, &mut out);
        // The application has read the first, and the sender's sample is to include its hold.
        let ack = &out[0];
        assert_eq!((ack.acknowledgement, ack.timestamp), (2 * MSS, 5));
        assert_eq!(u64::from(ack.window), 9 * MSS);
    }
}

/// Linux's: an ACK for two segments, and those of early ones held for 1 ms or 44 of them.
fn compressing(sack_segments: u32) -> Receiver {
    Receiver::new(TcpSpec {
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: SimTime::from_millis(40).0,
            every_segments: 2,
            max_timeout_ps: 0,
            quick_segments: 0,
            sack_timeout_ps: SimTime::from_millis(1).0,
            sack_segments,
        }),
        ..tcp()
    })
}

fn at_micros(micros: u64) -> SimTime {
    SimTime(micros * SimTime::from_millis(1).0 / 1_000)
}

#[test]
fn from_the_fourth_early_segment_on_an_acknowledgement_waits_for_others() {
    let mut receiver = compressing(44);
    let mut out = Vec::new();
    // 0 is lost, a segment each 200 us: three duplicates at once, the next five in one at 1.6 ms.
    for k in 1..=8 {
        receiver.on_segment(at_micros(200 * k), &data(k), &mut out);
        assert_eq!(out.len() as u64, k.min(3));
    }
    assert_eq!(receiver.deadline(), Some(at_micros(1_800)));
    receiver.on_deadline(&mut out);
    let last = out.pop().expect("it went out");
    assert_eq!(last.sack.as_slice(), [(MSS, 9 * MSS)]);
    // What fills the hole is acknowledged at once, and nothing waits.
    receiver.on_segment(at_micros(1_900), &data(9), &mut out);
    receiver.on_segment(at_micros(2_000), &data(0), &mut out);
    assert_eq!((out.len(), receiver.deadline()), (4, None));
    assert_eq!(out[3].acknowledgement, 10 * MSS);
}

#[test]
fn so_many_held_acknowledgements_are_the_last_that_wait() {
    let mut receiver = compressing(2);
    let mut out = Vec::new();
    let sent: Vec<_> = (1..=9)
        .map(|k| {
            receiver.on_segment(at_micros(k), &data(k), &mut out);
            out.len()
        })
        .collect();
    assert_eq!(sent, [1, 2, 3, 3, 3, 4, 4, 4, 5]);
}

#[test]
fn a_held_acknowledgement_goes_out_before_a_third_range_is_to_be_said() {
    let mut receiver = compressing(44);
    let mut out = Vec::new();
    // All that is even is late. 7 is held; 9 comes where 7 and 5 were said last, 11 where 9 and 7 were; 10 joins two.
    for (k, sent) in [(1, 1), (3, 2), (5, 3), (7, 3), (9, 4), (11, 5), (10, 5)] {
        receiver.on_segment(SimTime::ZERO, &data(k), &mut out);
        assert_eq!(out.len(), sent, "{k}");
    }
    let blocks = |ack: &Segment| ack.sack.as_slice().iter().map(|b| b.0 / MSS).collect();
    let said: Vec<Vec<u64>> = out[3..].iter().map(blocks).collect();
    assert_eq!(said, [[7, 5, 3], [9, 7, 5]]);
}

#[test]
fn each_advance_gives_three_acknowledgements_at_once_again() {
    let mut receiver = compressing(44);
    let mut out = Vec::new();
    let mut expect = |arrivals: &[u64], sent: &[usize]| {
        let mut count = |&k: &u64| {
            receiver.on_segment(SimTime::ZERO, &data(k), &mut out);
            out.len()
        };
        assert_eq!(arrivals.iter().map(&mut count).collect::<Vec<_>>(), sent);
    };
    // 0 and 1 are lost. The repetition of 0 is one of the three.
    expect(&[2, 3, 4, 5, 0, 6, 7, 8], &[1, 2, 3, 3, 4, 5, 6, 6]);
    // One that brings more than a segment in order goes out and is not among them.
    expect(&[10, 1, 11, 12, 13, 14], &[6, 7, 8, 9, 10, 10]);
}

#[test]
fn an_acknowledgement_of_an_early_segment_waits_for_a_twentieth_of_the_handshake_at_most() {
    for (round_trip_ms, wait) in [(10, 500), (30, 1_000)] {
        let mut receiver = compressing(44);
        let mut out = Vec::new();
        let control = |kind| Segment::bare(kind, 0);
        receiver.on_segment(SimTime::ZERO, &control(SegmentKind::Syn), &mut out);
        let opened = SimTime::from_millis(round_trip_ms);
        receiver.on_segment(opened, &control(SegmentKind::ControlAck), &mut out);
        (1..=4).for_each(|k| receiver.on_segment(opened, &data(k), &mut out));
        assert_eq!(receiver.deadline(), Some(opened + at_micros(wait)));
    }
}

/// Linux's, with a handshake that takes `round_trip` ms from 0 on; none where that is 0.
fn adapting(quick_segments: u32, round_trip: u64) -> Receiver {
    let mut receiver = Receiver::new(TcpSpec {
        tick_ps: SimTime::from_millis(1).0,
        rto_min_ticks: 200,
        rto_initial_ticks: 1_000,
        rto_max_ticks: 120_000,
        rtt_estimator: RttEstimator::Linux,
        delayed_ack: Some(DelayedAckSpec {
            timeout_ps: SimTime::from_millis(40).0,
            max_timeout_ps: SimTime::from_millis(200).0,
            every_segments: 2,
            quick_segments,
            sack_timeout_ps: 0,
            sack_segments: 0,
        }),
        ..tcp()
    });
    if round_trip > 0 {
        for (kind, ms) in [(SegmentKind::Syn, 0), (SegmentKind::ControlAck, round_trip)] {
            let segment = Segment::bare(kind, 0);
            receiver.on_segment(SimTime::from_millis(ms), &segment, &mut Vec::new());
        }
    }
    receiver
}

#[test]
fn segments_after_a_gap_longer_than_the_receivers_rto_are_acknowledged_at_once() {
    // RTO of 60 + 200 ms. Two quick segments at first, then every second one.
    for (gap, expected) in [(260, [0, 1, 0]), (261, [1, 1, 0])] {
        let mut receiver = adapting(2, 60);
        let mut acks = |k: u64, ms: u64| {
            let mut out = Vec::new();
            receiver.on_segment(SimTime::from_millis(ms), &data(k), &mut out);
            out.len()
        };
        assert_eq!([0, 1, 2, 3].map(|k| acks(k, 100 + k)), [1, 1, 0, 1]);
        assert_eq!([4, 5, 6].map(|k| acks(k, 103 + gap + k - 4)), expected);
    }
    // A gap in what is in order counts, whatever comes early meanwhile.
    let mut receiver = adapting(2, 60);
    let mut acks = |k: u64, ms: u64| {
        let mut out = Vec::new();
        receiver.on_segment(SimTime::from_millis(ms), &data(k), &mut out);
        out.len()
    };
    assert_eq!(
        [(0, 100), (1, 101), (3, 200), (4, 300)].map(|(k, ms)| acks(k, ms)),
        [1; 4]
    );
    assert_eq!(
        [(2, 362), (5, 363), (6, 364), (7, 365)].map(|(k, ms)| acks(k, ms)),
        [1, 1, 0, 1]
    );
}

#[test]
fn the_hold_follows_the_interval_of_segments() {
    let ms = SimTime::from_millis;
    let mut receiver = adapting(0, 0);
    let mut out = Vec::new();
    // By hand, 30 ms apart: 40, then 40 / 2 + 30 = 50, then 55 ms, and 57.5.
    receiver.on_segment(ms(0), &data(0), &mut out);
    assert_eq!(receiver.deadline(), Some(ms(40)));
    receiver.on_segment(ms(30), &data(1), &mut out);
    receiver.on_segment(ms(60), &data(2), &mut out);
    assert_eq!(receiver.deadline(), Some(ms(60 + 55)));
    receiver.on_segment(ms(90), &data(3), &mut out);
    receiver.on_segment(ms(120), &data(4), &mut out);
    assert_eq!(
        (out.len(), receiver.deadline()),
        (2, Some(at_micros(178_750)))
    );
    // It runs out, and is doubled to 117.5; then 58.75 + 80.
    receiver.on_deadline(&mut out);
    receiver.on_segment(ms(200), &data(5), &mut out);
    assert_eq!(receiver.deadline(), Some(at_micros(338_750)));
    // 10 ms apart: half of it, and 20.
    receiver.on_segment(ms(210), &data(6), &mut out);
    receiver.on_segment(ms(220), &data(7), &mut out);
    assert_eq!(receiver.deadline(), Some(SimTime(284_687_500_000))); // 69.375 + 20, then half of it and 20

    // No longer than the handshake's round trip.
    let mut receiver = adapting(0, 45);
    for k in 0..3 {
        receiver.on_segment(ms(100 + 30 * k), &data(k), &mut out);
    }
    assert_eq!(receiver.deadline(), Some(ms(160 + 45)));
}
