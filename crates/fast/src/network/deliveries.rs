//! Whole frames, and units of frames, on their way to the ends of their VCs.

use skycell_units::{FrameId, SimTime};
use std::collections::VecDeque;

/// An arrival at the end of a VC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) frame: FrameId,
    /// Of a unit of the frame twice its index, and one more if it is the last; [`WHOLE`] for all of it.
    unit: u32,
}

const WHOLE: u32 = u32::MAX;

impl Delivery {
    /// All of the frame.
    pub(crate) const fn whole(frame: FrameId) -> Self {
        Delivery { frame, unit: WHOLE }
    }

    /// A unit of it, by its index, which may be the last.
    pub(crate) const fn unit(frame: FrameId, index: u32, eom: bool) -> Self {
        let unit = index << 1 | eom as u32;
        Delivery { frame, unit }
    }

    /// The index of the unit, and whether it is the last; none if it is the whole frame.
    pub(crate) fn as_unit(self) -> Option<(u32, bool)> {
        (self.unit != WHOLE).then_some((self.unit >> 1, self.unit & 1 == 1))
    }
}

/// By link: the whole frames that come to its end, in order of time.
#[derive(Debug)]
pub(crate) struct Deliveries {
    due: Vec<VecDeque<(SimTime, Delivery)>>,
    /// True for a link with deliveries: read for each acknowledgement, and so small that all are in
    /// the cache.
    has_any: Vec<bool>,
}

impl Deliveries {
    /// None yet at the ends of so many links.
    pub(crate) fn at(links: usize) -> Self {
        Deliveries {
            due: vec![VecDeque::new(); links],
            has_any: vec![false; links],
        }
    }

    /// Returns whether a frame is on its way to the end of `link`.
    pub(crate) fn has_any(&self, link: u32) -> bool {
        self.has_any[link as usize]
    }

    /// `delivery` comes to the end of `link` at `time`, after all others there.
    pub(crate) fn push(&mut self, link: u32, time: SimTime, delivery: Delivery) {
        let due = &mut self.due[link as usize];
        debug_assert!(due.back().is_none_or(|last| last.0 <= time));
        due.push_back((time, delivery));
        self.has_any[link as usize] = true;
    }

    /// When the next frame comes to the end of `link`.
    pub(crate) fn next(&self, link: u32) -> Option<SimTime> {
        self.due[link as usize].front().map(|next| next.0)
    }

    /// Removes and returns the next delivery at the end of `link`, which has arrived.
    ///
    /// # Panics
    /// None is on its way.
    pub(crate) fn pop(&mut self, link: u32) -> Delivery {
        let due = &mut self.due[link as usize];
        let (_, delivery) = due.pop_front().expect("an arrival is due");
        self.has_any[link as usize] = !due.is_empty();
        delivery
    }
}
