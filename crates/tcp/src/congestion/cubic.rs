//! CUBIC: a window that grows as a cubic function of the time since the last loss (RFC 9438).

use super::{Ack, Congestion, CongestionControl, CongestionRule};
use crate::spec::{SsthreshBasis, TcpSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{CubicC, Flag},
};

/// A cubic function of the time since the last loss, and 0.7 at a loss.
///
/// Source: RFC 9438.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct CubicSpec {
    /// How steep the cubic function is, segments/s^3.
    #[param(default = 0.4, symbol = "C", source = "RFC 9438 section 4.1.1")]
    pub c: CubicC,
    /// A loss at a smaller window than the last one lowers W_max further, for the sake of flows that begin.
    #[param(default = true, source = "RFC 9438 section 4.7")]
    pub fast_convergence: Flag,
    /// Value that a loss multiplies by 0.7: cwnd, or the smaller of cwnd and the advertised window,
    /// in whole segments.
    #[param(
        word,
        default = "cwnd",
        source = "RFC 9438 section 4.6, with cwnd for what is in flight"
    )]
    pub ssthresh_basis: SsthreshBasis,
}

impl CongestionRule for CubicSpec {
    fn state(&self) -> Option<Congestion> {
        Some(Congestion::Cubic(Cubic::new(self)))
    }

    fn ssthresh_basis(&self) -> SsthreshBasis {
        self.ssthresh_basis
    }
}

/// beta_cubic: what a loss leaves of cwnd (RFC 9438 section 4.6).
const BETA: f64 = 0.7;
/// alpha_cubic: segments that W_est grows by each round trip, 9/17: the same average window as Reno's
/// (RFC 9438 section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Largest target, in windows of now (RFC 9438 section 4.2).
const LARGEST_TARGET: f64 = 1.5;
const PS_PER_S: f64 = 1e12;

/// The state of CUBIC beside cwnd and ssthresh. Windows in segments, times in ticks of the host's
/// clock.
///
/// Source: RFC 9438 section 4. Every number comes of IEEE 754's basic operations and of `libm`'s cube
/// root, which are the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    spec: CubicSpec,
    /// W_max; none where the next stage has it at its own beginning: before the first loss (section 4.10)
    /// and after a timeout (section 4.8).
    w_max: Option<f64>,
    /// cwnd_prior: cwnd as ssthresh was last set; 0 before the first loss, where W_est begins at
    /// cwnd_prior (section 4.10).
    cwnd_prior: f64,
    /// The current congestion avoidance; none in slow start and recovery.
    epoch: Option<Epoch>,
    /// Ticks of the host's clock at the last ACK, or the end of an idle time after it.
    ticks: u64,
}

/// One stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Epoch {
    /// t: ticks that cwnd limited the sender in.
    elapsed: u64,
    /// K, seconds.
    k: f64,
    /// Where the cubic function has its plateau: W_max, or cwnd_epoch where there is none or it is below.
    plateau: f64,
    /// W_est.
    w_est: f64,
}

impl Epoch {
    /// Begins at cwnd_epoch = `cwnd`.
    fn new(c: f64, cwnd: f64, w_max: Option<f64>) -> Self {
        // RFC 9438 sections 4.8 and 4.10: after a timeout, and without a loss before, K = 0 and
        // W_max = cwnd_epoch. So too where the floor of two segments lies above W_max.
        let plateau = w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
        Epoch {
            elapsed: 0,
            k: libm::cbrt((plateau - cwnd) / c),
            plateau,
            w_est: cwnd,
        }
    }

    /// W_cubic(t), equation 1; `seconds` may lie ahead of the time that has elapsed.
    fn w_cubic(&self, c: f64, seconds: f64) -> f64 {
        let from_plateau = seconds - self.k;
        c * (from_plateau * from_plateau * from_plateau) + self.plateau
    }
}

impl Cubic {
    pub(crate) fn new(spec: &CubicSpec) -> Self {
        Cubic {
            spec: *spec,
            w_max: None,
            cwnd_prior: 0.0,
            epoch: None,
            ticks: 0,
        }
    }

    /// Segments that an ACK adds to `cwnd` segments, `since` ticks after the one before: sections 4.2 to
    /// 4.5.
    fn growth(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack, since: u64) -> f64 {
        let (w_max, c) = (self.w_max, self.spec.c);
        if !ack.is_cwnd_limited {
            return 0.0; // section 5.8; and section 4.2: t does not go on then
        }
        let epoch = match &mut self.epoch {
            Some(epoch) => {
                epoch.elapsed += since;
                epoch
            }
            none => none.insert(Epoch::new(c, cwnd, w_max)),
        };
        // Section 4.3: as quick as Reno once W_est is back where ssthresh was last set.
        let alpha = if epoch.w_est >= self.cwnd_prior {
            1.0
        } else {
            ALPHA
        };
        epoch.w_est += alpha * ack.segments / cwnd; // equation 4
        let t = seconds(tcp, epoch.elapsed as f64);
        if epoch.w_cubic(c, t) < epoch.w_est {
            // Section 4.3 sets cwnd to W_est; it does not say so of a cwnd that the target has led above it.
            return (epoch.w_est - cwnd).max(0.0);
        }
        // Sections 4.2, 4.4 and 4.5.
        let rtt = seconds(tcp, ack.srtt_eighths as f64 / 8.0);
        let target = epoch.w_cubic(c, t + rtt).clamp(cwnd, LARGEST_TARGET * cwnd);
        (target - cwnd) / cwnd
    }

    /// A loss with `cwnd` segments: sections 4.6 and 4.7.
    fn set_w_max(&mut self, cwnd: f64) {
        // Fast convergence: the last loss was at a larger window, so somebody else has come.
        let is_less = self.spec.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if is_less {
            cwnd * (1.0 + BETA) / 2.0
        } else {
            cwnd
        });
        self.cwnd_prior = cwnd;
        self.epoch = None;
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        let mss = tcp.mss as f64;
        let since = ack.ticks - std::mem::replace(&mut self.ticks, ack.ticks);
        self.growth(tcp, cwnd / mss, ack, since) * mss
    }

    /// As RFC 5681 has it (section 4.10), but nothing where the application leaves cwnd unused (section 5.8;
    /// those who cut cwnd, and not what is in flight, have to see to that: section 4.6).
    fn on_ack_in_slow_start(&mut self, _tcp: &TcpSpec, _cwnd: f64, growth: f64, ack: &Ack) -> f64 {
        self.ticks = ack.ticks;
        self.epoch = None;
        if ack.is_cwnd_limited { growth } else { 0.0 }
    }

    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        self.set_w_max(cwnd / tcp.mss as f64);
        BETA
    }

    /// Section 4.8.
    fn on_rto(&mut self) {
        self.w_max = None;
    }

    /// No time up to now counts (section 5.8).
    fn on_idle_end(&mut self, _tcp: &TcpSpec, ticks: u64) {
        self.ticks = ticks;
    }
}

/// Ticks of the host's clock as seconds.
fn seconds(tcp: &TcpSpec, ticks: f64) -> f64 {
    ticks * tcp.tick_ps as f64 / PS_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{CUBIC, MSS, RENO, Script};
    use crate::spec::{CongestionSpec, RecoverySpec};
    use skycell_units::SimTime;

    fn tcp() -> TcpSpec {
        TcpSpec {
            congestion: CongestionSpec::Cubic(CUBIC),
            ..crate::sender::tests::tcp()
        }
    }

    /// CUBIC and the window it grows, in segments, driven by hand; the clock ticks every 100 ms.
    struct Alone {
        tcp: TcpSpec,
        cubic: Cubic,
        cwnd: f64,
        ticks: u64,
    }

    impl Alone {
        /// After a loss with a window of `cwnd` segments.
        fn after_loss(cwnd: f64) -> Self {
            let mut cubic = Cubic::new(&CUBIC);
            cubic.set_w_max(cwnd);
            let cwnd = cwnd * BETA;
            Alone {
                tcp: tcp(),
                cubic,
                cwnd,
                ticks: 0,
            }
        }

        /// An ACK of one segment, `ticks` after the one before, with a smoothed RTT of 5 ticks.
        fn acked_after(&mut self, ticks: u64) -> f64 {
            self.acked(ticks, true)
        }

        fn acked(&mut self, ticks: u64, is_cwnd_limited: bool) -> f64 {
            self.ack(ticks, is_cwnd_limited, false)
        }

        fn acked_in_slow_start(&mut self, is_cwnd_limited: bool) -> f64 {
            self.ack(0, is_cwnd_limited, true)
        }

        fn ack(&mut self, ticks: u64, is_cwnd_limited: bool, is_in_slow_start: bool) -> f64 {
            self.ticks += ticks;
            let ack = Ack {
                ticks: self.ticks,
                srtt_eighths: 5 << 3,
                segments: 1.0,
                octets: MSS,
                reached: 0,
                next: 0,
                is_cwnd_limited,
            };
            self.cwnd += if is_in_slow_start {
                self.cubic.on_ack_in_slow_start(&tcp(), 1.0, 1.0, &ack)
            } else {
                let mss = self.tcp.mss as f64;
                self.cubic.on_ack(&self.tcp, self.cwnd * mss, &ack) / mss
            };
            self.cwnd
        }
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_cubic_function_goes_from_cwnd_epoch_to_w_max_in_k_seconds() {
        // W_max 100, cwnd_epoch 70: K = cbrt(30 / 0.4) = cbrt(75) = 4.217163326508746.
        let epoch = Epoch::new(0.4, 70.0, Some(100.0));
        // The cube root of 75 rounded to the nearest double, from 60 decimal digits.
        assert_eq!(epoch.k.to_bits(), 0x4010_de60_1024_fb88);
        for (seconds, window) in [
            (0.0, 70.0),
            (1.0, 86.680_763_835_129_88), // 0.4 (1 - K)^3 + 100
            (2.0, 95.640_335_686_638_76),
            (epoch.k, 100.0),
            (2.0 * epoch.k, 130.0),
        ] {
            assert!(is_near(epoch.w_cubic(0.4, seconds), window), "{seconds}");
        }
    }

    #[test]
    fn an_ack_adds_what_is_missing_to_the_target_of_a_round_trip_later_over_cwnd() {
        let mut s = Alone::after_loss(100.0);
        // t = 0: W_cubic(0) = 70, W_est = 70 + 9/17 / 70: Reno-friendly.
        let first = 70.0 + 9.0 / 17.0 / 70.0;
        assert!(is_near(s.acked_after(3), first));
        // t = 1 s, RTT 0.5 s: target = 0.4 (1.5 - K)^3 + 100 = 91.975 699.
        let target = 91.975_698_758_837;
        let second = s.acked_after(10);
        assert!((second - (first + (target - first) / first)).abs() < 1e-9);
        // t = 21 s: the target is far above 1.5 cwnd, so half a segment more.
        assert!(is_near(s.acked_after(200), second + 0.5));
    }

    #[test]
    fn cwnd_never_falls_to_a_target_below_it() {
        let mut s = Alone::after_loss(100.0);
        s.acked_after(1);
        s.cwnd = 98.0; // above W_cubic(0.1 + 0.5) = 81.07
        assert_eq!(s.acked_after(1), 98.0);
        // Nor to W_est in the Reno-friendly region: t = 0, W_est is at 70 and a bit.
        let mut s = Alone::after_loss(100.0);
        s.acked_after(1);
        s.cwnd = 75.0;
        assert_eq!(s.acked_after(0), 75.0);
    }

    #[test]
    fn a_small_window_grows_as_an_average_reno_and_as_reno_itself_from_the_last_loss_on() {
        // W_max 10, cwnd_epoch 7: K = 1.957 s. W_cubic stays below W_est, whose slope is 9/17 a window.
        let mut s = Alone::after_loss(10.0);
        let mut acks = 0;
        while s.cwnd < 8.0 {
            s.acked_after(0);
            acks += 1;
        }
        // (8^2 - 7^2) / 2 / (9/17) = 14.2: each ACK brings 9/17 / cwnd.
        assert_eq!(acks, 15);
        while s.cwnd < 10.0 {
            s.acked_after(0);
        }
        let before = s.cwnd;
        assert!(is_near(s.acked_after(0), before + 1.0 / before));
    }

    #[test]
    fn a_loss_at_a_smaller_window_than_the_last_lowers_w_max_further() {
        let mut cubic = Cubic::new(&CUBIC);
        cubic.set_w_max(100.0);
        assert_eq!(cubic.w_max, Some(100.0));
        cubic.set_w_max(80.0); // 80 * 1.7 / 2
        assert!(is_near(cubic.w_max.unwrap(), 68.0));
        cubic.set_w_max(70.0); // above 68
        assert_eq!(cubic.w_max, Some(70.0));
    }

    #[test]
    fn without_fast_convergence_w_max_is_the_window_of_every_loss() {
        let mut cubic = Cubic::new(&CubicSpec {
            fast_convergence: false,
            ..CUBIC
        });
        cubic.set_w_max(100.0);
        cubic.set_w_max(80.0);
        assert_eq!(cubic.w_max, Some(80.0));
    }

    #[test]
    fn c_says_how_steep_the_function_is() {
        // K = cbrt(30 / 3.75) = 2; W_cubic(1) = 3.75 (1 - 2)^3 + 100.
        let epoch = Epoch::new(3.75, 70.0, Some(100.0));
        assert_eq!((epoch.k, epoch.w_cubic(3.75, 1.0)), (2.0, 96.25));
    }

    #[test]
    fn where_two_segments_are_above_w_max_the_plateau_is_there() {
        // A loss with two segments after one with more: W_max = 1.7, and cwnd_epoch = 2.
        let epoch = Epoch::new(0.4, 2.0, Some(1.7));
        assert_eq!((epoch.plateau, epoch.k), (2.0, 0.0));
    }

    #[test]
    fn after_a_timeout_and_before_any_loss_the_plateau_is_where_congestion_avoidance_begins() {
        let mut timeout = Alone::after_loss(100.0);
        timeout.cubic.on_rto();
        let mut none = Alone {
            cubic: Cubic::new(&CUBIC),
            ..Alone::after_loss(100.0)
        };
        // K = 0, W_max = 50. Before any loss cwnd_prior is 50, too, so alpha = 1; after the timeout it is 100.
        for (s, alpha) in [(&mut timeout, 9.0 / 17.0), (&mut none, 1.0)] {
            s.cwnd = 50.0;
            let first = 50.0 + alpha / 50.0;
            assert!(is_near(s.acked_after(7), first));
            // t = 5 s: W_cubic(5.5) = 50 + 0.4 * 166.375 = 116.55, above 1.5 cwnd.
            assert!(is_near(s.acked_after(50), first + 0.5));
        }
    }

    #[test]
    fn a_loss_in_the_slow_start_after_a_timeout_is_no_sign_of_somebody_else() {
        let mut cubic = Cubic::new(&CUBIC);
        cubic.set_w_max(100.0);
        cubic.on_rto();
        cubic.set_w_max(40.0);
        assert_eq!(cubic.w_max, Some(40.0));
    }

    #[test]
    fn what_the_application_leaves_unused_neither_counts_as_time_nor_grows_the_window() {
        let mut busy = Alone::after_loss(100.0);
        let mut idle = Alone::after_loss(100.0);
        for s in [&mut busy, &mut idle] {
            s.acked_after(0);
            s.acked_after(5);
        }
        let before = idle.cwnd;
        assert_eq!(idle.acked(40, false), before);
        assert_eq!(idle.acked_after(5), busy.acked_after(5));
        idle.ticks += 90;
        idle.cubic.on_idle_end(&idle.tcp, idle.ticks);
        assert_eq!(idle.acked_after(5), busy.acked_after(5));
        let before = idle.cwnd;
        assert_eq!(idle.acked_in_slow_start(false), before);
    }

    #[test]
    fn slow_start_ends_the_stage_and_keeps_w_max() {
        let mut s = Alone::after_loss(100.0);
        s.acked_after(0);
        s.cwnd = 59.0;
        assert_eq!(s.acked_in_slow_start(true), 60.0);
        s.acked_after(30);
        let epoch = s.cubic.epoch.as_ref().unwrap();
        assert_eq!((epoch.elapsed, epoch.plateau), (0, 100.0));
        assert!(is_near(epoch.k, 4.641_588_833_612_779)); // cbrt(40 / 0.4)
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_two_segments_at_least() {
        for (window, left) in [(10, 7.0), (2, 2.0)] {
            let mut s = Script::established(tcp(), window);
            s.dup_acks(0, 3).expect_window(left, left);
            let mut s = Script::established(tcp(), window);
            s.timeout().expect_window(1.0, left);
        }
        let reno = TcpSpec {
            recovery: RecoverySpec::Reno(RENO),
            ..tcp()
        };
        let mut s = Script::established(reno, 10);
        s.dup_acks(0, 3).expect_window(10.0, 7.0); // 7 + 3
        s.acked(10).expect_window(7.0, 7.0);
    }

    #[test]
    fn a_recovery_is_followed_by_growth_from_the_time_of_its_first_ack_on() {
        let mut s = Script::established(tcp(), 100);
        s.at_millis(600).acked(1); // the round trip is 6 ticks, counted as 7
        s.dup_acks(1, 97).at_millis(1_200).acked(110);
        let w_max = 100.01; // 100 + 1 / 100: no loss yet, so alpha = 1
        assert!(is_near(s.sender.cwnd() / 1e3, 0.7 * w_max));
        s.at_millis(1_800).acked(111);
        // The stage begins at t = 0, Reno-friendly. Its second ACK comes at t = 3 s; the samples of 7 and
        // 6 ticks so far make srtt 55 eighths of a tick, 0.6875 s.
        let first = 70.007 + 9.0 / 17.0 / 70.007;
        assert!(is_near(s.sender.cwnd() / 1e3, first));
        s.at_millis(4_800).acked(112);
        // K = cbrt(30.003 / 0.4) = 4.217 304; target = 100.01 - 0.4 * 0.529 804^3.
        let target = 99.950_515_279;
        let second = first + (target - first) / first;
        assert!(is_near(s.sender.cwnd() / 1e3, second));
    }

    #[test]
    fn after_a_timeout_slow_start_leads_to_a_stage_with_its_plateau_where_it_begins() {
        let mut s = Script::established(tcp(), 10);
        s.at_millis(600).acked(1);
        s.timeout().at_millis(6_000);
        s.acked(11); // all had arrived
        (12..=17).for_each(|segment| {
            s.acked(segment);
        });
        // ssthresh is 7.07: slow start to 8 segments, and there an average Reno's 9/17 / 8, as W_max = 8 and
        // cwnd_prior = 10.1.
        s.expect_window(8.0, 7.07);
        let began = s.now;
        s.acked(18);
        let first = 8.0 + 9.0 / 17.0 / 8.0;
        assert!(is_near(s.sender.cwnd() / 1e3, first));
        // 20 s later the target is 0.4 * 20^3 + 8, so half a segment more.
        s.now = began + SimTime::from_millis(20_000);
        s.acked(19);
        assert!(is_near(s.sender.cwnd() / 1e3, first + 0.5));
    }

    #[test]
    fn the_slow_start_after_idling_leads_to_another_stage() {
        let restarting = TcpSpec {
            initial_ssthresh: 4 * MSS,
            idle_restart: true,
            ..tcp()
        };
        let mut s = Script::limited(restarting, 2, 6);
        s.at_millis(100).acked(1).acked(2).acked(3);
        s.expect_window(4.25, 4.0);
        s.hand_over(8).at_millis(3_100).acked(4);
        s.expect_window(4.75, 4.0); // t = 3 s: a target of 0.4 * 3^3 + 4
        s.acked(8)
            .acked(12)
            .acked(14)
            .at_millis(90_000)
            .hand_over(20);
        s.expect_window(2.0, 4.0);
        s.acked(15).acked(16).acked(17);
        s.expect_window(4.25, 4.0);
    }

    #[test]
    fn an_ack_of_two_segments_counts_twice_and_windows_have_fractions() {
        let mut s = Script::established(tcp(), 7);
        s.acked(2);
        assert!(is_near(s.sender.cwnd() / 1e3, 7.0 + 2.0 / 7.0));
    }

    #[test]
    fn a_window_that_the_application_does_not_fill_does_not_grow() {
        let grown = |congestion: &CongestionSpec, initial_ssthresh, segments| {
            let limited = TcpSpec {
                congestion: congestion.clone(),
                initial_ssthresh,
                ..tcp()
            };
            let mut s = Script::limited(limited, 4, segments);
            s.acked(1).sender.cwnd()
        };
        let (cubic, reno) = (tcp().congestion, crate::sender::tests::tcp().congestion);
        for (ssthresh, filled) in [(2 * MSS, 4_250.0), (20 * MSS, 5_000.0)] {
            assert_eq!(grown(&cubic, ssthresh, 3), 4_000.0);
            assert_eq!(grown(&cubic, ssthresh, 4), filled);
            assert_eq!(grown(&reno, ssthresh, 3), filled);
        }
    }

    #[test]
    fn idling_is_no_time_of_the_stage() {
        let cwnd_after = |idle_ms: u64| {
            let mut s = Script::limited(
                TcpSpec {
                    initial_ssthresh: 2 * MSS,
                    ..tcp()
                },
                4,
                8,
            );
            for k in 1..=8 {
                s.at_millis(100 + k).acked(k);
            }
            s.at_millis(110 + idle_ms).hand_over(8);
            s.at_millis(220 + idle_ms).acked(9);
            s.sender.cwnd()
        };
        assert_eq!(cwnd_after(0), cwnd_after(50_000));
    }
}
