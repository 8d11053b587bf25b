//! Exchanges: what a sender does, acknowledgement by acknowledgement.

use super::*;
use crate::spec::*;

/// Octets of a segment in these tests.
pub(crate) const MSS: u64 = 1_000;
/// Window that every acknowledgement advertises unless a test says otherwise, octets.
pub(crate) const WINDOW: u32 = 1_000_000;

pub(crate) const VANILLA: VanillaSpec = VanillaSpec {};
pub(crate) const TAHOE: TahoeSpec = TahoeSpec {
    dup_ack_threshold: 3,
    avoid_multiple_fast_retransmits: false,
};
pub(crate) const RENO: RenoRecoverySpec = RenoRecoverySpec {
    dup_ack_threshold: 3,
    avoid_multiple_fast_retransmits: false,
};
pub(crate) const NEW_RENO: NewRenoSpec = NewRenoSpec {
    dup_ack_threshold: 3,
    partial_ack_window: PartialAckWindow::Keep,
    partial_ack_restarts: PartialAckRestarts::Every,
    flywheel: false,
    avoid_multiple_fast_retransmits: false,
};
pub(crate) const SACK: SackSpec = SackSpec {
    dup_ack_threshold: 3,
    pipe_at_entry: PipeAtEntry::Cwnd,
    partial_ack: SackPartialAck::PipeLessTwo,
    partial_ack_restarts: PartialAckRestarts::Every,
    pipe_room: PipeRoom::Segment,
    retransmit_delay: RetransmitDelay::None,
    max_blocks: 3,
    avoid_multiple_fast_retransmits: false,
};
pub(crate) const RACK_TLP: RackTlpSpec = RackTlpSpec {
    dup_ack_threshold: 3,
    max_blocks: 3,
    undo: false,
    dsack: false,
    tso_defer: false,
};
pub(crate) const PACED: PacedSpec = PacedSpec {
    slow_start_ratio: 2.0,
    avoidance_ratio: 1.2,
    unpaced_segments: 10,
    burst_segments: 2,
    burst_time_ps: 976_562_500,
};
pub(crate) const RENO_CONGESTION: RenoCongestionSpec = RenoCongestionSpec {
    growth: RenoGrowth::Float,
    ssthresh_basis: SsthreshBasis::Cwnd,
};
pub(crate) const CUBIC: CubicSpec = CubicSpec {
    c: 0.4,
    fast_convergence: true,
    ssthresh_basis: SsthreshBasis::Cwnd,
};

pub(crate) const LINUX_CUBIC: LinuxCubicSpec = LinuxCubicSpec {
    fast_convergence: true,
    tcp_friendliness: true,
};

pub(crate) const DCTCP: DctcpSpec = DctcpSpec { gain: 0.0625 };
pub(crate) const VEGAS: VegasSpec = VegasSpec {
    alpha: 2,
    beta: 4,
    gamma: 1,
};
pub(crate) const PRAGUE: PragueSpec = PragueSpec { gain: 0.0625 };

/// The stream that a congestion control draws from in tests.
pub(crate) fn draws() -> Stream {
    Stream::new(1, "test")
}

/// SACK with the studies' defaults, MSS 1 000, a clock of 100 ms and a large window.
pub(crate) fn tcp() -> TcpSpec {
    TcpSpec {
        recovery: RecoverySpec::Sack(SACK),
        congestion: CongestionSpec::Reno(RENO_CONGESTION),
        slow_start: SlowStartSpec::Standard(StandardSlowStartSpec { at_ssthresh: false }),
        pacing: PacingSpec::default(),
        mss: MSS,
        llc_snap: true,
        rwnd: 1_000_000,
        window_scaling: true,
        initial_cwnd: MSS,
        initial_ssthresh: 1_000_000,
        max_cwnd: 1_000_000,
        tick_ps: SimTime::from_millis(100).0,
        tick_phase: TickPhase::At { offset_ps: 0 },
        tick_order: TickOrder::ClockFirst,
        rto_min_ticks: 2,
        rtt_estimator: RttEstimator::Jacobson,
        rto_initial_ticks: 30,
        rto_max_ticks: 640,
        rto_max_backoff: 64,
        rto_restart: RtoRestart::OnAck,
        timestamps: false,
        advertised_window: AdvertisedWindow::Constant,
        initial_rwnd: 0,
        delayed_ack: None,
        nagle: false,
        nagle_waits_for: NagleWaitsFor::AnyData,
        limited_transmit: false,
        sws_avoidance: true,
        idle_restart: false,
        cwnd_validation: CwndValidation::Off,
        handshake: false,
        ecn: EcnUse::Off,
    }
}

/// A sender driven by hand; sequence numbers and windows in segments of 1 000 octets.
pub(crate) struct Script {
    pub(crate) sender: Sender,
    pub(crate) now: SimTime,
    pub(crate) sent: Vec<u64>,
}

impl Script {
    /// A persistent sender that has just sent its first `window` segments, with cwnd = `window`.
    pub(crate) fn established(tcp: TcpSpec, window: u64) -> Self {
        let clock = TickClock::new(tcp.tick_ps, 0);
        let tcp = TcpSpec {
            initial_cwnd: window * MSS,
            initial_ssthresh: window * MSS,
            ..tcp
        };
        let mut script = Script {
            sender: Sender::new(tcp.clone(), clock, draws),
            now: SimTime::from_millis(10),
            sent: Vec::new(),
        };
        let mut out = Vec::new();
        script.sender.open(script.now, 0, &mut out);
        script.sender.hand_over(script.now, u64::MAX, &mut out);
        script.keep(out);
        script.expect_sent(&(0..window).collect::<Vec<_>>());
        script
    }

    /// The sender of an application that has handed over `segments` segments, with cwnd = `window`.
    pub(crate) fn limited(tcp: TcpSpec, window: u64, segments: u64) -> Self {
        let tcp = TcpSpec {
            initial_cwnd: window * MSS,
            ..tcp
        };
        let clock = TickClock::new(tcp.tick_ps, 0);
        let mut script = Script {
            sender: Sender::new(tcp, clock, draws),
            now: SimTime::from_millis(10),
            sent: Vec::new(),
        };
        script.sender.open(script.now, 0, &mut Vec::new());
        script.hand_over(segments);
        script
    }

    pub(crate) fn hand_over(&mut self, segments: u64) -> &mut Self {
        let mut out = Vec::new();
        self.sender.hand_over(self.now, segments * MSS, &mut out);
        self.keep(out);
        self
    }

    pub(crate) fn keep(&mut self, out: Vec<Segment>) {
        self.sent.extend(out.iter().map(|s| s.sequence / MSS));
    }

    pub(crate) fn acked_with(&mut self, segments: u64, blocks: &[(u64, u64)]) -> &mut Self {
        let mut ack = Segment {
            acknowledgement: segments * MSS,
            window: WINDOW,
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

    pub(crate) fn acked(&mut self, segments: u64) -> &mut Self {
        self.acked_with(segments, &[])
    }

    pub(crate) fn dup_acks(&mut self, segments: u64, count: u32) -> &mut Self {
        (0..count).for_each(|_| {
            self.acked(segments);
        });
        self
    }

    pub(crate) fn at_millis(&mut self, ms: u64) -> &mut Self {
        self.now = SimTime::from_millis(ms);
        self
    }

    pub(crate) fn timeout(&mut self) -> &mut Self {
        self.now = self.sender.deadline().expect("the timer runs");
        let mut out = Vec::new();
        self.sender.on_timeout(self.now, &mut out);
        self.keep(out);
        self
    }

    /// Segments sent since the last call.
    pub(crate) fn expect_sent(&mut self, segments: &[u64]) -> &mut Self {
        assert_eq!(std::mem::take(&mut self.sent), segments);
        self
    }

    /// cwnd and ssthresh in segments.
    pub(crate) fn expect_window(&mut self, cwnd: f64, ssthresh: f64) -> &mut Self {
        let in_segments = |octets: f64| octets / MSS as f64;
        let got = (
            in_segments(self.sender.cwnd()),
            in_segments(self.sender.ssthresh()),
        );
        assert_eq!(got, (cwnd, ssthresh));
        self
    }
}

/// The same with another loss recovery.
pub(crate) fn recovering(recovery: RecoverySpec) -> TcpSpec {
    TcpSpec { recovery, ..tcp() }
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Vanilla(VANILLA),
            initial_ssthresh: 64 * MSS,
            ..tcp()
        },
        1,
    );
    s.sender.tx.window = crate::window::Window::new(&TcpSpec {
        initial_ssthresh: 64 * MSS,
        ..tcp()
    });
    s.acked(1).expect_sent(&[1, 2]);
    s.acked(2).acked(3).expect_sent(&[3, 4, 5, 6]);
    s.expect_window(4.0, 64.0);
}

#[test]
fn vanilla_ignores_duplicates_and_goes_back_after_a_timeout() {
    let mut s = Script::established(recovering(RecoverySpec::Vanilla(VANILLA)), 8);
    s.dup_acks(0, 7).expect_sent(&[]);
    // ICCCN'97 2.1: ssthresh = cwnd / 2, cwnd = 1 segment, back to the lost segment.
    s.timeout().expect_sent(&[0]).expect_window(1.0, 4.0);
    // The ACK covers what the receiver had kept: on from there, in slow start.
    s.acked(8).expect_sent(&[8, 9]).expect_window(2.0, 4.0);
}

#[test]
fn after_a_timeout_everything_unacknowledged_is_sent_again_in_order() {
    let mut s = Script::established(recovering(RecoverySpec::Vanilla(VANILLA)), 8);
    s.timeout().expect_sent(&[0]);
    s.acked(1).expect_sent(&[1, 2]);
    s.acked(2).expect_sent(&[3, 4]);
    assert_eq!(s.sender.counters().segments_retransmitted, 5);
    assert_eq!(s.sender.counters().octets_retransmitted, 5 * MSS);
}

#[test]
fn third_duplicate_ack_resends_the_hole_and_halves_the_window() {
    let mut s = Script::established(recovering(RecoverySpec::Reno(RENO)), 8);
    s.dup_acks(0, 2).expect_sent(&[]);
    s.acked(0).expect_sent(&[0]).expect_window(7.0, 4.0); // half + 3
    s.acked(0).expect_window(8.0, 4.0).expect_sent(&[]);
    s.acked(0).expect_sent(&[8]); // cwnd 9: room for one beyond the eight outstanding
    s.dup_acks(0, 2).expect_sent(&[9, 10]);
    s.acked(8).expect_window(4.0, 4.0).expect_sent(&[11]); // 8, 9, 10 outstanding
    assert_eq!(s.sender.counters().fast_retransmits, 1);
}

#[test]
fn reno_leaves_recovery_at_a_partial_ack_and_needs_new_duplicates() {
    let mut s = Script::established(recovering(RecoverySpec::Reno(RENO)), 8);
    s.dup_acks(0, 6).expect_sent(&[0, 8, 9]);
    s.acked(2).expect_sent(&[]).expect_window(4.0, 4.0); // 2..10 outstanding, 2 lost too
    s.dup_acks(2, 2).expect_sent(&[]);
    s.acked(2).expect_sent(&[2]).expect_window(5.0, 2.0);
}

#[test]
fn three_losses_in_a_row_leave_ssthresh_at_an_eighth() {
    // ICCCN'97 2.3: two fast retransmits, then a timeout, with ssthresh = cwnd / 8.
    let mut s = Script::established(recovering(RecoverySpec::Reno(RENO)), 16);
    s.dup_acks(0, 13); // 0, 1 and 2 are lost, 13 segments arrive: cwnd 8 + 3 + 10
    s.expect_sent(&[0, 16, 17, 18, 19, 20]);
    s.acked(1).expect_window(8.0, 8.0).expect_sent(&[]);
    s.dup_acks(1, 5).expect_sent(&[1]).expect_window(9.0, 4.0); // for 16 to 20
    s.acked(2).expect_window(4.0, 4.0).expect_sent(&[]); // 19 outstanding, none in the network
    s.timeout().expect_sent(&[2]).expect_window(1.0, 2.0);
}

#[test]
fn duplicates_of_repeated_segments_start_no_second_recovery_where_told() {
    let fast_retransmits = |avoid| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::Sack(SackSpec {
                    avoid_multiple_fast_retransmits: avoid,
                    ..SACK
                }),
                ..tcp()
            },
            8,
        );
        s.timeout().acked(2).acked(4);
        s.dup_acks(4, 3);
        s.sender.counters().fast_retransmits
    };
    assert_eq!((fast_retransmits(false), fast_retransmits(true)), (1, 0));
}

#[test]
fn reno_may_avoid_a_second_fast_retransmit_in_one_window_of_data() {
    // ns-2's bugFix: 0 and 3 of sixteen segments are lost. The duplicates of 16 to 20 at 3, below recover = 21,
    // begin no second recovery; those beyond it do.
    let sent = |avoid| {
        let recovery = RecoverySpec::Reno(RenoRecoverySpec {
            avoid_multiple_fast_retransmits: avoid,
            ..RENO
        });
        let mut s = Script::established(recovering(recovery), 16);
        s.dup_acks(0, 13).expect_sent(&[0, 16, 17, 18, 19, 20]);
        s.acked(3).expect_sent(&[]);
        s.dup_acks(3, 3);
        std::mem::take(&mut s.sent)
    };
    assert_eq!((sent(false), sent(true)), (vec![3], vec![]));
}

#[test]
fn duplicates_at_recover_begin_nothing_either_and_beyond_it_they_do() {
    // RFC 6582 3.2 step 2: the acknowledgement has to cover more than `recover`.
    let avoiding = [
        RecoverySpec::Reno(RenoRecoverySpec {
            avoid_multiple_fast_retransmits: true,
            ..RENO
        }),
        RecoverySpec::NewReno(NewRenoSpec {
            avoid_multiple_fast_retransmits: true,
            ..NEW_RENO
        }),
        RecoverySpec::Sack(SackSpec {
            avoid_multiple_fast_retransmits: true,
            ..SACK
        }),
    ];
    for recovery in avoiding {
        let mut s = Script::established(TcpSpec { recovery, ..tcp() }, 8);
        s.timeout().expect_sent(&[0]); // recover = 8
        s.acked(8).expect_sent(&[8, 9]);
        s.dup_acks(8, 3).expect_sent(&[]); // what segments 1 to 7, sent twice, would cause
        s.acked(9).expect_sent(&[10, 11]);
        s.dup_acks(9, 3).expect_sent(&[9]);
        assert_eq!(s.sender.counters().fast_retransmits, 1);
    }
}

#[test]
fn the_first_segment_of_a_connection_may_be_resent_fast() {
    // Nothing has set `recover` yet.
    let mut s = Script::established(
        TcpSpec {
            recovery: RecoverySpec::Sack(SackSpec {
                avoid_multiple_fast_retransmits: true,
                ..SACK
            }),
            ..tcp()
        },
        8,
    );
    s.dup_acks(0, 3).expect_sent(&[0]);
}

#[test]
fn a_timeout_within_fast_recovery_halves_the_window_without_its_inflation() {
    // ICCCN'97 2.3: an eighth after two fast retransmits and a timeout, so a quarter after one.
    for recovery in [RecoverySpec::Reno(RENO), RecoverySpec::NewReno(NEW_RENO)] {
        let mut s = Script::established(recovering(recovery), 16);
        s.dup_acks(0, 13).expect_window(8.0 + 3.0 + 10.0, 8.0);
        s.timeout().expect_window(1.0, 4.0);
    }
}

#[test]
fn the_timer_restarts_at_new_acks_or_with_every_segment_sent() {
    let deadline = |rto_restart| {
        let mut s = Script::established(
            TcpSpec {
                recovery: RecoverySpec::Reno(RENO),
                rto_restart,
                ..tcp()
            },
            8,
        );
        s.at_millis(510).dup_acks(0, 3);
        s.at_millis(1_010).dup_acks(0, 2).expect_sent(&[0, 8]);
        s.sender.deadline().unwrap()
    };
    // 30 ticks after the retransmission at 510 ms, or after segment 8 at 1 010 ms.
    assert_eq!(deadline(RtoRestart::OnAck), SimTime::from_millis(3_500));
    assert_eq!(deadline(RtoRestart::OnSend), SimTime::from_millis(4_000));
}

#[test]
fn the_timer_stops_when_everything_is_acknowledged() {
    let mut s = Script::established(tcp(), 2);
    s.sender.tx.available = 2 * MSS;
    s.acked(2);
    assert_eq!(s.sender.deadline(), None);
    assert!(s.sender.is_all_acked());
}

#[test]
fn a_repeated_segment_gives_no_round_trip_sample() {
    let mut s = Script::established(recovering(RecoverySpec::Vanilla(VANILLA)), 1);
    s.timeout().expect_sent(&[0]);
    assert_eq!(s.sender.tx.rto.ticks(&s.sender.tx.tcp), 60); // backed off
    s.at_millis(9_010).acked(1);
    assert_eq!(s.sender.tx.rto.ticks(&s.sender.tx.tcp), 60); // Karn: kept until a fresh sample
    s.at_millis(9_110).acked(2);
    assert!(s.sender.tx.rto.ticks(&s.sender.tx.tcp) < 10);
}

#[test]
fn the_receiver_window_limits_what_is_outstanding() {
    let mut s = Script::established(
        TcpSpec {
            rwnd: 4 * MSS,
            max_cwnd: 100 * MSS,
            ..tcp()
        },
        4,
    );
    s.acked(1).expect_sent(&[4]);
    s.acked(4).expect_sent(&[5, 6, 7]);
}

#[test]
fn a_connection_opens_with_syn_and_closes_with_fin() {
    let tcp = TcpSpec {
        handshake: true,
        ..tcp()
    };
    let mut sender = Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0), draws);
    let mut receiver = crate::Receiver::new(tcp);
    let (mut up, mut down, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    sender.open(SimTime::ZERO, 0, &mut up);
    sender.hand_over(SimTime::ZERO, 500, &mut up);
    for step in 1..10 {
        let now = SimTime::from_millis(step);
        for segment in std::mem::take(&mut up) {
            kinds.push(segment.kind);
            receiver.on_segment(now, &segment, &mut down);
        }
        for segment in std::mem::take(&mut down) {
            kinds.push(segment.kind);
            sender.on_segment(now, &segment, &mut up);
        }
        if sender.is_open() && sender.is_all_acked() && sender.state == State::Established {
            sender.close(now, &mut up);
        }
    }
    use SegmentKind::{Ack, ControlAck, Data, Fin, FinAck, Syn, SynAck};
    assert_eq!(
        kinds,
        [Syn, SynAck, ControlAck, Data, Ack, Fin, FinAck, ControlAck]
    );
    assert!(!sender.is_open());
    assert_eq!(sender.deadline(), None);
}

#[test]
fn a_lost_syn_is_repeated_with_a_doubled_timeout() {
    let tcp = TcpSpec {
        handshake: true,
        ..tcp()
    };
    let mut sender = Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0), draws);
    let mut out = Vec::new();
    sender.open(SimTime::ZERO, 0, &mut out);
    assert_eq!(sender.deadline(), Some(SimTime::from_millis(3_000)));
    sender.on_timeout(SimTime::from_millis(3_000), &mut out);
    assert_eq!(sender.deadline(), Some(SimTime::from_millis(9_000)));
    assert!(out.iter().all(|s| s.kind == SegmentKind::Syn) && out.len() == 2);
}

#[test]
fn cwnd_falls_back_after_idling_where_told() {
    // 4.4BSD tcp_output: t_idle >= t_rxtcur. Both round trips are within a tick: an RTO of 3 ticks.
    let cwnd_after_idling = |idle_restart, until| {
        let tcp = TcpSpec {
            idle_restart,
            ..tcp()
        };
        let mut sender = Sender::new(tcp.clone(), TickClock::new(tcp.tick_ps, 0), draws);
        let mut out = Vec::new();
        sender.open(SimTime::ZERO, 0, &mut out);
        sender.hand_over(SimTime::ZERO, 2 * MSS, &mut out);
        for k in 1..=2 {
            let ack = Segment {
                acknowledgement: k * MSS,
                window: WINDOW,
                ..Segment::bare(SegmentKind::Ack, 0)
            };
            sender.on_segment(SimTime::from_millis(k), &ack, &mut out);
        }
        sender.hand_over(SimTime::from_millis(until), MSS, &mut out);
        sender.cwnd()
    };
    assert_eq!(cwnd_after_idling(false, 60_000), 3_000.0);
    assert_eq!(cwnd_after_idling(true, 60_000), 1_000.0);
    // The last acknowledgement came after the first tick; the fourth is at 300 ms.
    assert_eq!(cwnd_after_idling(true, 300), 1_000.0);
    assert_eq!(cwnd_after_idling(true, 299), 3_000.0);
}

#[test]
fn timestamps_sample_every_new_ack() {
    let tcp = TcpSpec {
        timestamps: true,
        ..tcp()
    };
    let mut s = Script::established(tcp, 2);
    for k in 1..=2 {
        let ack = Segment {
            acknowledgement: k * MSS,
            window: WINDOW,
            timestamp: 1, // sent at 10 ms, after one tick
            ..Segment::bare(SegmentKind::Ack, 0)
        };
        s.at_millis(510);
        s.sender.on_segment(s.now, &ack, &mut Vec::new());
    }
    // Two samples of 5 ticks, counted as 6: 48 then 47 eighths; 12 then 10 quarters.
    assert_eq!(s.sender.tx.rto.ticks(&s.sender.tx.tcp), 5 + 10);
}

#[test]
fn an_acknowledgement_of_what_is_not_under_way_changes_nothing() {
    // RFC 9293 3.10.7.4: below SND.UNA it is one that came late, above what was sent it is ignored.
    let mut s = Script::established(recovering(RecoverySpec::Reno(RENO)), 8);
    s.acked(2).expect_sent(&[8, 9]);
    s.dup_acks(1, 3).acked(11).expect_sent(&[]);
    let counters = s.sender.counters();
    assert_eq!((counters.acks, counters.dup_acks), (5, 0));
    assert_eq!(s.sender.outstanding(), 8 * MSS);
}

#[test]
fn what_is_acknowledged_again_while_nothing_is_under_way_is_no_duplicate() {
    // RFC 5681 section 2, (a).
    let mut s = Script::limited(recovering(RecoverySpec::Reno(RENO)), 4, 4);
    s.acked(4).dup_acks(4, 3);
    let counters = s.sender.counters();
    assert_eq!((counters.dup_acks, counters.fast_retransmits), (0, 0));
}

#[test]
fn cwnd_max_is_the_largest_that_cwnd_was() {
    let mut s = Script::established(recovering(RecoverySpec::Reno(RENO)), 8);
    assert_eq!(s.sender.counters().cwnd_max, 8 * MSS);
    s.dup_acks(0, 7); // 4, 3 for those that began it and 4 for more
    s.acked(8).expect_window(4.0, 4.0);
    assert_eq!(s.sender.counters().cwnd_max, 11 * MSS);
}
