//! Vegas: a few segments of its own in the queue, by the length of round trips.

use super::reno::growth_by_octets;
use super::{Ack, Congestion, CongestionControl, CongestionRule, HALF, Sample};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::SegmentCount};

/// By the length of round trips: a few segments of its own, alpha to beta, in the queue.
///
/// Source: Brakmo and Peterson 1995; Linux 6.x tcp_vegas.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct VegasSpec {
    /// Segments in the queue below which cwnd grows.
    #[param(
        default = 2,
        symbol = "alpha",
        at_most = "beta",
        source = "Linux tcp_vegas.c"
    )]
    pub alpha: SegmentCount,
    /// Segments in the queue above which it shrinks.
    #[param(default = 4, symbol = "beta", source = "Linux tcp_vegas.c")]
    pub beta: SegmentCount,
    /// Segments in the queue above which slow start ends.
    #[param(default = 1, symbol = "gamma", source = "Linux tcp_vegas.c")]
    pub gamma: SegmentCount,
}

impl CongestionRule for VegasSpec {
    fn state(&self) -> Option<Congestion> {
        Some(Congestion::Vegas(Vegas::new(self)))
    }

    fn is_in_segments(&self) -> bool {
        true
    }

    fn needs_round_trips(&self) -> bool {
        true
    }
}

/// The state of Vegas, by the names of struct vegas. Windows in segments.
#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    spec: VegasSpec,
    /// beg_snd_nxt: a round ends with the ACK beyond.
    beg_snd_nxt: u64,
    /// Round trips of this round.
    cnt_rtt: u32,
    /// The least of them, and the least of all; picoseconds.
    min_rtt_ps: u64,
    base_rtt_ps: u64,
    /// True if the next ACK begins a round (vegas_enable).
    begins: bool,
    /// Effect of the end of a round on ssthresh, if this ACK has ended one.
    end: Option<End>,
}

/// How a round has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// cwnd was cut: slow start does not go on.
    Cut,
    /// It was not.
    Uncut,
}

/// Round trips above which the least of a round is believed.
const FEW: u32 = 2;
/// The part of cwnd that ssthresh is not below (tcp_current_ssthresh).
const LEAST_SSTHRESH: f64 = 0.75;
/// Segments that a round leaves at least.
const LEAST_CWND: f64 = 2.0;

impl Vegas {
    pub(crate) fn new(spec: &VegasSpec) -> Self {
        Vegas {
            spec: *spec,
            beg_snd_nxt: 0,
            cnt_rtt: 0,
            min_rtt_ps: u64::MAX,
            base_rtt_ps: u64::MAX,
            begins: true,
            end: None,
        }
    }

    fn begin_round(&mut self, ack: &Ack) {
        self.begins = false;
        self.beg_snd_nxt = ack.next;
        self.cnt_rtt = 0;
        self.min_rtt_ps = u64::MAX;
    }

    /// Segments that a window of `cwnd` has in the queue.
    fn queued(&self, cwnd: u64) -> u64 {
        let more = self.min_rtt_ps - self.base_rtt_ps;
        (u128::from(cwnd) * u128::from(more) / u128::from(self.base_rtt_ps.max(1))) as u64
    }

    /// tcp_vegas_cong_avoid at the end of a round, which `cwnd` octets made: what is added, in slow start `growth`.
    fn adjust(&mut self, tcp: &TcpSpec, cwnd: f64, growth: Option<f64>) -> f64 {
        let mss = tcp.mss as f64;
        let segments = cwnd as u64 / tcp.mss;
        let diff = self.queued(segments);
        self.end = Some(End::Uncut);
        let added = match growth {
            Some(_) if diff > self.spec.gamma.into() => {
                let target = u128::from(segments) * u128::from(self.base_rtt_ps)
                    / u128::from(self.min_rtt_ps.max(1));
                let left = (target as u64 + 1).min(segments);
                self.end = Some(End::Cut);
                (left * tcp.mss) as f64 - cwnd
            }
            Some(growth) => growth,
            None if diff > self.spec.beta.into() => {
                self.end = Some(End::Cut);
                -mss
            }
            None if diff < self.spec.alpha.into() => mss,
            None => 0.0,
        };
        added.max((LEAST_CWND * mss - cwnd).min(0.0))
    }

    /// Adds the growth of an ACK, in slow start `growth`.
    fn grow(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack, growth: Option<f64>) -> f64 {
        if self.begins {
            self.begin_round(ack);
        }
        if ack.reached <= self.beg_snd_nxt {
            return growth.unwrap_or(0.0);
        }
        let added = if self.cnt_rtt > FEW {
            self.adjust(tcp, cwnd, growth)
        } else {
            growth.unwrap_or_else(|| growth_by_octets(tcp, cwnd, ack))
        };
        self.begin_round(ack);
        added
    }
}

impl CongestionControl for Vegas {
    fn on_sample(&mut self, sample: &Sample) {
        // tcp_vegas_pkts_acked; a clock that has not ticked has measured next to nothing.
        let rtt = sample.rtt_ps.max(1);
        self.base_rtt_ps = self.base_rtt_ps.min(rtt);
        self.min_rtt_ps = self.min_rtt_ps.min(rtt);
        self.cnt_rtt += 1;
    }

    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        self.grow(tcp, cwnd, ack, None)
    }

    fn on_ack_in_slow_start(&mut self, tcp: &TcpSpec, cwnd: f64, growth: f64, ack: &Ack) -> f64 {
        self.grow(tcp, cwnd, ack, Some(growth))
    }

    /// tcp_vegas_ssthresh; tcp_current_ssthresh.
    fn ssthresh(&mut self, ssthresh: f64, cwnd: f64) -> f64 {
        let least = match self.end.take() {
            None => return ssthresh,
            Some(End::Cut) => ssthresh.min(cwnd),
            Some(End::Uncut) => ssthresh,
        };
        least.max(LEAST_SSTHRESH * cwnd)
    }

    fn on_loss(&mut self, _tcp: &TcpSpec, _cwnd: f64) -> f64 {
        self.begins = true;
        HALF
    }

    /// tcp_vegas_cwnd_event: what was known of the path may no longer hold.
    fn on_idle_end(&mut self, _tcp: &TcpSpec, _ticks: u64) {
        *self = Vegas::new(&self.spec);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{MSS, VEGAS, tcp};
    use crate::window::Window;

    const MS: u64 = 1_000_000_000;

    /// A window over a path that holds `holds` segments in its 100 ms and queues the rest, after `rounds` rounds: cwnd and
    /// what is queued, segments.
    fn alone(
        spec: VegasSpec,
        initial: u64,
        initial_ssthresh: u64,
        holds: u64,
        rounds: u64,
    ) -> (u64, u64) {
        let tcp = TcpSpec {
            congestion: crate::spec::CongestionSpec::Vegas(spec),
            initial_cwnd: initial * MSS,
            initial_ssthresh: initial_ssthresh * MSS,
            ..tcp()
        };
        let mut window = Window::new(&tcp);
        let mut acked = 0;
        for _ in 0..rounds {
            let cwnd = window.octets() / MSS;
            let rtt_ps = 100 * MS * cwnd.max(holds) / holds;
            for _ in 0..cwnd {
                acked += MSS;
                let next = acked + window.octets() - MSS;
                window.on_sample(
                    &tcp,
                    &Sample {
                        rtt_ps,
                        srtt_ps: rtt_ps,
                        now_ps: 0,
                        reached: acked,
                        next,
                    },
                );
                window.on_ack(&tcp, |_| Ack {
                    octets: MSS,
                    segments: 1.0,
                    reached: acked,
                    next,
                    ..Ack::default()
                });
            }
        }
        let cwnd = window.octets() / MSS;
        (cwnd, cwnd.saturating_sub(holds))
    }

    #[test]
    fn alone_it_keeps_alpha_to_beta_segments_in_the_queue() {
        for holds in [10, 50, 200] {
            // From below, and out of slow start.
            for (initial, ssthresh) in [(holds / 2, 2), (4, 1_000)] {
                let (cwnd, queued) = alone(VEGAS, initial, ssthresh, holds, 400);
                assert!((2..=5).contains(&queued), "{queued} of {cwnd} over {holds}");
            }
        }
    }

    #[test]
    fn slow_start_ends_with_more_than_gamma_in_the_queue() {
        // 4, 8, ... 64 over a path of 50: the round of 64 takes 128 ms of 100, and has doubled cwnd as it ends: 128 x 100 /
        // 128 + 1 = 101.
        assert_eq!(alone(VEGAS, 4, 1_000, 50, 5).0, 128);
        assert_eq!(alone(VEGAS, 4, 1_000, 50, 6).0, 101);
    }

    #[test]
    fn a_queue_that_was_there_from_the_first_is_taken_for_the_path() {
        // 20 over a path of 10: no round trip below 200 ms is ever seen, so that two to four more wait behind the ten.
        let (_, queued) = alone(VEGAS, 20, 2, 10, 400);
        assert!((12..=15).contains(&queued), "{queued}");
    }

    #[test]
    fn a_loss_halves_the_window_and_begins_a_round() {
        let mut vegas = Vegas::new(&VEGAS);
        vegas.begins = false;
        assert_eq!(vegas.on_loss(&tcp(), 10_000.0), HALF);
        assert!(vegas.begins);
    }

    #[test]
    fn other_thresholds_keep_another_queue() {
        let spec = VegasSpec {
            alpha: 10,
            beta: 12,
            gamma: 10,
        };
        let (_, queued) = alone(spec, 20, 2, 50, 400);
        assert!((10..=13).contains(&queued), "{queued}");
    }
}
