//! BBR version 3: a model of the path, its bandwidth, its least round trip and how much may be in flight without losses.
//!
//! Every rule names the section of draft-ietf-ccwg-bbr-06 that has it, and the function there. Windows are in whole segments,
//! products rounded up; bandwidths in 2^-24 segments a microsecond; gains in percent. Three parts have files of their own: what
//! losses mean, the cycle that probes for bandwidth, and what probes for the least round trip.

mod losses;
mod probe_bw;
mod probe_rtt;

use super::max_filter::MaxOverRounds;
use super::path_model::{BW_UNIT, LEAST_CWND, Path, RateSample};
use crate::pacing::BurstSize;
use losses::{Signals, Undo};
use probe_bw::{Phase, Probe};
use probe_rtt::ProbeRtt;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_des::Stream;
use skycell_units::SimTime;

/// Paced by a model of the path that losses bound: BBR version 3.
///
/// Source: draft-ietf-ccwg-bbr-06.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct Bbr3Spec {}

impl super::CongestionRule for Bbr3Spec {
    fn has_model(&self) -> bool {
        true
    }
}

/// A bound that is not set: what has none is infinite.
const UNBOUNDED: u64 = u64::MAX;
/// BBR.StartupPacingGain, section 2.5; 4 ln 2.
const STARTUP_GAIN: u64 = 277;
/// BBR.DrainPacingGain, section 2.5.
const DRAIN_GAIN: u64 = 50;
/// BBR.DefaultCwndGain, section 2.6.
const CWND_GAIN: u64 = 200;
/// Of ProbeBW_DOWN and ProbeBW_UP, section 5.6.1.
const DOWN_GAIN: u64 = 90;
const UP_GAIN: u64 = 125;
const UP_CWND_GAIN: u64 = 225;
/// BBR.ProbeRTTCwndGain, section 2.16.2.
const PROBE_RTT_CWND_GAIN: u64 = 50;
/// BBR.PacingMarginPercent, section 2.5.
const MARGIN_PERCENT: u64 = 1;
/// Growth of the bandwidth, percent, and rounds without it after which the pipe is full: section 5.3.1.2.
const FULL_GROWTH: u64 = 125;
const FULL_ROUNDS: u32 = 3;
/// Rounds after which Drain is over in any case, section 5.3.2.
const DRAIN_ROUNDS: u64 = 3;
/// BBR.ExtraAckedFilterLen, section 2.12, and what it is before the pipe is full, section 5.5.9.
const AGGREGATION_ROUNDS: u64 = 10;
const AGGREGATION_ROUNDS_IN_STARTUP: u64 = 1;
/// Bursts for which there is room at least, section 5.5.8.1.
const OFFLOAD_BURSTS: u64 = 3;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw(Phase),
    ProbeRtt,
}

/// Detects a full pipe: faster sending brings no more bandwidth (section 2.13).
#[derive(Clone, Debug, Default)]
struct FullPipe {
    /// BBR.full_bw and BBR.full_bw_count.
    bandwidth: u64,
    rounds: u32,
    /// BBR.full_bw_now and BBR.full_bw_reached.
    is_now: bool,
    is_reached: bool,
}

impl FullPipe {
    /// ResetFullBW, section 5.3.1.2, with a baseline.
    fn reset(&mut self, bandwidth: u64) {
        (self.bandwidth, self.rounds, self.is_now) = (bandwidth, 0, false);
    }
}

/// The estimate of aggregated ACKs (section 2.12).
#[derive(Clone, Debug, Default)]
struct Aggregation {
    began: u64,
    delivered: u64,
    extra: MaxOverRounds,
}

/// The state of BBR version 3.
#[derive(Clone, Debug)]
pub(crate) struct Bbr3 {
    pub(super) draws: Stream,
    state: State,
    /// C.InitialCwnd.
    initial_cwnd: u64,
    has_seen_rtt: bool,
    is_idle_restart: bool,
    rounds: u64,
    next_round_delivered: u64,
    is_round_start: bool,
    drain_start_round: u64,
    /// BBR.max_bw: of the cycle before this one, and of this one.
    cycles: [u64; 2],
    /// BBR.bw.
    bandwidth: u64,
    /// BBR.min_rtt and its time.
    min_rtt: Option<u64>,
    min_rtt_at: u64,
    /// BBR.bw_shortterm, BBR.inflight_shortterm, BBR.inflight_longterm.
    bandwidth_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
    full: FullPipe,
    aggregation: Aggregation,
    signals: Signals,
    probe: Probe,
    probe_rtt: ProbeRtt,
    undo: Undo,
    was_recovering: bool,
    prior_cwnd: u64,
}

impl Bbr3 {
    /// OnInit, section 5.2.1, as the connection opens; `min_rtt` is what its SYN has measured.
    pub(crate) fn new(draws: Stream, path: &mut Path, min_rtt: Option<u64>) -> Self {
        let mut bbr = Bbr3 {
            draws,
            state: State::Startup,
            initial_cwnd: path.cwnd,
            has_seen_rtt: false,
            is_idle_restart: false,
            rounds: 0,
            next_round_delivered: 0,
            is_round_start: false,
            drain_start_round: 0,
            cycles: [0; 2],
            bandwidth: 0,
            min_rtt,
            min_rtt_at: path.now,
            bandwidth_shortterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            inflight_longterm: UNBOUNDED,
            full: FullPipe::default(),
            aggregation: Aggregation {
                began: path.now,
                ..Aggregation::default()
            },
            signals: Signals::default(),
            probe: Probe::default(),
            probe_rtt: ProbeRtt::new(min_rtt, path.now),
            undo: Undo::default(),
            was_recovering: false,
            prior_cwnd: 0,
        };
        bbr.init_rate(path);
        bbr
    }

    /// UpdateModelAndState and UpdateControlParameters, section 5.2.3.
    pub(crate) fn on_ack(&mut self, path: &mut Path, sample: &RateSample) {
        self.note_recovery(path);
        let rate = rate(sample);
        self.update_latest(path, sample, rate);
        self.update_congestion(path, sample, rate);
        self.update_aggregation(path, sample);
        self.check_full(sample, rate);
        self.check_startup(path, sample);
        self.check_drain(path);
        self.update_phase(path, sample, rate);
        self.update_min_rtt(path, sample);
        self.check_probe_rtt(path, sample);
        self.advance_latest(sample, rate);
        self.bandwidth = self.max_bandwidth().min(self.bandwidth_shortterm);
        self.set_rate(path, self.gains().0);
        self.set_cwnd(path, sample);
    }

    #[cfg(test)]
    pub(super) fn state(&self) -> String {
        format!("{:?}", self.state)
    }

    /// BBR.max_bw.
    fn max_bandwidth(&self) -> u64 {
        self.cycles[0].max(self.cycles[1])
    }

    /// BBR.pacing_gain and BBR.cwnd_gain, section 5.6.1.
    fn gains(&self) -> (u64, u64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, CWND_GAIN),
            State::Drain => (DRAIN_GAIN, CWND_GAIN),
            State::ProbeBw(Phase::Down) => (DOWN_GAIN, CWND_GAIN),
            State::ProbeBw(Phase::Cruise | Phase::Refill) => (100, CWND_GAIN),
            State::ProbeBw(Phase::Up) => (UP_GAIN, UP_CWND_GAIN),
            State::ProbeRtt => (100, PROBE_RTT_CWND_GAIN),
        }
    }

    /// StartRound, section 5.5.1.
    fn start_round(&mut self, path: &Path) {
        self.next_round_delivered = path.delivered;
    }

    /// UpdateMaxBw and UpdateRound, sections 5.5.5 and 5.5.1.
    fn update_bandwidth(&mut self, path: &Path, sample: &RateSample, rate: u64) {
        let has_data = sample.delivered.is_some();
        self.is_round_start = has_data && sample.prior_delivered >= self.next_round_delivered;
        if self.is_round_start {
            self.start_round(path);
            self.rounds += 1;
            self.probe.rounds += 1;
        }
        // What the application limits says something only where it is more than is known.
        if rate > 0 && (rate >= self.max_bandwidth() || !sample.is_app_limited) {
            self.cycles[1] = self.cycles[1].max(rate);
        }
    }

    /// AdvanceMaxBwFilter, section 5.5.6: the window is this cycle and the one before; where this has had no sample it goes on.
    fn advance_cycle(&mut self) {
        if self.cycles[1] > 0 {
            self.cycles = [self.cycles[1], 0];
        }
    }

    /// UpdateACKAggregation, section 5.5.9.
    fn update_aggregation(&mut self, path: &Path, sample: &RateSample) {
        let kept = &mut self.aggregation;
        let interval = u128::from(path.now - kept.began);
        let mut expected = ((u128::from(self.bandwidth) * interval) >> 24) as u64;
        if kept.delivered <= expected {
            (kept.delivered, kept.began, expected) = (0, path.now, 0);
        }
        kept.delivered += sample.acked;
        let extra = (kept.delivered - expected).min(path.cwnd);
        let window = match self.full.is_reached {
            true => AGGREGATION_ROUNDS,
            false => AGGREGATION_ROUNDS_IN_STARTUP,
        };
        kept.extra.add(window, self.rounds, extra);
    }

    /// CheckFullBWReached, section 5.3.1.2: three rounds in which the bandwidth has not grown by a quarter.
    fn check_full(&mut self, sample: &RateSample, rate: u64) {
        let full = &mut self.full;
        if full.is_now || !self.is_round_start || sample.is_app_limited || rate == 0 {
            return;
        }
        if 100 * rate >= full.bandwidth * FULL_GROWTH {
            full.reset(rate);
            return;
        }
        full.rounds += 1;
        full.is_now = full.rounds >= FULL_ROUNDS;
        full.is_reached |= full.is_now;
    }

    /// CheckStartupDone, section 5.3.1.1.
    fn check_startup(&mut self, path: &Path, sample: &RateSample) {
        self.check_startup_losses(path, sample);
        if self.state == State::Startup && self.full.is_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds;
        }
    }

    /// CheckDrainDone, section 5.3.2.
    fn check_drain(&mut self, path: &Path) {
        let is_drained = || path.in_flight <= self.inflight(path, self.bandwidth);
        if self.state == State::Drain
            && (is_drained() || self.rounds > self.drain_start_round + DRAIN_ROUNDS)
        {
            self.start_down(path);
        }
    }

    /// Recovery is over where it was not before: cwnd is as it was before it (section 5.6.4.4).
    fn note_recovery(&mut self, path: &mut Path) {
        let is_recovering = path.is_recovering || path.is_after_timeout;
        if self.was_recovering && !is_recovering {
            self.restore_cwnd(path);
        }
        self.was_recovering = is_recovering;
    }

    /// SaveCwnd, section 5.6.4.4.
    fn save_cwnd(&mut self, path: &Path) {
        let is_cut = self.was_recovering || self.state == State::ProbeRtt;
        self.prior_cwnd = match is_cut {
            true => self.prior_cwnd.max(path.cwnd),
            false => path.cwnd,
        };
    }

    /// RestoreCwnd, section 5.6.4.4.
    fn restore_cwnd(&self, path: &mut Path) {
        path.cwnd = path.cwnd.max(self.prior_cwnd);
    }

    /// OnEnterRTO, section 5.6.4.4, after [`Bbr3::on_recovery`]; cwnd has been cut.
    pub(crate) fn on_rto(&mut self) {
        self.was_recovering = true;
    }

    /// HandleRestartFromIdle, section 5.4.1. What was acknowledged before idling is not of the interval that begins (2.12).
    pub(crate) fn on_restart(&mut self, path: &mut Path) {
        if !path.is_app_limited {
            return;
        }
        self.is_idle_restart = true;
        (self.aggregation.began, self.aggregation.delivered) = (path.now, 0);
        match self.state {
            State::ProbeBw(_) => self.set_rate(path, 100),
            State::ProbeRtt => self.end_probe_rtt(path),
            State::Startup | State::Drain => {}
        }
    }

    /// InitPacingRate, section 5.6.2: before a round trip is known it is taken for 1 ms.
    fn init_rate(&mut self, path: &mut Path) {
        let rtt;
        (self.has_seen_rtt, rtt) = path.assumed_rtt();
        path.rate = octets_per_second(path.mss, self.initial_cwnd * BW_UNIT / rtt, STARTUP_GAIN);
    }

    /// SetPacingRateWithGain, section 5.6.2: before the pipe is full it never falls, nor without a sample of the bandwidth.
    fn set_rate(&mut self, path: &mut Path, gain: u64) {
        if !self.has_seen_rtt && path.srtt > 0 {
            self.init_rate(path);
        }
        let rate = octets_per_second(path.mss, self.bandwidth, gain) * (100 - MARGIN_PERCENT) / 100;
        let is_known = self.bandwidth > 0;
        if is_known && self.full.is_reached || rate > path.rate {
            path.rate = rate;
        }
    }

    /// BDPMultiple, section 5.6.4.2: segments that a gain times the bandwidth sends in the least round trip.
    fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        let Some(rtt) = self.min_rtt else {
            return self.initial_cwnd;
        };
        let product = u128::from(bandwidth) * u128::from(rtt) * u128::from(gain);
        product.div_ceil(100 * u128::from(BW_UNIT)) as u64
    }

    /// QuantizationBudget, section 5.6.4.2.
    fn with_budget(&self, path: &Path, inflight: u64) -> u64 {
        let budget = OFFLOAD_BURSTS * burst_size().segments(path.rate, path.mss);
        let probes = self.state == State::ProbeBw(Phase::Up);
        inflight.max(budget).max(LEAST_CWND) + 2 * u64::from(probes)
    }

    /// Inflight with a gain of 1, section 5.6.4.2.
    fn inflight(&self, path: &Path, bandwidth: u64) -> u64 {
        self.with_budget(path, self.bdp(bandwidth, 100))
    }

    /// UpdateMaxInflight and SetCwnd, sections 5.6.4.2 and 5.6.4.6.
    fn set_cwnd(&mut self, path: &mut Path, sample: &RateSample) {
        let target = self.bdp(self.bandwidth, self.gains().1) + self.aggregation.extra.greatest();
        let target = self.with_budget(path, target);
        if self.full.is_reached {
            path.cwnd = (path.cwnd + sample.acked).min(target);
        } else if path.cwnd < target || path.delivered < self.initial_cwnd {
            path.cwnd += sample.acked;
        }
        path.cwnd = path.cwnd.max(LEAST_CWND).min(path.cwnd_max);
        if self.state == State::ProbeRtt {
            path.cwnd = path.cwnd.min(self.probe_rtt_cwnd());
        }
        path.cwnd = path.cwnd.min(self.cwnd_bound());
    }

    /// BoundCwndForModel, section 5.6.4.7.
    fn cwnd_bound(&self) -> u64 {
        let longterm = match self.state {
            State::ProbeBw(Phase::Cruise) | State::ProbeRtt => self.inflight_with_headroom(),
            State::ProbeBw(_) => self.inflight_longterm,
            State::Startup | State::Drain => UNBOUNDED,
        };
        longterm.min(self.inflight_shortterm).max(LEAST_CWND)
    }
}

/// RS.delivery_rate, section 4.1.2.3; 0 where the sample is none.
fn rate(sample: &RateSample) -> u64 {
    match (sample.delivered, sample.positive_interval()) {
        (Some(delivered), Some(interval)) => delivered * BW_UNIT / interval,
        _ => 0,
    }
}

/// The pace of a bandwidth with a gain.
fn octets_per_second(mss: u64, bandwidth: u64, gain: u64) -> u64 {
    let in_a_microsecond = u128::from(bandwidth) * u128::from(mss) * u128::from(gain);
    ((in_a_microsecond * 1_000_000 / 100) >> 24) as u64
}

/// C.send_quantum, section 5.6.3: what the rate sends in a millisecond, two segments at least.
pub(crate) fn burst_size() -> BurstSize {
    BurstSize {
        least_segments: 2,
        time_ps: SimTime::from_millis(1).0,
    }
}

#[cfg(test)]
mod probe_bw_tests;
#[cfg(test)]
mod tests;
