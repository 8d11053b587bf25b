//! Invariants of every congestion control over every loss recovery: a window of at least a segment,
//! nothing beyond what the receiver has room for, a pace above 0, delivery of everything that was
//! handed over, and each of its states comes about.
//!
//! One path for all: a segment a millisecond, 40 ms there and back, room for 60 segments. It loses one segment, later three, and
//! everything for some seconds; for some seconds the application has nothing.

use crate::sender::tests::{
    CUBIC, DCTCP, LINUX_CUBIC, MSS, NEW_RENO, PRAGUE, RACK_TLP, RENO, RENO_CONGESTION, SACK, TAHOE,
    VANILLA, VEGAS, draws, tcp,
};
use crate::spec::*;
use crate::{Receiver, Segment, Sender, TickClock};
use skycell_units::{Ecn, SimTime};
use std::collections::{BTreeSet, VecDeque};

const MS: u64 = SimTime::from_millis(1).0;
/// One way without a queue.
const DELAY: u64 = 20 * MS;
const BUFFER: u64 = 60;
/// A queue marks from here on, where it may.
const MARKS_FROM: u64 = 10;
const SECONDS: u64 = 60;
/// Seconds in which nothing arrives, and in which the application hands nothing over.
const DARK: std::ops::Range<u64> = 20..23;
const IDLE: std::ops::Range<u64> = 32..36;
/// Milliseconds from which on so many segments are lost.
const LOSSES: [(u64, u32); 2] = [(8_000, 1), (11_000, 3)];

/// Every kind, and states of its own beside those of every window; the match makes a new one ask for its line.
fn states(congestion: &CongestionSpec) -> &'static [&'static str] {
    match congestion {
        CongestionSpec::Reno(_)
        | CongestionSpec::Cubic(_)
        | CongestionSpec::LinuxCubic(_)
        | CongestionSpec::Dctcp(_)
        | CongestionSpec::Prague(_)
        | CongestionSpec::Vegas(_)
        | CongestionSpec::HighSpeed(_) => &["slow start", "avoidance"],
        CongestionSpec::Bbr(_) => &["Startup", "Drain", "ProbeBw", "ProbeRtt"],
        CongestionSpec::Bbr3(_) => &[
            "Startup",
            "Drain",
            "ProbeBw(Down)",
            "ProbeBw(Cruise)",
            "ProbeBw(Refill)",
            "ProbeBw(Up)",
            "ProbeRtt",
        ],
    }
}

fn congestions() -> [CongestionSpec; 11] {
    let reno = |growth| {
        CongestionSpec::Reno(RenoCongestionSpec {
            growth,
            ..RENO_CONGESTION
        })
    };
    [
        reno(RenoGrowth::Float),
        reno(RenoGrowth::ByteCounting),
        reno(RenoGrowth::SegmentCounting),
        CongestionSpec::Cubic(CUBIC),
        CongestionSpec::LinuxCubic(LINUX_CUBIC),
        CongestionSpec::Dctcp(DCTCP),
        CongestionSpec::Prague(PRAGUE),
        CongestionSpec::Vegas(VEGAS),
        CongestionSpec::HighSpeed(HighSpeedSpec {}),
        CongestionSpec::Bbr(BbrSpec {}),
        CongestionSpec::Bbr3(Bbr3Spec {}),
    ]
}

fn recoveries() -> [RecoverySpec; 8] {
    [
        RecoverySpec::Vanilla(VANILLA),
        RecoverySpec::Tahoe(TAHOE),
        RecoverySpec::Reno(RENO),
        RecoverySpec::NewReno(NEW_RENO),
        RecoverySpec::NewReno(NewRenoSpec {
            partial_ack_window: PartialAckWindow::Deflate,
            ..NEW_RENO
        }),
        RecoverySpec::Sack(SACK),
        RecoverySpec::RackTlp(RACK_TLP),
        RecoverySpec::RackTlp(RackTlpSpec {
            undo: true,
            ..RACK_TLP
        }),
    ]
}

/// The two ends, and what is between them.
struct Wire {
    sender: Sender,
    receiver: Receiver,
    /// Arrivals, each way.
    up: VecDeque<(u64, Segment)>,
    down: VecDeque<(u64, Segment)>,
    /// When the link is free.
    free: u64,
    losses: VecDeque<(u64, u32)>,
    /// The octet up to which the receiver has room, as the sender knows.
    room: u64,
    seen: BTreeSet<String>,
}

impl Wire {
    fn new(tcp: TcpSpec) -> Self {
        let clock = TickClock::new(tcp.tick_ps, 0);
        Wire {
            sender: Sender::new(tcp.clone(), clock, draws),
            room: tcp.rwnd,
            receiver: Receiver::new(tcp),
            up: VecDeque::new(),
            down: VecDeque::new(),
            free: 0,
            losses: LOSSES.into(),
            seen: BTreeSet::new(),
        }
    }

    fn is_lost(&mut self, now: u64) -> bool {
        if let Some((from, count)) = self.losses.front_mut()
            && now >= *from * MS
        {
            *count -= 1;
            if *count == 0 {
                self.losses.pop_front();
            }
            return true;
        }
        DARK.contains(&(now / (1_000 * MS)))
    }

    /// Puts the segments that the sender has sent into the queue.
    fn send(&mut self, now: u64, out: Vec<Segment>) {
        for mut segment in out {
            assert!(segment.end() <= self.room, "beyond the receiver's window");
            let queue = self.free.saturating_sub(now) / MS;
            if queue >= BUFFER || segment.length > 0 && self.is_lost(now) {
                continue;
            }
            if queue >= MARKS_FROM && segment.ecn.is_capable() {
                segment.ecn = Ecn::Ce;
            }
            self.free = self.free.max(now) + MS;
            self.up.push_back((self.free + DELAY, segment));
        }
    }

    fn answer(&mut self, now: u64, out: Vec<Segment>) {
        if !DARK.contains(&(now / (1_000 * MS))) {
            let at = now + DELAY;
            self.down.extend(out.into_iter().map(|ack| (at, ack)));
        }
    }

    /// Everything that happens at `now`.
    fn step(&mut self, now: u64) {
        let time = SimTime(now);
        while let Some((_, segment)) = self.up.pop_front_if(|&mut (at, _)| at <= now) {
            let mut out = Vec::new();
            self.receiver.on_segment(time, &segment, &mut out);
            self.answer(now, out);
        }
        if self.receiver.deadline().is_some_and(|due| due <= time) {
            let mut out = Vec::new();
            self.receiver.on_deadline(&mut out);
            self.answer(now, out);
        }
        while let Some((_, ack)) = self.down.pop_front_if(|&mut (at, _)| at <= now) {
            self.room = self.room.max(ack.acknowledgement + u64::from(ack.window));
            let mut out = Vec::new();
            self.sender.on_segment(time, &ack, &mut out);
            self.send(now, out);
            self.check();
        }
        if self.sender.deadline().is_some_and(|due| due <= time) {
            let mut out = Vec::new();
            self.sender.on_timeout(time, &mut out);
            self.send(now, out);
            self.check();
        }
    }

    fn check(&mut self) {
        let (cwnd, ssthresh) = (self.sender.cwnd(), self.sender.ssthresh());
        assert!(cwnd >= MSS as f64, "less than a segment");
        let (rate, state) = self.sender.pace_and_state();
        // A segment in ten seconds: less is no pace, but a stall.
        assert!(rate.is_none_or(|rate| rate >= MSS / 10), "{rate:?}");
        let state = state.unwrap_or_else(|| {
            let is_slow_start = cwnd < ssthresh;
            String::from(if is_slow_start {
                "slow start"
            } else {
                "avoidance"
            })
        });
        if !self.seen.contains(&state) {
            self.seen.insert(state);
        }
    }
}

fn spec(congestion: CongestionSpec, recovery: RecoverySpec, pacing: PacingSpec) -> TcpSpec {
    let ecn = match congestion.is_scalable() {
        true => EcnUse::Accurate,
        false => EcnUse::Off,
    };
    TcpSpec {
        congestion,
        recovery,
        pacing,
        ecn,
        rwnd: 200 * MSS,
        initial_ssthresh: 200 * MSS,
        max_cwnd: 200 * MSS,
        initial_cwnd: 2 * MSS,
        tick_ps: MS,
        rto_min_ticks: 200,
        rto_initial_ticks: 1_000,
        rto_max_ticks: 64_000,
        timestamps: true,
        ..tcp()
    }
}

fn run(tcp: TcpSpec) {
    let label = format!(
        "{:?} over {:?}, {:?}",
        tcp.congestion, tcp.recovery, tcp.pacing
    );
    let (congestion, recovery) = (tcp.congestion.clone(), tcp.recovery.clone());
    let mut wire = Wire::new(tcp);
    wire.sender.open(SimTime::ZERO, 0, &mut Vec::new());
    let (mut handed_over, mut now) = (0, 0);
    while now < SECONDS * 1_000 * MS || !wire.sender.is_all_acked() {
        let second = now / (1_000 * MS);
        // What keeps it busy, and every fifth second a little less.
        let is_busy = second < SECONDS && !IDLE.contains(&second);
        if is_busy && now % (10 * MS) == 0 && wire.sender.unsent() < 100 * MSS {
            let octets = 30 * MSS + 333;
            let mut out = Vec::new();
            wire.sender.hand_over(SimTime(now), octets, &mut out);
            handed_over += octets;
            wire.send(now, out);
        }
        wire.step(now);
        now += MS / 4;
        assert!(
            now < 4 * SECONDS * 1_000 * MS,
            "{label}: never acknowledged"
        );
    }
    let counters = wire.sender.counters();
    assert_eq!(
        wire.receiver.counters().octets_delivered,
        handed_over,
        "{label}"
    );
    assert!(counters.timeouts > 0, "{label}: no timeout");
    let is_fast = !matches!(recovery, RecoverySpec::Vanilla(_));
    assert_eq!(
        counters.fast_retransmits > 0,
        is_fast,
        "{label}: fast retransmits"
    );
    for state in states(&congestion) {
        assert!(wire.seen.contains(*state), "{label}: never {state}");
    }
}

#[test]
fn what_holds_of_every_congestion_control_holds_over_every_recovery() {
    for recovery in recoveries() {
        let is_timed = matches!(recovery, RecoverySpec::RackTlp(_));
        for congestion in congestions() {
            if congestion.has_model() && !is_timed {
                continue;
            }
            run(spec(
                congestion.clone(),
                recovery.clone(),
                PacingSpec::default(),
            ));
            if is_timed && !congestion.has_model() {
                let paced = PacingSpec::On(crate::sender::tests::PACED);
                run(spec(congestion, recovery.clone(), paced));
            }
        }
    }
}
