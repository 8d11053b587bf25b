//! BBR as Linux has it, version 1: a model of the path, its bandwidth and its least round trip, that says how fast to send
//! and how much may be under way.
//!
//! Every rule names the function of Linux 6.x tcp_bbr.c that has it; arithmetic is the kernel's, in whole numbers. Three parts
//! have files of their own: the filter of bandwidths, what arrives in clusters, and the search for policers.

mod aggregation;
mod long_term;

use super::max_filter::MaxOverRounds;
use super::path_model::{BW_UNIT, LEAST_CWND, Path, RateSample};
use crate::pacing::BurstSize;
use aggregation::Aggregation;
use long_term::{Finding, LongTerm, Round};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_des::Stream;

/// Paced by a model of the path: its bandwidth and its least round trip.
///
/// Source: Linux 6.x tcp_bbr.c and tcp_rate.c; Cardwell et al., BBR: congestion-based congestion control, ACM Queue 14(5),
/// 2016.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct BbrSpec {}

impl super::CongestionRule for BbrSpec {
    fn has_model(&self) -> bool {
        true
    }
}

/// BBR_UNIT: gains are in 256ths.
const UNIT: u64 = 1 << 8;
/// bbr_high_gain: 2 / ln 2, with which the rate doubles each round trip.
const HIGH_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;
/// bbr_drain_gain.
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;
/// bbr_cwnd_gain.
const CWND_GAIN: u64 = UNIT * 2;
/// bbr_pacing_gain: a phase that probes, one that drains, six that cruise.
const CYCLE: [u64; 8] = [
    UNIT * 5 / 4,
    UNIT * 3 / 4,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
];
/// bbr_cycle_rand: the phases that the first of a cycle is drawn from; all but the one that drains.
const CYCLE_DRAWN_FROM: u64 = 7;
/// bbr_min_rtt_win_sec, milliseconds.
const MIN_RTT_WINDOW_MS: u64 = 10_000;
/// bbr_probe_rtt_mode_ms.
const PROBE_RTT_MS: u64 = 200;
/// bbr_pacing_margin_percent: so much below the bandwidth it paces.
const MARGIN_PERCENT: u64 = 1;
/// bbr_min_tso_rate, octets a second: below it segments leave one by one.
const TWO_AT_ONCE_FROM: u64 = 1_200_000 / 8;
/// bbr_full_bw_thresh and bbr_full_bw_cnt: rounds without such growth that say that the pipe is full.
const FULL_GROWTH: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// TCP_INIT_CWND.
const INITIAL_CWND: u64 = 10;
/// bbr_bw_rtts: rounds over which the greatest bandwidth counts.
const BANDWIDTH_ROUNDS: u64 = 10;

/// bbr_mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of BBR (struct bbr).
#[derive(Clone, Debug)]
pub(crate) struct Bbr {
    pub(super) draws: Stream,
    mode: Mode,
    min_rtt: Option<u64>,
    min_rtt_jiffies: u64,
    probe_rtt_done: Option<u64>,
    is_probe_rtt_round_done: bool,
    bandwidth: MaxOverRounds,
    rounds: u64,
    next_round_delivered: u64,
    is_round_start: bool,
    cycle: usize,
    cycle_began: u64,
    pacing_gain: u64,
    cwnd_gain: u64,
    has_seen_rtt: bool,
    is_idle_restart: bool,
    is_full: bool,
    full_bandwidth: u64,
    full_rounds: u32,
    /// prev_ca_state: in recovery, and after a timeout.
    was_recovering: bool,
    was_after_timeout: bool,
    conserves: bool,
    prior_cwnd: u64,
    long_term: LongTerm,
    aggregation: Aggregation,
}

impl Bbr {
    /// bbr_init, as the connection opens; `min_rtt` is what its SYN has measured.
    pub(crate) fn new(draws: Stream, path: &mut Path, min_rtt: Option<u64>) -> Self {
        let mut bbr = Bbr {
            draws,
            mode: Mode::Startup,
            min_rtt,
            min_rtt_jiffies: path.jiffies(),
            probe_rtt_done: None,
            is_probe_rtt_round_done: false,
            bandwidth: MaxOverRounds::default(),
            rounds: 0,
            next_round_delivered: path.delivered,
            is_round_start: false,
            cycle: 0,
            cycle_began: 0,
            // bbr_update_gains sets both with the first ACK.
            pacing_gain: 0,
            cwnd_gain: 0,
            has_seen_rtt: false,
            is_idle_restart: false,
            is_full: false,
            full_bandwidth: 0,
            full_rounds: 0,
            was_recovering: false,
            was_after_timeout: false,
            conserves: false,
            prior_cwnd: 0,
            long_term: LongTerm::default(),
            aggregation: Aggregation::from(path.now),
        };
        bbr.init_rate(path);
        bbr.long_term.reset(path);
        bbr
    }

    /// bbr_main: an ACK has come.
    pub(crate) fn on_ack(&mut self, path: &mut Path, sample: &RateSample) {
        self.update_bandwidth(path, sample);
        self.update_aggregation(path, sample);
        if self.mode == Mode::ProbeBw && self.is_next_phase(path, sample) {
            self.advance_phase(path);
        }
        self.check_full(sample);
        self.check_drain(path);
        self.update_min_rtt(path, sample);
        self.update_gains();
        self.set_rate(path, self.bandwidth(), self.pacing_gain);
        self.set_cwnd(path, sample);
    }

    #[cfg(test)]
    pub(super) fn state(&self) -> String {
        format!("{:?}", self.mode)
    }

    /// bbr_bw: segments a microsecond, in 2^24ths.
    fn bandwidth(&self) -> u64 {
        match self.long_term.is_used() {
            true => self.long_term.bandwidth(),
            false => self.bandwidth.greatest(),
        }
    }

    /// bbr_init_pacing_rate_from_rtt: before a round trip is known it is taken for 1 ms.
    fn init_rate(&mut self, path: &mut Path) {
        let rtt;
        (self.has_seen_rtt, rtt) = path.assumed_rtt();
        path.rate = octets_per_second(path.mss, path.cwnd * BW_UNIT / rtt, HIGH_GAIN);
    }

    /// bbr_set_pacing_rate: in startup it never falls.
    fn set_rate(&mut self, path: &mut Path, bandwidth: u64, gain: u64) {
        let rate = octets_per_second(path.mss, bandwidth, gain);
        if !self.has_seen_rtt && path.srtt > 0 {
            self.init_rate(path);
        }
        if self.is_full || rate > path.rate {
            path.rate = rate;
        }
    }

    /// bbr_bdp: segments that a gain times the bandwidth sends in the least round trip, rounded up.
    fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        match self.min_rtt {
            None => INITIAL_CWND,
            Some(rtt) => ((bandwidth * rtt * gain) >> 8).div_ceil(BW_UNIT),
        }
    }

    /// bbr_quantization_budget: room for what hosts put together at both ends, an even number, two more while it probes.
    fn with_budget(&self, path: &Path, cwnd: u64) -> u64 {
        let even = (cwnd + 3 * burst_segments(path.rate, path.mss)).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBw && self.cycle == 0;
        even + 2 * u64::from(probes)
    }

    /// bbr_inflight.
    fn inflight(&self, path: &Path, gain: u64) -> u64 {
        self.with_budget(path, self.bdp(self.bandwidth.greatest(), gain))
    }

    /// bbr_packets_in_net_at_edt: what will be in the network as the next burst departs.
    fn in_net_at_departure(&self, path: &Path, in_flight: u64) -> u64 {
        let delivered = (self.bandwidth() * path.until_departure) >> 24;
        let burst = if self.pacing_gain > UNIT {
            burst_segments(path.rate, path.mss)
        } else {
            0
        };
        (in_flight + burst).saturating_sub(delivered)
    }

    /// bbr_update_bw: rounds, and the greatest bandwidth of ten of them.
    fn update_bandwidth(&mut self, path: &mut Path, sample: &RateSample) {
        self.is_round_start = false;
        let (Some(delivered), Some(interval)) = (sample.delivered, sample.positive_interval())
        else {
            return;
        };
        if sample.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = path.delivered;
            self.rounds += 1;
            self.is_round_start = true;
            self.conserves = false;
        }
        self.sample_long_term(path, sample.losses, sample.is_app_limited);
        let bandwidth = delivered * BW_UNIT / interval;
        // What the application limits says something only where it is more than is known.
        if !sample.is_app_limited || bandwidth >= self.bandwidth.greatest() {
            self.bandwidth.add(BANDWIDTH_ROUNDS, self.rounds, bandwidth);
        }
    }

    fn update_aggregation(&mut self, path: &Path, sample: &RateSample) {
        if sample.delivered.is_some() && sample.positive_interval().is_some() && sample.acked > 0 {
            let bandwidth = self.bandwidth();
            self.aggregation
                .update(path, bandwidth, sample.acked, self.is_round_start);
        }
    }

    /// bbr_ack_aggregation_cwnd.
    fn aggregation_cwnd(&self) -> u64 {
        match self.is_full {
            true => self.aggregation.cwnd(self.bandwidth()),
            false => 0,
        }
    }

    /// bbr_is_next_cycle_phase: a phase lasts for the least round trip; one that probes until that much more is in flight
    /// or something is lost, one that drains no longer than until the queue is gone.
    fn is_next_phase(&self, path: &Path, sample: &RateSample) -> bool {
        let least = self.min_rtt.unwrap_or(u64::MAX);
        let is_full_length = path.delivered_at - self.cycle_began > least;
        if self.pacing_gain == UNIT {
            return is_full_length;
        }
        let in_flight = self.in_net_at_departure(path, sample.prior_in_flight);
        if self.pacing_gain > UNIT {
            let has_probed =
                sample.losses > 0 || in_flight >= self.inflight(path, self.pacing_gain);
            return is_full_length && has_probed;
        }
        is_full_length || in_flight <= self.inflight(path, UNIT)
    }

    /// bbr_advance_cycle_phase.
    fn advance_phase(&mut self, path: &Path) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_began = path.delivered_at;
    }

    /// bbr_reset_probe_bw_mode: a cycle begins in any phase but the one that drains.
    fn probe_bandwidth(&mut self, path: &Path) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.draws.uniform(0, CYCLE_DRAWN_FROM) as usize;
        self.advance_phase(path);
    }

    /// bbr_check_full_bw_reached: three rounds in which the bandwidth has not grown by a quarter.
    fn check_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.is_round_start || sample.is_app_limited {
            return;
        }
        let greatest = self.bandwidth.greatest();
        if greatest >= (self.full_bandwidth * FULL_GROWTH) >> 8 {
            self.full_bandwidth = greatest;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// bbr_check_drain: out of startup, and on once what is in flight is what the path holds.
    fn check_drain(&mut self, path: &mut Path) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            path.ssthresh = Some(self.inflight(path, UNIT));
        }
        if self.mode == Mode::Drain
            && self.in_net_at_departure(path, path.in_flight) <= self.inflight(path, UNIT)
        {
            self.probe_bandwidth(path);
        }
    }

    /// bbr_update_min_rtt: every ten seconds four segments in flight for 200 ms and a round, unless it has been seen again.
    fn update_min_rtt(&mut self, path: &mut Path, sample: &RateSample) {
        let has_expired = path.jiffies() > self.min_rtt_jiffies + MIN_RTT_WINDOW_MS;
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min) || has_expired && !sample.is_ack_delayed)
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_jiffies = path.jiffies();
        }
        if has_expired && !self.is_idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(path);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(path);
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.is_idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, path: &mut Path) {
        // Low rates say nothing of the path.
        path.limits_itself = true;
        if self.probe_rtt_done.is_some() {
            self.is_probe_rtt_round_done |= self.is_round_start;
            if self.is_probe_rtt_round_done {
                self.end_probe_rtt(path);
            }
        } else if path.in_flight <= LEAST_CWND {
            self.probe_rtt_done = Some(path.jiffies() + PROBE_RTT_MS);
            self.is_probe_rtt_round_done = false;
            self.next_round_delivered = path.delivered;
        }
    }

    /// bbr_check_probe_rtt_done.
    fn end_probe_rtt(&mut self, path: &mut Path) {
        if self
            .probe_rtt_done
            .is_none_or(|done| path.jiffies() <= done)
        {
            return;
        }
        self.min_rtt_jiffies = path.jiffies();
        path.cwnd = path.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.probe_bandwidth(path);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// bbr_update_gains.
    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.is_used() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// bbr_set_cwnd: towards the target by what is acknowledged; down to it once the pipe has been full.
    fn set_cwnd(&mut self, path: &mut Path, sample: &RateSample) {
        if sample.acked > 0 {
            path.cwnd = match self.recovering_cwnd(path, sample) {
                Ok(cwnd) => cwnd,
                Err(cwnd) => self.cwnd_towards_target(path, cwnd, sample.acked),
            };
        }
        path.cwnd = path.cwnd.min(path.cwnd_max);
        if self.mode == Mode::ProbeRtt {
            path.cwnd = path.cwnd.min(LEAST_CWND);
        }
    }

    fn cwnd_towards_target(&self, path: &Path, cwnd: u64, acked: u64) -> u64 {
        let target = self.bdp(self.bandwidth(), self.cwnd_gain) + self.aggregation_cwnd();
        let target = self.with_budget(path, target);
        let cwnd = if self.is_full {
            (cwnd + acked).min(target)
        } else if cwnd < target || path.delivered < INITIAL_CWND {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(LEAST_CWND)
    }

    /// bbr_set_cwnd_to_recover_or_restore: cwnd in the first round of recovery, in which as much leaves as arrives; or, as
    /// an error, the cwnd to go on from.
    fn recovering_cwnd(&mut self, path: &Path, sample: &RateSample) -> Result<u64, u64> {
        let mut cwnd = path.cwnd;
        if sample.losses > 0 {
            cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        let kept = path.in_flight + sample.acked;
        let was_any = self.was_recovering || self.was_after_timeout;
        let is_any = path.is_recovering || path.is_after_timeout;
        if path.is_recovering && !self.was_recovering {
            self.conserves = true;
            self.next_round_delivered = path.delivered;
            cwnd = kept;
        } else if was_any && !is_any {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        (self.was_recovering, self.was_after_timeout) = (path.is_recovering, path.is_after_timeout);
        match self.conserves {
            true => Ok(cwnd.max(kept)),
            false => Err(cwnd),
        }
    }

    /// bbr_ssthresh, bbr_save_cwnd: a recovery or a timeout cuts nothing, and cwnd is as before once it is over.
    pub(crate) fn save_cwnd(&mut self, path: &Path) {
        let is_cut = self.was_recovering || self.was_after_timeout || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = match is_cut {
            true => self.prior_cwnd.max(path.cwnd),
            false => path.cwnd,
        };
    }

    /// bbr_cwnd_event: the first segment after none was in flight leaves, as the application had nothing more.
    pub(crate) fn on_restart(&mut self, path: &mut Path) {
        if !path.is_app_limited {
            return;
        }
        self.is_idle_restart = true;
        self.aggregation.begin_epoch(path.now);
        match self.mode {
            Mode::ProbeBw => self.set_rate(path, self.bandwidth(), UNIT),
            Mode::ProbeRtt => self.end_probe_rtt(path),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// bbr_set_state: the retransmission timer has run out, which ends a round.
    pub(crate) fn on_rto(&mut self, path: &Path) {
        (self.was_recovering, self.was_after_timeout) = (false, true);
        self.full_bandwidth = 0;
        self.is_round_start = true;
        self.sample_long_term(path, 1, false);
    }

    /// bbr_undo_cwnd: whether the pipe is full, and whether there is a policer, is looked at anew.
    pub(crate) fn on_undo(&mut self, path: &Path) {
        (self.full_bandwidth, self.full_rounds) = (0, 0);
        self.long_term.reset(path);
    }

    /// bbr_lt_bw_sampling.
    fn sample_long_term(&mut self, path: &Path, losses: u64, is_app_limited: bool) {
        let is_probing_round = self.mode == Mode::ProbeBw && self.is_round_start;
        let round = Round {
            is_start: self.is_round_start,
            is_used: is_probing_round,
            losses,
            is_app_limited,
        };
        match self.long_term.sample(path, &round) {
            Finding::Nothing => {}
            Finding::Policer => self.pacing_gain = UNIT,
            Finding::End => self.probe_bandwidth(path),
        }
    }
}

/// bbr_rate_bytes_per_sec: the pace of a bandwidth with a gain, a little below it.
fn octets_per_second(mss: u64, bandwidth: u64, gain: u64) -> u64 {
    let with_gain = (u128::from(bandwidth * mss) * u128::from(gain)) >> 8;
    ((with_gain * u128::from(1_000_000 / 100 * (100 - MARGIN_PERCENT))) >> 24) as u64
}

/// The bursts in which it sends (bbr_min_tso_segs).
pub(crate) fn burst_size(rate: u64) -> BurstSize {
    BurstSize {
        least_segments: if rate < TWO_AT_ONCE_FROM { 1 } else { 2 },
        time_ps: BurstSize::OF_TSO_PS,
    }
}

/// bbr_tso_segs_goal.
fn burst_segments(rate: u64, mss: u64) -> u64 {
    burst_size(rate).segments(rate, mss).min(127)
}

#[cfg(test)]
mod tests;
