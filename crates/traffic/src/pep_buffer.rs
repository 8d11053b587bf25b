//! What a proxy holds of one connection, and how a sender asks for a window that a full proxy has closed.

use skycell_records::PepRecord;
use skycell_tcp::{Accepted, Segment, Sender};
use skycell_units::{Octets, SimTime};

/// Octets that have come to a proxy and are not yet acknowledged behind it.
#[derive(Debug)]
pub(crate) struct PepBuffer {
    /// Octets that it holds at most.
    octets: Octets,
    accepted: Octets,
    held_max: Octets,
    refused: u64,
}

impl PepBuffer {
    /// An empty buffer.
    pub(crate) fn new(octets: Octets) -> Self {
        PepBuffer {
            octets,
            accepted: 0,
            held_max: 0,
            refused: 0,
        }
    }

    /// The connection before has accepted more, and octets up to `acked` are acknowledged behind.
    pub(crate) fn on_accepted(&mut self, accepted: &Accepted, acked: Octets) {
        self.accepted = accepted.in_all;
        self.refused = accepted.refused;
        self.held_max = self.held_max.max(accepted.in_all - acked);
    }

    /// The octet of the connection before up to which there is room, where octets up to `acked` are acknowledged behind.
    pub(crate) fn limit(&self, acked: Octets) -> Octets {
        acked + self.octets
    }

    /// The record of the proxy, whose `waiting` octets have not been handed to the sender behind.
    pub(crate) fn record(&self, waiting: Octets, behind: &Sender) -> PepRecord {
        let acked = behind.counters().octets_acked;
        PepRecord {
            octets_accepted: self.accepted,
            octets_passed_on: acked,
            octets_held: self.accepted - acked,
            octets_held_max: self.held_max,
            octets_unsent: waiting + behind.unsent(),
            segments_refused: self.refused,
        }
    }
}

/// When a sender whose window is closed asks for it, and how often it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowProbe {
    /// [`SimTime::NEVER`] while the window is not closed.
    pub(crate) due: SimTime,
    asked: u32,
}

impl WindowProbe {
    /// Of a sender whose window is open.
    pub(crate) const IDLE: WindowProbe = WindowProbe {
        due: SimTime::NEVER,
        asked: 0,
    };

    /// Plans the next time at which `sender` asks.
    pub(crate) fn plan(&mut self, now: SimTime, sender: &Sender) {
        if !sender.is_blocked() {
            *self = WindowProbe::IDLE;
        } else if self.due == SimTime::NEVER {
            self.due = sender.probe_due(now, self.asked);
        }
    }

    /// Asks for the window if it is time.
    pub(crate) fn on_due(&mut self, now: SimTime, sender: &mut Sender, out: &mut Vec<Segment>) {
        if self.due == now {
            self.due = SimTime::NEVER;
            self.asked += 1;
            sender.probe(out);
        }
    }
}
