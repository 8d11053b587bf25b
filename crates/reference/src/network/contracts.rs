//! The fate of a cell where its VC enters the network: its policer and its contract decide.

use super::{Network, Vc};
use crate::frames::Cell;
use skycell_atm::EdgeCell;
use skycell_spec::PolicingAction;
use skycell_units::SimTime;

impl Vc {
    /// Its source sends so many cells with this CLP.
    pub(super) fn offer_clp0(&mut self, clp: bool, cells: u32) {
        if let Some(clp0) = self.record.clp0.as_mut().filter(|_| !clp) {
            clp0.cells_offered += u64::from(cells);
        }
    }
}

impl Network<'_> {
    /// So many cells of a VC are lost, which have this CLP.
    pub(super) fn lose_clp0(&mut self, vc: u32, clp: bool, cells: u32) {
        let record = &mut self.vcs[vc as usize].record;
        if let Some(clp0) = record.clp0.as_mut().filter(|_| !clp) {
            clp0.cells_lost += u64::from(cells);
        }
    }

    /// Where a VC enters the network: whether its policer discards the cell; it may tag it.
    pub(super) fn is_discarded_by_policer(&mut self, now: SimTime, cell: &mut Cell) -> bool {
        let vc = &mut self.vcs[cell.vc as usize];
        let Some(action) = vc
            .policer
            .as_mut()
            .and_then(|policer| policer.on_cell(now, cell.clp))
        else {
            return false;
        };
        vc.record.cells_nonconforming += 1;
        match action {
            PolicingAction::Count => {}
            PolicingAction::Tag => {
                vc.record.cells_tagged += u64::from(!cell.clp);
                cell.clp = true;
            }
            PolicingAction::Discard => {
                vc.record.cells_policed += 1;
                self.lose_clp0(cell.vc, cell.clp, 1);
                self.frames.settle(cell.frame, 1);
            }
        }
        action == PolicingAction::Discard
    }

    /// Where a VC with a contract enters its first switch: F-GCRA decides on a frame's first cell,
    /// and all cells of the frame get its CLP bit. Whether the cell is discarded.
    pub(super) fn is_refused_by_contract(&mut self, now: SimTime, cell: &mut Cell) -> bool {
        let Some(guaranteed) = &mut self.vcs[cell.vc as usize].guaranteed else {
            return false;
        };
        let frame = self.frames.get(cell.frame);
        let clp = guaranteed.on_cell(
            now,
            EdgeCell {
                serial: frame.serial,
                index: cell.index,
                cells: frame.cells,
                by_adapter: frame.clp,
                by_policer: cell.clp,
            },
        );
        match clp {
            Some(clp) => cell.clp = clp,
            None => {
                self.lose_clp0(cell.vc, cell.clp, 1);
                self.frames.settle(cell.frame, 1);
            }
        }
        clp.is_none()
    }
}
