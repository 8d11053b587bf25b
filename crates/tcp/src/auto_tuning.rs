//! A receiver's window that follows what the application reads: Linux's dynamic right-sizing (tcp_rcv_space_adjust,
//! tcp_rcvbuf_grow, tcp_grow_window, tcp_rcv_rtt_measure and tcp_rcv_rtt_measure_ts of 6.18).
//!
//! Everything here is in octets of window, not of the buffer, of which early octets take as much as others. Half of the buffer
//! is window until a whole segment has shown that there is more room (tcp_adv_win_scale = 1, scaling_ratio). The application
//! reads at once.

use crate::segment::Segment;
use crate::spec::{RecoverySpec, TcpSpec};
use skycell_units::{Octets, SimTime};

/// Octets from which on a segment lets the window grow (tcp_event_data_recv).
const LEAST_TO_GROW: Octets = 128;
/// Segments that are thought to have been read in the round trip before the first (TCP_INIT_CWND).
const FIRST_SEGMENTS: Octets = 10;
/// The part of the buffer that is window, over the half that is so at first: a packet of 1500 octets takes 2304 of it, so
/// that 160 of 256 are window (tcp_measure_rcv_mss).
const MEASURED_PART: (Octets, Octets) = (5, 4);
const PS_PER_MICROSECOND: u64 = 1_000_000;
const MICROSECONDS_PER_MS: u64 = 1_000;

/// The state of a receiver after an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveState {
    /// Octet after the last in order.
    pub(crate) rcv_nxt: u64,
    /// Octet after the last that waits, and how many do.
    pub(crate) early_end: u64,
    pub(crate) waiting: Octets,
    /// True if the segment was early.
    pub(crate) is_early: bool,
    /// True if it brought something in order.
    pub(crate) is_in_order: bool,
}

/// The state of a receiver that tunes its window.
#[derive(Clone, Debug)]
pub(crate) struct AutoTuning {
    mss: Octets,
    largest: Octets,
    /// True if early segments make it grow: the sender then takes no window of a duplicate for an
    /// update.
    grows_by_early: bool,
    /// window_clamp: the window that the buffer has room for; and whether a segment has shown how much that is.
    clamp: Octets,
    has_measured: bool,
    /// rcv_ssthresh: the window that is advertised where nothing waits.
    window: Octets,
    /// The octet after the last for which there is room, which never moves back; and the window advertised last.
    edge: u64,
    offered: Octets,
    round_trip: RoundTrip,
    /// rcvq_space: octets read in a round trip, at most so far; from which octet on, and since when, us, they are counted.
    space: Octets,
    from: u64,
    since: Option<u64>,
}

impl AutoTuning {
    /// Before a connection is open.
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        let first = tcp.first_window();
        AutoTuning {
            mss: tcp.mss,
            largest: tcp.rwnd,
            grows_by_early: matches!(tcp.recovery, RecoverySpec::RackTlp(_)),
            clamp: first,
            has_measured: false,
            window: first,
            edge: first,
            offered: first,
            round_trip: RoundTrip::default(),
            space: first.min(FIRST_SEGMENTS * tcp.mss),
            from: 0,
            since: None,
        }
    }

    /// Returns the receiver's clock in its timestamps, ms from 1.
    pub(crate) fn clock(now: SimTime) -> u64 {
        now.0 / PS_PER_MICROSECOND / MICROSECONDS_PER_MS + 1
    }

    /// The connection is open at `now`.
    pub(crate) fn on_opened(&mut self, now: SimTime) {
        self.since.get_or_insert(now.0 / PS_PER_MICROSECOND);
    }

    /// A segment of data has come, and what is in order has been read; whether the window has grown.
    pub(crate) fn on_data(&mut self, now: SimTime, segment: &Segment, state: ReceiveState) -> bool {
        let now_us = now.0 / PS_PER_MICROSECOND;
        self.on_opened(now);
        let octets = Octets::from(segment.length);
        if octets >= self.mss && !self.has_measured {
            self.has_measured = true;
            let (part, of) = MEASURED_PART;
            self.clamp = (self.clamp * part / of).min(self.largest);
        }
        self.round_trip
            .on_echo(now, segment.acknowledgement, octets >= self.mss);
        if state.is_early && self.grows_by_early {
            let has_grown = self.grow(octets, state.waiting);
            self.right_size(self.space, state);
            return has_grown;
        }
        if !state.is_in_order {
            return false;
        }
        self.round_trip
            .on_in_order(now_us, segment.end(), self.offered);
        let has_grown = self.grow(octets, state.waiting);
        self.on_read(now_us, state);
        has_grown
    }

    /// tcp_grow_window.
    fn grow(&mut self, octets: Octets, waiting: Octets) -> bool {
        let room = self.room(waiting).saturating_sub(self.window);
        if room == 0 || octets < LEAST_TO_GROW {
            return false;
        }
        self.window += room.min(2 * octets.max(self.mss));
        true
    }

    /// tcp_rcv_space_adjust: looks once a round trip at what was read.
    fn on_read(&mut self, now_us: u64, state: ReceiveState) {
        let Some(round_trip) = self.round_trip.us() else {
            return;
        };
        if now_us - self.since.unwrap_or(now_us) < round_trip {
            return;
        }
        let read = state.rcv_nxt - self.from;
        if read > self.space {
            self.right_size(read, state);
        }
        (self.from, self.since) = (state.rcv_nxt, Some(now_us));
    }

    /// tcp_rcvbuf_grow: twice what was read in a round trip, as the window is one late, and twice that again times the
    /// part by which it has become more.
    fn right_size(&mut self, read: Octets, state: ReceiveState) {
        let before = std::mem::replace(&mut self.space, read);
        let mut window = 2 * read;
        window += 2 * (window * (read - before) / before);
        if state.waiting > 0 {
            window += state.early_end - state.rcv_nxt;
        }
        self.clamp = self.clamp.max(window.min(self.largest));
    }

    fn room(&self, waiting: Octets) -> Octets {
        self.clamp.saturating_sub(waiting)
    }

    /// The window to advertise (tcp_select_window).
    pub(crate) fn offer(&mut self, rcv_nxt: u64, waiting: Octets) -> Octets {
        let window = self.window.min(self.room(waiting));
        self.edge = self.edge.max(rcv_nxt + window);
        self.offered = self.edge - rcv_nxt;
        self.offered
    }
}

/// A receiver's estimate of the round trip (rcv_rtt_est).
#[derive(Clone, Debug, Default)]
struct RoundTrip {
    /// Eighths of a microsecond; 0 before the first.
    eighths: u64,
    last_echo: u64,
    /// The end of a window, and when its begin was in order, us.
    window: Option<(u64, u64)>,
}

impl RoundTrip {
    /// Microseconds; none before the first.
    fn us(&self) -> Option<u64> {
        (self.eighths > 0).then_some(self.eighths >> 3)
    }

    /// A segment echoes the receiver's clock (tcp_rcv_rtt_measure_ts): once each, and only whole ones, which wait for nothing.
    fn on_echo(&mut self, now: SimTime, echo: u64, is_whole: bool) {
        if echo == 0 || echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let ms = AutoTuning::clock(now).saturating_sub(echo);
        if is_whole && ms > 0 {
            self.update(ms * MICROSECONDS_PER_MS, false);
        }
    }

    /// Octets up to `end` are in order (tcp_rcv_rtt_measure): a window takes a round trip at least.
    fn on_in_order(&mut self, now_us: u64, end: u64, window: Octets) {
        if let Some((edge, since)) = self.window {
            if end < edge {
                return;
            }
            self.update((now_us - since).max(1), true);
        }
        self.window = Some((end + window, now_us));
    }

    /// tcp_rcv_rtt_update: less is taken at once, more by an eighth, but not from the time that a window took.
    fn update(&mut self, us: u64, is_of_window: bool) {
        if self.eighths == 0 || 8 * us < self.eighths {
            self.eighths = 8 * us;
        } else if !is_of_window {
            self.eighths = self.eighths - (self.eighths >> 3) + us;
        }
    }
}

#[cfg(test)]
#[path = "auto_tuning_tests.rs"]
mod tests;
