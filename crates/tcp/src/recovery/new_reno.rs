//! NewReno: a fast-retransmit phase that lasts until everything sent before it is acknowledged.

use super::{LossRecovery, RecoveryPoint, TimerAfterAck};
use crate::spec::{PartialAckRestarts, PartialAckWindow};
use crate::transmit::Transmitter;
use skycell_units::Octets;

/// As Reno, but an ACK below `recover` (a partial ACK) resends the next segment and goes on.
///
/// With the flywheel an ACK does not send what cwnd, inflated all the same, has room for while it
/// lasts: every second duplicate ACK sends one new segment, and a partial ACK resends one. What the
/// application hands over meanwhile goes as far as cwnd allows.
///
/// Source: ICCCN'97 section 2.3; 98-0876R1 section 3.1 for the flywheel, the single segment and
/// cwnd = ssthresh at a partial ACK; RFC 6582 for deflation.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno {
    point: RecoveryPoint,
    /// Flywheel: duplicate ACKs since the last new segment.
    dup_acks: u32,
}

impl LossRecovery for NewReno {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        if self.point.begins(tx, count) {
            self.point.begin(tx);
            self.dup_acks = 0;
            tx.resend_first();
            tx.window
                .set_to_ssthresh_plus(&tx.tcp, tx.tcp.dup_ack_threshold);
        } else if self.point.is_active {
            tx.window.inflate(&tx.tcp);
            if tx.tcp.flywheel {
                self.turn_flywheel(tx);
            } else {
                tx.send_as_allowed();
            }
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        if !self.point.is_active {
            tx.window.on_new_ack(&tx.tcp);
        } else if self.point.is_reached(tx) {
            self.point.is_active = false;
            tx.window.end_recovery(&tx.tcp);
        } else {
            return self.on_partial_ack(tx, acked);
        }
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.point.on_timeout(tx);
    }
}

impl NewReno {
    fn turn_flywheel(&mut self, tx: &mut Transmitter) {
        self.dup_acks += 1;
        if self.dup_acks == 2 {
            self.dup_acks = 0;
            tx.send_new();
        }
    }

    fn on_partial_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        tx.resend_first();
        match tx.tcp.partial_ack_window {
            PartialAckWindow::Keep => {}
            PartialAckWindow::Ssthresh => tx.window.set_to_ssthresh_plus(&tx.tcp, 0),
            PartialAckWindow::Deflate => tx.window.deflate(&tx.tcp, acked),
        }
        if !tx.tcp.flywheel {
            tx.send_as_allowed();
        }
        self.point
            .timer_after_partial_ack(if tx.tcp.partial_ack_first_restarts_only {
                PartialAckRestarts::First
            } else {
                PartialAckRestarts::Every
            })
    }
}

#[cfg(test)]
#[path = "new_reno_tests.rs"]
mod tests;
