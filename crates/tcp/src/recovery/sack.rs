//! SACK: the pipe algorithm of Fall and Floyd, as the studies implement it.

use super::{LossRecovery, RecoveryPoint, TimerAfterAck};
use crate::spec::{PipeAtEntry, SackPartialAck, SackPipeRoom, SackRetransmitDelay};
use crate::transmit::Transmitter;
use skycell_units::Octets;

/// Entry and exit as NewReno. While it lasts, segments go out only while `pipe` leaves room below
/// cwnd, holes below the highest SACKed octet before new data, each hole once. Any duplicate ACK
/// takes a segment off `pipe`, with or without news in its SACK blocks: each stands for a segment
/// that has left the network.
///
/// How much room that has to be is `sack_pipe_room`; what a partial ACK does is `sack_partial_ack`, what
/// it means for the timer `sack_partial_ack_restarts`.
/// Source: ICCCN'97 section 3; 98-0876R1 section 3.2.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    point: RecoveryPoint,
    /// Octets thought to be in the network; may fall below zero when more ACKs arrive than sent for.
    pipe: i64,
    /// Octets below this have been resent in this recovery, or are SACKed.
    resent_to: u64,
}

impl LossRecovery for Sack {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        let mss = tx.tcp.mss as i64;
        if self.point.begins(tx, count) {
            // ICCCN'97 4.2 resends the segment and then sets pipe: it does not count on top.
            self.pipe = in_network(tx) as i64;
            if tx.tcp.pipe_at_entry == PipeAtEntry::CwndLessThree {
                self.pipe -= 3 * mss;
            }
            self.point.begin(tx);
            tx.window.set_to_ssthresh_plus(&tx.tcp, 0);
            tx.resend_first();
            self.resent_to = (tx.snd_una + tx.tcp.mss).min(tx.snd_max);
        } else if self.point.is_active {
            self.pipe -= mss;
        }
        if self.point.is_active {
            self.send_while_pipe_allows(tx);
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, _acked: Octets) -> TimerAfterAck {
        let is_partial = self.point.is_active && !self.point.is_reached(tx);
        if is_partial && tx.tcp.sack_partial_ack != SackPartialAck::EndsRecovery {
            self.on_partial_ack(tx);
            let restarts = tx.tcp.sack_partial_ack_restarts;
            return self.point.timer_after_partial_ack(restarts);
        }
        if std::mem::take(&mut self.point.is_active) {
            if is_partial {
                // What a timeout goes back to goes on after what this recovery has resent.
                tx.snd_nxt = tx.snd_nxt.max(self.resent_to);
            } else {
                // Fall and Floyd: what was sent since, from `recover` on, may be resent fast.
                self.point.recover = None;
            }
            tx.window.end_recovery(&tx.tcp);
        } else {
            tx.window.on_new_ack(&tx.tcp);
        }
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    /// 98-0876R1 3.2: while recovery lasts, new data too goes out only while pipe is below cwnd.
    fn on_more_to_send(&mut self, tx: &mut Transmitter) {
        if self.point.is_active {
            self.send_while_pipe_allows(tx);
        } else {
            tx.send_as_allowed();
        }
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.point.on_timeout(tx);
        tx.sacked.clear();
    }
}

impl Sack {
    fn on_partial_ack(&mut self, tx: &mut Transmitter) {
        // One for the retransmission that has arrived, one for the original now known lost.
        self.pipe -= tx.tcp.mss as i64;
        if tx.tcp.sack_partial_ack != SackPartialAck::PipeLessOne {
            self.pipe -= tx.tcp.mss as i64;
        }
        if tx.tcp.sack_partial_ack == SackPartialAck::ResendsTwo {
            for _ in 0..2 {
                self.resend_next_hole(tx);
            }
        }
        self.send_while_pipe_allows(tx);
    }

    fn send_while_pipe_allows(&mut self, tx: &mut Transmitter) {
        let mss = tx.tcp.mss as i64;
        while self.has_room(tx) {
            if self.resend_next_hole(tx) {
                continue;
            }
            // Fall and Floyd: what a timeout goes back to and no block has passed, then new data.
            if !tx.send_next(self.resent_to.max(tx.sacked.end())) {
                break;
            }
            self.pipe += mss;
        }
    }

    /// Whether pipe leaves room below cwnd.
    fn has_room(&self, tx: &Transmitter) -> bool {
        let cwnd = tx.window.cwnd();
        match tx.tcp.sack_pipe_room {
            SackPipeRoom::Segment => self.pipe + tx.tcp.mss as i64 <= cwnd as i64,
            SackPipeRoom::Any => (self.pipe as f64) < cwnd,
        }
    }

    /// Resends the first segment of the next hole; false when there is none.
    fn resend_next_hole(&mut self, tx: &mut Transmitter) -> bool {
        let Some((start, end)) = self.next_hole(tx) else {
            return false;
        };
        tx.resend(start, end);
        self.resent_to = end.min(start + tx.tcp.mss);
        self.pipe += tx.tcp.mss as i64;
        true
    }

    /// The lowest hole that has not been resent and may be.
    fn next_hole(&self, tx: &Transmitter) -> Option<(u64, u64)> {
        let hole = tx.sacked.hole_from(self.resent_to.max(tx.snd_una))?;
        match tx.tcp.sack_retransmit_delay {
            SackRetransmitDelay::None => Some(hole),
            SackRetransmitDelay::Segments { count } => {
                let waits_for = u64::from(count) * tx.tcp.mss;
                tx.sacked.has_above(hole.1, waits_for).then_some(hole)
            }
        }
    }
}

/// What cwnd lets into the network, octets. Where pieces of a segment wait, that is whole segments
/// (ICCCN'97 3: pipe is what is in the network; Fall and Floyd: int(cwnd)).
fn in_network(tx: &Transmitter) -> Octets {
    let cwnd = tx.window.cwnd() as Octets;
    if tx.tcp.sws_avoidance {
        cwnd / tx.tcp.mss * tx.tcp.mss
    } else {
        cwnd
    }
}

#[cfg(test)]
#[path = "sack_tests.rs"]
mod tests;
