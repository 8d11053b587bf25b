//! HighSpeed TCP: large windows grow by more and are cut by less.

use super::{Ack, Congestion, CongestionControl, CongestionRule, HALF};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// Reno up to 38 segments; above, growth and cut depend on the window.
///
/// Source: RFC 3649 section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct HighSpeedSpec {}

impl CongestionRule for HighSpeedSpec {
    fn state(&self) -> Option<Congestion> {
        Some(Congestion::HighSpeed(HighSpeed))
    }
}

/// Low_Window and Low_P: the point from which the response function leaves Reno's, segments.
const LOW: (f64, f64) = (38.0, 1e-3);
/// High_Window and High_P: another point of it.
const HIGH: (f64, f64) = (83_000.0, 1e-7);
/// High_Decrease: what a loss takes of High_Window.
const HIGH_DECREASE: f64 = 0.1;

#[derive(Clone, Copy, Debug)]
pub(crate) struct HighSpeed;

/// How far a window of `w` segments is from Low_Window to High_Window, by its logarithm.
fn height(w: f64) -> f64 {
    libm::log(w / LOW.0) / libm::log(HIGH.0 / LOW.0)
}

/// b(w): the part that a loss takes.
fn decrease(w: f64) -> f64 {
    if w <= LOW.0 {
        return HALF;
    }
    (HIGH_DECREASE - HALF) * height(w) + HALF
}

/// a(w): segments that a round trip adds. Differs: not in whole segments, as the table of appendix B has it.
fn increase(w: f64) -> f64 {
    if w <= LOW.0 {
        return 1.0;
    }
    let p = LOW.1 * libm::pow(HIGH.1 / LOW.1, height(w));
    let b = decrease(w);
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        let mss = tcp.mss as f64;
        increase(cwnd / mss) * mss * ack.octets as f64 / cwnd
    }

    fn on_loss(&mut self, tcp: &TcpSpec, cwnd: f64) -> f64 {
        1.0 - decrease(cwnd / tcp.mss as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::{MSS, tcp};

    #[test]
    fn growth_and_cut_are_those_of_the_table() {
        // RFC 3649 appendix B: from which window on a round trip adds so many segments, and what a loss takes there.
        let table = [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (663.0, 6.0, 0.35),
            (851.0, 7.0, 0.34),
            (1_529.0, 10.0, 0.31),
            (3_778.0, 17.0, 0.26),
            (7_558.0, 25.0, 0.22),
            (11_358.0, 31.0, 0.20),
            (19_965.0, 41.0, 0.17),
        ];
        for (w, a, b) in table {
            // The table goes by 0.078 / w^1.2 for the response function.
            let found = increase(w);
            assert!((found / a - 1.0).abs() < 0.03, "a({w}) = {found}");
            assert!((decrease(w) - b).abs() < 0.006, "b({w}) = {}", decrease(w));
        }
        assert!((decrease(HIGH.0) - HIGH_DECREASE).abs() < 1e-12);
    }

    /// Mean over rounds of a window that loses one segment of `distance`, segments.
    fn mean_window(distance: u64) -> f64 {
        let tcp = tcp();
        let mss = MSS as f64;
        let mut rule = HighSpeed;
        let mut cwnd = 100.0 * mss;
        let (mut rounds, mut segments) = (0.0, 0.0);
        for k in 1..=60 * distance {
            if k > 30 * distance {
                rounds += mss / cwnd;
                segments += 1.0;
            }
            if k % distance == 0 {
                cwnd *= rule.on_loss(&tcp, cwnd);
                continue;
            }
            let ack = Ack {
                octets: MSS,
                ..Ack::default()
            };
            cwnd += rule.on_ack(&tcp, cwnd, &ack);
        }
        segments / rounds
    }

    #[test]
    fn the_mean_window_is_that_of_the_response_function() {
        // Section 5: w = 0.12 / p^0.835.
        for distance in [3_000, 10_000, 100_000] {
            let p = 1.0 / distance as f64;
            let expected = 0.12 / libm::pow(p, 0.835);
            let ratio = mean_window(distance) / expected;
            assert!((0.93..1.07).contains(&ratio), "{ratio} at {distance}");
        }
    }
}
