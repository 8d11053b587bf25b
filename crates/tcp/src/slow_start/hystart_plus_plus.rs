//! HyStart++: slow start that ends before the queue overflows, as round trips get longer (RFC 9406).

use super::SlowStart;
use crate::congestion::{Ack, Sample};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::SegmentCount};
use skycell_units::SimTime;

/// Slow start that slows down as round trips get longer, and ends five round trips later.
///
/// Source: RFC 9406.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct HyStartPlusPlusSpec {
    /// Segments that an ACK makes cwnd grow by at most.
    #[param(
        default = 8,
        symbol = "L",
        source = "RFC 9406 section 4.3: of senders that do not pace"
    )]
    pub limit: SegmentCount,
}

// RFC 9406 section 4.3.
const MIN_RTT_THRESH_PS: u64 = SimTime::from_millis(4).0;
const MAX_RTT_THRESH_PS: u64 = SimTime::from_millis(16).0;
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Conservative slow start.
    Conservative {
        /// cssBaselineMinRtt, picoseconds.
        baseline: u64,
        /// Rounds that have ended in it, the one that it began in included.
        rounds: u32,
    },
    /// Over for good: of a connection only the first slow start has it (section 4.3).
    Over,
}

/// The state of HyStart++. Round trips in picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlusPlus {
    limit: u32,
    phase: Phase,
    /// windowEnd: the round ends as everything below is acknowledged; none before the first ACK.
    round_end: Option<u64>,
    /// lastRoundMinRTT; none for infinity.
    last_min: Option<u64>,
    /// currentRoundMinRTT; none for infinity.
    min: Option<u64>,
    /// rttSampleCount.
    samples: u32,
    /// True if the last ACK has ended slow start.
    is_leaving: bool,
}

impl HyStartPlusPlus {
    pub(super) fn new(spec: &HyStartPlusPlusSpec) -> Self {
        HyStartPlusPlus {
            limit: spec.limit,
            phase: Phase::SlowStart,
            round_end: None,
            last_min: None,
            min: None,
            samples: 0,
            is_leaving: false,
        }
    }

    /// Goes from slow start to conservative slow start, or back, as the round trips of this round say (section
    /// 4.2).
    fn judge_round_trips(&mut self) {
        let Some(min) = self.min.filter(|_| self.samples >= N_RTT_SAMPLE) else {
            return;
        };
        match (self.phase, self.last_min) {
            (Phase::SlowStart, Some(last)) => {
                let threshold =
                    (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH_PS, MAX_RTT_THRESH_PS);
                if min >= last + threshold {
                    self.phase = Phase::Conservative {
                        baseline: min,
                        rounds: 0,
                    };
                }
            }
            (Phase::Conservative { baseline, .. }, _) if min < baseline => {
                self.phase = Phase::SlowStart;
            }
            _ => {}
        }
    }

    fn end_round(&mut self, next: u64) {
        self.round_end = Some(next);
        self.last_min = self.min.take();
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds == CSS_ROUNDS {
                self.phase = Phase::Over;
                self.is_leaving = true;
            }
        }
    }
}

impl SlowStart for HyStartPlusPlus {
    fn on_sample(
        &mut self,
        _tcp: &TcpSpec,
        _cwnd: f64,
        _is_running: bool,
        sample: &Sample,
    ) -> bool {
        let rtt_ps = sample.rtt_ps;
        self.min = Some(self.min.map_or(rtt_ps, |min| min.min(rtt_ps)));
        self.samples = self.samples.saturating_add(1);
        false // its rounds end slow start, see is_leaving
    }

    /// Section 4.2. Later slow starts are standard: min(N, SMSS), RFC 5681 section 3.1 equation 2.
    fn on_ack(&mut self, tcp: &TcpSpec, ack: &Ack) -> f64 {
        let limited = ack.octets.min(u64::from(self.limit) * tcp.mss) as f64;
        let growth = match self.phase {
            Phase::SlowStart => limited,
            Phase::Conservative { .. } => limited / CSS_GROWTH_DIVISOR,
            Phase::Over => return ack.octets.min(tcp.mss) as f64,
        };
        // The first round is that of what went out before the first ACK.
        let round_end = *self.round_end.get_or_insert(ack.next);
        self.judge_round_trips();
        if ack.reached >= round_end {
            self.end_round(ack.next);
        }
        growth
    }

    fn is_leaving(&mut self) -> bool {
        std::mem::take(&mut self.is_leaving)
    }

    fn on_end(&mut self) {
        self.phase = Phase::Over;
    }

    fn on_rto(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{CUBIC, MSS, Script, WINDOW, tcp};
    use crate::spec::*;
    use crate::{Segment, SegmentKind};

    fn hystart() -> TcpSpec {
        TcpSpec {
            slow_start: SlowStartSpec::HystartPlusPlus(HyStartPlusPlusSpec { limit: 8 }),
            timestamps: true,
            tick_ps: SimTime::from_millis(1).0,
            ..tcp()
        }
    }

    /// A connection whose rounds are acknowledged segment by segment, all with one round trip.
    struct Rounds {
        script: Script,
        acked: u64,
    }

    impl Rounds {
        fn new(tcp: TcpSpec) -> Self {
            let script = Script::limited(tcp, 10, 100_000);
            Rounds { script, acked: 0 }
        }

        /// Acknowledges what is outstanding with a round trip of `rtt_ms`; cwnd in segments after it.
        fn round(&mut self, rtt_ms: u64) -> f64 {
            self.round_of(rtt_ms, u64::MAX)
        }

        /// The same of its first `count` segments.
        fn round_of(&mut self, rtt_ms: u64, count: u64) -> f64 {
            let outstanding = self.script.sender.outstanding() / MSS;
            self.script.now += SimTime::from_millis(1_000);
            let ticks = self.script.now.0 / SimTime::from_millis(1).0 + 1;
            for _ in 0..outstanding.min(count) {
                self.acked += 1;
                let ack = Segment {
                    acknowledgement: self.acked * MSS,
                    window: WINDOW,
                    timestamp: ticks - rtt_ms,
                    ..Segment::bare(SegmentKind::Ack, 0)
                };
                let now = self.script.now;
                self.script.sender.on_segment(now, &ack, &mut Vec::new());
            }
            self.script.sender.cwnd() / MSS as f64
        }

        fn ssthresh(&self) -> f64 {
            self.script.sender.ssthresh() / MSS as f64
        }
    }

    #[test]
    fn round_trips_that_get_longer_slow_growth_to_a_quarter_and_end_it_after_five_rounds() {
        // The ACK of segment a finds cwnd + a - 1 as the next to send, which ends the next round if it ends one: 10,
        // then 9 + 19 = 28. Threshold 40 / 8 = 5 ms; the eighth sample of 45, of 18, brings conservative slow start,
        // with cwnd = 28 + (a - 18) / 4. Rounds end at 28, 27 + 30.25 = 57, 56 + 37.5 = 93, 92 + 46.5 = 138,
        // and the fifth at 137 + 57.75 = 194, with cwnd = 28 + 176 / 4 = 72.
        let mut rounds = Rounds::new(hystart());
        assert_eq!(rounds.round(40), 20.0);
        assert_eq!(rounds.round_of(45, 8), 28.0);
        assert_eq!(rounds.round_of(45, 1), 28.25);
        while rounds.acked < 193 {
            rounds.round_of(45, 1);
        }
        assert_eq!(rounds.ssthresh(), 1_000.0);
        assert_eq!(rounds.round_of(45, 1), 72.0);
        assert_eq!(rounds.ssthresh(), 72.0);
        assert_eq!(rounds.round_of(45, 1), 72.0 + 1.0 / 72.0); // congestion avoidance
    }

    #[test]
    fn the_threshold_lies_between_4_and_16_ms() {
        for (first, second, is_longer) in [
            (8, 11, false),
            (8, 12, true), // 8 / 8 = 1 ms: 4
            (80, 89, false),
            (80, 90, true), // 80 / 8 = 10 ms
            (600, 615, false),
            (600, 616, true), // 600 / 8 = 75 ms: 16
        ] {
            let mut rounds = Rounds::new(hystart());
            rounds.round(first);
            let cwnd = rounds.round(second); // 20 + 8 + 12 / 4, or 20 + 20
            assert_eq!(
                cwnd,
                if is_longer { 31.0 } else { 40.0 },
                "{first} {second}"
            );
        }
    }

    #[test]
    fn shorter_round_trips_resume_slow_start() {
        let mut rounds = Rounds::new(hystart());
        rounds.round(40);
        assert_eq!(rounds.round(60), 31.0);
        // The round ended two ACKs ago, so six of 55 ms make eight samples, below the baseline of 60: six quarters,
        // then whole segments again.
        assert_eq!(rounds.round_of(55, 6), 31.0 + 1.5);
        assert_eq!(rounds.round_of(55, 1), 33.5);
    }

    #[test]
    fn fewer_than_eight_samples_say_nothing() {
        let mut rounds = Rounds::new(hystart());
        rounds.round(40);
        assert_eq!(rounds.round_of(400, 7), 27.0);
        assert_eq!(rounds.round_of(400, 1), 28.0);
        assert_eq!(rounds.round_of(400, 1), 28.25);
    }

    #[test]
    fn a_loss_ends_it_for_good_with_the_ssthresh_of_the_congestion_control() {
        let tcp = TcpSpec {
            congestion: CongestionSpec::Cubic(CUBIC),
            ..hystart()
        };
        let mut rounds = Rounds::new(tcp);
        assert_eq!(rounds.round(40), 20.0);
        rounds.script.timeout();
        assert_eq!(
            (rounds.script.sender.cwnd(), rounds.ssthresh()),
            (1_000.0, 14.0)
        );
        rounds.script.sent.clear();
        // The slow start that follows is standard: longer round trips do not slow it.
        let base = rounds.acked;
        for (count, rtt_ms) in [(1, 40), (2, 400), (4, 400), (6, 400)] {
            rounds.round_of(rtt_ms, count);
        }
        assert_eq!(rounds.acked, base + 13);
        assert_eq!(rounds.script.sender.cwnd(), 14_000.0);
    }
}
