//! The sender under a congestion control that has a model of the path, a version of BBR: it sets cwnd and the pace with every ACK, and
//! the reductions of recovery have no part in it (Linux tcp_cong_control: cong_control).

use super::ack_summary::AckSummary;
use super::rate::Rates;
use super::{RackTlp, State};
use crate::congestion::{Path, PathModel, RateSample};
use crate::transmit::Transmitter;
use crate::window::Signal;
use skycell_des::Stream;

const PS_PER_US: u64 = 1_000_000;

/// The additional state of a sender with a model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) rates: Rates,
    /// None before the connection is open.
    of_path: Option<PathModel>,
    /// Stream that its model draws from, until there is one.
    draws: Option<Stream>,
    /// Octets that the application had handed over and that were not sent when the sender last did something.
    unsent: u64,
}

impl Model {
    pub(super) fn new(draws: Stream) -> Self {
        Model {
            rates: Rates::new(0),
            of_path: None,
            draws: Some(draws),
            unsent: 0,
        }
    }

    /// Returns the stream from which the next connection's model draws.
    pub(super) fn into_draws(self) -> Option<Stream> {
        self.draws.or(self.of_path.map(PathModel::into_draws))
    }
}

/// Microseconds of so many ticks of the host's clock.
fn micros(tx: &Transmitter, ticks: u64) -> u64 {
    (u128::from(ticks) * u128::from(tx.tcp.tick_ps) / u128::from(PS_PER_US)) as u64
}

/// tcp_mstamp.
fn now(tx: &Transmitter) -> u64 {
    micros(tx, tx.ticks)
}

impl RackTlp {
    /// Runs `act` on the model with the connection's values, and applies the values that it has
    /// set.
    fn with_model(&mut self, tx: &mut Transmitter, act: impl FnOnce(&mut PathModel, &mut Path)) {
        let Some(mut model) = self.model.take() else {
            return;
        };
        if let Some(of_path) = &mut model.of_path {
            let mut path = self.path(tx, &model.rates);
            act(of_path, &mut path);
            self.apply(tx, &path, &mut model.rates);
        }
        self.model = Some(model);
    }

    fn path(&self, tx: &Transmitter, rates: &Rates) -> Path {
        let pacer = self.pacer.as_ref().expect("what has a model paces");
        Path {
            cwnd: tx.cwnd_segments(),
            cwnd_max: (tx.tcp.max_cwnd / tx.tcp.mss).max(1),
            ssthresh: None,
            rate: pacer.rate().unwrap_or(0),
            is_app_limited: rates.is_app_limited(),
            limits_itself: false,
            in_flight: self.flight.pipe(),
            is_cwnd_limited: self.usage.is_limited(),
            delivered: rates.delivered(),
            lost: self.flight.ever_lost(),
            delivered_at: rates.delivered_at(),
            now: now(tx),
            until_departure: pacer.delay().0 / PS_PER_US,
            srtt: micros(tx, tx.rto.srtt_eighths() as u64) / 8,
            mss: tx.tcp.mss,
            is_recovering: self.state == State::Recovery,
            is_after_timeout: self.state == State::Loss,
        }
    }

    fn apply(&mut self, tx: &mut Transmitter, path: &Path, rates: &mut Rates) {
        tx.set_cwnd_segments(path.cwnd);
        if let Some(ssthresh) = path.ssthresh {
            tx.window.set_ssthresh((ssthresh * tx.tcp.mss) as f64);
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.set_rate(path.rate);
        }
        if path.limits_itself {
            rates.limit(self.flight.pipe());
        }
    }

    /// The pace, and the model's state.
    #[cfg(test)]
    pub(crate) fn pace_and_state(&self) -> (Option<u64>, Option<String>) {
        let pace = self.pacer.as_ref().and_then(|pacer| pacer.rate());
        let model = self.model.as_ref();
        let of_path = model.and_then(|model| model.of_path.as_ref());
        (pace, of_path.map(PathModel::state))
    }

    /// Returns whether cwnd follows a model.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// The application hands over more: the connection is open, and the sender may have had less than a segment.
    pub(super) fn before_more(&mut self, tx: &mut Transmitter) {
        let Some(mut model) = self.model.take() else {
            return;
        };
        if let Some(draws) = model.draws.take() {
            model.rates = Rates::new(now(tx));
            // The SYN's round trip, which the timer's estimator counts from one.
            let srtt = tx.rto.srtt_eighths() as u64 / 8;
            let min_rtt = srtt.checked_sub(1).map(|ticks| micros(tx, ticks));
            let mut path = self.path(tx, &model.rates);
            model.of_path = PathModel::new(&tx.tcp.congestion, draws, &mut path, min_rtt);
            self.flight.keep_lost();
            tx.window.set_ssthresh(tx.tcp.max_cwnd as f64);
            self.apply(tx, &path, &mut model.rates);
        }
        // tcp_rate_check_app_limited.
        let is_limited = model.unsent < tx.tcp.mss
            && self.flight.pipe() < tx.cwnd_segments()
            && self.flight.lost() <= self.flight.resent();
        if is_limited {
            model.rates.limit(self.flight.pipe());
        }
        self.model = Some(model);
    }

    /// Notes what is not sent after the sender has sent what it could.
    pub(super) fn note_unsent(&mut self, tx: &Transmitter) {
        if let Some(model) = &mut self.model {
            model.unsent = tx.available - tx.snd_max;
        }
    }

    /// A segment of the flight is about to leave, with none or some in flight (CA_EVENT_TX_START).
    pub(super) fn before_sending(&mut self, tx: &mut Transmitter) {
        if self.has_model() && self.flight.pipe() == 0 {
            self.with_model(tx, |model, path| model.on_restart(path));
        }
    }

    /// It has left, with so many `in_flight`, itself included; `is_only` if nothing was outstanding.
    pub(super) fn note_departure(
        &mut self,
        tx: &Transmitter,
        index: u64,
        is_only: bool,
        in_flight: u64,
    ) {
        if let Some(model) = &mut self.model {
            let lost = self.flight.ever_lost();
            model
                .rates
                .on_sent(index, is_only, now(tx), in_flight, lost);
        }
    }

    /// A loss or a mark, of which cwnd is cut where there is no model.
    pub(super) fn cut(&mut self, tx: &mut Transmitter, signal: Signal) {
        if self.has_model() {
            self.with_model(tx, |model, path| model.on_recovery(path));
            tx.note_reduction();
        } else {
            tx.on_signal(signal);
        }
    }

    /// A cut is taken back (bbr_undo_cwnd).
    pub(super) fn take_back_model(&mut self, tx: &mut Transmitter) {
        self.with_model(tx, |model, path| model.on_undo(path));
    }

    /// After a timeout, with its losses found.
    pub(super) fn note_timeout(&mut self, tx: &mut Transmitter) {
        if self.has_model() {
            self.with_model(tx, |model, path| model.on_rto(path));
            self.note_losses(tx);
        }
    }

    /// Passes on the losses found since the last call.
    pub(super) fn note_losses(&mut self, tx: &mut Transmitter) {
        let found = self.flight.take_lost();
        let Some(model) = &self.model else {
            return;
        };
        let before = self.flight.ever_lost() - found.len() as u64;
        let lost = |(position, index)| model.rates.lost(index, before + position + 1);
        let losses: Vec<_> = (0..).zip(found).filter_map(lost).collect();
        for lost in &losses {
            self.with_model(tx, |model, path| model.on_lost(path, lost));
        }
    }

    /// Passes an ACK to the model, with `prior` segments in flight before it (tcp_rate_gen,
    /// bbr_main).
    pub(super) fn follow_model(&mut self, tx: &mut Transmitter, summary: &AckSummary, prior: u64) {
        self.note_losses(tx);
        let min_rtt = self.rack.min_rtt().map(|ticks| micros(tx, ticks));
        let ever_lost = self.flight.ever_lost();
        let Some(model) = &mut self.model else {
            return;
        };
        let is_next = model.rates.prior_delivered() == Some(model.rates.delivered() - 1);
        let sample = RateSample {
            rtt: summary.rtt.map(|ticks| micros(tx, ticks)),
            is_ack_delayed: summary.is_lone_runt && is_next,
            losses: summary.losses.count.into(),
            prior_in_flight: prior,
            ..model
                .rates
                .sample(summary.delivered.into(), ever_lost, min_rtt, now(tx))
        };
        self.with_model(tx, |model, path| model.on_ack(path, &sample));
    }
}
