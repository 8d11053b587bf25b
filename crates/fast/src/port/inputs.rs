//! The frames that are due at a multiplexing port, and the order in which their heads and tails come.

use crate::burst::due::Due;
use crate::burst::train::Moment;
use crate::tuning::Tuning;
use skycell_units::SimTime;
use std::collections::HashMap;

mod coming;

use coming::{ComingFrames, First};

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
    /// named once for each lane that it has. Whether several cells of a lane may come together.
    pub(crate) fn new(
        links: impl Iterator<Item = (u32, SimTime)>,
        come_together: bool,
        tuning: &Tuning,
    ) -> Self {
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
            coming: ComingFrames::new(links.len(), cell_time, come_together, tuning),
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
