//! How long a receiver holds acknowledgements back, where that follows from what arrives (Linux).

use crate::rto::RtoEstimator;
use crate::spec::TcpSpec;
use skycell_units::SimTime;

/// Acknowledgements after each advance that are not held back, so that a sender that counts duplicates gets its three
/// (TCP_FASTRETRANS_THRESH).
const NOT_HELD: u32 = 3;

/// The part of a round trip that an acknowledgement of an early segment is held at most.
const PART: u64 = 20;

/// The state of a receiver whose holds follow from arrivals.
#[derive(Clone, Debug)]
pub(crate) struct AckDelay {
    /// When a SYN was answered; none once two were, or the answer has been acknowledged.
    answered_at: Option<SimTime>,
    has_answered: bool,
    /// Of the handshake; none without one.
    round_trip: Option<SimTime>,
    /// The receiver's own retransmission timeout (icsk_rto).
    rto: SimTime,
    /// When a segment last came in order (lrcvtime).
    arrived_at: Option<SimTime>,
    /// Hold of a segment in order (ato), with its limits.
    wait: SimTime,
    shortest: SimTime,
    longest: SimTime,
    compression: Compression,
}

/// Acknowledgements of early segments that are held back (SACK compression; __tcp_ack_snd_check).
#[derive(Clone, Debug)]
struct Compression {
    delay: SimTime,
    most: u32,
    /// compressed_ack: acknowledgements held back since the last one went out.
    held: u32,
    /// dup_ack_counter: those that were not, with as much in order.
    sent: u32,
    /// compressed_ack_rcv_nxt.
    rcv_nxt: u64,
}

impl AckDelay {
    /// None where every hold is the same, and none is renounced.
    pub(crate) fn new(tcp: &TcpSpec) -> Option<Box<Self>> {
        let delayed = tcp.delayed_ack.filter(|delayed| {
            delayed.holds_sacks() || delayed.quick_segments > 0 || delayed.max_timeout_ps > 0
        })?;
        let shortest = SimTime(delayed.timeout_ps);
        Some(Box::new(AckDelay {
            answered_at: None,
            has_answered: false,
            round_trip: None,
            rto: SimTime(u64::from(tcp.rto_initial_ticks) * tcp.tick_ps),
            arrived_at: None,
            wait: shortest,
            shortest,
            longest: SimTime(delayed.max_timeout_ps).max(shortest),
            compression: Compression {
                delay: SimTime(delayed.sack_timeout_ps),
                most: delayed.sack_segments,
                held: 0,
                sent: 0,
                rcv_nxt: 0,
            },
        }))
    }

    /// A SYN is answered; of two nobody knows which answer is acknowledged (Karn).
    pub(crate) fn on_answered(&mut self, now: SimTime) {
        self.answered_at = (!self.has_answered).then_some(now);
        self.has_answered = true;
    }

    /// The answer has been acknowledged (tcp_synack_rtt_meas).
    pub(crate) fn on_opened(&mut self, tcp: &TcpSpec, now: SimTime) {
        if let Some(answered_at) = self.answered_at.take() {
            let round_trip = now - answered_at;
            self.round_trip = Some(round_trip);
            let mut rto = RtoEstimator::new(tcp);
            rto.on_sample(tcp, round_trip.0 / tcp.tick_ps, 0, 0);
            self.rto = SimTime(rto.ticks(tcp) * tcp.tick_ps);
        }
    }

    /// A segment has come in order (tcp_event_data_recv). Returns whether the one before is longer ago than the receiver's
    /// retransmission timeout: the sender begins anew, so that its segments are acknowledged at once.
    pub(crate) fn on_in_order(&mut self, now: SimTime) -> bool {
        let Some(before) = self.arrived_at.replace(now) else {
            return false;
        };
        let gap = now - before;
        let half = SimTime(self.shortest.0 / 2);
        if gap <= half {
            self.wait = SimTime(self.wait.0 / 2) + half;
        } else if gap < self.wait {
            self.wait = (SimTime(self.wait.0 / 2) + gap).min(self.rto);
        }
        gap > self.rto
    }

    /// The hold of a segment in order has run out before the next one came (tcp_delack_timer_handler).
    pub(crate) fn on_expired(&mut self) {
        self.wait = SimTime(2 * self.wait.0).min(self.rto);
    }

    /// How long the acknowledgement of a segment in order is held: no longer than the handshake's round trip, but at least
    /// the shortest hold (tcp_send_delayed_ack).
    pub(crate) fn hold(&self) -> SimTime {
        let longest = self
            .round_trip
            .map_or(self.longest, |round_trip| round_trip.min(self.longest));
        self.wait.min(longest).max(self.shortest)
    }

    /// An acknowledgement is due while octets before `rcv_nxt` alone are in order and others wait. Returns how long it is
    /// held; none if it is to go out. `is_held` if one is held already.
    pub(crate) fn hold_early(&mut self, rcv_nxt: u64, is_held: bool) -> Option<SimTime> {
        let compression = &mut self.compression;
        if !is_held {
            compression.held = 0;
        }
        if compression.held >= compression.most {
            return None;
        }
        if rcv_nxt != compression.rcv_nxt {
            (compression.rcv_nxt, compression.sent) = (rcv_nxt, 0);
        }
        if compression.sent < NOT_HELD {
            compression.sent += 1;
            return None;
        }
        compression.held += 1;
        let part = self
            .round_trip
            .map(|round_trip| SimTime(round_trip.0 / PART));
        Some(part.map_or(compression.delay, |part| part.min(compression.delay)))
    }
}
