//! CUBIC as Linux computes it: whole segments, a count of acknowledged ones, times in jiffies.

use super::reno::Credit;
use super::{Ack, Congestion, CongestionControl, CongestionRule, Sample};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::Flag};
use skycell_units::SimTime;

/// CUBIC in whole segments, 5 % a round trip before the first loss.
///
/// Source: Linux 6.x tcp_cubic.c: `bictcp_update`, `cubictcp_recalc_ssthresh`; `tcp_cong_avoid_ai`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct LinuxCubicSpec {
    /// A loss at a smaller window than the last one lowers W_max further, for the sake of flows that begin.
    #[param(default = true, source = "Linux tcp_cubic.c: fast_convergence")]
    pub fast_convergence: Flag,
    /// Growth is no slower than that of a Reno with the same average window.
    #[param(default = true, source = "Linux tcp_cubic.c: tcp_friendliness")]
    pub tcp_friendliness: Flag,
}

impl CongestionRule for LinuxCubicSpec {
    fn state(&self) -> Option<Congestion> {
        Some(Congestion::LinuxCubic(LinuxCubic::new(self)))
    }

    fn is_in_segments(&self) -> bool {
        true
    }
}

/// beta over BICTCP_BETA_SCALE: what a loss leaves.
const BETA: (u64, u64) = (717, 1_024);
/// beta_scale: eighths of cwnd that are acknowledged for a segment of tcp_cwnd, 8 (1024 + beta) / 3 / (1024 - beta).
const BETA_SCALE: u64 = 8 * (BETA.1 + BETA.0) / 3 / (BETA.1 - BETA.0);
/// cube_rtt_scale: C as 1024ths, bic_scale * 10.
const CUBE_RTT_SCALE: u64 = 41 * 10;
/// cube_factor: 2^40 / cube_rtt_scale.
const CUBE_FACTOR: u64 = (1 << 40) / CUBE_RTT_SCALE;
/// Jiffies a second, HZ: what kernels for desktops and servers have had since 6.14.
const HZ: u64 = 1_000;
const JIFFY_PS: u64 = SimTime::from_millis(1_000 / HZ).0;
/// Units of a second in which K is: 2^BICTCP_HZ.
const UNITS: u64 = 1_024;
/// Segments acknowledged for one of growth, at most, before the first loss.
const MOST_BEFORE_LOSS: u64 = 20;

/// The state of Linux's CUBIC, by the names of struct bictcp. Windows in segments, times in
/// jiffies.
#[derive(Clone, Debug)]
pub(crate) struct LinuxCubic {
    spec: LinuxCubicSpec,
    /// Segments to acknowledge for one of growth.
    cnt: u64,
    /// 0 before the first loss and after a timeout.
    last_max_cwnd: u64,
    last_cwnd: u64,
    last_time: u64,
    origin_point: u64,
    /// K, in units.
    k: u64,
    delay_min_ps: Option<u64>,
    epoch_start: Option<u64>,
    ack_cnt: u64,
    tcp_cwnd: u64,
    credit: Credit,
    /// When the last ACK came.
    last_ack: u64,
}

impl LinuxCubic {
    pub(crate) fn new(spec: &LinuxCubicSpec) -> Self {
        LinuxCubic {
            spec: *spec,
            cnt: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            origin_point: 0,
            k: 0,
            delay_min_ps: None,
            epoch_start: None,
            ack_cnt: 0,
            tcp_cwnd: 0,
            credit: Credit::default(),
            last_ack: 0,
        }
    }

    /// bictcp_update.
    fn update(&mut self, cwnd: u64, acked: u64, now: u64) {
        self.ack_cnt += acked;
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        let is_of_this_jiffy = self.epoch_start.is_some() && now == self.last_time;
        if !is_of_this_jiffy {
            self.last_cwnd = cwnd;
            self.last_time = now;
            self.cnt = self.cubic_cnt(cwnd, acked, now);
        }
        if self.spec.tcp_friendliness {
            self.cnt = self.cnt.min(self.friendly_cnt(cwnd));
        }
        // A segment for every two at most: 1.5 windows a round trip.
        self.cnt = self.cnt.max(2);
    }

    fn cubic_cnt(&mut self, cwnd: u64, acked: u64, now: u64) -> u64 {
        let began = match self.epoch_start {
            Some(began) => began,
            None => self.begin_epoch(cwnd, acked, now),
        };
        let delay_min = self.delay_min_ps.unwrap_or(0).div_ceil(JIFFY_PS);
        let t = (now - began + delay_min) * UNITS / HZ;
        let offs = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(CUBE_RTT_SCALE) * offs * offs * offs) >> 40) as u64;
        let target = if t < self.k {
            self.origin_point.saturating_sub(delta)
        } else {
            self.origin_point + delta
        };
        let cnt = match target.checked_sub(cwnd) {
            Some(missing) if missing > 0 => cwnd / missing,
            _ => 100 * cwnd,
        };
        if self.last_max_cwnd == 0 {
            cnt.min(MOST_BEFORE_LOSS)
        } else {
            cnt
        }
    }

    fn begin_epoch(&mut self, cwnd: u64, acked: u64, now: u64) -> u64 {
        self.ack_cnt = acked;
        self.tcp_cwnd = cwnd;
        // Differs: the kernel's cube root errs by up to 0.2 %.
        let missing = self.last_max_cwnd.saturating_sub(cwnd);
        self.k = (libm::cbrt((CUBE_FACTOR * missing) as f64) + 0.5) as u64;
        self.origin_point = self.last_max_cwnd.max(cwnd);
        *self.epoch_start.insert(now)
    }

    /// Segments to acknowledge for one of growth, so that cwnd follows tcp_cwnd.
    fn friendly_cnt(&mut self, cwnd: u64) -> u64 {
        let for_one = ((cwnd * BETA_SCALE) >> 3).max(1);
        // One at a time where as many are left: more than a whole number of them makes the next.
        let steps = self.ack_cnt.saturating_sub(1) / for_one;
        self.ack_cnt -= steps * for_one;
        self.tcp_cwnd += steps;
        match self.tcp_cwnd.checked_sub(cwnd) {
            Some(missing) if missing > 0 => cwnd / missing,
            _ => u64::MAX,
        }
    }
}

/// Jiffies at a tick of the host's clock.
fn jiffies(tcp: &TcpSpec, ticks: u64) -> u64 {
    ticks * tcp.tick_ps / JIFFY_PS
}

impl CongestionControl for LinuxCubic {
    fn on_sample(&mut self, sample: &Sample) {
        // cubictcp_acked: what follows a recovery says nothing of the path.
        let now = sample.now_ps / JIFFY_PS;
        if self.epoch_start.is_some_and(|began| now - began < HZ) {
            return;
        }
        let least = self
            .delay_min_ps
            .map_or(sample.rtt_ps, |min| min.min(sample.rtt_ps));
        self.delay_min_ps = Some(least);
    }

    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        self.last_ack = jiffies(tcp, ack.ticks);
        if !ack.is_cwnd_limited {
            return 0.0;
        }
        let segments = cwnd as u64 / tcp.mss;
        let acked = ack.segments.ceil() as u64;
        self.update(segments, acked, self.last_ack);
        (self.credit.grow(acked, self.cnt) * tcp.mss) as f64
    }

    fn on_ack_in_slow_start(&mut self, _tcp: &TcpSpec, _cwnd: f64, growth: f64, ack: &Ack) -> f64 {
        if ack.is_cwnd_limited { growth } else { 0.0 }
    }

    /// cubictcp_recalc_ssthresh.
    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        let segments = cwnd as u64 / tcp.mss;
        self.epoch_start = None;
        self.credit.forget();
        self.last_max_cwnd = if segments < self.last_max_cwnd && self.spec.fast_convergence {
            segments * (BETA.1 + BETA.0) / (2 * BETA.1)
        } else {
            segments
        };
        BETA.0 as f64 / BETA.1 as f64
    }

    /// bictcp_reset (cubictcp_state).
    fn on_rto(&mut self) {
        *self = LinuxCubic::new(&self.spec);
    }

    /// cubictcp_cwnd_event: the epoch begins later by as much. Differs: idling counts from the last ACK, and not from the last
    /// segment sent.
    fn on_idle_end(&mut self, tcp: &TcpSpec, ticks: u64) {
        let now = jiffies(tcp, ticks);
        if let Some(began) = &mut self.epoch_start {
            *began = (*began + now - self.last_ack).min(now);
        }
        self.last_ack = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{LINUX_CUBIC, MSS, tcp};

    /// The rule and the window it grows, in segments; the clock ticks every microsecond.
    struct Alone {
        tcp: TcpSpec,
        cubic: LinuxCubic,
        cwnd: u64,
        ms: u64,
    }

    impl Alone {
        /// With a window of `cwnd`, a least round trip of `rtt_ms`, 10 s after the begin.
        fn new(cwnd: u64, rtt_ms: u64) -> Self {
            let mut alone = Alone {
                tcp: TcpSpec {
                    tick_ps: 1_000_000,
                    ..tcp()
                },
                cubic: LinuxCubic::new(&LINUX_CUBIC),
                cwnd,
                ms: 10_000,
            };
            alone.sample(rtt_ms);
            alone
        }

        fn sample(&mut self, rtt_ms: u64) {
            self.cubic.on_sample(&Sample {
                rtt_ps: SimTime::from_millis(rtt_ms).0,
                srtt_ps: SimTime::from_millis(rtt_ms).0,
                now_ps: SimTime::from_millis(self.ms).0,
                reached: 0,
                next: 0,
            });
        }

        fn lose(mut self) -> Self {
            let cwnd = (self.cwnd * MSS) as f64;
            self.cwnd = (cwnd * self.cubic.on_loss(&self.tcp, cwnd)) as u64 / MSS;
            self
        }

        fn ack(&mut self, segments: u64, is_cwnd_limited: bool) -> u64 {
            let ack = Ack {
                ticks: self.ms * 1_000,
                segments: segments as f64,
                octets: segments * MSS,
                is_cwnd_limited,
                ..Ack::default()
            };
            let growth = self.cubic.on_ack(&self.tcp, (self.cwnd * MSS) as f64, &ack);
            self.cwnd += growth as u64 / MSS;
            self.cwnd
        }

        /// ACKs of a segment until cwnd has grown.
        fn acks_to_grow(&mut self) -> u64 {
            let before = self.cwnd;
            (1..)
                .find(|_| self.ack(1, true) > before)
                .expect("it grows")
        }
    }

    #[test]
    fn before_the_first_loss_twenty_segments_are_acknowledged_for_one() {
        let mut s = Alone::new(100, 100);
        assert_eq!(s.acks_to_grow(), 20);
        assert_eq!(s.acks_to_grow(), 20);
        // Ten at once count as ten.
        s.ack(10, true);
        assert_eq!(s.ack(10, true), 103);
    }

    #[test]
    fn after_a_loss_the_cubic_function_says_how_many() {
        // 100 * 717 / 1024 = 70. K = cbrt(2^40 / 410 * 30) = 4317 units of 1/1024 s. t = 100 ms = 102 units:
        // 410 * 4215^3 / 2^40 = 27, so the target is 73 and cnt = 70 / 3.
        let mut s = Alone::new(100, 100).lose();
        assert_eq!(s.cwnd, 70);
        assert_eq!(s.acks_to_grow(), 23);
        assert_eq!(s.cubic.k, 4_317);
        // 2 s later: t = 2 150 units, 410 * 2167^3 / 2^40 = 3, target 97: 71 / 26.
        s.ms += 2_000;
        assert_eq!(s.ack(1, true), 71);
        assert_eq!(s.cubic.cnt, 2);
        // 10 s later cwnd still grows by no more than a segment for two.
        s.ms += 10_000;
        s.ack(1, true);
        assert_eq!(s.cubic.cnt, 2);
    }

    #[test]
    fn the_count_stays_for_a_thirty_second_of_a_second_where_cwnd_does() {
        let mut s = Alone::new(100, 100).lose();
        s.ack(1, true);
        s.ms += 31;
        s.ack(1, true);
        assert_eq!(s.cubic.cnt, 23);
        // At 132 ms t = 135 units: 410 * 4183^3 / 2^40 = 27 still; at 400 ms 409: 410 * 3807^3 ... = 22, so 99 - 21.
        s.ms += 1;
        s.ack(1, true);
        assert_eq!(s.cubic.last_time, s.ms);
        s.ms += 300;
        s.ack(1, true);
        // t = 432 ms = 442 units: 410 * 3876^3 / 2^40 = 21: 70 / (79 - 70).
        assert_eq!(s.cubic.cnt, 7);
    }

    #[test]
    fn where_the_cubic_function_is_flat_growth_is_that_of_an_average_reno() {
        // After losses at 143 and at 100 W_max is 85; a window of 100 lies above: K = 0, and the target is 100.
        // (100 * 15) / 8 = 187 segments make one of tcp_cwnd; the 188th, later than 31 ms, finds it.
        for (tcp_friendliness, grown) in [(true, 101), (false, 100)] {
            let mut s = Alone::new(143, 10).lose().lose();
            s.cubic.spec.tcp_friendliness = tcp_friendliness;
            s.cwnd = 100;
            (0..187).for_each(|_| {
                s.ack(1, true);
            });
            assert_eq!((s.cwnd, s.cubic.cnt), (100, 10_000));
            s.ms += 32;
            assert_eq!(s.ack(1, true), grown);
        }
    }

    #[test]
    fn a_loss_at_a_smaller_window_than_the_last_lowers_w_max_further() {
        for (fast_convergence, w_max) in [(true, 68), (false, 80)] {
            let mut s = Alone::new(100, 100).lose();
            s.cubic.spec.fast_convergence = fast_convergence;
            s.cwnd = 80;
            assert_eq!(s.lose().cubic.last_max_cwnd, w_max); // 80 * 1741 / 2048
        }
    }

    #[test]
    fn a_timeout_forgets_all_of_it() {
        let mut s = Alone::new(100, 100).lose();
        s.ack(1, true);
        s.cubic.on_rto();
        assert_eq!((s.cubic.last_max_cwnd, s.cubic.delay_min_ps), (0, None));
        assert_eq!(s.acks_to_grow(), 20);
    }

    #[test]
    fn what_is_not_used_does_not_grow_and_idling_is_no_time() {
        let mut busy = Alone::new(100, 100).lose();
        assert_eq!(busy.ack(1_000, false), 70);
        let mut idle = Alone::new(100, 100).lose();
        for s in [&mut busy, &mut idle] {
            s.ack(1, true);
        }
        idle.ms += 50_000;
        idle.cubic.on_idle_end(&idle.tcp, idle.ms * 1_000);
        for s in [&mut busy, &mut idle] {
            s.ms += 1_000;
            s.ack(1, true);
        }
        assert_eq!(busy.cubic.cnt, idle.cubic.cnt);
        assert!(busy.cubic.cnt < 23);
    }

    #[test]
    fn round_trips_of_the_first_second_of_an_epoch_are_no_least_ones() {
        let mut s = Alone::new(100, 100).lose();
        s.ack(1, true);
        s.sample(50);
        assert_eq!(s.cubic.delay_min_ps, Some(SimTime::from_millis(100).0));
        s.ms += 1_000;
        s.sample(50);
        assert_eq!(s.cubic.delay_min_ps, Some(SimTime::from_millis(50).0));
    }
}
