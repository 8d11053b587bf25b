//! Reno: fast retransmit and fast recovery.

use super::{LossRecovery, TimerAfterAck, enter, leave};
use crate::transmit::Transmitter;
use skycell_units::Octets;

/// The third duplicate ACK resends the first segment; cwnd = half + 3 segments (as many
/// as duplicates start it), one more for each
/// further duplicate; the next new ACK ends it with cwnd = ssthresh.
///
/// Source: ICCCN'97 section 2.2; RFC 2001 section 4.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reno {
    is_active: bool,
}

impl LossRecovery for Reno {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        if count == tx.tcp.dup_ack_threshold {
            self.is_active = true;
            enter(tx);
            tx.resend_first();
            tx.window
                .set_to_ssthresh_plus(&tx.tcp, tx.tcp.dup_ack_threshold);
        } else if self.is_active {
            tx.window.inflate(&tx.tcp);
            tx.send_as_allowed();
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, _acked: Octets) -> TimerAfterAck {
        if std::mem::take(&mut self.is_active) {
            tx.window.end_recovery(&tx.tcp);
        } else {
            tx.window.on_new_ack(&tx.tcp);
        }
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        leave(&mut self.is_active, tx);
    }
}
