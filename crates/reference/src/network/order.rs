//! Cells at the end of a VC with a resequencer: they go on in the order of their entry.

use super::Network;
use crate::frames::Cell;
use skycell_des::Key;
use skycell_traffic::rank;
use skycell_units::SimTime;

impl Network<'_> {
    /// A cell has come to the resequencer at the end of its VC.
    pub(super) fn on_cell_to_order(&mut self, now: SimTime, cell: Cell) {
        let vc = &mut self.vcs[cell.vc as usize];
        let Some(resequencer) = &mut vc.resequencer else {
            return;
        };
        let before = resequencer.next_due();
        let gone = resequencer.on_cell(now, cell);
        let due = resequencer.next_due();
        if let Some(due) = due.filter(|_| due != before) {
            self.events.push(Key::new(due, rank::RESEQUENCE, cell.vc));
        }
        self.leave_resequencer(now, cell.vc, gone);
    }

    /// Cells of a VC may have waited long enough for earlier ones.
    pub(super) fn on_resequence(&mut self, now: SimTime, vc_id: u32) {
        let Some(resequencer) = &mut self.vcs[vc_id as usize].resequencer else {
            return;
        };
        let gone = resequencer.on_due(now);
        if let Some(due) = resequencer.next_due() {
            self.events.push(Key::new(due, rank::RESEQUENCE, vc_id));
        }
        self.leave_resequencer(now, vc_id, gone);
    }

    fn leave_resequencer(&mut self, now: SimTime, vc_id: u32, gone: Vec<Cell>) {
        let node = self.spec.vc_destination(vc_id as usize);
        for cell in gone {
            self.on_cell_at_end(now, node, cell);
        }
    }
}
