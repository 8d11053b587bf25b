//! Queue control functions: which part of the capacity to aim at, by the queueing delay.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{AtLeastOne, FromZeroToOne, Interval, PartOfOne},
};

/// f(Q): above 1 while the queueing delay is short, below 1 while it is long.
///
/// Vandalore, Jain, Goyal, Fahmy: Design and Analysis of Queue Control Functions for Explicit Rate Switch
/// Schemes, arXiv cs/9809041, 1998; the hyperbola as in ATM Forum 96-1172, section 6. Q0 and Q1 are T0
/// and T1 times the capacity. The copies at hand show the functions in words and figures, the hyperbola
/// also as a formula (Kalyanaraman's thesis, 1997, section 6.19). Of the inverse hyperbola they say that it
/// begins at Q0, smooth, and follows a hyperbola up to there; we take the same curve turned about that point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct QueueControlSpec {
    /// Form of the function.
    #[param(
        key = "queue_control",
        word,
        default = "hyperbolic",
        source = "ATM Forum 96-1172, section 6"
    )]
    pub curve: QueueCurve,
    /// Queueing delay that is aimed at.
    #[param(
        key = "target_delay",
        default = "1.5 ms",
        symbol = "T0",
        source = "choice: the copies at hand do not say it"
    )]
    pub target_ps: Interval,
    /// Queueing delay up to which the function stays at 1; at least target_delay.
    #[param(
        key = "upper_delay",
        default = "3 ms",
        symbol = "T1",
        source = "choice: twice T0",
        when(queue_control = ["linear", "step"])
    )]
    pub upper_ps: Interval,
    /// Curvature beyond Q0; 1 for none.
    #[param(default = 1.15, symbol = "a", source = CURVATURE, when(queue_control = ["hyperbolic", "inverse_hyperbolic"]))]
    pub a: AtLeastOne,
    /// The value at an empty queue, from which the curve falls to 1 at Q0.
    #[param(default = 1.05, symbol = "b", source = CURVATURE, when(queue_control = ["hyperbolic", "inverse_hyperbolic"]))]
    pub b: AtLeastOne,
    /// Decrease of the function for each Q0 beyond Q1, and its excess at an empty queue.
    #[param(default = 0.0625, symbol = "m", source = "arXiv cs/9809041: a power of 1/2", when(queue_control = ["linear"]))]
    pub slope: FromZeroToOne,
    /// Excess of the function below Q0, and its deficit above Q1.
    #[param(default = 0.05, symbol = "s", source = "choice: as much as b of the hyperbola", when(queue_control = ["step"]))]
    pub step: FromZeroToOne,
    /// Least value of the function: queue drain limit factor.
    #[param(
        key = "drain_limit",
        default = 0.5,
        symbol = "QDLF",
        source = "ATM Forum 98-0408, of ERICA+"
    )]
    pub drain_limit: PartOfOne,
}

/// A form of the queue control function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum QueueCurve {
    /// b Q0 / ((b - 1) Q + Q0) up to Q0, a Q0 / ((a - 1) Q + Q0) beyond.
    Hyperbolic,
    /// The hyperbola of b up to Q0, and beyond it that of a turned about Q0: slow at first, then faster.
    InverseHyperbolic,
    /// Falls to 1 at Q0, stays there to Q1 and falls on.
    Linear,
    /// Above 1 below Q0, 1 up to Q1, below 1 up to twice Q1, and the drain limit beyond.
    Step,
}

const CURVATURE: &str = "arXiv cs/9809041, of the hyperbolic function: 1.15 and 1.05";

impl QueueControlSpec {
    /// f of `queued` cells at a capacity of `capacity` cells a second; 1 where that is 0.
    pub fn fraction(&self, queued: u32, capacity: f64) -> f64 {
        let seconds = |ps: u64| ps as f64 / 1e12;
        let q = f64::from(queued);
        let (q0, q1) = (
            seconds(self.target_ps) * capacity,
            seconds(self.upper_ps) * capacity,
        );
        if q0 <= 0.0 {
            return 1.0;
        }
        let hyperbola = |curvature: f64, q: f64| curvature * q0 / ((curvature - 1.0) * q + q0);
        // Beyond this queue the turned hyperbola has no value; long before it, it is below any floor.
        let end = (2.0 + 1.0 / (self.a - 1.0)) * q0;
        let f = match self.curve {
            QueueCurve::Hyperbolic | QueueCurve::InverseHyperbolic if q <= q0 => {
                hyperbola(self.b, q)
            }
            QueueCurve::Hyperbolic => hyperbola(self.a, q),
            QueueCurve::InverseHyperbolic if q < end => 2.0 - hyperbola(self.a, 2.0 * q0 - q),
            QueueCurve::InverseHyperbolic => self.drain_limit,
            QueueCurve::Linear if q <= q0 => 1.0 + self.slope * (q0 - q) / q0,
            QueueCurve::Linear if q <= q1 => 1.0,
            QueueCurve::Linear => 1.0 - self.slope * (q - q1) / q0,
            QueueCurve::Step if q < q0 => 1.0 + self.step,
            QueueCurve::Step if q < q1 => 1.0,
            QueueCurve::Step if q < 2.0 * q1 => 1.0 - self.step,
            QueueCurve::Step => self.drain_limit,
        };
        f.max(self.drain_limit)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// T0 = 0.1 s, T1 = 0.2 s, a = 1.15, b = 1.05, QDLF = 0.5.
    pub(in crate::switch) fn hyperbolic() -> QueueControlSpec {
        QueueControlSpec {
            curve: QueueCurve::Hyperbolic,
            target_ps: 100_000_000_000,
            upper_ps: 200_000_000_000,
            a: 1.15,
            b: 1.05,
            slope: 0.125,
            step: 0.05,
            drain_limit: 0.5,
        }
    }

    /// Q0 = 100 and Q1 = 200 cells at 1 000 cells a second.
    #[test]
    fn each_function_is_1_at_its_target_and_has_its_own_form_beside_it() {
        let of = |curve| QueueControlSpec {
            curve,
            ..hyperbolic()
        };
        let cases = [
            (QueueCurve::Hyperbolic, 0, 1.05),
            (QueueCurve::Hyperbolic, 50, 105.0 / 102.5),
            (QueueCurve::Hyperbolic, 100, 1.0),
            (QueueCurve::Hyperbolic, 300, 115.0 / 145.0),
            (QueueCurve::Hyperbolic, 10_000, 0.5),
            (QueueCurve::InverseHyperbolic, 50, 105.0 / 102.5),
            (QueueCurve::InverseHyperbolic, 100, 1.0),
            (QueueCurve::InverseHyperbolic, 200, 2.0 - 1.15),
            (QueueCurve::InverseHyperbolic, 300, 2.0 - 1.15 / 0.85),
            (QueueCurve::InverseHyperbolic, 500, 0.5), // 2 - 1.15 / 0.55 is below
            (QueueCurve::InverseHyperbolic, 900, 0.5), // beyond its end
            (QueueCurve::Linear, 0, 1.125),
            (QueueCurve::Linear, 60, 1.05),
            (QueueCurve::Linear, 100, 1.0),
            (QueueCurve::Linear, 200, 1.0),
            (QueueCurve::Linear, 400, 0.75),
            (QueueCurve::Linear, 1_000, 0.5),
            (QueueCurve::Step, 99, 1.05),
            (QueueCurve::Step, 100, 1.0),
            (QueueCurve::Step, 200, 0.95),
            (QueueCurve::Step, 400, 0.5),
        ];
        for (curve, queued, expected) in cases {
            let f = of(curve).fraction(queued, 1_000.0);
            assert!((f - expected).abs() < 1e-12, "{curve:?} at {queued}: {f}");
        }
        assert_eq!(hyperbolic().fraction(5, 0.0), 1.0);
    }

    #[test]
    fn no_function_grows_with_the_queue() {
        for curve in [
            QueueCurve::Hyperbolic,
            QueueCurve::InverseHyperbolic,
            QueueCurve::Linear,
            QueueCurve::Step,
        ] {
            let control = QueueControlSpec {
                curve,
                ..hyperbolic()
            };
            let values: Vec<_> = (0..2_000).map(|q| control.fraction(q, 1_000.0)).collect();
            assert!(values.is_sorted_by(|a, b| a >= b), "{curve:?}");
        }
    }
}
