//! NewReno: a fast-retransmit phase that lasts until everything sent before it is acknowledged.

use super::{LossRecovery, RecoveryPoint, TimerAfterAck};
use crate::transmit::Transmitter;
use skycell_spec::PartialAckWindow;
use skycell_units::Octets;

/// As Reno, but an ACK below `recover` (a partial ACK) resends the next segment and goes on.
///
/// With the flywheel duplicate ACKs alone let new data out while it lasts: a partial ACK resends its
/// one segment and sends nothing else, whatever cwnd is.
///
/// Source: ICCCN'97 section 2.3; 98-0876R1 section 3.1 for the flywheel, the single segment and
/// cwnd = ssthresh at a partial ACK; RFC 6582 for deflation.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewReno {
    point: RecoveryPoint,
    /// Flywheel: duplicate ACKs since the last new segment.
    dup_acks: u32,
    /// Partial ACKs of this recovery.
    partial_acks: u32,
}

impl LossRecovery for NewReno {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        if self.point.begins(tx, count) {
            self.point.begin(tx);
            (self.dup_acks, self.partial_acks) = (0, 0);
            tx.resend(tx.snd_una, tx.snd_max);
            tx.window
                .set_to_ssthresh_plus(&tx.tcp, tx.tcp.dup_ack_threshold);
        } else if self.point.is_active && tx.tcp.flywheel {
            self.dup_acks += 1;
            if self.dup_acks == 2 {
                self.dup_acks = 0;
                tx.send_new();
            }
        } else if self.point.is_active {
            tx.window.inflate(&tx.tcp);
            tx.send_as_allowed();
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
    fn on_partial_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        self.partial_acks += 1;
        tx.resend(tx.snd_una, tx.snd_max);
        match tx.tcp.partial_ack_window {
            PartialAckWindow::Keep => {}
            PartialAckWindow::Ssthresh => tx.window.set_to_ssthresh_plus(&tx.tcp, 0),
            PartialAckWindow::Deflate => tx.window.deflate(&tx.tcp, acked),
        }
        if !tx.tcp.flywheel {
            tx.send_as_allowed();
        }
        if tx.tcp.partial_ack_first_restarts_only && self.partial_acks > 1 {
            TimerAfterAck::Keep
        } else {
            TimerAfterAck::Restart
        }
    }
}
