//! Bursts: what an acknowledgement lets leave waits until a whole burst may (tcp_write_xmit, tcp_tso_should_defer).

use super::{RackTlp, State};
use crate::transmit::Transmitter;
use skycell_units::SimTime;

/// How long after the last segment a burst may be waited for, and how far the next ACK may be: 1 ms.
const AT_MOST_PS: u64 = SimTime::from_millis(1).0;

/// tcp_tso_win_divisor: a window has as many bursts at least.
const WINDOW_PARTS: u64 = 3;

/// The decision on a burst that could leave.
pub(super) enum Burst {
    /// So many segments of it may leave.
    Leaves(u64),
    /// It waits, because cwnd lets no more of it leave, or because something else does not.
    Waits { is_cwnd_limited: bool },
}

impl RackTlp {
    /// The next burst, where cwnd, of `cwnd` segments, has room for a segment at least. Differs: the application's data are
    /// not in buffers of their own, at whose ends Linux sends the one segment that is left.
    pub(super) fn next_burst(&self, tx: &Transmitter, cwnd: u64) -> Burst {
        if !self.waits_for_bursts {
            return Burst::Leaves(u64::MAX);
        }
        let mss = tx.tcp.mss;
        let longest = self.burst_segments(tx).unwrap_or(u64::MAX);
        let (by_cwnd, unsent) = (cwnd - self.flight.pipe(), tx.available - tx.snd_max);
        let advertised = u64::from(tx.advertised);
        let by_receiver = (tx.snd_una + advertised).saturating_sub(tx.snd_max);
        let by_both = by_receiver.min(by_cwnd * mss);
        let may_wait = self.state < State::Recovery
            && unsent > mss
            && by_both < longest.saturating_mul(mss)
            && by_both < advertised.min(cwnd * mss) / WINDOW_PARTS;
        if may_wait && self.is_ack_near(tx) {
            let is_cwnd_limited = by_cwnd * mss < by_receiver && by_cwnd * mss <= unsent;
            return Burst::Waits { is_cwnd_limited };
        }
        Burst::Leaves(longest)
    }

    /// Returns whether something was sent a moment ago, and an ACK is due in a moment: in half a
    /// round trip, or the longest wait.
    fn is_ack_near(&self, tx: &Transmitter) -> bool {
        let Some(first) = self.flight.first_ticks() else {
            return false;
        };
        let at_most = AT_MOST_PS / tx.tcp.tick_ps;
        let srtt = tx.rto.srtt_eighths() as u64 / 8;
        tx.ticks <= self.departed(tx) + at_most && first + srtt <= tx.ticks + at_most.min(srtt / 2)
    }
}
