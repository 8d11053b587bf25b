//! Reno: fast retransmit and fast recovery.

use super::{LossRecovery, RecoveryPoint, RecoverySpec, TimerAfterAck};
use crate::transmit::Transmitter;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, SegmentCount},
};
use skycell_units::Octets;

/// Fast retransmit and fast recovery, which the first ACK of new data ends.
///
/// Source: ICCCN'97 section 2.2; RFC 2001 section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct RenoRecoverySpec {
    /// Duplicate ACKs that start fast retransmit.
    #[param(default = 3, source = "RFC 5681 section 3.2")]
    pub dup_ack_threshold: SegmentCount,
    /// No second fast retransmit for data sent before the last recovery or timeout.
    #[param(
        default = false,
        source = "RFC 2001 section 4 has no such rule; ns-2 has it as bugFix, RFC 2582 in section 5"
    )]
    pub avoid_multiple_fast_retransmits: Flag,
}

/// The third duplicate ACK resends the first segment; cwnd = half + 3 segments (as many
/// as duplicates start it), one more for each
/// further duplicate; the next new ACK ends it with cwnd = ssthresh.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reno {
    point: RecoveryPoint,
}

fn spec(tx: &Transmitter) -> &RenoRecoverySpec {
    match &tx.tcp.recovery {
        RecoverySpec::Reno(spec) => spec,
        _ => unreachable!("a sender recovers as its parameters say"),
    }
}

impl LossRecovery for Reno {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        let RenoRecoverySpec {
            dup_ack_threshold,
            avoid_multiple_fast_retransmits: avoid_multiple,
        } = *spec(tx);
        if count == dup_ack_threshold && self.point.may_begin(tx, avoid_multiple) {
            self.point.begin(tx);
            tx.resend_first();
            tx.window.set_to_ssthresh_plus(&tx.tcp, dup_ack_threshold);
        } else if self.point.is_active {
            tx.window.on_dup_ack(&tx.tcp);
            tx.send_as_allowed();
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        if std::mem::take(&mut self.point.is_active) {
            tx.window.on_recovery_end(&tx.tcp);
        } else {
            tx.grow(acked);
        }
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    fn is_active(&self) -> bool {
        self.point.is_active
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.point.on_timeout(tx);
    }
}
