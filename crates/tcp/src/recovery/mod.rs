//! Loss recovery: what a sender does about duplicate and partial acknowledgements.
//!
//! All variants share the response to a timeout: ssthresh = cwnd / 2, cwnd = one segment, back to
//! the oldest unacknowledged octet (ICCCN'97 section 2.1). The inflation of fast recovery is no part
//! of the cwnd that is halved: section 2.3 has ssthresh at an eighth after two fast retransmits and a
//! timeout.

mod new_reno;
mod reno;
mod sack;

use crate::spec::{PartialAckRestarts, TcpSpec, TcpVariant};
use crate::transmit::Transmitter;
use new_reno::NewReno;
use reno::Reno;
use sack::Sack;
use skycell_units::Octets;

/// What an acknowledgement of new data means for the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerAfterAck {
    /// Starts anew.
    Restart,
    /// Goes on.
    Keep,
}

/// Loss recovery of one variant.
pub(crate) trait LossRecovery {
    /// The `count`-th duplicate acknowledgement in a row has arrived.
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32);
    /// `snd_una` has moved up by `acked` octets.
    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck;
    /// The application has handed over more, or the receiver's window has become larger.
    fn on_more_to_send(&mut self, tx: &mut Transmitter) {
        tx.send_as_allowed();
    }
    /// The retransmission timer has run out: ends recovery, and takes the inflation off cwnd. The
    /// sender then halves what is left.
    fn on_timeout(&mut self, tx: &mut Transmitter);
}

/// Slow start and congestion avoidance alone: losses are found by timeout only.
#[derive(Clone, Debug)]
pub(crate) struct Vanilla;

impl LossRecovery for Vanilla {
    fn on_dup_ack(&mut self, _tx: &mut Transmitter, _count: u32) {}

    fn on_new_ack(&mut self, tx: &mut Transmitter, _acked: Octets) -> TimerAfterAck {
        tx.window.on_new_ack(&tx.tcp);
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    fn on_timeout(&mut self, _tx: &mut Transmitter) {}
}

/// The loss recovery of any variant.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    Vanilla(Vanilla),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
}

impl Recovery {
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        match tcp.variant {
            TcpVariant::Vanilla => Recovery::Vanilla(Vanilla),
            TcpVariant::Reno => Recovery::Reno(Reno::default()),
            TcpVariant::NewReno => Recovery::NewReno(NewReno::default()),
            TcpVariant::Sack => Recovery::Sack(Sack::default()),
        }
    }
}

impl LossRecovery for Recovery {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        match self {
            Recovery::Vanilla(r) => r.on_dup_ack(tx, count),
            Recovery::Reno(r) => r.on_dup_ack(tx, count),
            Recovery::NewReno(r) => r.on_dup_ack(tx, count),
            Recovery::Sack(r) => r.on_dup_ack(tx, count),
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        match self {
            Recovery::Vanilla(r) => r.on_new_ack(tx, acked),
            Recovery::Reno(r) => r.on_new_ack(tx, acked),
            Recovery::NewReno(r) => r.on_new_ack(tx, acked),
            Recovery::Sack(r) => r.on_new_ack(tx, acked),
        }
    }

    fn on_more_to_send(&mut self, tx: &mut Transmitter) {
        match self {
            Recovery::Vanilla(r) => r.on_more_to_send(tx),
            Recovery::Reno(r) => r.on_more_to_send(tx),
            Recovery::NewReno(r) => r.on_more_to_send(tx),
            Recovery::Sack(r) => r.on_more_to_send(tx),
        }
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        match self {
            Recovery::Vanilla(r) => r.on_timeout(tx),
            Recovery::Reno(r) => r.on_timeout(tx),
            Recovery::NewReno(r) => r.on_timeout(tx),
            Recovery::Sack(r) => r.on_timeout(tx),
        }
    }
}

/// `recover` of NewReno and SACK.
#[derive(Clone, Debug, Default)]
struct RecoveryPoint {
    /// The octet after the highest sent when the last recovery began or the timer last ran out; none
    /// before the first, and with SACK once the recovery has reached it.
    recover: Option<u64>,
    /// Partial ACKs of this recovery.
    partial_acks: u32,
    is_active: bool,
}

impl RecoveryPoint {
    /// Whether the `count`-th duplicate acknowledgement begins a recovery.
    fn begins(&self, tx: &Transmitter, count: u32) -> bool {
        // RFC 6582 3.2 step 2: only for an acknowledgement of more than was sent before the last
        // recovery or timeout. At `recover` itself, what was sent twice makes duplicates.
        let is_late = self.recover.is_some_and(|recover| tx.snd_una <= recover);
        let may = !(tx.tcp.avoid_multiple_fast_retransmits && is_late);
        count == tx.tcp.dup_ack_threshold && !self.is_active && may
    }

    /// Whether everything sent before recovery began has been acknowledged.
    fn is_reached(&self, tx: &Transmitter) -> bool {
        self.recover.is_none_or(|recover| tx.snd_una >= recover)
    }

    fn begin(&mut self, tx: &mut Transmitter) {
        self.recover = Some(tx.snd_max);
        self.partial_acks = 0;
        self.is_active = true;
        enter(tx);
    }

    /// A partial ACK has come: what it means for the timer.
    fn timer_after_partial_ack(&mut self, restarts: PartialAckRestarts) -> TimerAfterAck {
        self.partial_acks += 1;
        match restarts {
            PartialAckRestarts::Every => TimerAfterAck::Restart,
            PartialAckRestarts::First if self.partial_acks == 1 => TimerAfterAck::Restart,
            PartialAckRestarts::First | PartialAckRestarts::None => TimerAfterAck::Keep,
        }
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.recover = Some(tx.snd_max);
        leave(&mut self.is_active, tx);
    }
}

/// What every fast retransmit begins with: ssthresh is cut, the timer starts anew.
fn enter(tx: &mut Transmitter) {
    tx.counters.fast_retransmits += 1;
    tx.window.cut_ssthresh(&tx.tcp, tx.advertised);
    // 4.4BSD (tcp_input.c) clears the timer, and the retransmission starts it.
    tx.deadline = None;
}

/// A timeout ends fast recovery, if one is going on: cwnd is ssthresh without the inflation.
fn leave(is_active: &mut bool, tx: &mut Transmitter) {
    if std::mem::take(is_active) {
        tx.window.set_to_ssthresh_plus(&tx.tcp, 0);
    }
}
