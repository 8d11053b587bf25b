//! Sender and receiver over a wire that loses segments and acknowledgements for a while.

use crate::sender::tests::{MSS, tcp};
use crate::spec::{
    AdvertisedWindow, CongestionControl, DelayedAckSpec, PartialAckRestarts, PartialAckWindow,
    PipeAtEntry, SackPartialAck, SackPipeRoom, TcpSpec, TcpVariant,
};
use crate::{Receiver, Segment, Sender, TickClock};
use proptest::prelude::*;
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Between arrivals at either end.
const STEP: SimTime = SimTime::from_millis(10);

/// Any rules of loss recovery, windows of one to twenty segments, segments cut at will.
fn rules() -> impl Strategy<Value = TcpSpec> {
    use {PartialAckWindow as Partial, SackPartialAck as Sack, TcpVariant as Variant};
    let variants = [
        Variant::Vanilla,
        Variant::Reno,
        Variant::NewReno,
        Variant::Sack,
    ];
    let of_new_reno = [Partial::Keep, Partial::Ssthresh, Partial::Deflate];
    let of_sack = [
        Sack::PipeLessTwo,
        Sack::PipeLessOne,
        Sack::ResendsTwo,
        Sack::EndsRecovery,
    ];
    let restarts = [
        PartialAckRestarts::Every,
        PartialAckRestarts::First,
        PartialAckRestarts::None,
    ];
    (
        prop::sample::select(variants.to_vec()),
        prop::sample::select(of_new_reno.to_vec()),
        prop::sample::select(of_sack.to_vec()),
        prop::sample::select(restarts.to_vec()),
        MSS..20 * MSS,
        MSS..20 * MSS,
        prop::array::uniform10(any::<bool>()),
    )
        .prop_map(
            |(variant, new_reno, sack, restarts, rwnd, initial_cwnd, is)| TcpSpec {
                variant,
                partial_ack_window: new_reno,
                sack_partial_ack: sack,
                sack_partial_ack_restarts: restarts,
                rwnd,
                initial_cwnd,
                congestion_control: [CongestionControl::Reno, CongestionControl::Cubic]
                    [usize::from(is[8])],
                sack_pipe_room: [SackPipeRoom::Segment, SackPipeRoom::Any][usize::from(is[9])],
                nagle: is[0],
                sws_avoidance: is[1],
                flywheel: is[2],
                timestamps: is[3],
                avoid_multiple_fast_retransmits: is[4],
                advertised_window: [AdvertisedWindow::Constant, AdvertisedWindow::FreeBuffer]
                    [usize::from(is[5])],
                delayed_ack: is[6].then_some(DelayedAckSpec {
                    timeout_ps: SimTime::from_millis(200).0,
                    every_segments: 2,
                }),
                pipe_at_entry: [PipeAtEntry::Cwnd, PipeAtEntry::CwndLessThree][usize::from(is[7])],
                ..tcp()
            },
        )
}

/// A flow's two ends and the wire between them, which loses the transmissions whose turn says so.
struct Exchange {
    sender: Sender,
    receiver: Receiver,
    up: VecDeque<Segment>,
    down: VecDeque<Segment>,
    lost_up: std::vec::IntoIter<bool>,
    lost_down: std::vec::IntoIter<bool>,
}

impl Exchange {
    fn put(&mut self, up: Vec<Segment>, down: Vec<Segment>) {
        let (lost_up, lost_down) = (&mut self.lost_up, &mut self.lost_down);
        self.up
            .extend(up.into_iter().filter(|_| !lost_up.next().unwrap_or(false)));
        self.down.extend(
            down.into_iter()
                .filter(|_| !lost_down.next().unwrap_or(false)),
        );
    }

    /// One step of time: a segment arrives, then an acknowledgement, then timers run out.
    fn step(&mut self, now: SimTime) {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        if let Some(segment) = self.up.pop_front() {
            self.receiver.on_segment(now, &segment, &mut down);
        }
        if let Some(ack) = self.down.pop_front() {
            self.sender.on_segment(now, &ack, &mut up);
        }
        if self.sender.deadline().is_some_and(|due| due <= now) {
            self.sender.on_timeout(now, &mut up);
        }
        if self.receiver.deadline().is_some_and(|due| due <= now) {
            self.receiver.on_deadline(&mut down);
        }
        self.put(up, down);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_is_lost_all_that_was_handed_over_arrives(
        tcp in rules(),
        lost_up in prop::collection::vec(prop::bool::weighted(0.2), 0..80),
        lost_down in prop::collection::vec(prop::bool::weighted(0.1), 0..60),
        transfers in prop::collection::vec((0u64..300, 1..20 * MSS), 1..6),
    ) {
        let window = tcp.rwnd;
        let mut exchange = Exchange {
            sender: Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0)),
            receiver: Receiver::new(tcp),
            up: VecDeque::new(),
            down: VecDeque::new(),
            lost_up: lost_up.into_iter(),
            lost_down: lost_down.into_iter(),
        };
        exchange.sender.open(SimTime::ZERO, 0, &mut Vec::new());
        let handed_over: u64 = transfers.iter().map(|&(_, octets)| octets).sum();
        let last = transfers.iter().map(|&(step, _)| step).max().unwrap_or(0);
        let mut step = 0;
        while step <= last || !exchange.sender.is_all_acked() {
            let now = SimTime(step * STEP.0);
            for &(_, octets) in transfers.iter().filter(|&&(at, _)| at == step) {
                let mut up = Vec::new();
                exchange.sender.hand_over(now, octets, &mut up);
                exchange.put(up, Vec::new());
            }
            exchange.step(now);
            let outstanding = exchange.sender.outstanding();
            prop_assert!(outstanding <= window, "{outstanding} outstanding");
            prop_assert_eq!(outstanding > 0, exchange.sender.deadline().is_some());
            step += 1;
            prop_assert!(step < 1_000_000, "{outstanding} octets are never acknowledged");
        }
        let counted = exchange.receiver.counters();
        prop_assert_eq!(counted.octets_delivered, handed_over);
        prop_assert_eq!(counted.octets_received, handed_over);
    }
}
