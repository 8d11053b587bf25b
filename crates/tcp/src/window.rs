//! The congestion window: slow start, congestion avoidance, and what a loss costs.

use crate::cubic::{BETA, Cubic, NewAck};
use crate::spec::{CongestionControl, CwndGrowth, SlowStart, SsthreshBasis, TcpSpec};
use skycell_units::Octets;

/// max_ssthresh, up to which limited slow start is slow start, segments (RFC 3742 section 2: the value of its
/// experiments).
const MAX_SSTHRESH: f64 = 100.0;

/// cwnd and ssthresh of one connection, octets. The parameters they follow are lent by the caller:
/// thousands of senders share them.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// cwnd; has a fraction only while growth is in floating point.
    cwnd: f64,
    ssthresh: f64,
    /// None where congestion control needs nothing but these two: what others keep costs Reno's senders
    /// neither room nor time.
    kept: Option<Box<Kept>>,
}

/// What congestion control keeps from one ACK to the next.
#[derive(Clone, Debug)]
enum Kept {
    /// ACK counting: ACKs since cwnd last grew.
    Acks(f64),
    Cubic(Cubic),
}

impl Window {
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        let kept = match (tcp.congestion_control, tcp.cwnd_growth) {
            (CongestionControl::Reno, CwndGrowth::Float | CwndGrowth::Integer) => None,
            (CongestionControl::Reno, CwndGrowth::AckCounting) => Some(Kept::Acks(0.0)),
            (CongestionControl::Cubic, _) => Some(Kept::Cubic(Cubic::default())),
        };
        Window {
            cwnd: tcp.initial_cwnd as f64,
            ssthresh: tcp.initial_ssthresh as f64,
            kept: kept.map(Box::new),
        }
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// An acknowledgement of new data has come, and cwnd is what it was; `ack` tells what it finds, if it
    /// matters.
    pub(crate) fn note(&mut self, ack: impl FnOnce(f64) -> NewAck) {
        if let Some(Kept::Cubic(cubic)) = self.kept.as_deref_mut() {
            cubic.on_new_ack(ack(self.cwnd));
        }
    }

    /// Grows by that acknowledgement, outside recovery (ICCCN'97 sections 2.1 and 7.2).
    pub(crate) fn on_new_ack(&mut self, tcp: &TcpSpec) {
        let mss = tcp.mss as f64;
        let growth = if self.kept.is_some() {
            self.growth_by_what_is_kept(tcp)
        } else if self.is_in_slow_start(tcp) {
            self.slow_start(tcp)
        } else {
            self.whole(tcp, mss * mss / self.cwnd)
        };
        self.grow_to_limit(tcp, growth);
    }

    /// What an acknowledgement adds where something is kept, octets.
    #[inline(never)] // so that nothing is done for it where nothing is kept
    fn growth_by_what_is_kept(&mut self, tcp: &TcpSpec) -> f64 {
        let mss = tcp.mss as f64;
        let mss_squared = mss * mss;
        let slow_start = self.is_in_slow_start(tcp).then(|| self.slow_start(tcp));
        match (self.kept.as_deref_mut(), slow_start) {
            (Some(Kept::Cubic(cubic)), Some(growth)) => cubic.slow_start(growth),
            (Some(Kept::Cubic(cubic)), None) => cubic.avoidance(tcp, self.cwnd / mss) * mss,
            (_, Some(growth)) => growth,
            (Some(Kept::Acks(acks)), None) => {
                *acks += 1.0;
                if *acks * mss_squared > self.cwnd {
                    std::mem::take(acks) * mss_squared / self.cwnd
                } else {
                    0.0
                }
            }
            (None, None) => 0.0,
        }
    }

    fn is_in_slow_start(&self, tcp: &TcpSpec) -> bool {
        let is_at_ssthresh = tcp.slow_start_at_ssthresh && self.cwnd == self.ssthresh;
        self.cwnd < self.ssthresh || is_at_ssthresh
    }

    /// What an ACK adds in slow start, octets.
    fn slow_start(&self, tcp: &TcpSpec) -> f64 {
        match tcp.slow_start {
            SlowStart::Full => tcp.mss as f64,
            SlowStart::Limited => self.limited_slow_start(tcp.mss as f64),
        }
    }

    /// RFC 3742 section 2: K = int(cwnd / (0.5 max_ssthresh)), and int(MSS / K).
    #[cold]
    #[inline(never)]
    fn limited_slow_start(&self, mss: f64) -> f64 {
        if self.cwnd <= MAX_SSTHRESH * mss {
            return mss;
        }
        let k = (self.cwnd / (0.5 * MAX_SSTHRESH * mss)).floor();
        (mss / k).floor()
    }

    /// A loss: ssthresh = cwnd / 2, or half of what both cwnd and the `advertised` window allow in
    /// whole segments; at least two segments (ICCCN'97 2.1; 4.4BSD for the rest). CUBIC takes 0.7
    /// instead of half (RFC 9438 section 4.6).
    pub(crate) fn cut_ssthresh(&mut self, tcp: &TcpSpec, advertised: Octets) {
        let mss = tcp.mss as f64;
        let part = match self.kept.as_deref_mut() {
            None => 0.5,
            Some(Kept::Acks(acks)) => {
                *acks = 0.0;
                0.5
            }
            Some(Kept::Cubic(cubic)) => {
                cubic.on_loss(self.cwnd / mss);
                BETA
            }
        };
        let left = match tcp.ssthresh_basis {
            SsthreshBasis::Cwnd => self.whole(tcp, self.cwnd * part),
            SsthreshBasis::Window => {
                let window = self.cwnd.min(advertised as f64);
                (window * part / mss).floor() * mss
            }
        };
        self.ssthresh = left.max(2.0 * mss);
    }

    /// Sets cwnd to ssthresh and `segments` segments more.
    pub(crate) fn set_to_ssthresh_plus(&mut self, tcp: &TcpSpec, segments: u32) {
        self.cwnd = self.ssthresh + f64::from(segments) * tcp.mss as f64;
    }

    /// The ACK that ends a recovery: cwnd = ssthresh, and what slow start adds if it goes on there.
    pub(crate) fn end_recovery(&mut self, tcp: &TcpSpec) {
        self.set_to_ssthresh_plus(tcp, 0);
        if tcp.slow_start_at_ssthresh {
            self.grow_to_limit(tcp, self.slow_start(tcp));
        }
    }

    /// Fast recovery: one segment more for each duplicate ACK.
    pub(crate) fn inflate(&mut self, tcp: &TcpSpec) {
        self.grow(tcp, tcp.mss as f64);
    }

    /// Partial ACK after RFC 6582 3.2 step 3: less what was acknowledged, plus one segment if that was
    /// one at least.
    pub(crate) fn deflate(&mut self, tcp: &TcpSpec, acked: Octets) {
        let mss = tcp.mss as f64;
        let back = if acked >= tcp.mss { mss } else { 0.0 };
        self.cwnd = (self.cwnd - acked as f64 + back).max(mss);
    }

    /// A timeout: cwnd = 1 segment.
    pub(crate) fn collapse(&mut self, tcp: &TcpSpec) {
        self.cwnd = tcp.mss as f64;
        if let Some(Kept::Cubic(cubic)) = self.kept.as_deref_mut() {
            cubic.on_timeout();
        }
    }

    /// The application goes on after idling, as the host's clock has counted `ticks`.
    pub(crate) fn on_idle_end(&mut self, ticks: u64) {
        if let Some(Kept::Cubic(cubic)) = self.kept.as_deref_mut() {
            cubic.on_idle_end(ticks);
        }
    }

    /// Back to the initial window after idling.
    pub(crate) fn restart(&mut self, initial_cwnd: Octets) {
        self.cwnd = self.cwnd.min(initial_cwnd as f64);
    }

    fn grow_to_limit(&mut self, tcp: &TcpSpec, octets: f64) {
        self.grow(tcp, octets);
        self.cwnd = self.cwnd.min(tcp.max_cwnd as f64);
    }

    fn grow(&mut self, tcp: &TcpSpec, octets: f64) {
        self.cwnd = self.whole(tcp, self.cwnd + octets);
    }

    /// Whole octets, unless growth is in floating point, as CUBIC's always is.
    fn whole(&self, tcp: &TcpSpec, octets: f64) -> f64 {
        match (tcp.cwnd_growth, self.kept.as_deref()) {
            (CwndGrowth::Float, _) | (_, Some(Kept::Cubic(_))) => octets,
            _ => octets.floor(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::tcp;

    /// A window and the parameters it follows.
    struct With {
        tcp: TcpSpec,
        window: Window,
    }

    impl With {
        fn new(tcp: TcpSpec) -> Self {
            let window = Window::new(&tcp);
            With { tcp, window }
        }

        fn cwnd(&self) -> f64 {
            self.window.cwnd()
        }

        fn on_new_ack(&mut self) {
            self.window.on_new_ack(&self.tcp);
        }

        fn end_recovery(&mut self) {
            self.window.end_recovery(&self.tcp);
        }

        fn cut_ssthresh(&mut self, advertised: Octets) -> f64 {
            self.window.cut_ssthresh(&self.tcp, advertised);
            self.window.ssthresh()
        }
    }

    /// A window in congestion avoidance at `cwnd` octets, MSS 512.
    fn avoiding(growth: CwndGrowth, cwnd: Octets) -> With {
        With::new(TcpSpec {
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
        let mut window = With::new(TcpSpec {
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
    fn limited_slow_start_adds_half_of_max_ssthresh_each_round_trip() {
        let grown = |slow_start, segments: u64| {
            let mut window = With::new(TcpSpec {
                mss: 1_000,
                initial_cwnd: segments * 1_000,
                slow_start,
                ..tcp()
            });
            window.on_new_ack();
            window.cwnd() - (segments * 1_000) as f64
        };
        assert_eq!(grown(SlowStart::Limited, 100), 1_000.0);
        // K = int(101 / 50) = 2: half a segment; K = int(350 / 50) = 7: 142 octets.
        assert_eq!(grown(SlowStart::Limited, 101), 500.0);
        assert_eq!(grown(SlowStart::Limited, 350), 142.0);
        assert_eq!(grown(SlowStart::Full, 350), 1_000.0);
    }

    #[test]
    fn slow_start_may_go_on_at_ssthresh_and_with_the_ack_that_ends_a_recovery() {
        // 4.4BSD: congestion avoidance once cwnd > ssthresh.
        let mut window = With::new(TcpSpec {
            mss: 512,
            initial_cwnd: 1_024,
            initial_ssthresh: 1_024,
            slow_start_at_ssthresh: true,
            cwnd_growth: CwndGrowth::Integer,
            ..tcp()
        });
        window.on_new_ack();
        assert_eq!(window.cwnd(), 1_536.0);
        window.on_new_ack(); // 512 * 512 / 1536 = 170
        assert_eq!(window.cwnd(), 1_706.0);
        window.end_recovery();
        assert_eq!(window.cwnd(), 1_536.0);
        let mut strict = avoiding(CwndGrowth::Integer, 5_120);
        strict.end_recovery();
        assert_eq!(strict.cwnd(), 1_024.0);
    }

    #[test]
    fn a_loss_halves_cwnd_or_what_the_receiver_allows_in_whole_segments() {
        let halved = |ssthresh_basis, cwnd, advertised| {
            let mut window = With::new(TcpSpec {
                mss: 1_000,
                initial_cwnd: cwnd,
                ssthresh_basis,
                ..tcp()
            });
            window.cut_ssthresh(advertised)
        };
        // cwnd has grown past the window: the loss takes nothing off what is in flight.
        assert_eq!(halved(SsthreshBasis::Cwnd, 130_000, 65_535), 65_000.0);
        assert_eq!(halved(SsthreshBasis::Window, 130_000, 65_535), 32_000.0);
        assert_eq!(halved(SsthreshBasis::Window, 9_900, 65_535), 4_000.0);
        assert_eq!(halved(SsthreshBasis::Window, 3_000, 65_535), 2_000.0);
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
    fn a_loss_forgets_the_acks_that_were_counted() {
        let mut window = avoiding(CwndGrowth::AckCounting, 500_000);
        window.on_new_ack();
        window.cut_ssthresh(600_000);
        window.on_new_ack();
        assert_eq!(window.cwnd(), 500_000.0);
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
        window.window.collapse(&window.tcp);
        assert_eq!(window.cut_ssthresh(600_000), 1_024.0);
        assert_eq!(window.cwnd(), 512.0);
    }
}
