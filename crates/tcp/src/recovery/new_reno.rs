//! NewReno: a fast-retransmit phase that lasts until everything sent before it is acknowledged.

use super::{LossRecovery, RecoveryPoint, RecoverySpec, TimerAfterAck};
use crate::spec::PartialAckRestarts;
use crate::transmit::Transmitter;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, SegmentCount},
};
use skycell_units::Octets;

/// Fast retransmit and a recovery that lasts until everything sent before it is acknowledged.
///
/// Source: ICCCN'97 section 2.3; 98-0876R1 section 3.1; RFC 6582.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct NewRenoSpec {
    /// Duplicate ACKs that start fast retransmit.
    #[param(default = 3, source = "RFC 5681 section 3.2")]
    pub dup_ack_threshold: SegmentCount,
    /// Cwnd at a partial ACK: unchanged, set to ssthresh, or reduced by what was acknowledged.
    #[param(
        word,
        default = "keep",
        source = "ICCCN'97 section 2.3 mentions no change"
    )]
    pub partial_ack_window: PartialAckWindow,
    /// Which partial ACKs restart the retransmission timer.
    #[param(word, default = "every", source = "ATM Forum 98-0876R1 section 3.1")]
    pub partial_ack_restarts: PartialAckRestarts,
    /// One new segment for every two duplicate ACKs, not what the inflated cwnd allows.
    #[param(default = false, source = "ICCCN'97 section 2.3 mentions none")]
    pub flywheel: Flag,
    /// No second fast retransmit for data sent before the last recovery or timeout.
    #[param(
        default = false,
        source = "ATM Forum 98-0876R1 section 3.1: no extra rule"
    )]
    pub avoid_multiple_fast_retransmits: Flag,
}

/// NewReno: cwnd when a partial ACK arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PartialAckWindow {
    /// Unchanged (ICCCN'97 2.3 does not mention one).
    Keep,
    /// Set to ssthresh (98-0876R1 3.1).
    Ssthresh,
    /// Less the octets acknowledged, plus one MSS (RFC 6582 3.2 step 3).
    Deflate,
}

fn spec(tx: &Transmitter) -> &NewRenoSpec {
    match &tx.tcp.recovery {
        RecoverySpec::NewReno(spec) => spec,
        _ => unreachable!("a sender recovers as its parameters say"),
    }
}

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
        let NewRenoSpec {
            dup_ack_threshold,
            avoid_multiple_fast_retransmits: avoid_multiple,
            flywheel,
            ..
        } = *spec(tx);
        let may_begin = !self.point.is_active && self.point.may_begin(tx, avoid_multiple);
        if count == dup_ack_threshold && may_begin {
            self.point.begin(tx);
            self.dup_acks = 0;
            tx.resend_first();
            tx.window.set_to_ssthresh_plus(&tx.tcp, dup_ack_threshold);
        } else if self.point.is_active {
            tx.window.on_dup_ack(&tx.tcp);
            if flywheel {
                self.turn_flywheel(tx);
            } else {
                tx.send_as_allowed();
            }
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        if !self.point.is_active {
            tx.grow(acked);
        } else if self.point.is_reached(tx) {
            self.point.is_active = false;
            tx.window.on_recovery_end(&tx.tcp);
        } else {
            return self.on_partial_ack(tx, acked);
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

impl NewReno {
    fn turn_flywheel(&mut self, tx: &mut Transmitter) {
        self.dup_acks += 1;
        if self.dup_acks == 2 {
            self.dup_acks = 0;
            tx.send_new();
        }
    }

    fn on_partial_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        let spec = *spec(tx);
        tx.resend_first();
        match spec.partial_ack_window {
            PartialAckWindow::Keep => {}
            PartialAckWindow::Ssthresh => tx.window.set_to_ssthresh_plus(&tx.tcp, 0),
            PartialAckWindow::Deflate => tx.window.on_partial_ack(&tx.tcp, acked),
        }
        if !spec.flywheel {
            tx.send_as_allowed();
        }
        self.point
            .timer_after_partial_ack(spec.partial_ack_restarts)
    }
}

#[cfg(test)]
#[path = "new_reno_tests.rs"]
mod tests;
