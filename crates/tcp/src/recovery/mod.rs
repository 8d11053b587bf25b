//! Loss recovery: what a sender does about duplicate and partial acknowledgements.
//!
//! All kinds but RACK-TLP share the response to a timeout: ssthresh = cwnd / 2, cwnd = one segment, back to
//! the oldest unacknowledged octet (ICCCN'97 section 2.1). The inflation of fast recovery is no part
//! of the cwnd that is halved: section 2.3 has ssthresh at an eighth after two fast retransmits and a
//! timeout.

mod new_reno;
mod rack_tlp;
mod reno;
mod sack;
mod tahoe;
mod vanilla;

use crate::kinds::{kinds, kinds_with_states};
use crate::spec::{PartialAckRestarts, TcpSpec};
use crate::transmit::Transmitter;
use new_reno::NewReno;
pub use new_reno::{NewRenoSpec, PartialAckWindow};
use rack_tlp::RackTlp;
pub use rack_tlp::RackTlpSpec;
use reno::Reno;
pub use reno::RenoRecoverySpec;
use sack::Sack;
pub use sack::{PipeAtEntry, PipeRoom, RetransmitDelay, SackPartialAck, SackSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};
use skycell_des::Stream;
use skycell_units::{Octets, SimTime};
use tahoe::Tahoe;
pub use tahoe::TahoeSpec;
use vanilla::Vanilla;
pub use vanilla::VanillaSpec;

kinds_with_states! {
    /// Handling of lost segments (ICCCN'97 sections 2 and 3).
    spec RecoverySpec {
        Vanilla(VanillaSpec),
        Tahoe(TahoeSpec),
        Reno(RenoRecoverySpec),
        NewReno(NewRenoSpec),
        Sack(SackSpec),
        RackTlp(RackTlpSpec),
    }
    types { PartialAckWindow, PipeAtEntry, PipeRoom, RetransmitDelay, SackPartialAck, }
    /// The loss recovery of any kind that counts duplicates.
    state ByDuplicates {
        Vanilla,
        Tahoe,
        Reno,
        NewReno,
        Sack,
    }
}

impl RecoverySpec {
    /// Most blocks of selective acknowledgements in an ACK; none without them.
    pub fn max_blocks(&self) -> Option<u32> {
        match self {
            RecoverySpec::Sack(sack) => Some(sack.max_blocks),
            RecoverySpec::RackTlp(rack) => Some(rack.max_blocks),
            RecoverySpec::Vanilla(_)
            | RecoverySpec::Tahoe(_)
            | RecoverySpec::Reno(_)
            | RecoverySpec::NewReno(_) => None,
        }
    }
}

impl RecoverySpec {
    /// Returns whether the receiver reports segments that came twice.
    pub(crate) fn has_dsack(&self) -> bool {
        matches!(self, RecoverySpec::RackTlp(rack) if rack.dsack)
    }

    /// Returns whether a reduction that was not needed is undone.
    pub(crate) fn undoes(&self) -> bool {
        matches!(self, RecoverySpec::RackTlp(rack) if rack.undo)
    }
}

/// The effect of an acknowledgement of new data on the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerAfterAck {
    /// Starts anew.
    Restart,
    /// Goes on.
    Keep,
}

/// Loss recovery of a kind that counts duplicate acknowledgements.
pub(crate) trait LossRecovery {
    /// The `count`-th duplicate acknowledgement in a row has arrived.
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32);
    /// `snd_una` has moved up by `acked` octets.
    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck;
    /// The application has handed over more, or the receiver's window has become larger.
    fn on_more_to_send(&mut self, tx: &mut Transmitter) {
        tx.send_as_allowed();
    }
    /// Returns whether a recovery is going on.
    fn is_active(&self) -> bool {
        false
    }
    /// The retransmission timer has run out: ends recovery, and takes the inflation off cwnd. The
    /// sender then halves what is left.
    fn on_timeout(&mut self, tx: &mut Transmitter);
}

/// The loss recovery of any kind.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    ByDuplicates(ByDuplicates),
    /// In a box, as few senders have it.
    RackTlp(Box<RackTlp>),
}

impl Recovery {
    /// `draws` is for a congestion control that draws.
    pub(crate) fn new(tcp: &TcpSpec, draws: Option<Stream>) -> Self {
        Recovery::ByDuplicates(match &tcp.recovery {
            RecoverySpec::Vanilla(_) => ByDuplicates::Vanilla(Vanilla),
            RecoverySpec::Tahoe(_) => ByDuplicates::Tahoe(Tahoe::default()),
            RecoverySpec::Reno(_) => ByDuplicates::Reno(Reno::default()),
            RecoverySpec::NewReno(_) => ByDuplicates::NewReno(NewReno::default()),
            RecoverySpec::Sack(_) => ByDuplicates::Sack(Sack::default()),
            RecoverySpec::RackTlp(spec) => {
                return Recovery::RackTlp(Box::new(RackTlp::new(spec, tcp, draws)));
            }
        })
    }

    /// The same for the next connection of the flow.
    pub(crate) fn begin(&mut self, tcp: &TcpSpec) {
        let last = std::mem::replace(self, Recovery::ByDuplicates(ByDuplicates::Vanilla(Vanilla)));
        let draws = match last {
            Recovery::ByDuplicates(_) => None,
            Recovery::RackTlp(last) => last.into_draws(),
        };
        *self = Recovery::new(tcp, draws);
    }

    /// Returns whether no recovery is going on, and nothing seems lost.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Recovery::ByDuplicates(r) => !r.is_active(),
            Recovery::RackTlp(r) => r.is_open(),
        }
    }

    /// The application has handed over more, or the connection is open.
    pub(crate) fn on_more_to_send(&mut self, tx: &mut Transmitter, now: SimTime) {
        match self {
            Recovery::ByDuplicates(r) => r.on_more_to_send(tx),
            Recovery::RackTlp(r) => r.on_more_to_send(tx, now),
        }
    }
}

impl LossRecovery for ByDuplicates {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        of_any!(self, rule => rule.on_dup_ack(tx, count));
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        of_any!(self, rule => rule.on_new_ack(tx, acked))
    }

    fn on_more_to_send(&mut self, tx: &mut Transmitter) {
        of_any!(self, rule => rule.on_more_to_send(tx));
    }

    fn is_active(&self) -> bool {
        of_any!(self, rule => rule.is_active())
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        of_any!(self, rule => rule.on_timeout(tx));
    }
}

/// `recover` of Tahoe, Reno, NewReno and SACK.
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
    /// Returns whether duplicate acknowledgements may begin a recovery, if a second fast retransmit
    /// for data sent before the last recovery or timeout is to be avoided.
    ///
    /// RFC 6582 3.2 step 2, RFC 2582 section 5 and ns-2's `bugFix`: only for an acknowledgement of more than
    /// that. At `recover` itself, what was sent twice makes duplicates.
    fn may_begin(&self, tx: &Transmitter, avoid_multiple: bool) -> bool {
        let is_late = self.recover.is_some_and(|recover| tx.snd_una <= recover);
        !(avoid_multiple && is_late)
    }

    /// Returns whether everything sent before recovery began has been acknowledged.
    fn is_reached(&self, tx: &Transmitter) -> bool {
        self.recover.is_none_or(|recover| tx.snd_una >= recover)
    }

    /// Begins a fast retransmit: reduces ssthresh and restarts the timer.
    fn begin(&mut self, tx: &mut Transmitter) {
        self.recover = Some(tx.snd_max);
        self.partial_acks = 0;
        self.is_active = true;
        tx.counters.fast_retransmits += 1;
        tx.on_loss();
        // 4.4BSD (tcp_input.c) clears the timer, and the retransmission starts it.
        tx.deadline = SimTime::NEVER;
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

    /// A timeout ends fast recovery, if one is going on: cwnd is ssthresh without the inflation.
    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.recover = Some(tx.snd_max);
        if std::mem::take(&mut self.is_active) {
            tx.window.set_to_ssthresh_plus(&tx.tcp, 0);
        }
    }
}
