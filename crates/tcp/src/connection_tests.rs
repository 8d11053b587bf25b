//! How a sender's connections begin and end, one after another.

use crate::TickClock;
use crate::segment::{Segment, SegmentKind};
use crate::sender::Sender;
use crate::sender::tests::{MSS, NEW_RENO, Script, draws, tcp};
use crate::spec::{NewRenoSpec, RecoverySpec, TcpSpec};
use skycell_units::SimTime;

#[test]
fn the_answer_to_a_syn_is_the_first_sample_unless_the_syn_was_sent_twice() {
    let rto_after = |expiries: u64| {
        let tcp = TcpSpec {
            handshake: true,
            ..tcp()
        };
        let mut sender = Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0), draws);
        let mut out = Vec::new();
        let mut now = SimTime::from_millis(10);
        sender.open(now, 0, &mut out);
        for _ in 0..expiries {
            now = sender.deadline().expect("the timer runs");
            sender.on_timeout(now, &mut out);
        }
        let answer = Segment::bare(SegmentKind::SynAck, 0);
        sender.on_segment(now + SimTime::from_millis(500), &answer, &mut out);
        assert_eq!(sender.deadline(), None);
        sender.tx.rto.ticks(&sender.tx.tcp)
    };
    assert_eq!(rto_after(0), 18); // 5 ticks counted as 6, threefold
    assert_eq!(rto_after(1), 60); // Karn (RFC 6298 section 3): 30 backed off
}

#[test]
fn a_connection_begins_as_the_first_did_and_hears_nothing_of_an_earlier_one() {
    let mut s = Script::limited(
        TcpSpec {
            recovery: RecoverySpec::NewReno(NewRenoSpec {
                avoid_multiple_fast_retransmits: true,
                ..NEW_RENO
            }),
            ..tcp()
        },
        8,
        8,
    );
    s.timeout(); // recover = 8, RTO doubled
    let ack = |connection, segments: u64, window: u64| Segment {
        acknowledgement: segments * MSS,
        window: (window * MSS) as u32,
        ..Segment::bare(SegmentKind::Ack, connection)
    };
    let mut out = Vec::new();
    s.sender.on_segment(s.now, &ack(0, 8, 3), &mut out);
    s.sender.close(s.now, &mut out);
    assert!(!s.sender.is_open());
    s.sender.open(s.now, 1, &mut out);
    s.sent.clear();
    s.hand_over(9).expect_sent(&[0, 1, 2, 3, 4, 5, 6, 7]);
    // 30 ticks, one of which has begun.
    assert_eq!(s.sender.deadline().unwrap().0 - s.now.0, 30 * tcp().tick_ps);
    for late in [8, 4, 0, 0, 0] {
        s.sender.on_segment(s.now, &ack(0, late, 8), &mut out);
    }
    assert_eq!(s.sender.outstanding(), 8 * MSS);
    assert_eq!(s.sender.counters().fast_retransmits, 0);
    out.clear();
    for _ in 0..3 {
        s.sender.on_segment(s.now, &ack(1, 0, 1_000), &mut out);
    }
    assert_eq!(s.sender.counters().fast_retransmits, 1);
    assert_eq!(out[0].sequence, 0);
}
