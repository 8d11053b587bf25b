//! A burst that is due at a port: whose it is, and which part of a frame.

use super::Burst;
use skycell_units::{FrameId, InputId, PortVc, SimTime};

/// A frame on a link to the port, or a part of one that comes from another such port: cells at equal
/// distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueFragment {
    /// When its first cell comes.
    pub(crate) head: SimTime,
    pub(crate) frame: FrameId,
    /// Index of its VC at the port.
    pub(crate) port_vc: PortVc,
    /// How many: as many as a frame has at most.
    pub(crate) cells: u16,
    /// Which cell of its frame the first is, from 0, if none has been lost.
    pub(crate) nth: u16,
    /// The distance, in times between two cells of a frame of the input.
    pub(crate) stride: u16,
    pub(crate) part: Part,
    /// True if its cells have CLP = 1.
    pub(crate) clp: bool,
}

/// Which part of a frame, and how it comes after what came before on its VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part(u8);

impl Part {
    /// All of it.
    pub(crate) const WHOLE: Part = Part::new(true, true);
    const NEW: u8 = 1;
    const AGAIN: u8 = 2;
    const EOM: u8 = 4;

    /// The part before which nothing of the frame came if it `is_new`, and of which the last cell is the frame's if
    /// it `eom`.
    pub(crate) const fn new(is_new: bool, eom: bool) -> Self {
        let new = if is_new { Part::NEW } else { 0 };
        let eom = if eom { Part::EOM } else { 0 };
        Part(new | eom)
    }

    /// The same part where cells of another frame came since the last of its own.
    pub(crate) fn again(self, is_again: bool) -> Self {
        Part(self.0 | if is_again { Part::AGAIN } else { 0 })
    }

    fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// Returns whether nothing of the frame came before.
    pub(crate) fn is_new(self) -> bool {
        self.has(Part::NEW)
    }

    /// Returns whether the last cell that came on the VC belongs to another frame.
    pub(crate) fn begins(self) -> bool {
        self.has(Part::NEW | Part::AGAIN)
    }

    /// Returns whether its last cell is the frame's.
    pub(crate) fn eom(self) -> bool {
        self.has(Part::EOM)
    }
}

impl DueFragment {
    /// A whole frame whose first cell comes at `head`.
    pub(crate) fn new(
        head: SimTime,
        frame: FrameId,
        port_vc: PortVc,
        cells: u32,
        clp: bool,
    ) -> Self {
        DueFragment {
            head,
            frame,
            port_vc,
            cells: cells as u16,
            nth: 0,
            stride: 1,
            part: Part::WHOLE,
            clp,
        }
    }

    /// Time between two of its cells, on an input where two of a frame come `spacing` after each other.
    pub(crate) fn spacing(&self, spacing: SimTime) -> SimTime {
        SimTime(u64::from(self.stride) * spacing.0)
    }

    /// When its cells come, on such an input.
    pub(crate) fn burst(&self, spacing: SimTime) -> Burst {
        Burst::new(self.head, self.spacing(spacing), self.cells.into())
    }

    /// When its last cell comes, on such an input.
    pub(crate) fn tail(&self, spacing: SimTime) -> SimTime {
        self.burst(spacing).last()
    }
}

/// Where a VC goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextHop {
    /// The port, by id, and the VC's input and index there.
    pub(crate) port: u32,
    pub(crate) input: InputId,
    pub(crate) port_vc: PortVc,
    /// From a cell's departure here to its coming there.
    pub(crate) delay: SimTime,
}
