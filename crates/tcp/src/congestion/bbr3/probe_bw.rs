//! The cycle that probes for bandwidth: down, cruise, refill, up (section 5.3.3).

use super::losses::is_too_high;
use super::{Bbr3, LEAST_CWND, State, UNBOUNDED};
use crate::congestion::{Path, RateSample};

/// BBR.Headroom, section 2.8, percent.
const HEADROOM_PERCENT: u64 = 15;
/// Rounds after which it probes again at the latest, section 5.3.3.8.2.
const RENO_ROUNDS: u64 = 63;
/// The time after which it does, section 5.3.3.8.2: two seconds, and up to one more that is drawn. Microseconds.
const WAIT_US: u64 = 2_000_000;
const WAIT_DRAWN_US: u64 = 1_000_000;
/// Most doublings of the growth of what may be in flight, section 5.3.3.9.
const MOST_DOUBLINGS: u32 = 30;

/// The states of ProbeBW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Down,
    Cruise,
    Refill,
    Up,
}

/// BBR.ack_phase, section 2.14: what ACKs answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answers {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The state of the cycle (section 2.14).
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    pub(super) answers: Answers,
    /// BBR.is_bw_probe_sample.
    pub(super) is_sample: bool,
    /// BBR.prev_probe_too_high and BBR.prev_probe_precautionary.
    pub(super) was_too_high: bool,
    was_precautionary: bool,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds: u64,
    /// BBR.cycle_stamp and BBR.bw_probe_wait.
    pub(super) began: u64,
    pub(super) wait: u64,
    /// BBR.bw_probe_up_acked, BBR.probe_up_acked_per_inc, BBR.bw_probe_up_rounds.
    acked: u64,
    acked_per_segment: u64,
    doublings: u32,
}

impl Bbr3 {
    fn is_probing_bandwidth(&self) -> bool {
        matches!(self.state, State::ProbeBw(_))
    }

    /// UpdateProbeBWCyclePhase, section 5.3.3.9.
    pub(super) fn update_phase(&mut self, path: &Path, sample: &RateSample, rate: u64) {
        if !self.full.is_reached || self.adapt_longterm(path, sample) {
            return;
        }
        match self.state {
            State::ProbeBw(Phase::Down) => {
                if !self.is_refill_due(path) && self.may_cruise(path) {
                    self.state = State::ProbeBw(Phase::Cruise);
                }
            }
            State::ProbeBw(Phase::Cruise) => {
                self.is_refill_due(path);
            }
            State::ProbeBw(Phase::Refill) => {
                if self.is_round_start {
                    self.probe.is_sample = true;
                    self.start_up(path, rate);
                }
            }
            State::ProbeBw(Phase::Up) => {
                if self.must_go_down(path, rate) {
                    self.probe.was_too_high = false;
                    self.start_down(path);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// StartProbeBW_DOWN, PickProbeWait: sections 5.3.3.9 and 5.3.3.8.3.
    pub(super) fn start_down(&mut self, path: &Path) {
        self.reset_congestion();
        self.probe.rounds = self.draws.uniform(0, 2);
        self.probe.wait = WAIT_US + self.draws.uniform(0, WAIT_DRAWN_US);
        self.probe.began = path.now;
        self.probe.answers = Answers::ProbeStopping;
        self.start_round(path);
        self.state = State::ProbeBw(Phase::Down);
    }

    /// StartProbeBW_CRUISE, section 5.3.3.9.
    pub(super) fn start_cruise(&mut self) {
        self.state = State::ProbeBw(Phase::Cruise);
    }

    /// StartProbeBW_REFILL, section 5.3.3.9.
    pub(super) fn start_refill(&mut self, path: &Path) {
        self.reset_shortterm();
        (self.probe.doublings, self.probe.acked) = (0, 0);
        self.probe.was_precautionary = false;
        self.probe.answers = Answers::Refilling;
        self.start_round(path);
        self.state = State::ProbeBw(Phase::Refill);
    }

    /// StartProbeBW_UP, section 5.3.3.9.
    fn start_up(&mut self, path: &Path, rate: u64) {
        self.probe.answers = Answers::ProbeStarting;
        self.start_round(path);
        self.full.reset(rate);
        self.state = State::ProbeBw(Phase::Up);
        self.raise_slope(path);
    }

    /// TargetInflight, section 5.3.3.8.3.
    pub(super) fn target_inflight(&self, path: &Path) -> u64 {
        self.bdp(self.bandwidth, 100).min(path.cwnd)
    }

    /// IsTimeToProbeBW, section 5.3.3.8.3; it then refills.
    fn is_refill_due(&mut self, path: &Path) -> bool {
        let has_waited = path.now > self.probe.began + self.probe.wait;
        let rounds = self.target_inflight(path).min(RENO_ROUNDS);
        let is_due = has_waited || self.probe.rounds >= rounds;
        if is_due {
            self.start_refill(path);
        }
        is_due
    }

    /// IsTimeToCruise, section 5.3.3.9.
    fn may_cruise(&self, path: &Path) -> bool {
        path.in_flight <= self.inflight_with_headroom()
            && path.in_flight <= self.inflight(path, self.max_bandwidth())
    }

    /// IsTimeToGoDown, section 5.3.3.9.
    fn must_go_down(&mut self, path: &Path, rate: u64) -> bool {
        if self.probe.was_too_high && path.in_flight >= self.inflight_longterm {
            self.probe.was_precautionary = true;
            return true;
        }
        if path.is_cwnd_limited && path.cwnd >= self.inflight_longterm {
            self.full.reset(rate);
            return false;
        }
        self.full.is_now
    }

    /// InflightWithHeadroom, section 5.3.3.9.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = (self.inflight_longterm * HEADROOM_PERCENT).div_ceil(100);
        self.inflight_longterm
            .saturating_sub(headroom.max(1))
            .max(LEAST_CWND)
    }

    /// RaiseInflightLongtermSlope, section 5.3.3.9: by 1, 2, 4 segments a round.
    fn raise_slope(&mut self, path: &Path) {
        let growth = 1 << self.probe.doublings;
        self.probe.doublings = (self.probe.doublings + 1).min(MOST_DOUBLINGS);
        self.probe.acked_per_segment = (path.cwnd / growth).max(1);
    }

    /// ProbeInflightLongtermUpward, section 5.3.3.9.
    fn raise_longterm(&mut self, path: &Path, sample: &RateSample) {
        if !path.is_cwnd_limited || path.cwnd < self.inflight_longterm {
            return;
        }
        self.probe.acked += sample.acked;
        let more = self.probe.acked / self.probe.acked_per_segment;
        self.probe.acked -= more * self.probe.acked_per_segment;
        self.inflight_longterm += more;
        if self.is_round_start {
            self.raise_slope(path);
        }
    }

    /// AdaptLongTermModel, section 5.3.3.9: whether it has decided which state comes next.
    fn adapt_longterm(&mut self, path: &Path, sample: &RateSample) -> bool {
        let is_probing = self.is_probing_bandwidth();
        match self.probe.answers {
            Answers::ProbeStarting if self.is_round_start => {
                self.probe.answers = Answers::ProbeFeedback;
            }
            Answers::ProbeStopping if self.is_round_start => {
                self.probe.is_sample = false;
                self.probe.answers = Answers::Init;
                if is_probing && !sample.is_app_limited {
                    self.advance_cycle();
                }
                // It was ended early and nothing was lost: the next may stay.
                if is_probing && self.probe.was_precautionary && !self.probe.was_too_high {
                    self.start_refill(path);
                    return true;
                }
            }
            _ => {}
        }
        if self.inflight_longterm != UNBOUNDED && !is_too_high(sample.lost, sample.sent_in_flight) {
            self.inflight_longterm = self.inflight_longterm.max(sample.sent_in_flight);
            if self.state == State::ProbeBw(Phase::Up) {
                self.raise_longterm(path, sample);
            }
        }
        false
    }
}
