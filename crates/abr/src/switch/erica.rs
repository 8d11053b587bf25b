//! ERICA: Explicit Rate Indication for Congestion Avoidance.

use super::becn::BECN;
use super::erica_plus::EricaPlusSpec;
use super::queue_control::QueueControlSpec;
use super::{Measured, RateAlgorithm, RateState};
use crate::rm::RmCell;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{CellCount, CellRateOrNone, FromZeroToOne, Interval, PartOfOne},
};

/// Gives each VC an equal share of a target, or more if that ends the overload.
///
/// ATM Forum 96-1172, ERICA Switch Algorithm: A Complete Description, 1996. MCRs play no part in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    feedback = "explicit rate",
    source = "Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan: ERICA Switch Algorithm, ATM Forum 96-1172, 1996",
    label = "ERICA"
)]
pub struct EricaSpec {
    /// Part of the link that all classes together shall use.
    #[param(
        default = 0.9,
        symbol = "U",
        source = "ATM Forum 98-0408, of ERICA+: such as 0.9"
    )]
    pub target_utilization: PartOfOne,
    /// Longest averaging interval.
    #[param(key = "interval", default = "5 ms", source = INTERVAL)]
    pub interval_ps: Interval,
    /// ABR cells after which an averaging interval ends before its time.
    #[param(default = "500 cells", source = INTERVAL)]
    pub interval_cells: CellCount,
    /// Overload up to which VCs are brought to equal rates: 1 + delta.
    #[param(default = 0.1, symbol = "delta", source = "choice: a tenth")]
    pub delta: FromZeroToOne,
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

/// The averaging interval.
pub(super) const INTERVAL: &str = "choice: 5 ms or 500 ABR cells";

/// Where the rate of a VC comes from. TCP is a source that cannot use its ACR.
pub(super) const CCR_FROM: &str = "choice: 98-0408 and Kalyanaraman's thesis, page 162: CCR is not the rate of a VC whose \
    source cannot use its ACR; the per-VC option of 96-1172 measures it";

/// Where an algorithm knows the present rate of a VC from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum CcrFrom {
    /// CCR of its last forward RM cell.
    RmCell,
    /// The cells that came in the last averaging interval.
    Measured,
}

/// The calculation of ERICA, for a target rate that is its caller's; rates in cells a second.
///
/// Source: ATM Forum 96-1172, section 3 and the pseudo-code of its appendix, which
/// Kalyanaraman's thesis (Ohio State University, 1997, appendix C) repeats: the names are theirs. Read
/// there: the end of the interval and the backward RM cell up to the choice by overload. What follows it
/// is as 98-0408, equations (9) to (13), and its text have it.
#[derive(Clone, Debug)]
struct Allocation {
    delta: f64,
    ccr_from: CcrFrom,
    target: f64,
    /// z, Load_Factor.
    overload: f64,
    fair_share: f64,
    max_alloc_previous: f64,
    max_alloc_current: f64,
    vcs: Vec<Vc>,
}

#[derive(Clone, Debug, Default)]
struct Vc {
    ccr: f64,
    /// Seen_BRM_Cell_In_This_Interval, and then Last_Allocated_ER.
    allocated: Option<f64>,
}

impl Allocation {
    /// Before anything was measured: an equal share of `target` for each of `vcs` VCs, and no overload.
    fn new(delta: f64, ccr_from: CcrFrom, target: f64, vcs: usize) -> Self {
        let fair_share = target / vcs.max(1) as f64;
        Allocation {
            delta,
            ccr_from,
            target,
            overload: 1.0,
            fair_share,
            max_alloc_previous: fair_share,
            max_alloc_current: fair_share,
            vcs: vec![Vc::default(); vcs],
        }
    }

    /// The averaging interval has ended; `target` is what ABR shall use from now on.
    fn on_interval(&mut self, target: f64, measured: &Measured<'_>) {
        self.target = target;
        let input = measured.rate(measured.abr);
        self.overload = if target > 0.0 {
            input / target
        } else {
            f64::INFINITY
        };
        // A VC is active of which a cell came.
        let active = measured.by_vc.iter().filter(|&&cells| cells > 0).count();
        self.fair_share = target / active.max(1) as f64;
        self.max_alloc_previous = self.max_alloc_current;
        self.max_alloc_current = self.fair_share;
        for (vc, &cells) in self.vcs.iter_mut().zip(measured.by_vc) {
            vc.allocated = None;
            if self.ccr_from == CcrFrom::Measured {
                vc.ccr = measured.rate(cells);
            }
        }
    }

    fn on_forward(&mut self, vc: usize, cell: &RmCell) {
        if self.ccr_from == CcrFrom::RmCell {
            self.vcs[vc].ccr = cell.ccr;
        }
    }

    fn on_backward(&mut self, vc: usize, cell: &mut RmCell) {
        // One feedback for each VC and interval.
        let allocated = match self.vcs[vc].allocated {
            Some(allocated) => allocated,
            None => self.allocate(self.vcs[vc].ccr),
        };
        self.vcs[vc].allocated = Some(allocated);
        cell.er = cell.er.min(allocated);
    }

    /// ER_Calculated for a VC of rate `ccr`.
    fn allocate(&mut self, ccr: f64) -> f64 {
        // Without input there is no overload that a share could end: 0 / 0 is no share either.
        let vc_share = if self.overload > 0.0 {
            ccr / self.overload
        } else {
            f64::INFINITY
        };
        let mut er = self.fair_share.max(vc_share);
        if self.overload <= 1.0 + self.delta {
            // Max-min fairness; nobody gets less than the most that anybody got.
            er = er.max(self.max_alloc_previous);
        }
        // (12) of 98-0408: a VC below its fair share comes to it first, and only then above it.
        if ccr < self.fair_share && er > self.fair_share {
            er = self.fair_share;
        }
        // Nobody can be given more than there is; done before the maximum is kept, so that a share
        // without an end does not stay in it.
        let er = er.min(self.target);
        self.max_alloc_current = self.max_alloc_current.max(er);
        er
    }

    fn state(&self) -> RateState {
        RateState {
            overload: self.overload,
            fair_share: self.fair_share,
            target: self.target,
        }
    }
}

/// ERICA, and ERICA+: they differ in the rate that is aimed at.
#[derive(Clone, Debug)]
pub struct Erica {
    target: Target,
    allocation: Allocation,
}

/// The part of a link that ABR may use.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// Target_Utilization x link rate - VBR and CBR rate.
    Utilization(f64),
    /// Fraction x Total_ABR_Capacity.
    ByQueue(QueueControlSpec),
}

impl Target {
    fn of(self, measured: &Measured<'_>) -> f64 {
        match self {
            Target::Utilization(part) => {
                (part * measured.link - measured.rate(measured.other)).max(0.0)
            }
            Target::ByQueue(queue) => {
                let capacity = measured.left_over();
                queue.fraction(measured.queued, capacity) * capacity
            }
        }
    }
}

impl Erica {
    /// ERICA at a port of a link of `link` cells a second, which `vcs` VCs cross.
    pub fn new(spec: &EricaSpec, link: f64, vcs: usize) -> Self {
        let part = spec.target_utilization;
        Erica {
            target: Target::Utilization(part),
            allocation: Allocation::new(spec.delta, spec.ccr_from, part * link, vcs),
        }
    }

    /// ERICA+ there.
    pub fn plus(spec: &EricaPlusSpec, link: f64, vcs: usize) -> Self {
        Erica {
            target: Target::ByQueue(spec.queue),
            allocation: Allocation::new(spec.delta, spec.ccr_from, link, vcs),
        }
    }
}

impl RateAlgorithm for Erica {
    fn on_interval(&mut self, measured: &Measured<'_>) {
        self.allocation
            .on_interval(self.target.of(measured), measured);
    }

    fn on_forward(&mut self, vc: usize, cell: &RmCell) {
        self.allocation.on_forward(vc, cell);
    }

    fn on_backward(&mut self, vc: usize, cell: &mut RmCell) {
        self.allocation.on_backward(vc, cell);
    }

    /// NI, and the rate of now; congested is a port whose overload shares do not end.
    fn warns(&mut self, vc: usize, cell: &mut RmCell) -> bool {
        let is_congested = self.allocation.overload > 1.0 + self.allocation.delta;
        if is_congested {
            cell.ni = true;
            self.allocation.on_backward(vc, cell);
        }
        is_congested
    }

    fn state(&self) -> RateState {
        self.allocation.state()
    }
}

#[cfg(test)]
#[path = "erica_tests.rs"]
pub(super) mod tests;
