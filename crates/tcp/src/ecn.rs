//! Explicit congestion notification: a mark instead of a loss (RFC 3168), or a measure of congestion (RFC 8257).
//!
//! Both ends know from the start whether they use it: the negotiation of a SYN and its answer (section 6.1.1)
//! brings nothing else about here.

use crate::congestion::Marks;
use crate::spec::TcpSpec;
use crate::transmit::Transmitter;
use crate::window::Signal;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_units::Ecn;

/// The use of the ECN field at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum EcnUse {
    /// Nothing: a queue that would mark discards.
    #[default]
    Off,
    /// Data is marked, marks are echoed until the sender has slowed down, as after a loss (RFC 3168).
    Classic,
    /// Data is marked, and each acknowledgement says whether what it acknowledges was (RFC 8257).
    Accurate,
}

/// The state of a sender for ECN.
#[derive(Clone, Debug, Default)]
pub(crate) struct EcnSender {
    /// ECN field of new data.
    ect: Ecn,
    /// `snd_max` when the window was last reduced, whatever for.
    recover: u64,
    /// True if the next new segment has to report that the window was reduced.
    owes_cwr: bool,
    /// Reductions of the window because of marks, over all connections.
    reductions: u64,
}

impl EcnSender {
    pub(crate) fn new(tcp: &TcpSpec) -> Option<Box<Self>> {
        let sender = EcnSender {
            ect: tcp.congestion.ect(),
            ..EcnSender::default()
        };
        (tcp.ecn != EcnUse::Off).then(|| Box::new(sender))
    }

    pub(crate) fn reductions(&self) -> u64 {
        self.reductions
    }

    /// The window is reduced because of a mark.
    pub(crate) fn count_reduction(&mut self) {
        self.reductions += 1;
    }

    /// Another connection of the flow begins.
    pub(crate) fn begin(&mut self) {
        self.recover = 0;
        self.owes_cwr = false;
    }

    /// The window has been reduced with `snd_max`: section 6.1.2, the CWR flag is set in the first new packet
    /// after that, whatever it was for.
    pub(crate) fn on_reduction(&mut self, snd_max: u64) {
        self.recover = snd_max;
        self.owes_cwr = true;
    }

    /// The last reduction was not needed (tcp_ecn_withdraw_cwr).
    pub(crate) fn withdraw_cwr(&mut self) {
        self.owes_cwr = false;
    }

    /// ECN field and CWR flag of new data. What is sent again has neither (sections 6.1.5 and 6.1.2).
    pub(crate) fn of_new_data(&mut self) -> (Ecn, bool) {
        (self.ect, std::mem::take(&mut self.owes_cwr))
    }
}

/// An acknowledgement of everything up to `ack` has come with ECN-Echo, outside recovery: the window is reduced as
/// after a loss, once for each window of data (section 6.1.2).
///
/// Differs: section 6.1.2 lets cwnd fall to one segment, and to less by the timer; here two are the least, as after
/// a loss.
pub(crate) fn on_echo(tx: &mut Transmitter, ack: u64) {
    let Some(ecn) = tx.ecn.as_deref_mut() else {
        return;
    };
    if ack > ecn.recover {
        ecn.reductions += 1;
        tx.on_signal(Signal::Mark);
        tx.window.set_to_ssthresh_plus(&tx.tcp, 0);
    }
}

/// An acknowledgement of everything up to `ack` has come: what it says of marks, if that is more than that there are any
/// (RFC 8257 section 3.3).
pub(crate) fn note_marks(tx: &mut Transmitter, ack: u64, is_echo: bool) {
    if tx.tcp.ecn == EcnUse::Accurate {
        tx.window.on_marks(&Marks {
            octets: ack - tx.snd_una,
            are_marked: is_echo,
            reached: ack,
            next: tx.snd_nxt,
        });
    }
}

#[cfg(test)]
#[path = "ecn_tests.rs"]
mod tests;
