//! The least round trip, and what probes for it: half a bandwidth-delay product in flight for a while (sections 5.3.4, 5.5.7).

use super::probe_bw::Answers;
use super::{Bbr3, LEAST_CWND, PROBE_RTT_CWND_GAIN, State};
use crate::congestion::{Path, RateSample};

/// BBR.MinRTTFilterLen, BBR.ProbeRTTInterval and BBR.ProbeRTTDuration, section 2.16; microseconds.
const MIN_RTT_WINDOW_US: u64 = 10_000_000;
const INTERVAL_US: u64 = 5_000_000;
const DURATION_US: u64 = 200_000;

/// The state of probes for the least round trip (section 2.16.2).
#[derive(Clone, Debug)]
pub(super) struct ProbeRtt {
    /// BBR.probe_rtt_min_delay and its time.
    least: Option<u64>,
    pub(super) least_at: u64,
    /// BBR.probe_rtt_expired.
    has_expired: bool,
    /// BBR.probe_rtt_done_stamp, and whether a round has ended since little is in flight.
    done: Option<u64>,
    is_round_done: bool,
}

impl ProbeRtt {
    pub(super) fn new(least: Option<u64>, now: u64) -> Self {
        ProbeRtt {
            least,
            least_at: now,
            has_expired: false,
            done: None,
            is_round_done: false,
        }
    }
}

impl Bbr3 {
    /// UpdateMinRTT, section 5.3.4.3.
    pub(super) fn update_min_rtt(&mut self, path: &Path, sample: &RateSample) {
        let probe = &mut self.probe_rtt;
        probe.has_expired = path.now > probe.least_at + INTERVAL_US;
        if let Some(rtt) = sample.rtt
            && (probe.has_expired || probe.least.is_none_or(|least| rtt < least))
        {
            (probe.least, probe.least_at) = (Some(rtt), path.now);
        }
        let has_expired = path.now > self.min_rtt_at + MIN_RTT_WINDOW_US;
        if let Some(least) = probe.least
            && (has_expired || self.min_rtt.is_none_or(|min_rtt| least < min_rtt))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(least), probe.least_at);
        }
    }

    /// CheckProbeRTT, section 5.3.4.3.
    pub(super) fn check_probe_rtt(&mut self, path: &mut Path, sample: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt.has_expired && !self.is_idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd(path);
            self.probe_rtt.done = None;
            self.probe.answers = Answers::ProbeStopping;
            self.start_round(path);
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(path);
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.is_idle_restart = false;
        }
    }

    /// HandleProbeRTT, section 5.3.4.3.
    fn probe_rtt(&mut self, path: &mut Path) {
        // Low rates say nothing of the path.
        path.limits_itself = true;
        if self.probe_rtt.done.is_some() {
            self.probe_rtt.is_round_done |= self.is_round_start;
            if self.probe_rtt.is_round_done {
                self.end_probe_rtt(path);
            }
        } else if path.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt.done = Some(path.now + DURATION_US);
            self.probe_rtt.is_round_done = false;
            self.start_round(path);
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT, sections 5.3.4.3 and 5.3.4.4.
    pub(super) fn end_probe_rtt(&mut self, path: &mut Path) {
        if self.probe_rtt.done.is_none_or(|done| path.now <= done) {
            return;
        }
        self.probe_rtt.least_at = path.now;
        self.restore_cwnd(path);
        self.reset_shortterm();
        if self.full.is_reached {
            self.start_down(path);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }

    /// ProbeRTTCwnd, section 5.6.4.5.
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(self.bandwidth, PROBE_RTT_CWND_GAIN)
            .max(LEAST_CWND)
    }
}
