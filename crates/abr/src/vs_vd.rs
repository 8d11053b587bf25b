//! Virtual destination and virtual source (VS/VD): a switch that ends one control loop of an ABR VC and
//! begins the next.

use crate::switch::{QueueControlSpec, QueueCurve};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Interval, PartOfOne},
};

/// A switch at which the control loops of ABR VCs are cut.
///
/// Its virtual destination turns forward RM cells around, and its virtual source sends the VC's cells on,
/// by the rules of the ends (af-tm-0056 section 5.10.7). What couples the two loops is the switch's own
/// business: S. Kalyanaraman's thesis (Ohio State University, 1997, chapter 9; ATM Forum 96-1759) lists the
/// choices. ER1 is what goes back to the loop before the switch, ER2 what comes from the one behind, ACR2 the
/// virtual source's rate and VAL2 what the switch's own port gives the VC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule]
pub struct VsVdSpec {
    /// By what the loop before the switch is held to what the one behind it can take.
    #[param(
        word,
        default = "minimum",
        source = "Kalyanaraman, thesis, 1997, section 9.2.2: ER1 = min(ER1, VAL2, ACR2)"
    )]
    pub coupling: LoopCoupling,
    /// Delay in the VC's own queue that is aimed at.
    #[param(
        key = "target_delay",
        default = "1.5 ms",
        symbol = "T0",
        source = "choice: as ERICA+ here",
        when(coupling = ["queue"])
    )]
    pub target_ps: Interval,
    /// Least part of the rate behind the switch that the loop before it is told.
    #[param(
        default = 0.5,
        symbol = "QDLF",
        source = "choice: as ERICA+ here",
        when(coupling = ["queue"])
    )]
    pub drain_limit: PartOfOne,
}

/// A coupling of two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum LoopCoupling {
    /// ER1 = min(ER1, VAL2, ACR2): congestion of the link slows the loop before the switch.
    Minimum,
    /// The same, and ACR2 is at most VAL2: it slows both loops.
    Both,
    /// ER1 = min(ER1, ACR2): the switch's own port tells nothing.
    Acr,
    /// ER1 = min(ER1, VAL2): the loops behind the switch tell nothing.
    Link,
    /// ER1 = min(ER1, f(Q) min(VAL2, ACR2)), Q being the VC's own queue: a queue of the VC is drained.
    Queue,
}

impl VsVdSpec {
    /// ER1: what the virtual destination lets into a cell that came with `er`, all in cells a second;
    /// `queued` cells of the VC wait for its virtual source.
    pub fn reported(&self, er: f64, allocated: f64, acr: f64, queued: u32) -> f64 {
        let behind = allocated.min(acr);
        er.min(match self.coupling {
            LoopCoupling::Minimum | LoopCoupling::Both => behind,
            LoopCoupling::Acr => acr,
            LoopCoupling::Link => allocated,
            LoopCoupling::Queue => self.function().fraction(queued, behind) * behind,
        })
    }

    /// ER2 as the virtual source takes it from a cell that came back with `er`.
    pub fn taken(&self, er: f64, allocated: f64) -> f64 {
        match self.coupling {
            LoopCoupling::Both => er.min(allocated),
            _ => er,
        }
    }

    /// f of a VC's own queue: the hyperbola that arXiv cs/9809041 names, 1.15 and 1.05.
    fn function(&self) -> QueueControlSpec {
        QueueControlSpec {
            curve: QueueCurve::Hyperbolic,
            target_ps: self.target_ps,
            upper_ps: self.target_ps,
            a: 1.15,
            b: 1.05,
            slope: 0.0,
            step: 0.0,
            drain_limit: self.drain_limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coupling_tells_the_loop_before_what_its_rule_says() {
        let of = |coupling| VsVdSpec {
            coupling,
            target_ps: 100_000_000_000, // 0.1 s: 30 cells at 300 cells/s
            drain_limit: 0.5,
        };
        // ER1 1 000, VAL2 400, ACR2 300; and VAL2 200.
        let cases = [
            (LoopCoupling::Minimum, 300.0, 200.0, 900.0),
            (LoopCoupling::Both, 300.0, 200.0, 200.0),
            (LoopCoupling::Acr, 300.0, 300.0, 900.0),
            (LoopCoupling::Link, 400.0, 200.0, 900.0),
        ];
        for (coupling, loose, tight, taken) in cases {
            let rule = of(coupling);
            assert_eq!(
                rule.reported(1_000.0, 400.0, 300.0, 30),
                loose,
                "{coupling:?}"
            );
            assert_eq!(
                rule.reported(1_000.0, 200.0, 300.0, 30),
                tight,
                "{coupling:?}"
            );
            assert_eq!(rule.reported(100.0, 400.0, 300.0, 0), 100.0, "{coupling:?}");
            assert_eq!(rule.taken(900.0, 200.0), taken, "{coupling:?}");
        }
        // f is 1 at the queue that is aimed at, b at none, and the drain limit at an endless one.
        let queue = of(LoopCoupling::Queue);
        assert_eq!(queue.reported(1_000.0, 400.0, 300.0, 30), 300.0);
        assert!((queue.reported(1_000.0, 400.0, 300.0, 0) - 315.0).abs() < 1e-9);
        assert_eq!(queue.reported(1_000.0, 400.0, 300.0, 1_000_000), 150.0);
    }
}
