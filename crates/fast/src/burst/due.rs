//! A burst that is due at a port: whose it is, and which part of a frame.

use super::Burst;
use skycell_units::SimTime;

/// A frame on a link to the port, or a part of one that comes from another such port: cells at equal
/// distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When its first cell comes.
    pub(crate) head: SimTime,
    pub(crate) frame: u32,
    /// Place of its VC at the port.
    pub(crate) place: u32,
    /// How many: as many as a frame has at most.
    pub(crate) cells: u16,
    /// Which cell of its frame the first is, from 0, if none has been lost.
    pub(crate) nth: u16,
    /// The distance, in times between two cells of a frame of the lane.
    pub(crate) stride: u16,
    pub(crate) part: Part,
    /// Whether its cells have CLP = 1.
    pub(crate) is_tagged: bool,
}

/// Which part of a frame, and how it comes after what came before on its VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part(u8);

impl Part {
    /// All of it.
    pub(crate) const WHOLE: Part = Part::new(true, true);
    const NEW: u8 = 1;
    const AGAIN: u8 = 2;
    const ENDS: u8 = 4;

    /// The part before which nothing of the frame came if it `is_new`, and of which the last cell is the frame's if
    /// it `ends`.
    pub(crate) const fn new(is_new: bool, ends: bool) -> Self {
        let new = if is_new { Part::NEW } else { 0 };
        let ends = if ends { Part::ENDS } else { 0 };
        Part(new | ends)
    }

    /// The same part where cells of another frame came since the last of its own.
    pub(crate) fn again(self, is_again: bool) -> Self {
        Part(self.0 | if is_again { Part::AGAIN } else { 0 })
    }

    fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// Whether nothing of the frame came before.
    pub(crate) fn is_new(self) -> bool {
        self.has(Part::NEW)
    }

    /// Whether the last cell that came on the VC was none of the frame.
    pub(crate) fn begins(self) -> bool {
        self.has(Part::NEW | Part::AGAIN)
    }

    /// Whether its last cell is the frame's.
    pub(crate) fn ends(self) -> bool {
        self.has(Part::ENDS)
    }
}

impl Due {
    /// A whole frame whose first cell comes at `head`.
    pub(crate) fn new(head: SimTime, frame: u32, place: u32, cells: u32, is_tagged: bool) -> Self {
        Due {
            head,
            frame,
            place,
            cells: cells as u16,
            nth: 0,
            stride: 1,
            part: Part::WHOLE,
            is_tagged,
        }
    }

    /// Time between two of its cells, on a lane where two of a frame come `spacing` after each other.
    pub(crate) fn spacing(&self, spacing: SimTime) -> SimTime {
        SimTime(u64::from(self.stride) * spacing.0)
    }

    /// When its cells come, on such a lane.
    pub(crate) fn burst(&self, spacing: SimTime) -> Burst {
        Burst::new(self.head, self.spacing(spacing), self.cells.into())
    }

    /// When its last cell comes, on such a lane.
    pub(crate) fn tail(&self, spacing: SimTime) -> SimTime {
        self.burst(spacing).last()
    }
}

/// Where a VC goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onto {
    /// The port, by id, and the VC's lane and place there.
    pub(crate) port: u32,
    pub(crate) lane: u32,
    pub(crate) place: u32,
    /// From a cell's departure here to its coming there.
    pub(crate) delay: SimTime,
}
