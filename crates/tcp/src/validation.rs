//! Congestion window validation: what becomes of a cwnd that the application does not use (RFC 2861 and 7661; Linux
//! tcp_cwnd_validate).

use crate::spec::{CwndValidation, TcpSpec};
use crate::transmit::Transmitter;
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;

/// Of RFC 7661 section 4.2: the sampling period is three round trips, and a second at least.
const LEAST_PERIOD: SimTime = SimTime::from_millis(1_000);
/// Section 4.4.3: how long a cwnd may stay that is not validated.
const LONGEST_UNVALIDATED: SimTime = SimTime::from_millis(300_000);

/// The state of a sender that validates cwnd. Times in ticks of its clock.
#[derive(Clone, Debug)]
pub(crate) enum Validation {
    Halving(Halving),
    PipeAck(PipeAck),
}

impl Validation {
    /// None where an unused window stays, as Linux's does, too, without tcp_slow_start_after_idle.
    pub(crate) fn new(tcp: &TcpSpec) -> Option<Box<Self>> {
        if tcp.congestion.has_model() {
            return None;
        }
        Some(Box::new(match tcp.cwnd_validation {
            CwndValidation::Off => return None,
            CwndValidation::Halving if !tcp.idle_restart => return None,
            CwndValidation::Halving => Validation::Halving(Halving::default()),
            CwndValidation::PipeAck => Validation::PipeAck(PipeAck::new(tcp)),
        }))
    }
}

/// RFC 2861, as Linux has it: what cwnd has beyond what was used in an RTO is halved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Halving {
    /// snd_cwnd_used: most octets outstanding since `since`.
    used: Octets,
    /// snd_cwnd_stamp.
    since: u64,
    /// lsndtime: when data were last sent.
    sent_at: u64,
}

impl Halving {
    /// Data have been sent at `now`, and `outstanding` octets are; `is_open` without a recovery. The new cwnd, if it comes
    /// down (tcp_cwnd_validate, tcp_cwnd_application_limited).
    pub(crate) fn on_sent(
        &mut self,
        now: u64,
        outstanding: Octets,
        rto: u64,
        cwnd: Octets,
        is_open: bool,
        tcp: &TcpSpec,
    ) -> Option<Octets> {
        self.sent_at = now;
        if outstanding + tcp.mss > cwnd {
            (self.used, self.since) = (0, now);
            return None;
        }
        self.used = self.used.max(outstanding);
        if now - self.since < rto {
            return None;
        }
        let used = self.used.max(tcp.initial_cwnd);
        (self.used, self.since) = (0, now);
        (is_open && used < cwnd).then_some((cwnd + used) / 2)
    }

    /// Data are about to be sent, and nothing is outstanding: what is left of `cwnd`, which is halved for each RTO that has
    /// gone since data were last sent (tcp_cwnd_restart); none if that is less than one.
    pub(crate) fn after_idling(
        &mut self,
        now: u64,
        rto: u64,
        cwnd: Octets,
        least: Octets,
    ) -> Option<Octets> {
        let rtos = (now - self.sent_at).saturating_sub(1) / rto.max(1);
        if rtos == 0 {
            return None;
        }
        (self.used, self.since) = (0, now);
        let halvings = u32::try_from(rtos).unwrap_or(u32::MAX);
        let left = cwnd.checked_shr(halvings).unwrap_or(0);
        Some(left.max(least.min(cwnd)))
    }
}

/// RFC 7661: cwnd stays, and grows where half of it is used.
#[derive(Clone, Debug)]
pub(crate) struct PipeAck {
    /// Octets acknowledged in a round trip, and when it ended: those of the sampling period that none since exceeds.
    samples: VecDeque<(u64, Octets)>,
    /// Octets acknowledged in the round trip that is under way, which ends with the octet `round`; none before its first
    /// acknowledgement.
    acked: Octets,
    round: Option<u64>,
    /// True if half of cwnd or more was used in the last sample, or none is known (section 4.3).
    is_validated: bool,
    /// When it last was.
    validated_at: u64,
    least_period: u64,
    longest: u64,
}

impl PipeAck {
    fn new(tcp: &TcpSpec) -> Self {
        PipeAck {
            samples: VecDeque::new(),
            acked: 0,
            round: None,
            is_validated: true,
            validated_at: 0,
            least_period: LEAST_PERIOD.0.div_ceil(tcp.tick_ps),
            longest: LONGEST_UNVALIDATED.0.div_ceil(tcp.tick_ps),
        }
    }

    /// pipeACK, octets; none before the first sample.
    pub(crate) fn pipe_ack(&self) -> Option<Octets> {
        self.samples.front().map(|&(_, octets)| octets)
    }

    /// `acked` octets are acknowledged at `now`, up to `una`, with data sent up to `sent` and a round trip of `srtt` ticks.
    /// `cwnd` is looked at once a round trip, in which slow start may double it.
    pub(crate) fn on_acked(
        &mut self,
        now: u64,
        acked: Octets,
        (una, sent): (u64, u64),
        srtt: u64,
        cwnd: Octets,
    ) {
        self.acked += acked;
        if una < *self.round.get_or_insert(sent) {
            return;
        }
        let sample = std::mem::take(&mut self.acked);
        self.round = None;
        while self.samples.back().is_some_and(|&(_, o)| o <= sample) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, sample));
        let period = (3 * srtt).max(self.least_period);
        while self.samples.len() > 1 && self.samples[0].0 + period < now {
            self.samples.pop_front();
        }
        self.is_validated = 2 * self.samples[0].1 >= cwnd;
        if self.is_validated {
            self.validated_at = now;
        }
    }

    /// Returns whether cwnd may grow.
    pub(crate) fn may_grow(&self) -> bool {
        self.is_validated
    }

    /// A loss: the window that counts, with `outstanding` octets in flight; none where cwnd is validated (section 4.4.1).
    /// pipeACK is measured anew.
    pub(crate) fn on_loss(&mut self, cwnd: Octets, outstanding: Octets) -> Option<Octets> {
        let pipe = self.pipe_ack().unwrap_or(0).max(outstanding);
        self.samples.clear();
        self.acked = 0;
        let is_validated = std::mem::replace(&mut self.is_validated, true);
        (!is_validated).then_some(pipe.min(cwnd))
    }

    /// Returns whether cwnd was last validated more than five minutes before `now`, so that it is
    /// to be halved (section 4.4.3).
    pub(crate) fn is_over(&mut self, now: u64) -> bool {
        let is_over = !self.samples.is_empty() && now - self.validated_at > self.longest;
        if is_over {
            self.validated_at = now;
        }
        is_over
    }
}

impl Transmitter {
    /// Acknowledgements have covered `acked` octets more.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_pipe(&mut self, acked: Octets) {
        let srtt = self.rto.srtt_eighths() as u64 / 8;
        let cwnd = self.window.octets();
        if let Some(Validation::PipeAck(pipe)) = self.validation.as_deref_mut() {
            let octets = (self.snd_una, self.snd_max);
            pipe.on_acked(self.ticks, acked, octets, srtt, cwnd);
        }
    }

    /// Returns whether cwnd may grow, because it is used.
    #[inline(always)]
    pub(crate) fn has_validated(&self) -> bool {
        match self.validation.as_deref() {
            Some(Validation::PipeAck(pipe)) => pipe.may_grow(),
            _ => true,
        }
    }

    /// A loss or a mark is about to cut what of cwnd was used.
    #[cold]
    #[inline(never)]
    pub(crate) fn forget_unused(&mut self) {
        let outstanding = self.snd_max - self.snd_una;
        let cwnd = self.window.octets();
        if let Some(Validation::PipeAck(pipe)) = self.validation.as_deref_mut()
            && let Some(used) = pipe.on_loss(cwnd, outstanding)
        {
            self.set_validated(used);
        }
    }

    /// The sender has done something, and may have `sent` data; `is_open` without a recovery.
    #[inline(never)]
    pub(crate) fn validate(&mut self, sent: bool, is_open: bool) {
        let (now, cwnd) = (self.ticks, self.window.octets());
        let outstanding = self.snd_max - self.snd_una;
        let rto = self.rto.ticks(&self.tcp);
        let left = match self.validation.as_deref_mut() {
            Some(Validation::Halving(halving)) if sent => {
                halving.on_sent(now, outstanding, rto, cwnd, is_open, &self.tcp)
            }
            Some(Validation::PipeAck(pipe)) => {
                let left = (cwnd / 2).max(self.tcp.initial_cwnd).min(cwnd);
                pipe.is_over(now).then_some(left)
            }
            _ => None,
        };
        if let Some(left) = left {
            self.keep_ssthresh(cwnd);
            self.set_validated(left);
        }
    }

    /// The application goes on after idling, at `now` by the host's clock; whether it is validation that says what is left.
    pub(crate) fn validate_after_idling(&mut self, now: u64) -> bool {
        let Some(validation) = self.validation.as_deref_mut() else {
            return false;
        };
        let cwnd = self.window.octets();
        if let Validation::Halving(halving) = validation
            && self.snd_max > 0
        {
            let rto = self.rto.ticks(&self.tcp);
            let left = halving.after_idling(now, rto, cwnd, self.tcp.initial_cwnd);
            if let Some(left) = left {
                self.keep_ssthresh(cwnd);
                self.set_validated(left);
            }
        }
        true
    }

    /// ssthresh is 3/4 of what cwnd was, at least (tcp_current_ssthresh; RFC 7661 section 4.4.3).
    fn keep_ssthresh(&mut self, cwnd: Octets) {
        let ssthresh = self.window.ssthresh();
        self.window.set_ssthresh(ssthresh.max(cwnd as f64 * 0.75));
    }

    fn set_validated(&mut self, octets: Octets) {
        let mss = self.tcp.mss;
        let octets = match self.tcp.congestion.is_in_segments() {
            true => octets / mss * mss,
            false => octets,
        };
        self.window.set_cwnd(octets.max(mss) as f64);
    }
}

#[cfg(test)]
#[path = "validation_tests.rs"]
mod tests;
