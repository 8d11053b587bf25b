//! Sender and receiver over a wire that loses segments and acknowledgements for a while.

use crate::sender::tests::{
    CUBIC, DCTCP, LINUX_CUBIC, MSS, NEW_RENO, PACED, PRAGUE, RACK_TLP, RENO, RENO_CONGESTION, SACK,
    TAHOE, VANILLA, VEGAS, draws, tcp,
};
use crate::spec::*;
use crate::{Receiver, Segment, Sender, TickClock};
use proptest::prelude::*;
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Between arrivals at either end.
const STEP: SimTime = SimTime::from_millis(10);

/// Any loss recovery.
fn recoveries() -> impl Strategy<Value = RecoverySpec> {
    use {PartialAckWindow as Partial, SackPartialAck as Sack};
    let restarts = || {
        let any = [
            PartialAckRestarts::Every,
            PartialAckRestarts::First,
            PartialAckRestarts::None,
        ];
        prop::sample::select(any.to_vec())
    };
    let partial = [Partial::Keep, Partial::Ssthresh, Partial::Deflate];
    let sack = [
        Sack::PipeLessTwo,
        Sack::PipeLessOne,
        Sack::ResendsTwo,
        Sack::EndsRecovery,
    ];
    let of_new_reno = (
        prop::sample::select(partial.to_vec()),
        restarts(),
        prop::array::uniform2(any::<bool>()),
    );
    let of_sack = (
        prop::sample::select(sack.to_vec()),
        restarts(),
        prop::array::uniform3(any::<bool>()),
    );
    prop_oneof![
        Just(RecoverySpec::Vanilla(VANILLA)),
        any::<bool>().prop_map(|avoid_multiple_fast_retransmits| {
            RecoverySpec::Tahoe(TahoeSpec {
                avoid_multiple_fast_retransmits,
                ..TAHOE
            })
        }),
        any::<bool>().prop_map(|avoid_multiple_fast_retransmits| {
            RecoverySpec::Reno(RenoRecoverySpec {
                avoid_multiple_fast_retransmits,
                ..RENO
            })
        }),
        of_new_reno.prop_map(|(partial_ack_window, partial_ack_restarts, is)| {
            RecoverySpec::NewReno(NewRenoSpec {
                partial_ack_window,
                flywheel: is[0],
                avoid_multiple_fast_retransmits: is[1],
                partial_ack_restarts,
                ..NEW_RENO
            })
        }),
        Just(RecoverySpec::RackTlp(RACK_TLP)),
        of_sack.prop_map(
            |(partial_ack, partial_ack_restarts, is)| RecoverySpec::Sack(SackSpec {
                partial_ack,
                partial_ack_restarts,
                pipe_room: [PipeRoom::Segment, PipeRoom::Any][usize::from(is[0])],
                pipe_at_entry: [PipeAtEntry::Cwnd, PipeAtEntry::CwndLessThree][usize::from(is[1])],
                avoid_multiple_fast_retransmits: is[2],
                ..SACK
            })
        ),
    ]
}

/// Any rules, windows of one to twenty segments, segments cut at will.
fn rules() -> impl Strategy<Value = TcpSpec> {
    let congestion = [
        CongestionSpec::Reno(RENO_CONGESTION),
        CongestionSpec::Reno(RenoCongestionSpec {
            growth: RenoGrowth::ByteCounting,
            ..RENO_CONGESTION
        }),
        CongestionSpec::Cubic(CUBIC),
        CongestionSpec::LinuxCubic(LINUX_CUBIC),
        CongestionSpec::Dctcp(DCTCP),
        CongestionSpec::Prague(PRAGUE),
        CongestionSpec::Vegas(VEGAS),
        CongestionSpec::HighSpeed(HighSpeedSpec {}),
    ];
    let slow_start = [
        SlowStartSpec::Standard(StandardSlowStartSpec { at_ssthresh: false }),
        SlowStartSpec::ByteCounting(ByteCountingSlowStartSpec { limit: 2 }),
        SlowStartSpec::HystartPlusPlus(HyStartPlusPlusSpec { limit: 8 }),
        SlowStartSpec::Hystart(HyStartSpec {
            detect: HyStartDetect::Both,
            low_window: 2,
        }),
    ];
    let of_later = (
        prop::sample::select(slow_start.to_vec()),
        prop::array::uniform5(any::<bool>()),
    );
    (
        recoveries(),
        prop::sample::select(congestion.to_vec()),
        MSS..20 * MSS,
        MSS..20 * MSS,
        prop::array::uniform5(any::<bool>()),
        of_later,
    )
        .prop_map(
            |(recovery, congestion, rwnd, initial_cwnd, is, (slow_start, later))| {
                let is_timed = matches!(recovery, RecoverySpec::RackTlp(_));
                let is_paced = is_timed && later[3] && !later[4];
                let congestion = suited(congestion, &recovery, later[4]);
                let ecn = match congestion.is_scalable() {
                    true => EcnUse::Accurate,
                    false => EcnUse::Off,
                };
                TcpSpec {
                    congestion,
                    ecn,
                    recovery,
                    slow_start,
                    nagle_waits_for: [NagleWaitsFor::AnyData, NagleWaitsFor::ShortSegment]
                        [usize::from(later[0])],
                    limited_transmit: later[1],
                    rtt_estimator: [RttEstimator::Jacobson, RttEstimator::Linux]
                        [usize::from(later[2])],
                    pacing: pacing(is_paced),
                    rwnd,
                    initial_cwnd,
                    nagle: is[0],
                    sws_avoidance: is[1],
                    timestamps: is[2],
                    advertised_window: match (is[3], is[0]) {
                        (false, _) => AdvertisedWindow::Constant,
                        (true, false) => AdvertisedWindow::FreeBuffer,
                        (true, true) if is[1] => AdvertisedWindow::AutoTuned,
                        (true, true) => AdvertisedWindow::Growing,
                    },
                    initial_rwnd: 2 * rwnd / 3,
                    delayed_ack: is[4].then_some(DelayedAckSpec {
                        timeout_ps: SimTime::from_millis(200).0,
                        every_segments: 2,
                        max_timeout_ps: 0,
                        quick_segments: 0,
                        sack_timeout_ps: 0,
                        sack_segments: 0,
                    }),
                    ..tcp()
                }
            },
        )
}

/// BBR where it may be, as other recoveries do not know what is in flight.
fn suited(congestion: CongestionSpec, recovery: &RecoverySpec, is_bbr: bool) -> CongestionSpec {
    match recovery {
        RecoverySpec::RackTlp(_) if is_bbr && matches!(congestion, CongestionSpec::Reno(_)) => {
            CongestionSpec::Bbr(BbrSpec {})
        }
        RecoverySpec::RackTlp(_) if is_bbr => CongestionSpec::Bbr3(Bbr3Spec {}),
        _ => congestion,
    }
}

fn pacing(is_on: bool) -> PacingSpec {
    if is_on {
        PacingSpec::On(PACED)
    } else {
        PacingSpec::default()
    }
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
        let (window, is_paced) = (tcp.rwnd, tcp.pacing.is_on() || tcp.congestion.has_model());
        let mut exchange = Exchange {
            sender: Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0), draws),
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
            prop_assert!(exchange.sender.cwnd() >= MSS as f64, "less than a segment");
            // A pacer's timer may run while nothing is outstanding.
            let has_timer = exchange.sender.deadline().is_some();
            prop_assert!(has_timer || outstanding == 0);
            prop_assert!(outstanding > 0 || !has_timer || is_paced);
            step += 1;
            prop_assert!(step < 1_000_000, "{outstanding} octets are never acknowledged");
        }
        let counted = exchange.receiver.counters();
        prop_assert_eq!(counted.octets_delivered, handed_over);
        prop_assert_eq!(counted.octets_received, handed_over);
    }
}
