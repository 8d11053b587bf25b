//! Frames on their way.

use skycell_tcp::Segment;
use skycell_units::SimTime;

/// A frame, and the segment it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) segment: Segment,
    pub(crate) flow: u32,
    /// VC it is on.
    pub(crate) vc: u32,
    /// Which VC of the flow's route that is.
    pub(crate) leg: u32,
    pub(crate) cells: u32,
    /// When the end point handed it to its port.
    pub(crate) handed_at: SimTime,
    pub(crate) is_forward: bool,
}

/// All frames under way.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    free: Vec<u32>,
    made: u64,
}

impl Frames {
    pub(crate) fn add(&mut self, frame: Frame) -> u32 {
        self.made += 1;
        match self.free.pop() {
            Some(id) => {
                self.frames[id as usize] = frame;
                id
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    pub(crate) fn get(&self, id: u32) -> &Frame {
        &self.frames[id as usize]
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Frame {
        &mut self.frames[id as usize]
    }

    pub(crate) fn forget(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Frames made so far.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }
}
