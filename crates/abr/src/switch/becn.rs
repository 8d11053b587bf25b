//! Backward explicit congestion notification (BECN): backward RM cells that a switch makes itself, so that
//! feedback need not come by way of the destination.

use super::{RateAlgorithm, VcShare};
use crate::rm::{RmCell, cells_per_second, interval};
use skycell_units::SimTime;

/// The rate of such cells.
pub(super) const BECN: &str =
    "af-tm-0056 section 5.10.6, switch behaviour 2: optional, up to 10 cells/s for each connection";

/// The state of a port for the backward RM cells that it has made.
///
/// A cell is made when one of the VC comes, the port is congested, and the last is long enough ago. BN = 1,
/// CI or NI as the algorithm says, and beside the rate; CCR and MCR are 0 (af-tm-0056, Table 5-4).
#[derive(Clone, Debug)]
pub(super) struct Becn {
    /// Least time between two of a VC; [`SimTime::NEVER`] for none.
    every: SimTime,
    /// Of each VC.
    vcs: Vec<Vc>,
}

#[derive(Clone, Copy, Debug)]
struct Vc {
    pcr: f64,
    last: Option<SimTime>,
}

impl Becn {
    /// At most `millicells` thousandths of a cell a second for each of `vcs`.
    pub(super) fn new(millicells: u64, vcs: &[VcShare]) -> Self {
        let vcs = vcs.iter().map(|share| Vc {
            pcr: share.pcr,
            last: None,
        });
        Becn {
            every: interval(cells_per_second(millicells)),
            vcs: vcs.collect(),
        }
    }

    /// The cell for the VC at place `vc`, if it is time for one and `rule` finds the port congested.
    pub(super) fn make(
        &mut self,
        now: SimTime,
        vc: usize,
        rule: &mut dyn RateAlgorithm,
    ) -> Option<RmCell> {
        let own = &mut self.vcs[vc];
        let is_early = own.last.is_some_and(|last| now < last + self.every);
        if self.every == SimTime::NEVER || is_early {
            return None;
        }
        let mut cell = RmCell {
            is_backward: true,
            is_becn: true,
            ci: false,
            ni: false,
            is_out_of_rate: true,
            ccr: 0.0,
            er: own.pcr,
            mcr: 0.0,
        };
        let is_congested = rule.warns(vc, &mut cell);
        is_congested.then(|| {
            own.last = Some(now);
            cell
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::rm::RmCell;
    use crate::switch::specs::{CcrFrom, EfciSpec, EricaSpec, RateAlgorithmSpec};
    use crate::switch::{RateControl, VcShare};
    use skycell_units::SimTime;

    const VC: VcShare = VcShare {
        pcr: 500.0,
        mcr: 10.0,
        weight: 1.0,
    };
    const MS: u64 = 1_000_000_000;

    /// Cells made as cells of a VC come each 10 ms and find so many.
    fn made(control: &mut RateControl, vc: usize, queued: &[u32]) -> Vec<Option<RmCell>> {
        let times = (0..).step_by(10).map(|ms| SimTime(ms * MS));
        times
            .zip(queued)
            .map(|(now, &queued)| {
                control.on_cell(now, vc, None, queued);
                control.becn(now, vc)
            })
            .collect()
    }

    #[test]
    fn a_cell_is_made_for_a_vc_that_meets_congestion_and_no_more_than_its_rate_allows() {
        let efci = RateAlgorithmSpec::Efci(EfciSpec {
            high_cells: 8,
            low_cells: 8,
            becn_millicells: 50_000, // each 20 ms
        });
        let mut control = RateControl::new(&efci, MS, &[VC, VC]);
        let queued = [7, 8, 8, 8, 7, 8];
        let cells = made(&mut control, 0, &queued);
        let when: Vec<bool> = cells.iter().map(Option::is_some).collect();
        assert_eq!(when, [false, true, false, true, false, true]);
        let expected = RmCell {
            is_backward: true,
            is_becn: true,
            ci: true,
            ni: false,
            is_out_of_rate: true,
            ccr: 0.0,
            er: 500.0, // all that PCR allows: CI alone counts
            mcr: 0.0,
        };
        assert_eq!(cells[1], Some(expected));
        // Each VC has its own rate; and at a rate of 0 there is none.
        assert!(control.becn(SimTime(50 * MS), 1).is_some());
        let none = RateAlgorithmSpec::Efci(EfciSpec {
            high_cells: 8,
            low_cells: 8,
            becn_millicells: 0,
        });
        let mut control = RateControl::new(&none, MS, &[VC]);
        assert_eq!(made(&mut control, 0, &queued), [None; 6]);
    }

    #[test]
    fn an_explicit_rate_goes_with_no_increase() {
        let erica = RateAlgorithmSpec::Erica(EricaSpec {
            target_utilization: 0.9,
            interval_ps: 1_000 * MS,
            interval_cells: 3,
            delta: 0.1,
            ccr_from: CcrFrom::RmCell,
            becn_millicells: 10_000,
        });
        // Three cells in 20 ms are 150 a second, the target is 90 of 100: z = 5/3, and the share of the
        // one VC is 90. Before that nothing is known.
        let mut control = RateControl::new(&erica, 10 * MS, &[VC]);
        let cells = made(&mut control, 0, &[0, 0, 0]);
        assert_eq!(cells[..2], [None; 2]);
        let cell = cells[2].expect("an overload");
        assert_eq!((cell.ci, cell.ni, cell.er), (false, true, 90.0));
    }
}
