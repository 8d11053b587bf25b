//! The order of a run's events, and a flow's times among them.

use crate::{Flow, Outbox, earlier};
use skycell_des::Key;
use skycell_units::SimTime;

/// Kinds of events, in their order at one instant.
pub mod rank {
    /// A cell leaves a port; subject: port.
    pub const DEPARTURE: u8 = 0;
    /// The queues are sampled.
    pub const SAMPLE: u8 = 1;
    /// A cell arrives at the end of a link; subject: link.
    pub const ARRIVAL: u8 = 2;
    /// A retransmission timer may have run out; subject: flow.
    pub const RETRANSMISSION: u8 = 3;
    /// A held acknowledgement may be due; subject: flow.
    pub const HELD_ACK: u8 = 4;
    /// An application acts; subject: flow.
    pub const APPLICATION: u8 = 5;
    /// A cell source sends a cell; subject: source.
    pub const SOURCE: u8 = 6;
    /// The end of a flow hands frames over to its host's port; subject: [`crate::HostDelay::index`].
    pub const TRANSMIT: u8 = 7;
    /// A cell that waits for its pace may be sent; subject: port.
    pub const PACE: u8 = 8;
    /// An averaging interval may end; subject: port.
    pub const INTERVAL: u8 = 9;
    /// A slot of an uplink begins; subject: uplink.
    pub const SLOT: u8 = 10;
    /// Cells that wait for earlier ones may have waited long enough; subject: VC.
    pub const RESEQUENCE: u8 = 11;
}

impl Flow {
    /// Which of the timers of the flow with id `id` runs out first, and when.
    pub fn next_timer(&self, id: u32) -> Option<Key> {
        let key = |due: SimTime, kind| Key::new(due, kind, id);
        let mut first = self
            .retransmission_due()
            .map(|due| key(due, rank::RETRANSMISSION));
        for (due, kind) in [
            (self.held_ack_due(), rank::HELD_ACK),
            (self.application_due(), rank::APPLICATION),
        ] {
            if let Some(due) = due {
                first = earlier(first, Some(key(due, kind)));
            }
        }
        first
    }

    /// A timer of `kind` may run out: lets the flow act if its time is now, and not if the timer was
    /// stopped or runs on.
    pub fn on_timer(&mut self, now: SimTime, kind: u8, out: &mut Outbox) {
        match kind {
            rank::RETRANSMISSION if self.retransmission_due() == Some(now) => {
                self.on_retransmission(now, out);
            }
            rank::HELD_ACK if self.held_ack_due() == Some(now) => self.on_held_ack(now, out),
            rank::APPLICATION if self.application_due() == Some(now) => {
                self.on_application(now, out);
            }
            _ => {}
        }
    }
}
