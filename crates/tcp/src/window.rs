//! The congestion window: slow start, congestion avoidance, and what a loss costs.

use skycell_spec::{CwndGrowth, TcpSpec};
use skycell_units::Octets;

/// cwnd and ssthresh of one connection, octets.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// cwnd; has a fraction only while growth is in floating point.
    cwnd: f64,
    ssthresh: f64,
    growth: CwndGrowth,
    mss: f64,
    max_cwnd: f64,
    /// ACK counting: ACKs since cwnd last grew.
    acks: f64,
}

impl Window {
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        Window {
            cwnd: tcp.initial_cwnd as f64,
            ssthresh: tcp.initial_ssthresh as f64,
            growth: tcp.cwnd_growth,
            mss: tcp.mss as f64,
            max_cwnd: tcp.max_cwnd as f64,
            acks: 0.0,
        }
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// An acknowledgement of new data, outside recovery (ICCCN'97 sections 2.1 and 7.2).
    pub(crate) fn on_new_ack(&mut self) {
        let mss_squared = self.mss * self.mss;
        let growth = if self.cwnd < self.ssthresh {
            self.mss
        } else {
            match self.growth {
                CwndGrowth::Float => mss_squared / self.cwnd,
                CwndGrowth::Integer => (mss_squared / self.cwnd).floor(),
                CwndGrowth::AckCounting => {
                    self.acks += 1.0;
                    if self.acks * mss_squared > self.cwnd {
                        std::mem::take(&mut self.acks) * mss_squared / self.cwnd
                    } else {
                        0.0
                    }
                }
            }
        };
        self.grow(growth);
        self.cwnd = self.cwnd.min(self.max_cwnd);
    }

    /// Halves: ssthresh = cwnd / 2, at least two segments (ICCCN'97 2.1; 4.4BSD for the floor).
    pub(crate) fn halve_ssthresh(&mut self) {
        self.ssthresh = self.whole(self.cwnd / 2.0).max(2.0 * self.mss);
        self.acks = 0.0;
    }

    /// Sets cwnd to ssthresh and `segments` segments more.
    pub(crate) fn set_to_ssthresh_plus(&mut self, segments: u32) {
        self.cwnd = self.ssthresh + f64::from(segments) * self.mss;
    }

    /// Fast recovery: one segment more for each duplicate ACK.
    pub(crate) fn inflate(&mut self) {
        self.grow(self.mss);
    }

    /// Partial ACK after RFC 6582 3.2: less what was acknowledged, plus one segment.
    pub(crate) fn deflate(&mut self, acked: Octets) {
        self.cwnd = (self.cwnd - acked as f64).max(0.0) + self.mss;
    }

    /// A timeout: cwnd = 1 segment.
    pub(crate) fn collapse(&mut self) {
        self.cwnd = self.mss;
    }

    /// Back to the initial window after idling.
    pub(crate) fn restart(&mut self, initial_cwnd: Octets) {
        self.cwnd = self.cwnd.min(initial_cwnd as f64);
    }

    fn grow(&mut self, octets: f64) {
        self.cwnd = self.whole(self.cwnd + octets);
    }

    /// Whole octets, unless growth is in floating point.
    fn whole(&self, octets: f64) -> f64 {
        match self.growth {
            CwndGrowth::Float => octets,
            CwndGrowth::Integer | CwndGrowth::AckCounting => octets.floor(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::tcp;

    /// A window in congestion avoidance at `cwnd` octets, MSS 512.
    fn avoiding(growth: CwndGrowth, cwnd: Octets) -> Window {
        Window::new(&TcpSpec {
            mss: 512,
            initial_cwnd: cwnd,
            initial_ssthresh: 1_024,
            max_cwnd: 600_000,
            cwnd_growth: growth,
            ..tcp()
        })
    }

    #[test]
    fn slow_start_adds_a_segment_for_each_ack_up_to_ssthresh() {
        let mut window = Window::new(&TcpSpec {
            mss: 512,
            initial_cwnd: 512,
            initial_ssthresh: 1_024,
            ..tcp()
        });
        window.on_new_ack();
        assert_eq!(window.cwnd(), 1_024.0);
        window.on_new_ack(); // at ssthresh: 512 * 512 / 1024 = 256
        assert_eq!(window.cwnd(), 1_280.0);
    }

    #[test]
    fn integer_growth_stalls_once_cwnd_exceeds_the_square_of_mss() {
        // ICCCN'97 7.2: MSS 512, 512 * 512 = 262 144.
        let mut below = avoiding(CwndGrowth::Integer, 262_000);
        below.on_new_ack();
        assert_eq!(below.cwnd(), 262_001.0);
        let mut above = avoiding(CwndGrowth::Integer, 262_145);
        (0..10_000).for_each(|_| above.on_new_ack());
        assert_eq!(above.cwnd(), 262_145.0);
        let mut float = avoiding(CwndGrowth::Float, 262_145);
        float.on_new_ack();
        assert!(float.cwnd() > 262_145.9 && float.cwnd() < 262_146.0);
    }

    #[test]
    fn ack_counting_waits_until_a_whole_octet_has_come_together() {
        // 512 * 512 / 500 000 = 0.52: the second ACK brings 1.05 octets.
        let mut window = avoiding(CwndGrowth::AckCounting, 500_000);
        window.on_new_ack();
        assert_eq!(window.cwnd(), 500_000.0);
        window.on_new_ack();
        assert_eq!(window.cwnd(), 500_001.0);
    }

    #[test]
    fn a_window_of_acks_adds_about_one_segment() {
        let mut window = avoiding(CwndGrowth::Float, 51_200);
        (0..100).for_each(|_| window.on_new_ack());
        assert!((window.cwnd() - 51_712.0).abs() < 5.0);
    }

    #[test]
    fn cwnd_stops_at_its_maximum_and_ssthresh_at_two_segments() {
        let mut window = avoiding(CwndGrowth::Float, 600_000);
        window.on_new_ack();
        assert_eq!(window.cwnd(), 600_000.0);
        window.collapse();
        window.halve_ssthresh();
        assert_eq!((window.cwnd(), window.ssthresh()), (512.0, 1_024.0));
    }
}
