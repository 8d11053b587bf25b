//! Weighted shares beyond MCR: ERICA+ with the general fairness of ATM Forum 98-0408.

use super::becn::BECN;
use super::erica::{CCR_FROM, INTERVAL};
use super::queue_control::QueueControlSpec;
use super::{CcrFrom, Measured, RateAlgorithm, RateState, VcShare};
use crate::rm::RmCell;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{CellCount, CellRateOrNone, Interval},
};

/// ERICA+ that gives each VC its MCR and of the rest a part by its weight.
///
/// ATM Forum 98-0408 (arXiv cs/9809040), algorithm A. The weights are the VCs' own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    feedback = "explicit rate",
    source = "Vandalore, Fahmy, Jain, Goyal, Goyal: Overload Based Explicit Rate Switch Schemes with MCR Guarantees, ATM Forum 98-0408, 1998",
    label = "weighted ERICA+"
)]
pub struct WeightedEricaPlusSpec {
    /// Part of the capacity that is aimed at, by the queue.
    #[param(parts)]
    pub queue: QueueControlSpec,
    /// Longest averaging interval.
    #[param(key = "interval", default = "5 ms", source = INTERVAL)]
    pub interval_ps: Interval,
    /// ABR cells after which an averaging interval ends before its time.
    #[param(default = "500 cells", source = INTERVAL)]
    pub interval_cells: CellCount,
    /// Where a VC's rate is known from.
    #[param(
        word,
        default = "measured",
        source = CCR_FROM
    )]
    pub ccr_from: CcrFrom,
    /// Backward RM cells a second that the port makes for a VC of which cells come while it is congested (BECN), at most;
    /// 0 for none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(key = "becn", default = "0 cells/s", source = BECN)]
    pub becn_millicells: CellRateOrNone,
}

/// See [`WeightedEricaPlusSpec`]; rates in cells a second, numbers of equations from 98-0408.
///
/// The copy at hand has (20) to (23) as text. Its (14) to (19), pictures there, are the frame that all of
/// its algorithms share; we take from the words around them that MCRs are set aside: target and input are
/// what is beyond the MCRs that are used.
#[derive(Clone, Debug)]
pub struct WeightedShares {
    queue: QueueControlSpec,
    ccr_from: CcrFrom,
    /// Target rate of all ABR VCs.
    total: f64,
    /// z
    overload: f64,
    /// Excess share of a VC of weight 1.
    unit_share: f64,
    vcs: Vec<Vc>,
}

#[derive(Clone, Debug)]
struct Vc {
    /// mu_i
    mcr: f64,
    /// w_i
    weight: f64,
    /// SourceRate(i)
    rate: f64,
    /// The feedback of this interval, once given.
    allocated: Option<f64>,
}

impl Vc {
    /// Returns the rate beyond its MCR.
    fn excess(&self) -> f64 {
        (self.rate - self.mcr).max(0.0)
    }
}

impl WeightedShares {
    /// At a port of a link of `link` cells a second, which `vcs` cross.
    pub fn new(spec: &WeightedEricaPlusSpec, link: f64, vcs: &[VcShare]) -> Self {
        let reserved: f64 = vcs.iter().map(|vc| vc.mcr).sum();
        let weights: f64 = vcs.iter().map(|vc| vc.weight).sum();
        let vcs = vcs.iter().map(|vc| Vc {
            mcr: vc.mcr,
            weight: vc.weight,
            rate: 0.0,
            allocated: None,
        });
        WeightedShares {
            queue: spec.queue,
            ccr_from: spec.ccr_from,
            total: link,
            overload: 1.0,
            unit_share: (link - reserved).max(0.0) / weights,
            vcs: vcs.collect(),
        }
    }

    /// (22), (23): what a VC is told, its MCR included.
    fn allocate(&self, vc: &Vc) -> f64 {
        let vc_share = if self.overload > 0.0 {
            vc.excess() / self.overload
        } else {
            f64::INFINITY
        };
        let excess = (vc.weight * self.unit_share).max(vc_share);
        // Nobody can be given more than there is, or less than was promised.
        (vc.mcr + excess).min(self.total).max(vc.mcr)
    }
}

impl RateAlgorithm for WeightedShares {
    fn on_interval(&mut self, measured: &Measured<'_>) {
        for (vc, &cells) in self.vcs.iter_mut().zip(measured.by_vc) {
            vc.allocated = None;
            if self.ccr_from == CcrFrom::Measured {
                vc.rate = measured.rate(cells);
            } else if cells == 0 {
                vc.rate = 0.0; // of a VC that has fallen silent no RM cell tells so
            }
        }
        // (14) to (16): what is aimed at, and what comes, beyond the MCRs that are used.
        let capacity = measured.left_over();
        self.total = self.queue.fraction(measured.queued, capacity) * capacity;
        let used: f64 = self.vcs.iter().map(|vc| vc.rate.min(vc.mcr)).sum();
        let target = (self.total - used).max(0.0);
        let input = (measured.rate(measured.abr) - used).max(0.0);
        self.overload = if target > 0.0 {
            input / target
        } else {
            f64::INFINITY
        };
        // (20): activity level; of a VC that sends its share or more 1, so that it counts in full.
        let activity = |vc: &Vc| {
            let share = vc.weight * self.unit_share;
            if share > 0.0 {
                (vc.excess() / share).min(1.0)
            } else {
                1.0
            }
        };
        // (21)
        let active: f64 = self.vcs.iter().map(|vc| vc.weight * activity(vc)).sum();
        let least = self.vcs.iter().map(|vc| vc.weight).fold(f64::MAX, f64::min);
        // Where nobody sends, or little, one VC of the least weight would get all.
        self.unit_share = target / active.max(least);
    }

    fn on_forward(&mut self, vc: usize, cell: &RmCell) {
        if self.ccr_from == CcrFrom::RmCell {
            self.vcs[vc].rate = cell.ccr;
        }
    }

    fn on_backward(&mut self, vc: usize, cell: &mut RmCell) {
        // One feedback for each VC and interval.
        let allocated = match self.vcs[vc].allocated {
            Some(allocated) => allocated,
            None => self.allocate(&self.vcs[vc]),
        };
        self.vcs[vc].allocated = Some(allocated);
        cell.er = cell.er.min(allocated);
    }

    /// NI, and the rate of now.
    fn warns(&mut self, vc: usize, cell: &mut RmCell) -> bool {
        let is_congested = self.overload > 1.0;
        if is_congested {
            cell.ni = true;
            self.on_backward(vc, cell);
        }
        is_congested
    }

    fn state(&self) -> RateState {
        RateState {
            overload: self.overload,
            fair_share: self.unit_share,
            target: self.total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::erica::tests::{backward, forward, measured};
    use super::super::queue_control::tests::hyperbolic;
    use super::*;

    /// Of a link of 1 000 cells/s, VCs with these MCRs and weights.
    fn shares(vcs: &[(f64, f64)]) -> WeightedShares {
        let spec = WeightedEricaPlusSpec {
            queue: hyperbolic(),
            interval_ps: 1,
            interval_cells: 1,
            ccr_from: CcrFrom::RmCell,
            becn_millicells: 0,
        };
        let vcs: Vec<_> = vcs
            .iter()
            .map(|&(mcr, weight)| VcShare {
                pcr: 1_000.0,
                mcr,
                weight,
            })
            .collect();
        WeightedShares::new(&spec, 1_000.0, &vcs)
    }

    #[test]
    fn what_is_beyond_the_mcrs_is_divided_by_weight() {
        let mut shares = shares(&[(100.0, 1.0), (300.0, 2.0)]);
        for (vc, rate) in [(0, 300.0), (1, 700.0)] {
            shares.on_forward(vc, &forward(rate));
        }
        // The queue is at its target of 100 cells: f = 1. Beyond the MCRs 600 are aimed at and come, so
        // z = 1; both send their shares of 200 and 400.
        shares.on_interval(&measured(&[300, 700], 0, 100));
        assert_eq!(shares.state().overload, 1.0);
        assert_eq!(backward(&mut shares, 0, 1e9), 300.0);
        assert_eq!(backward(&mut shares, 1, 1e9), 700.0);
    }

    #[test]
    fn what_one_leaves_the_others_get_by_weight() {
        let mut shares = shares(&[(100.0, 1.0), (300.0, 2.0), (0.0, 1.0)]);
        // The third is held to 60 elsewhere. Without it 600 - 60 = 540 are to be shared: 180 and 360.
        // Shares of weight 1 settle where 540 = s (1 + 2), whatever they are at the start.
        for _ in 0..60 {
            for (vc, rate) in [(0, 280.0), (1, 660.0), (2, 60.0)] {
                shares.on_forward(vc, &forward(rate));
            }
            shares.on_interval(&measured(&[280, 660, 60], 0, 100));
        }
        assert!((shares.state().fair_share - 180.0).abs() < 1e-9);
        assert!((backward(&mut shares, 0, 1e9) - 280.0).abs() < 1e-9);
        assert!((backward(&mut shares, 1, 1e9) - 660.0).abs() < 1e-9);
        // It is offered its full share, which the other switch's smaller ER hides.
        assert!((backward(&mut shares, 2, 1e9) - 180.0).abs() < 1e-9);
        assert_eq!(backward(&mut shares, 2, 60.0), 60.0);
    }

    #[test]
    fn nobody_is_told_less_than_its_mcr() {
        let mut shares = shares(&[(100.0, 1.0), (0.0, 1.0)]);
        // Others take the whole link.
        shares.on_interval(&measured(&[10, 10], 2_000, 0));
        assert_eq!(backward(&mut shares, 0, 1e9), 100.0);
        assert_eq!(backward(&mut shares, 1, 1e9), 0.0);
    }
}
