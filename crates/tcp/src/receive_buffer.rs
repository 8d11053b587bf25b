//! The buffer of a receiver whose octets do not go to an application at once, but wait for another connection: what of it
//! is free bounds the window.

use crate::spec::TcpSpec;
use skycell_units::Octets;

/// The octets that a receiver with a buffer has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The connection that is open, or was last.
    pub connection: u32,
    /// Octets of that connection, in order.
    pub octets: Octets,
    /// Octets of all connections, in order.
    pub in_all: Octets,
    /// True if that connection has come to its FIN.
    pub has_ended: bool,
    /// Segments refused because they found no room.
    pub refused: u64,
}

/// Room for octets that wait.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer {
    /// Octets of the buffer.
    buffer: Octets,
    /// The octet of all connections up to which there is room.
    pub(crate) limit: Octets,
    /// The octet of this connection up to which room was advertised; it never moves back (RFC 9293 3.8.6).
    advertised: Octets,
    pub(crate) has_ended: bool,
    pub(crate) refused: u64,
}

impl ReceiveBuffer {
    /// An empty buffer.
    pub(crate) fn new(buffer: Octets) -> Self {
        ReceiveBuffer {
            buffer,
            limit: buffer,
            advertised: 0,
            has_ended: false,
            refused: 0,
        }
    }

    /// Another connection begins.
    pub(crate) fn begin(&mut self) {
        self.advertised = 0;
        self.has_ended = false;
    }

    /// Returns whether a segment with octets up to `end` of all connections finds no room; counts
    /// it.
    pub(crate) fn refuses(&mut self, end: Octets) -> bool {
        let refuses = end > self.limit;
        self.refused += u64::from(refuses);
        refuses
    }

    /// Octets by which the window could be opened beyond what was advertised; `before` are those of earlier connections.
    pub(crate) fn more(&self, before: Octets, rcv_nxt: u64, rwnd: Octets) -> Octets {
        let edge = (rcv_nxt + rwnd).min(self.limit - before);
        edge.saturating_sub(self.advertised)
    }

    /// The window to advertise of at most `window` octets. It opens by a segment or half the buffer at least (RFC 1122
    /// 4.2.3.3), and not while octets are missing: what repeats an acknowledgement is to look the same.
    pub(crate) fn advertise(
        &mut self,
        before: Octets,
        rcv_nxt: u64,
        window: Octets,
        tcp: &TcpSpec,
        has_gap: bool,
    ) -> Octets {
        let more = self.more(before, rcv_nxt, window);
        if !has_gap && more >= tcp.mss.min(self.buffer / 2).max(1) {
            self.advertised += more;
        }
        self.left(rcv_nxt)
    }

    /// Octets of the window advertised last that the sender has left.
    pub(crate) fn left(&self, rcv_nxt: u64) -> Octets {
        self.advertised.saturating_sub(rcv_nxt)
    }
}
