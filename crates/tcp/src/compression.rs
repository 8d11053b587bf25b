//! Acknowledgements of early segments that are held back (SACK compression; Linux __tcp_ack_snd_check).

use crate::spec::{DelayedAckSpec, TcpSpec};
use skycell_units::SimTime;

/// Acknowledgements after each advance that are not held back, so that a sender that counts duplicates gets its three
/// (TCP_FASTRETRANS_THRESH).
const NOT_HELD: u32 = 3;

/// The part of a round trip that an acknowledgement is held at most.
const PART: u64 = 20;

/// What a receiver that does so keeps.
#[derive(Clone, Debug)]
pub(crate) struct Compression {
    delay: SimTime,
    most: u32,
    /// compressed_ack: acknowledgements held back since the last one went out.
    held: u32,
    /// dup_ack_counter: those that were not, with as much in order.
    sent: u32,
    /// compressed_ack_rcv_nxt.
    rcv_nxt: u64,
    /// When a SYN was answered; none once two were, or the answer has been acknowledged.
    answered_at: Option<SimTime>,
    has_answered: bool,
    /// Of the handshake; none without one.
    round_trip: Option<SimTime>,
}

impl Compression {
    /// None where nothing is held back.
    pub(crate) fn new(tcp: &TcpSpec) -> Option<Box<Self>> {
        let delayed = tcp.delayed_ack.filter(DelayedAckSpec::holds_sacks)?;
        Some(Box::new(Compression {
            delay: SimTime(delayed.sack_timeout_ps),
            most: delayed.sack_segments,
            held: 0,
            sent: 0,
            rcv_nxt: 0,
            answered_at: None,
            has_answered: false,
            round_trip: None,
        }))
    }

    /// A SYN is answered; of two nobody knows which answer is acknowledged (Karn).
    pub(crate) fn on_answered(&mut self, now: SimTime) {
        self.answered_at = (!self.has_answered).then_some(now);
        self.has_answered = true;
    }

    /// The answer has been acknowledged (tcp_synack_rtt_meas).
    pub(crate) fn on_opened(&mut self, now: SimTime) {
        if let Some(answered_at) = self.answered_at.take() {
            self.round_trip = Some(now - answered_at);
        }
    }

    /// An acknowledgement is due while octets before `rcv_nxt` alone are in order and others wait: how long it is held;
    /// none if it is to go out. `is_held` if one is held already.
    pub(crate) fn hold(&mut self, rcv_nxt: u64, is_held: bool) -> Option<SimTime> {
        if !is_held {
            self.held = 0;
        }
        if self.held >= self.most {
            return None;
        }
        if rcv_nxt != self.rcv_nxt {
            (self.rcv_nxt, self.sent) = (rcv_nxt, 0);
        }
        if self.sent < NOT_HELD {
            self.sent += 1;
            return None;
        }
        self.held += 1;
        let part = self
            .round_trip
            .map(|round_trip| SimTime(round_trip.0 / PART));
        Some(part.map_or(self.delay, |part| part.min(self.delay)))
    }
}
