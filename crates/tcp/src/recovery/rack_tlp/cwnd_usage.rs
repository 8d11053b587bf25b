//! Use of cwnd: whether it limits the sender, so that it may grow.

use crate::transmit::Transmitter;

/// How much of cwnd is used (tcp_cwnd_validate, tcp_is_cwnd_limited).
#[derive(Clone, Debug, Default)]
pub(super) struct CwndUsage {
    /// True if cwnd limited the sender in the window that ends at `end`.
    is_limited: bool,
    /// Most segments outstanding in it, where cwnd did not limit.
    most: u64,
    end: u64,
}

impl CwndUsage {
    pub(super) fn note(&mut self, tx: &Transmitter, is_full: bool, outstanding: u64) {
        let is_more = !self.is_limited && outstanding > self.most;
        if tx.snd_una >= self.end || is_full || is_more {
            self.is_limited = is_full;
            self.most = outstanding;
            self.end = tx.snd_max;
        }
    }

    /// Returns whether cwnd has limited the sender in the last window of data.
    pub(super) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// In slow start a window of which half is used may grow.
    pub(super) fn is_cwnd_limited(&self, tx: &Transmitter) -> bool {
        let is_in_slow_start = tx.window.cwnd() < tx.window.ssthresh();
        self.is_limited || is_in_slow_start && tx.cwnd_segments() < 2 * self.most
    }
}
