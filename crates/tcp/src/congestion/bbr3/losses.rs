//! Effects of losses: bounds of bandwidth and of what is in flight, for a short or a long time
//! (section 5.5.10), and their undo if nothing was lost (5.5.11).

use super::{Bbr3, Phase, State, UNBOUNDED};
use crate::congestion::{Lost, Path, RateSample};

/// BBR.LossThresh, section 2.8: one lost of so many.
const LOSS_OF: u64 = 50;
/// BBR.Beta, section 2.8, tenths.
const BETA_TENTHS: u64 = 7;
/// BBRStartupFullLossCnt, section 5.3.1.3.
const STARTUP_RANGES: u32 = 6;

/// The signals of a round trip about the path (sections 2.10 and 2.14).
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    /// BBR.bw_latest and BBR.inflight_latest.
    bandwidth: u64,
    inflight: u64,
    /// BBR.loss_round_delivered, and whether this ACK begins a round (BBR.loss_round_start).
    round_delivered: u64,
    is_round_start: bool,
    /// BBR.is_loss_in_round.
    pub(super) has_loss: bool,
    /// Ranges of segments lost in the round, and the last segment of them.
    ranges: u32,
    last: Option<u64>,
}

/// The changes of a recovery that was not needed (section 2.15).
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// BBR.undo_state: what losses have ended.
    state: Option<State>,
    bandwidth_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

/// IsInflightTooHigh, section 5.5.10.2, where losses are found by blocks.
pub(super) fn is_too_high(lost: u64, sent_in_flight: u64) -> bool {
    lost * LOSS_OF > sent_in_flight
}

impl Bbr3 {
    /// UpdateLatestDeliverySignals, section 5.5.10.3.
    pub(super) fn update_latest(&mut self, path: &Path, sample: &RateSample, rate: u64) {
        let signals = &mut self.signals;
        signals.is_round_start = false;
        let Some(delivered) = sample.delivered else {
            return;
        };
        signals.bandwidth = signals.bandwidth.max(rate);
        signals.inflight = signals.inflight.max(delivered);
        if sample.prior_delivered >= signals.round_delivered {
            signals.round_delivered = path.delivered;
            signals.is_round_start = true;
        }
    }

    /// AdvanceLatestDeliverySignals, section 5.5.10.3.
    pub(super) fn advance_latest(&mut self, sample: &RateSample, rate: u64) {
        if self.signals.is_round_start {
            self.signals.bandwidth = rate;
            self.signals.inflight = sample.delivered.unwrap_or(0);
        }
    }

    /// ResetCongestionSignals, section 5.5.10.3.
    pub(super) fn reset_congestion(&mut self) {
        self.signals.has_loss = false;
        (self.signals.bandwidth, self.signals.inflight) = (0, 0);
    }

    /// UpdateCongestionSignals, section 5.5.10.3.
    pub(super) fn update_congestion(&mut self, path: &Path, sample: &RateSample, rate: u64) {
        self.update_bandwidth(path, sample, rate);
        if self.signals.is_round_start {
            self.adapt_lower_bounds(path);
            self.signals.has_loss = false;
        }
    }

    /// AdaptLowerBoundsFromCongestion, section 5.5.10.3: unless it probes for bandwidth, down to what was delivered in a round
    /// with losses, by three tenths at most.
    fn adapt_lower_bounds(&mut self, path: &Path) {
        let is_probing = matches!(
            self.state,
            State::Startup | State::ProbeBw(Phase::Refill | Phase::Up)
        );
        if is_probing || !self.signals.has_loss {
            return;
        }
        if self.bandwidth_shortterm == UNBOUNDED {
            self.bandwidth_shortterm = self.max_bandwidth();
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = path.cwnd;
        }
        let less = |bound: u64| bound * BETA_TENTHS / 10;
        self.bandwidth_shortterm = self.signals.bandwidth.max(less(self.bandwidth_shortterm));
        self.inflight_shortterm = self.signals.inflight.max(less(self.inflight_shortterm));
    }

    /// ResetShortTermModel, section 5.5.10.3.
    pub(super) fn reset_shortterm(&mut self) {
        (self.bandwidth_shortterm, self.inflight_shortterm) = (UNBOUNDED, UNBOUNDED);
    }

    /// CheckStartupHighLoss, section 5.3.1.3: a round of recovery in which two of a hundred were lost, in six ranges or more.
    pub(super) fn check_startup_losses(&mut self, path: &Path, sample: &RateSample) {
        if !self.signals.is_round_start {
            return;
        }
        let ranges = std::mem::take(&mut self.signals.ranges);
        self.signals.last = None;
        if self.full.is_reached
            || !path.is_recovering
            || ranges < STARTUP_RANGES
            || !is_too_high(sample.lost, sample.sent_in_flight)
        {
            return;
        }
        self.undo.state = Some(State::Startup);
        (self.full.is_now, self.full.is_reached) = (true, true);
        let bdp = self.bdp(self.bandwidth, 100);
        self.inflight_longterm = bdp.max(self.signals.inflight);
    }

    /// HandleLostPacket and NoteLoss, section 5.5.10.2.
    pub(crate) fn on_lost(&mut self, path: &Path, lost: &Lost) {
        let signals = &mut self.signals;
        if !signals.has_loss {
            signals.round_delivered = path.delivered;
        }
        signals.has_loss = true;
        if signals.last.is_none_or(|last| last + 1 != lost.index) {
            signals.ranges += 1;
        }
        signals.last = Some(lost.index);
        if self.probe.is_sample && is_too_high(lost.lost, lost.sent_in_flight) {
            self.lower_inflight(path, lost);
        }
    }

    /// HandleInflightTooHigh, section 5.5.10.2. InflightAtLoss is what was in flight before the segment: it is the one with
    /// which losses became too many, and has no part that would have been fewer.
    fn lower_inflight(&mut self, path: &Path, lost: &Lost) {
        self.probe.was_too_high = true;
        self.probe.is_sample = false;
        if !lost.is_app_limited {
            let least = self.target_inflight(path) * BETA_TENTHS / 10;
            self.inflight_longterm = least.max(lost.sent_in_flight - 1);
        }
        if self.state == State::ProbeBw(Phase::Up) {
            self.undo.state = Some(self.state);
            self.start_down(path);
        }
    }

    /// SaveStateUponLoss, section 5.5.11.1: as a recovery begins, or a timeout.
    pub(crate) fn on_recovery(&mut self, path: &Path) {
        self.save_cwnd(path);
        self.undo = Undo {
            state: None,
            bandwidth_shortterm: self.bandwidth_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// HandleSpuriousLossDetection, section 5.5.11.2.
    pub(crate) fn on_undo(&mut self, path: &mut Path) {
        self.restore_cwnd(path);
        self.signals.has_loss = false;
        self.full.reset(0);
        let undo = std::mem::take(&mut self.undo);
        self.bandwidth_shortterm = self.bandwidth_shortterm.max(undo.bandwidth_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(undo.inflight_longterm);
        let is_probing_rtt = self.state == State::ProbeRtt;
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.is_reached = false;
                if !is_probing_rtt {
                    self.state = State::Startup;
                }
            }
            Some(State::ProbeBw(_))
                if !is_probing_rtt && self.state != State::ProbeBw(Phase::Up) =>
            {
                self.start_refill(path);
            }
            _ => {}
        }
    }
}
