//! The frames that are due at a multiplexing port, and the order in which their heads and tails come.

use crate::train::Moment;
use skycell_units::SimTime;
use std::collections::HashMap;

mod coming;

use coming::{ComingFrames, First};

/// A frame on a link to the port, or a part of one that comes from another such port: cells at equal
/// distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When its first cell comes.
    pub(crate) head: SimTime,
    pub(crate) frame: u32,
    /// Place of its VC at the port.
    pub(crate) place: u32,
    pub(crate) cells: u32,
    /// The distance, in times between two cells of a frame of the lane.
    pub(crate) stride: u16,
    pub(crate) part: Part,
    /// Whether its cells have CLP = 1.
    pub(crate) is_tagged: bool,
}

/// Which part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Nothing of it came before, and more comes.
    First,
    Middle,
    /// Its last cell is the frame's.
    Last,
}

impl Part {
    /// The part that begins or ends a frame, or neither.
    pub(crate) fn new(begins: bool, ends: bool) -> Self {
        match (begins, ends) {
            (true, true) => Part::Whole,
            (true, false) => Part::First,
            (false, false) => Part::Middle,
            (false, true) => Part::Last,
        }
    }

    /// Whether nothing of the frame came before.
    pub(crate) fn begins(self) -> bool {
        matches!(self, Part::Whole | Part::First)
    }

    /// Whether its last cell is the frame's.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Part::Whole | Part::Last)
    }
}

impl Due {
    /// A whole frame whose first cell comes at `head`.
    pub(crate) fn new(head: SimTime, frame: u32, place: u32, cells: u32, is_tagged: bool) -> Self {
        Due {
            head,
            frame,
            place,
            cells,
            stride: 1,
            part: Part::Whole,
            is_tagged,
        }
    }

    /// The same cells as a part of their frame.
    pub(crate) fn as_part(self, begins: bool, ends: bool) -> Self {
        let part = Part::new(begins, ends);
        Due { part, ..self }
    }

    /// Time between two of its cells, on a lane where two of a frame come `spacing` after each other.
    pub(crate) fn spacing(&self, spacing: SimTime) -> SimTime {
        SimTime(u64::from(self.stride) * spacing.0)
    }

    /// When its last cell comes, on such a lane.
    pub(crate) fn tail(&self, spacing: SimTime) -> SimTime {
        self.head + SimTime(u64::from(self.cells - 1) * self.spacing(spacing).0)
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// The first cell of a frame, the last one being later.
    Head,
    /// The last cell of a frame whose first one has come.
    Tail,
    /// A frame between whose first and last cell nothing else comes.
    Whole,
}

/// All links to the port.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// By lane: its link, ascending.
    links: Vec<u32>,
    /// Times between two cells of a frame that there are.
    spacings: Vec<SimTime>,
    /// By lane: which of them its cells have. Not looked at where there is but one.
    spacing_of: Vec<u32>,
    /// Equal times: lower link first.
    coming: ComingFrames,
}

impl Inputs {
    /// Inputs from the given links, ascending, each with the time between two cells of a frame. A link is
    /// named once for each lane that it has.
    pub(crate) fn new(links: impl Iterator<Item = (u32, SimTime)>) -> Self {
        let (mut spacings, mut known) = (Vec::new(), HashMap::new());
        let lane = |(link, spacing)| {
            let spacing = *known.entry(spacing).or_insert_with(|| {
                spacings.push(spacing);
                spacings.len() as u32 - 1
            });
            (link, spacing)
        };
        let (links, spacing_of): (Vec<_>, _) = links.map(lane).unzip();
        let cell_time = spacings.iter().min().map_or(0, |least: &SimTime| least.0);
        Inputs {
            coming: ComingFrames::new(links.len(), cell_time),
            links,
            spacings,
            spacing_of,
        }
    }

    /// A frame is on its way; it comes after all others of its lane.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: u32, due: Due) {
        self.coming.push(lane, due);
    }

    /// When the next head or tail comes.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.coming.next_time()
    }

    /// What comes next before `limit`, and its lane.
    #[inline(always)]
    pub(crate) fn next_before(&mut self, limit: SimTime) -> Option<(Next, u32, Moment, Due)> {
        let first = self.coming.first().filter(|first| first.time < limit)?;
        let First { lane, due, .. } = first;
        let next = if first.is_tail {
            Next::Tail
        } else {
            let tail = due.tail(self.spacing(lane));
            if tail < limit && self.coming.comes_second(lane, tail) {
                Next::Whole
            } else {
                Next::Head
            }
        };
        let moment = Moment {
            time: first.time,
            link: self.links[lane as usize],
        };
        Some((next, lane, moment, due))
    }

    /// The head that came next has come, the frame's tail is awaited.
    pub(crate) fn await_tail(&mut self, lane: u32, due: &Due) {
        let tail = due.tail(self.spacing(lane));
        self.coming.await_tail(lane, tail);
    }

    /// The frame that came next has been dealt with.
    pub(crate) fn pop(&mut self) {
        self.coming.pop();
    }

    /// Place of the VC of a frame that comes soon, where there are many lanes; asks for one that comes later.
    #[inline(always)]
    pub(crate) fn place_ahead(&self) -> Option<u32> {
        self.coming.place_ahead()
    }

    /// Time between two cells of a frame of the lane.
    pub(crate) fn spacing(&self, lane: u32) -> SimTime {
        match self.spacings[..] {
            [only] => only,
            _ => self.spacings[self.spacing_of[lane as usize] as usize],
        }
    }
}
