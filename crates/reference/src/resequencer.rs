//! A resequencer at the end of a VC: cells go on in the order in which they entered the network.

use crate::frames::Cell;
use skycell_records::ResequencerRecord;
use skycell_spec::ResequencerSpec;
use skycell_units::SimTime;
use std::collections::{BTreeMap, VecDeque};

/// Cells that wait for earlier ones.
#[derive(Debug)]
pub(crate) struct Resequencer {
    hold_ps: u64,
    capacity: usize,
    /// Number of the cell that goes next.
    next: u64,
    held: BTreeMap<u64, (SimTime, Cell)>,
    /// When each cell that was held has waited long enough, in the order of arrival, with its number.
    due: VecDeque<(SimTime, u64)>,
    record: ResequencerRecord,
    waited_ps: u128,
}

impl Resequencer {
    /// One that holds nothing yet.
    pub(crate) fn new(spec: &ResequencerSpec) -> Self {
        Resequencer {
            hold_ps: spec.hold_ps,
            capacity: spec.capacity_cells as usize,
            next: 0,
            held: BTreeMap::new(),
            due: VecDeque::new(),
            record: ResequencerRecord::default(),
            waited_ps: 0,
        }
    }

    /// A cell has come: the cells that go on now, in their order. One that others were let go before does so at once.
    pub(crate) fn on_cell(&mut self, now: SimTime, cell: Cell) -> Vec<Cell> {
        if cell.entry < self.next {
            self.record.cells_late += 1;
            return vec![cell];
        }
        if cell.entry > self.next {
            self.record.cells_held += 1;
            self.due
                .push_back((SimTime(now.0 + self.hold_ps), cell.entry));
        }
        self.held.insert(cell.entry, (now, cell));
        let mut gone = self.release(now, self.next);
        if self.held.len() > self.capacity {
            let first = *self.held.keys().next().expect("cells are held");
            gone.extend(self.release(now, first));
        }
        self.record.cells_most = self.record.cells_most.max(self.held.len() as u64);
        gone
    }

    /// The cells that have waited long enough go on, and those before and right behind them.
    pub(crate) fn on_due(&mut self, now: SimTime) -> Vec<Cell> {
        let mut gone = Vec::new();
        while let Some(&(at, number)) = self.due.front()
            && at <= now
        {
            gone.extend(self.release(now, number));
            self.due.pop_front();
        }
        gone
    }

    /// When the next cell has waited long enough.
    pub(crate) fn next_due(&mut self) -> Option<SimTime> {
        while self
            .due
            .front()
            .is_some_and(|(_, number)| *number < self.next)
        {
            self.due.pop_front();
        }
        self.due.front().map(|(at, _)| *at)
    }

    /// Releases all cells up to `number`, and those that follow without a gap.
    fn release(&mut self, now: SimTime, number: u64) -> Vec<Cell> {
        let mut gone = Vec::new();
        while let Some((&first, &(since, cell))) = self.held.first_key_value()
            && (first <= number || first == self.next)
        {
            self.held.pop_first();
            self.record.cells_given_up += first - self.next;
            self.next = first + 1;
            self.waited_ps += u128::from((now - since).0);
            self.record.wait_max_ps = self.record.wait_max_ps.max((now - since).0);
            gone.push(cell);
        }
        gone
    }

    /// Returns its record.
    pub(crate) fn record(&self) -> ResequencerRecord {
        let mut record = self.record.clone();
        record.cells_waiting = self.held.len() as u64;
        if record.cells_held > 0 {
            record.wait_mean_ps = (self.waited_ps / u128::from(record.cells_held)) as u64;
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_units::{Ecn, FrameId, PortVc};

    fn cell(entry: u64) -> Cell {
        Cell {
            frame: FrameId::NONE,
            rm: None,
            efci: false,
            ack: None,
            index: 0,
            octets: 0,
            vc: 0,
            port_vc: PortVc(0),
            flow: 0,
            hop: 0,
            sky_link: 0,
            eom: false,
            clp: false,
            is_paced: false,
            ecn: Ecn::NotEct,
            came_at: SimTime(0),
            left_at: SimTime(0),
            entry,
        }
    }

    /// Returns the cells that pass if these cells come at these times.
    fn through(
        hold_ps: u64,
        capacity_cells: u32,
        cells: &[(u64, u64)],
    ) -> (Vec<(u64, u64)>, ResequencerRecord) {
        let spec = ResequencerSpec {
            hold_ps,
            capacity_cells,
        };
        let mut resequencer = Resequencer::new(&spec);
        let mut gone = Vec::new();
        for &(at, entry) in cells {
            while let Some(due) = resequencer.next_due()
                && due.0 < at
            {
                gone.extend(resequencer.on_due(due).iter().map(|c| (due.0, c.entry)));
            }
            let on = resequencer.on_cell(SimTime(at), cell(entry));
            gone.extend(on.iter().map(|c| (at, c.entry)));
        }
        (gone, resequencer.record())
    }

    #[test]
    fn cells_in_order_go_on_at_once() {
        let (gone, record) = through(100, 10, &[(5, 0), (6, 1), (7, 2)]);
        assert_eq!(gone, [(5, 0), (6, 1), (7, 2)]);
        assert_eq!(record, ResequencerRecord::default());
    }

    #[test]
    fn a_cell_that_overtook_waits_for_those_before_it() {
        let (gone, record) = through(
            100,
            10,
            &[(5, 0), (6, 3), (7, 4), (20, 1), (30, 2), (31, 5)],
        );
        assert_eq!(gone, [(5, 0), (20, 1), (30, 2), (30, 3), (30, 4), (31, 5)]);
        assert_eq!((record.cells_held, record.cells_most), (2, 2));
        // 24 and 23 of the two, rounded down.
        assert_eq!((record.wait_mean_ps, record.wait_max_ps), (23, 24));
        assert_eq!((record.cells_late, record.cells_given_up), (0, 0));
    }

    #[test]
    fn after_a_time_it_waits_no_longer_and_what_comes_then_is_late() {
        let (gone, record) = through(100, 10, &[(5, 0), (10, 2), (60, 4), (120, 1), (170, 3)]);
        // Cell 2 goes at 110 without 1; cell 4 at 160 without 3.
        assert_eq!(gone, [(5, 0), (110, 2), (120, 1), (160, 4), (170, 3)]);
        assert_eq!((record.cells_late, record.cells_given_up), (2, 2));
    }

    #[test]
    fn a_full_buffer_lets_the_first_go() {
        let (gone, record) = through(100, 2, &[(5, 2), (6, 1), (7, 4), (8, 5)]);
        assert_eq!(gone, [(7, 1), (7, 2)]);
        assert_eq!(
            (
                record.cells_given_up,
                record.cells_most,
                record.cells_waiting
            ),
            (1, 2, 2)
        );
    }
}
