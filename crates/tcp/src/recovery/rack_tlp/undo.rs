//! Cuts that were not needed, taken back: what was thought lost had only been late (RFC 4015 and 5682; Linux
//! tcp_try_undo_recovery, tcp_try_undo_partial, tcp_try_undo_loss, tcp_process_loss).
//!
//! Eifel: an ACK echoes a timestamp from before the first repetition, so that it answers an original.
//! F-RTO: after a timeout has repeated one segment, new data go out, and something arrives that was sent once. A third does
//! where the receiver says what came twice: all that was repeated did (RFC 3708; Linux tcp_try_undo_dsack).

use super::ack_summary::AckSummary;
use super::{Next, RackTlp, State};
use crate::transmit::Transmitter;

/// The values before a reduction, and the evidence that it was not needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// undo_marker: the cut that may be taken back.
    cut: Option<Cut>,
    /// retrans_stamp: ticks at the first repetition that may be under way; none where there was none.
    repeated_at: Option<u64>,
    /// frto: the next ACKs decide whether a timeout was needed.
    is_asking: bool,
    /// undo_retrans: repetitions since the cut, or under way then, that have not come twice; none before the first.
    repeated: Option<u64>,
}

/// cwnd and ssthresh before a cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// prior_cwnd, segments.
    cwnd: u64,
    /// prior_ssthresh, octets; none where the cut was part of another, of a mark.
    ssthresh: Option<f64>,
    /// undo_marker: `snd_una` as it was made.
    una: u64,
}

impl Undo {
    /// A segment is repeated, but for a probe.
    pub(super) fn on_repeated(&mut self, ticks: u64) {
        self.repeated_at.get_or_insert(ticks);
        self.repeated = Some(self.repeated.unwrap_or(0) + 1);
    }

    /// So many repeated segments came twice, the last of them up to octet `end`.
    pub(super) fn on_duplicates(&mut self, end: u64, count: u64) {
        if self.cut.is_some_and(|cut| end > cut.una)
            && let Some(repeated) = &mut self.repeated
        {
            *repeated = repeated.saturating_sub(count);
        }
    }

    /// Returns whether everything that was repeated since the reduction came twice.
    fn is_all_double(&self) -> bool {
        self.cut.is_some() && self.repeated == Some(0)
    }

    /// A reduction for a mark, which is never taken back, begins (tcp_enter_cwr).
    pub(super) fn forget_cut(&mut self) {
        self.cut = None;
    }

    /// tcp_packet_delayed: the ACK that echoes `echo` answers what was sent before anything was repeated.
    fn is_late(&self, echo: Option<u64>) -> bool {
        match self.repeated_at {
            None => true,
            Some(repeated_at) => echo.is_some_and(|echo| echo < repeated_at),
        }
    }

    /// tcp_may_undo.
    fn may(&self, echo: Option<u64>) -> bool {
        self.cut.is_some() && (self.repeated == Some(0) || self.is_late(echo))
    }
}

impl RackTlp {
    /// A cut is about to be made that may be taken back, or one is that is part of another (tcp_init_undo); outside of a
    /// reduction ssthresh counts for 3/4 of cwnd at least (tcp_current_ssthresh).
    pub(super) fn note_cut(&mut self, tx: &Transmitter, is_part: bool) {
        let is_reducing = self.is_reducing();
        let under_way = u64::from(self.flight.resent()) + u64::from(self.is_probe_repetition());
        let Some(undo) = &mut self.undo else {
            return;
        };
        let cwnd = tx.cwnd_segments();
        let ssthresh = tx.window.ssthresh();
        let at_least = match is_reducing {
            true => ssthresh,
            false => (((cwnd >> 1) + (cwnd >> 2)) * tx.tcp.mss) as f64,
        };
        undo.cut = Some(Cut {
            cwnd,
            ssthresh: (!is_part).then_some(ssthresh.max(at_least)),
            una: tx.snd_una,
        });
        undo.repeated = (under_way > 0).then_some(under_way);
    }

    /// Nothing is repeated any more: the next repetition is a first one (tcp_retrans_stamp_cleanup).
    pub(super) fn forget_repetition(&mut self) {
        if let Some(undo) = &mut self.undo
            && !self.flight.has_repetition()
        {
            undo.repeated_at = None;
        }
    }

    /// A timeout may be one that was not needed (tcp_enter_loss: frto), with the state that it ends.
    pub(super) fn ask_after_timeout(&mut self, before: State) {
        let is_asking = before < State::Recovery || !self.has_progressed;
        if let Some(undo) = &mut self.undo {
            undo.is_asking = is_asking;
        }
    }

    /// tcp_undo_cwnd_reduction, tcp_reno_undo_cwnd: cwnd and ssthresh are at least what they were; whether losses that are
    /// left are none.
    fn take_back(&mut self, tx: &mut Transmitter, are_none_lost: bool) {
        if are_none_lost {
            self.flight.forget_losses();
        }
        self.rack.look_again();
        tx.counters.undos += 1;
        let cut = self.undo.as_mut().and_then(|undo| undo.cut.take());
        let Some((cwnd, ssthresh)) = cut.and_then(|cut| Some((cut.cwnd, cut.ssthresh?))) else {
            return;
        };
        if self.has_model() {
            self.take_back_model(tx);
        } else {
            tx.set_cwnd_segments(cwnd.max(tx.cwnd_segments()));
            if ssthresh > tx.window.ssthresh() {
                tx.window.set_ssthresh(ssthresh);
                if let Some(ecn) = &mut tx.ecn {
                    ecn.withdraw_cwr();
                }
            }
        }
    }

    /// Handles the acknowledgement of everything sent before recovery or a timeout
    /// (tcp_try_undo_recovery); returns whether the reduction is undone.
    pub(super) fn undo_at_end(&mut self, tx: &mut Transmitter, echo: Option<u64>) -> bool {
        let may = self.undo.as_ref().is_some_and(|undo| undo.may(echo));
        if may {
            self.take_back(tx, false);
        }
        may
    }

    /// An ACK of new data within recovery (tcp_try_undo_partial): whether it says that what was lost is late, and nothing
    /// is to be repeated until what was arrives.
    pub(super) fn undo_partly(
        &mut self,
        tx: &mut Transmitter,
        echo: Option<u64>,
        before: u64,
    ) -> bool {
        let is_late = |undo: &Undo| undo.cut.is_some() && undo.is_late(echo);
        if !self.undo.as_ref().is_some_and(is_late) {
            return false;
        }
        let highest = tx.sacked.end().max(tx.snd_una);
        self.rack.on_reordering(before, highest, tx.tcp.mss);
        if self.flight.resent() > 0 {
            return true;
        }
        self.forget_repetition();
        self.take_back(tx, true);
        self.keep_open(tx);
        false
    }

    /// tcp_try_undo_dsack.
    pub(super) fn undo_duplicates(&mut self, tx: &mut Transmitter) -> bool {
        let may = self.undo.as_ref().is_some_and(Undo::is_all_double);
        if may {
            self.rack.on_undo();
            self.take_back(tx, false);
        }
        may
    }

    /// tcp_try_undo_loss.
    fn undo_timeout(&mut self, tx: &mut Transmitter, is_sure: bool, echo: Option<u64>) -> bool {
        let may = is_sure || self.undo.as_ref().is_some_and(|undo| undo.may(echo));
        if may {
            self.take_back(tx, true);
            self.has_progressed = true;
            self.state = State::Open;
        }
        may
    }

    /// An ACK after a timeout (tcp_process_loss): what is to be sent.
    pub(super) fn process_timeout(
        &mut self,
        tx: &mut Transmitter,
        echo: Option<u64>,
        summary: &AckSummary,
    ) -> Next {
        let is_over = tx.snd_una >= self.high_seq;
        if summary.has_advanced && self.undo_timeout(tx, false, echo) {
            return Next::Nothing;
        }
        if self.undo.as_ref().is_some_and(|undo| undo.is_asking) {
            // Step 3.b of RFC 5682 section 3.1.
            if summary.has_original && self.undo_timeout(tx, true, echo) {
                return Next::Nothing;
            }
            let mut is_asking = true;
            if tx.snd_max > self.high_seq {
                // 3.a: what was sent since arrives, what was lost has not.
                is_asking = !(summary.has_sacked || summary.is_duplicate);
            } else if summary.has_advanced && !is_over {
                self.high_seq = tx.snd_max;
                // 2.b: what was never sent, where there is any.
                if tx.available > tx.snd_max && tx.snd_una + tx.advertised() > tx.snd_max {
                    return Next::New;
                }
                is_asking = false;
            }
            self.set_asking(is_asking);
        }
        if is_over {
            self.undo_at_end(tx, echo);
            self.state = State::Open;
            return Next::Nothing;
        }
        Next::Lost
    }

    /// Sets whether the next ACKs decide if a timeout was needed.
    pub(super) fn set_asking(&mut self, is_asking: bool) {
        if let Some(undo) = &mut self.undo {
            undo.is_asking = is_asking;
        }
    }
}

#[cfg(test)]
#[path = "undo_tests.rs"]
mod tests;
