//! The frames that are due at an output port, and the order in which their heads and tails come.

use crate::burst::fragment::DueFragment;
use crate::burst::input_burst::Moment;
use crate::tuning::Tuning;
use skycell_units::{InputId, PortVc, SimTime};
use std::collections::HashMap;

mod arriving;

use arriving::{ArrivingFrames, First};

/// The next arrival.
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
    /// By input: its link, ascending.
    links: Vec<u32>,
    /// Times between two cells of a frame that there are.
    spacings: Vec<SimTime>,
    /// By input: which of them its cells have. Not looked at where there is but one.
    spacing_of: Vec<u32>,
    /// Equal times: lower link first.
    arriving: ArrivingFrames,
}

impl Inputs {
    /// Inputs from the given links, ascending, each with the time between two cells of a frame. A link is
    /// named once for each input that it has. Whether several cells of an input may come together.
    pub(crate) fn new(
        links: impl Iterator<Item = (u32, SimTime)>,
        come_together: bool,
        tuning: &Tuning,
    ) -> Self {
        let (mut spacings, mut known) = (Vec::new(), HashMap::new());
        let input = |(link, spacing)| {
            let spacing = *known.entry(spacing).or_insert_with(|| {
                spacings.push(spacing);
                spacings.len() as u32 - 1
            });
            (link, spacing)
        };
        let (links, spacing_of): (Vec<_>, _) = links.map(input).unzip();
        let cell_time = spacings.iter().min().map_or(0, |least: &SimTime| least.0);
        Inputs {
            arriving: ArrivingFrames::new(links.len(), cell_time, come_together, tuning),
            links,
            spacings,
            spacing_of,
        }
    }

    /// A frame is on its way; it comes after all others of its input.
    #[inline(always)]
    pub(crate) fn push(&mut self, input: InputId, fragment: DueFragment) {
        self.arriving.push(input, fragment);
    }

    /// When the next head or tail comes.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.arriving.next_time()
    }

    /// Returns the next arrival before `limit`, and its input.
    #[inline(always)]
    pub(crate) fn next_before(
        &mut self,
        limit: SimTime,
    ) -> Option<(Next, InputId, Moment, DueFragment)> {
        let first = self.arriving.first().filter(|first| first.time < limit)?;
        let First {
            input, fragment, ..
        } = first;
        let next = if first.is_tail {
            Next::Tail
        } else {
            let tail = fragment.tail(self.spacing(input));
            if tail < limit && self.arriving.comes_second(input, tail) {
                Next::Whole
            } else {
                Next::Head
            }
        };
        let moment = Moment {
            time: first.time,
            link: self.links[input.index()],
        };
        Some((next, input, moment, fragment))
    }

    /// The head that came next has come, the frame's tail is awaited.
    pub(crate) fn await_tail(&mut self, input: InputId, fragment: &DueFragment) {
        let tail = fragment.tail(self.spacing(input));
        self.arriving.await_tail(input, tail);
    }

    /// The frame that came next has been processed.
    pub(crate) fn pop(&mut self) {
        self.arriving.pop();
    }

    /// Index of the VC of a frame that comes soon, where there are many inputs; asks for one that comes later.
    #[inline(always)]
    pub(crate) fn port_vc_ahead(&self) -> Option<PortVc> {
        self.arriving.port_vc_ahead()
    }

    /// Time between two cells of a frame of the input.
    pub(crate) fn spacing(&self, input: InputId) -> SimTime {
        match self.spacings[..] {
            [only] => only,
            _ => self.spacings[self.spacing_of[input.index()] as usize],
        }
    }
}
