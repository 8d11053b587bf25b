//! The congestion window: cwnd and ssthresh, and what happens to them.

use crate::congestion::{Ack, Congestion, CongestionControl, HALF, Marks, Sample, reno_growth};
use crate::slow_start::{SlowStart, SlowStartState};
use crate::spec::{SsthreshBasis, TcpSpec};
use skycell_units::Octets;

/// cwnd and ssthresh of one connection, octets. The parameters they follow are lent by the caller:
/// thousands of senders share them.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// cwnd; has a fraction only while growth is in floating point.
    cwnd: f64,
    ssthresh: f64,
    /// State of the rules; none if they need nothing but these two.
    state: Option<Box<State>>,
}

/// The state of the rules from one ACK to the next, for rules with state.
#[derive(Clone, Debug)]
struct State {
    congestion: Option<Congestion>,
    slow_start: Option<SlowStartState>,
}

/// A signal to send less.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    Loss,
    /// The first that is answered of a window of data.
    Mark,
}

impl State {
    fn new(tcp: &TcpSpec) -> Option<Box<Self>> {
        if tcp.congestion.has_model() {
            return None; // it sets cwnd itself
        }
        let (congestion, slow_start) =
            (tcp.congestion.state(), SlowStartState::new(&tcp.slow_start));
        (congestion.is_some() || slow_start.is_some()).then(|| {
            Box::new(State {
                congestion,
                slow_start,
            })
        })
    }

    /// Returns the amount that an ACK of new data adds to `cwnd` octets in slow start, `room`
    /// octets below ssthresh.
    fn on_ack_in_slow_start(&mut self, tcp: &TcpSpec, cwnd: f64, room: f64, ack: &Ack) -> f64 {
        let growth = match &mut self.slow_start {
            None => tcp.slow_start.growth(tcp, cwnd),
            Some(rule) => rule.on_ack(tcp, ack),
        };
        let growth = match &mut self.congestion {
            None => growth,
            Some(rule) => rule.on_ack_in_slow_start(tcp, cwnd, growth, ack),
        };
        let stops = self
            .slow_start
            .as_ref()
            .is_some_and(SlowStart::stops_at_ssthresh);
        if !(stops && growth > room) {
            return growth;
        }
        let octets = (growth - room) as Octets;
        let rest = Ack {
            octets,
            segments: octets as f64 / tcp.mss as f64,
            ..*ack
        };
        room + self.on_ack(tcp, cwnd + room, &rest)
    }

    /// The same in congestion avoidance.
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        if let Some(rule) = &mut self.slow_start {
            rule.on_end();
        }
        match &mut self.congestion {
            None => whole(tcp, reno_growth(tcp, cwnd)),
            Some(rule) => rule.on_ack(tcp, cwnd, ack),
        }
    }

    /// A loss or a mark with `cwnd` octets: the part that it leaves.
    fn on_signal(&mut self, tcp: &TcpSpec, cwnd: f64, signal: Signal) -> f64 {
        if let Some(rule) = &mut self.slow_start {
            rule.on_end();
        }
        match (&mut self.congestion, signal) {
            (None, _) => HALF,
            (Some(rule), Signal::Loss) => rule.on_loss(tcp, cwnd),
            (Some(rule), Signal::Mark) => rule.on_mark(tcp, cwnd),
        }
    }

    fn on_rto(&mut self) {
        if let Some(rule) = &mut self.slow_start {
            rule.on_rto();
        }
        if let Some(rule) = &mut self.congestion {
            rule.on_rto();
        }
    }

    fn on_idle_end(&mut self, tcp: &TcpSpec, ticks: u64) {
        if let Some(rule) = &mut self.congestion {
            rule.on_idle_end(tcp, ticks);
        }
    }
}

impl Window {
    pub(crate) fn new(tcp: &TcpSpec) -> Self {
        Window {
            cwnd: tcp.initial_cwnd as f64,
            ssthresh: tcp.initial_ssthresh as f64,
            state: State::new(tcp),
        }
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// cwnd in whole octets.
    pub(crate) fn octets(&self) -> Octets {
        // By way of the signed type, to which the processor converts.
        self.cwnd as i64 as Octets
    }

    pub(crate) fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Returns whether the rules have state, so that they need every acknowledgement.
    pub(crate) fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// An acknowledgement of new data outside recovery: grows (ICCCN'97 sections 2.1 and 7.2). `ack` tells what
    /// it finds with cwnd, which matters only where there is a state.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, tcp: &TcpSpec, ack: impl FnOnce(f64) -> Ack) {
        if self.state.is_some() {
            let ack = ack(self.cwnd);
            return self.on_ack_with_state(tcp, &ack);
        }
        let growth = if self.is_in_slow_start(tcp) {
            tcp.slow_start.growth(tcp, self.cwnd)
        } else {
            whole(tcp, reno_growth(tcp, self.cwnd))
        };
        self.grow_to_limit(tcp, growth);
    }

    #[inline(never)] // so that nothing is done for it where there is no state
    fn on_ack_with_state(&mut self, tcp: &TcpSpec, ack: &Ack) {
        let is_in_slow_start = self.is_in_slow_start(tcp);
        let Some(state) = self.state.as_deref_mut() else {
            return;
        };
        let growth = if is_in_slow_start {
            let room = self.ssthresh - self.cwnd;
            state.on_ack_in_slow_start(tcp, self.cwnd, room, ack)
        } else {
            state.on_ack(tcp, self.cwnd, ack)
        };
        let is_leaving = state.slow_start.as_mut().is_some_and(SlowStart::is_leaving);
        self.grow_to_limit(tcp, growth);
        if is_leaving {
            self.ssthresh = self.cwnd;
        }
        if let Some(State {
            congestion: Some(rule),
            ..
        }) = self.state.as_deref_mut()
        {
            self.ssthresh = rule.ssthresh(self.ssthresh, self.cwnd);
        }
    }

    /// An acknowledgement has measured a round trip.
    #[inline(never)] // so that nothing is done for it where there is no state
    pub(crate) fn on_sample(&mut self, tcp: &TcpSpec, sample: &Sample) {
        let is_running = self.is_in_slow_start(tcp);
        let Some(state) = self.state.as_deref_mut() else {
            return;
        };
        if let Some(rule) = &mut state.congestion {
            rule.on_sample(sample);
        }
        if let Some(rule) = &mut state.slow_start
            && rule.on_sample(tcp, self.cwnd, is_running, sample)
        {
            self.ssthresh = self.cwnd;
        }
    }

    /// An acknowledgement has come that says which segments were marked.
    pub(crate) fn on_marks(&mut self, marks: &Marks) {
        if let Some(state) = self.state.as_deref_mut()
            && let Some(rule) = &mut state.congestion
        {
            rule.on_marks(marks);
        }
    }

    fn is_in_slow_start(&self, tcp: &TcpSpec) -> bool {
        let is_at_ssthresh = self.cwnd == self.ssthresh && tcp.slow_start.is_at_ssthresh_too();
        self.cwnd < self.ssthresh || is_at_ssthresh
    }

    /// A loss or a mark: ssthresh is the part that it leaves of cwnd, or of what both cwnd and the `advertised`
    /// window allow in whole segments; at least two segments (ICCCN'97 2.1; 4.4BSD for the rest).
    pub(crate) fn on_signal(&mut self, tcp: &TcpSpec, advertised: Octets, signal: Signal) {
        let mss = tcp.mss as f64;
        let part = match self.state.as_deref_mut() {
            None => HALF,
            Some(state) => state.on_signal(tcp, self.cwnd, signal),
        };
        let left = match tcp.congestion.ssthresh_basis() {
            SsthreshBasis::Cwnd => whole(tcp, self.cwnd * part),
            SsthreshBasis::Window => {
                let window = self.cwnd.min(advertised as f64);
                (window * part / mss).floor() * mss
            }
        };
        let left = if tcp.congestion.is_in_segments() {
            (left / mss).floor() * mss
        } else {
            left
        };
        self.ssthresh = left.max(2.0 * mss);
    }

    /// Sets cwnd to ssthresh and `segments` segments more.
    pub(crate) fn set_to_ssthresh_plus(&mut self, tcp: &TcpSpec, segments: u32) {
        self.cwnd = self.ssthresh + f64::from(segments) * tcp.mss as f64;
    }

    /// Sets cwnd, octets.
    pub(crate) fn set_cwnd(&mut self, octets: f64) {
        self.cwnd = octets;
    }

    /// Sets ssthresh, octets.
    pub(crate) fn set_ssthresh(&mut self, octets: f64) {
        self.ssthresh = octets;
    }

    /// The ACK that ends a recovery: cwnd = ssthresh, and what slow start adds if it goes on there.
    pub(crate) fn on_recovery_end(&mut self, tcp: &TcpSpec) {
        self.set_to_ssthresh_plus(tcp, 0);
        if tcp.slow_start.is_at_ssthresh_too() {
            self.grow_to_limit(tcp, tcp.slow_start.growth(tcp, self.cwnd));
        }
    }

    /// A duplicate ACK in fast recovery: one segment more.
    pub(crate) fn on_dup_ack(&mut self, tcp: &TcpSpec) {
        self.grow(tcp, tcp.mss as f64);
    }

    /// Partial ACK after RFC 6582 3.2 step 3: less what was acknowledged, plus one segment if that was
    /// one at least.
    pub(crate) fn on_partial_ack(&mut self, tcp: &TcpSpec, acked: Octets) {
        let mss = tcp.mss as f64;
        let back = if acked >= tcp.mss { mss } else { 0.0 };
        self.cwnd = (self.cwnd - acked as f64 + back).max(mss);
    }

    /// A timeout, whose loss has cut ssthresh: cwnd = 1 segment.
    pub(crate) fn on_rto(&mut self, tcp: &TcpSpec) {
        self.cwnd = tcp.mss as f64;
        if let Some(state) = self.state.as_deref_mut() {
            state.on_rto();
        }
    }

    /// The application goes on after idling, as the host's clock has counted `ticks`.
    pub(crate) fn on_idle_end(&mut self, tcp: &TcpSpec, ticks: u64) {
        if let Some(state) = self.state.as_deref_mut() {
            state.on_idle_end(tcp, ticks);
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
        self.cwnd = whole(tcp, self.cwnd + octets);
    }
}

/// Whole octets, unless growth is in floating point.
fn whole(tcp: &TcpSpec, octets: f64) -> f64 {
    if tcp.congestion.is_whole() {
        floor(octets)
    } else {
        octets
    }
}

#[inline(never)] // else it is computed where growth is in floating point, too
fn floor(octets: f64) -> f64 {
    octets.floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{RENO_CONGESTION, tcp};
    use crate::spec::*;

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

        fn on_ack(&mut self) {
            self.window.on_ack(&self.tcp, |_| Ack::default());
        }

        fn on_recovery_end(&mut self) {
            self.window.on_recovery_end(&self.tcp);
        }

        fn on_loss(&mut self, advertised: Octets) -> f64 {
            self.window.on_signal(&self.tcp, advertised, Signal::Loss);
            self.window.ssthresh()
        }
    }

    /// A window in congestion avoidance at `cwnd` octets, MSS 512.
    fn avoiding(growth: RenoGrowth, cwnd: Octets) -> With {
        With::new(TcpSpec {
            mss: 512,
            initial_cwnd: cwnd,
            initial_ssthresh: 1_024,
            max_cwnd: 600_000,
            congestion: CongestionSpec::Reno(RenoCongestionSpec {
                growth,
                ..RENO_CONGESTION
            }),
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
        window.on_ack();
        assert_eq!(window.cwnd(), 1_024.0);
        window.on_ack(); // at ssthresh: 512 * 512 / 1024 = 256
        assert_eq!(window.cwnd(), 1_280.0);
    }

    #[test]
    fn slow_start_may_go_on_at_ssthresh_and_with_the_ack_that_ends_a_recovery() {
        // 4.4BSD: congestion avoidance once cwnd > ssthresh.
        let mut window = With::new(TcpSpec {
            mss: 512,
            initial_cwnd: 1_024,
            initial_ssthresh: 1_024,
            slow_start: SlowStartSpec::Standard(StandardSlowStartSpec { at_ssthresh: true }),
            congestion: CongestionSpec::Reno(RenoCongestionSpec {
                growth: RenoGrowth::Integer,
                ..RENO_CONGESTION
            }),
            ..tcp()
        });
        window.on_ack();
        assert_eq!(window.cwnd(), 1_536.0);
        window.on_ack(); // 512 * 512 / 1536 = 170
        assert_eq!(window.cwnd(), 1_706.0);
        window.on_recovery_end();
        assert_eq!(window.cwnd(), 1_536.0);
        let mut strict = avoiding(RenoGrowth::Integer, 5_120);
        strict.on_recovery_end();
        assert_eq!(strict.cwnd(), 1_024.0);
    }

    #[test]
    fn a_loss_halves_cwnd_or_what_the_receiver_allows_in_whole_segments() {
        let halved = |ssthresh_basis, cwnd, advertised| {
            let mut window = With::new(TcpSpec {
                mss: 1_000,
                initial_cwnd: cwnd,
                congestion: CongestionSpec::Reno(RenoCongestionSpec {
                    ssthresh_basis,
                    ..RENO_CONGESTION
                }),
                ..tcp()
            });
            window.on_loss(advertised)
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
        let mut below = avoiding(RenoGrowth::Integer, 262_000);
        below.on_ack();
        assert_eq!(below.cwnd(), 262_001.0);
        let mut above = avoiding(RenoGrowth::Integer, 262_145);
        (0..10_000).for_each(|_| above.on_ack());
        assert_eq!(above.cwnd(), 262_145.0);
        let mut float = avoiding(RenoGrowth::Float, 262_145);
        float.on_ack();
        assert!(float.cwnd() > 262_145.9 && float.cwnd() < 262_146.0);
    }

    #[test]
    fn ack_counting_waits_until_a_whole_octet_has_come_together() {
        // 512 * 512 / 500 000 = 0.52: the second ACK brings 1.05 octets.
        let mut window = avoiding(RenoGrowth::AckCounting, 500_000);
        window.on_ack();
        assert_eq!(window.cwnd(), 500_000.0);
        window.on_ack();
        assert_eq!(window.cwnd(), 500_001.0);
    }

    #[test]
    fn byte_counting_adds_a_segment_once_a_window_has_been_acknowledged() {
        // cwnd 5 120, MSS 512: ACKs of 2 048 octets; the third makes 6 144, and 1 024 stay for the next window.
        let mut window = avoiding(RenoGrowth::ByteCounting, 5_120);
        let mut acked = |octets| {
            let ack = Ack {
                octets,
                ..Ack::default()
            };
            window.window.on_ack(&window.tcp, |_| ack);
            window.cwnd()
        };
        let found = [2_048, 2_048, 2_048, 2_048, 2_048, 512].map(&mut acked);
        assert_eq!(
            found,
            [5_120.0, 5_120.0, 5_632.0, 5_632.0, 5_632.0, 6_144.0]
        );
        window.on_loss(600_000); // forgets nothing, as 0 are left; cwnd stays
        assert_eq!(window.window.ssthresh(), 3_072.0);
    }

    #[test]
    fn segment_counting_adds_a_segment_for_a_window_of_them_where_cwnd_limits_and_halves_whole_ones()
     {
        let mut window = avoiding(RenoGrowth::SegmentCounting, 5_632); // 11 segments
        let mut acked = |segments, is_cwnd_limited| {
            let ack = Ack {
                segments,
                is_cwnd_limited,
                ..Ack::default()
            };
            window.window.on_ack(&window.tcp, |_| ack);
            window.cwnd() / 512.0
        };
        assert_eq!(acked(10.0, true), 11.0);
        assert_eq!(acked(9.0, false), 11.0);
        assert_eq!(acked(2.0, true), 12.0); // one stays
        assert_eq!(acked(10.0, true), 12.0);
        assert_eq!(acked(1.0, true), 13.0);
        assert_eq!(acked(12.0, true), 13.0);
        assert_eq!(window.on_loss(600_000), 6.0 * 512.0);
        let mut after = |segments| {
            let ack = Ack {
                segments,
                is_cwnd_limited: true,
                ..Ack::default()
            };
            window.window.on_ack(&window.tcp, |_| ack);
            window.cwnd() / 512.0
        };
        assert_eq!(after(12.0), 13.0); // what was counted is forgotten
    }

    #[test]
    fn a_loss_forgets_the_octets_that_were_counted() {
        let mut window = avoiding(RenoGrowth::ByteCounting, 5_120);
        let ack = Ack {
            octets: 5_119,
            ..Ack::default()
        };
        window.window.on_ack(&window.tcp, |_| ack);
        window.on_loss(600_000);
        window.window.on_ack(&window.tcp, |_| ack);
        assert_eq!(window.cwnd(), 5_120.0);
    }

    #[test]
    fn a_loss_forgets_the_acks_that_were_counted() {
        let mut window = avoiding(RenoGrowth::AckCounting, 500_000);
        window.on_ack();
        window.on_loss(600_000);
        window.on_ack();
        assert_eq!(window.cwnd(), 500_000.0);
    }

    #[test]
    fn a_window_of_acks_adds_about_one_segment() {
        let mut window = avoiding(RenoGrowth::Float, 51_200);
        (0..100).for_each(|_| window.on_ack());
        assert!((window.cwnd() - 51_712.0).abs() < 5.0);
    }

    #[test]
    fn cwnd_stops_at_its_maximum_and_ssthresh_at_two_segments() {
        let mut window = avoiding(RenoGrowth::Float, 600_000);
        window.on_ack();
        assert_eq!(window.cwnd(), 600_000.0);
        window.window.on_rto(&window.tcp);
        assert_eq!(window.on_loss(600_000), 1_024.0);
        assert_eq!(window.cwnd(), 512.0);
    }
}
