//! AAL5 reassembly (I.363.5), from the cells that arrive.
//!
//! A cell knows only whether it is the last of its frame. A frame with a missing cell fails its
//! length and CRC check, one with bit errors its CRC-32 (that this misses one of 2^32 is left aside); a frame whose last cell is missing runs on into the next one of its VC, and
//! the two fail together.

/// The result of the arrival of a last cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reassembled {
    /// Exactly the cells of one frame.
    Whole,
    /// Anything else; holds the cells thrown away.
    Corrupt {
        /// Cells in the failed reassembly.
        cells: u32,
        /// True if all cells are those of one frame, and some of them have bit errors.
        is_crc: bool,
    },
}

/// The reassembly buffer of one VC.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// Serial number of the frame whose cells are being collected.
    frame: u64,
    /// Cells collected.
    cells: u32,
    /// True if the cells so far are cells 0, 1, 2 … of that frame.
    in_step: bool,
    /// True if one of them was said to have bit errors.
    is_errored: bool,
}

impl Reassembly {
    /// A cell has arrived: the `index`-th of frame `frame` (serial numbers never repeat on a VC),
    /// which has its end-of-message mark set if `last`, and which has bit errors, or of which some other cell has, if it `is_errored`.
    pub fn on_cell(
        &mut self,
        frame: u64,
        index: u32,
        last: bool,
        is_errored: bool,
    ) -> Option<Reassembled> {
        if self.cells == 0 {
            self.frame = frame;
            self.in_step = true;
            self.is_errored = false;
        }
        self.is_errored |= is_errored;
        self.in_step &= frame == self.frame && index == self.cells;
        self.cells += 1;
        if !last {
            return None;
        }
        let cells = std::mem::take(&mut self.cells);
        Some(if self.in_step && !self.is_errored {
            Reassembled::Whole
        } else {
            let is_crc = self.in_step;
            Reassembled::Corrupt { cells, is_crc }
        })
    }

    /// Cells collected of a frame that has not ended.
    pub fn open_cells(&self) -> u32 {
        self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds (frame, index, last) and returns what each last cell showed.
    fn feed(cells: &[(u64, u32, bool)]) -> Vec<Reassembled> {
        let mut reassembly = Reassembly::default();
        cells
            .iter()
            .filter_map(|&(frame, index, last)| reassembly.on_cell(frame, index, last, false))
            .collect()
    }

    fn corrupt(cells: u32) -> Reassembled {
        let is_crc = false;
        Reassembled::Corrupt { cells, is_crc }
    }

    #[test]
    fn a_frame_with_all_its_cells_and_bit_errors_fails_its_crc() {
        let mut reassembly = Reassembly::default();
        let ends = [(1, 0, false), (1, 1, true)]
            .map(|(frame, index, last)| reassembly.on_cell(frame, index, last, true));
        let is_crc = true;
        assert_eq!(
            ends,
            [None, Some(Reassembled::Corrupt { cells: 2, is_crc })]
        );
    }

    #[test]
    fn bit_errors_that_only_an_early_cell_shows_fail_the_crc_of_its_frame_alone() {
        let mut reassembly = Reassembly::default();
        let is_crc = true;
        let cells = [(1, 0, true), (1, 1, false), (2, 0, false), (2, 1, false)];
        let ends = cells.map(|(frame, index, is_errored)| {
            reassembly.on_cell(frame, index, index == 1, is_errored)
        });
        let corrupt = Reassembled::Corrupt { cells: 2, is_crc };
        assert_eq!(ends, [None, Some(corrupt), None, Some(Reassembled::Whole)]);
    }

    #[test]
    fn a_frame_with_all_its_cells_is_whole() {
        assert_eq!(
            feed(&[(1, 0, false), (1, 1, false), (1, 2, true), (2, 0, true)]),
            [Reassembled::Whole, Reassembled::Whole]
        );
    }

    #[test]
    fn a_missing_inner_cell_spoils_its_frame_only() {
        assert_eq!(
            feed(&[(1, 0, false), (1, 2, true), (2, 0, false), (2, 1, true)]),
            [corrupt(2), Reassembled::Whole]
        );
    }

    #[test]
    fn a_missing_first_cell_spoils_its_frame() {
        assert_eq!(feed(&[(1, 1, false), (1, 2, true)]), [corrupt(2)]);
    }

    #[test]
    fn a_missing_last_cell_spoils_the_next_frame_too() {
        assert_eq!(
            feed(&[(1, 0, false), (2, 0, false), (2, 1, true), (3, 0, true)]),
            [corrupt(3), Reassembled::Whole]
        );
    }

    #[test]
    fn a_frame_of_which_nothing_arrives_leaves_no_trace() {
        assert_eq!(feed(&[(3, 0, false), (3, 1, true)]), [Reassembled::Whole]);
    }
}
