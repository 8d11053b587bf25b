//! The frames of a source that sends several cells in each.

use skycell_atm::{Reassembled, Reassembly};
use skycell_records::VcRecord;
use skycell_traffic::SourceCell;
use std::collections::VecDeque;

/// A cell, and the number of its frame.
#[derive(Clone, Copy, Debug)]
struct FrameCell {
    frame: u64,
    index: u32,
    is_last: bool,
}

/// What becomes of the frames.
#[derive(Debug, Default)]
pub(super) struct InFrames {
    frame: u64,
    /// The cell on its way to the shared port.
    next: Option<FrameCell>,
    /// Those that are there.
    waiting: VecDeque<FrameCell>,
    /// Whether the last cell that came there was not a last one, and whether the frame it belongs to has lost a
    /// cell.
    in_frame: bool,
    has_lost: bool,
    reassembly: Reassembly,
    frames_delivered: u64,
    cells_whole: u64,
    frames_corrupt: u64,
    cells_corrupt: u64,
}

impl InFrames {
    /// The source sends `cell`, which is the next to come to the shared port unless a policer discards it.
    pub(super) fn on_sent(&mut self, cell: SourceCell) {
        self.frame += u64::from(cell.index == 0);
        self.next = Some(FrameCell {
            frame: self.frame,
            index: cell.index,
            is_last: cell.index + 1 == cell.frame_cells,
        });
    }

    /// The next cell comes to the shared port, which takes it in if it has room; whether it is the first that
    /// its frame loses there.
    pub(super) fn on_offer(&mut self, has_room: bool) -> bool {
        let cell = self.next.expect("a cell is on its way");
        self.has_lost &= self.in_frame;
        self.in_frame = !cell.is_last;
        if has_room {
            self.waiting.push_back(cell);
            return false;
        }
        !std::mem::replace(&mut self.has_lost, true)
    }

    /// The frame of the first cell that waits.
    pub(super) fn leaving(&self) -> u64 {
        self.waiting.front().expect("a cell was taken in").frame
    }

    /// The first cell that waits leaves and does not come to the end of the VC within the run.
    pub(super) fn on_gone(&mut self) {
        self.waiting.pop_front();
    }

    /// The first cell that waits comes to the end of the VC.
    pub(super) fn on_delivered(&mut self) {
        let cell = self.waiting.pop_front().expect("a cell was taken in");
        let reassembled = self
            .reassembly
            .on_cell(cell.frame, cell.index, cell.is_last);
        match reassembled {
            Some(Reassembled::Whole) => {
                self.frames_delivered += 1;
                self.cells_whole += u64::from(cell.index) + 1;
            }
            Some(Reassembled::Corrupt { cells }) => {
                self.frames_corrupt += 1;
                self.cells_corrupt += u64::from(cells);
            }
            None => {}
        }
    }

    /// Writes what arrived into the VC's record.
    pub(super) fn write(&self, record: &mut VcRecord) {
        record.frames_delivered = self.frames_delivered;
        record.cells_whole = self.cells_whole;
        record.frames_corrupt = self.frames_corrupt;
        record.cells_corrupt = self.cells_corrupt;
        record.cells_open = u64::from(self.reassembly.open_cells());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the cells of frames of three, of which the shared port takes in those of `taken`.
    fn outcome(policed: &[u32], taken: &[bool]) -> (Vec<bool>, VcRecord) {
        let (mut frames, mut first_losses) = (InFrames::default(), Vec::new());
        let mut taken = taken.iter();
        for cell in 0..9 {
            frames.on_sent(SourceCell {
                index: cell % 3,
                frame_cells: 3,
            });
            if policed.contains(&cell) {
                continue;
            }
            let has_room = *taken.next().unwrap_or(&true);
            first_losses.push(frames.on_offer(has_room));
            if has_room {
                frames.on_delivered();
            }
        }
        let mut record = VcRecord::default();
        frames.write(&mut record);
        (first_losses, record)
    }

    #[test]
    fn a_frame_loses_its_first_cell_once_and_spoils_no_other() {
        let (first_losses, record) = outcome(&[], &[true, true, true, false, false, true]);
        let expected = [false, false, false, true, false, false, false, false, false];
        assert_eq!(first_losses, expected);
        assert_eq!((record.frames_delivered, record.cells_whole), (2, 6));
        assert_eq!((record.frames_corrupt, record.cells_corrupt), (1, 1));
        assert_eq!(record.cells_open, 0);
    }

    #[test]
    fn a_frame_without_its_last_cell_runs_on_into_the_next() {
        // A policer takes the last cell of the first frame; to the port both are one.
        let (first_losses, record) = outcome(&[2], &[true, false, false]);
        assert_eq!(&first_losses[..3], [false, true, false]);
        assert_eq!((record.frames_delivered, record.cells_corrupt), (1, 3));
        let (_, record) = outcome(&[8], &[]);
        assert_eq!((record.frames_delivered, record.cells_open), (2, 2));
    }
}
