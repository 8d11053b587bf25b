//! The one timer of a sender, which is for a probe, for the reordering window or for the retransmission (Linux
//! icsk_pending; tcp_timer.c).

use super::ack_summary::AckSummary;
use super::{RackTlp, State};
use crate::transmit::Transmitter;
use crate::window::Signal;
use skycell_units::SimTime;

/// Slack of a probe and of the reordering window: TCP_TIMEOUT_MIN, two jiffies of a millisecond.
pub(super) const TIMEOUT_MIN_PS: u64 = SimTime::from_millis(2).0;

/// The purpose of the running timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Nothing,
    /// ICSK_TIME_RETRANS.
    Retransmission,
    /// ICSK_TIME_LOSS_PROBE.
    Probe,
    /// ICSK_TIME_REO_TIMEOUT.
    Reordering,
}

/// A tail loss probe that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// tlp_high_seq: `snd_max` as it was sent.
    end: u64,
    /// tlp_retrans: it repeats a segment.
    is_repetition: bool,
}

impl RackTlp {
    /// The timer has run out.
    pub(crate) fn on_timer(&mut self, tx: &mut Transmitter, now: SimTime) {
        let is_departure = self.is_departure(now);
        self.take_timer(tx, now);
        if is_departure {
            self.on_departure(tx);
        }
        if tx.deadline <= now {
            match self.pending {
                Pending::Probe => self.send_probe(tx),
                Pending::Reordering => self.on_reordering_timeout(tx),
                Pending::Retransmission | Pending::Nothing => self.on_timeout(tx),
            }
        }
        self.give_timer(tx);
    }

    fn set(&mut self, tx: &mut Transmitter, pending: Pending, ticks: u64) {
        self.pending = pending;
        tx.start_timer_of(ticks.max(1));
    }

    /// The same of a timer that waits for what the pacer holds back too (tcp_reset_xmit_timer).
    fn set_after_departure(&mut self, tx: &mut Transmitter, pending: Pending, ticks: u64) {
        let held = self.ticks_to_departure(tx);
        self.set(tx, pending, ticks + held);
    }

    /// Starts the retransmission timer anew.
    pub(super) fn start_rto(&mut self, tx: &mut Transmitter) {
        let rto = tx.rto.ticks(&tx.tcp);
        self.set_after_departure(tx, Pending::Retransmission, rto);
    }

    /// Ticks until RTO has gone since the first segment was sent (tcp_rto_delta_us); none if it has.
    fn rest_of_rto(&self, tx: &Transmitter) -> Option<u64> {
        let rto = tx.rto.ticks(&tx.tcp);
        let first = self.flight.first_ticks()?;
        (first + rto).checked_sub(tx.ticks)
    }

    /// tcp_rearm_rto: after a probe or a reordering window RTO counts from the first segment's sending.
    pub(super) fn rearm_rto(&mut self, tx: &mut Transmitter) {
        if self.flight.is_empty() {
            self.pending = Pending::Nothing;
            tx.deadline = SimTime::NEVER;
            return;
        }
        match self.pending {
            Pending::Probe | Pending::Reordering => {
                let rest = self.rest_of_rto(tx).unwrap_or(0);
                self.set_after_departure(tx, Pending::Retransmission, rest);
            }
            Pending::Nothing | Pending::Retransmission => self.start_rto(tx),
        }
    }

    /// The timer after an ACK (tcp_set_xmit_timer): for the reordering window where something may be late, anew where
    /// it acknowledges, or SACKs what was sent before the first segment was sent last (FLAG_SET_XMIT_TIMER).
    pub(super) fn set_timer(&mut self, tx: &mut Transmitter, summary: &AckSummary) {
        if summary.losses.wait > 0 {
            let wait = summary.losses.wait + self.timeout_min;
            let rto = tx.rto.ticks(&tx.tcp);
            self.set(tx, Pending::Reordering, wait.min(rto));
            return;
        }
        let first = self.flight.first_ticks();
        let is_before_first = summary
            .sacked
            .zip(first)
            .is_some_and(|(sacked, first)| sacked.0 < first);
        if (summary.has_advanced || is_before_first) && !self.schedule_probe(tx, true) {
            self.rearm_rto(tx);
        }
    }

    /// tcp_schedule_loss_probe: two round trips and a slack from now, no later than RTO; with one segment outstanding
    /// its ACK may be held.
    pub(super) fn schedule_probe(&mut self, tx: &mut Transmitter, is_rto_anew: bool) -> bool {
        let may = matches!(self.state, State::Open | State::Cwr) && !self.flight.is_empty();
        if !may {
            return false;
        }
        let srtt = tx.rto.srtt_eighths() as u64;
        let wait = if srtt == 0 {
            tx.tcp.rto_initial_ticks.into()
        } else if self.flight.len() == 1 {
            srtt / 4 + u64::from(tx.tcp.rto_min_ticks)
        } else {
            srtt / 4 + self.timeout_min
        };
        let rto = if is_rto_anew {
            Some(tx.rto.ticks(&tx.tcp))
        } else {
            self.rest_of_rto(tx).filter(|&rest| rest > 0)
        };
        self.set_after_departure(tx, Pending::Probe, rto.map_or(wait, |rto| wait.min(rto)));
        true
    }

    /// tcp_send_loss_probe: a segment of new data, or the last one again.
    fn send_probe(&mut self, tx: &mut Transmitter) {
        if self.probe.is_none() {
            let is_repetition = !self.send_one(tx);
            if is_repetition && let Some((index, start, end)) = self.flight.last() {
                let in_flight = self.flight.pipe();
                self.repeat(tx, index, start, end, in_flight);
                self.flight.on_probed(index, tx.ticks);
            }
            self.probe = Some(Probe {
                end: tx.snd_max,
                is_repetition,
            });
            // RTO counts from now.
            self.pending = Pending::Nothing;
        }
        self.rearm_rto(tx);
    }

    /// An ACK that may end a probe (tcp_process_tlp_ack).
    pub(super) fn end_probe(&mut self, tx: &mut Transmitter, ack: u64, summary: &AckSummary) {
        let Some(probe) = self.probe.filter(|probe| ack >= probe.end) else {
            return;
        };
        if !probe.is_repetition || summary.has_probe {
            self.probe = None; // where it repeated, both arrived
        } else if ack > probe.end {
            // No other ACK says that both arrived: the first was lost, and the probe has repaired it.
            self.begin_reduction(tx, Signal::Loss);
            self.end_reduction(tx);
            self.state = State::Open;
            self.try_open(tx, false);
        } else if !summary.has_advanced && !summary.has_opened && !summary.has_sacked {
            self.probe = None; // a duplicate: they did, too
        }
    }

    /// Returns whether a probe is under way that was sent with `end` as `snd_max` (tlp_high_seq).
    pub(super) fn is_probe_end(&self, end: u64) -> bool {
        self.probe.is_some_and(|probe| probe.end == end)
    }

    /// Returns whether the probe that is under way repeats a segment (tlp_retrans).
    pub(super) fn is_probe_repetition(&self) -> bool {
        self.probe.is_some_and(|probe| probe.is_repetition)
    }

    /// tcp_rack_reo_timeout.
    fn on_reordering_timeout(&mut self, tx: &mut Transmitter) {
        let pipe = self.flight.pipe();
        let srtt = tx.rto.srtt_eighths() as u64 / 8;
        let is_recovering = self.state >= State::Recovery;
        self.rack
            .find_lost(&mut self.flight, tx.ticks, srtt, is_recovering);
        if self.flight.pipe() != pipe {
            if self.state != State::Recovery {
                self.enter_recovery(tx);
                if !self.has_model() {
                    self.reduce(tx, 1, false);
                }
            }
            self.note_losses(tx);
            self.resend_lost(tx);
        }
        if self.pending != Pending::Retransmission {
            self.rearm_rto(tx);
        }
    }

    /// tcp_retransmit_timer and tcp_enter_loss: what is SACKed stays so, what was sent within a round trip is under way.
    fn on_timeout(&mut self, tx: &mut Transmitter) {
        tx.on_timeout();
        self.flight.on_timeout(self.rack.rtt(), tx.ticks);
        // One cut for a window of data, though the timer may run out again.
        let is_new = self.state < State::Cwr || tx.snd_una >= self.high_seq;
        if is_new || self.state == State::Loss && self.has_progressed {
            self.note_cut(tx, false);
            self.cut(tx, Signal::Loss);
        }
        self.ask_after_timeout(self.state);
        tx.window.on_rto(&tx.tcp);
        tx.set_cwnd_segments(self.flight.pipe() + 1);
        self.note_timeout(tx);
        self.state = State::Loss;
        self.high_seq = tx.snd_max;
        self.probe = None;
        self.has_progressed = false;
        if let Some((index, start, end)) = self.flight.first() {
            self.resend_one(tx, index, start, end);
        }
        self.start_rto(tx);
    }
}
